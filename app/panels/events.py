"""The event list: the operations of the capture in order, by their stable numbers."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import caption, shape_text
from app.state import App
from replay.graph.model import Operation

_TABLE = (
    imgui.TableFlags_.row_bg
    | imgui.TableFlags_.scroll_y
    | imgui.TableFlags_.resizable
    | imgui.TableFlags_.borders_inner_v
    | imgui.TableFlags_.sizing_stretch_prop
)
_ROW = imgui.SelectableFlags_.span_all_columns


class EventsPanel:
    """The panel; only the rows that can be seen are built."""

    name = "Events"
    icon = fa.ICON_FA_LIST_OL

    def __init__(self) -> None:
        self._rows: dict[int, tuple[str, str, str]] = {}
        self._capture: object = None
        self._scrolled_to: int | None = None

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if app.scene is None:
            caption(gui, "Open a capture to see its operations.")
            return
        capture = app.scene.capture
        if capture is not self._capture:
            self._capture = capture
            self._rows.clear()
        if not imgui.begin_table("events", 3, _TABLE):
            return
        imgui.table_setup_column("#", imgui.TableColumnFlags_.width_fixed, 34 * gui.scale)
        imgui.table_setup_column("Operation", imgui.TableColumnFlags_.width_stretch, 1.0)
        imgui.table_setup_column("Shape", imgui.TableColumnFlags_.width_fixed, 78 * gui.scale)
        imgui.table_setup_scroll_freeze(0, 1)
        imgui.table_headers_row()
        clipper = imgui.ListClipper()
        clipper.begin(len(capture.operations))
        while clipper.step():
            for event in range(clipper.display_start, clipper.display_end):
                self._row(app, event)
        clipper.end()
        if app.selected is not None and app.selected != self._scrolled_to:
            height = imgui.get_text_line_height_with_spacing()
            imgui.set_scroll_from_pos_y(app.selected * height - imgui.get_scroll_y(), 0.5)
        self._scrolled_to = app.selected
        imgui.end_table()

    def _row(self, app: App, event: int) -> None:
        texts = self._rows.get(event)
        if texts is None:
            assert app.scene is not None
            texts = self._rows[event] = _texts(app.scene.capture.operations[event])
        number, label, shape = texts
        imgui.table_next_row()
        imgui.table_next_column()
        if imgui.selectable(number, app.selected == event, _ROW)[0]:
            app.selected = self._scrolled_to = event
        imgui.table_next_column()
        imgui.text_unformatted(label)
        imgui.table_next_column()
        imgui.text_disabled(shape)


def _texts(operation: Operation) -> tuple[str, str, str]:
    indent = "    " * operation.depth
    shape = shape_text(operation.shape) if operation.shape else ""
    return str(operation.event), indent + operation.label, shape
