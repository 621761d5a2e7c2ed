"""The basin against theory: speed, reflection, refraction, interference, and what comes back from a border.

Damping is 0 throughout, for theory has none. Waves are plane packets or come from sources; the direction of
a packet is that of its energy flux.
"""

from __future__ import annotations

import numpy as np
import pytest

from app.basin.shapes import slits
from capture.basin import NO_POINTER, PROBES, SOURCES
from capture.settings import FrameSettings
from capture.tank import Tank

CELLS_A_SECOND = np.sqrt(60.0) / 0.1


def basin(width: int, height: int, **settings: float) -> Tank:
    return Tank(FrameSettings(width=width, height=height, solver="basin", k_damp=0.0, **settings), "cpu")


def frequency_of(wavelength: float) -> float:
    """Frequency in Hz of a wavelength in cells, in the deep."""
    return float(CELLS_A_SECOND / wavelength)


def launch_packet(
    tank: Tank, wavelength: float, degrees: float, centre: tuple[float, float], size: float
) -> None:
    """Set a plane packet under way, with the grid's own frequency (design: dispersion of the scheme)."""
    rows, columns = np.indices(tank.heights.shape, dtype=float)
    kx, ky = (2 * np.pi / wavelength * f(np.radians(degrees)) for f in (np.cos, np.sin))
    speed, dt = float(tank.arrays["k_speed"].numpy()[0]), tank.settings.dt
    courant2 = speed * dt * dt / 0.1**2
    omega = 2 * np.arcsin(np.sqrt(courant2 * (np.sin(kx / 2) ** 2 + np.sin(ky / 2) ** 2)))
    velocity = courant2 * np.array([np.sin(kx), np.sin(ky)]) / np.sin(omega)
    water = tank.arrays["walls"].numpy() == 0
    for name, back in (("heights", 0.0), ("heights_prev", -1.0)):
        x, y = columns - centre[0], rows - centre[1]
        off = (x - back * velocity[0]) ** 2 + (y - back * velocity[1]) ** 2
        tank.set(name, water * np.exp(-off / (2 * size**2)) * np.cos(kx * x + ky * y - omega * back))


def run(tank: Tank, cells: float) -> np.ndarray:
    """Advance until a wave in the deep has gone some cells; return the heights."""
    for _ in range(round(cells / CELLS_A_SECOND * tank.settings.frame_rate)):
        tank.step()
    return tank.heights.numpy().astype(np.float64)


def direction(tank: Tank, region: np.ndarray) -> float:
    """Direction of travel in degrees of the waves in a region, by the sum of their energy flux."""
    now, before = (tank.arrays[name].numpy().astype(np.float64) for name in ("heights", "heights_prev"))
    rate = region * (now - before)
    # -rate * gradient is the energy flux but for the depth, which is even within a region
    across, along = ((rate * -slope).sum() for slope in np.gradient(now))
    return float(np.degrees(np.arctan2(across, along)))


@pytest.mark.parametrize("k_speed", [60.0, 250.0])
def test_speed_is_the_root_of_k_speed_within_1_percent_at_20_cells(k_speed: float) -> None:
    """A channel with a source at one end: wave number from the phases at 16 probes, speed = omega / k."""
    tank = basin(180, 5, k_speed=k_speed)
    walls = np.zeros((5, 180))
    walls[[0, 4]] = 1
    tank.set("walls", walls)
    tank.set("border", 1)
    frequency = np.sqrt(k_speed) / 2.0  # a wavelength of 20 cells is 2 m
    drive(tank, [(10, row) for row in (1, 2, 3)], frequency, 0.02)
    places = 40 + 8 * np.arange(PROBES)
    tank.set("probe_pos", np.stack([places, np.full(PROBES, 2)], 1))
    record = []
    for frame in range(260):
        tank.step()
        if frame >= 200:
            record.append(tank.named("probe_out").numpy().copy())
    heard = np.concatenate(record)
    turns = np.exp(-2j * np.pi * frequency * tank.settings.dt * np.arange(len(heard)))
    phases = np.unwrap(np.angle((heard * turns[:, None]).sum(0)))
    wave_number = -np.polyfit(places * 0.1, phases, 1)[0]
    assert 2 * np.pi * frequency / wave_number == pytest.approx(np.sqrt(k_speed), rel=0.01)


def drive(tank: Tank, places: list[tuple[float, float]], frequency: float, amplitude: float) -> None:
    at = np.full((SOURCES, 2), NO_POINTER[0])
    at[: len(places)] = places
    tank.set("source_pos", at)
    tank.set("source_freq", np.full(SOURCES, frequency))
    tank.set("source_amp", np.full(SOURCES, amplitude))
    tank.set("source_on", np.arange(SOURCES) < len(places))


