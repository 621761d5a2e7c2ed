"""The GLFW window: on a display, or on GLFW's null platform with an EGL context and nothing to see.

Callbacks translate into the events of app.window and do nothing else. ImGui's GLFW backend, installed
afterwards with its own callbacks, calls these first, so both see everything.
"""

# ruff: noqa: D102 - what the methods do is written once, in app.window.Window.
from __future__ import annotations

import os
import sys
import time
from typing import Any

from app.gl_platform import glfw
from app.view.gl_objects import Framebuffer
from app.window import (
    Button,
    CloseRequested,
    FilesDropped,
    KeyPressed,
    Modifiers,
    PointerButton,
    PointerMoved,
    Resized,
    Scrolled,
    Window,
)
from app.windows.presenter import Presenter
from replay.errors import DisplayError

_SIGNS = {
    ",": "comma", ".": "period", ";": "semicolon", ":": "colon", "/": "slash", "\\": "backslash",
    "'": "apostrophe", "-": "minus", "=": "equal", "+": "plus", "[": "left_bracket", "]": "right_bracket",
    "`": "grave_accent", "#": "hash", "<": "less",
}  # fmt: skip
_THREAD_VARIABLE = "RIPPLESCOPE_THREADED_SWAP"
_POLL_SECONDS = 1 / 125
_BUTTONS = {
    glfw.MOUSE_BUTTON_LEFT: Button.LEFT,
    glfw.MOUSE_BUTTON_RIGHT: Button.RIGHT,
    glfw.MOUSE_BUTTON_MIDDLE: Button.MIDDLE,
}
_MODIFIERS = {
    glfw.MOD_SHIFT: Modifiers.SHIFT,
    glfw.MOD_CONTROL: Modifiers.CONTROL,
    glfw.MOD_ALT: Modifiers.ALT,
    glfw.MOD_SUPER: Modifiers.SUPER,
}
_KEY_NAMES = {
    value: name.removeprefix("KEY_").lower()
    for name, value in vars(glfw).items()
    if name.startswith("KEY_") and name not in ("KEY_UNKNOWN", "KEY_LAST") and isinstance(value, int)
}


def key_name(key: int, sign: str | None) -> str:
    """Name of a key as events carry it.

    Args:
        key: GLFW's key code.
        sign: what the user's keyboard layout prints for the key, if anything.
    """
    if sign and key < glfw.KEY_KP_0:
        if sign in _SIGNS:
            return _SIGNS[sign]
        if len(sign) == 1 and sign.isascii() and sign.isalnum():
            return sign.upper()
    name = _KEY_NAMES.get(key, "unknown")
    is_function_key = name[0] == "f" and name[1:].isdigit()
    return name.upper() if len(name) == 1 or is_function_key else name


def _modifiers(bits: int) -> Modifiers:
    held = Modifiers.NONE
    for bit, modifier in _MODIFIERS.items():
        if bits & bit:
            held |= modifier
    return held


def _last_error() -> str:
    code, text = glfw.get_error()
    if not code:
        return "GLFW gives no reason"
    return text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)


