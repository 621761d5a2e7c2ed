"""What the tools have placed, drawn on the water: sources, probes, the ruler, a line or rectangle to come.

Places are projected all at once, and only when the camera or one of them moved. Nothing is changed here.
"""

from __future__ import annotations

import math

import numpy as np

from app.basin.marks import HEAD, MANY, mark_at
from app.basin.projection import Place, project_cells, seen
from app.basin.ruler import Reading, Ruler
from app.basin.tools import GRABBED, OUTLINED, Tool
from app.basin.waves import wave_speed
from app.controls import water_viewport
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept
from app.state import App

WHITE, INK = 0xFFFFFFFF, 0xFF2A1F14
_SOURCE = 0xFF2E7DF5  # a warm orange, seen on blue water
_OFF = 0xB0888888
_RULER = 0xFF35E0FF
ASLANT = 12.0  # degrees: a wave is 2 % longer along such a line, and no longer what its speed tells
PROBE_COLORS = (
    0xFF4FD1FF, 0xFF7BE07B, 0xFFB98CFF, 0xFFFFD166, 0xFF6E8BFF, 0xFFE8E86A, 0xFFD79BFF, 0xFF9BE8C8,
)  # fmt: skip
"""By number of the probe, in turn; ABGR."""


def probe_color(probe: int) -> int:
    """Return the colour of a probe, packed."""
    return PROBE_COLORS[probe % len(PROBE_COLORS)]


class Overlay:
    """The marks."""

    def __init__(self) -> None:
        self._places = Kept()
        self._label = Kept()
        self._ruler = Ruler()

    def draw(self, app: App, gui: Gui) -> None:
        """Draw them into the window that is being built."""
        scene, tools = app.scene, app.tools
        assert scene is not None and scene.grid is not None
        furnishing = scene.furnishing
        if furnishing is None and tools.ruler is None:
            return
        sources = furnishing.places("source_pos") if furnishing is not None else []
        probes = furnishing.places("probe_pos") if furnishing is not None else []
        lines: list[tuple[float, float]] = []
        if tools.tool in OUTLINED and tools.pressed and tools.start is not None and tools.here is not None:
            lines += _outline(tools.tool, tools.start, tools.here)
        ruler = list(tools.ruler) if tools.ruler is not None else []
        cells = [cell for _, cell in sources] + [cell for _, cell in probes] + ruler + lines
        if not cells:
            return
        camera, viewport = app.camera, water_viewport(app)
        ratio = app.window.pixel_ratio
        key = (
            tuple(cells), viewport, ratio, scene.grid, camera.target.tobytes(), camera.distance, camera.yaw,
            camera.pitch, camera.fov,
        )  # fmt: skip
        grid = scene.grid
        places: list[Place] = self._places.get(  # type: ignore[assignment]
            key, lambda: project_cells(camera, np.array(cells), viewport, grid, ratio)
        )
        draw = imgui.get_window_draw_list()
        count = len(sources)
        under = None
        canvas = app.canvas
        if canvas.hovered and not tools.pressed and not app.push.pressed and app.watching is None:
            numbers = [index for index, _ in (*sources, *probes)]
            marks = list(zip(numbers, places, strict=False))
            dots = count > MANY and tools.tool is not Tool.SOURCE
            under = mark_at(marks[:count], marks[count:], canvas.pointer, gui.scale, dots=dots)
            if under is not None and under[0] not in GRABBED[tools.tool]:
                under = None
        if furnishing is not None:
            on = furnishing.arrays["source_on"]
            for (index, _), place in zip(sources, places[:count], strict=True):
                if seen(place):
                    chosen = index == tools.source or under == ("source_pos", index)
                    plain = count > MANY and not chosen and tools.tool is not Tool.SOURCE
                    self._source(gui, draw, place, index, bool(on[index]), chosen, plain)
        for (index, _), place in zip(probes, places[count : count + len(probes)], strict=True):
            if seen(place):
                _probe(gui, draw, place, index, index == tools.probe or under == ("probe_pos", index))
        count += len(probes)
        if ruler and all(map(seen, places[count : count + 2])):
            self._measure(app, gui, draw, places[count], places[count + 1])
        outline = places[count + len(ruler) :]
        if outline and all(map(seen, outline)):
            for one, other in zip(outline, outline[1:] + outline[:1], strict=True):
                draw.add_line(one, other, INK, 5 * gui.scale)
                draw.add_line(one, other, WHITE, 2.5 * gui.scale)

    @staticmethod
    def _source(
        gui: Gui, draw: imgui.ImDrawList, place: Place, index: int, on: bool, chosen: bool, plain: bool
    ) -> None:
        scale = gui.scale
        color = _SOURCE if on else _OFF
        if plain:  # one of a row that makes straight waves
            draw.add_circle_filled(place, 5 * scale, INK)
            draw.add_circle_filled(place, 3.8 * scale, color)
            return
        if on:
            # A ring that runs outward says that it is at work.
            share = (imgui.get_time() * 0.8 + 0.37 * index) % 1.0
            alpha = round(200 * (1.0 - share)) << 24
            draw.add_circle(place, (9 + 11 * share) * scale, alpha | (color & 0xFFFFFF), 0, 2 * scale)
        draw.add_circle_filled(place, 9.5 * scale, WHITE if chosen else INK)
        draw.add_circle_filled(place, 8 * scale, color)
        _number(gui, draw, place, index, WHITE)

    def _measure(self, app: App, gui: Gui, draw: imgui.ImDrawList, one: Place, other: Place) -> None:
        assert app.scene is not None and app.tools.ruler is not None
        scale = gui.scale
        draw.add_line(one, other, INK, 4.5 * scale)
        draw.add_line(one, other, _RULER, 2.2 * scale)
        for place in (one, other):
            draw.add_circle_filled(place, 5.5 * scale, INK)
            draw.add_circle_filled(place, 4 * scale, _RULER)
        if app.lab is not None and app.lab.job is not None:
            return
        reading = self._ruler.read(app.scene, app.tools.ruler, imgui.get_time())
        if reading is None:
            return
        speed = wave_speed(app.scene.editor.scalars(), reading.depth)
        text = str(self._label.get((reading, speed), lambda: ruler_text(reading, speed)))
        size = imgui.calc_text_size(text)
        x, y = (one[0] + other[0]) / 2 - size.x / 2, (one[1] + other[1]) / 2 + 12 * scale
        corner, end = (x - 9 * scale, y - 4 * scale), (x + size.x + 9 * scale, y + size.y + 4 * scale)
        draw.add_rect_filled(corner, end, gui.colors.overlay, 6 * scale)
        draw.add_text((x, y), gui.colors.text, text)


