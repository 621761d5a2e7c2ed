"""`ripplescope check`: is the saved graph the loop that was recorded? `app.compare` does the comparing."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.numbers import whole
from replay.errors import UsageError
from replay.text import printable

if TYPE_CHECKING:
    from app.compare import Comparison
    from replay.graph.model import Capture


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    from app.commands.view import TRUST_HELP

    parser.add_argument("path", nargs="?", help="a .wrp capture; without one, a wave frame is recorded")
    parser.add_argument("--frames", type=whole, default=100, help="how many frames to run (default: 100)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")
    parser.add_argument("--trust", action="store_true", help=TRUST_HELP)


def run(args: argparse.Namespace) -> int:
    """Run the comparison; return 0 if all agree, 1 if they differ."""
    if args.frames < 1:
        raise UsageError(f"--frames is {args.frames}", remedy="take 1 or more")
    from replay.players import device_kind

    device_kind(args.device)
    from replay.graph.open import open_capture
    from replay.native import import_warp

    import_warp()
    if args.path is not None:
        from app.trust import require_trust

        capture = open_capture(Path(args.path))
        require_trust(capture, args.trust, args.device)
        return _check(capture, args.device, args.frames)
    from capture.frame import FrameSettings, record_frame

    with tempfile.TemporaryDirectory(prefix="ripplescope-check-") as folder:
        path = record_frame(FrameSettings(), Path(folder) / "frame", args.device)
        return _check(open_capture(path), args.device, args.frames)


def _check(capture: Capture, device: str, frames: int) -> int:
    from app.compare import compare_frame, compare_replays
    from replay.graph.check_variants import FIELD

    for fault in capture.faults:
        if fault.field == FIELD:
            print(f"note: {printable(str(fault))}")
    if capture.manifest is None:
        print(
            f"{printable(capture.path.name)} has no manifest: the loop it was recorded from is not known, so "
            "the eager loop and the live graph cannot be compared.\nComparing two loads of it instead."
        )
        comparison = compare_replays(capture, device, frames, progress=_progress(frames))
    else:
        comparison = compare_frame(capture, device, frames, progress=_progress(frames))
    print(report(capture, comparison))
    return 0 if comparison.agrees else 1


def report(capture: Capture, comparison: Comparison) -> str:
    """Return the table for people: a row a pair, then the verdict."""
    rows = [f"{'compared':<28}{'largest difference':>20}  {'frame':>6}  array"]
    for item in comparison.differences:
        frame = "-" if item.frame is None else str(item.frame)
        pair = " = ".join(item.pair)
        rows.append(f"{pair:<28}{item.largest:>20.9g}  {frame:>6}  {printable(item.name) or '-'}")
    asked = "equality bit for bit" if comparison.bound == 0 else f"at most {comparison.bound:g}"
    verdict = "agree" if comparison.agrees else "DIFFER"
    rows.append(
        f"{printable(capture.path.name)} on {comparison.device}: {comparison.frames} frames {verdict} "
        f"(asked: {asked})"
    )
    return "\n".join(rows)


def _progress(frames: int) -> Callable[[int], None] | None:
    """Return a counter for the terminal, None where the error stream is none."""
    if sys.stderr is None or not sys.stderr.isatty():
        return None

    def show(done: int) -> None:
        end = "\r\033[K" if done == frames else ""
        print(f"\rframe {done} of {frames}{end}", end="", file=sys.stderr, flush=True)

    return show
