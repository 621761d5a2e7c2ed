"""The benchmark of the solvers: what it measures, and when a goal is missed."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.bench import solvers
from app.bench.parts import Plan
from capture.kernels import solvers as solver_names


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


def test_every_solver_and_the_copy_on_every_grid(tmp_path: Path) -> None:
    measured = solvers.SolverPart().measure(plan_of(tmp_path))
    assert [(one.case, one.name) for one in measured] == [
        (case, name) for case in ("12x12", "16x16") for name in (*solver_names(), solvers.COPY)
    ]
    for one in measured:
        assert one.goal is None
        assert one.seconds > 0.0
        assert (one.ratio == 1.0) == (one.name == "reference")


def test_a_goal_is_a_ratio_to_the_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(solvers.GOALS, "cpu", {("tuned", 12): 1e-6, ("fused", 12): 1e6})
    measured = {
        one.name: one for one in solvers.SolverPart().measure(plan_of(tmp_path)) if one.case == "12x12"
    }
    assert measured["fused"].goal == pytest.approx(measured["reference"].seconds / 1e6)
    assert measured["fused"].missed
    assert not measured["tuned"].missed
    assert not measured["reference"].missed
