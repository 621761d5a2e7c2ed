"""The solvers against each other: one frame of each as a live graph, grid by grid.

The reference is the published kernels, so a ratio is what a solver gains on them. The limit is a yardstick,
not a solver: the time that 12 bytes a cell a substep take at the device's copy speed, what a launch a substep
must move at least (two fields read, one written). The copy is measured in the same run, on arrays far beyond
the cache. A solver that beats the limit keeps cells in fast memory between substeps; so does the cache, for
small grids. How goals are reported is not the business of this module.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

REFERENCE, TUNED, FUSED, LIMIT = "reference", "tuned", "fused", "limit, 12 B a cell"
BYTES_A_CELL = 12
COPIED_BYTES = {"cpu": 1 << 28, "cuda": 1 << 30}  # in the array that is copied


@dataclass(frozen=True)
class Goal:
    """A solver is to be at least `ratio` times as fast as `against`, on grids of these sides."""

    kind: str
    solver: str
    against: str
    ratio: float
    lowest: int
    highest: int = 8192

    def applies(self, kind: str, side: int) -> bool:
        """Return whether it is about this kind of device and this grid."""
        return self.kind == kind and self.lowest <= side <= self.highest


GOALS = (
    Goal("cpu", TUNED, REFERENCE, 20.0, 512, 512),
    Goal("cpu", FUSED, TUNED, 0.95, 64),  # as fast, up to the noise of a run
    Goal("cuda", TUNED, REFERENCE, 1.0, 64),
    Goal("cuda", TUNED, REFERENCE, 2.0, 1024),
    Goal("cuda", FUSED, REFERENCE, 2.2, 128, 128),
    Goal("cuda", FUSED, REFERENCE, 4.0, 1024, 1024),
    Goal("cuda", FUSED, REFERENCE, 5.0, 2048, 4096),
    Goal("cuda", FUSED, LIMIT, 2.0, 4096, 4096),
)


class SolverPart(Part):
    """A frame of 16 substeps by every solver on square grids."""

    name = "solvers"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure the copy, then each grid; the reference is the solver of that name."""
        from capture.device import find_device

        device = find_device(plan.device)
        kind = "cuda" if device.is_cuda else "cpu"
        plan.say(f"{self.name} copy")
        speed = _copy_speed(device, COPIED_BYTES[kind], plan)
        measured: list[Measurement] = []
        for side in plan.grids:
            case = f"{side}x{side}"
            plan.say(f"{self.name} {case}")
            things, substeps = _things(side, device)
            taken = dict(time_rounds(things, plan.rounds, plan.seconds))
            limit = BYTES_A_CELL * side * side * substeps / speed
            taken[LIMIT] = [limit]
            goals = longest_times(
                kind, side, {name: statistics.median(times) for name, times in taken.items()}
            )
            compared = compare(self.name, case, taken, REFERENCE, unit="frames/s", goals=goals)
            measured += [replace(one, limit=limit) for one in compared]
            del things
            gc.collect()  # the fields of this grid, before those of a larger one
        return measured


def longest_times(kind: str, side: int, seconds: Mapping[str, float]) -> dict[str, float]:
    """Return the longest times in s that reach all goals, by solver.

    Args:
        kind: of the device, `cpu` or `cuda`.
        side: of the grid, in cells.
        seconds: median times by name, in s.
    """
    longest: dict[str, float] = {}
    for goal in GOALS:
        if goal.applies(kind, side):
            time = seconds[goal.against] / goal.ratio
            longest[goal.solver] = min(time, longest.get(goal.solver, time))
    return longest


def _things(side: int, device: Any) -> tuple[list[Timed], int]:
    """Return one frame of each solver as something to time, and the substeps in it."""
    import warp as wp

    from capture.frame import FrameSettings, record_graph
    from capture.kernels import solvers
    from capture.tank import Tank

    things = []
    for name in solvers():
        settings = FrameSettings(width=side, height=side, solver=name)
        tank = Tank(settings, device)
        tank.set("mouse_pos", (side / 2.0, side / 2.0))
        recording = record_graph(tank)
        # The graph alone: the substeps are even in number, so nothing is to be carried after it.
        things.append(Timed(name, _repeat(lambda held=recording: wp.capture_launch(held.graph), device)))
    return things, settings.substeps


def _copy_speed(device: Any, nbytes: int, plan: Plan) -> float:
    """Return how many bytes a second the device's own copy moves; each counts when read and when written."""
    import warp as wp

    source = wp.zeros(nbytes // 4, dtype=wp.float32, device=device)
    target = wp.empty_like(source)
    copy = Timed(LIMIT, _repeat(lambda: wp.copy(target, source), device))
    return 2.0 * nbytes / statistics.median(time_rounds([copy], plan.rounds, plan.seconds)[LIMIT])


def _repeat(once: Callable[[], Any], device: Any) -> Callable[[int], None]:
    import warp as wp

    def run(count: int) -> None:
        for _ in range(count):
            once()
        wp.synchronize_device(device)

    return run
