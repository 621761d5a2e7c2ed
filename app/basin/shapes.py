"""Shapes that are drawn into the maps of walls and depth: NumPy arrays in, arrays changed in place.

Coordinates are cells, x to the right, y down, the centre of a cell at whole numbers; angles are degrees from
the x axis toward y. A shape covers a cell if it covers its centre, but lines are never thinner than what
keeps waves out: cells that touch by a side. What lies beside the map is left out. The tools of the window
and the scenes draw with it; it knows no device.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]
Point = tuple[float, float]
Shape = tuple[int, int]


def _grid(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Return the x of all columns as a row, and the y of all rows as a column."""
    return np.arange(shape[1], dtype=np.float64)[None, :], np.arange(shape[0], dtype=np.float64)[:, None]


def disc(shape: Shape, centre: Point, radius: float) -> Mask:
    """Cells within a radius; the nearest cell at least, so that the smallest brush paints."""
    x, y = _grid(shape)
    mask = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 <= radius * radius
    column, row = math.floor(centre[0] + 0.5), math.floor(centre[1] + 0.5)
    if 0 <= row < shape[0] and 0 <= column < shape[1]:
        mask[row, column] = True
    return mask


def stroke(shape: Shape, start: Point, end: Point, radius: float) -> Mask:
    """Cells within a radius of a segment, as a brush paints that is drawn from start to end."""
    x, y = _grid(shape)
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    length2 = along_x**2 + along_y**2
    share = np.zeros(shape)
    if length2 > 0.0:
        share = np.clip(((x - start[0]) * along_x + (y - start[1]) * along_y) / length2, 0.0, 1.0)
    off2 = (x - start[0] - share * along_x) ** 2 + (y - start[1] - share * along_y) ** 2
    return (off2 <= radius * radius) | line(shape, start, end, 1.0)


def line(shape: Shape, start: Point, end: Point, thickness: float = 1.0) -> Mask:
    """Cells of a straight wall; however thin, no wave passes between its cells."""
    mask = np.zeros(shape, bool)
    steps = 2 * math.ceil(max(abs(end[0] - start[0]), abs(end[1] - start[1]))) + 1
    for part in range(steps + 1):
        share = part / steps
        x, y = start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1])
        _mark(mask, math.floor(x + 0.5), math.floor(y + 0.5))
    _close_corners(mask)
    if thickness > 1.0:
        mask |= _capless(shape, start, end, thickness / 2.0)
    return mask


def _mark(mask: Mask, column: int, row: int) -> None:
    if 0 <= row < mask.shape[0] and 0 <= column < mask.shape[1]:
        mask[row, column] = True


def _close_corners(mask: Mask) -> None:
    """Fill one cell beside each pair that touches at a corner only."""
    falling = mask[:-1, :-1] & mask[1:, 1:] & ~mask[:-1, 1:] & ~mask[1:, :-1]
    mask[:-1, 1:] |= falling
    rising = mask[:-1, 1:] & mask[1:, :-1] & ~mask[:-1, :-1] & ~mask[1:, 1:]
    mask[:-1, :-1] |= rising


def _capless(shape: Shape, start: Point, end: Point, half: float) -> Mask:
    x, y = _grid(shape)
    length = math.hypot(end[0] - start[0], end[1] - start[1])
    if length == 0.0:
        return disc(shape, start, half)
    ux, uy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    along = (x - start[0]) * ux + (y - start[1]) * uy
    across = (y - start[1]) * ux - (x - start[0]) * uy
    return (along >= -0.5) & (along <= length + 0.5) & (np.abs(across) <= half)


def rectangle(shape: Shape, one: Point, other: Point) -> Mask:
    """Cells of an upright rectangle between two corners, both included."""
    x, y = _grid(shape)
    left, right = sorted((one[0], other[0]))
    top, bottom = sorted((one[1], other[1]))
    return (x >= left - 0.5) & (x < right + 0.5) & (y >= top - 0.5) & (y < bottom + 0.5)


def slits(
    shape: Shape, x: float, centre: float, openings: tuple[float, ...], width: float, thickness: float = 1.0
) -> Mask:
    """An upright wall from top to bottom with openings.

    Args:
        shape: rows and columns.
        x: column of the wall's first cells.
        centre: row that the openings are told from.
        openings: middle of each opening, in cells from `centre`: (0,) is a single slit, (-d/2, d/2) a double.
        width: of an opening, in cells.
        thickness: of the wall, in cells.
    """
    column, y = _grid(shape)
    open_rows = np.zeros((shape[0], 1), bool)
    for middle in openings:
        first = math.floor(centre + middle - (width - 1) / 2 + 0.5)
        open_rows |= (y >= first) & (y < first + width)
    first = math.floor(x + 0.5)
    return (column >= first) & (column < first + thickness) & ~open_rows


