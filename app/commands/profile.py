"""`ripplescope profile`: what each event costs. `replay.events.cost` measures; this prints."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from app.numbers import whole
from replay.errors import UsageError
from replay.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from replay.events.cost import EventCost, NestedCost, Profile
    from replay.graph.model import Capture, Operation

_ROWS = 200  # folded rows that are printed; --json has all events


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.view import TRUST_HELP, assignment

    parser.add_argument("path", metavar="PATH", type=Path, help="a .wrp file, with or without the extension")
    parser.add_argument(
        "--repeats", type=whole, default=20, metavar="R", help="launches of each event (default: 20)"
    )
    parser.add_argument(
        "--param", type=assignment, action="append", default=[], metavar="NAME=VALUE", help="set a parameter"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")
    parser.add_argument("--json", action="store_true", help="print all events as JSON")
    parser.add_argument("--trust", action="store_true", help=TRUST_HELP)


def run(args: argparse.Namespace) -> int:
    """Measure and print."""
    from app.commands.state import set_parameters
    from app.trust import require_trust
    from replay.events.cost import profile_operations
    from replay.graph.open import open_capture
    from replay.players import open_player

    if args.repeats < 1:
        raise UsageError(f"--repeats is {args.repeats}", remedy="take 1 or more")
    capture = open_capture(args.path)
    require_trust(capture, args.trust, args.device)
    with open_player(capture, args.device) as player:
        set_parameters(player, dict(args.param))
        start = player.snapshot()
        profile = profile_operations(capture, start, args.repeats, progress=_progress())
    if args.json:
        json.dump(to_json(capture, profile), sys.stdout, indent=1)
        print()
    else:
        print(report(capture, profile))
    return 0


def to_json(capture: Capture, profile: Profile) -> dict[str, object]:
    """Return the profile as a JSON object; times in microseconds."""
    return {
        "path": str(capture.path),
        "device": profile.device,
        "device_name": profile.device_name,
        "repeats": profile.repeats,
        "frame_us": profile.frame_seconds * 1e6,
        "launch_us": profile.launch_seconds * 1e6,
        "events": [
            {
                "event": item.event,
                "label": capture.operations[item.event].label,
                "us": item.seconds * 1e6,
                "share": item.share,
                "bytes": item.nbytes,
                "bytes_provenance": item.provenance.value,
                "gb_per_s": None if item.bytes_per_second is None else item.bytes_per_second / 1e9,
                "measured": item.measured,
            }
            for item in profile.events
        ],
        "nested": [
            {
                "event": item.event,
                "parent": item.parent,
                "label": capture.operations[item.event].label,
                "us": None if item.seconds is None else item.seconds * 1e6,
                "bytes": item.nbytes,
                "bytes_provenance": item.provenance.value,
                "note": item.note,
            }
            for item in profile.nested
        ],
    }


def report(capture: Capture, profile: Profile) -> str:
    """Return the table for people: runs of launches of one kernel and shape folded into a row, with sums."""
    rows = [f"{'event':>11}  {'operation':<36}{'us':>10}{'each':>10}{'share':>8}{'bytes':>15}{'GB/s':>9}"]
    groups = _runs(capture, profile.events)
    inside: dict[int, list[NestedCost]] = {}
    for nested in profile.nested:
        inside.setdefault(nested.parent, []).append(nested)
    for label, items in groups[:_ROWS]:
        rows.append(_row(label, items))
        for item in items:
            rows += _inside(capture, inside, item.event, 1)
    if len(rows) > 2 * _ROWS:
        rows = [*rows[: 2 * _ROWS], f"{'':>11}  ... and more rows; --json lists all events"]
    if len(groups) > _ROWS:
        rows.append(f"{'':>11}  ... and {len(groups) - _ROWS} more rows; --json lists all events")
    total = sum(item.seconds for item in profile.events)
    rows.append(f"{'sum':>11}  {counted(len(profile.events), 'event'):<36}{total * 1e6:>10.2f}")
    rows.append(f"{'frame':>11}  {'all in one launch':<36}{profile.frame_seconds * 1e6:>10.2f}")
    rows.append(
        f"{printable(capture.path.name)} on {profile.device} ({profile.device_name}); median of "
        f"{profile.repeats}, each event alone on the state it meets, less "
        f"{profile.launch_seconds * 1e6:.2f} us for no event"
    )
    if profile.nested:
        rows.append(
            "The row of an IF or WHILE is all that runs inside of it. The rows below it are one launch each, "
            "in the first iteration; they are not added to the sum."
        )
    if any(
        item.nbytes is not None and item.provenance.value != "known"
        for item in (*profile.events, *profile.nested)
    ):
        rows.append(
            "~ at most so many bytes: whether the kernel reads an array, writes it or both is not known, "
            "so both are counted."
        )
    if not all(item.measured for item in profile.events):
        rows.append("* not measured: the time of the last measured event of the same kernel and shape.")
    return "\n".join(rows)


def _inside(capture: Capture, inside: dict[int, list[NestedCost]], event: int, depth: int) -> Iterator[str]:
    """Yield a row for each operation inside of an IF or WHILE, in its order."""
    branch = ""
    for item in inside.get(event, ()):
        operation = capture.operations[item.event]
        indent = "  " * min(depth, 8)
        if operation.branch != branch and capture.operations[event].kind.name == "IF":
            yield f"{'':>11}  {indent}{operation.branch}:"
        branch = operation.branch
        name = f"{indent}{_label(operation)}"[:35]
        if item.seconds is None:
            yield f"{item.event:>11}  {name:<36}{'-':>9} {item.note}"
        else:
            sign = "" if item.provenance.value == "known" else "~"
            nbytes = "-" if item.nbytes is None else f"{sign}{item.nbytes:,}"
            fast = item.nbytes and item.seconds > 0
            speed = f"{(item.nbytes or 0) / item.seconds / 1e9:.1f}" if fast else "-"
            each = item.seconds * 1e6
            yield f"{item.event:>11}  {name:<36}{'':>10}{each:>10.2f}{'':>8}{nbytes:>15}{speed:>9}"
        yield from _inside(capture, inside, item.event, depth + 1)


def _label(operation: Operation) -> str:
    shape = f" [{'x'.join(map(str, operation.shape))}]" if operation.shape else ""
    return printable(operation.label) + shape


def _runs(capture: Capture, events: Sequence[EventCost]) -> list[tuple[str, list[EventCost]]]:
    """Return runs of neighbours that launch one kernel over one shape."""
    runs: list[tuple[str, list[EventCost]]] = []
    for item in events:
        label = _label(capture.operations[item.event])
        if runs and runs[-1][0] == label:
            runs[-1][1].append(item)
        else:
            runs.append((label, [item]))
    return runs


def _row(label: str, items: list[EventCost]) -> str:
    count = len(items)
    number = f"{items[0].event}" if count == 1 else f"{items[0].event}-{items[-1].event}"
    name = label if count == 1 else f"{label} x{count}"
    seconds = sum(item.seconds for item in items)
    marks = "" if all(item.measured for item in items) else "*"
    sizes = [item.nbytes for item in items if item.nbytes is not None]
    nbytes, speed = "-", "-"
    if len(sizes) == count:
        sign = "" if all(item.provenance.value == "known" for item in items) else "~"
        nbytes = f"{sign}{sum(sizes):,}"
        speed = f"{sum(sizes) / seconds / 1e9:.1f}" if seconds > 0 else "-"
    return (
        f"{number:>11}  {name[:35]:<36}{seconds * 1e6:>9.2f}{marks or ' '}{seconds / count * 1e6:>10.2f}"
        f"{sum(item.share for item in items):>8.1%}{nbytes:>15}{speed:>9}"
    )


def _progress() -> Callable[[int, int], None] | None:
    """Return a counter for the terminal, None where the error stream is none."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(done: int, count: int) -> None:
        end = "\r\033[K" if done == count else ""
        print(f"\rmeasured {done} of {count}{end}", end="", file=sys.stderr, flush=True)

    return show
