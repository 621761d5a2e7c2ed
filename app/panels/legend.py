"""The legend of the colour map, over the water in data mode: colours, range, unit."""

from __future__ import annotations

import numpy as np

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept
from app.state import App, Rect
from app.view import colormaps
from app.view.options import Mode

_STEPS = 24
_SIZE = (220.0, 10.0)


class Legend:
    """The legend; colours and texts are made when the map or the range changes."""

    def __init__(self) -> None:
        self._colors = Kept()
        self._texts = Kept()

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build it at the bottom left of a rectangle in window units."""
        water = app.water
        scale = gui.scale
        width, height = _SIZE[0] * scale, _SIZE[1] * scale
        if water is None or not legend_width(app, gui, rect):
            return
        colors = self._colors.get(water.options.colour_map, lambda: packed(water.options.colour_map))
        low, high = water.range
        key = (f"{low:.3g}", f"{high:.3g}")
        low_text, high_text = self._texts.get(key, lambda: _range_texts(low, high))  # type: ignore[misc]
        pad, line = 12 * scale, imgui.get_text_line_height()
        x, y = rect[0] + 14 * scale, rect[1] + rect[3] - 14 * scale - (height + line + 2 * pad)
        draw = imgui.get_window_draw_list()
        end = (x + width + 2 * pad, y + height + line + 2 * pad - 2 * scale)
        draw.add_rect_filled((x, y), end, gui.colors.overlay, 8 * scale)
        left, top, step = x + pad, y + pad, width / _STEPS
        for index in range(_STEPS):
            first, second = colors[index], colors[index + 1]  # type: ignore[index]
            corner = (left + index * step, top)
            opposite = (left + (index + 1) * step, top + height)
            draw.add_rect_filled_multi_color(corner, opposite, first, second, second, first)
        below = top + height + 4 * scale
        draw.add_text((left, below), gui.colors.text, low_text)
        right = left + width - imgui.calc_text_size(high_text).x
        draw.add_text((right, below), gui.colors.text, high_text)
        middle = left + (width - imgui.calc_text_size("height").x) / 2
        draw.add_text((middle, below), gui.colors.muted, "height")


def legend_width(app: App, gui: Gui, rect: Rect) -> float:
    """Return how much of a rectangle's bottom the legend takes from its left, window units; 0 without one."""
    width = _SIZE[0] * gui.scale
    narrow = rect[2] < width + 60 * gui.scale
    if app.shows_array or app.water is None or app.water.options.mode != Mode.DATA or narrow:
        return 0.0
    return width + 38 * gui.scale


def packed(name: str) -> list[int]:
    """Return some colours of a map for draw lists, from its lowest to its highest value."""
    table = np.asarray(colormaps.table(name))
    rows = table[np.linspace(0, len(table) - 1, _STEPS + 1).round().astype(int)]
    if rows.dtype.kind == "f":
        rows = (rows * 255).round()
    return [0xFF000000 | int(b) << 16 | int(g) << 8 | int(r) for r, g, b in rows[:, :3]]


def _range_texts(low: float, high: float) -> tuple[str, str]:
    if max(abs(low), abs(high)) < 0.1:
        return f"{low * 1e3:.3g} mm", f"{high * 1e3:.3g} mm"
    return f"{low:.3g} m", f"{high:.3g} m"
