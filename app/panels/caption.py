"""What a scene is about, at the bottom of the water: its name and what to look at, wrapped if it is long."""

from __future__ import annotations

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.legend import legend_width
from app.state import App, Rect

_WIDEST, _NARROWEST = 620.0, 150.0


def draw_caption(app: App, gui: Gui, rect: Rect, text: str) -> None:
    """Build it in a rectangle in window units, beside the legend where there is one."""
    scale = gui.scale
    taken = legend_width(app, gui, rect)
    left = rect[0] + (taken + 26 * scale if taken else 14 * scale)
    room = rect[0] + rect[2] - 14 * scale - left
    below = rect[1] + rect[3] - 16 * scale
    if room < _NARROWEST * scale:
        return
    width = min(room, _WIDEST * scale) - 28 * scale
    size = imgui.calc_text_size(text, wrap_width=width)
    x = left + (0.0 if taken else (room - size.x - 28 * scale) / 2)
    y = below - size.y - 14 * scale
    draw = imgui.get_window_draw_list()
    draw.add_rect_filled((x, y), (x + size.x + 28 * scale, below), gui.colors.overlay, 8 * scale)
    imgui.set_cursor_screen_pos((x + 14 * scale, y + 7 * scale))
    imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + width)
    imgui.text_unformatted(text)
    imgui.pop_text_wrap_pos()
