"""The lesson about capture: one loop that counts in Python and on the device, recorded to be replayed.

It is the classic case of the audit with a counter on the device beside the one in Python, saved as files
that any player replays. What the files are shown for is decided by who asks for them.
"""

from __future__ import annotations

import inspect
import json
import textwrap
from pathlib import Path
from typing import Any

import warp as wp

from capture.audit import audit
from capture.classic import CELLS
from capture.device import find_device
from capture.frame import recording
from capture.kernels.classic import advance, count
from replay.errors import RecordingError

CASES = ((1, False), (3, False), (4, False), (3, True))
"""Substeps, and whether the result is copied back to where the next frame starts."""
SUMMARY = "lesson.json"


class Simulation:
    """Two states that take turns, a counter in Python, and the same counter on the device."""

    def __init__(self, substeps: int, copies_back: bool, device: Any) -> None:
        self.substeps, self.copies_back = substeps, copies_back
        self.states = [wp.zeros(CELLS, dtype=float, device=device) for _ in range(2)]
        self.clock = wp.zeros(1, dtype=int, device=device)
        self.sim_tick = 0

    # fmt: off
    def simulate(self) -> None:
        """Advance by one frame."""
        first = self.states[0]
        for _ in range(self.substeps):
            wp.launch(count, dim=CELLS, inputs=self.states, device=first.device)
            wp.launch(advance, dim=1, inputs=[self.clock], device=first.device)
            self.sim_tick += 1
            self.states[0], self.states[1] = self.states[1], self.states[0]
        if self.copies_back and self.states[0] is not first:
            wp.copy(first, self.states[0])
    # fmt: on


def record_lesson(folder: Path, device: str = "cpu") -> list[Path]:
    """Record every case into an empty folder, and what was found into `SUMMARY`; return the `.wrp` files.

    A file names `start`, the array that a frame starts from, `result`, the array that `states[0]` was when
    the recording ended, and `clock`.

    Raises:
        DeviceError: no such device.
        RecordingError: it cannot be recorded or saved.
    """
    found = find_device(device)
    for kernel in (count, advance):
        wp.load_module(kernel.module, device=found)
    lines, first = inspect.getsourcelines(Simulation.simulate)
    told, paths = [], []
    for substeps, copies_back in CASES:
        simulation = Simulation(substeps, copies_back, found)
        start = simulation.states[0]
        with audit(watch={"self": simulation}) as report, recording(found) as graphs:
            simulation.simulate()
        path = folder / f"lesson-{substeps}{'-copied' if copies_back else ''}.wrp"
        try:
            wp.capture_save(
                graphs[0],
                str(path.with_suffix("")),
                inputs={"start": start, "clock": simulation.clock},
                outputs={"result": simulation.states[0]},
            )
        except (RuntimeError, OSError) as error:
            raise RecordingError(f"{path}: the graph cannot be saved: {error}") from error
        paths.append(path)
        told.append(
            {
                "file": path.name,
                "substeps": substeps,
                "copies_back": copies_back,
                "sim_tick": simulation.sim_tick,
                "swapped": simulation.states[0] is not start,
                **report.to_json(),
            }
        )
    code = {"lines": textwrap.dedent("".join(lines)).splitlines(), "first": first}
    (folder / SUMMARY).write_text(json.dumps({"code": code, "cases": told}, indent=1), "utf-8")
    return paths
