"""The solvers against the reference, the displacement of a box of cells, and the arithmetic of tiles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import warp as wp

from capture.kernels import solvers
from capture.kernels.fused import CPU_COLUMNS, CPU_DEPTH, PLANS, Plan, pass_depths
from capture.kernels.tiles import Tile, tile_kernel
from capture.kernels.tuned import CPU_ROWS, SMALL_CELLS, solve_cells, solve_strips
from capture.settings import NO_POINTER, FrameSettings
from capture.tank import Tank
from replay.graph.open import open_capture
from replay.players import open_player

FAST = ("tuned", "fused")
SIZES = [(3, 3), (3, 37), (37, 3), (5, 7), (16, 16), (18, 19), (33, 2 * CPU_ROWS + 1), (64, 40)]


@pytest.fixture(autouse=True)
def _no_grid_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `fused` take its own way on the small grids here, which it leaves to the tuned kernels."""
    monkeypatch.setattr("capture.kernels.fused.CPU_CACHED_CELLS", 0)


def test_on_the_cpu_fused_is_tuned_while_the_cache_holds_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capture.kernels.fused.CPU_CACHED_CELLS", 20 * 10)
    solver = tank_of("fused", 20, 10).solver
    assert solver.launches(20, 10, 16, cuda=False) == 17
    assert solver.launches(21, 10, 16, cuda=False) == 2
    launched: list[str] = []
    real = wp.launch
    monkeypatch.setattr(
        wp, "launch", lambda kernel, *a, **k: (launched.append(kernel.key), real(kernel, *a, **k))
    )
    for width, expected in ((20, ["solve_strips"] * 5), (21, ["solve_wavefront"])):
        tanks = [tank_of(name, width, 10, substeps=5) for name in ("fused", "tuned")]
        launched.clear()
        tanks[0].step()
        assert launched[1:] == expected
        tanks[1].step()
        assert_same(*tanks)


def tank_of(solver: str, width: int, height: int, device: str = "cpu", **settings: object) -> Tank:
    """A tank of random heights, the same for every solver."""
    tank = Tank(FrameSettings(width=width, height=height, solver=solver, **settings), device)
    random = np.random.default_rng(width * 1000 + height)
    heights = random.uniform(-1.0, 1.0, (height, width))
    tank.set("heights", heights)
    tank.set("heights_prev", heights + random.uniform(-0.01, 0.01, (height, width)))
    return tank


def state_of(tank: Tank) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], int]:
    arrays = tank.arrays
    return arrays["heights"].numpy(), arrays["heights_prev"].numpy(), int(arrays["clock"].numpy()[0])


