"""Numbers of a range for people: in so many digits that its ends can be told apart. Values only."""

from __future__ import annotations

import math

_USUAL, _MOST = 4, 17


def digits_of(low: float, high: float, usual: int = _USUAL) -> int:
    """Return how many digits tell numbers between two finite ones apart; `usual` for a range from zero."""
    most, span = max(abs(low), abs(high)), abs(high - low)
    if not (math.isfinite(span) and span > 0):
        return usual
    return min(usual + max(math.floor(math.log10(most / span)), 0), _MOST)


def range_text(low: float, high: float) -> str:
    """Return a range in words: `-0.25 to 0.5`, or `all 0.5` where there is one value only."""
    if low == high:
        return f"all {low:.6g}"
    digits = digits_of(low, high)
    return f"{low:.{digits}g} to {high:.{digits}g}"
