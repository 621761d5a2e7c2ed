"""The probes of a basin: what they record as it comes, its spectrum, and the record as a file."""

from __future__ import annotations

import time

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import implot

from app.basin.furnishing import Cell
from app.basin.listening import Listening
from app.basin.probelog import ProbeLog, write_csv
from app.basin.tools import Tool
from app.basin.waves import wave_speed
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.placed import probe_color
from app.panels.widgets import Kept, caption, icon_button, right_align, tooltip
from app.session import free_path
from app.state import App

_WINDOWS = (2.0, 5.0, 10.0, 30.0)
_POINTS = 600
_PLOT = (
    implot.Flags_.no_title
    | implot.Flags_.no_menus
    | implot.Flags_.no_box_select
    | implot.Flags_.no_mouse_text
)
_HIGHEST = 20.0


class ProbesPanel:
    """The panel."""

    name = "Probes"
    icon = fa.ICON_FA_CHART_LINE

    def __init__(self) -> None:
        self._listening = Listening()
        self._log: ProbeLog | None = None
        self._window = 1
        self._lines = Kept()
        self._words = Kept()
        self._span = 1e-3

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        scene = app.scene
        furnishing = scene.furnishing if scene is not None else None
        if scene is None or furnishing is None or scene.grid is None:
            caption(gui, "Probes need the ripple tank: choose one of the tools on the water to switch to it.")
            return
        if scene.probes is not self._log:
            self._log, self._listening = scene.probes, Listening()
        placed = furnishing.places("probe_pos")
        seconds = _WINDOWS[self._window]
        speed = wave_speed(scene.editor.scalars())
        self._listening.update(scene.probes, placed, seconds, scene.grid.dx, speed, imgui.get_time())
        self._head(app, gui, placed, speed)
        if not placed:
            caption(gui, "A probe is a buoy that records how high the water stands where it is.")
            return
        if implot.get_current_context() is None:
            implot.create_context()
        room = imgui.get_content_region_avail()
        height = max(room.y, 90 * gui.scale)
        wide = room.x > 420 * gui.scale
        width = room.x * 0.6 if wide else room.x
        implot.push_style_color(implot.Col_.frame_bg, imgui.ImVec4(0, 0, 0, 0))
        implot.push_style_color(implot.Col_.plot_border, imgui.ImVec4(*gui.palette.line))
        self._heights(gui, scene.probes, placed, seconds, (width, height if wide else height / 2))
        if wide:
            imgui.same_line(0.0, 0.0)
            imgui.dummy((12 * gui.scale, 0.0))
            imgui.same_line(0.0, 0.0)
            room.x -= 12 * gui.scale
        self._spectra(gui, placed, (room.x - width if wide else width, height if wide else height / 2))
        implot.pop_style_color(2)

    def _head(self, app: App, gui: Gui, placed: list[tuple[int, Cell]], speed: float) -> None:
        scene, scale = app.scene, gui.scale
        assert scene is not None and scene.furnishing is not None
        holding = app.tools.tool is Tool.PROBE
        if imgui.button(f"{fa.ICON_FA_PLUS}  Place" if not holding else "Click on the water"):
            app.tools.hold(Tool.PUSH if holding else Tool.PROBE)
        for index, (x, y) in placed:
            imgui.same_line(0.0, 4 * scale)
            imgui.push_style_color(imgui.Col_.button, probe_color(index))
            imgui.push_style_color(imgui.Col_.button_hovered, probe_color(index))
            imgui.push_style_color(imgui.Col_.text, 0xFF201810)
            if imgui.button(f"{index + 1}##probe{index}"):
                app.tools.probe = None if app.tools.probe == index else index
            imgui.pop_style_color(3)
            tooltip(f"Probe {index + 1} at {x:.1f}, {y:.1f}; press it, then the bin to take it away")
        if app.tools.probe is not None and app.tools.probe in dict(placed):
            imgui.same_line(0.0, 2 * scale)
            if icon_button(gui, f"{fa.ICON_FA_TRASH}##delete", f"Take probe {app.tools.probe + 1} away"):
                scene.furnishing.remove("probe_pos", app.tools.probe)
                app.tools.probe = None
        words = self._speed_words(speed)
        if words:
            imgui.same_line(0.0, 12 * scale)
            imgui.align_text_to_frame_padding()
            imgui.text_unformatted(words)
            tooltip(
                "From how much later the wave is at the second probe: the waves' speed where they run along "
                "the line between both. The probes must be less than 1.5 wavelengths apart, or one wave "
                "cannot be told from the next. Theory is the root of k_speed"
            )
        right_align(150 * scale)
        imgui.set_next_item_width(66 * scale)
        changed, chosen = imgui.combo("##window", self._window, [f"{value:g} s" for value in _WINDOWS])
        if changed:
            self._window = chosen
        imgui.same_line(0.0, 6 * scale)
        if icon_button(
            gui, f"{fa.ICON_FA_FILE_CSV}  CSV##csv", "Save times and heights of the last seconds as CSV",
            enabled=bool(placed), quiet=False,
        ):  # fmt: skip
            app.later(lambda: save_csv(app))

    def _speed_words(self, speed: float) -> str:
        found, pair = self._listening.speed, self._listening.pair
        if pair is None:
            return ""
        if found is None:
            return f"{pair[0] + 1} → {pair[1] + 1}: no speed"
        key = (pair, round(found, 2), round(speed, 2))
        return str(
            self._words.get(
                key, lambda: f"{pair[0] + 1} → {pair[1] + 1}: {found:.2f} m/s  (theory {speed:.2f})"
            )
        )

    def _heights(
        self,
        gui: Gui,
        log: ProbeLog,
        placed: list[tuple[int, Cell]],
        seconds: float,
        size: tuple[float, float],
    ) -> None:
        numbers = [probe for probe, _ in placed]
        lines = self._lines.get(
            (log.revision, tuple(numbers), seconds), lambda: plot_lines(log, numbers, seconds)
        )
        most = max((float(np.abs(heights).max()) for _, _, heights in lines if len(heights)), default=0.0)  # type: ignore[union-attr]
        # The axis grows at once and shrinks slowly, so that it does not jump with every wave.
        self._span = max(most * 1.15, self._span * 0.985, 1e-4)
        if not implot.begin_plot("##heights", size, _PLOT):
            return
        locked = implot.AxisFlags_.no_highlight
        implot.setup_axes("", "m", locked, locked)
        implot.setup_axis_format(implot.ImAxis_.x1, "%g s")
        implot.setup_axes_limits(-seconds, 0.0, -self._span, self._span, implot.Cond_.always)
        implot.setup_legend(implot.Location_.north_west, implot.LegendFlags_.horizontal)
        for probe, times, heights in lines:  # type: ignore[attr-defined]
            if len(heights) > 1:
                implot.plot_line(f"{probe + 1}", times, heights, _spec(probe))
        implot.end_plot()

    def _spectra(self, gui: Gui, placed: list[tuple[int, Cell]], size: tuple[float, float]) -> None:
        if not implot.begin_plot("##spectrum", size, _PLOT | implot.Flags_.no_legend):
            return
        implot.setup_axes("", "", implot.AxisFlags_.no_highlight, implot.AxisFlags_.no_tick_labels)
        implot.setup_axis_format(implot.ImAxis_.x1, "%g Hz")
        spectra = self._listening.spectra
        high = max(
            (float(s.amplitudes[2:].max()) for s in spectra.values() if len(s.amplitudes) > 2), default=0.0
        )
        implot.setup_axes_limits(0.0, _HIGHEST, 0.0, max(high * 1.35, 1e-5), implot.Cond_.always)
        shown = 0
        for probe, _ in placed:
            found = spectra.get(probe)
            if found is None:
                continue
            implot.plot_line(f"##{probe}", found.frequencies, found.amplitudes, _spec(probe))
            if found.peak is not None and found.height > 0.05 * high and shown < 4:
                shown += 1
                color = imgui.color_convert_u32_to_float4(probe_color(probe))
                offset = imgui.ImVec2(10 * gui.scale, -6 * gui.scale - 20 * gui.scale * (shown - 1))
                implot.annotation(
                    found.peak, min(found.height, high), color, offset, True, f"{found.peak:.2f} Hz"
                )
        implot.end_plot()


