"""The inspector: what is selected, told in full. One tab for the operation, one for the region."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.lab.selection import Kind
from app.panels.inspect_operation import OperationTab
from app.panels.inspect_region import RegionTab
from app.panels.widgets import begin_tabs, caption, end_tabs
from app.state import App


class InspectorPanel:
    """The panel; shows the tab of what was selected last."""

    name = "Inspector"
    icon = fa.ICON_FA_MAGNIFYING_GLASS

    def __init__(self) -> None:
        self._operation = OperationTab()
        self.region = RegionTab()
        self._lab: Lab | None = None
        self._seen = -1

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        lab = app.lab
        if lab is None:
            caption(gui, "Open a capture to look into it.")
            return
        selection = lab.selection
        if lab is not self._lab:
            self._lab, self._seen = lab, selection.revision
        changed, self._seen = selection.revision != self._seen, selection.revision
        to_region = changed and selection.kind in (Kind.REGION, Kind.EDGE)
        to_event = changed and selection.kind in (Kind.EVENT, Kind.KERNEL)
        if not begin_tabs(gui, "tabs"):
            return
        chosen = imgui.TabItemFlags_.set_selected
        if imgui.begin_tab_item("Operation", None, chosen if to_event else 0)[0]:
            imgui.begin_child("operation")
            self._operation.draw(app, gui, lab)
            imgui.end_child()
            imgui.end_tab_item()
        if imgui.begin_tab_item("Region", None, chosen if to_region else 0)[0]:
            imgui.begin_child("region")
            self.region.draw(app, gui, lab)
            imgui.end_child()
            imgui.end_tab_item()
        end_tabs()
