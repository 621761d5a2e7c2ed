"""Runs one frame of every solver on small and odd grids, for compute-sanitizer to watch; no test by itself.

Every tile of the fused solver and both forms of the tuned one are taken on grids that would not choose them.
The basin holds walls, an absorbing border, a source and a probe.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
import warp as wp

from capture.frame import FrameSettings
from capture.kernels import fused, solvers, tuned
from capture.tank import Tank

GRIDS = ((3, 3), (5, 3), (37, 29), (68, 53), (131, 70))
SUBSTEPS = (1, 3, 16)


def advance(solver: str, grid: tuple[int, int], substeps: int, device: str) -> None:
    """Push the water of a grid and advance it by two frames."""
    width, height = grid
    tank = Tank(FrameSettings(width=width, height=height, substeps=substeps, solver=solver), device)
    tank.set("mouse_pos", (width - 1.0, height / 2.0))
    tank.set("pointer_from", (0.0, 0.0))
    if solver == "basin":
        walls = np.zeros((height, width), np.uint8)
        walls[height // 2, : width // 2] = 1
        tank.named("walls").assign(walls)
        tank.named("border").assign(np.array([1], np.int32))
        for name, value in (
            ("source_pos", (0.0, height - 1.0)), ("source_freq", 4.0), ("source_amp", 0.1), ("source_on", 1),
            ("probe_pos", (width - 1.0, 0.0)),
        ):  # fmt: skip
            held = tank.named(name).numpy()
            held[0] = value
            tank.named(name).assign(held)
    for _ in range(2):
        tank.step()
    wp.synchronize_device(device)


def main() -> None:
    """Run every solver in every form."""
    wp.config.quiet = True
    device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
    plans, small = fused.PLANS, tuned.SMALL_CELLS
    count = 0
    for grid in GRIDS:
        for substeps in SUBSTEPS:
            for solver in solvers():
                for plan in plans if solver == "fused" and substeps > 1 else plans[:1]:
                    for cells in (small, 0) if solver == "tuned" else (small,):
                        tuned.SMALL_CELLS = cells
                        fused.PLANS = (replace(plan, cells=float("inf")),)
                        advance(solver, grid, substeps, device)
                        count += 1
    print(f"{count} frames of {len(solvers())} solvers")


if __name__ == "__main__":
    main()
