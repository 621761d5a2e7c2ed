"""A few OpenGL calls that never wait, without PyOpenGL's conversions and without giving up Python's lock.

Two threads that both draw would otherwise hand the lock to each other with every call, which takes longer
than the call. Nothing here is for calls that may wait for the GPU or the display: they would stop the other
thread. Signatures are those of the OpenGL 3.3 core specification; errors are not asked for.
"""

from __future__ import annotations

import ctypes
from typing import Any

from app.gl_platform import function_address

_ENUM = _NAME = _BITS = ctypes.c_uint
_INT = ctypes.c_int
_SYNC = ctypes.c_void_p
_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "glBindFramebuffer": (None, _ENUM, _NAME),
    "glBlitFramebuffer": (None, *[_INT] * 8, _BITS, _ENUM),
    "glClear": (None, _BITS),
    "glDeleteSync": (None, _SYNC),
    "glFenceSync": (_SYNC, _ENUM, _BITS),
    "glFlush": (None,),
    "glFramebufferTexture2D": (None, _ENUM, _ENUM, _ENUM, _NAME, _INT),
    "glWaitSync": (None, _SYNC, _BITS, ctypes.c_uint64),
}
TIMEOUT_IGNORED = 0xFFFFFFFFFFFFFFFF


class DirectCalls:
    """The calls as attributes, looked up once while a context is current."""

    def __init__(self) -> None:
        for name, signature in _SIGNATURES.items():
            setattr(self, name, ctypes.PYFUNCTYPE(*signature)(function_address(name)))

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no direct call {name}")
