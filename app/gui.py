"""ImGui's context in our window: fonts, style, backends, one frame of panels, and their drawing.

On a GLFW window with a display the native GLFW backend delivers input. Without one there is no toolkit to
ask, so the neutral events of `app.window` are passed on instead; the panels cannot tell the difference.
What the panels show is not known here.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import imgui_bundle

from app import theme
from app.gl_platform import GL, imgui
from app.settings import write_text
from app.view.overlay import Overlay
from app.window import (
    Button,
    Event,
    KeyPressed,
    Modifiers,
    PointerButton,
    PointerMoved,
    Scrolled,
    Window,
)
from replay.errors import UsageError

_LOG = logging.getLogger(__name__)
backends = imgui.backends
Box = tuple[int, int, int, int]
SETTLING = 6
"""Builds before the panels are first shown: ImGui needs some to put windows, tabs and bars in place."""
PANEL_INTERVAL = 1 / 60
"""Seconds between two builds of the panels at least; in between the last ones are drawn again."""
IDLE_INTERVAL, IDLE_AFTER = 1 / 30, 1.0
"""The same where pictures come faster than that, once nobody has used keys or pointer for so long, s."""

_PLATFORM_INTERVAL = 0.25

# Roboto (Apache-2.0), Inconsolata and Font Awesome Free (both SIL OFL 1.1) as imgui-bundle ships them.
_FONTS = Path(imgui_bundle.__file__).parent / "assets" / "fonts"
_ICONS = "Font_Awesome_6_Free-Solid-900.otf"
_BUTTONS = {Button.LEFT: 0, Button.RIGHT: 1, Button.MIDDLE: 2}
_KEYS = {
    "escape": "escape", "enter": "enter", "tab": "tab", "backspace": "backspace", "delete": "delete",
    "left": "left_arrow", "right": "right_arrow", "up": "up_arrow", "down": "down_arrow", "home": "home",
    "end": "end", "space": "space",
}  # fmt: skip
_POINTER = (PointerMoved, PointerButton, Scrolled)
_SIGNS = {"period": ".", "comma": ",", "semicolon": ";", "minus": "-", "space": " "}


class Gui:
    """The ImGui context of a window.

    Args:
        window: with its context current; outlives this object.
        theme_name: `dark` or `light`.
        user_scale: the user's factor on top of the display's.
        layout_file: where docking is remembered; None remembers nothing.

    Attributes:
        palette, colors: of the theme, for ImGui's style and for draw lists.
        scale: how many window units one unit of the style is.
        regular, bold, mono: the fonts.
        pointer_used, keys_used: whether the pointer was moved or pressed since the last build, and whether
            anything else came from the window.
        whole: whether the build under way was forced, and must show everything as it is now.
        probe: called with `build` and `draw` before either and with "" after, for who measures them.
    """

    def __init__(
        self, window: Window, *, theme_name: str, user_scale: float = 1.0, layout_file: Path | None = None
    ) -> None:
        self._window = window
        self._context = imgui.create_context()
        self._native = window.handle is not None and not window.headless
        io = imgui.get_io()
        io.config_flags |= imgui.ConfigFlags_.docking_enable
        io.config_windows_move_from_title_bar_only = True
        io.config_error_recovery_enable_assert = False
        io.config_error_recovery_enable_tooltip = False
        io.set_ini_filename(None)  # or ImGui would write into the working directory
        io.set_log_filename("")
        self._layout_file = layout_file
        self._load_layout()
        self.regular, self.bold, self.mono = _load_fonts(io)
        self.theme_name, self.user_scale = theme_name, user_scale
        self.scale = 0.0
        self.restyle()
        if self._native:
            backends.glfw_init_for_opengl(_address(window), True)
        backends.opengl3_init("#version 330")
        self._next_build = 0.0
        self._last_build: float | None = None
        self._built = False
        self._builds = 0
        self._is_drawn = self._repeats = False
        self._cursor: int | None = None
        self._next_platform_frame = 0.0
        self._overlay: Overlay | None = None
        self._kept_of: tuple[int, tuple[int, int]] | None = None
        self._holds: dict[int, tuple[object, ...]] = {}
        self._place: Box | None = None
        self._around: Box | None = None
        self._used, self._used_at = False, 0.0
        self.pointer_used = self.keys_used = self.whole = False
        self.probe: Callable[[str], None] | None = None

    def restyle(self) -> None:
        """Take over a changed theme or scale."""
        self.scale = self._wanted_scale()
        self.palette = theme.apply(self.theme_name, self.scale)
        self.colors = theme.packed(self.palette)

    def feed(self, events: Sequence[Event]) -> None:
        """Note that the panels are in use, and pass events on to ImGui where no native backend does."""
        for event in events:
            self._used = True
            if isinstance(event, _POINTER):
                self.pointer_used = True
            else:
                self.keys_used = True
        if self._native:
            return
        io = imgui.get_io()
        for event in events:
            if isinstance(event, PointerMoved):
                io.add_mouse_pos_event(event.x, event.y)
            elif isinstance(event, PointerButton):
                io.add_mouse_pos_event(event.x, event.y)
                io.add_mouse_button_event(_BUTTONS[event.button], event.pressed)
            elif isinstance(event, Scrolled):
                io.add_mouse_pos_event(event.x, event.y)
                io.add_mouse_wheel_event(event.dx, event.dy)
            elif isinstance(event, KeyPressed):
                _feed_key(io, event)

    def build(self, now: float, panels: Callable[[], None], *, force: bool = False) -> bool:
        """Build the panels, unless that was done less than `PANEL_INTERVAL` ago; return whether it was.

        Args:
            now: wall time in seconds.
            panels: calls ImGui; what it raises leaves a complete frame behind.
            force: build whenever it was the last time.
        """
        if self._used:
            self._used, self._used_at = False, now
        # Half a millisecond of grace, so that a display at 60 Hz gets new panels with every frame.
        unused = self._window.threaded_swap and now - self._used_at > IDLE_AFTER
        if not unused and self._last_build is not None:
            self._next_build = min(self._next_build, self._last_build + PANEL_INTERVAL)
        if self._built and not force and now < self._next_build - 5e-4:
            return False
        interval = IDLE_INTERVAL if unused and self._repeats else PANEL_INTERVAL
        self._next_build = max(self._next_build + interval, now)
        if self._wanted_scale() != self.scale:
            self.restyle()
        self.whole = force
        for _ in range(1 if self._built else SETTLING):
            self._build(now, panels)
        if imgui.get_io().want_save_ini_settings:
            imgui.get_io().want_save_ini_settings = False
            self._save_layout()
        return True

    def _build(self, now: float, panels: Callable[[], None]) -> None:
        backends.opengl3_new_frame()
        self._begin_platform_frame(now)
        imgui.new_frame()
        self._begin("build")
        try:
            panels()
        finally:
            self._begin("draw")
            imgui.render()
            self._built, self._is_drawn = True, False
            self._builds += 1
            self.pointer_used = self.keys_used = False

    def draw(self) -> None:
        """Draw the panels as they were built last over the window's framebuffer.

        Where a build is shown more than once, it is drawn into a picture of its own, which is then laid over
        one frame after the other; a build that is shown once goes into the window directly.
        """
        place, around = self._place, self._around
        self._place = self._around = None
        if not self._built:
            return
        window = self._window
        size = window.framebuffer_size
        if around is not None:
            if self._holds[window.framebuffer] == (self._builds, size, around):
                assert self._overlay is not None
                window.bind()
                with _scissored(around, size):
                    self._overlay.blend()
                self._begin("")
                return
            self._clear_around(around, size)
        fresh, self._is_drawn = not self._is_drawn, True
        if fresh:
            repeats, self._repeats = self._repeats, False
        else:
            repeats = self._repeats = True
        if not repeats:
            window.bind()
            backends.opengl3_render_draw_data(imgui.get_draw_data())
            self._begin("")
            return
        if self._overlay is None:
            self._overlay = Overlay()
        if self._kept_of != (self._builds, size):
            self._kept_of = (self._builds, size)
            self._overlay.begin(size)
            backends.opengl3_render_draw_data(imgui.get_draw_data())
        window.bind()
        self._overlay.blend()
        self._begin("")
        if window.threaded_swap and place is not None:
            self._holds[window.framebuffer] = (self._builds, size, place)

    def begin_picture(self, place: Box) -> None:
        """Bind and empty the window's framebuffer, where a place in it will be drawn over whole.

        Pictures of a window that swaps in a thread come back with what was in them, so until the panels are
        built anew nothing around that place changes, and nothing there is drawn.
        """
        window = self._window
        size = window.framebuffer_size
        if self._holds and next(iter(self._holds.values()))[1] != size:
            self._holds.clear()
        window.bind()
        self._place = place
        if self._holds.get(window.framebuffer) == (self._builds, size, place):
            self._around = place
            return
        self._around = None
        GL.glClearColor(*self.palette.background)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)

    def _clear_around(self, place: Box, size: tuple[int, int]) -> None:
        """Empty what `begin_picture` left, for the panels have been built since."""
        x, y, width, height = place
        self._window.bind()
        GL.glClearColor(*self.palette.background)
        for box in (
            (0, 0, size[0], y),
            (0, y + height, size[0], size[1] - y - height),
            (0, y, x, height),
            (x + width, y, size[0] - x - width, height),
        ):
            if min(box[2:]) > 0:
                with _scissored(box, size):
                    GL.glClear(GL.GL_COLOR_BUFFER_BIT)

    @property
    def takes_keys(self) -> bool:
        """Whether a text field or a widget that is being moved wants the keyboard for itself."""
        return bool(imgui.get_io().want_text_input)

    def close(self) -> None:
        """Release the backends and the context, in this order."""
        if self._context is None:
            return
        if self._built:
            self._save_layout()
        if self._overlay is not None:
            self._overlay.close()
            self._overlay = None
        backends.opengl3_shutdown()
        if self._native:
            backends.glfw_shutdown()
        imgui.destroy_context(self._context)
        self._context = None

    def _begin(self, name: str) -> None:
        if self.probe is not None:
            self.probe(name)

    def _load_layout(self) -> None:
        if self._layout_file is None:
            return
        try:
            imgui.load_ini_settings_from_memory(self._layout_file.read_text("utf-8"))
        except FileNotFoundError:
            pass
        except (OSError, UnicodeDecodeError) as error:
            _LOG.warning(
                "%s cannot be read, so the panels are where they are by default: %s", self._layout_file, error
            )

    def _save_layout(self) -> None:
        if self._layout_file is None:
            return
        try:
            write_text(self._layout_file, imgui.save_ini_settings_to_memory())
        except UsageError as error:
            _LOG.warning("%s", error)

    def _wanted_scale(self) -> float:
        window = self._window
        # Where window units are already scaled (macOS, Wayland), ImGui's framebuffer scale does the rest.
        ratio = window.pixel_ratio or 1.0
        return max(0.5, round(window.content_scale / ratio * self.user_scale * 8) / 8)

    def _begin_platform_frame(self, now: float) -> None:
        io = imgui.get_io()
        # The backend asks the window for sizes and focus, which under X11 takes as long as the panels; and it
        # sets the cursor's shape. Events come by callbacks without it.
        cursor = imgui.get_mouse_cursor()
        if self._native and (cursor != self._cursor or now >= self._next_platform_frame):
            self._cursor, self._next_platform_frame = cursor, now + _PLATFORM_INTERVAL
            backends.glfw_new_frame()
        width, height = self._window.size
        columns, rows = self._window.framebuffer_size
        io.display_size = imgui.ImVec2(width, height)
        io.display_framebuffer_scale = imgui.ImVec2(columns / max(width, 1), rows / max(height, 1))
        io.delta_time = 1 / 60 if self._last_build is None else max(1e-4, now - self._last_build)
        self._last_build = now


@contextmanager
def _scissored(box: Box, size: tuple[int, int]) -> Iterator[None]:
    """Draw only into a box of a framebuffer of this size; in pixels, y down from the top."""
    x, y, width, height = box
    GL.glScissor(x, size[1] - y - height, width, height)
    GL.glEnable(GL.GL_SCISSOR_TEST)
    try:
        yield
    finally:
        GL.glDisable(GL.GL_SCISSOR_TEST)


def _address(window: Window) -> int:
    return ctypes.cast(window.handle, ctypes.c_void_p).value or 0


def _load_fonts(io: imgui.IO) -> tuple[imgui.ImFont, imgui.ImFont, imgui.ImFont]:
    """Return the regular, bold and monospaced font, each with icons; ImGui's own where files are missing."""
    fonts = []
    for name in ("Roboto/Roboto-Regular.ttf", "Roboto/Roboto-Bold.ttf", "Inconsolata-Medium.ttf"):
        path = _FONTS / name
        if not path.is_file():
            fonts.append(io.fonts.add_font_default())
            continue
        fonts.append(io.fonts.add_font_from_file_ttf(str(path), theme.FONT_SIZE))
        if (icons := _FONTS / _ICONS).is_file():
            config = imgui.ImFontConfig()
            config.merge_mode = True
            config.pixel_snap_h = True
            config.glyph_min_advance_x = theme.FONT_SIZE * 1.2
            config.glyph_offset = imgui.ImVec2(0, 1)
            io.fonts.add_font_from_file_ttf(str(icons), theme.FONT_SIZE * 0.87, config)
    return fonts[0], fonts[1], fonts[2]


def _feed_key(io: imgui.IO, event: KeyPressed) -> None:
    io.add_key_event(imgui.Key.mod_ctrl, bool(event.modifiers & Modifiers.CONTROL))
    io.add_key_event(imgui.Key.mod_shift, bool(event.modifiers & Modifiers.SHIFT))
    name = _KEYS.get(event.key, event.key.lower())
    key = getattr(imgui.Key, f"_{name}" if name.isdigit() else name, None)
    if key is not None:
        io.add_key_event(key, event.pressed)
    sign = _SIGNS.get(event.key, event.key if len(event.key) == 1 else "")
    if sign and event.pressed and not event.modifiers & Modifiers.CONTROL:
        io.add_input_characters_utf8(sign.lower())