def assert_same(tank: Tank, reference: Tank) -> None:
    for mine, theirs in zip(state_of(tank), state_of(reference), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("solver", FAST)
class TestAgainstReference:
    @pytest.mark.parametrize("substeps", [1, 2, 3, 5, 16, CPU_DEPTH + 1])
    @pytest.mark.parametrize(("width", "height"), SIZES)
    def test_bit_for_bit_on_all_shapes(self, solver: str, width: int, height: int, substeps: int) -> None:
        tanks = [tank_of(name, width, height, substeps=substeps) for name in (solver, "reference")]
        for frame in range(3):
            for tank in tanks:
                tank.set("mouse_pos", (width * 0.6, height * 0.2 * frame))
                tank.set("pointer_from", (1.0, height - 1.0))
                tank.step()
        assert_same(*tanks)
        assert np.abs(tanks[0].heights.numpy()).max() > 1e-3, "at rest, everything is equal"

    @pytest.mark.parametrize("width", [CPU_COLUMNS - 1, CPU_COLUMNS, CPU_COLUMNS + 5, 2 * CPU_COLUMNS - 3])
    def test_grids_wider_than_a_band(self, solver: str, width: int) -> None:
        tanks = [tank_of(name, width, 5, substeps=CPU_DEPTH + 3) for name in (solver, "reference")]
        for tank in tanks:
            tank.step()
        assert_same(*tanks)

    @pytest.mark.parametrize("k_damp", [0.0, 1000.0])
    def test_a_hundred_frames_with_moving_parameters(self, solver: str, k_damp: float) -> None:
        tanks = [tank_of(name, 9, 7, k_damp=k_damp) for name in (solver, "reference")]
        for frame in range(100):
            for tank in tanks:
                tank.set("k_speed", 40.0 + frame % 30)
                tank.set("dt", 0.0005 + 0.000003 * frame)
                tank.set("magnitude", 0.1 * np.sin(frame))
                tank.set("pointer_from", tank.arrays["mouse_pos"].numpy()[0])
                tank.set("mouse_pos", (4 + 4 * np.cos(frame), 3 + 3 * np.sin(frame)))
                tank.step()
        assert_same(*tanks)
        assert np.isfinite(tanks[0].heights.numpy()).all()

    def test_a_nan_spreads_by_one_cell_a_substep(self, solver: str) -> None:
        tank = tank_of(solver, 24, 24, substeps=3)
        heights = tank.heights.numpy()
        heights[10, 12] = np.nan
        tank.set("heights", heights)
        tank.step()
        j, i = np.indices((24, 24))
        np.testing.assert_array_equal(np.isnan(tank.heights.numpy()), abs(j - 10) + abs(i - 12) <= 3)

    @pytest.mark.parametrize("substeps", [1, 2, 3, 16])
    def test_loaded_equals_eager(self, solver: str, substeps: int, frame_of: Callable[..., Path]) -> None:
        settings = {"width": 21, "height": 18, "substeps": substeps, "solver": solver}
        tank = Tank(FrameSettings(**settings), "cpu")
        with open_player(open_capture(frame_of(**settings)), "cpu") as player:
            for frame in range(60):
                pointer = (float(frame % 21), 9.0) if frame < 20 else NO_POINTER
                tank.set("mouse_pos", pointer)
                player.set("mouse_pos", [pointer])
                tank.step()
                player.launch()
            np.testing.assert_array_equal(player.get("heights"), tank.heights.numpy())
            assert np.abs(player.get("heights")).max() > 1e-3
            assert player.get("clock")[0] == 60


@pytest.mark.parametrize("solver", solvers())
def test_replays_in_a_loop_that_sets_and_reads_both_fields(
    solver: str, frame_of: Callable[..., Path]
) -> None:
    """The published C++ program feeds both outputs back as inputs, each frame, by name."""
    settings = {"width": 32, "height": 32, "substeps": 16, "solver": solver}
    tank = Tank(FrameSettings(**settings), "cpu")
    heights = heights_prev = np.zeros((32, 32), np.float32)
    with open_player(open_capture(frame_of(**settings)), "cpu") as player:
        for frame in range(20):
            pointer = (float(frame), 9.0) if frame < 10 else NO_POINTER
            player.set("heights", heights)
            player.set("heights_prev", heights_prev)
            player.set("mouse_pos", [pointer])
            player.launch()
            heights, heights_prev = player.get("heights_out"), player.get("heights_prev_out")
            tank.set("mouse_pos", pointer)
            tank.step()
        np.testing.assert_array_equal(heights, tank.heights.numpy())
        assert np.abs(heights).max() > 1e-3


class TestDisplacement:
    @pytest.mark.parametrize(
        ("end", "start", "radius"),
        [
            ((8.0, 6.0), NO_POINTER, 5.0),
            ((0.0, 0.0), NO_POINTER, 3.3),
            ((19.0, 13.0), NO_POINTER, 1.0),
            ((-2.5, 20.0), NO_POINTER, 9.0),  # beside the grid, near enough to reach it
            ((-300.0, 4000.0), NO_POINTER, 5.0),  # beside the grid, too far
            ((2.0, 11.0), (17.5, 1.5), 2.0),
            ((25.0, 5.0), (-30.0, 7.0), 4.0),  # through the grid
            ((8.0, 6.0), NO_POINTER, 1e9),
            ((8.0, 6.0), NO_POINTER, -4.0),
            ((8.0, 6.0), NO_POINTER, 0.0),
            ((1e30, 1e30), (-900.0, -900.0), 5.0),
            (NO_POINTER, (8.0, 6.0), 5.0),
        ],
    )
    def test_pushes_the_cells_that_the_reference_pushes(
        self, end: tuple[float, float], start: tuple[float, float], radius: float
    ) -> None:
        tanks = [tank_of(name, 20, 14) for name in ("tuned", "reference")]
        for tank in tanks:
            for name, value in (("mouse_pos", end), ("pointer_from", start), ("radius", radius)):
                tank.set(name, value)
            tank.solver.displace(tank.fields)
        assert_same(*tanks)
        assert state_of(tanks[0])[2] == 1, "one call advances the clock by one"


class TestTiles:
    def test_halo_is_rounded_up_to_whole_lanes(self) -> None:
        tile = Tile(columns=4, rows=8, warps=8, blocks=2)
        assert tile.threads == 256
        assert tile.stored(4) == (128 - 8, 64 - 8)
        assert tile.stored(5) == (128 - 16, 64 - 10)
        assert tile.count(120, 56, 4) == 1
        assert tile.count(121, 57, 4) == 4
        assert tile.count(3, 3, 8) == 1

    @pytest.mark.parametrize("depth", [2, 4, 7, 8])
    def test_passes_are_even_in_number_and_nearly_equal(self, depth: int) -> None:
        for substeps in range(2, 70):
            depths = pass_depths(substeps, depth)
            assert sum(depths) == substeps
            assert len(depths) % 2 == 0
            assert 1 <= min(depths) <= max(depths) <= min(depth, min(depths) + 1)
            assert len(depths) < substeps / depth + 2, "no pass more than parity asks for"

    def test_plans_go_up_and_have_room(self) -> None:
        assert [plan.cells for plan in PLANS] == sorted(plan.cells for plan in PLANS)
        assert PLANS[-1].cells == float("inf")
        assert all(min(plan.tile.stored(plan.depth)) > 0 for plan in PLANS)
        with pytest.raises(ValueError, match="cannot advance by 16 substeps"):
            Plan(1.0, Tile(columns=1, rows=4, warps=8, blocks=1), 16)

    def test_a_multiplication_finds_the_row_of_every_small_grid(self) -> None:
        cells = SMALL_CELLS - 1
        for width in [*range(3, 600), *range(600, 8193, 7), 8191, 8192]:
            reciprocal = -(-(2**32) // width)
            assert reciprocal < 2**32
            rows = np.arange(1, cells // width + 1, dtype=np.uint64)
            for tid in (rows * np.uint64(width), rows * np.uint64(width) - np.uint64(1)):
                np.testing.assert_array_equal(
                    (tid * np.uint64(reciprocal)) >> np.uint64(32), tid // np.uint64(width)
                )

    def test_cuda_kernels_compile_without_a_gpu(self, tmp_path: Path) -> None:
        if not wp.is_cuda_available() and not wp.get_cuda_supported_archs():
            pytest.skip("this Warp comes without NVRTC")
        for kernel in (solve_strips, tile_kernel(PLANS[-1].tile)):
            wp.compile_aot_module(kernel.module, arch=90, module_dir=str(tmp_path), use_ptx=True)
        texts = [path.read_text() for path in tmp_path.glob("*.ptx")]
        assert len(texts) == 2
        assert sum("bar.sync" in text and "shfl.sync" in text for text in texts) == 1
        assert sum(solve_cells.key in text for text in texts) == 1


@pytest.mark.gpu
class TestOnCuda:
    @pytest.mark.parametrize("substeps", [1, 2, 3, 8, 16, 17])
    @pytest.mark.parametrize(
        ("width", "height"), [*SIZES, (257, 130), (130, 257), (300, 300), (600, 500), (1001, 300)]
    )
    @pytest.mark.parametrize("solver", FAST)
    def test_agrees_with_the_reference(self, solver: str, width: int, height: int, substeps: int) -> None:
        tanks = [tank_of(name, width, height, "cuda:0", substeps=substeps) for name in (solver, "reference")]
        for tank in tanks:
            tank.set("mouse_pos", (width * 0.6, height * 0.4))
            tank.set("pointer_from", (1.0, 2.0))
            for _ in range(10):
                tank.step()
        mine, theirs = state_of(tanks[0]), state_of(tanks[1])
        np.testing.assert_allclose(mine[0], theirs[0], rtol=0.0, atol=1e-5)
        np.testing.assert_allclose(mine[1], theirs[1], rtol=0.0, atol=1e-5)
        assert mine[2] == theirs[2] == 10

    @pytest.mark.parametrize("substeps", [1, 4])
    def test_strips_on_grids_of_any_size(self, substeps: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("capture.kernels.tuned.SMALL_CELLS", 0)
        for width, height in [*SIZES, (129, 65), (240, 113), (121, 300)]:
            tanks = [
                tank_of(name, width, height, "cuda:0", substeps=substeps) for name in ("tuned", "reference")
            ]
            for tank in tanks:
                tank.step()
            np.testing.assert_allclose(
                tanks[0].heights.numpy(), tanks[1].heights.numpy(), rtol=0.0, atol=1e-5
            )

    @pytest.mark.parametrize("plan", PLANS)
    def test_every_plan_on_grids_of_any_size(self, plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("capture.kernels.fused.PLANS", (Plan(float("inf"), plan.tile, plan.depth),))
        for width, height in [*SIZES, (129, 65), (240, 112), (121, 300)]:
            tanks = [tank_of(name, width, height, "cuda:0") for name in ("fused", "reference")]
            for tank in tanks:
                tank.step()
            np.testing.assert_allclose(
                tanks[0].heights.numpy(), tanks[1].heights.numpy(), rtol=0.0, atol=1e-5
            )

    def test_a_thousand_frames(self) -> None:
        tanks = [tank_of(name, 100, 70, "cuda:0", k_damp=0.0) for name in (*FAST, "reference")]
        for tank in tanks:
            for _ in range(1000):
                tank.step()
        for tank in tanks[:2]:
            np.testing.assert_allclose(tank.heights.numpy(), tanks[2].heights.numpy(), rtol=0.0, atol=1e-4)
