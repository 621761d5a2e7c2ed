"""`ripplescope export`: a film, pictures or heights out of a session. The work is in `app.export`."""

from __future__ import annotations

import argparse
import math
import re
import signal
import sys
import time
from pathlib import Path

from app.numbers import decimal
from replay.errors import UsageError
from replay.text import printable

_INTERVAL = 0.2


def frame_range(text: str) -> tuple[int, int | None]:
    """Parse `A:B`: the first frame, counted from 0, and the one after the last; either may be left away.

    Raises:
        UsageError: no such range.
    """
    first, sign, stop = text.partition(":")
    if not sign or not all(part == "" or re.fullmatch("[0-9]{1,9}", part) for part in (first, stop)):
        raise UsageError(f"--frames {text!r} is no range", remedy="give A:B, such as 0:120 or 60:")
    return int(first or 0), int(stop) if stop else None


def rate(text: str) -> float:
    """Parse pictures a second.

    Raises:
        UsageError: no number from 1 to 1000.
    """
    return _between(text, 1, 1000, "--fps", "frame rate")


def heights_range(text: str) -> tuple[float, float] | None:
    """Parse `LOW,HIGH` in m, or `fit`, which gives None.

    Raises:
        UsageError: neither, or not in this order.
    """
    if text == "fit":
        return None
    try:
        low, high = (decimal(part) for part in text.split(","))
    except ValueError:
        low = high = 0.0
    if not low < high:
        raise UsageError(
            f"--range {text!r} is no range of heights",
            remedy="give LOW,HIGH in m, such as --range=-0.05,0.05, or fit",
        )
    return low, high


def factor(text: str) -> float:
    """Parse a factor on the heights that are shown.

    Raises:
        UsageError: no number from 0.1 to 100.
    """
    from app.look import FACTORS

    return _between(text, *FACTORS, "--exaggeration", "factor")


def _between(text: str, low: float, high: float, option: str, noun: str) -> float:
    try:
        value = decimal(text)
    except ValueError:
        value = math.nan  # in no range
    if not low <= value <= high:
        raise UsageError(f"{option} {text!r} is no {noun}", remedy=f"give a number from {low:g} to {high:g}")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.view import TRUST_HELP, window_size

    parser.add_argument("session", metavar="SESSION", type=Path, help="a file made by --record-session")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--mp4", metavar="OUT.mp4", type=Path, help="a film")
    target.add_argument("--png-dir", metavar="DIR", type=Path, help="a new folder of PNG pictures")
    target.add_argument("--npz", metavar="OUT.npz", type=Path, help="the heights, with dt and dx")
    parser.add_argument(
        "--size", metavar="WxH", type=window_size, default=(1280, 720), help="of pictures (default: 1280x720)"
    )
    parser.add_argument(
        "--fps", metavar="N", type=rate, help="pictures a second of simulated time (default: one a frame)"
    )
    parser.add_argument(
        "--frames", metavar="A:B", type=frame_range, default=(0, None),
        help="from frame A, counted from 0, up to but not including B (default: all)",
    )  # fmt: skip
    shown = parser.add_argument_group("how it is shown, in place of what was recorded")
    shown.add_argument("--mode", choices=("water", "data"), help="light and shadow, or colours by height")
    shown.add_argument("--colour-map", metavar="NAME", help="of the data mode, such as viridis")
    shown.add_argument(
        "--range", metavar="LOW,HIGH", type=heights_range, default=..., help="of the colour map, m; or fit"
    )
    shown.add_argument(
        "--exaggeration", metavar="X", type=factor, help="factor on the heights that are shown"
    )
    shown.add_argument(
        "--contours", action=argparse.BooleanOptionalAction, help="lines of equal height, in data mode"
    )
    shown.add_argument("--axes", action=argparse.BooleanOptionalAction, help="scale bar and axes")
    parser.add_argument(
        "--quality", choices=("high", "medium", "low", "draft"), default="high",
        help="how much work goes into a picture (default: high; a software renderer takes its time for it)",
    )  # fmt: skip
    parser.add_argument("--top-view", action="store_true", help="from above, without OpenGL")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: as recorded)")
    parser.add_argument(
        "--graph", metavar="PATH", type=Path, help="the capture, in place of the recorded one"
    )
    parser.add_argument("--trust", action="store_true", help=TRUST_HELP)


def run(args: argparse.Namespace) -> int:
    """Export; progress goes to the standard error. SIGTERM ends it as Ctrl+C does, without a half file."""
    # The window cancels so: what a shell started in the background ignores SIGINT, and so do its children.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return _export(args)
    finally:
        signal.signal(signal.SIGTERM, before)


def _export(args: argparse.Namespace) -> int:
    from app.export.run import ExportPlan, export_session
    from app.export.sinks import check_output
    from app.sessions import SessionOpener
    from app.view.options import Quality
    from replay.session.format import Cause

    if args.mp4 is not None:
        check_output(args.mp4, ".mp4")
    if args.npz is not None:
        check_output(args.npz, ".npz")
    kind = "mp4" if args.mp4 is not None else "npz" if args.npz is not None else "png"
    path = args.mp4 or args.npz or args.png_dir
    quality, look = Quality(args.quality), look_asked(args)
    plan = ExportPlan(kind, path, args.size, args.fps, args.frames, args.top_view, quality, look)
    opener = SessionOpener(args.device, args.graph, args.trust)
    meter = _Meter()
    try:
        done = export_session(args.session, plan, opener, meter)
    finally:
        meter.close()
    if done.ending is not None and done.ending.cause is not Cause.CLOSED:
        print(f"ripplescope: {printable(str(args.session))}: the session {done.ending.text}", file=sys.stderr)
    noun = (
        "frames of heights" if kind == "npz" else f"pictures of {args.size[0]}x{args.size[1]}, {done.source}"
    )
    print(f"exported  {printable(str(path))}: {done.frames} {noun}")
    return 2 if done.ending is not None and done.ending.cause is Cause.DAMAGED else 0


def look_asked(args: argparse.Namespace) -> dict[str, object]:
    """Return what the command line says of the look.

    Raises:
        UsageError: there is no such colour map.
    """
    look: dict[str, object] = {} if args.range is ... else {"fixed_range": args.range}
    for name in ("mode", "colour_map", "exaggeration", "contours", "axes"):
        if getattr(args, name) is not None:
            look[name] = getattr(args, name)
    if args.colour_map is not None:
        from app.view import colormaps

        colormaps.table(args.colour_map)
        look.setdefault("mode", "data")
    return look


class _Meter:
    """Progress on the standard error: a line that is written over on a terminal, else lines."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._shown = 0.0
        self._open = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if done < total and now - self._shown < _INTERVAL:
            return
        self._shown = now
        text = f"frame {done}/{total}"
        print(
            f"\r{text}" if self._terminal else text,
            end="" if self._terminal else "\n",
            file=sys.stderr,
            flush=True,
        )
        self._open = self._terminal

    def close(self) -> None:
        """End the line."""
        if self._open:
            print(file=sys.stderr)
