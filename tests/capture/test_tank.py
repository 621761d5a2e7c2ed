"""The wave tank: the published kernels against exact solutions, a NumPy reference, and energy."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from capture.frame import record_graph
from capture.kernels import solver, solvers
from capture.settings import FrameSettings
from capture.tank import Tank
from replay.errors import RecordingError, RipplescopeError, UsageError


def tank_of(**settings: object) -> Tank:
    return Tank(FrameSettings(**{"width": 24, "height": 16, "substeps": 4} | settings), "cpu")


def mode_of(tank: Tank, m: int, n: int) -> npt.NDArray[np.float64]:
    """The mode cos(pi m (i+1/2)/W) cos(pi n (j+1/2)/H), an eigenvector of the clamped Laplacian."""
    width, height = tank.settings.width, tank.settings.height
    across = np.cos(np.pi * m * (np.arange(width) + 0.5) / width)
    down = np.cos(np.pi * n * (np.arange(height) + 0.5) / height)
    return np.outer(down, across)


class TestPhysics:
    @pytest.mark.parametrize("k_damp", [0.0, 1000.0])
    @pytest.mark.parametrize(("m", "n"), [(1, 0), (2, 3), (5, 7)])
    @pytest.mark.parametrize(("width", "height"), [(24, 16), (9, 31)])
    def test_cosine_mode_follows_its_recurrence(
        self, width: int, height: int, m: int, n: int, k_damp: float
    ) -> None:
        tank = tank_of(width=width, height=height, substeps=3, k_damp=k_damp)
        mode, frames = mode_of(tank, m, n), 30
        tank.set("heights", mode)
        tank.set("heights_prev", mode)
        eigenvalue = 2.0 * np.cos(np.pi * m / width) + 2.0 * np.cos(np.pi * n / height) - 4.0
        dt = float(np.float32(tank.settings.dt))
        now = before = 1.0
        for _ in range(frames):
            for _ in range(3):
                now, before = (
                    2.0 * now - before + dt**2 * (60.0 * eigenvalue / 0.1**2 * now - k_damp * (now - before)),
                    now,
                )
            tank.step()
            np.testing.assert_allclose(tank.heights.numpy(), now * mode, atol=2e-5)
        assert abs(now - 1.0) > 1e-2, "the mode must have moved for this to mean anything"

    def test_energy_is_kept_without_damping(self) -> None:
        tank = tank_of(width=12, height=10, substeps=16, k_damp=0.0)
        tank.set("mouse_pos", (4.0, 6.0))
        tank.step()
        tank.set("mouse_pos", (-1000.0, -1000.0))
        start = energy_of(tank)
        for _ in range(625):
            tank.step()
        assert int(tank.arrays["clock"].numpy()[0]) * 16 == 10_016
        assert energy_of(tank) == pytest.approx(start, rel=2e-3)

    def test_energy_never_grows_with_damping(self) -> None:
        tank = tank_of(width=12, height=10, substeps=16, k_damp=1000.0)
        tank.set("mouse_pos", (4.0, 6.0))
        tank.step()
        tank.set("mouse_pos", (-1000.0, -1000.0))
        start = last = energy_of(tank)
        for _ in range(625):
            tank.step()
            now = energy_of(tank)
            assert now <= last * (1.0 + 1e-5) + start * 1e-9
            last = now
        assert last < 1e-3 * start

    def test_stability_limit_is_where_the_settings_say(self) -> None:
        rule = FrameSettings().stability
        for share, stable in ((0.999, True), (1.05, False)):
            tank = tank_of(k_damp=0.0)
            tank.set("k_speed", share * 0.5 * 0.1**2 / tank.settings.dt**2)
            # the fastest mode of the grid, so that growth shows at once
            tank.set("heights", np.indices((16, 24)).sum(axis=0) % 2 * 2.0 - 1.0)
            tank.set("heights_prev", tank.heights.numpy())
            for _ in range(60):
                tank.step()
            peak = float(np.max(np.abs(tank.heights.numpy())))
            assert (peak < 100.0) is stable, rule


def energy_of(tank: Tank) -> float:
    """The quantity that the undamped leapfrog scheme keeps: kinetic plus a product of both gradients."""
    now = tank.heights.numpy().astype(np.float64)
    before = tank.arrays["heights_prev"].numpy().astype(np.float64)
    settings = tank.settings
    kinetic = np.sum(((now - before) / settings.dt) ** 2)
    slopes = sum(np.sum(np.diff(now, axis=axis) * np.diff(before, axis=axis)) for axis in (0, 1))
    return float(0.5 * (kinetic + settings.k_speed / settings.dx**2 * slopes))


def reference_step(
    now: npt.NDArray[np.float32], before: npt.NDArray[np.float32], settings: FrameSettings
) -> npt.NDArray[np.float32]:
    """One substep as design and published example state it, in float32."""
    f = np.float32
    wide = np.pad(now, 1, mode="edge")
    around = wide[1:-1, 2:] + wide[1:-1, :-2] + wide[2:, 1:-1] + wide[:-2, 1:-1]
    lap = (around - f(4) * now) * f(1 / settings.dx) * f(1 / settings.dx)
    dt = f(settings.dt)
    force = f(settings.k_speed) * lap - f(settings.k_damp) * (now - before)
    return f(2) * now - before + dt * dt * force


class TestKernels:
    def test_substeps_match_numpy(self) -> None:
        tank = tank_of(substeps=5)
        rng = np.random.default_rng(7)
        now = rng.normal(size=(16, 24)).astype(np.float32)
        before = (now + 0.01 * rng.normal(size=now.shape)).astype(np.float32)
        tank.set("heights", now)
        tank.set("heights_prev", before)
        tank.step()
        for _ in range(5):
            now, before = reference_step(now, before, tank.settings), now
        np.testing.assert_allclose(tank.heights.numpy(), now, atol=5e-6)
        np.testing.assert_allclose(tank.arrays["heights_prev"].numpy(), before, atol=5e-6)

    def test_push_is_the_published_one(self) -> None:
        tank = tank_of(k_speed=0.0, k_damp=0.0)
        tank.set("mouse_pos", (20.25, 3.5))
        tank.step()
        j, i = np.indices((16, 24))
        d2 = (i - 20.25) ** 2 + (j - 3.5) ** 2
        expected = np.where(d2 < 25.0, 0.3 * (1.0 - d2 / 25.0), 0.0)
        np.testing.assert_allclose(tank.heights.numpy(), expected, atol=1e-6)
        # both fields are pushed, so the water starts at rest
        np.testing.assert_allclose(tank.arrays["heights_prev"].numpy(), expected, atol=1e-6)

    def test_push_follows_the_path_of_the_pointer(self) -> None:
        tank = tank_of(k_speed=0.0, k_damp=0.0, radius=2.0)
        tank.set("pointer_from", (4.0, 8.0))
        tank.set("mouse_pos", (18.0, 8.0))
        tank.step()
        row = tank.heights.numpy()[8]
        np.testing.assert_allclose(row[4:19], 0.3, atol=1e-6)
        assert row[3] == pytest.approx(0.3 * (1 - 1 / 4), abs=1e-6)
        assert row[2] == row[20] == 0.0

    @pytest.mark.parametrize("radius", [5.0, 5000.0])
    def test_no_pointer_pushes_nothing(self, radius: float) -> None:
        tank = tank_of(radius=radius)
        tank.set("pointer_from", (4.0, 8.0))
        tank.step()
        assert not tank.heights.numpy().any()

    def test_clock_counts_frames(self) -> None:
        tank = tank_of()
        for _ in range(3):
            tank.step()
        assert tank.arrays["clock"].numpy().tolist() == [3]


class TestRecording:
    @pytest.mark.parametrize("substeps", [1, 2, 3, 4, 16])
    def test_live_graph_equals_eager_loop(self, substeps: int) -> None:
        eager, recorded = tank_of(substeps=substeps), tank_of(substeps=substeps)
        recording = record_graph(recorded)
        assert not recorded.heights.numpy().any(), "recording must not run anything"
        assert len(recording.carry) == (0 if substeps % 2 == 0 else 2)
        for frame in range(60):
            for tank in (eager, recorded):
                tank.set("mouse_pos", (frame % 24, 7.5) if frame % 9 < 4 else (-1000.0, -1000.0))
                tank.set("k_damp", 1000.0 + 10.0 * frame)
            eager.step()
            recording.launch()
            for name in ("heights", "heights_prev"):  # as bytes: -0.0 == 0.0
                assert recorded.named(name).numpy().tobytes() == eager.named(name).numpy().tobytes()
        assert eager.heights.numpy().any()
        assert recorded.arrays["clock"].numpy().tolist() == [60]


class TestSettings:
    @pytest.mark.parametrize(
        ("settings", "said"),
        [
            ({"width": 2}, "width is 2; sides go from 3 to 8192"),
            ({"height": -1}, "height is -1"),
            ({"width": 8193}, "needs 8.0 MiB of memory"),
            ({"height": 10**9}, "needs"),
            ({"width": 8.5}, "width is 8.5, not a whole number"),
            ({"substeps": True}, "substeps is True, not a whole number"),
            ({"substeps": 0}, "substeps is 0"),
            ({"substeps": 10_001}, "take 1 to 10000"),
            ({"frame_rate": 0.0}, "frame_rate is 0"),
            ({"dx": -0.1}, "dx is -0.1; it must be from 1e-06 to 1e+06"),
            ({"dx": 1e-200}, "dx is 1e-200; it must be from 1e-06 to 1e+06"),
            ({"frame_rate": 5e-324}, "it must be from 1e-06 to 1e+09"),
            ({"radius": 0.0}, "radius is 0; it must be greater than 0"),
            ({"radius": float("nan")}, "radius is nan, not a finite number"),
            ({"magnitude": "high"}, "magnitude is 'high', not a finite number"),
            ({"k_damp": -1.0}, "must not be negative"),
            ({"k_speed": 1e6}, "Courant number of 10.417, the limit is 0.700"),
            ({"k_damp": 1e7}, "unstable"),
            ({"solver": "fusd"}, "unknown solver 'fusd'; did you mean 'fused'?"),
        ],
    )
    def test_bad_settings(self, settings: dict[str, object], said: str) -> None:
        with pytest.raises(UsageError) as caught:
            FrameSettings(**settings)
        assert said in str(caught.value)

    def test_few_substeps_get_a_stable_frame_rate(self) -> None:
        one = FrameSettings(substeps=1)
        assert (one.asked_frame_rate, one.frame_rate) == (60.0, 113.0)
        assert one.stability.allows(60.0, 1000.0, one.dt)
        assert not one.stability.allows(60.0, 1000.0, 1.0 / 112.0)
        assert FrameSettings(substeps=2).frame_rate == 60.0
        assert FrameSettings().dt == 1.0 / 960.0

    def test_defaults_lie_within_their_ranges(self) -> None:
        for settings in (FrameSettings(), FrameSettings(radius=80.0, magnitude=-3.0, k_speed=0.0)):
            for entry in settings.parameters():
                if entry.minimum is not None and entry.maximum is not None:
                    assert isinstance(entry.default, float)
                    assert entry.minimum <= entry.default <= entry.maximum

    def test_memory_is_asked_for_before_it_is_taken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("capture.tank.free_memory", lambda device: 1 << 20)
        with pytest.raises(RecordingError, match=r"needs 1\.5 GiB on cpu, 1\.0 MiB are free"):
            Tank(FrameSettings(width=8192, height=8192), "cpu")


def test_registry() -> None:
    assert solvers()[0] == "tuned" == FrameSettings().solver
    assert solver("reference").launches(128, 128, 16, cuda=False) == 17
    with pytest.raises(RipplescopeError, match="unknown solver"):
        solver("none")


def test_signatures() -> None:
    displace, solve = solver("reference").signatures()
    assert displace.key == "wave_displace"
    assert [(a.name, a.dtype, a.access) for a in solve.arguments] == [
        ("heights", "array2d[float32]", "read"),
        ("heights_prev", "array2d[float32]", "read_write"),
        ("width", "int32", ""),
        ("height", "int32", ""),
        ("inv_dx", "float32", ""),
        ("k_speed", "array[float32]", "read"),
        ("k_damp", "array[float32]", "read"),
        ("dt", "array[float32]", "read"),
    ]
