"""Numbers of an array as a table; only the cells that can be seen are written. An index that is typed is
gone to."""

from __future__ import annotations

import math
import re

import numpy as np

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import tooltip

_COLUMNS = 48
"""Columns that are shown at once: ImGui takes no more than some hundred."""
_CLAMPED = imgui.SliderFlags_.always_clamp
_ROWS = 100_000
"""Rows that are shown at once: float32 does not hold the places of very many, and ImGui gives up."""
_TABLE = (
    imgui.TableFlags_.scroll_x
    | imgui.TableFlags_.scroll_y
    | imgui.TableFlags_.row_bg
    | imgui.TableFlags_.sizing_fixed_fit
    | imgui.TableFlags_.no_borders_in_body
)


class RegionTable:
    """The table; wide and long arrays are turned over like pages.

    Attributes:
        found: row and column that were gone to last, None for none.
    """

    def __init__(self) -> None:
        self._first = self._top = 0
        self._typed = ""
        self._asked: tuple[int, int] | None = None
        self.found: tuple[int, int] | None = None

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
        self._choose(gui, rows, columns)
        shown = min(columns, _COLUMNS)
        if not imgui.begin_table("values", shown + 1, _TABLE):
            return
        wide = (90 if inner == 1 else 68 * min(inner, 4)) * gui.scale
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed, 46 * gui.scale)
        for column in range(shown):
            title = str(self._first + column) if columns > 1 else "value"
            imgui.table_setup_column(title, imgui.TableColumnFlags_.width_fixed, wide)
        imgui.table_setup_scroll_freeze(1, 1)
        imgui.table_headers_row()
        if self._asked is not None:
            self._scroll(*self._asked, wide)
            self._asked = None
        clipper = imgui.ListClipper()
        clipper.begin(min(rows, _ROWS))
        while clipper.step():
            for row in range(self._top + clipper.display_start, self._top + clipper.display_end):
                imgui.table_next_row()
                imgui.table_next_column()
                imgui.text_disabled(str(row))
                cells = flat[row, self._first : self._first + shown]
                for column, cell in enumerate(cells.tolist()):
                    if imgui.table_set_column_index(column + 1):
                        if self.found == (row, self._first + column):
                            imgui.table_set_bg_color(imgui.TableBgTarget_.cell_bg, gui.colors.field_hovered)
                        self._cell(gui, cell)
        clipper.end()
        imgui.end_table()

    def go_to(self, text: str, rows: int, columns: int) -> None:
        """Show the cell of an index as it was typed, see `index_of`; an index of none shows what it did."""
        self.found = self._asked = index_of(text, rows, columns)
        if self.found is None:
            return
        row, column = self.found
        if not self._first <= column < self._first + _COLUMNS:
            self._first = column
        if not self._top <= row < self._top + _ROWS:
            self._top = row

    def _choose(self, gui: Gui, rows: int, columns: int) -> None:
        """The index to go to, and from which row and column a large array is shown."""
        room, gap = imgui.get_content_region_avail().x, 8 * gui.scale
        last, lowest = max(columns - _COLUMNS, 0), max(rows - _ROWS, 0)
        parts = 1 + bool(last) + bool(lowest)
        width = (room - (parts - 1) * gap) / parts
        imgui.set_next_item_width(width)
        entered, self._typed = imgui.input_text_with_hint(
            "##index", "Go to row, column" if columns > 1 else "Go to index", self._typed,
            imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.auto_select_all,
        )  # fmt: skip
        if entered:
            self.go_to(self._typed, rows, columns)
        if self.found is not None and (self.found[0] >= rows or self.found[1] >= columns):
            self.found = self._asked = None  # it is another array
        self._first, self._top = min(self._first, last), min(self._top, lowest)
        if lowest:
            imgui.same_line(0.0, gap)
            imgui.set_next_item_width(width)
            _, self._top = imgui.slider_int("##rows", self._top, 0, lowest, "from %d", _CLAMPED)
            tooltip(f"The first of the {_ROWS:,} rows that are shown, of {rows:,}. Ctrl+click types it")
        if last:
            imgui.same_line(0.0, gap)
            imgui.set_next_item_width(width)
            _, self._first = imgui.slider_int("##columns", self._first, 0, last, "column %d on", _CLAMPED)
            tooltip(
                f"The first of the {_COLUMNS} columns that are shown, of {columns:,}. Ctrl+click types it"
            )

    def _scroll(self, row: int, column: int, wide: float) -> None:
        """Bring a cell to the middle of the table that is being built."""
        padding = imgui.get_style().cell_padding
        high, window = imgui.get_text_line_height() + 2 * padding.y, imgui.internal.get_current_window()
        imgui.set_scroll_y(max((row - self._top + 1.5) * high - window.size.y / 2, 0.0))
        imgui.set_scroll_x(
            max((column - self._first + 0.5) * (wide + 2 * padding.x) - window.size.x / 2, 0.0)
        )

    @staticmethod
    def _cell(gui: Gui, cell: list[float]) -> None:
        wrong = any(isinstance(number, float) and not math.isfinite(number) for number in cell)
        text = ", ".join(f"{number:.7g}" if isinstance(number, float) else str(number) for number in cell)
        if wrong:
            imgui.push_style_color(imgui.Col_.text, (1.0, 0.25, 1.0, 1.0))
        imgui.text_unformatted(text)
        if wrong:
            imgui.pop_style_color()


def index_of(text: str, rows: int, columns: int) -> tuple[int, int] | None:
    """Return row and column of what was typed, such as `12` or `12, 40`; None if there is no such cell."""
    words = re.findall(r"-?\d+", text)
    if not 1 <= len(words) <= 2:
        return None
    row, column = int(words[0]), int(words[1]) if len(words) > 1 else 0
    row, column = row + rows * (row < 0), column + columns * (column < 0)  # from the end, as in Python
    return (row, column) if 0 <= row < rows and 0 <= column < columns else None
