"""Colour maps as tables, from assets/colormaps: anchors at equal distances, straight lines between them.

`balance` is ColorBrewer's RdBu, reversed; `viridis` and `inferno` are ten colours each of matplotlib's maps.
"""

from __future__ import annotations

import functools
import json

import numpy as np

from app.resources import resource
from replay.errors import UsageError

SIZE = 256


@functools.cache
def _anchors() -> dict[str, list[str]]:
    return json.loads(resource("assets/colormaps/colormaps.json").read_text(encoding="utf-8"))


def names() -> tuple[str, ...]:
    """Names of all maps, the default first."""
    return tuple(_anchors())


@functools.cache
def table(name: str) -> np.ndarray:
    """Return a map as uint8 of shape (256, 3), lowest value first; do not write into it.

    Raises:
        UsageError: no such map.
    """
    try:
        codes = _anchors()[name]
    except KeyError:
        raise UsageError(f"no colour map {name!r}", remedy=f"use one of {', '.join(names())}") from None
    anchors = np.array([[int(code[k : k + 2], 16) for k in (1, 3, 5)] for code in codes], float)
    places = np.linspace(0, len(anchors) - 1, SIZE)
    columns = [np.interp(places, np.arange(len(anchors)), anchors[:, k]) for k in range(3)]
    filled = np.rint(np.stack(columns, axis=1)).astype(np.uint8)
    filled.setflags(write=False)
    return filled
