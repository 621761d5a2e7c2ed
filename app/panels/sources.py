"""The sources of a basin as a list: frequency, amplitude, phase, on and off; the wavelength beside them."""

from __future__ import annotations

import dataclasses
import math

from imgui_bundle import icons_fontawesome_6 as fa

from app.basin.furnishing import AMPLITUDES, FREQUENCIES, Furnishing, Source
from app.basin.tools import Tool
from app.basin.waves import wave_speed
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, caption, icon_button, right_align, tooltip
from app.scene import Scene
from app.state import App

_CLAMP = imgui.SliderFlags_.always_clamp
_SHORT = 8.0  # cells in a wavelength: with fewer, the grid bends waves
_STAIRS = 20.0  # with fewer, walls that run aslant, in stairs, scatter up to 7 % of the energy
_BEAM = 12.0  # from here up what they reflect leaves within a degree all the same


class SourcesPanel:
    """The panel."""

    name = "Sources"
    icon = fa.ICON_FA_BULLSEYE

    def __init__(self) -> None:
        self._lengths = [Kept() for _ in range(16)]
        self._shallowest = Kept()
        self._scroll: int | None = None

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        scene = app.scene
        furnishing = scene.furnishing if scene is not None else None
        if scene is None or furnishing is None:
            caption(
                gui, "Sources need the ripple tank: choose one of the\ntools on the water to switch to it."
            )
            return
        placed = furnishing.places("source_pos")
        self._head(app, gui, furnishing, len(placed))
        for index, _ in placed:
            self._row(app, gui, scene, furnishing, index)
        if not imgui.is_any_item_active() and not app.tools.pressed:
            furnishing.settle()

    def _head(self, app: App, gui: Gui, furnishing: Furnishing, count: int) -> None:
        holding = app.tools.tool is Tool.SOURCE
        imgui.begin_disabled(count == len(furnishing.arrays["source_pos"]))
        if imgui.button(
            f"{fa.ICON_FA_BULLSEYE}  Place on the water" if not holding else "Click on the water"
        ):
            app.tools.hold(Tool.PUSH if holding else Tool.SOURCE)
        imgui.end_disabled()
        imgui.same_line()
        caption(gui, f"{count} of {len(furnishing.arrays['source_pos'])}")
        if not count:
            caption(gui, "A source moves the water up and down under it.")
            return
        on = furnishing.arrays["source_on"]
        width = imgui.calc_text_size("All off").x + 20 * gui.scale
        right_align(width)
        any_on = any(on[index] for index, _ in furnishing.places("source_pos"))
        if imgui.button("All off" if any_on else "All on", (width, 0.0)):
            furnishing.settle()
            for index, _ in furnishing.places("source_pos"):
                furnishing.edit("source_on")[index] = 0 if any_on else 1
            furnishing.settle()

    def _row(self, app: App, gui: Gui, scene: Scene, furnishing: Furnishing, index: int) -> None:
        scale = gui.scale
        source = furnishing.source(index)
        imgui.push_id(index)
        imgui.separator()
        chosen = app.tools.source == index
        if chosen:
            imgui.push_style_color(imgui.Col_.button, gui.palette.accent)
            imgui.push_style_color(imgui.Col_.text, gui.palette.on_accent)
        if imgui.button(f"{index + 1}##select", (30 * scale, 0.0)):
            app.tools.source = None if chosen else index
        if chosen:
            imgui.pop_style_color(2)
        tooltip(f"Source {index + 1} at {source.at[0]:.1f}, {source.at[1]:.1f}; drag it on the water")
        imgui.same_line(0.0, 6 * scale)
        changed, on = imgui.checkbox("##on", source.on)
        tooltip("On or off")
        if changed:
            source = dataclasses.replace(source, on=on)
        imgui.same_line(0.0, 6 * scale)
        room = imgui.get_content_region_avail().x - 34 * scale
        imgui.set_next_item_width(room / 2 - 3 * scale)
        _, frequency = imgui.drag_float("##f", source.frequency, 0.02, *FREQUENCIES, "%.2f Hz", _CLAMP)
        tooltip("Frequency: drag, or double-click to type")
        imgui.same_line(0.0, 6 * scale)
        imgui.set_next_item_width(room / 2 - 3 * scale)
        _, amplitude = imgui.drag_float("##a", source.amplitude, 0.001, *AMPLITUDES, "%.3f m", _CLAMP)
        tooltip("Amplitude of the waves one wavelength from the source in open water")
        imgui.same_line(0.0, 4 * scale)
        gone = icon_button(gui, f"{fa.ICON_FA_TRASH}##delete", "Take it away", width=30 * scale)
        imgui.dummy((30 * scale, 0.0))
        imgui.same_line(0.0, 6 * scale)
        imgui.set_next_item_width(imgui.get_content_region_avail().x / 2 - 10 * scale)
        degrees = math.degrees(source.phase)
        moved, degrees = imgui.drag_float("##phase", degrees, 1.0, -360.0, 360.0, "phase %.0f°", _CLAMP)
        phase = math.radians(degrees) if moved else source.phase
        tooltip("Where in its swing it begins; half a turn is 180°")
        imgui.same_line(0.0, 8 * scale)
        self._length(gui, scene, furnishing, index, source)
        imgui.pop_id()
        if gone:
            furnishing.remove("source_pos", index)
            if chosen:
                app.tools.source = None
        else:
            furnishing.set_source(
                index,
                dataclasses.replace(source, frequency=frequency, amplitude=amplitude, phase=phase),
            )

    def _length(self, gui: Gui, scene: Scene, furnishing: Furnishing, index: int, source: Source) -> None:
        """Tell the wavelength that follows from the speed where the source is."""
        assert scene.grid is not None
        length, cells = wavelength_of(scene, furnishing, source)
        low = float(
            self._shallowest.get((id(furnishing), furnishing.map_revision), lambda: shallowest(furnishing))  # type: ignore[arg-type]
        )
        doubt = doubt_of(cells, wave_cells(scene, source, low))
        text = str(self._lengths[index].get((round(length, 3), round(cells, 1)), lambda: f"λ {length:.2f} m"))
        imgui.align_text_to_frame_padding()
        if doubt.coarse:
            imgui.text_colored(gui.palette.warning, f"{fa.ICON_FA_TRIANGLE_EXCLAMATION} {text}")
        else:
            imgui.text_unformatted(text)
            if doubt.text:
                imgui.same_line(0.0, 5 * gui.scale)
                caption(gui, fa.ICON_FA_CIRCLE_INFO)
        tooltip(f"Speed / frequency = {length:.3f} m, {cells:.1f} cells{doubt.text}")


