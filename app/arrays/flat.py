"""The picture of an array without OpenGL, by NumPy and Pillow alone; laid out as the one with it."""

from __future__ import annotations

import numpy as np

from app.arrays.columns import as_bars, bar_columns, line_columns
from app.arrays.ink import NOT_FINITE, Inks, paint
from app.arrays.layout import Insets, Layout, axis_range, lay_out
from app.arrays.shown import ShownArray
from app.arrays.space import project
from app.arrays.ways import Way
from app.view import colormaps

_DOT = 2
"""Pixels from the middle of a point to its edge."""


def render_array(shown: ShownArray, size: tuple[int, int]) -> np.ndarray:
    """Return the picture of an array whose values are read, uint8 (height, width, 3).

    Args:
        shown: the array; it is framed for the size.
        size: width and height in pixels.
    """
    inks = Inks()
    shown.fit_place(size[0] / size[1])
    layout = lay_out(shown, size, 1.0, Insets(), inks)
    picture = np.empty((size[1], size[0], 3), np.uint8)
    picture[:] = np.rint(np.array(inks.background[:3]) * 255)
    if layout.frame is not None:
        _draw_cells(picture, shown, layout)
    elif layout.span is not None:
        _draw_line(picture, shown, layout, inks)
    elif shown.way is Way.POINTS and shown.bounds is not None:
        _draw_points(picture, shown)
    ink = paint(layout.items, size).astype(np.uint16)
    covered = picture * (255 - ink[..., 3:]) // 255 + ink[..., :3]
    return np.minimum(covered, 255).astype(np.uint8)


def _draw_cells(picture: np.ndarray, shown: ShownArray, layout: Layout) -> None:
    frame, (x, y, width, height) = layout.frame, layout.room
    assert frame is not None
    columns = np.arange(max(int(x), 0), min(int(x + width), picture.shape[1]))
    rows = np.arange(max(int(y), 0), min(int(y + height), picture.shape[0]))
    across = np.floor((columns + 0.5 - frame.left) / frame.cell_x).astype(int)
    down = np.floor((rows + 0.5 - frame.top) / frame.cell_y).astype(int)
    columns, across = (part[(across >= 0) & (across < frame.columns)] for part in (columns, across))
    rows, down = (part[(down >= 0) & (down < frame.rows)] for part in (rows, down))
    if shown.way is Way.COLOUR:
        assert shown.pixels is not None
        picture[np.ix_(rows, columns)] = shown.pixels[np.ix_(down, across)][..., :3]
        return
    assert shown.scalars is not None
    picture[np.ix_(rows, columns)] = coloured(shown, shown.scalars[np.ix_(down, across)])
    wrong = np.argwhere(~np.isfinite(shown.scalars)) if shown.scalars.dtype.kind == "f" else ()
    for row, column in wrong:  # also those between the cells that pixels took
        at = int(frame.left + (column + 0.5) * frame.cell_x), int(frame.top + (row + 0.5) * frame.cell_y)
        picture[at[1], at[0]] = (255, 0, 255)


def coloured(shown: ShownArray, values: np.ndarray) -> np.ndarray:
    """Return numbers in the colours of the map and range that are shown, uint8 (..., 3)."""
    low, high = shown.range
    table = colormaps.table(shown.map_name)
    with np.errstate(invalid="ignore", over="ignore"):
        share = np.clip((values.astype(np.float64) - low) / max(high - low, 1e-300), 0, 1)
    pixels = table[(np.nan_to_num(share) * (len(table) - 1) + 0.5).astype(int)]
    pixels[~np.isfinite(values)] = np.rint(np.array(NOT_FINITE[:3]) * 255)
    return pixels


def _draw_line(picture: np.ndarray, shown: ShownArray, layout: Layout, inks: Inks) -> None:
    assert shown.scalars is not None and layout.span is not None
    left, top, width, height = (int(side) for side in layout.room)
    bars = as_bars(len(shown.scalars))
    columns = (bar_columns if bars else line_columns)(shown.scalars, *layout.span, width)
    low, high = axis_range(shown)
    level = (top + height - (np.arange(top, top + height) + 0.5)) / height * (high - low) + low
    rim = 0.0 if bars else 0.9 * (high - low) / height
    with np.errstate(invalid="ignore"):
        inside = (level[:, None] >= columns[:, 0] - rim) & (level[:, None] <= columns[:, 1] + rim)
    part = picture[top : top + height, left : left + width]
    part[inside] = np.rint(np.array(inks.accent[:3]) * 255)
    part[:, columns[:, 2] > 0] = (255, 0, 255)


def _draw_points(picture: np.ndarray, shown: ShownArray) -> None:
    assert shown.points is not None and shown.scalars is not None and shown.bounds is not None
    size = picture.shape[1], picture.shape[0]
    places = project(shown.bounds.to_world(shown.points), shown.camera, size)
    seen = np.flatnonzero(np.isfinite(places).all(axis=1))
    seen = seen[np.argsort(-places[seen, 2])]  # the far ones first
    colours = coloured(shown, shown.scalars[seen])
    for dy in range(-_DOT, _DOT + 1):
        for dx in range(-_DOT, _DOT + 1):
            if dx * dx + dy * dy > _DOT * _DOT + 1:
                continue
            x, y = (np.floor(places[seen, k] + step).astype(int) for k, step in ((0, dx), (1, dy)))
            inside = (x >= 0) & (x < size[0]) & (y >= 0) & (y < size[1])
            picture[y[inside], x[inside]] = colours[inside]
