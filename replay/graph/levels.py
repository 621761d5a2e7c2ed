"""What a picture is put together from while it is laid out: levels of rows and columns, and their spacing.

A level is what lies directly in one container. `place` fills these, `route` reads them. Mutable by intent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from replay.graph.layout import PILL_HEIGHT

GAP_X, GAP_Y = 18.0, 26.0
PAD = 10.0  # inside a container
PILL_GAP = 5.0
STRIP_GAP = 34.0  # between pills and nodes
LANE = 7.0  # between vertical lines
MOST_LANES = 10
LOOP = 14.0  # for the loop at a node that feeds itself


@dataclass
class Row:
    """Nodes side by side, and for the outermost level the regions whose pills stand beside them."""

    members: list[int]
    width: float
    height: float
    inputs: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    y: float = 0.0
    column: int = 0

    @property
    def regions(self) -> list[int]:
        """Regions with a pill here: those that enter, then those that only leave."""
        return list(dict.fromkeys([*self.inputs, *self.outputs]))

    @property
    def stack(self) -> float:
        """Height of the pills."""
        return max(len(self.regions) * (PILL_HEIGHT + PILL_GAP) - PILL_GAP, 0.0)


@dataclass
class Column:
    """Some rows below each other: the strip of pills, space for their lines, nodes, lanes."""

    rows: list[int]
    x: float = 0.0
    nodes_x: float = 0.0  # left edge of the space for nodes
    width: float = 0.0  # of that space
    lanes: int = 0

    @property
    def right(self) -> float:
        """Where the space for nodes ends and the lanes begin."""
        return self.nodes_x + self.width


@dataclass
class Level:
    """What lies directly in one container, or at the outermost level: -1."""

    owner: int
    members: tuple[int, ...]
    links: list[tuple[int, int, int]] = field(default_factory=list)  # members, number of the link
    rows: list[Row] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    row_of: dict[int, int] = field(default_factory=dict)
    width: float = 0.0
    height: float = 0.0
