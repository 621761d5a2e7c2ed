"""What a window is to the rest of the app: sizes, neutral events, a framebuffer, an orderly end.

The windows themselves are in app/windows/: a GLFW window on a display, GLFW's null platform with EGL, and
an EGL device without GLFW. They translate what the toolkit says into the events below and do nothing
else; what an event means is the loop's business. This module imports neither GLFW nor OpenGL.

Two units: window units (what the toolkit and ImGui count in; events carry these) and framebuffer pixels
(what OpenGL counts in). `Window.to_framebuffer` goes from the first to the second.
"""

from __future__ import annotations

import abc
import enum
import os
import sys
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from replay.errors import DisplayError


class Modifiers(enum.Flag):
    """Keys held while another is pressed."""

    NONE = 0
    SHIFT = enum.auto()
    CONTROL = enum.auto()
    ALT = enum.auto()
    SUPER = enum.auto()


class Button(enum.Enum):
    """A button of the pointer."""

    LEFT = "left"
    RIGHT = "right"
    MIDDLE = "middle"


@dataclass(frozen=True)
class PointerMoved:
    """The pointer is at (x, y), in window units from the top left corner."""

    x: float
    y: float


@dataclass(frozen=True)
class PointerButton:
    """A button went down or up at (x, y), in window units."""

    button: Button
    pressed: bool
    modifiers: Modifiers
    x: float
    y: float


@dataclass(frozen=True)
class Scrolled:
    """The wheel turned by (dx, dy) notches, dy > 0 away from the user, with the pointer at (x, y)."""

    dx: float
    dy: float
    x: float
    y: float


@dataclass(frozen=True)
class KeyPressed:
    """A key went down (`pressed`), again by holding it (`repeat`), or up.

    `key` is the sign on the user's keyboard layout for printable keys ("O", "1", "comma", "period",
    "semicolon") and a name for the others ("F1", "space", "escape", "enter", "left", "page_up").
    """

    key: str
    pressed: bool
    repeat: bool
    modifiers: Modifiers


@dataclass(frozen=True)
class FilesDropped:
    """Files were dropped on the window."""

    paths: tuple[str, ...]


@dataclass(frozen=True)
class Resized:
    """The framebuffer has a new size in pixels; (0, 0) while the window is minimized."""

    width: int
    height: int


@dataclass(frozen=True)
class CloseRequested:
    """The user asked to close the window."""


Event = PointerMoved | PointerButton | Scrolled | KeyPressed | FilesDropped | Resized | CloseRequested


