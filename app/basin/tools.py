"""What the tools on the water do: strokes, lines and rectangles of wall, depth, sources, probes, a ruler.

A tool is pressed, moved and released over cells, as `app.touch.PushPath` is; it changes a furnishing and
nothing else. How tools look and which one the pointer holds is not decided here. No window.
"""

from __future__ import annotations

import enum
import math

import numpy as np

from app.basin import shapes
from app.basin.furnishing import Cell, Furnishing, Source
from app.basin.marks import Mark

MAX_BRUSH = 24.0


class Tool(enum.Enum):
    """What the left button does on the water."""

    PUSH = "push"
    WALL = "wall"
    ERASE = "erase"
    LINE = "line"
    RECTANGLE = "rectangle"
    DEPTH = "depth"
    SOURCE = "source"
    PROBE = "probe"
    RULER = "ruler"


BRUSHES = frozenset({Tool.WALL, Tool.ERASE, Tool.DEPTH})
"""Tools that paint while they are drawn; the others act on release, or drag something."""
OUTLINED = frozenset({Tool.LINE, Tool.RECTANGLE})
GRABBED = dict.fromkeys(Tool, ()) | {
    Tool.PUSH: ("source_pos", "probe_pos"),
    Tool.SOURCE: ("source_pos",),
    Tool.PROBE: ("probe_pos",),
}
"""What a press on its mark takes, by the tool that is held."""
_PLACED = {Tool.SOURCE: "source_pos", Tool.PROBE: "probe_pos"}


