"""Where everything lies in the picture of a capture: a pure function from nodes to rectangles and curves.

Layered, read from top to bottom: what depends on something lies below it, what could run side by side lies
side by side. A long column is continued in the next one, so that the whole is about as wide and as tall as
the room it is for. Named regions are pills at the left of the operations that read them first or write them
last. Panel and SVG draw the same `Picture`; this knows neither. Lengths are in units of a pixel at zoom 1.

How to use it, in a panel or elsewhere:

    flow = data_flow(capture)                               # once a capture
    picture = lay_out(capture, flow, fold_capture(capture), opened, room=(w, h), measure=text_width)
    picture.box_of(event); picture.visible(x0, y0, x1, y1); picture.at(x, y)

`opened` (`nodes.Opened`) says which nodes are open; `opened.toggled(key, is_open=...)` after a click on a
box that `can_open`; then lay out again. `measure` returns the width of a text at `TITLE_SIZE`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from replay.graph.flow import Flow
from replay.graph.fold import Folded
from replay.graph.links import Link, links_of
from replay.graph.model import Capture, Provenance
from replay.graph.nodes import Key, NodeKind, Opened, Tree, tree_of

TITLE_SIZE, SUBTITLE_SIZE = 13.0, 11.0
NODE_HEIGHT, SLIM_HEIGHT, PILL_HEIGHT, HEADER = 40.0, 28.0, 22.0, 24.0
_NARROWEST, _WIDEST = 84.0, 220.0
_PILL_WIDEST = 132.0

Measure = Callable[[str], float]
Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """A node with its place; `node` is its number in `Picture.tree`. Containers come before what is inside.

    Attributes:
        title, subtitle, badge: texts that fit: a name that is too long is cut with an ellipsis, the badge is
            the number of repeats such as `×16`.
        full_title: the uncut name.
        container: whether other boxes lie in it: then the texts are in its first `HEADER` units.
        loops: whether its own repeats feed each other.
    """

    node: int
    key: Key
    kind: NodeKind
    x: float
    y: float
    width: float
    height: float
    title: str
    subtitle: str
    badge: str
    full_title: str
    first: int
    last: int
    can_open: bool
    is_open: bool
    container: bool
    loops: bool


@dataclass(frozen=True)
class Pill:
    """A named region where it enters or leaves the launch; one that is read in several columns comes again.

    Attributes:
        region: its id; names: all of its names; text: the first one, fitted.
        again: whether it is the same input as an earlier pill.
        readers: indices of the boxes that its value from before the launch enters.
        writers: indices of the boxes that leave its value after the launch.
    """

    region: int
    names: tuple[str, ...]
    text: str
    again: bool
    x: float
    y: float
    width: float
    height: float
    readers: tuple[int, ...]
    writers: tuple[int, ...]


@dataclass(frozen=True)
class Path:
    """An edge, or all edges of one source that share a line.

    Attributes:
        strokes: each a start point and then three points (two controls, end) for each cubic Bezier segment.
        arrows: (tip, direction) of each arrow head; the direction is a unit vector.
        source: index of a box, or -1 - index of a pill; targets: the same. What crosses the border of a
            container ends there: `Picture.links` says which nodes inside are meant.
        regions: ids of the regions whose data flow.
        data: False if only the order matters. carried: to a later repeat or turn.
        provenance: of the weakest access behind it.
    """

    strokes: tuple[tuple[Point, ...], ...]
    arrows: tuple[tuple[Point, Point], ...]
    source: int
    targets: tuple[int, ...]
    regions: tuple[int, ...]
    data: bool
    carried: bool
    provenance: Provenance


@dataclass(frozen=True)
class Picture:
    """A picture of a capture: everything from (0, 0) to (`width`, `height`)."""

    tree: Tree
    links: tuple[Link, ...]
    boxes: tuple[Box, ...]
    pills: tuple[Pill, ...]
    paths: tuple[Path, ...]
    width: float
    height: float

    @cached_property
    def box_bounds(self) -> np.ndarray:
        """Left, top, right, bottom of each box, one row a box."""
        return _bounds([(box.x, box.y, box.x + box.width, box.y + box.height) for box in self.boxes])

    @cached_property
    def containers(self) -> np.ndarray:
        """Whether each box is a container."""
        return np.array([box.container for box in self.boxes], bool)

    @cached_property
    def pill_bounds(self) -> np.ndarray:
        """Left, top, right, bottom of each pill."""
        return _bounds([(pill.x, pill.y, pill.x + pill.width, pill.y + pill.height) for pill in self.pills])

    @cached_property
    def path_bounds(self) -> np.ndarray:
        """Left, top, right, bottom of all points of each path."""
        bounds = []
        for path in self.paths:
            xs, ys = zip(*(point for stroke in path.strokes for point in stroke), strict=True)
            bounds.append((min(xs), min(ys), max(xs), max(ys)))
        return _bounds(bounds)

    @cached_property
    def box_of_node(self) -> np.ndarray:
        """Index of the box of each node, -1 for none."""
        found = np.full(len(self.tree.nodes), -1, np.int64)
        found[[box.node for box in self.boxes]] = np.arange(len(self.boxes))
        return found

    def box_of(self, event: int) -> int:
        """Return the index of the innermost box that shows an event."""
        return int(self.box_of_node[self.tree.node_of[event]])

    def visible(
        self, x0: float, y0: float, x1: float, y1: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the indices of the boxes, pills and paths that may touch a rectangle."""
        found = []
        for bounds in (self.box_bounds, self.pill_bounds, self.path_bounds):
            inside = (bounds[:, 0] <= x1) & (bounds[:, 2] >= x0) & (bounds[:, 1] <= y1) & (bounds[:, 3] >= y0)
            found.append(np.flatnonzero(inside))
        return found[0], found[1], found[2]

    def at(self, x: float, y: float) -> Box | Pill | None:
        """Return the pill or the innermost box at a point."""
        _, pills, _ = self.visible(x, y, x, y)
        if len(pills):
            return self.pills[int(pills[0])]
        boxes, _, _ = self.visible(x, y, x, y)
        return self.boxes[int(boxes[-1])] if len(boxes) else None

    def path_at(self, x: float, y: float, reach: float) -> int | None:
        """Return the index of the nearest path that is at most `reach` away from a point."""
        from replay.graph.route import distance

        _, _, paths = self.visible(x - reach, y - reach, x + reach, y + reach)
        nearest = min(((distance(self.paths[n], (x, y)), n) for n in paths.tolist()), default=(reach + 1, 0))
        return nearest[1] if nearest[0] <= reach else None


