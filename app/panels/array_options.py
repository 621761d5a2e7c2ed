"""How the array in the centre is coloured: the map and the range of its values."""

from __future__ import annotations

from app.arrays.ways import Way
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import caption, label_before
from app.state import App
from app.view import colormaps


def draw_array_options(app: App, gui: Gui) -> None:
    """Build the choices within a panel."""
    assert app.lab is not None
    shown = app.lab.shown
    if shown.candidate is None or shown.typing is None:
        caption(gui, shown.sentence)
        return
    caption(gui, shown.candidate.label)
    if shown.way in (Way.VALUE, Way.COLOUR):
        caption(gui, "Its numbers are shown as they are.")
        return
    if shown.way is not Way.LINE:
        label_before(gui, "Colour map")
        if imgui.begin_combo("##arraymap", shown.map_name):
            for name in colormaps.names():
                if imgui.selectable(name, name == shown.map_name)[0]:
                    shown.use_map(name)
            imgui.end_combo()
    changed, fitted = imgui.checkbox("Fit the range", shown.fixed is None)
    if changed:
        shown.fix_range(None if fitted else shown.range)
    if shown.fixed is not None:
        label_before(gui, "Range")
        changed, (low, high) = imgui.input_float2("##arrayrange", list(shown.fixed), "%.5g")
        if changed and low < high:
            shown.fix_range((low, high))
