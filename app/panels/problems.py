"""What is wrong with the open capture, and why it is not replayed; a click goes to the place."""

from __future__ import annotations

import contextlib

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import select
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.widgets import caption
from app.state import App
from replay.errors import RipplescopeError
from replay.graph.model import Fault, Severity
from replay.trust import replay_warnings


class ProblemsPanel:
    """The panel."""

    name = "Problems"
    icon = fa.ICON_FA_TRIANGLE_EXCLAMATION

    def __init__(self) -> None:
        self._lab: Lab | None = None
        self._faults: list[Fault] = []

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        lab, scene = app.lab, app.scene
        if lab is None or scene is None:
            caption(gui, "Open a capture to see what is wrong with it.")
            return
        if lab is not self._lab:
            self._lab, self._faults = lab, _faults_of(lab)
        if scene.player is None:
            self._blocked(app, gui)
        if not self._faults:
            imgui.push_style_color(imgui.Col_.text, gui.palette.good)
            imgui.text_unformatted(fa.ICON_FA_CIRCLE_CHECK)
            imgui.pop_style_color()
            imgui.same_line()
            imgui.text_unformatted("All checks of the file passed.")
            return
        imgui.begin_child("faults")
        imgui.push_text_wrap_pos(0.0)
        clipped = self._faults[:500]
        for index, fault in enumerate(clipped):
            self._fault(app, gui, lab, index, fault)
        imgui.pop_text_wrap_pos()
        if len(self._faults) > len(clipped):
            caption(gui, f"and {len(self._faults) - len(clipped)} more; 'ripplescope inspect' lists all")
        imgui.end_child()

    @staticmethod
    def _blocked(app: App, gui: Gui) -> None:
        assert app.scene is not None
        imgui.push_style_color(imgui.Col_.text, gui.palette.warning)
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(f"{fa.ICON_FA_BAN}  Not replayed: {app.scene.blocked}")
        imgui.pop_text_wrap_pos()
        imgui.pop_style_color()
        if not app.scene.capture.blocking_faults and app.question is None and imgui.button("Replay it…"):
            app.attempt(app.ask_again)
        imgui.dummy((0.0, 2 * gui.scale))

    @staticmethod
    def _fault(app: App, gui: Gui, lab: Lab, index: int, fault: Fault) -> None:
        blocks = fault.severity is Severity.BLOCKS_REPLAY
        color = gui.palette.danger if blocks else gui.palette.warning
        imgui.push_style_color(imgui.Col_.text, color)
        imgui.text_unformatted(fa.ICON_FA_CIRCLE_XMARK if blocks else fa.ICON_FA_CIRCLE_INFO)
        imgui.pop_style_color()
        imgui.same_line()
        if fault.event is not None and fault.event < len(lab.capture.operations):
            if imgui.text_link(f"{fault.where}##{index}"):
                select(app, fault.event)
            imgui.same_line()
        else:
            imgui.text_unformatted(fault.where)
            imgui.same_line()
        imgui.text_unformatted(fault.what)
        if fault.offset is not None:
            caption(gui, f"        offset {fault.offset}" + (f", {fault.field}" if fault.field else ""))


def _faults_of(lab: Lab) -> list[Fault]:
    """Return the faults of the file, then what to know before it is replayed."""
    found = list(lab.capture.faults)
    with contextlib.suppress(RipplescopeError):  # what cannot be looked at has its fault in the list already
        found += [fault for fault in replay_warnings(lab.capture) if fault not in found]
    found.sort(key=lambda fault: fault.severity is not Severity.BLOCKS_REPLAY)
    return found
