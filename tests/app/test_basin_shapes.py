"""Shapes in the maps: which cells they cover, and that thin walls let nothing through."""

from __future__ import annotations

import numpy as np
import pytest

from app.basin import shapes

SHAPE = (40, 60)


def sides_apart(walls: np.ndarray, start: tuple[int, int]) -> np.ndarray:
    """Cells (rows, columns) of water that a wave from a cell (row, column) reaches, through sides only."""
    reached = np.zeros(walls.shape, bool)
    stack = [start]
    while stack:
        j, i = stack.pop()
        if 0 <= j < walls.shape[0] and 0 <= i < walls.shape[1] and not walls[j, i] and not reached[j, i]:
            reached[j, i] = True
            stack += [(j + 1, i), (j - 1, i), (j, i + 1), (j, i - 1)]
    return reached


def test_disc_and_the_smallest_brush() -> None:
    assert shapes.disc(SHAPE, (10.0, 5.0), 2.0).sum() == 13
    assert np.argwhere(shapes.disc(SHAPE, (10.4, 5.4), 0.1)).tolist() == [[5, 10]]
    assert not shapes.disc(SHAPE, (-50.0, 5.0), 3.0).any()


def test_rectangle_takes_both_corners_in_any_order() -> None:
    mask = shapes.rectangle(SHAPE, (12, 9), (10, 3))
    assert mask.sum() == 3 * 7 and mask[3:10, 10:13].all()


@pytest.mark.parametrize("end", [(59, 30), (59, 39), (30, 39), (5, 39), (59, 2)])
@pytest.mark.parametrize("thickness", [1.0, 3.0])
def test_no_wave_passes_a_line(end: tuple[int, int], thickness: float) -> None:
    """From the left border, or the top, to another side of the map."""
    start = (0.0, 20.0) if end[0] == 59 else (0.0, 2.0)
    walls = shapes.line(SHAPE, start, end, thickness)
    reached = sides_apart(walls, (0, 59) if end[0] == 59 and end[1] >= 20 else (0, 30))
    assert not reached[39, 0] and reached.sum() > 50
    if thickness == 1.0:
        assert walls.sum() <= abs(end[0] - start[0]) + abs(end[1] - start[1]) + 1


def test_a_line_between_cells_keeps_to_them() -> None:
    assert np.argwhere(shapes.line(SHAPE, (3, 4), (7, 4))).tolist() == [[4, i] for i in range(3, 8)]
    thick = shapes.line(SHAPE, (3, 10), (7, 10), 3.0)
    assert thick[9:12, 3:8].all() and thick.sum() == 15


def test_slits() -> None:
    walls = shapes.slits(SHAPE, 20, 20.0, (-8.0, 8.0), 3, 2)
    assert np.flatnonzero(~walls[:, 20]).tolist() == [11, 12, 13, 27, 28, 29]
    assert np.flatnonzero(walls[0]).tolist() == [20, 21]
    assert np.flatnonzero(~shapes.slits(SHAPE, 20, 20.0, (0.0,), 1)[:, 20]).tolist() == [20]


def test_lens_is_as_high_as_its_diameter_and_even_on_both_sides() -> None:
    mask = shapes.lens(SHAPE, (30, 20), 24.0, 16.0)
    rows, columns = np.nonzero(mask)
    assert rows.min() == 8 and rows.max() == 32
    assert 30 - columns.min() == columns.max() - 30 == int(16 - np.sqrt(16**2 - 12**2))


@pytest.mark.parametrize("angle", [0.0, 90.0, 37.0])
def test_all_ways_from_the_focus_by_the_mirror_are_equally_long(angle: float) -> None:
    """To a line across the beam, which is what makes the wave straight."""
    focus, length = (30.0, 20.0), 8.0
    mask = shapes.parabola(SHAPE, focus, length, 30.0, angle, 1.0)
    rows, columns = np.nonzero(mask)
    turn = np.radians(angle)
    along = (columns - focus[0]) * np.cos(turn) + (rows - focus[1]) * np.sin(turn)
    ways = np.hypot(columns - focus[0], rows - focus[1]) - along
    assert np.abs(ways - 2 * length).max() < 2.2 and len(rows) > 20


def test_a_round_basin_is_closed() -> None:
    whole, ring = (shapes.circle((60, 60), (29.5, 29.5), 20.0, thick) for thick in (None, 1.0))
    for walls in (whole, ring):
        reached = sides_apart(walls, (30, 30))
        assert reached.sum() == pytest.approx(np.pi * 20.0**2, rel=0.02)


def test_channel_is_as_wide_as_asked() -> None:
    walls = shapes.channel(SHAPE, (0, 20), (59, 20), 7.0, 1.0)
    assert np.flatnonzero(walls[:, 30]).tolist() == [16, 24]


def test_ramp_and_mound() -> None:
    depth = shapes.ramp(SHAPE, (10, 0), (50, 0), 1.0, 0.2)
    np.testing.assert_allclose(depth[5, [0, 10, 30, 50, 59]], [1.0, 1.0, 0.6, 0.2, 0.2], atol=1e-6)
    floor = np.ones(SHAPE, np.float32)
    shapes.mound(floor, (30, 20), 10.0, 0.25)
    assert floor[20, 30] == pytest.approx(0.25) and floor[20, 40] == 1.0 and floor[0, 0] == 1.0
    assert (np.diff(floor[20, 30:41]) >= 0).all()
