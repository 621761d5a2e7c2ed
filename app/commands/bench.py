"""`ripplescope bench`: measures speed, prints a table, and writes everything as JSON.

What is measured is in `app/bench/`; a new subject is one more entry in `all_parts`.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from app.outputs import check_output_path
from replay.errors import DisplayError, UsageError

if TYPE_CHECKING:
    from app.bench.parts import Part

CPU_GRIDS = (64, 128, 256, 512)
CUDA_GRIDS = (64, 128, 256, 512, 1024, 2048, 4096, 8192)
QUICK_GRIDS = (64, 128)
PARTS = ("replay", "solvers", "reader", "graph", "panel", "events", "view", "start")


def grid_list(text: str) -> tuple[int, ...]:
    """Parse `64,128,...`: sides in cells, from 3 to 8192.

    Raises:
        UsageError: something else.
    """
    sides = text.split(",")
    if not all(re.fullmatch(" *[0-9]{1,4} *", side) and 3 <= int(side) <= 8192 for side in sides):
        raise UsageError(
            f"--grids {text!r:.80} is no list of grids", remedy="give sides in cells, such as 64,256"
        )
    return tuple(int(side) for side in sides)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--json", type=Path, metavar="OUT", help="write everything to this file")
    parser.add_argument("--quick", action="store_true", help="small grids and few rounds")
    parser.add_argument("--grids", type=grid_list, metavar="N,N", help="sides of the grids to replay")
    parser.add_argument("--part", choices=PARTS, action="append", help="only this part (may be repeated)")
    parser.add_argument(
        "--view", dest="part", action="append_const", const="view", help="the same as --part view"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")


def all_parts() -> list[Part]:
    """Return every part, in the order in which they run."""
    from app.bench.events import EventsPart
    from app.bench.graph import GraphPart
    from app.bench.panel import PanelPart
    from app.bench.reader import ReaderPart
    from app.bench.replay import ReplayPart
    from app.bench.solvers import SolverPart
    from app.bench.start import StartPart
    from app.bench.view import ViewPart

    return [
        ReplayPart(), SolverPart(), ReaderPart(), GraphPart(), PanelPart(),
        EventsPart(), ViewPart(), StartPart(),
    ]  # fmt: skip


def run(args: argparse.Namespace) -> int:
    """Run the parts. A missed goal is told in the table; it is no failure, since machines are noisy."""
    if args.json is not None:
        check_output_path("--json", args.json)
    from app.bench import report
    from app.bench.parts import Measurement, Plan
    from capture.device import find_device

    device = find_device(args.device)
    grids = args.grids or (QUICK_GRIDS if args.quick else CUDA_GRIDS if device.is_cuda else CPU_GRIDS)
    measured: list[Measurement] = []
    notes: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="ripplescope-bench-") as folder:
        plan = Plan(
            device=str(device),
            grids=grids,
            rounds=3 if args.quick else 7,
            seconds=0.02 if args.quick else 0.2,
            operations=10_000 if args.quick else 100_000,
            folder=Path(folder),
            say=_progress,
        )
        for part in all_parts():
            if not args.part or part.name in args.part:
                try:
                    measured += part.measure(plan)
                except DisplayError as error:
                    if args.part:
                        raise
                    notes[part.name] = f"not measured: {error}"
                notes |= part.notes
    _progress("")
    machine = report.this_machine(device.name)
    print(report.table(machine, measured))
    for name, text in notes.items():
        print(f"{name}: {text}")
    if args.json is not None:
        settings = {
            "quick": args.quick,
            "grids": grids,
            "rounds": plan.rounds,
            "seconds": plan.seconds,
            "operations": plan.operations,
            "device": plan.device,
            "notes": notes,
        }
        report.write(args.json, report.document(machine, measured, settings))
    return 0


def _progress(words: str) -> None:
    """Say on standard error what is measured now: on one line in a terminal, a line each elsewhere."""
    if sys.stderr.isatty():
        print(f"\r\033[K{words}", end="", file=sys.stderr, flush=True)
    elif words:
        print(f"bench: {words}", file=sys.stderr, flush=True)