@dataclasses.dataclass(frozen=True)
class Doubt:
    """How far waves can be believed: whether the grid is too coarse, and what to know, for people."""

    coarse: bool
    text: str


def doubt_of(cells: float, shortest: float) -> Doubt:
    """Return how far waves can be believed.

    Args:
        cells: in a wavelength where the source is.
        shortest: over the shallowest water.
    """
    lower = "the grid is too coarse: waves run late and bend. Lower the frequency"
    if cells < _SHORT:
        return Doubt(True, f".\nBelow {_SHORT:.0f} cells {lower}")
    if shortest < _SHORT:
        return Doubt(True, f".\nOver the shallowest water only {shortest:.1f}: below {_SHORT:.0f} {lower}")
    if cells < _STAIRS:
        return Doubt(
            False,
            f".\nWalls that run aslant are stairs: below {_STAIRS:.0f} cells they also scatter a little,\n"
            f"and only from {_BEAM:.0f} up the reflected beam leaves within a degree",
        )
    return Doubt(False, "")


def shallowest(furnishing: Furnishing) -> float:
    """Return the depth of the shallowest water, share of the deepest."""
    water = furnishing.arrays["walls"] == 0
    return float(furnishing.arrays["depth"].min(where=water, initial=1.0))


def wave_cells(scene: Scene, source: Source, depth: float) -> float:
    """Return how many cells a source's waves are long over a depth."""
    assert scene.grid is not None
    return wave_speed(scene.editor.scalars(), depth) / source.frequency / scene.grid.dx


def wavelength_of(scene: Scene, furnishing: Furnishing, source: Source) -> tuple[float, float]:
    """Return the length of a source's waves at its place, in m and in cells."""
    assert scene.grid is not None
    rows, columns = furnishing.shape
    row = min(max(round(source.at[1]), 0), rows - 1)
    column = min(max(round(source.at[0]), 0), columns - 1)
    depth = float(furnishing.arrays["depth"][row, column])
    length = wave_speed(scene.editor.scalars(), depth) / source.frequency
    return length, length / scene.grid.dx
