"""The strip under the bar at the top while a session is replayed: which one, how far, and ways out of it."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, elided
from app.state import App, Rect
from app.watching import Watching

_AGAIN = f"{fa.ICON_FA_ROTATE_LEFT}  Again"
_TAKE = f"{fa.ICON_FA_HAND_POINTER}  Take over"


class WatchingStrip:
    """The strip."""

    def __init__(self) -> None:
        self._text = Kept()

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build it in a rectangle in window units, if a session is replayed."""
        watching, scale = app.watching, gui.scale
        if watching is None or app.scene is None or rect[2] < 240 * scale:
            return
        step = app.scene.clock.step
        key = (watching.frames * step // 0.1, watching.verdict, watching.path)
        text = str(self._text.get(key, lambda: strip_text(watching, step)))
        line = imgui.get_frame_height()
        buttons = imgui.calc_text_size(_AGAIN).x + imgui.calc_text_size(_TAKE).x + 52 * scale
        width = min(imgui.calc_text_size(text).x + buttons + 32 * scale, rect[2] - 16 * scale)
        x, y = rect[0] + (rect[2] - width) / 2, rect[1] + line + 26 * scale
        height = line + 12 * scale
        draw = imgui.get_window_draw_list()
        draw.add_rect_filled((x, y), (x + width, y + height), gui.colors.overlay, 10 * scale)
        share = watching.frames / max(watching.total, 1)
        left, right, low = x + 10 * scale, x + width - 10 * scale, y + height - 3 * scale
        draw.add_line((left, low), (right, low), gui.colors.line, 2 * scale)
        draw.add_line((left, low), (left + (right - left) * share, low), gui.colors.accent, 2 * scale)
        imgui.set_cursor_screen_pos((x + 12 * scale, y + 3 * scale))
        imgui.align_text_to_frame_padding()
        if not watching.equal:
            imgui.push_style_color(imgui.Col_.text, gui.palette.warning)
        imgui.text_unformatted(elided(text, width - buttons - 16 * scale))
        if not watching.equal:
            imgui.pop_style_color()
        imgui.set_cursor_screen_pos((x + width - buttons + 4 * scale, y + 3 * scale))
        if imgui.button(_AGAIN):
            app.later(lambda: app.open(watching.path))
        imgui.same_line(0.0, 6 * scale)
        if imgui.button(_TAKE):
            app.later(app.take_over)


def strip_text(watching: Watching, step: float) -> str:
    """Return what is replayed and how far, or how it came out; `step` is the time of a frame in s."""
    name = watching.path.name
    if watching.verdict:
        return f"{name}: {watching.verdict}"
    return f"{name}   {watching.frames * step:.1f} of {watching.total * step:.1f} s"
