# ruff: noqa: N802 (functions have the driver's names)
"""A driver of CUDA that has no GPU: device addresses are host addresses, streams run at once.

It does what the transfers ask for, with real copies, and can be told that a function fails. OpenGL is real,
so what was "mapped" is written into the texture by an ordinary upload when it is unmapped.
"""

from __future__ import annotations

import ctypes
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from app.gl_platform import GL
from app.view.grid import Grid
from replay.elements import ElementType
from replay.errors import ReplayError
from replay.parameters import ParameterSpec

INVALID_VALUE, OPERATING_SYSTEM, ILLEGAL_ADDRESS, NOT_READY = 1, 304, 700, 600


class FakeDriver:
    """The functions of `cuda.bindings.driver` that the transfers call.

    Attributes:
        failing: result by function name; what is not named works.
        calls: names of the functions called so far.
        gl_devices: numbers of the devices that OpenGL runs on.
    """

    def __init__(self) -> None:
        self.failing: dict[str, int] = {}
        self.calls: list[str] = []
        self.gl_devices: list[int] = []
        self.mapped: set[int] = set()
        self.registered: dict[int, tuple[str, int]] = {}
        self._host: dict[int, Any] = {}
        self._array = np.zeros(0, np.uint8)
        self._next = 1
        flags = types.SimpleNamespace
        self.CUgraphicsRegisterFlags = flags(CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD=2)
        self.CUmemorytype = flags(CU_MEMORYTYPE_DEVICE=2, CU_MEMORYTYPE_ARRAY=3)
        self.CUevent_flags = flags(CU_EVENT_DISABLE_TIMING=2)
        self.CUGLDeviceList = flags(CU_GL_DEVICE_LIST_ALL=1)
        self.CUDA_MEMCPY2D = flags

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not name.startswith("cu"):
            raise AttributeError(name)
        work = getattr(type(self), f"_{name}", None)

        def function(*arguments: Any) -> tuple[Any, ...]:
            self.calls.append(name)
            status = self.failing.get(name, 0)
            if status:
                return (status, None)
            results = work(self, *arguments) if work else ()
            return (0, *results)

        function.__name__ = name
        return function

    def _handle(self) -> int:
        self._next += 1
        return self._next

    def _cuGraphicsGLRegisterImage(self, name: int, target: int, flags: int) -> tuple[int]:
        assert (target, flags) == (int(GL.GL_TEXTURE_2D), 2) and GL.glIsTexture(name)
        handle = self._handle()
        self.registered[handle] = ("texture", name)
        return (handle,)

    def _cuGraphicsGLRegisterBuffer(self, name: int, flags: int) -> tuple[int]:
        assert flags == 2 and GL.glIsBuffer(name)
        handle = self._handle()
        self.registered[handle] = ("buffer", name)
        return (handle,)

    def _cuGraphicsUnregisterResource(self, resource: int) -> tuple[()]:
        kind, name = self.registered.pop(resource)
        assert resource not in self.mapped
        assert GL.glIsTexture(name) if kind == "texture" else GL.glIsBuffer(name), "deleted before"
        return ()

    def _cuGraphicsMapResources(self, count: int, resource: int, stream: Any) -> tuple[()]:
        assert count == 1 and resource in self.registered and resource not in self.mapped
        self.mapped.add(resource)
        return ()

    def _cuGraphicsUnmapResources(self, count: int, resource: int, stream: Any) -> tuple[()]:
        self.mapped.remove(resource)
        kind, name = self.registered[resource]
        if not self._array.size:
            return ()  # nothing was written
        if kind == "texture":
            GL.glBindTexture(GL.GL_TEXTURE_2D, name)
            rows, columns = self._array.shape
            GL.glTexSubImage2D(GL.GL_TEXTURE_2D, 0, 0, 0, columns, rows, GL.GL_RED, GL.GL_FLOAT, self._array)
        else:
            GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, name)
            GL.glBufferSubData(GL.GL_PIXEL_UNPACK_BUFFER, 0, self._array.nbytes, self._array)
            GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)
        return ()

    def _cuGraphicsSubResourceGetMappedArray(self, resource: int, index: int, level: int) -> tuple[int]:
        assert resource in self.mapped and (index, level) == (0, 0)
        return (-resource,)

    def _cuGraphicsResourceGetMappedPointer(self, resource: int) -> tuple[int, int]:
        assert resource in self.mapped
        name = self.registered[resource][1]
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, name)
        nbytes = int(GL.glGetBufferParameteriv(GL.GL_PIXEL_UNPACK_BUFFER, GL.GL_BUFFER_SIZE))
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)
        self._array = np.zeros(nbytes, np.uint8)
        return self._array.ctypes.data, nbytes

    def _cuMemcpy2DAsync(self, copy: Any, stream: Any) -> tuple[()]:
        assert (copy.srcMemoryType, copy.dstMemoryType) == (2, 3) and -copy.dstArray in self.mapped
        assert copy.srcPitch == copy.WidthInBytes
        content = ctypes.string_at(copy.srcDevice, copy.WidthInBytes * copy.Height)
        self._array = np.frombuffer(content, np.float32).reshape(copy.Height, copy.WidthInBytes // 4)
        return ()

    def _cuMemHostAlloc(self, nbytes: int, flags: int) -> tuple[int]:
        memory = np.zeros(nbytes, np.uint8)
        self._host[memory.ctypes.data] = memory
        return (memory.ctypes.data,)

    def _cuMemFreeHost(self, address: int) -> tuple[()]:
        del self._host[address]
        return ()

    def _cuEventCreate(self, flags: int) -> tuple[int]:
        assert flags == 2
        return (self._handle(),)

    def _cuCtxGetDevice(self) -> tuple[int]:
        return (0,)

    def _cuDeviceGetCount(self) -> tuple[int]:
        return (1,)

    def _cuDeviceGet(self, ordinal: int) -> tuple[int]:
        return (ordinal,)

    def _cuDeviceGetUuid(self, device: int) -> tuple[Any]:
        from app.view.cuda_gl.memory_object import device_uuids

        ours = device_uuids()[0] if device in self.gl_devices else b"another device.."
        return (types.SimpleNamespace(bytes=ours),)

    def _cuGLGetDevices(self, count: int, which: int) -> tuple[int, list[int]]:
        return len(self.gl_devices), self.gl_devices

    @property
    def left(self) -> int:
        """What was registered or allocated and not released."""
        return len(self.registered) + len(self._host)


class FakeCuda:
    """What a CUDA player's `cuda` is, on a fake driver."""

    def __init__(self) -> None:
        self.driver = FakeDriver()
        self.depth = 0

    def call(self, function: Any, *arguments: Any) -> Any:
        assert self.depth, f"{function.__name__} without a current context"
        status, *results = function(*arguments)
        if int(status) != 0:
            raise ReplayError(f"CUDA error {int(status)} in {function.__name__}")
        return results[0] if len(results) == 1 else tuple(results)

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1

    def copy_out(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        self.driver.calls.append("cuMemcpyDtoHAsync")
        ctypes.memmove(target, source, nbytes)

    def copy(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        self.driver.calls.append("cuMemcpyDtoDAsync")
        ctypes.memmove(target, source, nbytes)


class FakePlayerOnCuda:
    """A height field that a test writes, at an address that the fake driver can copy from."""

    device = "cuda:0"

    def __init__(self, grid: Grid) -> None:
        self.cuda = FakeCuda()
        self.stream_handle = object()
        self.heights = np.zeros((grid.height, grid.width), np.float32)
        self.revision = 0
        self.flushed = 0
        self.parameters = {
            "heights": ParameterSpec("heights", ElementType.named("float32"), self.heights.shape, 0, True)
        }

    def address(self, name: str) -> int:
        assert name == "heights"
        return int(self.heights.ctypes.data)

    def flush(self) -> int:
        self.flushed += 1
        return 0

    def launch(self, seed: int) -> None:
        self.heights[:] = np.random.default_rng(seed).standard_normal(self.heights.shape, np.float32)
        self.revision += 1
