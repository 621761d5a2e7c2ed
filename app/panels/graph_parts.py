"""What a drawing of the graph is made of: its calls, its colours, what is highlighted, dashes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from app.gl_platform import imgui
from app.theme import Packed
from replay.graph.nodes import NodeKind
from replay.graph.route import samples

Call = tuple[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Marks:
    """What is highlighted, by index of a box, pill or path.

    Attributes:
        chosen, upstream, downstream: boxes.
        pills: pills of the selected region, or of what feeds the selection.
        path: the selected path.
        hovered: the box, pill or path under the pointer, as (`box`|`pill`|`path`, index).
        live: the box of the event whose state is shown.
        active: whether anything is selected, so that the rest is dimmed.
    """

    chosen: frozenset[int] = frozenset()
    upstream: frozenset[int] = frozenset()
    downstream: frozenset[int] = frozenset()
    pills: frozenset[int] = frozenset()
    path: int | None = None
    hovered: tuple[str, int] | None = None
    live: int | None = None
    active: bool = False

    @cached_property
    def before(self) -> frozenset[int]:
        """The boxes that are selected or feed the selection."""
        return self.upstream | self.chosen

    @cached_property
    def after(self) -> frozenset[int]:
        """The boxes that are selected or fed by the selection."""
        return self.chosen | self.downstream


@dataclass(frozen=True)
class Paint:
    """Colours of one picture.

    Attributes:
        colors: of the theme.
        fonts: regular and bold.
        boxes: colour of each box's border, by index.
        notes: a text for some boxes, such as a time, by index.
        filled: whether boxes are filled with their colour, for what it says is what the user asked for.
    """

    colors: Packed
    fonts: tuple[Any, Any]
    boxes: Sequence[int]
    notes: dict[int, str] = field(default_factory=dict)
    filled: bool = False


@dataclass
class Drawing:
    """A list of calls and what it holds, for tests and for the minimap.

    Attributes:
        calls: name of a draw list's method and its arguments.
        boxes, pills, paths: how many of each are drawn one by one.
        blocks: how many blocks stand for boxes that are too small.
    """

    calls: list[Call] = field(default_factory=list)
    boxes: int = 0
    pills: int = 0
    paths: int = 0
    blocks: int = 0


def faded(color: int, alpha: int) -> int:
    """Return a packed colour with another opacity, 0 to 255."""
    return color & 0xFFFFFF | alpha << 24


def mixed(color: int, other: int, share: float) -> int:
    """Return an opaque packed colour with a share, 0 to 1, of another one in it."""
    found = 0xFF000000
    for shift in (0, 8, 16):
        first, second = color >> shift & 0xFF, other >> shift & 0xFF
        found |= round(first + (second - first) * share) << shift
    return found


def line_of(stroke: tuple[tuple[float, float], ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return points along a stroke of a path, (n, 2), and how far each is from its start, (n,)."""
    points = np.array(list(samples(stroke, 6)))
    return points, np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))))


def dashes_of(
    line: tuple[np.ndarray, np.ndarray],
    on: float = 5.0,
    off: float = 3.5,
    seen: tuple[float, float, float, float] | None = None,
) -> list[list[float]]:
    """Return the dashes of a line, each as x and y of its start and of its end.

    Args:
        line: as `line_of` returns it.
        on, off: length of a dash and of a gap.
        seen: left, top, right, bottom of what is shown; dashes outside of it are left out.
    """
    points, along = line
    starts = np.arange(0.0, along[-1], on + off)
    ends = np.minimum(starts + on, along[-1])
    places = [np.interp(at, along, points[:, axis]) for at in (starts, ends) for axis in (0, 1)]
    dashes = np.column_stack(places)
    if seen is not None:
        low, high = np.minimum(dashes[:, :2], dashes[:, 2:]), np.maximum(dashes[:, :2], dashes[:, 2:])
        inside = (low <= (seen[2], seen[3])).all(axis=1) & (high >= (seen[0], seen[1])).all(axis=1)
        dashes = dashes[inside]
    found: list[list[float]] = dashes.tolist()
    return found


def text_width(size: float, text: str) -> float:
    """Return the width of a text in the current font, which is the regular one while panels are built."""
    return float(imgui.calc_text_size(text).x) * size / imgui.get_font_size() if text else 0.0


def kind_color(kind: NodeKind, colors: Packed) -> int:
    """Return the colour of a kind of node."""
    if kind in (NodeKind.CONTROL, NodeKind.BRANCH):
        return colors.control
    return {
        NodeKind.LAUNCH: colors.launch,
        NodeKind.MEMORY: colors.good,
        NodeKind.LIBRARY: colors.library,
    }.get(kind, colors.muted)


def play(draw: Any, drawing: Drawing) -> None:
    """Send a drawing to a draw list."""
    methods = {name: getattr(draw, name) for name in _METHODS}
    for name, arguments in drawing.calls:
        methods[name](*arguments)


_METHODS = (
    "add_rect", "add_rect_filled", "add_line", "add_bezier_cubic", "add_triangle_filled", "add_text",
)  # fmt: skip
