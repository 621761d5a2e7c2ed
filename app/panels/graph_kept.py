"""What one drawing of a graph leaves for the next: blocks, lines, and what the selection has lit.

Values only; what is kept is made anew when the picture, or what is highlighted, is another one.
"""

from __future__ import annotations

import numpy as np

from app.panels.graph_blocks import Blocks, Ladder
from app.panels.graph_parts import Marks
from replay.graph.layout import Path, Picture


class Kept:
    """What one drawing of a picture leaves for the next.

    Attributes:
        lines: points along dashed strokes, by index of the path and of the stroke in it.
        ladder: the blocks of the picture.
    """

    def __init__(self, picture: Picture) -> None:
        self.lines: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
        self.ladder = Ladder(picture)
        self._picture = picture
        self._marks: Marks | None = None
        self._lit = np.zeros(0, bool)
        self._parts: dict[int, np.ndarray] = {}

    def lit(self, marks: Marks) -> np.ndarray:
        """Return which paths have a part in the selection or are under the pointer, by index."""
        self._look_at(marks)
        return self._lit

    def parts(self, marks: Marks, blocks: Blocks) -> np.ndarray:
        """Return what each block has: 3 a selected box, 2 what feeds it, 1 what it feeds, or 0."""
        self._look_at(marks)
        found = self._parts.get(id(blocks))
        if found is None:
            of_box = np.zeros(len(self._picture.boxes), np.int64)
            for part, boxes in ((1, marks.downstream), (2, marks.upstream), (3, marks.chosen)):
                of_box[list(boxes)] = part
            found = self._parts[id(blocks)] = np.zeros(len(blocks.bounds), np.int64)
            np.maximum.at(found, blocks.number, of_box[blocks.leaves])
        return found

    def _look_at(self, marks: Marks) -> None:
        if marks is self._marks:
            return
        self._marks, self._parts = marks, {}
        self._lit = np.zeros(len(self._picture.paths), bool)
        self._lit[list(lit_paths(self._picture, marks))] = True


def lit_paths(picture: Picture, marks: Marks) -> frozenset[int]:
    """Return the paths that have a part in the selection or are under the pointer."""
    hovered = marks.hovered or ("", -1)
    found = {marks.path} if marks.path is not None else set()
    if hovered[0] == "path":
        found.add(hovered[1])
    if marks.active or hovered[0] == "pill":
        found |= {index for index, path in enumerate(picture.paths) if _joins(path, marks)}
    return frozenset(found)


def _joins(path: Path, marks: Marks) -> bool:
    if marks.hovered is not None and marks.hovered[0] == "pill":
        number = -1 - marks.hovered[1]
        if path.source == number or number in path.targets:
            return True
    if not marks.active:
        return False
    before, after = marks.before, marks.after
    if path.source < 0:
        return -1 - path.source in marks.pills and any(target in before for target in path.targets)
    for target in path.targets:
        if target < 0:
            if path.source in after and -1 - target in marks.pills:
                return True
        elif (path.source in before and target in before) or (path.source in after and target in after):
            return True
    return False
