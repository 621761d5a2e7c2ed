"""Where the time of a frame goes, over time and by stage, and what runs where."""

from __future__ import annotations

import os
from collections import defaultdict

from imgui_bundle import icons_fontawesome_6 as fa

from app.clocktext import pace_fact
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, byte_text, caption, elided
from app.simclock import Stage
from app.state import App
from app.view.options import Quality
from app.view.water import WaterView
from replay.text import counted

_REFRESH = 0.25
"""Seconds between two readings, so that numbers can be read."""
_HUES = (0x7C8B9A, 0x9AA7B4, 0xE8B04B, 0x2BA9C6, 0x9B8CF2, 0x4FC38A, 0xF07167, 0x5B6CC9)


class PerformancePanel:
    """The panel; its texts are made four times a second."""

    name = "Performance"
    icon = fa.ICON_FA_GAUGE_HIGH

    def __init__(self) -> None:
        self._colors = [0xFF000000 | (hue & 255) << 16 | (hue >> 8 & 255) << 8 | hue >> 16 for hue in _HUES]
        self._read_at = -1.0
        self._facts: list[tuple[str, str]] = []
        self._stages: list[tuple[str, float]] = []
        self._total = 1.0
        self._cut: defaultdict[str, Kept] = defaultdict(Kept)
        self._plot_label = ""
        self._plot_top = 20.0

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        now = imgui.get_time()
        if now - self._read_at > _REFRESH or self._read_at < 0:
            self._read_at = now
            self._read(app)
        available = imgui.get_content_region_avail()
        if available.x < 430 * gui.scale:
            self._draw_times(app, gui)
            imgui.dummy((0.0, 2 * gui.scale))
            self._draw_facts(gui)
            return
        imgui.begin_child("times", (available.x * 0.52, 0.0))
        self._draw_times(app, gui)
        imgui.end_child()
        imgui.same_line(0.0, 18 * gui.scale)
        imgui.begin_child("facts", (0.0, 0.0))
        self._draw_facts(gui)
        imgui.end_child()

    def _draw_facts(self, gui: Gui) -> None:
        for label, text in self._facts:
            caption(gui, label)
            imgui.same_line(84 * gui.scale)
            room = imgui.get_content_region_avail().x
            kept = self._cut[label].get((text, room), lambda text=text, room=room: elided(text, room))
            imgui.text_unformatted(str(kept))
            if imgui.is_item_hovered():
                imgui.set_tooltip(text)

    def _draw_times(self, app: App, gui: Gui) -> None:
        times, scale = app.times, gui.scale
        width = imgui.get_content_region_avail().x
        imgui.text_unformatted(self._plot_label)  # above the curve, which would run through it
        # Its tooltip, a bare index and value, would lie over the stages that are read below it.
        imgui.push_style_var(imgui.StyleVar_.disabled_alpha, 1.0)
        imgui.begin_disabled()
        imgui.plot_lines(
            "##frames",
            times.history,
            values_offset=times.offset,
            scale_min=0.0,
            scale_max=self._plot_top,
            graph_size=(width, 36 * scale),
        )
        imgui.end_disabled()
        imgui.pop_style_var()
        corner = imgui.get_cursor_screen_pos()
        draw = imgui.get_window_draw_list()
        x, height = corner.x, 12 * scale
        for index, (_, milliseconds) in enumerate(self._stages):
            end = x + width * milliseconds / self._total
            draw.add_rect_filled((x, corner.y), (max(end - scale, x), corner.y + height), self._colors[index])
            x = end
        imgui.dummy((width, height))
        columns = max(int(width / (98 * scale)), 1)
        left = imgui.get_cursor_pos_x()
        for index, (text, _) in enumerate(self._stages):
            if index % columns:
                imgui.same_line()
                imgui.set_cursor_pos_x(left + width / columns * (index % columns))
            place = imgui.get_cursor_screen_pos()
            y = place.y + imgui.get_text_line_height() / 2
            draw.add_circle_filled((place.x + 4 * scale, y), 4 * scale, self._colors[index])
            imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 13 * scale)
            imgui.text_unformatted(text)

    def _read(self, app: App) -> None:
        times, scene = app.times, app.scene
        split = times.split.tolist()
        self._total = max(sum(split), 1e-6)
        self._stages = [(f"{stage.name.capitalize()} {split[stage]:.1f}", split[stage]) for stage in Stage]
        self._plot_label = f"{times.frame_ms:.1f} ms a frame   {times.rate:.0f} fps"
        self._plot_top = max(20.0, float(times.history.max()) * 1.1)
        facts = [("OpenGL", app.window.gl_renderer)]
        if scene is not None:
            clock = scene.clock
            facts.insert(0, ("Device", scene.device_text))
            facts.append(("Graph", f"{counted(len(scene.capture.top_level), 'operation')} a launch"))
            facts.append(pace_fact(clock) if scene.player is not None else ("Launches", "not replayed"))
        if app.transfer is not None:
            facts.insert(2, ("Transfer", f"{app.transfer.path}: {app.transfer.reason}"))
        if app.water is not None:
            facts.append(("Quality", _quality_text(app.water)))
        facts.append(("Memory", _memory_text()))
        self._facts = facts


def _quality_text(water: WaterView) -> str:
    automatic = water.options.quality == Quality.AUTO
    return f"{water.quality.value}: {water.auto.reason if automatic else 'chosen by hand'}"


def _memory_text() -> str:
    try:
        with open("/proc/self/statm") as file:  # noqa: PTH123 - read four times a second
            pages = int(file.read().split()[1])
        return f"{byte_text(pages * os.sysconf('SC_PAGE_SIZE'))} resident"
    except (OSError, ValueError, IndexError, AttributeError):
        return "not known on this system"
