"""The calls of GL_EXT_memory_object and GL_EXT_memory_object_fd, asked of the context itself.

PyOpenGL asks whether an extension is there only if its own copy of the GLX library has a current context. The
window may have been made through another copy, such as the one that comes with ImGui; then PyOpenGL finds no
extension at all. So the list of names comes from OpenGL, and the functions from who made the context.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from app.gl_platform import GL, glfw

NUM_DEVICE_UUIDS, DEVICE_UUID, OPAQUE_FD = 0x9596, 0x9597, 0x9586
_UUID_NBYTES = 16
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "glCreateMemoryObjectsEXT": (ctypes.c_int, ctypes.c_void_p),
    "glDeleteMemoryObjectsEXT": (ctypes.c_int, ctypes.c_void_p),
    "glImportMemoryFdEXT": (ctypes.c_uint, ctypes.c_uint64, ctypes.c_uint, ctypes.c_int),
    "glBufferStorageMemEXT": (ctypes.c_uint, ctypes.c_ssize_t, ctypes.c_uint, ctypes.c_uint64),
    "glGetUnsignedBytei_vEXT": (ctypes.c_uint, ctypes.c_uint, ctypes.c_void_p),
}


def has_extension(name: str) -> bool:
    """Whether the current context lists an extension."""
    count = int(GL.glGetIntegerv(GL.GL_NUM_EXTENSIONS))
    wanted = name.encode()
    return any(GL.glGetStringi(GL.GL_EXTENSIONS, index) == wanted for index in range(count))


def create() -> int:
    """Return the name of a new memory object."""
    name = np.zeros(1, np.uint32)
    _call("glCreateMemoryObjectsEXT", 1, name.ctypes.data)
    return int(name[0])


def delete(name: int) -> None:
    """Delete a memory object."""
    names = np.array([name], np.uint32)
    _call("glDeleteMemoryObjectsEXT", 1, names.ctypes.data)


def import_descriptor(name: int, nbytes: int, descriptor: int) -> None:
    """Give a memory object the memory behind a file descriptor, which it takes over if that works."""
    _call("glImportMemoryFdEXT", name, nbytes, OPAQUE_FD, descriptor)


def use_as_buffer(target: int, nbytes: int, name: int) -> None:
    """Make a memory object the storage of the buffer that is bound to a target."""
    _call("glBufferStorageMemEXT", target, nbytes, name, 0)


def device_uuids() -> list[bytes]:
    """Return the UUIDs of the devices of the current context; none if it does not tell."""
    if not has_extension("GL_EXT_memory_object"):
        return []
    count = np.zeros(1, np.int32)
    GL.glGetIntegerv(NUM_DEVICE_UUIDS, count)  # PyOpenGL does not know its size
    found = []
    for index in range(int(count[0])):
        uuid = np.zeros(_UUID_NBYTES, np.uint8)
        _call("glGetUnsignedBytei_vEXT", DEVICE_UUID, index, uuid.ctypes.data)
        found.append(uuid.tobytes())
    return found


def _call(function: str, *arguments: int) -> None:
    ctypes.CFUNCTYPE(None, *_FUNCTIONS[function])(_address(function))(*arguments)


def _address(function: str) -> int:
    """Where a function is, as the library that made the context knows it."""
    if glfw.get_current_context():
        pointer = glfw.get_proc_address(function)
    else:
        from OpenGL.platform import PLATFORM

        pointer = PLATFORM.getExtensionProcedure(function.encode())
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
