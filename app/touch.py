"""How the pointer moves the water: the path it took, cut into one piece a launch. Values only.

Cells are (column, row) such that the centre of cell i is at i. What the pointer is over is not decided
here: the loop tells only presses that belong to the water.
"""

from __future__ import annotations

import itertools
import math

Cell = tuple[float, float]
NOWHERE: Cell = (-1000.0, -1000.0)
"""What the displace kernel takes for "no pointer"."""
Segment = tuple[Cell, Cell]
"""Where the pointer came from (`NOWHERE`: just the point) and where it is."""


class PushPath:
    """The way of the pressed pointer over the water since the last launch.

    Attributes:
        pressed: whether the pointer is down on the water now.
        cell: where it is, None when it is not over the tank.
    """

    def __init__(self) -> None:
        self.pressed = False
        self.cell: Cell | None = None
        self._way: list[Cell] = []
        self._from: Cell | None = None

    def press(self, cell: Cell | None) -> None:
        """The pointer goes down."""
        self.pressed = True
        self._from = None
        self._way = []
        self.move(cell)

    def move(self, cell: Cell | None) -> None:
        """The pointer is over a cell, or beside the tank: then the way breaks off."""
        self.cell = cell
        if not self.pressed:
            return
        if cell is None:
            self._from = None
        elif not self._way or self._way[-1] != cell:
            self._way.append(cell)

    def release(self) -> None:
        """The pointer goes up; what it did since the last launch is still pushed."""
        self.pressed = False

    def segments(self, launches: int) -> list[Segment | None]:
        """Return what each of the coming launches pushes, in order, and begin a new way.

        The whole way is pushed once, however many launches there are; a pointer that rests pushes with
        every launch, as holding it down does.
        """
        if launches == 0:
            return []
        way = ([self._from] if self._from is not None else []) + self._way
        self._way = []
        self._from = None
        if self.pressed and self.cell is not None:
            self._from = self.cell
        if not way:
            return [None] * launches
        if len(way) == 1 or all(cell == way[0] for cell in way):
            point: Segment = (NOWHERE, way[-1])
            held = self.pressed and self.cell is not None
            return [point if held or index == 0 else None for index in range(launches)]
        corners = _resampled(way, launches)
        return list(itertools.pairwise(corners))


def _resampled(way: list[Cell], pieces: int) -> list[Cell]:
    """Return `pieces` + 1 cells at equal distances along a polyline that has a length."""
    lengths = [math.dist(a, b) for a, b in itertools.pairwise(way)]
    total = sum(lengths)
    corners = [way[0]]
    for piece in range(1, pieces):
        wanted = total * piece / pieces
        index = 0
        while wanted > lengths[index] and index < len(lengths) - 1:
            wanted -= lengths[index]
            index += 1
        (x0, y0), (x1, y1) = way[index], way[index + 1]
        share = wanted / lengths[index] if lengths[index] else 0.0
        corners.append((x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
    return [*corners, way[-1]]
