"""The part of the parameter panel that asks for another grid: what cannot change without a new capture."""

from __future__ import annotations

import time

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import caption, tooltip
from app.recapture import FrameRequest
from app.state import App

_SIDES = (3, 8192)
_SUBSTEPS = (1, 1024)
_FIELDS = (("Columns", "_width", _SIDES), ("Rows", "_height", _SIDES), ("Substeps", "_substeps", _SUBSTEPS))
_DOTS = ("   ", ".  ", ".. ", "...")


class FrameForm:
    """Width, height and substeps as they are being typed."""

    def __init__(self) -> None:
        self._scene: object = None
        self._width = self._height = 128
        self._substeps = 16

    def draw(self, app: App, gui: Gui) -> None:
        """Build the form; only a capture of this program's own frame has one."""
        scene = app.scene
        if scene is None or scene.grid is None or scene.substeps is None:
            return
        if scene is not self._scene:
            self._scene = scene
            self._width, self._height = scene.grid.width, scene.grid.height
            self._substeps = scene.substeps
        imgui.separator_text("Captured frame")
        width = imgui.get_content_region_avail().x
        gap = 8 * gui.scale
        third = (width - 2 * gap) / 3
        start = imgui.get_cursor_pos_x()
        for index, (label, _, _) in enumerate(_FIELDS):
            if index:
                imgui.same_line(start + index * (third + gap))
            caption(gui, label)
        for index, (label, key, (low, high)) in enumerate(_FIELDS):
            if index:
                imgui.same_line(start + index * (third + gap))
            imgui.set_next_item_width(third)
            _, typed = imgui.input_int(f"##{label}", getattr(self, key), 0, 0)
            setattr(self, key, typed)
            tooltip(f"{low} to {high}")
        manifest = scene.capture.manifest
        basin = manifest.solver if manifest is not None and scene.furnishing is not None else ""
        request = FrameRequest(self._width, self._height, self._substeps, scene.player.device, basin)
        same = (self._width, self._height, self._substeps) == (
            scene.grid.width,
            scene.grid.height,
            scene.substeps,
        )
        valid = (
            _inside(self._width, _SIDES)
            and _inside(self._height, _SIDES)
            and _inside(self._substeps, _SUBSTEPS)
        )
        if app.recapture is not None:
            dots = _DOTS[int(time.monotonic() * 4) % 4]
            caption(gui, f"{fa.ICON_FA_HOURGLASS_HALF}  capturing {app.recapture.request}{dots}")
            if imgui.button(f"{fa.ICON_FA_XMARK}  Cancel", (width, 0.0)):
                app.later(app.cancel_recapture)
            tooltip("Keep the frame that is open")
            return
        imgui.begin_disabled(same or not valid)
        if imgui.button(f"{fa.ICON_FA_CAMERA}  Capture again", (width, 0.0)):
            app.later(lambda: app.start_recapture(request))
        imgui.end_disabled()
        if same:
            tooltip("Grid and substeps are part of the captured graph: change one of them to capture anew")
        elif not valid:
            tooltip("One of the numbers is out of its range")
        else:
            tooltip("Record the frame with this grid; the water goes on meanwhile")


def _inside(value: int, bounds: tuple[int, int]) -> bool:
    return bounds[0] <= value <= bounds[1]