def plot_lines(log: ProbeLog, probes: list[int], seconds: float) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return probe, times before now in s, and heights in m of the last seconds, thinned out to be drawn."""
    lines = []
    for probe in probes:
        times, heights = log.record(probe, seconds)
        by = max(1, len(times) // _POINTS)
        # Counted from the newest, so that points keep their places while the plot moves.
        times, heights = times[::-1][::by][::-1], heights[::-1][::by][::-1]
        now = times[-1] if len(times) else 0.0
        lines.append((probe, np.ascontiguousarray(times - now), heights.astype(np.float64)))
    return lines


def save_csv(app: App) -> None:
    """Write the records of all probes that are placed into a file in the user's documents.

    Raises:
        UsageError: it cannot be written.
    """
    from pathlib import Path

    import platformdirs

    scene = app.scene
    if scene is None or scene.furnishing is None:
        return
    placed = scene.furnishing.places("probe_pos")
    folder = Path(platformdirs.user_documents_dir()) / "Ripplescope"
    path = free_path(folder, time.strftime("probes-%Y%m%d-%H%M%S"), ".csv")
    write_csv(path, scene.probes, [probe for probe, _ in placed], [cell for _, cell in placed])
    app.tell(f"saved {path}")


def _spec(probe: int) -> implot.Spec:
    spec = implot.Spec()
    spec.line_color = imgui.color_convert_u32_to_float4(probe_color(probe))
    spec.line_weight = 1.8
    return spec