@pytest.mark.parametrize(("width", "separation"), [(3, 40), (4, 30)])
def test_double_slit_maxima_are_where_paths_differ_by_whole_wavelengths(width: int, separation: int) -> None:
    wavelength, wall, middle, radius = 12.0, 40, 120, 120.0
    tank = basin(190, 241)
    openings = (-separation / 2, separation / 2)
    walls = slits((241, 190), wall, middle, openings, width)
    tank.set("walls", walls)
    tank.set("border", 1)
    drive(tank, [(8, middle)], frequency_of(wavelength), 0.2)
    run(tank, 260.0)
    intensity = np.zeros((241, 190))
    for _ in range(28):  # three periods
        tank.step()
        intensity += np.square(tank.heights.numpy())
    angles = np.radians(np.arange(-60.0, 60.01, 0.25))
    seen = _sampled(intensity, wall + radius * np.cos(angles), middle + radius * np.sin(angles))
    # r1 - r2 in wavelengths along the arc, from the middles of the slits
    rows = np.flatnonzero(~walls[:, wall])
    middles = rows[:width].mean(), rows[width:].mean()
    assert middles[1] - middles[0] == separation
    paths = [np.hypot(radius * np.cos(angles), middle + radius * np.sin(angles) - row) for row in middles]
    order = (paths[0] - paths[1]) / wavelength
    for wanted in range(-2, 3) if separation == 40 else range(-1, 2):
        near = np.abs(order - wanted) < 0.35
        square, slope, _ = np.polyfit(order[near], seen[near], 2)
        assert -slope / (2 * square) == pytest.approx(wanted, abs=0.05 * max(abs(wanted), 1))
        dark = np.interp([wanted - 0.5, wanted + 0.5], order, seen)
        assert seen[near].max() > 5 * dark.max()


