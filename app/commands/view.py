"""The viewer and its two windowless forms: the arguments of `ripplescope` without a command name.

`--smoke` checks the whole chain without OpenGL, `--headless` renders into a picture, and without
either a window opens. The work is in `app.smoke`, `app.headless` and `app.loop`.
"""

from __future__ import annotations

import argparse
import math
import re
from pathlib import Path

from app.numbers import decimal, exact
from replay.errors import UsageError

_SIZE = re.compile(r"([0-9]{1,9})[xX]([0-9]{1,9})")
_CLICK = re.compile(r"([^,@]+),([^,@]+)(?:@([0-9]{1,9}))?")
LARGEST_PICTURE = 16384
TRUST_HELP = "replay a capture that was not recorded here without asking, now and from now on"


def window_size(text: str) -> tuple[int, int]:
    """Parse `WxH` in pixels.

    Raises:
        UsageError: not two numbers from 16 to 16384 with an `x` between.
    """
    match = _SIZE.fullmatch(text)
    size = (int(match[1]), int(match[2])) if match else (0, 0)
    if not all(16 <= side <= LARGEST_PICTURE for side in size):
        raise UsageError(
            f"--size {text!r} is not a size",
            remedy=f"give WIDTHxHEIGHT in pixels from 16 to {LARGEST_PICTURE}, such as 800x600",
        )
    return size


def click(text: str) -> tuple[float, float, int]:
    """Parse `X,Y[@FRAME]`: cell coordinates and the frame of the push (0 if not given).

    Raises:
        UsageError: not two finite numbers and a frame.
    """
    match = _CLICK.fullmatch(text)
    try:
        x, y = (decimal(match[1]), decimal(match[2])) if match else (math.nan, math.nan)
    except ValueError:
        x = y = math.nan
    if not (math.isfinite(x) and math.isfinite(y)):
        raise UsageError(
            f"--click {text!r} is not a place",
            remedy="give X,Y or X,Y@FRAME in cells of the grid, such as 64,64@5",
        )
    return x, y, int(match[3] or 0) if match else 0


def assignment(text: str) -> tuple[str, tuple[float, ...]]:
    """Parse `NAME=VALUE[,VALUE...]`.

    Raises:
        UsageError: no name, or no number.
    """
    name, sign, values = text.partition("=")
    try:
        numbers = tuple(exact(value) for value in values.split(","))
    except ValueError:
        numbers = ()
    if not name.strip() or not sign or not numbers:
        raise UsageError(f"--param {text!r} is not NAME=VALUE", remedy="give a number, such as k_speed=40")
    return name.strip(), numbers


def count(text: str) -> int:
    """Parse a count from 1 up.

    Raises:
        UsageError: no whole number from 1 up.
    """
    value = int(text) if re.fullmatch("[0-9]{1,9}", text) else 0
    if value < 1:
        raise UsageError(f"{text!r} is not a count", remedy="give a whole number from 1 up")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `ripplescope` without a command name."""
    from app.version import VERSION

    parser.add_argument(
        "path",
        nargs="?",
        type=Path,
        metavar="PATH",
        help="a .wrp or a session to open; default: the wave demo",
    )
    parser.add_argument(
        "--scene", metavar="NAME|FILE", help="a scene of the ripple tank: its name, or a .toml file"
    )
    parser.add_argument("--graph", type=Path, metavar="PATH", help="the same as PATH")
    parser.add_argument(
        "--device", default="auto", metavar="D", help="auto, cpu, cuda or cuda:N (default: auto)"
    )
    parser.add_argument(
        "--smoke", action="store_true", help="check the whole chain without a display, then exit"
    )
    parser.add_argument("--headless", action="store_true", help="render without a display, then exit")
    parser.add_argument(
        "--frames", type=count, default=60, metavar="N", help="frames to replay headless (default: 60)"
    )
    parser.add_argument(
        "--size", type=window_size, default=None, metavar="WxH", help="size of window or picture"
    )
    parser.add_argument(
        "--click",
        type=click,
        action="append",
        default=[],
        metavar="X,Y[@FRAME]",
        help="push cell X,Y in FRAME",
    )
    parser.add_argument("--screenshot", type=Path, metavar="OUT.png", help="where the headless picture goes")
    parser.add_argument("--ui", action="store_true", help="include the panels in the headless picture")
    parser.add_argument(
        "--top-view", action="store_true", help="headless: the shaded top view, without OpenGL"
    )
    parser.add_argument(
        "--param", type=assignment, action="append", default=[], metavar="NAME=VALUE", help="set a parameter"
    )
    parser.add_argument(
        "--record-session", type=Path, metavar="FILE", help="record all that is done into this new file"
    )
    parser.add_argument("--no-vsync", action="store_true", help="do not wait for the display")
    parser.add_argument(
        "--free-run",
        action="store_true",
        help="one launch a frame, as fast as frames can be drawn (implies --no-vsync)",
    )
    parser.add_argument(
        "--transfer",
        choices=("auto", "interop", "shared", "copy"),
        default="auto",
        help="how heights get from CUDA to OpenGL (default: auto, the first that works)",
    )
    parser.add_argument("--trust", action="store_true", help=TRUST_HELP)
    parser.add_argument("--version", action="version", version=f"ripplescope {VERSION}")


def run(args: argparse.Namespace) -> int:
    """Run the smoke check, the headless renderer or the window."""
    if args.path and args.graph and args.path != args.graph:
        raise UsageError(f"two captures given, {args.path} and --graph {args.graph}", remedy="give one")
    path = args.path or args.graph
    if path is not None and (args.headless or args.smoke):
        from replay.session.format import is_session

        if is_session(path):
            raise UsageError(f"{path} is a session", remedy="replay it with 'ripplescope replay'")
    basin = None
    if args.scene is not None:
        if path is not None or args.smoke:
            raise UsageError(
                "--scene records its own capture", remedy="leave the path, --graph and --smoke out"
            )
        from app.basin.scenes import find_scene

        basin = find_scene(args.scene)
    if args.smoke:
        if args.record_session is not None:
            raise UsageError("--record-session has no use with --smoke", remedy="use --headless")
        from app.smoke import run_smoke

        return run_smoke(path, args.device, trust=args.trust)
    if args.headless:
        from app.headless import run_headless

        return run_headless(path, args, basin)
    if args.screenshot or args.ui or args.top_view:
        raise UsageError("--screenshot, --ui and --top-view need --headless", remedy="add --headless")
    from app.window import load_libraries

    load_libraries(headless=False)
    from app.loop import run_app

    return run_app(
        path,
        device=args.device,
        size=args.size or (1280, 800),
        vsync=not args.no_vsync,
        free_run=args.free_run,
        prefer=args.transfer,
        trust=args.trust,
        params=dict(args.param),
        record=args.record_session,
        basin=basin,
    )
