"""A place to draw on an EGL device, without GLFW and without display: servers with NVIDIA's driver.

There is no toolkit, so no events but those that are posted. Extensions used: EGL_EXT_device_enumeration
(or EGL_EXT_device_base), EGL_EXT_platform_device, EGL_KHR_surfaceless_context.
"""

# ruff: noqa: D102 - what the methods do is written once, in app.window.Window.
from __future__ import annotations

import collections
import ctypes
import os
import sys
from typing import Any

from app.view.gl_objects import Framebuffer
from app.window import Resized, Window
from replay.errors import DisplayError

_DEVICE_VARIABLE = "RIPPLESCOPE_EGL_DEVICE"
_users: collections.Counter[int] = collections.Counter()


class EglWindow(Window):
    """A framebuffer object in a surfaceless context on the first EGL device that gives OpenGL 3.3 core.

    RIPPLESCOPE_EGL_DEVICE chooses a device by its number instead.

    Raises:
        DisplayError: no EGL, no device, or no context; says why for each device.
    """

    kind = "egl"
    headless = True

    def __init__(self, size: tuple[int, int], title: str) -> None:
        super().__init__()
        self.title = title
        self._close_requested = False
        self._display, self._context = _first_context()
        try:
            self._read_gl_strings()
            self._target = Framebuffer(*size, depth=False)
        except Exception:
            self._destroy_context()
            raise

    @property
    def size(self) -> tuple[int, int]:
        return self._target.size

    @property
    def framebuffer_size(self) -> tuple[int, int]:
        return self._target.size

    @property
    def content_scale(self) -> float:
        return 1.0

    @property
    def framebuffer(self) -> int:
        return self._target.name

    @property
    def should_close(self) -> bool:
        return self._close_requested

    def request_close(self) -> None:
        self._close_requested = True

    def resize(self, width: int, height: int) -> None:
        self._target.resize(width, height)
        self.post(Resized(width, height))

    def swap(self) -> None:
        """Nothing to show: what was drawn stays in the framebuffer object."""
        self._swaps += 1

    def set_title(self, title: str) -> None:
        self.title = title

    def set_vsync(self, enabled: bool) -> None:
        """Nothing to wait for."""

    def toggle_full_screen(self) -> None:
        """No screen to fill."""

    def _pump(self) -> None:
        """No toolkit: events are posted."""

    def _destroy(self) -> None:
        self._target.close()
        self._destroy_context()

    def _destroy_context(self) -> None:
        from OpenGL import EGL

        EGL.eglMakeCurrent(self._display, EGL.EGL_NO_SURFACE, EGL.EGL_NO_SURFACE, EGL.EGL_NO_CONTEXT)
        EGL.eglDestroyContext(self._display, self._context)
        _leave(self._display)


def _first_context() -> tuple[Any, Any]:
    """Return display and context, current, of the first device that gives one."""
    if not sys.platform.startswith("linux"):
        raise DisplayError("EGL devices exist on Linux only")
    try:
        from OpenGL.raw.EGL import _errors

        # PyOpenGL 3.1.10 leaves this name out when error checks are off, and then cannot import EGL.
        if not hasattr(_errors, "_error_checker"):
            _errors._error_checker = None
        from OpenGL.EGL.EXT.device_base import egl_get_devices

        devices = list(egl_get_devices())
    except Exception as error:  # PyOpenGL raises what it likes when a library or an extension is absent
        raise DisplayError(f"EGL lists no devices ({error})") from error
    wanted = os.environ.get(_DEVICE_VARIABLE)
    if wanted is not None:
        if not wanted.isdigit() or int(wanted) >= len(devices):
            raise DisplayError(f"{_DEVICE_VARIABLE}={wanted} is none of the {len(devices)} EGL devices")
        devices = [devices[int(wanted)]]
    reasons = []
    for number, device in enumerate(devices):
        try:
            return _context_on(device)
        except Exception as error:  # as above: try the next device, keep the reason
            reasons.append(f"device {number}: {' '.join(str(error).split())[:120] or type(error).__name__}")
    raise DisplayError("; ".join(reasons) or "EGL has no device")


def _context_on(device: Any) -> tuple[Any, Any]:
    from OpenGL import EGL
    from OpenGL.EGL.EXT.platform_base import eglGetPlatformDisplayEXT
    from OpenGL.raw.EGL.EXT.platform_device import EGL_PLATFORM_DEVICE_EXT

    def attributes(*values: int) -> Any:
        return (ctypes.c_int32 * (len(values) + 1))(*values, EGL.EGL_NONE)

    display = eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, device, None)
    major, minor = ctypes.c_int32(), ctypes.c_int32()
    if not EGL.eglInitialize(display, major, minor):
        raise DisplayError("eglInitialize failed")
    _users[_key(display)] += 1
    try:
        EGL.eglBindAPI(EGL.EGL_OPENGL_API)
        wanted = attributes(
            EGL.EGL_SURFACE_TYPE, EGL.EGL_PBUFFER_BIT, EGL.EGL_RENDERABLE_TYPE, EGL.EGL_OPENGL_BIT
        )
        configs, count = (EGL.EGLConfig * 1)(), ctypes.c_int32()
        if not EGL.eglChooseConfig(display, wanted, configs, 1, count) or not count.value:
            raise DisplayError("no EGL configuration with OpenGL")
        context = EGL.eglCreateContext(
            display,
            configs[0],
            EGL.EGL_NO_CONTEXT,
            attributes(
                EGL.EGL_CONTEXT_MAJOR_VERSION,
                3,
                EGL.EGL_CONTEXT_MINOR_VERSION,
                3,
                EGL.EGL_CONTEXT_OPENGL_PROFILE_MASK,
                EGL.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
            ),
        )
        if not context or not EGL.eglMakeCurrent(display, EGL.EGL_NO_SURFACE, EGL.EGL_NO_SURFACE, context):
            raise DisplayError("no OpenGL 3.3 core context")
    except Exception:
        _leave(display)
        raise
    return display, context


def _leave(display: Any) -> None:
    """Terminate a display with its last user: one device has one display, and it ends for all."""
    from OpenGL import EGL

    _users[_key(display)] -= 1
    if not _users[_key(display)]:
        EGL.eglTerminate(display)


def _key(display: Any) -> int:
    return ctypes.cast(display, ctypes.c_void_p).value or 0