def ruler_text(reading: Reading, speed: float) -> str:
    """Return what the ruler reads; `speed` of waves in m/s, 0 where it is not known."""
    words = f"{reading.distance:.2f} m"
    length = reading.wavelength
    if length is not None:
        words += f"   wavelength {length:.2f} m"
        if reading.aslant > ASLANT:
            words += f" along it; the waves run {reading.aslant:.0f}° aslant"
        elif speed > 0.0:
            words += f"   at {speed:.2f} m/s: {speed / length:.2f} Hz"
    return words


def _probe(gui: Gui, draw: imgui.ImDrawList, place: Place, index: int, chosen: bool) -> None:
    """A buoy: a stem that stands on its cell, and a float with the probe's number."""
    scale = gui.scale
    head = (place[0], place[1] - HEAD * scale)
    draw.add_line(place, head, INK, 3.5 * scale)
    draw.add_line(place, head, WHITE, 1.6 * scale)
    draw.add_circle_filled(place, 3 * scale, INK)
    draw.add_circle_filled(place, 2 * scale, probe_color(index))
    draw.add_circle_filled(head, 9.5 * scale, WHITE if chosen else INK)
    draw.add_circle_filled(head, 8 * scale, probe_color(index))
    _number(gui, draw, head, index, INK)


def _number(gui: Gui, draw: imgui.ImDrawList, place: Place, index: int, color: int) -> None:
    text = str(index + 1)
    size = imgui.calc_text_size(text)
    draw.add_text((place[0] - size.x / 2, place[1] - size.y / 2), color, text)


def _outline(tool: Tool, start: tuple[float, float], here: tuple[float, float]) -> list[tuple[float, float]]:
    if tool is Tool.LINE:
        return [start, here]
    left, right = sorted((start[0], here[0]))
    top, bottom = sorted((start[1], here[1]))
    left, top = math.floor(left + 0.5) - 0.5, math.floor(top + 0.5) - 0.5
    right, bottom = math.floor(right + 0.5) + 0.5, math.floor(bottom + 0.5) + 0.5
    return [(left, top), (right, top), (right, bottom), (left, bottom)]
