"""The basin solver: equal to the reference where there is nothing in the water, walls, sources, probes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from capture.basin import NO_POINTER, PROBES, SOURCES
from capture.kernels.basin import CPU_ROWS, basin_solve
from capture.settings import FrameSettings
from capture.tank import Tank
from replay.graph.open import open_capture
from replay.players import open_player


def basin(width: int = 48, height: int = 40, device: str = "cpu", **settings: object) -> Tank:
    return Tank(FrameSettings(width=width, height=height, solver="basin", **settings), device)


def shake(tank: Tank, seed: int = 1) -> None:
    """Random heights at rest."""
    heights = np.random.default_rng(seed).uniform(-1.0, 1.0, tank.heights.shape)
    tank.set("heights", heights)
    tank.set("heights_prev", heights)


def put_sources(tank: Tank, *sources: tuple[float, float, float, float]) -> None:
    """Place sources of (x, y, Hz, m) and switch them on."""
    places = np.full((SOURCES, 2), NO_POINTER[0])
    rows = np.zeros((3, SOURCES))
    for k, (x, y, frequency, amplitude) in enumerate(sources):
        places[k], rows[:, k] = (x, y), (frequency, amplitude, 1.0)
    tank.set("source_pos", places)
    for name, row in zip(("source_freq", "source_amp", "source_on"), rows, strict=True):
        tank.set(name, row)


def put_probes(tank: Tank, *places: tuple[float, float]) -> None:
    all_places = np.full((PROBES, 2), NO_POINTER[0])
    for index, place in enumerate(places):
        all_places[index] = place
    tank.set("probe_pos", all_places)


def heights(tank: Tank) -> np.ndarray:
    return tank.heights.numpy().copy()


SIZES = [(3, 3), (3, 20), (20, 3), (18, 19), (33, 2 * CPU_ROWS + 1), (64, 40)]


class TestOpenWater:
    @pytest.mark.parametrize("substeps", [1, 3, 16])
    @pytest.mark.parametrize(("width", "height"), SIZES)
    def test_is_the_reference_bit_for_bit(self, width: int, height: int, substeps: int) -> None:
        tanks = [
            Tank(FrameSettings(width=width, height=height, substeps=substeps, solver=solver), "cpu")
            for solver in ("basin", "reference")
        ]
        for tank in tanks:
            shake(tank)
            for frame in range(8):
                tank.set("mouse_pos", (width * 0.6, height * 0.1 * frame))
                tank.set("pointer_from", (1.0, height - 1.0))
                tank.step()
        for name in ("heights", "heights_prev", "clock"):
            np.testing.assert_array_equal(
                tanks[0].arrays[name].numpy().view(np.int32), tanks[1].arrays[name].numpy().view(np.int32)
            )

    def test_depth_beyond_its_range_counts_as_the_nearest_allowed(self) -> None:
        results = []
        for value in (1.0, 7.0):
            tank = basin()
            shake(tank)
            tank.set("depth", np.full((40, 48), value))
            tank.step()
            results.append(heights(tank))
        np.testing.assert_array_equal(*results)

    def test_speed_follows_the_root_of_depth(self) -> None:
        """A frame at a quarter of the depth is one at a quarter of k_speed."""
        quarter, slow = basin(), basin(k_speed=15.0)
        for tank in (quarter, slow):
            shake(tank)
        quarter.set("depth", np.full((40, 48), 0.25))
        for tank in (quarter, slow):
            tank.step()
        np.testing.assert_allclose(heights(quarter), heights(slow), atol=1e-5)


class TestWalls:
    @pytest.mark.parametrize("slope", [0, 1, 3])
    def test_nothing_passes_a_wall_of_one_cell(self, slope: int) -> None:
        """Straight, or in steps that touch by corners: the other side stays exactly still."""
        tank = basin()
        columns, rows = np.meshgrid(np.arange(48), np.arange(40))
        if slope == 0:
            walls, left = columns == 20, columns < 20
        else:
            walls, left = columns == 5 + rows // slope, columns < 5 + rows // slope
        tank.set("walls", walls)
        water = np.where(left, np.random.default_rng(1).uniform(-1.0, 1.0, walls.shape), 0.0)
        tank.set("heights", water)
        tank.set("heights_prev", water)
        for _ in range(40):
            tank.step()
        assert np.abs(heights(tank)[left]).max() > 0.1
        assert not heights(tank)[~left].any()

    def test_a_wall_that_is_drawn_takes_the_water_away_and_cannot_be_pushed(self) -> None:
        tank = basin()
        shake(tank)
        walls = np.zeros((40, 48))
        walls[10:20, 10:20] = 1
        tank.set("walls", walls)
        tank.set("mouse_pos", (15.0, 15.0))
        tank.step()
        assert not heights(tank)[10:20, 10:20].any()
        assert heights(tank)[:10].any()

    def test_a_wall_mirrors_like_the_border(self) -> None:
        """Water left of a wall in column 24 is water in a tank of 24 columns."""
        walled, small = basin(48, 40), basin(24, 40)
        water = np.random.default_rng(2).uniform(-1.0, 1.0, (40, 48))
        walls = np.zeros((40, 48))
        walls[:, 24] = 1
        walled.set("walls", walls)
        for tank, field in ((walled, water), (small, water[:, :24])):
            tank.set("heights", field)
            tank.set("heights_prev", field)
            for _ in range(20):
                tank.step()
        np.testing.assert_array_equal(heights(walled)[:, :24], heights(small))


class TestEnergy:
    @pytest.mark.parametrize("border", [0, 1])
    def test_does_not_grow_over_10000_substeps(self, border: int) -> None:
        """Undamped, walls and depth at random, near the limit of stability."""
        tank = basin(40, 33, substeps=100, frame_rate=9.6, k_damp=0.0, k_speed=4400.0)
        random = np.random.default_rng(3)
        tank.set("depth", random.uniform(0.05, 1.0, (33, 40)))
        walls = random.uniform(size=(33, 40)) < 0.15
        tank.set("walls", walls)
        tank.set("border", border)
        water = np.where(walls, 0.0, random.normal(size=(33, 40)))
        tank.set("heights", water)
        tank.set("heights_prev", water)
        largest = []
        for _ in range(100):
            tank.step()
            largest.append(float(np.square(heights(tank)).sum()))
        first = np.mean(largest[:5])
        if border:
            assert max(largest[5:]) <= 1.05 * first
            assert np.mean(largest[-5:]) < 0.8 * first
        else:
            # what swings between h and its velocity, the sum of squares stays about half
            assert 0.7 * first < np.mean(largest[-20:]) < 1.3 * first


class TestSources:
    def test_height_follows_frequency_and_amplitude(self) -> None:
        """One wavelength away the wave is as high as the amplitude, within 6 %, undamped."""
        for cells in (10.0, 16.0):
            frequency = np.sqrt(60.0) / (cells * 0.1)
            tank = basin(120, 120, k_damp=0.0)
            tank.set("border", 1)
            put_sources(tank, (60, 60, frequency, 0.05))
            put_probes(tank, (60 + cells, 60), (60, 60 - cells))
            record = []
            for frame in range(190):
                tank.step()
                if frame >= 130:
                    record.append(tank.named("probe_out").numpy()[:, :2].copy())
            heard = np.concatenate(record)
            times = np.arange(len(heard)) * tank.settings.dt
            basis = np.stack(
                [np.cos(2 * np.pi * frequency * times), np.sin(2 * np.pi * frequency * times)], 1
            )
            weights, *_ = np.linalg.lstsq(basis, heard, rcond=None)
            np.testing.assert_allclose(np.hypot(*weights), 0.05, rtol=0.06)
            assert np.abs(heard - basis @ weights).max() < 0.003, "it swings at that frequency alone"

    def test_moved_and_switched_it_leaves_no_water_running(self) -> None:
        """Afterwards the mean height stays as it is, in a closed undamped basin."""
        tank = basin(k_damp=0.0)
        for frame in range(37):
            put_sources(tank, (10 + frame // 5, 12, 3.3, 0.05), (30, 30, 4.0, 0.02))
            tank.step()
        put_sources(tank)
        tank.step()
        before = heights(tank).mean(dtype=np.float64)
        for _ in range(200):
            tank.step()
        assert abs(heights(tank).mean(dtype=np.float64) - before) < 1e-5

    def test_it_is_driven_by_the_clock(self) -> None:
        """The same frames from another count of the clock are those of another phase."""
        results = []
        for clock, phase in ((0, 2 * np.pi * 3.0 * 7 / 60), (7, 0.0), (0, 0.0)):
            tank = basin()
            put_sources(tank, (24, 20, 3.0, 0.05))
            tank.set("clock", clock)
            tank.set("source_phase", np.full(SOURCES, phase))
            for _ in range(10):
                tank.step()
            results.append(heights(tank))
        np.testing.assert_allclose(results[0], results[1], atol=1e-5)
        assert np.abs(results[1] - results[2]).max() > 1e-2

    def test_in_a_wall_or_beside_the_grid_it_is_off(self) -> None:
        tank = basin()
        walls = np.zeros((40, 48))
        walls[20, 24] = 1
        tank.set("walls", walls)
        put_sources(tank, (24, 20, 3.0, 0.05), (-3, 5, 3.0, 0.05), (48, 5, 3.0, 0.05), (1e30, 5, 3.0, 0.1))
        for _ in range(5):
            tank.step()
        assert not heights(tank).any()

    def test_beside_a_wall_it_drives_one_side_only(self) -> None:
        tank = basin()
        walls = np.zeros((40, 48))
        walls[:, 24] = 1
        tank.set("walls", walls)
        put_sources(tank, (23.4, 20, 3.0, 0.05))
        for _ in range(20):
            tank.step()
        assert heights(tank)[:, :24].any() and not heights(tank)[:, 24:].any()


class TestProbes:
    @pytest.mark.parametrize("substeps", [1, 16])
    def test_they_record_the_heights(self, substeps: int) -> None:
        tank = basin(substeps=substeps)
        shake(tank)
        put_probes(tank, (5.4, 7.6), (0, 0), (47, 39), (NO_POINTER), (48, 3))
        for _ in range(3):
            tank.step()
        record = tank.named("probe_out").numpy()
        assert record.shape == (substeps, PROBES)
        field = heights(tank)
        np.testing.assert_array_equal(record[-1, :3], [field[8, 5], field[0, 0], field[39, 47]])
        if substeps > 1:
            np.testing.assert_array_equal(record[-2, :1], tank.arrays["heights_prev"].numpy()[8, 5:6])
        assert np.isnan(record[:, 3:]).all()

    def test_switched_off_it_records_nothing(self) -> None:
        tank = basin()
        put_probes(tank, (5, 5))
        tank.step()
        assert np.isfinite(tank.named("probe_out").numpy()[:, 0]).all()
        put_probes(tank)
        tank.step()
        assert np.isnan(tank.named("probe_out").numpy()).all()


class TestCapture:
    def test_names_and_launches(self, frame_of: Callable[..., Path]) -> None:
        capture = open_capture(frame_of(substeps=16, solver="basin"))
        assert [item.key for item in capture.operations] == ["basin_prepare"] + ["basin_solve"] * 16
        sizes = {binding.name: capture.regions[binding.region].nbytes for binding in capture.bindings}
        cells = 24 * 16
        assert sizes == {
            "heights": 4 * cells, "heights_prev": 4 * cells, "mouse_pos": 8, "pointer_from": 8,
            "k_speed": 4, "k_damp": 4, "radius": 4, "magnitude": 4, "dt": 4, "clock": 4,
            "walls": cells, "depth": 4 * cells, "border": 4,
            "source_pos": 128, "source_freq": 64, "source_amp": 64, "source_phase": 64, "source_on": 64,
            "probe_pos": 128, "heights_out": 4 * cells, "heights_prev_out": 4 * cells,
            "probe_out": 16 * 16 * 4,
        }  # fmt: skip
        assert not capture.faults

    def test_a_capture_holds_an_empty_basin(self, frame_of: Callable[..., Path]) -> None:
        with open_player(open_capture(frame_of(substeps=16, solver="basin")), "cpu") as player:
            assert not player.get("walls").any() and (player.get("depth") == 1.0).all()
            assert player.get("border") == [0] and not player.get("source_on").any()
            assert (player.get("probe_pos") == NO_POINTER[0]).all()
            assert np.isnan(player.get("probe_out")).all()

    @pytest.mark.parametrize("substeps", [1, 2, 3, 16])
    def test_eager_live_and_loaded_agree(self, substeps: int, frame_of: Callable[..., Path]) -> None:
        from app.compare import compare_frame

        capture = open_capture(frame_of(width=37, height=35, substeps=substeps, solver="basin"))
        comparison = compare_frame(capture, "cpu", 60)
        assert comparison.agrees, comparison


def test_cuda_kernels_compile_without_a_gpu(tmp_path: Path) -> None:
    if not wp.is_cuda_available() and not wp.get_cuda_supported_archs():
        pytest.skip("this Warp comes without NVRTC")
    wp.compile_aot_module(basin_solve.module, arch=90, module_dir=str(tmp_path), use_ptx=True)
    (text,) = (path.read_text() for path in tmp_path.glob("*.ptx"))
    assert "basin_prepare" in text and "basin_solve" in text


@pytest.mark.gpu
class TestOnCuda:
    @pytest.mark.parametrize("substeps", [1, 3, 16])
    @pytest.mark.parametrize(("width", "height"), [*SIZES, (257, 130), (600, 500)])
    def test_open_water_agrees_with_the_reference(self, width: int, height: int, substeps: int) -> None:
        tanks = [
            Tank(FrameSettings(width=width, height=height, substeps=substeps, solver=solver), "cuda:0")
            for solver in ("basin", "reference")
        ]
        for tank in tanks:
            shake(tank)
            tank.set("mouse_pos", (width * 0.6, height * 0.4))
            tank.set("pointer_from", (1.0, 2.0))
            for _ in range(10):
                tank.step()
        np.testing.assert_allclose(heights(tanks[0]), heights(tanks[1]), rtol=0.0, atol=1e-5)

    @pytest.mark.parametrize("border", [0, 1])
    def test_a_furnished_basin_agrees_with_the_cpu(self, border: int) -> None:
        tanks = [basin(70, 45, device) for device in ("cuda:0", "cpu")]
        random = np.random.default_rng(5)
        walls, depth = random.uniform(size=(45, 70)) < 0.1, random.uniform(0.1, 1.0, (45, 70))
        for tank in tanks:
            shake(tank)
            tank.set("walls", walls)
            tank.set("depth", depth)
            tank.set("border", border)
            put_probes(tank, (5, 5), (20, 30), (69, 44), (20, 30))
            for frame in range(30):
                put_sources(tank, (20 + frame // 10, 30, 3.0, 0.1), (69, 44, 5.0, 0.05))
                tank.step()
        np.testing.assert_allclose(heights(tanks[0]), heights(tanks[1]), rtol=0.0, atol=1e-4)
        np.testing.assert_allclose(
            *(tank.named("probe_out").numpy() for tank in tanks), rtol=0.0, atol=1e-4, equal_nan=True
        )

    def test_eager_live_and_loaded_agree(self, frame_of: Callable[..., Path]) -> None:
        from app.compare import compare_frame

        capture = open_capture(frame_of(width=37, height=35, substeps=16, solver="basin", device="cuda:0"))
        assert compare_frame(capture, "cuda:0", 60).agrees
