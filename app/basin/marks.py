"""Which mark of a source or a probe is under the pointer, as they are drawn, in window units. Values only.

How marks are drawn is in `app.panels.placed`, what becomes of one that is taken in `app.basin.tools`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from app.basin.projection import Place

HEAD = 17.0
"""How far the float of a probe is above its cell, at scale 1."""
REACH = 10.0
"""Radius of a mark, with its rim."""
DOT = 6.0
"""Radius of a source that is one of a long row."""
MANY = 8
"""More sources than these are dots without numbers while no hand is on them, or they hide the water."""

Mark = tuple[str, int]
"""The array that holds the places, `source_pos` or `probe_pos`, and the index in it."""


def mark_at(
    sources: Iterable[tuple[int, Place]],
    probes: Iterable[tuple[int, Place]],
    where: Place,
    scale: float,
    *,
    dots: bool = False,
) -> Mark | None:
    """Return the mark that is nearest to a place, None where there is none under it.

    Args:
        sources, probes: index and projected cell; NaN for what is behind the eye.
        where: the pointer.
        scale: of the marks.
        dots: whether sources are dots.
    """
    found: Mark | None = None
    nearest = REACH * scale
    for index, place in sources:
        distance = math.dist(place, where)
        if distance <= (min(DOT * scale, nearest) if dots else nearest):
            nearest, found = distance, ("source_pos", index)
    for index, (x, y) in probes:
        distance = min(math.dist((x, y), where), math.dist((x, y - HEAD * scale), where))
        if distance <= nearest:
            nearest, found = distance, ("probe_pos", index)
    return found