def lens(shape: Shape, centre: Point, diameter: float, radius: float) -> Mask:
    """Cells of an upright lens, convex on both sides: where two discs meet.

    Args:
        shape: rows and columns.
        centre: of the lens.
        diameter: its height, in cells.
        radius: of curvature of both sides, in cells, at least half the diameter.
    """
    half = math.sqrt(max(radius**2 - (diameter / 2.0) ** 2, 0.0))
    x, y = _grid(shape)
    left = (x - centre[0] - half) ** 2 + (y - centre[1]) ** 2 <= radius**2
    right = (x - centre[0] + half) ** 2 + (y - centre[1]) ** 2 <= radius**2
    return left & right


def parabola(
    shape: Shape, focus: Point, length: float, aperture: float, angle: float = 0.0, thickness: float = 2.0
) -> Mask:
    """Wall of a parabolic mirror that sends waves from its focus out as straight ones.

    Args:
        shape: rows and columns.
        focus: where a source belongs.
        length: from the vertex to the focus, in cells.
        aperture: between the two ends of the mirror, in cells.
        angle: direction of the beam, in degrees.
        thickness: in cells.
    """
    turn = math.radians(angle)
    count = max(2, math.ceil(aperture))
    across = np.linspace(-aperture / 2.0, aperture / 2.0, count)
    along = across**2 / (4.0 * length) - length
    xs = focus[0] + along * math.cos(turn) - across * math.sin(turn)
    ys = focus[1] + along * math.sin(turn) + across * math.cos(turn)
    return _polyline(shape, np.stack([xs, ys], 1), thickness)


def _polyline(shape: Shape, points: np.ndarray, thickness: float) -> Mask:
    mask = np.zeros(shape, bool)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        mask |= line(shape, (x0, y0), (x1, y1), 1.0)
        if thickness > 1.0:
            mask |= stroke(shape, (x0, y0), (x1, y1), thickness / 2.0)
    _close_corners(mask)
    return mask


def circle(shape: Shape, centre: Point, radius: float, thickness: float | None = None) -> Mask:
    """Wall around a round basin.

    Args:
        shape: rows and columns.
        centre: of the basin.
        radius: of its water, in cells.
        thickness: of the wall, in cells; None makes all beyond the water wall.
    """
    x, y = _grid(shape)
    distance = np.hypot(x - centre[0], y - centre[1])
    outside = distance > radius
    return outside if thickness is None else outside & (distance <= radius + max(thickness, 1.5))


def channel(shape: Shape, start: Point, end: Point, width: float, thickness: float = 2.0) -> Mask:
    """Two parallel walls with water of a width, in cells, between them."""
    length = math.hypot(end[0] - start[0], end[1] - start[1])
    if length == 0.0:
        return np.zeros(shape, bool)
    nx, ny = -(end[1] - start[1]) / length, (end[0] - start[0]) / length
    off = (width + thickness) / 2.0
    mask = np.zeros(shape, bool)
    for side in (-off, off):
        move = (side * nx, side * ny)
        mask |= line(
            shape, (start[0] + move[0], start[1] + move[1]), (end[0] + move[0], end[1] + move[1]), thickness
        )
    return mask


def ramp(shape: Shape, start: Point, end: Point, first: float, last: float) -> npt.NDArray[np.float32]:
    """Return a depth map: `first` at a point, even to `last` at another, level before and beyond."""
    x, y = _grid(shape)
    along_x, along_y = end[0] - start[0], end[1] - start[1]
    length2 = along_x**2 + along_y**2
    share = np.full(shape, 0.0)
    if length2 > 0.0:
        share = np.clip(((x - start[0]) * along_x + (y - start[1]) * along_y) / length2, 0.0, 1.0)
    return (first + share * (last - first)).astype(np.float32)


def mound(depth: npt.NDArray[np.float32], centre: Point, radius: float, top: float) -> None:
    """Raise the floor around a centre: depth `top` there, unchanged from a radius on, smooth between."""
    x, y = _grid(depth.shape)
    r2 = ((x - centre[0]) ** 2 + (y - centre[1]) ** 2) / (radius * radius)
    share = np.clip(1.0 - r2, 0.0, 1.0)
    depth += (share * share * (3.0 - 2.0 * share) * (top - depth)).astype(np.float32)