class GlfwWindow(Window):
    """A window by GLFW, which is terminated with the last one.

    Its context is current from then on; closing gives back the context that was current before.

    Args:
        size: width and height in window units.
        title: the title.
        vsync: wait for the display in `swap`.
        null_platform: without display, context by EGL, drawing into a framebuffer object.
        threaded_swap: swap in a thread of its own; None decides by what OpenGL runs on.

    Raises:
        DisplayError: no display, no window or no OpenGL 3.3.
    """

    _open = 0

    def __init__(
        self,
        size: tuple[int, int],
        title: str,
        *,
        vsync: bool = True,
        null_platform: bool = False,
        threaded_swap: bool | None = None,
    ) -> None:
        super().__init__()
        self.kind = "null" if null_platform else "glfw"
        self.headless = null_platform
        self._target: Framebuffer | None = None
        self._presenter: Presenter | None = None
        self._drawing: Any = None
        self._vsync = vsync
        self._next_poll = 0.0
        self._iconified = False
        self._placement: tuple[int, int, int, int] | None = None
        self._initialize(null_platform)
        self._context_before = glfw.get_current_context()
        GlfwWindow._open += 1
        try:
            self.handle = self._create(size, title, null_platform)
            glfw.make_context_current(self.handle)
            self._read_gl_strings()
            if null_platform:
                self._target = Framebuffer(*size, depth=False)
            elif self._wants_thread(threaded_swap):
                self._begin_thread(vsync)
            self._measure()
        except BaseException:
            self._destroy()
            raise
        if not null_platform:
            self.set_vsync(vsync)
        self._install_callbacks()

    @staticmethod
    def _initialize(null_platform: bool) -> None:
        if not null_platform and sys.platform.startswith("linux"):
            if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
                raise DisplayError(
                    "no display: neither DISPLAY nor WAYLAND_DISPLAY is set", remedy="use --headless"
                )
        if null_platform and not hasattr(glfw, "PLATFORM_NULL"):
            raise DisplayError(f"GLFW {glfw.get_version_string().decode()} has no null platform")
        if hasattr(glfw, "PLATFORM"):
            glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_NULL if null_platform else glfw.ANY_PLATFORM)
        if not glfw.init():
            reason = _last_error()
            raise DisplayError(
                f"GLFW cannot start: {reason}", remedy="" if null_platform else "use --headless"
            )

    @staticmethod
    def _create(size: tuple[int, int], title: str, null_platform: bool) -> Any:
        glfw.default_window_hints()
        for hint, value in (
            (glfw.CONTEXT_VERSION_MAJOR, 3),
            (glfw.CONTEXT_VERSION_MINOR, 3),
            (glfw.OPENGL_PROFILE, glfw.OPENGL_CORE_PROFILE),
            (glfw.OPENGL_FORWARD_COMPAT, True),
            (glfw.SCALE_TO_MONITOR, True),
            # The scene has its own depth and samples; the window is only copied to.
            (glfw.DEPTH_BITS, 0),
            (glfw.STENCIL_BITS, 0),
        ):
            glfw.window_hint(hint, value)
        if null_platform:
            glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)
            glfw.window_hint(glfw.VISIBLE, False)
        for name in ("X11_CLASS_NAME", "X11_INSTANCE_NAME", "WAYLAND_APP_ID"):
            if hasattr(glfw, name):
                glfw.window_hint_string(getattr(glfw, name), "ripplescope")
        handle = glfw.create_window(*size, title, None, None)
        if not handle:
            reason = _last_error()
            raise DisplayError(
                f"no window with OpenGL 3.3: {reason}", remedy="" if null_platform else "use --headless"
            )
        return handle

    def _wants_thread(self, wanted: bool | None) -> bool:
        """Where a driver lets a hidden window draw at full speed, and drawing leaves the processor idle."""
        if wanted is None and _THREAD_VARIABLE in os.environ:
            wanted = os.environ[_THREAD_VARIABLE] not in ("", "0")
        if wanted is not None or self.software or not hasattr(glfw, "get_platform"):
            return bool(wanted)
        return glfw.get_platform() in (glfw.PLATFORM_X11, glfw.PLATFORM_WIN32)

    def _begin_thread(self, vsync: bool) -> None:
        """Draw with the context of a hidden window from now on; with the visible one's if there is none."""
        glfw.window_hint(glfw.VISIBLE, False)
        hidden = glfw.create_window(16, 16, "Ripplescope drawing", None, self.handle)
        glfw.window_hint(glfw.VISIBLE, True)
        if not hidden:
            return
        self._drawing = hidden
        glfw.make_context_current(hidden)
        self._presenter = Presenter(self.handle, glfw.get_framebuffer_size(self.handle), vsync=vsync)
        self.threaded_swap = True

    def _install_callbacks(self) -> None:
        handle, events = self.handle, self.post

        def button(_: Any, code: int, action: int, bits: int) -> None:
            if code in _BUTTONS:
                where = glfw.get_cursor_pos(handle)
                events(PointerButton(_BUTTONS[code], action != glfw.RELEASE, _modifiers(bits), *where))

        def key(_: Any, code: int, scancode: int, action: int, bits: int) -> None:
            name = key_name(code, glfw.get_key_name(code, scancode) if code != glfw.KEY_UNKNOWN else None)
            held = _modifiers(bits)
            events(KeyPressed(name, action != glfw.RELEASE, action == glfw.REPEAT, held))

        def resized(_: Any, width: int, height: int) -> None:
            self._measure()
            events(Resized(width, height))

        def iconified(_: Any, value: int) -> None:
            self._iconified = bool(value)

        glfw.set_window_iconify_callback(handle, iconified)
        glfw.set_cursor_pos_callback(handle, lambda _, x, y: events(PointerMoved(x, y)))
        glfw.set_mouse_button_callback(handle, button)
        glfw.set_key_callback(handle, key)
        glfw.set_scroll_callback(
            handle, lambda _, dx, dy: events(Scrolled(dx, dy, *glfw.get_cursor_pos(handle)))
        )
        glfw.set_drop_callback(handle, lambda _, paths: events(FilesDropped(tuple(map(str, paths)))))
        glfw.set_window_size_callback(handle, lambda *_: self._measure())
        glfw.set_window_content_scale_callback(handle, lambda *_: self._measure())
        glfw.set_framebuffer_size_callback(handle, resized)
        glfw.set_window_close_callback(handle, lambda _: events(CloseRequested()))

    def _measure(self) -> None:
        """Ask for the sizes once for each change: under X11 every question waits for the server's answer."""
        self._size = glfw.get_window_size(self.handle)
        self._framebuffer_size = glfw.get_framebuffer_size(self.handle)
        scale = 1.0 if self.headless else float(glfw.get_window_content_scale(self.handle)[0])
        self._scale = scale or 1.0
        if self._presenter:
            self._presenter.fit(self._framebuffer_size)

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    @property
    def framebuffer_size(self) -> tuple[int, int]:
        return self._target.size if self._target else self._framebuffer_size

    @property
    def minimized(self) -> bool:
        return self._iconified or super().minimized

    @property
    def content_scale(self) -> float:
        return self._scale

    @property
    def framebuffer(self) -> int:
        if self._presenter:
            return self._presenter.target.name
        return self._target.name if self._target else 0

    @property
    def should_close(self) -> bool:
        return bool(glfw.window_should_close(self.handle))

    def request_close(self) -> None:
        glfw.set_window_should_close(self.handle, True)

    def resize(self, width: int, height: int) -> None:
        glfw.set_window_size(self.handle, width, height)
        if self._target:
            self._target.resize(width, height)
        self._measure()

    def swap(self) -> None:
        # The null platform has no surface to show: what was drawn stays in the framebuffer object.
        if self._presenter:
            if min(self._framebuffer_size) > 0:
                self._presenter.present()
            return
        if not self._target:
            glfw.swap_buffers(self.handle)
        self._swaps += 1

    @property
    def swaps(self) -> int:
        return self._presenter.shown if self._presenter else self._swaps

    @property
    def direct_calls(self) -> Any:
        return self._presenter.calls if self._presenter else None

    def finish(self) -> None:
        if self._presenter:
            self._presenter.finish()

    def set_title(self, title: str) -> None:
        glfw.set_window_title(self.handle, title)

    def set_vsync(self, enabled: bool) -> None:
        self._vsync = enabled
        if self._presenter:
            self._presenter.set_vsync(enabled)
        elif not self._target:
            glfw.swap_interval(1 if enabled else 0)

    def toggle_full_screen(self) -> None:
        if self._placement is not None:
            glfw.set_window_monitor(self.handle, None, *self._placement, glfw.DONT_CARE)
            self._placement = None
            return
        monitor = self._nearest_monitor()
        if monitor is None or self.headless:
            return
        self._placement = (*glfw.get_window_pos(self.handle), *self.size)
        mode = glfw.get_video_mode(monitor)
        glfw.set_window_monitor(
            self.handle, monitor, 0, 0, mode.size.width, mode.size.height, mode.refresh_rate
        )

    def _nearest_monitor(self) -> Any:
        """The monitor that shows the middle of the window; the first one if none does."""
        left, top = glfw.get_window_pos(self.handle)
        x, y = left + self.size[0] / 2, top + self.size[1] / 2
        monitors = glfw.get_monitors()
        for monitor in monitors:
            (mx, my), mode = glfw.get_monitor_pos(monitor), glfw.get_video_mode(monitor)
            if mx <= x < mx + mode.size.width and my <= y < my + mode.size.height:
                return monitor
        return monitors[0] if monitors else None

    def _pump(self) -> None:
        # The connection to an X server is locked while the other thread swaps: asking with each of a thousand
        # frames a second would wait for a thousand swaps.
        if self._presenter and not self._vsync:
            now = time.perf_counter()
            if now < self._next_poll:
                return
            self._next_poll = now + _POLL_SECONDS
        glfw.poll_events()

    def _destroy(self) -> None:
        if self._target:
            self._target.close()
        if self._presenter:
            self._presenter.close()
            self._presenter = None
        if self._drawing is not None:
            glfw.make_context_current(None)
            glfw.destroy_window(self._drawing)
            self._drawing = None
        if self.handle is not None:
            glfw.destroy_window(self.handle)
        GlfwWindow._open -= 1
        if not GlfwWindow._open:
            glfw.terminate()
        elif self._context_before:
            glfw.make_context_current(self._context_before)
