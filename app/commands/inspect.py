"""`ripplescope inspect PATH`: what a capture holds and what is wrong with it. Executes nothing.

As text for a person, as JSON with everything, or its graph as a DOT file or an SVG picture.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import UsageError

if TYPE_CHECKING:
    from replay.graph.model import Capture

_ROOM = (1200.0, 800.0)  # what an SVG is laid out for, in pixels


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a .wrp file, with or without the extension")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the complete model as JSON")
    form.add_argument(
        "--dot", metavar="OUT", help="write the folded graph for Graphviz; - for standard output"
    )
    form.add_argument(
        "--svg", metavar="OUT", help="write the folded graph as a picture; - for standard output"
    )
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="colours of the picture")


def run(args: argparse.Namespace) -> int:
    """Print or write the account; return 0 for a file that opens, whatever is wrong with it."""
    from replay.graph.open import open_capture

    capture = open_capture(args.path)
    if args.json:
        from replay.graph.tell_json import write_json

        write_json(capture, sys.stdout)
    elif args.dot is not None or args.svg is not None:
        _write(args.dot or args.svg, _picture(capture, args.dot is not None, args.theme), args.path)
    else:
        from replay.graph.tell import tell

        sys.stdout.write(tell(capture))
    return 0


def _picture(capture: Capture, dot: bool, theme: str) -> str:
    from replay.graph import export
    from replay.graph.flow import data_flow
    from replay.graph.fold import fold_capture
    from replay.graph.layout import lay_out

    picture = lay_out(capture, data_flow(capture), fold_capture(capture), room=_ROOM)
    if dot:
        return export.to_dot(capture, picture)
    title = f"{capture.path.name}: {len(capture.operations)} operations"
    return export.to_svg(picture, export.THEMES[theme], title=title)


def _write(place: str, text: str, capture: Path) -> None:
    if place == "-":
        sys.stdout.write(text)
        return
    path = Path(place)
    try:
        if path.suffix == ".wrp" or (path.exists() and capture.exists() and path.samefile(capture)):
            raise UsageError(f"{path} is a capture", remedy="choose another name for the picture")
        path.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot write {path}: {reason}", remedy="choose another place") from None
