"""Gestures on the picture of an array: pan and zoom of images and lines, the orbit camera on points.

Also what is under the pointer. The panels have decided before what belongs to the centre.
"""

from __future__ import annotations

import math

import numpy as np

from app.arrays.frame2d import pan_image, pan_line, zoom_image, zoom_line
from app.arrays.ranges import number_text
from app.arrays.shown import ShownArray
from app.arrays.space import nearest_point, project, thinned
from app.arrays.ways import Way

ORBIT_SPEED = math.radians(0.35)
ZOOM_STEP = 0.88
_REACH = 10.0
"""Pixels around the pointer in which a point is found."""


def use(
    shown: ShownArray,
    moved: tuple[float, float],
    wheel: float,
    cursor: tuple[float, float],
    buttons: tuple[bool, bool, bool],
    size: tuple[float, float],
) -> None:
    """Do what the gestures of a frame ask for.

    Args:
        shown: the array.
        moved: way of the pointer while a button was down, in pixels.
        wheel: notches.
        cursor: place of the pointer in the picture, pixels.
        buttons: which are down: left, right, middle.
        size: of the picture.
    """
    (dx, dy), layout = moved, shown.layout
    if layout is None or not (dx or dy or wheel):
        return
    if shown.way is Way.POINTS:
        shown.moved = True
        viewport = (0.0, 0.0, *size)
        if dx or dy:
            if buttons[2]:
                shown.camera.pan(dx, dy, viewport)
            else:
                shown.camera.orbit(-dx * ORBIT_SPEED, dy * ORBIT_SPEED)
        if wheel:
            shown.camera.zoom_toward(cursor, viewport, ZOOM_STEP**wheel)
    elif layout.frame is not None:
        shown.look = pan_image(shown.look, layout.frame, dx, dy)
        if wheel:
            shown.look = zoom_image(shown.look, layout.frame, layout.room, cursor, ZOOM_STEP**-wheel)
    elif layout.span is not None and shown.scalars is not None:
        count = len(shown.scalars)
        x, _, width, _ = layout.room
        shown.look = pan_line(shown.look, count, width, dx)
        if wheel:
            share = min(max((cursor[0] - x) / width, 0.0), 1.0)
            shown.look = zoom_line(shown.look, count, share, ZOOM_STEP**-wheel)


def read_at(shown: ShownArray, cursor: tuple[float, float], size: tuple[float, float], unit: float) -> str:
    """Return index and value under the pointer, empty where there is none.

    Args:
        shown: the array, as it was laid out.
        cursor: in pixels of the picture.
        size: of the picture.
        unit: pixels to a unit of text.
    """
    layout, values = shown.layout, shown.values
    if layout is None or values is None or shown.typing is None:
        return ""
    if layout.frame is not None:
        cell = layout.frame.cell_at(*cursor)
        return _cell_text(shown, cell) if cell is not None and _inside(layout.room, cursor) else ""
    if layout.span is not None and shown.scalars is not None and _inside(layout.room, cursor):
        first, last = layout.span
        share = (cursor[0] - layout.room[0]) / layout.room[2]
        index = round(first + share * (last - first))
        if 0 <= index < len(shown.scalars):
            return f"[{index}]  {shown.scalars[index]:.9g}"
    if shown.way is Way.POINTS and shown.points is not None and shown.bounds is not None:
        projected = project(shown.bounds.to_world(shown.points), shown.camera, size)
        nearest = nearest_point(projected, cursor, _REACH * unit)
        if nearest is not None:
            index = nearest * thinned(len(values))
            words = ", ".join(f"{number:.6g}" for number in np.ravel(values[index]).tolist())
            return f"[{index}]  ({words})"
    return ""


def _cell_text(shown: ShownArray, cell: tuple[int, int]) -> str:
    row, column = cell
    place = f"[{row}, {column}]"
    if shown.known is not None and len(shown.shape) == 1:
        place = f"[{row * shown.known[1] + column}]  row {row}, column {column}"
    elif shown.planes > 1:
        place = f"[plane {shown.plane}, {row}, {column}]"
    if shown.way is Way.COLOUR:
        assert shown.values is not None
        cells = shown.values.reshape(-1, *shown.values.shape[-3:])[shown.plane]
        return f"{place}  ({', '.join(number_text(float(number)) for number in cells[row, column])})"
    assert shown.scalars is not None
    return f"{place}  {shown.scalars[row, column]:.9g}"


def _inside(room: tuple[float, float, float, float], cursor: tuple[float, float]) -> bool:
    x, y, width, height = room
    return x <= cursor[0] < x + width and y <= cursor[1] < y + height
