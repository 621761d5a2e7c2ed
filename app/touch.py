"""How the pointer moves the water: the path it took, cut into one piece a launch. Values only.

Cells are (column, row) such that the centre of cell i is at i. What the pointer is over is not decided
here: the loop tells only presses that belong to the water.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from dataclasses import dataclass

Cell = tuple[float, float]
NOWHERE: Cell = (-1000.0, -1000.0)
"""What the displace kernel takes for "no pointer"."""
Segment = tuple[Cell, Cell]
"""Where the pointer came from (`NOWHERE`: just the point) and where it is."""
Place = tuple[float, float]
"""Of the pointer in the window."""

TOLERANCE = 0.5
"""Cells by which what is pushed may be off the way of the pointer."""
MAX_WAITING = 8
"""Pieces that wait for later launches at most; beyond that corners are cut."""
_MAX_CORNERS = 512


class PushPath:
    """The way of the pressed pointer over the water since the last launch.

    Attributes:
        pressed: whether the pointer is down on the water now.
        cell: where it is, None when it is not over the tank.
    """

    def __init__(self) -> None:
        self.pressed = False
        self.cell: Cell | None = None
        self._lines: list[list[Cell]] = []
        self._open = False
        self._begun = False
        self._waiting: list[Segment] = []

    def press(self, cell: Cell | None) -> None:
        """The pointer goes down."""
        self.pressed, self._open = True, False
        self.move(cell)

    def move(self, cell: Cell | None) -> None:
        """The pointer is over a cell, or beside the tank: then the way breaks off."""
        self.cell = cell
        if not self.pressed:
            return
        if cell is None:
            self._open = False
        elif not self._open:
            self._lines.append([cell])
            self._open = True
        elif self._lines[-1][-1] != cell:
            line = self._lines[-1]
            line.append(cell)
            if len(line) > _MAX_CORNERS:  # nothing is launched
                del line[1:-1:2]

    def release(self) -> None:
        """The pointer goes up; what it did since the last launch is still pushed."""
        self.pressed = self._open = False

    def segments(self, launches: int) -> list[Segment | None]:
        """Return what each of the coming launches pushes, in order, and begin a new way.

        The whole way is pushed once, however many launches there are. One with more corners than launches
        goes on with later launches; a pointer that rests pushes with every launch, as holding it down does.
        """
        if launches == 0:
            return []
        pieces = self._waiting + self._new_pieces()
        held = self.pressed and self.cell is not None
        self._waiting = _merged(pieces[launches:], MAX_WAITING)
        pushed: list[Segment | None] = [*_split(pieces[:launches], launches)]
        if len(pushed) < launches:
            rest = (NOWHERE, self.cell) if held and self.cell is not None else None
            pushed += [rest] * (launches - len(pushed))
        return pushed

    def _new_pieces(self) -> list[Segment]:
        """Return the way since the last launch in straight pieces, and begin a new one where it ends."""
        lines, begun = self._lines, self._begun
        self._lines, self._begun = ([[lines[-1][-1]]], True) if self._open else ([], False)
        pieces: list[Segment] = []
        for index, line in enumerate(lines):
            if len(line) > 1:
                pieces += itertools.pairwise(_straightened(line))
            elif index or not begun:
                pieces.append((NOWHERE, line[0]))
        return pieces


@dataclass
class _Stroke:
    places: list[Place]
    ended: bool = False


class PressTrail:
    """Where the pointer went after presses of which it is not yet known whether they belong to the water.

    That is known a frame or more after the press, and a fast stroke may be over by then.
    """

    def __init__(self) -> None:
        self._at: Place | None = None
        self._strokes: deque[_Stroke] = deque(maxlen=8)

    def move(self, where: Place) -> None:
        """The pointer is somewhere else."""
        self._at = where
        if self._strokes and not self._strokes[-1].ended and len(self._strokes[-1].places) < _MAX_CORNERS:
            self._strokes[-1].places.append(where)

    def press(self, where: Place) -> None:
        """The button goes down, where the pointer was seen last; `where` if it was not seen yet.

        The place that comes with a button may be later than the press: the toolkit asks for it.
        """
        self._strokes.append(_Stroke([self._at or where]))

    def release(self) -> None:
        """The button goes up."""
        if self._strokes:
            self._strokes[-1].ended = True

    def take(self, where: Place) -> tuple[list[Place], bool]:
        """Return the places of the oldest stroke that began at a place, and whether it has ended.

        The strokes before it, and itself, are forgotten. Where there is none, it rests at that place.
        """
        while self._strokes:
            stroke = self._strokes.popleft()
            if math.dist(stroke.places[0], where) < 2.0:  # ImGui rounds down
                return stroke.places, stroke.ended
        return [where], False

    def drop(self) -> None:
        """Forget the oldest stroke: its press was for something else."""
        if self._strokes:
            self._strokes.popleft()


def _straightened(line: list[Cell]) -> list[Cell]:
    """Return the corners that keep a line within `TOLERANCE` of all its cells (Douglas and Peucker)."""
    kept = {0, len(line) - 1}
    open_pieces = [(0, len(line) - 1)]
    while open_pieces:
        first, last = open_pieces.pop()
        if last - first < 2:
            continue
        off, farthest = max(
            (_distance(line[index], line[first], line[last]), index) for index in range(first + 1, last)
        )
        if off > TOLERANCE:
            kept.add(farthest)
            open_pieces += [(first, farthest), (farthest, last)]
    return [line[index] for index in sorted(kept)]


def _distance(cell: Cell, start: Cell, end: Cell) -> float:
    """Return the distance of a cell from a straight piece."""
    along = end[0] - start[0], end[1] - start[1]
    square = along[0] ** 2 + along[1] ** 2
    share = 0.0
    if square > 0:
        share = ((cell[0] - start[0]) * along[0] + (cell[1] - start[1]) * along[1]) / square
        share = min(max(share, 0.0), 1.0)
    return math.dist(cell, (start[0] + share * along[0], start[1] + share * along[1]))


def _split(pieces: list[Segment], wanted: int) -> list[Segment]:
    """Return pieces cut into `wanted` ones, the longest into the most; points cannot be cut."""
    lengths = [0.0 if start == NOWHERE else math.dist(start, end) for start, end in pieces]
    parts = [1] * len(pieces)
    while sum(parts) < wanted and any(lengths):
        longest = max(range(len(pieces)), key=lambda index: lengths[index] / parts[index])
        parts[longest] += 1
    result: list[Segment] = []
    for (start, end), count in zip(pieces, parts, strict=True):
        if count == 1:
            result.append((start, end))
            continue
        step = (end[0] - start[0]) / count, (end[1] - start[1]) / count
        corners = [(start[0] + step[0] * n, start[1] + step[1] * n) for n in range(count)]
        result += itertools.pairwise([*corners, end])
    return result


def _merged(pieces: list[Segment], most: int) -> list[Segment]:
    """Return at most so many pieces, cutting off the smallest corners; points that are too many are lost."""
    pieces = list(pieces)
    while len(pieces) > most:
        corners = [
            (_distance(before[1], before[0], after[1]), index)
            for index, (before, after) in enumerate(itertools.pairwise(pieces))
            if before[1] == after[0] and before[0] != NOWHERE
        ]
        if not corners:
            return pieces[-most:]
        _, index = min(corners)
        pieces[index : index + 2] = [(pieces[index][0], pieces[index + 1][1])]
    return pieces
