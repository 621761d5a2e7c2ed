"""Rings on the cells that the first event made not finite, on the water or on the array in the centre."""

from __future__ import annotations

import math

import numpy as np

from app.arrays.ways import Way
from app.controls import water_viewport
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.state import App
from app.view.picking import project_cell

_MOST_MARKS = 80
_MOST_RINGS = 12
_MAGENTA = 0xFFFF00FF


def draw_marks(app: App, gui: Gui, lab: Lab) -> None:
    """Draw the rings into the present window, while the state right after that event is looked at."""
    places, least = _on_array(app, gui, lab) if lab.shown.active else _on_water(app, gui, lab)
    draw, width = imgui.get_window_draw_list(), 2 * gui.scale
    if len(places) > _MOST_RINGS:  # one ring around all of them
        x, y = (sum(values) / len(places) for values in zip(*places, strict=True))
        far = max(math.dist((x, y), place) for place in places)
        draw.add_circle((x, y), far + 2 * least, _MAGENTA, 0, width)
        return
    for place in places:
        draw.add_circle(place, least, _MAGENTA, 0, width)


def marked_cells(lab: Lab, region: int) -> np.ndarray:
    """Return row and column of some cells of a region that get a ring, (n, 2); of the plane that is shown."""
    cells = lab.marked(region)
    if cells is None or cells.shape[1] < 2:
        return np.zeros((0, 2), np.int64)
    if cells.shape[1] > 2:
        typing, shown = lab.typing(region), lab.shown
        plane = np.ravel_multi_index(tuple(cells[:, :-2].T), typing.shape[:-2])
        cells = cells[plane == shown.plane][:, -2:]
    return cells[:: max(1, len(cells) // _MOST_MARKS)]


def _on_water(app: App, gui: Gui, lab: Lab) -> tuple[list[tuple[float, float]], float]:
    scene, field, least = app.scene, lab.frame.field, 6 * gui.scale
    if scene is None or scene.grid is None or field is None:
        return [], least
    ratio, viewport = app.window.pixel_ratio, water_viewport(app)
    places = [
        project_cell(app.camera, (column, row), viewport, scene.grid)
        for row, column in marked_cells(lab, field).tolist()
    ]
    return [(place[0] / ratio, place[1] / ratio) for place in places if place is not None], least


def _on_array(app: App, gui: Gui, lab: Lab) -> tuple[list[tuple[float, float]], float]:
    """Rings around cells that are too small to be seen well; larger ones are magenta as it is."""
    shown, least = lab.shown, 7 * gui.scale
    frame = shown.layout.frame if shown.layout is not None else None
    if shown.candidate is None or frame is None or shown.way not in (Way.IMAGE, Way.COLOUR):
        return [], least
    ratio = app.window.pixel_ratio
    if max(frame.cell_x, frame.cell_y) > 2 * least * ratio:
        return [], least
    left, top = app.canvas.rect[:2]
    return [
        (
            left + (frame.left + (column + 0.5) * frame.cell_x) / ratio,
            top + (frame.top + (row + 0.5) * frame.cell_y) / ratio,
        )
        for row, column in marked_cells(lab, shown.candidate.region).tolist()
    ], least