def _sampled(field: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Bilinear interpolation."""
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = x - i, y - j
    top = field[j, i] * (1 - u) + field[j, i + 1] * u
    bottom = field[j + 1, i] * (1 - u) + field[j + 1, i + 1] * u
    return top * (1 - v) + bottom * v


@pytest.mark.parametrize(
    ("incidence", "depth", "tilt"), [(40.0, 0.5, 0.0), (25.0, 0.3, 0.0), (35.0, 0.6, 20.0), (-50.0, 0.5, 0.0)]
)
def test_refraction_follows_snell_within_2_degrees(incidence: float, depth: float, tilt: float) -> None:
    """A step in depth; `tilt` turns it against the grid, so that it runs in stairs."""
    side, size, run_up = 240, 20.0, 75.0
    tank = basin(side, side)
    rows, columns = np.indices((side, side), dtype=float)
    turn = np.radians(tilt)
    along = (columns - side / 2) * np.cos(turn) + (rows - side / 2) * np.sin(turn)
    tank.set("depth", np.where(along > 0.0, depth, 1.0))
    heading = np.radians(incidence + tilt)
    start = (side / 2 - run_up * np.cos(heading), side / 2 - run_up * np.sin(heading))
    launch_packet(tank, 16.0, incidence + tilt, start, size)
    run(tank, run_up + 70.0)
    refracted = np.degrees(np.arcsin(np.sqrt(depth) * np.sin(np.radians(incidence))))
    assert direction(tank, along > 6.0) - tilt == pytest.approx(refracted, abs=2.0)


@pytest.mark.parametrize(
    ("tilt", "wavelength"),
    [
        (0.0, 20.0),
        (18.0, 20.0),
        (30.0, 20.0),
        (45.0, 20.0),
        (61.0, 20.0),
        (7.0, 16.0),
        (30.0, 16.0),
        (52.0, 16.0),
    ],
)
def test_reflection_leaves_at_the_angle_it_came_in_within_1_degree(tilt: float, wavelength: float) -> None:
    """A wave along x meets a wall whose normal is turned by `tilt`, or the border (0) aslant.

    This is the mean of all that comes back. The stairs of a wall aslant are a grating, too: what they scatter
    turns the mean by up to 3 degrees where the wall is near 45 or the wave shorter. The beam itself keeps
    its angle, see below.
    """
    side, size, run_up = 240, 20.0, 70.0
    tank = basin(side, side)
    rows, columns = np.indices((side, side), dtype=float)
    heading = 0.0 if tilt else 33.0
    turn = np.radians(tilt)
    along = (columns - side * 0.6) * np.cos(turn) + (rows - side * 0.65) * np.sin(turn) - 0.2
    centre = (side * 0.6, side * 0.65)
    if tilt:
        tank.set("walls", along > 0.0)
    else:
        along, centre = columns - side, (side - 0.5, side * 0.5)
    move = np.radians(heading)
    start = (centre[0] - run_up * np.cos(move), centre[1] - run_up * np.sin(move))
    launch_packet(tank, wavelength, heading, start, size)
    run(tank, 2 * run_up)
    mirrored = 180.0 + 2 * tilt - heading
    off = (direction(tank, along < -4.0) - mirrored + 180.0) % 360.0 - 180.0
    assert abs(off) < 1.0


def beam(
    tank: Tank, region: np.ndarray, expected: float, wavelength: float, size: float
) -> tuple[float, float]:
    """Direction in degrees of the beam next to an expected one, and the share of the energy beside it.

    The spectrum of heights and their rate tells which way each plane wave runs; the beam is the lobe around
    the expected wave, as wide as a packet of this size is in wave numbers.
    """
    now, before = (
        region * tank.arrays[name].numpy().astype(np.float64) for name in ("heights", "heights_prev")
    )
    spectrum, rate = (np.fft.fft2(field, (1024, 1024)) for field in (now, now - before))
    ky, kx = np.meshgrid(*(2 * np.pi * np.fft.fftfreq(1024),) * 2, indexing="ij")
    courant2 = float(tank.arrays["k_speed"].numpy()[0]) * (tank.settings.dt / 0.1) ** 2
    omega = 2 * np.arcsin(np.sqrt(courant2 * (np.sin(kx / 2) ** 2 + np.sin(ky / 2) ** 2)))
    number = 2 * np.pi / wavelength
    band = np.abs(np.hypot(kx, ky) / number - 1) < 0.4
    power = np.zeros_like(omega)
    # a wave exp(i(kx - omega t)) has the rate -i omega
    power[band] = np.abs(spectrum[band] + 1j * rate[band] / omega[band]) ** 2
    turn = np.radians(expected)
    lobe = np.hypot(kx - number * np.cos(turn), ky - number * np.sin(turn)) < 2.2 / size
    across, along = ((power * np.sin(k))[lobe].sum() for k in (ky, kx))
    return float(np.degrees(np.arctan2(across, along))), 1.0 - float(power[lobe].sum() / power.sum())


@pytest.mark.parametrize("tilt", [25.0, 41.0, 49.0])
@pytest.mark.parametrize("wavelength", [12.0, 18.0])
def test_the_beam_that_stairs_reflect_keeps_its_angle_from_12_cells_up(
    tilt: float, wavelength: float
) -> None:
    """Near 45 degrees the stairs scatter most, up to a sixteenth of the energy."""
    side, size, run_up = 280, 20.0, 80.0
    tank = basin(side, side)
    rows, columns = np.indices((side, side), dtype=float)
    turn = np.radians(tilt)
    along = (columns - side * 0.6) * np.cos(turn) + (rows - side * 0.65) * np.sin(turn) - 0.2
    tank.set("walls", along > 0.0)
    launch_packet(tank, wavelength, 0.0, (side * 0.6 - run_up, side * 0.65), size)
    run(tank, 2 * run_up)
    found, scattered = beam(tank, along < -4.0, 180.0 + 2 * tilt, wavelength, size)
    off = (found - 180.0 - 2 * tilt + 180.0) % 360.0 - 180.0
    assert abs(off) < 1.0
    assert scattered < 0.07


@pytest.mark.parametrize("depth", [1.0, 0.3])
@pytest.mark.parametrize("wavelength", [8.0, 10.0, 13.0, 18.0, 24.0, 32.0])
def test_less_than_2_percent_comes_back_at_normal_incidence(wavelength: float, depth: float) -> None:
    """A packet in a channel of walls runs into the absorbing border."""
    width = int(16 * wavelength) + 20
    tank = basin(width, 3, k_speed=60.0 / depth)
    walls = np.zeros((3, width))
    walls[[0, 2]] = 1
    tank.set("walls", walls)
    tank.set("border", 1)
    launch_packet(tank, wavelength, 180.0, (8 * wavelength, 1.0), 1.6 * wavelength)
    field = tank.heights.numpy()[1].copy()
    tank.set("depth", np.full((3, width), depth))  # the speed is that of k_speed 60
    if depth != 1.0:
        tank.set("k_speed", 60.0)
        launch_packet(tank, wavelength, 180.0, (8 * wavelength, 1.0), 1.6 * wavelength)
        tank.set("k_speed", 60.0 / depth)
    assert np.abs(field).max() > 0.95
    assert np.abs(run(tank, 18 * wavelength)).max() < 0.02


@pytest.mark.parametrize(("degrees", "share"), [(30.0, 0.02), (45.0, 0.06), (60.0, 0.25)])
def test_little_comes_back_aslant(degrees: float, share: float) -> None:
    """Amplitudes by the energy of a wide packet before and after it met the right border."""
    side, run_up = 200, 60.0
    tank = basin(side, side)
    tank.set("border", 1)
    turn = np.radians(degrees)
    start = (side - run_up * np.cos(turn), side / 2 - run_up * np.sin(turn))
    launch_packet(tank, 14.0, degrees, start, 13.0)
    before = np.square(tank.heights.numpy()).sum()
    assert np.sqrt(np.square(run(tank, 2 * run_up)).sum() / before) < share
