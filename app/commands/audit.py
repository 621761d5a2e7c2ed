"""`ripplescope audit`: the capture audit on the classic case, with what a replay then does.

It shows what `capture.audit.audit` reports; on your own code, put that around your captured block.
"""

from __future__ import annotations

import argparse
import json
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capture.classic import Outcome


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "--substeps",
        type=_count,
        action="append",
        metavar="N",
        help="substeps of the case, repeatable (50 and 49)",
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (auto)")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    """Run the case for each number of substeps and print the reports."""
    from capture.device import find_device

    device = find_device(args.device)
    from capture.classic import run_classic

    outcomes = [run_classic(substeps, device) for substeps in args.substeps or (50, 49)]
    if args.json:
        print(json.dumps([_as_json(outcome) for outcome in outcomes], indent=2))
        return 0
    for outcome in outcomes:
        print(f"== {outcome.substeps} substeps, recorded once, replayed {outcome.frames} times ==")
        print(outcome.report.text())
        print(f"steps:    eager {outcome.eager_steps}, replay {outcome.replayed_steps}{_verdict(outcome)}")
        print(
            f"sim_tick: eager {outcome.eager_tick}, replay {outcome.replayed_tick}, "
            "since Python does not run on replay\n"
        )
    print(
        'on your own code: from capture.audit import audit; with audit(watch={"self": self}) as report: ...'
    )
    return 0


def _verdict(outcome: Outcome) -> str:
    lost = outcome.eager_steps - outcome.replayed_steps
    return ": the same" if lost == 0 else f": {lost} lost, since each replay starts from the wrong array"


def _as_json(outcome: Outcome) -> dict[str, object]:
    names = ("substeps", "frames", "eager_steps", "replayed_steps", "eager_tick", "replayed_tick")
    values = {name: getattr(outcome, name) for name in names}
    return {**values, **outcome.report.to_json()}


def _count(text: str) -> int:
    number = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if not 1 <= number <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a whole number from 1 to 10000")
    return number
