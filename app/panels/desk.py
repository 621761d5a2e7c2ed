"""The whole screen of panels: menu, status bar, docked panels, the water's place, popups.

The default layout is built here and remembered by ImGui in the user's configuration folder. A panel that
fails is told in the log and leaves the others alone.
"""

from __future__ import annotations

from typing import Any

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.canvas import CanvasItem
from app.panels.events import EventsPanel
from app.panels.explained import ExplainedPanel
from app.panels.gallery import GalleryPanel
from app.panels.graph import GraphPanel
from app.panels.inspector import InspectorPanel
from app.panels.keeping import Keeping
from app.panels.layout import default_layout
from app.panels.log import LogPanel
from app.panels.menu import MenuBar
from app.panels.parameters import ParametersPanel
from app.panels.performance import PerformancePanel
from app.panels.popups import Popups
from app.panels.probes import ProbesPanel
from app.panels.problems import ProblemsPanel
from app.panels.session import SessionPanel
from app.panels.sources import SourcesPanel
from app.panels.statusbar import StatusBar
from app.panels.water import WaterPanel
from app.panels.widgets import Panel
from app.state import App, Rect

internal = imgui.internal
LAYOUT_VERSION = 6
"""A remembered layout of another version gives way to the default one."""
# A panel that takes the focus as it appears comes to the front: the last of a tab bar at each start.
_DOCKED = imgui.WindowFlags_.no_focus_on_appearing.value
_SCROLLED = frozenset({"Parameters", "Performance"})
"""Panels that scroll in a child of their window, for a window that scrolls itself is built each time."""
_PADDED = imgui.ChildFlags_.always_use_window_padding.value
_PADDING, _NOTHING = imgui.StyleVar_.window_padding, imgui.ImVec2(0.0, 0.0)
_FLOATING = {"Capture, explained": (940.0, 730.0)}
"""Panels that lie over the others until the user docks them, with their size at first."""


