"""The event list: the operations of the capture in order, by their stable numbers, repeats folded."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.outline import Row, rows_of
from app.panels.widgets import caption
from app.state import App

_TABLE = (
    imgui.TableFlags_.row_bg
    | imgui.TableFlags_.scroll_y
    | imgui.TableFlags_.resizable
    | imgui.TableFlags_.sizing_stretch_prop
)
_ROW = imgui.SelectableFlags_.span_all_columns
_FIXED, _STRETCH = imgui.TableColumnFlags_.width_fixed, imgui.TableColumnFlags_.width_stretch


class EventsPanel:
    """The panel; only the rows that can be seen are built."""

    name = "Events"
    icon = fa.ICON_FA_LIST_OL

    def __init__(self) -> None:
        self._capture: object = None
        self._opened: set[tuple[int, ...]] = set()
        self._rows: list[Row] = []
        self._texts: list[tuple[str, str, str]] = []
        self._scrolled_to: int | None = None

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if app.scene is None:
            caption(gui, "Open a capture to see its operations.")
            return
        capture = app.scene.capture
        if capture is not self._capture:
            self._capture = capture
            self._opened.clear()
            self._list(app)
        if not imgui.begin_table("events", 3, _TABLE):
            return
        imgui.table_setup_column("#", _FIXED, 46 * gui.scale)
        imgui.table_setup_column("Operation", _STRETCH, 1.0)
        imgui.table_setup_column("Size", _FIXED, 58 * gui.scale)
        imgui.table_setup_scroll_freeze(0, 1)
        imgui.table_headers_row()
        clipper = imgui.ListClipper()
        clipper.begin(len(self._rows))
        asked = None
        while clipper.step():
            for index in range(clipper.display_start, clipper.display_end):
                if self._row(app, gui, index):
                    asked = self._rows[index].key
        clipper.end()
        self._follow(app)
        imgui.end_table()
        if asked is not None:
            self._opened ^= {asked}
            self._list(app)

    def _list(self, app: App) -> None:
        assert app.scene is not None
        self._rows = rows_of(app.scene.capture, self._opened)
        self._texts = [_texts(row, index, row.key in self._opened) for index, row in enumerate(self._rows)]

    def _row(self, app: App, gui: Gui, index: int) -> bool:
        """Build a row; return whether it is to be opened or closed."""
        row, (number, label, size) = self._rows[index], self._texts[index]
        imgui.table_next_row()
        imgui.table_next_column()
        selected = app.selected is not None and row.event <= app.selected <= row.last
        pressed = imgui.selectable(number, selected, _ROW)[0]
        if pressed:
            app.selected = self._scrolled_to = row.event
        imgui.table_next_column()
        if row.depth:
            imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 14 * gui.scale * row.depth)
        imgui.text_unformatted(label)
        imgui.table_next_column()
        imgui.text_disabled(size)
        return pressed and row.count > 1

    def _follow(self, app: App) -> None:
        """Scroll to an event that was selected elsewhere."""
        if app.selected is not None and app.selected != self._scrolled_to:
            index = next((i for i, row in enumerate(self._rows) if row.event <= app.selected <= row.last), 0)
            height = imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y
            imgui.set_scroll_y(max(0.0, index * height - imgui.get_window_height() / 2))
        self._scrolled_to = app.selected


def _texts(row: Row, index: int, opened: bool) -> tuple[str, str, str]:
    number = f"{row.event}–{row.last}" if row.last > row.event else str(row.event)
    if row.count == 1:
        return f"{number}##{index}", row.label, row.shape
    sign = fa.ICON_FA_CHEVRON_DOWN if opened else fa.ICON_FA_CHEVRON_RIGHT
    return f"{number}##{index}", f"{sign} {row.label}  ×{row.count}", row.shape
