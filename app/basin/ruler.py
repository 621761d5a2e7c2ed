"""What the ruler reads: length, and the wave along it. Values only, but for how heights are got cheaply."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.basin.furnishing import Cell
from app.basin.waves import Sine, profile, wavelength

if TYPE_CHECKING:
    from app.scene import Scene

_PERIODIC = 0.6
"""Share of the variance that one sine must explain to be told as the wave along the ruler."""
_LARGE = 1 << 20


@dataclass(frozen=True, eq=False)
class Reading:
    """What is read along the ruler.

    Attributes:
        distance: between its ends, m.
        sine: the strongest wave along it, None where there is none.
        heights: along it, m.
        depth: mean share of the deepest along it.
        aslant: angle between it and the way that the waves run, degrees from 0 to 90: along it a wave is
            longer by the inverse of the cosine.
    """

    distance: float
    sine: Sine | None
    heights: np.ndarray
    depth: float
    aslant: float = 0.0

    @property
    def wavelength(self) -> float | None:
        """m; None where the water along the ruler is no running wave."""
        if self.sine is None or self.sine.share < _PERIODIC:
            return None
        return 1.0 / self.sine.rate


def read_ruler(heights: np.ndarray, depth: np.ndarray | None, ends: tuple[Cell, Cell], dx: float) -> Reading:
    """Read the ruler.

    Args:
        heights: (rows, columns), m.
        depth: the same shape, share of the deepest; None is 1 everywhere.
        ends: cells.
        dx: side of a cell, m.
    """
    along = profile(heights, *ends)
    distance = math.dist(*ends) * dx
    sine = wavelength(along, distance / (len(along) - 1)) if distance > 0.0 else None
    shallow = float(profile(depth, *ends).mean()) if depth is not None else 1.0
    return Reading(distance, sine, along, shallow, _aslant(heights, ends))


def _aslant(heights: np.ndarray, ends: tuple[Cell, Cell]) -> float:
    """Return the angle in degrees between a line and the steepest direction of the water along it.

    That is the main axis of the mean of the slopes' outer products.
    """
    length = math.dist(*ends)
    if length == 0.0 or min(heights.shape) < 3:
        return 0.0
    (left, top), (right, bottom) = (
        [max(math.floor(pick(a, b)) - 2, 0) for a, b in zip(*ends, strict=True)] for pick in (min, max)
    )
    part = np.asarray(heights[top : bottom + 6, left : right + 6], np.float64)
    if min(part.shape) < 3:
        return 0.0
    moved = [(x - left, y - top) for x, y in ends]
    down, across = (profile(slope, *moved) for slope in np.gradient(part))
    turn = 0.5 * math.atan2(2.0 * float(across @ down), float(across @ across - down @ down))
    way = math.atan2(ends[1][1] - ends[0][1], ends[1][0] - ends[0][0])
    return math.degrees(math.acos(min(abs(math.cos(turn - way)), 1.0)))


class Ruler:
    """Readings a few times a second."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._reading: Reading | None = None

    def read(self, scene: Scene, ends: tuple[Cell, Cell], now: float) -> Reading | None:
        """Return the reading, made anew if the ruler moved or some time has gone by.

        Args:
            scene: what is replayed; its player must not be busy.
            ends: of the ruler.
            now: wall time in s.
        """
        player, grid = scene.player, scene.grid
        if player is None or grid is None or scene.heights is None:
            return None
        on_cpu = player.device.startswith("cpu")
        often = 5 if on_cpu else 2 if grid.width * grid.height < _LARGE else 0.5
        key = (id(player), ends, int(now * often))
        if key != self._key:
            self._key = key
            heights = np.asarray(player.view(scene.heights) if on_cpu else player.get(scene.heights))
            depth = scene.furnishing.arrays["depth"] if scene.furnishing is not None else None
            self._reading = read_ruler(heights.reshape(grid.height, grid.width), depth, ends, grid.dx)
        return self._reading
