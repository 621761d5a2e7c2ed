"""`ripplescope diff A B`: what differs between two captures. Executes nothing.

Exit code 0 if they are equal, 1 if they differ, 2 if one of them cannot be read.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("old", metavar="A", type=Path, help="a .wrp file, with or without the extension")
    parser.add_argument("new", metavar="B", type=Path, help="the one to compare it with")
    parser.add_argument("--json", action="store_true", help="all differences as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the difference; return 1 if there is any."""
    from replay.errors import CaptureFileError
    from replay.graph.diff import diff
    from replay.graph.diff_tell import difference_json, tell_difference
    from replay.graph.open import open_capture

    old, new = open_capture(args.old), open_capture(args.new)
    for capture in (old, new):
        if not capture.producer and not len(capture.operations):
            raise CaptureFileError(
                f"format version {capture.format_version} cannot be compared", path=str(capture.path)
            )
    difference = diff(old, new)
    if args.json:
        json.dump(difference_json(difference, old, new), sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        sys.stdout.write(tell_difference(difference, old, new))
    return 0 if difference.equal else 1