class Window(abc.ABC):
    """A place to draw, with a current OpenGL 3.3 core context, and a source of events.

    Attributes:
        kind: `glfw` (on a display), `null` (GLFW without display), `egl` (EGL device, no GLFW).
        handle: the GLFW window, or None for `egl`.
        gl_renderer, gl_vendor, gl_version: what OpenGL says about itself.
        software: whether the renderer runs on the processor.
        headless: whether nobody can see it.
        threaded_swap: whether `swap` hands the picture to a thread that shows it.
    """

    kind: str = ""
    headless: bool = False
    threaded_swap: bool = False

    def __init__(self) -> None:
        self.handle: Any = None
        self.gl_renderer = self.gl_vendor = self.gl_version = ""
        self.software = False
        self._events: list[Event] = []
        self._swaps = 0
        self._closed = False

    @property
    @abc.abstractmethod
    def size(self) -> tuple[int, int]:
        """Width and height in window units."""

    @property
    @abc.abstractmethod
    def framebuffer_size(self) -> tuple[int, int]:
        """Width and height in pixels; (0, 0) while minimized: draw nothing then."""

    @property
    @abc.abstractmethod
    def content_scale(self) -> float:
        """How much larger than at 96 dots an inch text and widgets should be."""

    @property
    @abc.abstractmethod
    def framebuffer(self) -> int:
        """The framebuffer object to draw into: bind it before drawing. 0 for a window's own."""

    @property
    def minimized(self) -> bool:
        """Whether the window is an icon, so that nobody sees what is drawn; its size may stay what it was."""
        return min(self.framebuffer_size) == 0

    @property
    @abc.abstractmethod
    def should_close(self) -> bool:
        """Whether the user, or `request_close`, asked for the end."""

    @abc.abstractmethod
    def request_close(self) -> None:
        """Make `should_close` true."""

    @abc.abstractmethod
    def resize(self, width: int, height: int) -> None:
        """Ask for another size in window units."""

    @abc.abstractmethod
    def swap(self) -> None:
        """Show what was drawn; waits for the display if vsync is on.

        With `threaded_swap` it waits only for room: a few pictures may be on their way, with vsync one.
        `framebuffer` is another one afterwards, with whatever was in it.
        """

    @property
    def swaps(self) -> int:
        """How many pictures have been shown, as far as is known without waiting."""
        return self._swaps

    @property
    def direct_calls(self) -> Any:
        """The functions of OpenGL that are called past PyOpenGL, as attributes; None if there are none."""
        return None

    def finish(self) -> None:  # noqa: B027 - nothing is on its way where a thread does not show it
        """Wait until all pictures are shown that `swap` was called for."""

    @abc.abstractmethod
    def set_title(self, title: str) -> None:
        """Show a title; without display it is only kept."""

    @abc.abstractmethod
    def set_vsync(self, enabled: bool) -> None:
        """Wait for the display in `swap`, or do not."""

    @abc.abstractmethod
    def toggle_full_screen(self) -> None:
        """Fill the monitor, or go back to the size and place before."""

    @abc.abstractmethod
    def _pump(self) -> None:
        """Let the toolkit deliver its events into `_events`."""

    @abc.abstractmethod
    def _destroy(self) -> None:
        """Destroy context and window."""

    def poll(self) -> list[Event]:
        """Return what happened since the last call, oldest first; never waits."""
        self._pump()
        events, self._events = self._events, []
        return events

    def post(self, *events: Event) -> None:
        """Add events as if the user had caused them; the next `poll` returns them."""
        self._events.extend(events)

    @property
    def pixel_ratio(self) -> float:
        """Framebuffer pixels of a window unit, across; 0 while the framebuffer is empty."""
        return self.framebuffer_size[0] / max(self.size[0], 1)

    def to_framebuffer(self, x: float, y: float) -> tuple[float, float]:
        """A place in window units as framebuffer pixels, y down in both."""
        (width, height), (columns, rows) = self.size, self.framebuffer_size
        return x * columns / max(width, 1), y * rows / max(height, 1)

    def bind(self) -> None:
        """Make the window's framebuffer the one that is drawn into, whole."""
        from app.gl_platform import GL

        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self.framebuffer)
        GL.glViewport(0, 0, *self.framebuffer_size)

    def close(self) -> None:
        """Destroy the window; GL objects must be closed before. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._destroy()

    def __enter__(self) -> Window:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read_gl_strings(self) -> None:
        from app.gl_platform import GL, is_software

        def text(name: int) -> str:
            raw = GL.glGetString(name)
            return raw.decode("utf-8", "replace") if raw else ""

        self.gl_renderer = text(GL.GL_RENDERER)
        self.gl_vendor = text(GL.GL_VENDOR)
        self.gl_version = text(GL.GL_VERSION)
        self.software = is_software(self.gl_renderer)
        if not self.gl_version:
            raise DisplayError("the OpenGL context answers nothing")


def load_libraries(*, headless: bool) -> None:
    """Import GLFW, ImGui and OpenGL; before anything else that needs them.

    Raises:
        DisplayError: one of them cannot be loaded.
    """
    if headless and sys.platform.startswith("linux"):
        # An EGL device can only be asked for if PyOpenGL looks for EGL, even where there is a display.
        os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
    try:
        import app.gl_platform  # noqa: F401
    except (ImportError, AttributeError, OSError) as error:
        if sys.version_info < (3, 11):  # no wheels of imgui-bundle since its native backends
            raise DisplayError(
                "the window needs Python 3.11 or later", remedy="all that works without a window works here"
            ) from error
        raise DisplayError(
            f"OpenGL, GLFW or ImGui could not be loaded ({error})",
            remedy="install the system's OpenGL libraries (Debian: libgl1 libegl1 libopengl0)",
        ) from error


def open_window(size: tuple[int, int], title: str, *, headless: bool = False, vsync: bool = True) -> Window:
    """Open a window, or without display a place to draw, with a current OpenGL 3.3 core context.

    Args:
        size: width and height in window units, each at least 1.
        title: the title.
        headless: no display is needed or used; GLFW's null platform is tried, then an EGL device.
        vsync: wait for the display when showing a frame.

    Raises:
        DisplayError: no window or no context; says why for each way that was tried.
    """
    if min(size) < 1 or max(size) > 16384:
        raise DisplayError(f"a window of {size[0]}x{size[1]} is not possible", remedy="use 1 to 16384 a side")
    load_libraries(headless=headless)
    from app.windows.glfw_window import GlfwWindow

    if not headless:
        return GlfwWindow(size, title, vsync=vsync)
    reasons = []
    try:
        return GlfwWindow(size, title, vsync=False, null_platform=True)
    except DisplayError as error:
        reasons.append(f"GLFW null platform: {error.what}")
    from app.windows.egl_window import EglWindow

    try:
        return EglWindow(size, title)
    except DisplayError as error:
        reasons.append(f"EGL device: {error.what}")
    raise DisplayError(
        f"no OpenGL context without a display ({'; '.join(reasons)})",
        remedy="install an EGL driver (Debian: libegl1 libgl1-mesa-dri)",
    )
