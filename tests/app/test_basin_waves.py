"""Wavelength, frequency and speed of waves whose numbers are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.basin.projection import project_cells
from app.basin.ruler import read_ruler
from app.basin.waves import fit_sine, profile, spectrum, speed_between, thinned, wave_speed
from app.view.camera import OrbitCamera
from app.view.grid import Grid
from app.view.picking import project_cell


def plane(length: float, angle: float, shape=(120, 160)) -> np.ndarray:
    y, x = np.mgrid[0 : shape[0], 0 : shape[1]]
    along = x * math.cos(math.radians(angle)) + y * math.sin(math.radians(angle))
    return (0.03 * np.sin(2 * math.pi * along / length + 0.7)).astype(np.float32)


@pytest.mark.parametrize("length", [8.0, 12.3, 20.0, 33.3, 50.0])
@pytest.mark.parametrize("angle", [0.0, 30.0, 77.0])
def test_the_ruler_reads_the_wavelength_within_two_percent(length, angle):
    turn = math.radians(angle)
    ends = ((20.3, 30.2), (20.3 + 80 * math.cos(turn), 30.2 + 80 * math.sin(turn)))
    reading = read_ruler(plane(length, angle), None, ends, 0.1)
    assert reading.distance == pytest.approx(8.0)
    assert reading.wavelength == pytest.approx(0.1 * length, rel=0.02)


def test_the_ruler_tells_what_frequency_has_such_waves():
    from app.panels.placed import ruler_text

    reading = read_ruler(plane(20.0, 0.0), None, ((20.0, 30.0), (120.0, 30.0)), 0.1)
    assert ruler_text(reading, 8.0) == "10.00 m   wavelength 2.00 m   at 8.00 m/s: 4.00 Hz"
    assert ruler_text(reading, 0.0) == "10.00 m   wavelength 2.00 m"


def test_along_a_crest_there_is_no_wavelength():
    reading = read_ruler(plane(20.0, 0.0), None, ((30.0, 10.0), (30.0, 100.0)), 0.1)
    assert reading.wavelength is None and reading.distance == pytest.approx(9.0)


def test_still_water_has_no_wavelength():
    reading = read_ruler(np.zeros((20, 30), np.float32), None, ((2.0, 3.0), (25.0, 9.0)), 0.1)
    assert reading.wavelength is None


def test_a_ruler_without_a_length_reads_zero():
    reading = read_ruler(plane(8.0, 0.0), None, ((5.0, 5.0), (5.0, 5.0)), 0.1)
    assert reading.distance == 0.0 and reading.wavelength is None


def test_the_profile_ends_on_the_cells_and_is_linear_between():
    heights = np.arange(12.0).reshape(3, 4)
    assert profile(heights, (0, 0), (3, 0)).tolist() == [0, 0.5, 1, 1.5, 2, 2.5, 3]
    assert profile(heights, (3, 0), (3, 2))[-1] == 11.0


@pytest.mark.parametrize("frequency", [0.7, 3.0, 5.0, 7.77, 12.0])
def test_the_peak_of_a_spectrum_is_the_frequency(frequency):
    times = np.arange(4800) / 960
    heights = 0.05 * np.sin(2 * math.pi * frequency * times + 1.0) + 0.01
    values, step = thinned(heights, 1 / 960)
    found = spectrum(values, step)
    assert found.peak == pytest.approx(frequency, rel=0.005)
    assert found.height == pytest.approx(0.05, rel=0.06)
    assert found.frequencies[np.argmax(found.amplitudes)] == pytest.approx(frequency, abs=0.15)


def test_too_short_a_record_has_no_sine():
    assert fit_sine(np.ones(5), 0.1) is None
    assert fit_sine(np.full(64, np.nan), 0.1) is None


@pytest.mark.parametrize("distance", [0.3, 1.0, 2.0])
def test_the_speed_between_two_probes(distance):
    times = np.arange(600) / 120
    one = np.sin(2 * math.pi * 5 * times)
    other = np.sin(2 * math.pi * 5 * (times - distance / 7.3))
    assert speed_between(one, other, 1 / 120, distance, 7.75) == pytest.approx(7.3, rel=1e-3)
    assert speed_between(other, one, 1 / 120, distance, 7.75) == pytest.approx(7.3, rel=1e-3)


def test_probes_too_far_apart_tell_no_speed():
    times = np.arange(600) / 120
    wave = np.sin(2 * math.pi * 5 * times)
    assert speed_between(wave, wave, 1 / 120, 3.0, 7.75) is None


def test_the_speed_follows_from_the_parameters():
    assert wave_speed({"k_speed": 60.0}) == pytest.approx(7.745967)
    assert wave_speed({"k_speed": 60.0}, 0.25) == pytest.approx(3.872983)


def test_many_cells_are_projected_as_one_is():
    camera, grid, viewport = OrbitCamera(), Grid(40, 30, 0.1), (10.0, 20.0, 640.0, 480.0)
    camera.frame_grid(grid, 640 / 480)
    cells = np.array([(0.0, 0.0), (39.0, 29.0), (12.5, 7.0)])
    for cell, place in zip(cells.tolist(), project_cells(camera, cells, viewport, grid, 2.0), strict=True):
        one = project_cell(camera, tuple(cell), viewport, grid)
        assert place == pytest.approx((one[0] / 2, one[1] / 2))


@pytest.mark.parametrize("degrees", [0.0, 25.0, 90.0, 140.0])
@pytest.mark.parametrize("ruler", [0.0, 30.0, -75.0])
def test_the_ruler_tells_how_waves_run_across_it(degrees, ruler):
    """Plane waves of 11 cells; along a line that they cross at an angle they are longer by its cosine."""
    from app.basin.ruler import read_ruler
    from app.panels.placed import ruler_text

    rows, columns = np.indices((90, 110), dtype=float)
    turn, way = np.radians(degrees), np.radians(ruler)
    heights = 0.1 * np.cos(2 * np.pi / 11.0 * (columns * np.cos(turn) + rows * np.sin(turn)) + 0.4)
    ends = (
        (55.0 - 33 * np.cos(way), 45.0 - 33 * np.sin(way)),
        (55.0 + 33 * np.cos(way), 45.0 + 33 * np.sin(way)),
    )
    reading = read_ruler(heights, None, ends, 0.1)
    between = abs((degrees - ruler + 90.0) % 180.0 - 90.0)
    assert reading.aslant == pytest.approx(between, abs=2.0)
    text = ruler_text(reading, 7.0)
    if between < 12.0:
        assert reading.wavelength == pytest.approx(1.1, rel=0.01) and "Hz" in text
    elif between < 60.0:
        assert reading.wavelength == pytest.approx(1.1 / np.cos(np.radians(between)), rel=0.03)
        assert f"{reading.aslant:.0f}° aslant" in text and "Hz" not in text
