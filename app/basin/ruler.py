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
    """

    distance: float
    sine: Sine | None
    heights: np.ndarray
    depth: float

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
    return Reading(distance, sine, along, float(profile(depth, *ends).mean()) if depth is not None else 1.0)


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
