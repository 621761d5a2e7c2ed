"""Numbers as they are typed: ASCII digits, without the underscores and foreign digits that Python takes too.

What a number means, and its range, is the business of who asked for it.
"""

from __future__ import annotations

import argparse
import re

_WHOLE = re.compile(r"-?[0-9]{1,1000}")
_EXACT = 2.0**53  # a float holds every whole number up to here


def whole(text: str) -> int:
    """Parse a whole number, for argparse.

    Raises:
        argparse.ArgumentTypeError: something else.
    """
    if not _WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not a whole number")
    return int(text)


def exact(text: str) -> float | int:
    """Parse a number; one that is whole and that a float would round stays an integer.

    Raises:
        ValueError: no number.
    """
    value = decimal(text)
    return int(text) if abs(value) >= _EXACT and _WHOLE.fullmatch(text) else value


def decimal(text: str) -> float:
    """Parse a decimal number; `inf` and `nan` are numbers here.

    Raises:
        ValueError: something else.
    """
    if not text.isascii() or "_" in text:
        raise ValueError(f"{text!r:.60} is not a number")
    return float(text)