class ToolBox:
    """The tool in the hand, and how it is set.

    Attributes:
        tool: what is held.
        brush: radius of the brush in cells; half the thickness of a line.
        depth: what the depth brush paints, share of the deepest.
        reach: how far from a source, a probe or an end of the ruler, in cells, a press still takes it.
        pressed: whether it is down on the water.
        start, here: where a line, a rectangle or a stroke began, and where it is.
        source, probe: the ones that were touched last, None for none.
        ruler: the two ends, None while nothing is measured.
        full: set when there was no room for another source or probe; who tells it clears it.
    """

    def __init__(self) -> None:
        self.tool = Tool.PUSH
        self.brush = 1.5
        self.depth = 0.35
        self.reach = 3.0
        self.pressed = False
        self.start: Cell | None = None
        self.here: Cell | None = None
        self.source: int | None = None
        self.probe: int | None = None
        self.ruler: tuple[Cell, Cell] | None = None
        self.full = False
        self._end = 1
        self._held: Mark | None = None
        self._off = (0.0, 0.0)

    @property
    def needs_basin(self) -> bool:
        """Whether the tool needs walls, depth, sources or probes in the capture."""
        return self.tool not in (Tool.PUSH, Tool.RULER)

    def press(self, furnishing: Furnishing | None, cell: Cell | None) -> None:
        """The tool goes down."""
        self.pressed, self.start, self.here = True, cell, cell
        self._held, self._off = None, (0.0, 0.0)
        if cell is None:
            return
        if self.tool is Tool.RULER:
            self._take_ruler(cell)
        elif furnishing is None:
            return
        elif self.tool in _PLACED:
            self._take(furnishing, _PLACED[self.tool], cell)
        elif self.tool in BRUSHES:
            self._paint(furnishing, cell, cell)

    def grab(self, furnishing: Furnishing, mark: Mark, cell: Cell | None) -> None:
        """Take a source or a probe by its mark, whatever is held; it keeps its place under the pointer."""
        name, index = mark
        at = furnishing.arrays[name][index].tolist()
        self.pressed, self.start, self.here = True, None, cell
        self._held = mark
        self._off = (at[0] - cell[0], at[1] - cell[1]) if cell is not None else (0.0, 0.0)
        self._note(mark)

    def move(self, furnishing: Furnishing | None, cell: Cell | None) -> None:
        """The tool is over a cell, or beside the tank: a stroke breaks off there."""
        before, self.here = self.here, cell if cell is not None or self.tool in BRUSHES else self.here
        if not self.pressed or cell is None:
            return
        if self._held is not None:
            if furnishing is not None:
                furnishing.place(*self._held, (cell[0] + self._off[0], cell[1] + self._off[1]))
        elif self.tool is Tool.RULER and self.ruler is not None:
            self.ruler = (self.ruler[0], cell) if self._end else (cell, self.ruler[1])
        elif furnishing is None:
            return
        elif self.tool in BRUSHES and cell != before:
            self._paint(furnishing, before if before is not None else cell, cell)

    def release(self, furnishing: Furnishing | None) -> None:
        """The tool goes up: what it did is one step for undo."""
        if not self.pressed:
            return
        self.pressed = False
        if furnishing is not None:
            if self.start is not None and self.here is not None:
                if self.tool is Tool.LINE:
                    wall = shapes.line(furnishing.shape, self.start, self.here, 2.0 * self.brush)
                    furnishing.edit("walls")[wall] = 1
                elif self.tool is Tool.RECTANGLE:
                    furnishing.edit("walls")[shapes.rectangle(furnishing.shape, self.start, self.here)] = 1
            furnishing.settle()
        self.start, self._held = None, None

    def hold(self, tool: Tool) -> None:
        """Take another tool."""
        self.tool, self.pressed, self.start, self._held = tool, False, None, None

    def put_down(self) -> None:
        """Take the hand again, or put the ruler away where that was held."""
        if self.tool is Tool.PUSH:
            self.ruler = None
        self.hold(Tool.PUSH)

    def _paint(self, furnishing: Furnishing, start: Cell, end: Cell) -> None:
        part, mask = stroke_part(furnishing.shape, start, end, self.brush)
        if not mask.any():
            return
        if self.tool is Tool.DEPTH:
            furnishing.edit("depth")[part][mask] = self.depth
            return
        furnishing.edit("walls")[part][mask] = self.tool is Tool.WALL
        if self.tool is Tool.ERASE and (furnishing.arrays["depth"][part][mask] != 1.0).any():
            furnishing.edit("depth")[part][mask] = 1.0

    def _take(self, furnishing: Furnishing, name: str, cell: Cell) -> None:
        index = furnishing.nearest(name, cell, self.reach)
        if index is None:
            index = furnishing.free(name)
            if index is None:
                self.full = True
                return
            if name == "source_pos":
                like = furnishing.source(self.source) if self.source is not None else Source(cell)
                furnishing.set_source(
                    index, Source(cell, like.frequency, like.amplitude, like.phase, on=True)
                )
            furnishing.place(name, index, cell)
        self._held = (name, index)
        self._note(self._held)

    def _note(self, mark: Mark) -> None:
        if mark[0] == "source_pos":
            self.source = mark[1]
        else:
            self.probe = mark[1]

    def _take_ruler(self, cell: Cell) -> None:
        if self.ruler is not None:
            distances = [math.dist(end, cell) for end in self.ruler]
            if min(distances) <= self.reach:
                self._end = distances.index(min(distances))
                return
        self.ruler, self._end = (cell, cell), 1


def stroke_part(
    shape: tuple[int, int], start: Cell, end: Cell, radius: float
) -> tuple[tuple[slice, slice], np.ndarray]:
    """Return the part of a map that a stroke may touch, and which of its cells it covers."""
    left = max(math.floor(min(start[0], end[0]) - radius) - 1, 0)
    top = max(math.floor(min(start[1], end[1]) - radius) - 1, 0)
    right = max(min(math.ceil(max(start[0], end[0]) + radius) + 2, shape[1]), left)
    bottom = max(min(math.ceil(max(start[1], end[1]) + radius) + 2, shape[0]), top)
    moved = [(x - left, y - top) for x, y in (start, end)]
    mask = shapes.stroke((bottom - top, right - left), moved[0], moved[1], radius)
    return (slice(top, bottom), slice(left, right)), mask


def clear(furnishing: Furnishing) -> None:
    """Take everything out of a basin, as one step."""
    arrays = furnishing.arrays
    furnishing.replace(
        {
            "walls": np.zeros_like(arrays["walls"]),
            "depth": np.ones_like(arrays["depth"]),
            "source_pos": np.full_like(arrays["source_pos"], -1000.0),
            "source_on": np.zeros_like(arrays["source_on"]),
            "probe_pos": np.full_like(arrays["probe_pos"], -1000.0),
        }
    )
