"""`ripplescope inspect PATH [--json]`: what a capture holds and what is wrong with it. Executes nothing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="PATH", type=Path, help="a .wrp file, with or without the extension")
    parser.add_argument("--json", action="store_true", help="the complete model as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the account; return 0 for a file that opens, whatever is wrong with it."""
    from replay.graph.open import open_capture

    capture = open_capture(args.path)
    if args.json:
        from replay.graph.tell_json import write_json

        write_json(capture, sys.stdout)
    else:
        from replay.graph.tell import tell

        sys.stdout.write(tell(capture))
    return 0
