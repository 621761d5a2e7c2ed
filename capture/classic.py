"""The classic case of the audit: a simulation that keeps time in Python and swaps two arrays in Python.

Recorded with an even number of substeps its references end where they began; with an odd number each
replay starts from the wrong array. Its kernel adds one to every cell, so that a cell counts the substeps
that acted on it. It is an example of code that a capture breaks; the wave tank does neither.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from capture.audit import AuditReport, audit
from capture.kernels.classic import count

CELLS = 16


class Simulation:
    """Two states that take turns, and a tick."""

    def __init__(self, substeps: int, device: Any) -> None:
        self.substeps = substeps
        self.sim_tick = 0
        self.states = [wp.zeros(CELLS, dtype=float, device=device) for _ in range(2)]

    def simulate(self) -> None:
        """Advance by one frame."""
        for _ in range(self.substeps):
            wp.launch(count, dim=CELLS, inputs=self.states, device=self.states[0].device)
            self.sim_tick += 1
            self.states[0], self.states[1] = self.states[1], self.states[0]


@dataclass(frozen=True)
class Outcome:
    """What the audit says of one number of substeps, and what a replay then does.

    Attributes:
        substeps, frames: of the run.
        report: the audit of the recording.
        eager_steps, replayed_steps: substeps that acted on the result after all frames.
        eager_tick, replayed_tick: `sim_tick` after all frames.
    """

    substeps: int
    frames: int
    report: AuditReport
    eager_steps: int
    replayed_steps: int
    eager_tick: int
    replayed_tick: int


def run_classic(substeps: int, device: Any, frames: int = 3) -> Outcome:
    """Run the classic case eagerly and as a graph, and audit the recording."""
    wp.load_module(count.module, device=device)
    eager = Simulation(substeps, device)
    for _ in range(frames):
        eager.simulate()
    recorded = Simulation(substeps, device)
    with audit(watch={"self": recorded}) as report:
        with wp.ScopedCapture(device=device) as capture:
            recorded.simulate()
    for _ in range(frames):
        wp.capture_launch(capture.graph)
    return Outcome(
        substeps=substeps,
        frames=frames,
        report=report,
        eager_steps=_steps(eager),
        replayed_steps=_steps(recorded),
        eager_tick=eager.sim_tick,
        replayed_tick=recorded.sim_tick,
    )


def _steps(simulation: Simulation) -> int:
    return int(np.max(simulation.states[0].numpy()))
