"""A row of numbers as a line or as bars, in the inspector: its range, and the value under the pointer."""

from __future__ import annotations

import math

import numpy as np

from app.arrays.columns import as_bars, bar_columns, line_columns
from app.arrays.ranges import finite_range
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.region_numbers import range_text
from app.panels.widgets import Kept, caption

_MAGENTA = 0xFFFF00FF


class RegionLine:
    """The line; what it covers is worked out when the values or the width change."""

    def __init__(self) -> None:
        self._columns = Kept()

    def draw(self, gui: Gui, scalars: np.ndarray, key: tuple[object, ...]) -> None:
        """Build the picture of numbers (n,); `key` changes when they do."""
        scale = gui.scale
        available = imgui.get_content_region_avail()
        width, height = max(int(available.x), 8), max(min(available.y - 30 * scale, 220 * scale), 60 * scale)
        corner = imgui.get_cursor_screen_pos()
        imgui.invisible_button("line", (width, height))
        made = self._columns.get((*key, width), lambda: _made(scalars, width))
        columns, low, high = made  # type: ignore[misc]
        draw, colors = imgui.get_window_draw_list(), gui.colors
        bottom, grow = corner.y + height, height / (high - low)
        draw.add_line((corner.x, bottom), (corner.x + width, bottom), colors.line, scale)
        for x, (first, last, wrong) in enumerate(columns.tolist()):
            if wrong:
                draw.add_line((corner.x + x, corner.y), (corner.x + x, bottom), _MAGENTA, 1.0)
            elif not math.isnan(first):
                top = bottom - (last - low) * grow
                draw.add_line(
                    (corner.x + x, top - 0.7),
                    (corner.x + x, bottom - (first - low) * grow + 0.7),
                    colors.accent,
                    1.0,
                )
        if imgui.is_item_hovered():
            share = (imgui.get_io().mouse_pos.x - corner.x) / width
            index = min(max(round(share * len(scalars) - 0.5), 0), len(scalars) - 1)
            imgui.set_tooltip(f"[{index}]  {scalars[index]:.9g}")
        caption(gui, f"index 0 to {len(scalars) - 1:,},  {range_text(low, high)}")


def _made(scalars: np.ndarray, width: int) -> tuple[np.ndarray, float, float]:
    """Return columns of pixels, and the range of the axis; bars stand on zero."""
    found = finite_range(scalars)
    low, high = (0.0, 1.0) if found.low is None or found.high is None else (found.low, found.high)
    bars = as_bars(len(scalars))
    if bars:
        low, high = min(low, 0.0), max(high, 0.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    make = bar_columns if bars else line_columns
    return make(scalars, -0.5, len(scalars) - 0.5, width), low, high
