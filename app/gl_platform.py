"""The one place that decides how GLFW, ImGui and OpenGL are imported, because the order matters.

`imgui_bundle` comes before `glfw`, so that both use the GLFW library which imgui_bundle ships (one GLFW
in the process: a window made by the one is known to the other). On Linux PyOpenGL is told to use GLX
unless PYOPENGL_PLATFORM says otherwise: its guess fails under Wayland. Everything else in the app takes
`glfw`, `imgui` and `GL` from here. It opens nothing: windows are app/windows/.

PyOpenGL's check after every call costs several times the call itself, so it is off; `check_errors` asks
once where a fault would show. RIPPLESCOPE_GL_DEBUG=1 turns the check after every call on.
"""

from __future__ import annotations

import ctypes
import os
import sys

from replay.errors import DisplayError

DEBUG = os.environ.get("RIPPLESCOPE_GL_DEBUG", "") not in ("", "0")

if sys.platform.startswith("linux"):
    _shown = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    os.environ.setdefault("PYOPENGL_PLATFORM", "x11" if _shown else "egl")

# isort: off
from imgui_bundle import imgui  # noqa: E402
import glfw  # noqa: E402
import OpenGL  # noqa: E402

OpenGL.ERROR_CHECKING = DEBUG
OpenGL.ERROR_LOGGING = False
OpenGL.CONTEXT_CHECKING = False
from OpenGL import GL  # noqa: E402
from OpenGL.error import Error as GLError  # noqa: E402

# PyOpenGL's own looks at the pointer for longer than the driver takes for the draw.
from OpenGL.raw.GL.VERSION.GL_3_1 import glDrawElementsInstanced as raw_draw_elements_instanced  # noqa: E402, N813
# isort: on

# Errors are asked for where they matter (glfw.get_error) instead of being printed as warnings.
glfw.ERROR_REPORTING = False

__all__ = [
    "DEBUG",
    "GL",
    "GLError",
    "check_errors",
    "function_address",
    "glfw",
    "imgui",
    "is_software",
    "raw_draw_elements_instanced",
]

_SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader", "basic render")


def check_errors(where: str) -> None:
    """Ask OpenGL for errors since the last time, and raise the first.

    Raises:
        DisplayError: naming `where` and the error.
    """
    first = GL.glGetError()
    if first == GL.GL_NO_ERROR:
        return
    for _ in range(16):  # a lost context answers with an error for ever
        if GL.glGetError() == GL.GL_NO_ERROR:
            break
    name = {
        GL.GL_INVALID_ENUM: "invalid enum",
        GL.GL_INVALID_VALUE: "invalid value",
        GL.GL_INVALID_OPERATION: "invalid operation",
        GL.GL_INVALID_FRAMEBUFFER_OPERATION: "invalid framebuffer operation",
        GL.GL_OUT_OF_MEMORY: "out of memory",
    }.get(first, hex(int(first)))
    raise DisplayError(
        f"OpenGL reports {name} while {where}", remedy="run with RIPPLESCOPE_GL_DEBUG=1 to see which call"
    )


def function_address(name: str) -> int:
    """Return the address of a function of OpenGL for the current context, 0 if there is none."""
    from OpenGL.platform import PLATFORM

    exported = getattr(PLATFORM.GL, name, None)  # Windows exports what it has had since OpenGL 1.1
    if exported is not None:
        return ctypes.cast(exported, ctypes.c_void_p).value or 0
    return int(PLATFORM.getExtensionProcedure(name.encode()) or 0)


def is_software(renderer: str) -> bool:
    """Whether a GL_RENDERER string names a renderer that runs on the processor."""
    return any(name in renderer.lower() for name in _SOFTWARE_RENDERERS)
