"""The top view against fields whose picture is known."""

from __future__ import annotations

import numpy as np
import pytest

from app import topview
from app.topview import MARGIN_COLOUR, NAN_COLOUR, render_topview
from replay.errors import UsageError


def ring(rows: int, columns: int, centre: tuple[float, float], radius: float) -> np.ndarray:
    """A ring of height 0.02 m around a cell (column, row)."""
    y, x = np.mgrid[:rows, :columns]
    distance = np.hypot(x - centre[0], y - centre[1])
    return (0.02 * np.exp(-(((distance - radius) / 1.5) ** 2))).astype(np.float32)


def disturbed(picture: np.ndarray) -> np.ndarray:
    """Where a picture differs from the still water in its corner."""
    return np.abs(picture.astype(int) - picture[0, 0].astype(int)).sum(axis=2) > 30


@pytest.mark.parametrize(
    ("grid", "centre", "size", "scale"),
    [
        ((64, 64), (32, 32), (256, 256), 4.0),
        ((48, 96), (30, 20), (384, 192), 4.0),
        ((90, 60), (21, 60), (40, 60), 2 / 3),
    ],
)
def test_ring_lies_where_the_cells_say(grid, centre, size, scale):
    picture = render_topview(ring(*grid, centre, 12), size)
    rows, columns = np.nonzero(disturbed(picture))
    found = ((columns.min() + columns.max() + 1) / 2, (rows.min() + rows.max() + 1) / 2)
    # pixel coordinate of the centre of a cell
    expected = ((centre[0] + 0.5) * scale, (centre[1] + 0.5) * scale)
    assert found == pytest.approx(expected, abs=max(1.0, 0.6 * scale))
    # and it is a ring, about as wide as it should be, around quiet water
    assert columns.max() - columns.min() == pytest.approx(2 * 12 * scale, rel=0.4)
    assert not disturbed(picture)[int(expected[1]), int(expected[0])]


def test_rows_go_down_and_columns_go_right():
    picture = render_topview(ring(64, 64, (48, 16), 6), (128, 128))
    rows, columns = np.nonzero(disturbed(picture))
    assert columns.mean() > 64 > rows.mean()


@pytest.mark.parametrize("level", [0.0, 3.5, -1e30])
def test_still_water_is_one_colour_and_not_black(level):
    picture = render_topview(np.full((20, 30), level, np.float32), (90, 60))
    assert (picture == picture[0, 0]).all()
    red, green, blue = picture[0, 0].astype(int)
    assert blue > green > red and blue > 80


def test_a_small_wave_shows_as_well_as_a_large_one():
    small, large = (render_topview(ring(64, 64, (32, 32), 12) * by, (128, 128)) for by in (0.2, 20.0))
    assert disturbed(small).sum() == pytest.approx(disturbed(large).sum(), rel=0.5)


def test_rounding_noise_does_not_look_like_waves():
    noise = np.random.default_rng(1).normal(0, 1e-7, (64, 64)).astype(np.float32)
    assert not disturbed(render_topview(noise, (64, 64))).any()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("size", [(128, 128), (8, 8)])
def test_cells_that_are_not_finite_are_marked(value, size):
    field = ring(32, 32, (10, 10), 4)
    field[20, 5] = value
    picture = render_topview(field, size)
    marked = (picture == NAN_COLOUR).all(axis=2)
    scale = size[0] / 32
    assert marked[int(20.5 * scale), int(5.5 * scale)]
    assert marked.sum() == max(1, scale**2)


def test_all_cells_nan_is_all_magenta():
    assert (render_topview(np.full((4, 4), np.nan), (16, 16)) == NAN_COLOUR).all()


@pytest.mark.parametrize("factor", [1e10, 1.5e38, 1e-30])
def test_fields_of_any_magnitude_render_without_warnings(factor):
    field = ring(32, 32, (16, 16), 6) / 0.02 * np.float32(factor)
    with np.errstate(all="raise", under="ignore"):
        picture = render_topview(field, (64, 64))
    assert picture.max() > 60


@pytest.mark.parametrize("grid", [(1, 1), (1, 9), (9, 1), (3, 3)])
def test_the_smallest_grids(grid):
    assert render_topview(np.zeros(grid, np.float32), (30, 20)).shape == (20, 30, 3)


def test_a_rectangular_grid_keeps_its_aspect():
    picture = render_topview(ring(32, 64, (32, 16), 6), (100, 100))
    margin = (picture == MARGIN_COLOUR).all(axis=(1, 2))
    assert margin[:25].all() and margin[75:].all() and not margin[25:75].any()


def test_the_same_field_gives_the_same_picture():
    field = ring(40, 40, (11, 17), 8)
    assert (render_topview(field, (80, 80)) == render_topview(field.copy(), (80, 80))).all()


def test_the_field_is_not_written():
    field = ring(16, 16, (8, 8), 3)
    field.setflags(write=False)
    before = field.copy()
    render_topview(field, (16, 16))
    assert (field == before).all()


@pytest.mark.parametrize(
    ("field", "size", "dx", "words"),
    [
        (np.zeros(9), (8, 8), 0.1, "shape (9,)"),
        (np.zeros((0, 4)), (8, 8), 0.1, "shape (0, 4)"),
        (np.zeros((4, 4)), (0, 8), 0.1, "0x8"),
        (np.zeros((4, 4)), (8, 8), 0.0, "0.0 m"),
        (np.zeros((4, 4)), (8, 8), float("nan"), "nan m"),
    ],
)
def test_what_is_no_height_field_is_refused(field, size, dx, words):
    with pytest.raises(UsageError) as caught:
        render_topview(field, size, dx)
    assert words in str(caught.value)


@pytest.mark.parametrize("size", [(150, 100), (40, 37), (700, 500)])
def test_a_picture_in_bands_is_the_picture_in_one(size, monkeypatch):
    field = ring(50, 70, (30, 20), 12)
    field[11, 5] = np.nan
    walls = np.zeros((50, 70), np.uint8)
    walls[25:28, 10:60] = 1
    whole = render_topview(field, size, walls=walls)
    for band in (1, 7 * size[0]):
        monkeypatch.setattr(topview, "_BAND", band)
        banded = render_topview(field, size, walls=walls)
        assert np.abs(banded.astype(int) - whole.astype(int)).max() <= 1
        assert ((banded == NAN_COLOUR).all(axis=2) == (whole == NAN_COLOUR).all(axis=2)).all()


def test_a_large_picture_takes_little_more_memory_than_its_pixels():
    import tracemalloc

    tracemalloc.start()
    try:
        picture = render_topview(ring(16, 16, (8, 8), 4), (4096, 2048))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert picture.nbytes < peak < picture.nbytes + 256 * topview._BAND


def test_too_many_pixels_are_refused_at_once():
    with pytest.raises(UsageError, match="16384x16384 has 268,435,456 pixels, at most 67,108,864"):
        render_topview(np.zeros((8, 8)), (16384, 16384))
