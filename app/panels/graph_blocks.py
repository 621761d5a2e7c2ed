"""Boxes that are too small to tell apart, as blocks of a few pixels. Values only.

Blocks are made for a ladder of sizes in picture units, once each, so that panning and zooming only choose
among those that are made, and no block changes while the picture is moved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from replay.graph.layout import Picture

MOST_BLOCKS = 400
_RATIO = 1.5  # from one size of the ladder to the next


@dataclass(frozen=True)
class Blocks:
    """Blocks of one size.

    Attributes:
        bounds: left, top, right, bottom of each in picture units, (n, 4).
        first: a box in each, by index, (n,).
        number: the block of each box that is no container, in the order of `leaves`, (m,).
        leaves: those boxes, by index, (m,).
    """

    bounds: np.ndarray
    first: np.ndarray
    number: np.ndarray
    leaves: np.ndarray


class Ladder:
    """The blocks of a picture, by size; made when they are first asked for."""

    def __init__(self, picture: Picture) -> None:
        self._leaves = np.flatnonzero(~picture.containers)
        self._bounds = picture.box_bounds[self._leaves]
        self._made: dict[int, Blocks] = {}

    def seen(self, rect: tuple[float, float, float, float], least: float) -> tuple[Blocks, np.ndarray]:
        """Return the smallest blocks, and which of them touch a part of the picture, at most `MOST_BLOCKS`.

        Args:
            rect: left, top, right, bottom of the part.
            least: width of the smallest block, picture units.
        """
        left, top, right, bottom = rect
        step = math.ceil(math.log(max(least, 1e-6), _RATIO) - 1e-9)
        while True:
            blocks = self._of(step)
            bounds = blocks.bounds
            inside = (bounds[:, 0] <= right) & (bounds[:, 2] >= left)
            inside &= (bounds[:, 1] <= bottom) & (bounds[:, 3] >= top)
            found = np.flatnonzero(inside)
            if len(found) <= MOST_BLOCKS:
                return blocks, found
            step += 1

    def _of(self, step: int) -> Blocks:
        blocks = self._made.get(step)
        if blocks is None:
            blocks = self._made[step] = self._make(_RATIO**step)
        return blocks

    def _make(self, side: float) -> Blocks:
        cells = np.floor(self._bounds[:, :2] / side).astype(np.int64)
        _, first, number = np.unique(
            cells[:, 0] * (1 << 32) + cells[:, 1], return_index=True, return_inverse=True
        )
        number = number.reshape(-1)
        order = np.argsort(number, kind="stable")
        begin = np.searchsorted(number[order], np.arange(len(first)))
        if not len(first):
            return Blocks(np.zeros((0, 4)), first, number, self._leaves)
        lows = np.minimum.reduceat(self._bounds[order, :2], begin)
        highs = np.maximum.reduceat(self._bounds[order, 2:], begin)
        return Blocks(np.hstack((lows, highs)), self._leaves[first], number, self._leaves)
