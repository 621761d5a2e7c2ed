"""The solvers against each other: one frame of each as a live graph, grid by grid.

The reference is the published kernels, so a ratio is what a solver gains on them. The copy is a yardstick,
not a solver: it moves 12 bytes a cell a substep, what a launch a substep must move at least (two fields
read, one written), with the device's own copy. A solver that beats it keeps cells in fast memory between
substeps. How goals are reported is not the business of this module.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable
from typing import Any

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

REFERENCE, COPY = "reference", "copy, 12 B a cell"
# Smallest ratio to the reference that is good enough, by device kind, solver and side of the grid.
GOALS = {
    "cpu": {("tuned", 512): 20.0},
    "cuda": {
        ("tuned", 1024): 2.0,
        ("tuned", 2048): 2.0,
        ("tuned", 4096): 2.0,
        ("fused", 128): 2.2,
        ("fused", 1024): 4.0,
        ("fused", 2048): 5.0,
        ("fused", 4096): 5.0,
    },
}


class SolverPart(Part):
    """A frame of 16 substeps by every solver on square grids."""

    name = "solvers"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure each grid; the reference is the solver of that name."""
        from capture.device import find_device

        kind = "cuda" if find_device(plan.device).is_cuda else "cpu"
        measured: list[Measurement] = []
        for side in plan.grids:
            case = f"{side}x{side}"
            plan.say(f"{self.name} {case}")
            taken = time_rounds(_things(side, plan.device), plan.rounds, plan.seconds)
            base = statistics.median(taken[REFERENCE])
            goals = {name: base / ratio for (name, at), ratio in GOALS[kind].items() if at == side}
            measured += compare(self.name, case, taken, REFERENCE, unit="frames/s", goals=goals)
            gc.collect()  # the fields of this grid, before those of a larger one
        return measured


def _things(side: int, device_name: str) -> list[Timed]:
    import warp as wp

    from capture.device import find_device
    from capture.frame import FrameSettings, record_graph
    from capture.kernels import solvers
    from capture.tank import Tank

    device = find_device(device_name)

    def repeat(launch: Callable[[], Any]) -> Callable[[int], None]:
        def run(count: int) -> None:
            for _ in range(count):
                launch()
            wp.synchronize_device(device)

        return run

    things = []
    for name in solvers():
        settings = FrameSettings(width=side, height=side, solver=name)
        tank = Tank(settings, device)
        tank.set("mouse_pos", (side / 2.0, side / 2.0))
        things.append(Timed(name, repeat(record_graph(tank).launch)))

    # A copy of n bytes moves 2 n: one and a half fields a substep make 12 bytes a cell.
    source = wp.zeros(side * side * 3 // 2, dtype=wp.float32, device=device)
    target = wp.empty_like(source)

    def copies() -> None:
        for _ in range(settings.substeps):
            wp.copy(target, source)

    things.append(Timed(COPY, repeat(copies)))
    return things