class Desk:
    """Everything that ImGui shows."""

    def __init__(self, app: App, gui: Gui) -> None:
        self._app, self._gui = app, gui
        app.canvas.rect = (0.0, 0.0, 1.0, 1.0)  # as good as nothing, until it is laid out
        self.panels: tuple[Panel, ...] = (
            ParametersPanel(),
            WaterPanel(),
            GraphPanel(),
            InspectorPanel(),
            EventsPanel(),
            PerformancePanel(),
            ProblemsPanel(),
            SessionPanel(),
            LogPanel(),
            SourcesPanel(),
            ProbesPanel(),
            GalleryPanel(),
            ExplainedPanel(),
        )
        self._titles = {panel.name: f"{panel.icon}  {panel.name}###{panel.name}" for panel in self.panels}
        self._front: list[str] = []
        self._closed = set(app.closed_panels)
        self._laid_out = False
        self._canvas = CanvasItem()
        self._menu = MenuBar([panel.name for panel in self.panels])
        self._status = StatusBar()
        self._popups = Popups()
        self._keeping = Keeping()
        self._recovery = internal.ErrorRecoveryState()

    @property
    def parts(self) -> dict[str, Any]:
        """All that draws something, by name; for who measures them."""
        fixed = {
            "menu": self._menu, "status bar": self._status, "canvas": self._canvas, "popups": self._popups
        }  # fmt: skip
        return fixed | {panel.name: panel for panel in self.panels}

    def draw(self) -> None:
        """Build everything for this frame."""
        app, gui = self._app, self._gui
        dock = imgui.get_id(f"desk{LAYOUT_VERSION}")
        shown = app.panels_shown
        self._keeping.begin(app, gui)
        if shown:
            self._keeping.before("menu")
            self._guarded(self._menu)
            self._keeping.before("status bar")
            self._guarded(self._status)
        bare = internal.dock_builder_get_node(dock) is None
        if bare:
            app.layout_reset_asked = True  # menu and status bar are measured by the time of the next build
        elif app.layout_reset_asked:
            app.layout_reset_asked = False
            self._default_layout(dock)
            self._front = ["Performance", "Parameters"]
        flags = imgui.DockNodeFlags_.passthru_central_node
        if not shown:
            flags |= imgui.DockNodeFlags_.keep_alive_only
        imgui.dock_space_over_viewport(dock, None, flags)
        rect = self._water_rect(dock) if shown else _whole()
        if not (bare and shown):  # or the water would be seen for a moment where the panels will be
            self._guarded(self._canvas, rect)
        if shown:
            if app.focused:
                app.closed_panels.discard("Parameters")
                imgui.set_window_focus(self._titles["Parameters"])
            elif self._front and self._laid_out:
                imgui.set_window_focus(self._titles[self._front.pop(0)])
            self._laid_out = not app.layout_reset_asked
            for panel in self.panels:
                if panel.name not in app.closed_panels:
                    if panel.name in self._closed:
                        imgui.set_next_window_focus()  # it was just asked for
                    self._draw_panel(panel)
            self._closed = set(app.closed_panels)
        self._guarded(self._popups)

    def _draw_panel(self, panel: Panel) -> None:
        app = self._app
        if panel.name in _FLOATING:
            centre = imgui.get_main_viewport().get_work_center()
            width, height = (side * self._gui.scale for side in _FLOATING[panel.name])
            height = min(height, imgui.get_main_viewport().work_size.y - 12 * self._gui.scale)
            imgui.set_next_window_size((width, height), imgui.Cond_.first_use_ever)
            imgui.set_next_window_pos(centre, imgui.Cond_.first_use_ever, (0.5, 0.5))
        kept = self._keeping.before(panel.name)
        flags = 0 if panel.name in _FLOATING else _DOCKED
        inset = panel.name in _SCROLLED
        if inset:
            imgui.push_style_var(_PADDING, _NOTHING)
        opened, stays = imgui.begin(self._titles[panel.name], True, flags)
        if inset:
            imgui.pop_style_var()
        if opened:
            self._keeping.built(panel.name)
            self._draw_inside(panel)
        elif kept:
            self._keeping.attach()
        imgui.end()
        if not stays:
            app.closed_panels.add(panel.name)
            app.save_settings()

    def _draw_inside(self, panel: Panel) -> None:
        if panel.name not in _SCROLLED:
            self._guarded(panel)
            return
        imgui.begin_child("inside", _NOTHING, _PADDED)
        self._guarded(panel)
        imgui.end_child()

    def _guarded(self, part: Any, *place: Rect) -> None:
        """Draw a part; a fault in one is a message, not the end."""
        internal.error_recovery_store_state(self._recovery)
        try:
            part.draw(self._app, self._gui, *place)
        except Exception as error:
            internal.error_recovery_try_to_recover_state(self._recovery)
            self._app.fail(error)

    def _water_rect(self, dock: int) -> Rect:
        node = internal.dock_builder_get_central_node(dock)
        if node is None:
            return _whole()
        return node.pos.x, node.pos.y, node.size.x, node.size.y

    def _default_layout(self, dock: int) -> None:
        viewport = imgui.get_main_viewport()
        width, height = max(viewport.work_size.x, 1.0), max(viewport.work_size.y, 1.0)
        internal.dock_builder_remove_node(dock)
        internal.dock_builder_add_node(dock, internal.DockNodeFlagsPrivate_.dock_space)
        internal.dock_builder_set_node_pos(dock, viewport.work_pos)
        internal.dock_builder_set_node_size(dock, viewport.work_size)
        layout = default_layout(width, height, self._gui.scale)

        def split(node: int, side: imgui.Dir, ratio: float) -> tuple[int, int]:
            result = internal.dock_builder_split_node(node, side, ratio)
            return result.id_at_dir, result.id_at_opposite_dir

        left, rest = split(dock, imgui.Dir.left, layout.left / width)
        right, rest = split(rest, imgui.Dir.right, layout.right / (width - layout.left))
        bottom, _ = split(rest, imgui.Dir.down, layout.bottom / height)
        graph, right = split(right, imgui.Dir.up, layout.graph)
        events, inspector = split(right, imgui.Dir.up, layout.events / (1.0 - layout.graph))
        places = {
            "Parameters": left, "Picture": left, "Graph": graph, "Events": events, "Inspector": inspector,
            "Performance": bottom, "Problems": bottom, "Session": bottom, "Log": bottom,
            "Sources": left, "Gallery": left, "Probes": bottom,
        }  # fmt: skip
        for name, node in places.items():
            if name in self._titles:
                internal.dock_builder_dock_window(self._titles[name], node)
        internal.dock_builder_finish(dock)


def _whole() -> Rect:
    viewport = imgui.get_main_viewport()
    return viewport.pos.x, viewport.pos.y, viewport.size.x, viewport.size.y