def _bounds(rows: list[tuple[float, float, float, float]]) -> np.ndarray:
    return np.array(rows, np.float64).reshape(-1, 4)


def plain_width(text: str) -> float:
    """Return about how wide a text is at `TITLE_SIZE`, where no font can be asked: never less than it is."""
    return sum(_width_of(char) for char in text)


def _width_of(char: str) -> float:
    if char in "mwMW@%":
        return 12.0
    if char in "ijl.,:;|!()[]' ":
        return 4.6
    return 9.6 if char.isupper() or ord(char) > 0x2000 else 8.1


def fitted(text: str, width: float, measure: Measure) -> str:
    """Return a text, cut with an ellipsis if it is wider than `width`."""
    if measure(text) <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if measure(text[:middle] + "…") <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low] + "…"


@dataclass(frozen=True)
class Size:
    """The size of a node's box and its texts, before it has a place."""

    width: float
    height: float
    title: str
    subtitle: str
    badge: str


class Sizes:
    """Sizes of leaves and headers; equal texts are measured once."""

    def __init__(self, measure: Measure) -> None:
        self._known: dict[str, float] = {}
        self._measure = measure

    def width(self, text: str) -> float:
        """Return the width of a text at `TITLE_SIZE`."""
        if text not in self._known:
            self._known[text] = self._measure(text)
        return self._known[text]

    def leaf(self, title: str, subtitle: str, badge: str, *, can_open: bool) -> Size:
        """Return the size of a box with nothing in it."""
        extra = (self.width(badge) + 12 if badge else 0.0) + (14.0 if can_open else 0.0)
        text = max(self.width(title) + extra, self.width(subtitle) * SUBTITLE_SIZE / TITLE_SIZE)
        width = min(max(text + 24.0, _NARROWEST), _WIDEST)
        below = fitted(subtitle, (width - 23.5) * TITLE_SIZE / SUBTITLE_SIZE, self.width)
        height = NODE_HEIGHT if subtitle else SLIM_HEIGHT
        return Size(width, height, fitted(title, width - 23.5 - extra, self.width), below, badge)

    def pill(self, names: Sequence[str]) -> tuple[float, str]:
        """Return width and text of a pill."""
        scale = SUBTITLE_SIZE / TITLE_SIZE
        text = " = ".join(names)
        if len(names) > 1 and self.width(text) * scale + 22.0 > _PILL_WIDEST:
            text = f"{names[0]} & {len(names) - 1} more"
        width = min(self.width(text) * scale + 22.0, _PILL_WIDEST)
        return width, fitted(text, (width - 21.0) / scale, self.width)


def lay_out(
    capture: Capture,
    flow: Flow,
    folded: Sequence[Folded],
    opened: Opened | None = None,
    *,
    room: tuple[float, float] = (300.0, 350.0),
    measure: Measure = plain_width,
    order: bool = False,
) -> Picture:
    """Return the picture of a capture.

    Args:
        capture: the capture.
        flow: its data flow.
        folded: what `fold.fold_capture` returns for it.
        opened: which nodes are open; by default repeats are folded and all else is open.
        room: size of what it will be shown in, for the ratio of width to height.
        measure: width of a text at `TITLE_SIZE`.
        order: whether edges that only order two operations are drawn too.
    """
    from replay.graph.place import Placer
    from replay.graph.turns import turn_paths

    tree = tree_of(capture, folded, opened)
    links = links_of(tree, flow, order=True)
    placer = Placer(capture, flow, tree, links, Sizes(measure), room)
    placer.place()
    shown = links if order else tuple(link for link in links if link.data)
    picture = placer.picture(shown)
    turns = turn_paths(capture, flow, tree, picture.boxes, picture.box_of_node)
    return dataclasses.replace(picture, paths=(*picture.paths, *turns)) if turns else picture
