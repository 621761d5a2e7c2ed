"""The benchmark of the solvers: what it measures, and when a goal is missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bench import solvers
from app.bench.parts import Plan
from capture.kernels import solvers as solver_names


@pytest.fixture(autouse=True)
def small_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solvers, "COPIED_BYTES", {"cpu": 1 << 16, "cuda": 1 << 16})


def plan_of(folder: Path) -> Plan:
    return Plan(
        device="cpu",
        grids=(12, 16),
        rounds=1,
        seconds=0.001,
        operations=1,
        folder=folder,
        say=lambda words: None,
    )


def test_every_solver_and_the_limit_on_every_grid(tmp_path: Path) -> None:
    measured = solvers.SolverPart().measure(plan_of(tmp_path))
    assert [(one.case, one.name) for one in measured] == [
        (case, name) for case in ("12x12", "16x16") for name in (*solver_names(), solvers.LIMIT)
    ]
    for one in measured:
        assert one.goal is None
        assert one.seconds > 0.0
        assert (one.ratio == 1.0) == (one.name == "reference")
        assert one.share == pytest.approx(one.limit / one.seconds)
    limits = [one for one in measured if one.name == solvers.LIMIT]
    assert limits[1].seconds == pytest.approx(limits[0].seconds * (16 / 12) ** 2), "one copy speed for all"
    assert all(one.share == 1.0 for one in limits)


def test_a_goal_is_a_ratio_to_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goals = (
        solvers.Goal("cpu", "tuned", "reference", 1e-6, 12, 12),
        solvers.Goal("cpu", "fused", "reference", 1e6, 12),
    )
    monkeypatch.setattr(solvers, "GOALS", goals)
    measured = {
        one.name: one for one in solvers.SolverPart().measure(plan_of(tmp_path)) if one.case == "12x12"
    }
    assert measured["fused"].goal == pytest.approx(measured["reference"].seconds / 1e6)
    assert measured["fused"].missed
    assert not measured["tuned"].missed
    assert not measured["reference"].missed


def test_of_several_goals_the_hardest_counts() -> None:
    seconds = {"reference": 12.0, "tuned": 5.0, "fused": 1.5, solvers.LIMIT: 4.0}
    assert solvers.longest_times("cuda", 64, seconds) == {"tuned": 12.0}
    assert solvers.longest_times("cuda", 128, seconds)["fused"] == pytest.approx(12.0 / 2.2)
    assert solvers.longest_times("cuda", 1024, seconds) == {"tuned": 6.0, "fused": 3.0}
    assert solvers.longest_times("cuda", 4096, seconds) == {"tuned": 6.0, "fused": 2.0}
    assert solvers.longest_times("cpu", 512, seconds) == {"tuned": 0.6, "fused": pytest.approx(5.0 / 0.95)}
