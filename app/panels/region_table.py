"""Numbers of an array as a table; only the cells that can be seen are written."""

from __future__ import annotations

import math

import numpy as np

from app.gl_platform import imgui
from app.gui import Gui

_COLUMNS = 48
"""Columns that are shown at once: ImGui takes no more than some hundred."""
_TABLE = (
    imgui.TableFlags_.scroll_x
    | imgui.TableFlags_.scroll_y
    | imgui.TableFlags_.row_bg
    | imgui.TableFlags_.sizing_fixed_fit
    | imgui.TableFlags_.no_borders_in_body
)


class RegionTable:
    """The table; wide arrays are turned over like pages."""

    def __init__(self) -> None:
        self._first = 0

    def draw(self, gui: Gui, values: np.ndarray, dimensions: int, plane: int) -> None:
        """Build the table of an array, or of one plane of it.

        Args:
            gui: fonts and colours.
            values: of `dimensions`, then the element's own, which stand side by side in a cell.
            dimensions: of the array.
            plane: which one, where there are more than two dimensions.
        """
        shape = values.shape[:dimensions]
        inner = math.prod(values.shape[dimensions:])
        flat = values.reshape(*shape, inner)
        if dimensions > 2:
            planes = flat.reshape(-1, *shape[-2:], inner)
            flat = planes[min(plane, len(planes) - 1)]
        elif dimensions < 2:
            flat = flat.reshape(-1, 1, inner)
        rows, columns = flat.shape[:2]
        if columns > _COLUMNS:
            imgui.set_next_item_width(imgui.get_content_region_avail().x)
            last = columns - _COLUMNS
            self._first = min(self._first, last)
            _, self._first = imgui.slider_int(
                "##columns", self._first, 0, last, f"from column %d of {columns}"
            )
        else:
            self._first = 0
        shown = min(columns, _COLUMNS)
        if not imgui.begin_table("values", shown + 1, _TABLE):
            return
        wide = (74 if inner == 1 else 62 * min(inner, 4)) * gui.scale
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed, 46 * gui.scale)
        for column in range(shown):
            title = str(self._first + column) if columns > 1 else "value"
            imgui.table_setup_column(title, imgui.TableColumnFlags_.width_fixed, wide)
        imgui.table_setup_scroll_freeze(1, 1)
        imgui.table_headers_row()
        clipper = imgui.ListClipper()
        clipper.begin(rows)
        while clipper.step():
            for row in range(clipper.display_start, clipper.display_end):
                imgui.table_next_row()
                imgui.table_next_column()
                imgui.text_disabled(str(row))
                cells = flat[row, self._first : self._first + shown]
                for column, cell in enumerate(cells.tolist()):
                    if imgui.table_set_column_index(column + 1):
                        self._cell(gui, cell)
        clipper.end()
        imgui.end_table()

    @staticmethod
    def _cell(gui: Gui, cell: list[float]) -> None:
        wrong = any(isinstance(number, float) and not math.isfinite(number) for number in cell)
        text = ", ".join(f"{number:.6g}" if isinstance(number, float) else str(number) for number in cell)
        if wrong:
            imgui.push_style_color(imgui.Col_.text, (1.0, 0.25, 1.0, 1.0))
        imgui.text_unformatted(text)
        if wrong:
            imgui.pop_style_color()
