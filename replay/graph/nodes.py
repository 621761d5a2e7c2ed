"""What a picture of a capture shows: its folded operations as a tree of nodes.

A run of equal operations is one node until it is opened; a repeated group and the branches of a conditional
are containers. Which nodes are open is a value, `Opened`, that a panel changes and hands in again. Every
event belongs to exactly one innermost node, so that selecting an event and selecting a node mean the same
thing. Nothing is placed here.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from replay.graph.fold import Folded
from replay.graph.model import Access, Capture, OpKind
from replay.graph.operations import LazyOperations
from replay.wrp.tables import OperationTable

MOST_SIBLINGS = 4000
_SECTION = 1000
_UNROLLED = 256
Key = tuple[int, ...]


class NodeKind(enum.Enum):
    """What a node stands for."""

    LAUNCH = "launch"
    MEMORY = "memory"  # copies, fills, allocation
    LIBRARY = "library"  # scans, sorts, reductions and so on
    CONTROL = "control"  # an IF or WHILE; a container unless it is closed
    BRANCH = "branch"  # a container: what is inside an IF or WHILE
    GROUP = "group"  # a repeated group; a container unless it is closed
    SECTION = "section"  # part of a very long stream


_MEMORY = (
    OpKind.MEMCPY_H2D,
    OpKind.MEMCPY_D2H,
    OpKind.MEMCPY_D2D,
    OpKind.MEMSET,
    OpKind.MEMTILE,
    OpKind.ALLOC,
)
CONTAINERS = (NodeKind.CONTROL, NodeKind.BRANCH, NodeKind.GROUP, NodeKind.SECTION)


@dataclass(frozen=True)
class Opened:
    """Which nodes the user opened or closed, by key; all others are as they are at first.

    At first a run is closed, a section is closed, a group shows one of its repeats, a conditional its
    branches. An opened run shows its members; an opened group all of its repeats.
    """

    opened: frozenset[Key] = frozenset()
    closed: frozenset[Key] = frozenset()

    def toggled(self, key: Key, *, is_open: bool) -> Opened:
        """Return the state after a click on the handle of a node that is open or not."""
        if is_open:
            return Opened(self.opened - {key}, self.closed | {key})
        return Opened(self.opened | {key} if key not in self.closed else self.opened, self.closed - {key})


@dataclass(frozen=True)
class Node:
    """A node of the picture.

    Attributes:
        key: names it; stays the same while others open and close.
        kind: what it stands for.
        title, subtitle: its texts, such as `wave_solve` and `128 × 128`.
        count: how often its operations repeat here; 1 for a single one.
        first, last: events of its first and last operation, in all repeats and with what is inside.
        parent: number of the container around it, -1 at the outermost level.
        children: numbers of the nodes in it; empty unless it is an open container.
        can_open: whether there is more inside than it shows; is_open: whether it shows it.
    """

    key: Key
    kind: NodeKind
    title: str
    subtitle: str
    count: int
    first: int
    last: int
    parent: int
    children: tuple[int, ...] = ()
    can_open: bool = False
    is_open: bool = False


@dataclass(frozen=True)
class Tree:
    """Nodes in reading order, parents before children; `node_of[event]` is the innermost node of an event."""

    nodes: tuple[Node, ...]
    node_of: np.ndarray

    @property
    def roots(self) -> tuple[int, ...]:
        """Numbers of the outermost nodes."""
        return tuple(number for number, node in enumerate(self.nodes) if node.parent < 0)


def tree_of(capture: Capture, folded: Sequence[Folded], opened: Opened | None = None) -> Tree:
    """Return the nodes of a folded capture.

    Args:
        capture: the capture.
        folded: what `fold.fold_capture` returns for it.
        opened: which nodes are open.
    """
    builder = _Builder(capture, opened or Opened())
    builder.add_runs(folded, (), -1, ())
    return Tree(tuple(builder.nodes), builder.node_of)


Repeats = tuple[tuple[int, int], ...]  # (count, events from one to the next) of everything around


def _later(around: Repeats) -> int:
    """Return how much later than the first repeat of everything around the last one is."""
    return sum((count - 1) * period for count, period in around)


class _Builder:
    def __init__(self, capture: Capture, opened: Opened) -> None:
        self.nodes: list[Node] = []
        self.node_of = np.full(len(capture.operations), -1, np.int64)
        self._capture, self._opened = capture, opened
        operations = capture.operations
        self._kinds: Sequence[int] = []
        self._sizes: dict[int, int] = {}  # of conditionals: events of one, all inside included
        self._table: OperationTable | None = None
        if isinstance(operations, LazyOperations):
            self._table = table = operations.table
            self._kinds = table.kinds.tolist()
            for event in sorted(table.children, reverse=True):
                self._sizes[event] = 1 + sum(self._sizes.get(inner, 1) for inner in table.children[event])

    def add_runs(self, runs: Sequence[Folded], path: Key, parent: int, around: Repeats) -> tuple[int, ...]:
        """Add the runs of one stream; return their numbers."""
        if len(runs) <= MOST_SIBLINGS:
            return tuple(self._add(run, (*path, index), parent, around) for index, run in enumerate(runs))
        made = []
        for number, begin in enumerate(range(0, len(runs), _SECTION)):
            part = runs[begin : begin + _SECTION]
            key = (*path, -1_000_000 - number)
            first, last = part[0].event, part[-1].event + self._span(part[-1]) * part[-1].count - 1
            title = f"events {first} to {last}"
            is_open = key in self._opened.opened
            node = Node(key, NodeKind.SECTION, title, "", 1, first, last, parent, (), True, is_open)
            made.append(self._push(node))
            self._fill(made[-1], first, around, last + 1 - first)
            if is_open:
                inside = tuple(
                    self._add(run, (*path, begin + index), made[-1], around) for index, run in enumerate(part)
                )
                self._adopt(made[-1], inside)
        return tuple(made)

    def _add(self, run: Folded, key: Key, parent: int, around: Repeats) -> int:
        if run.items:
            return self._add_group(run, key, parent, around)
        if run.count > 1 and key in self._opened.opened:
            return self._add_members(run, key, parent, around)
        return self._add_operation(run, key, parent, around, run.count)

    def _add_operation(self, run: Folded, key: Key, parent: int, around: Repeats, count: int) -> int:
        """Add a run as one node; a conditional with what is inside."""
        span = self._span(run)
        inner = (*around, (count, span))
        kind = NodeKind.SECTION if run.omitted else self._kind(run.event)
        title, subtitle = self._words(run, kind)
        shut = key in self._opened.closed
        can_open = count > 1 or bool(run.branches)
        is_open = bool(run.branches) and not shut
        last = run.event + span * count - 1 + _later(around)
        number = self._push(
            Node(key, kind, title, subtitle, count, run.event, last, parent, (), can_open, is_open)
        )
        self._fill(number, run.event, inner, 1 if is_open else span)
        if is_open:
            self._adopt(number, tuple(
                self._add_branch(name, inside, (*key, -1 - index), number, inner)
                for index, (name, inside) in enumerate(run.branches)
            ))  # fmt: skip
        return number

    def _add_branch(self, name: str, runs: Sequence[Folded], key: Key, parent: int, around: Repeats) -> int:
        last = runs[-1].event + self._span(runs[-1]) * runs[-1].count - 1 + _later(around)
        number = self._push(
            Node(key, NodeKind.BRANCH, name, "", 1, runs[0].event, last, parent, (), False, True)
        )
        self._adopt(number, self.add_runs(runs, key, number, around))
        return number

    def _add_members(self, run: Folded, key: Key, parent: int, around: Repeats) -> int:
        """Add an opened run: a container with a node for each member."""
        span = self._span(run)
        title, subtitle = self._words(run, self._kind(run.event))
        last = run.event + span * run.count - 1 + _later(around)
        number = self._push(
            Node(key, NodeKind.GROUP, title, subtitle, run.count, run.event, last, parent, (), True, True)
        )
        members = [
            Folded(run.event + index * span, run.label, 1, (), _shifted(run.branches, index * span))
            for index in range(run.count)
        ]
        self._adopt(number, self.add_runs(members, key, number, around))
        return number

    def _add_group(self, run: Folded, key: Key, parent: int, around: Repeats) -> int:
        period = self._span(run)
        last = run.event + period * run.count - 1 + _later(around)
        is_open = key not in self._opened.closed
        names = ", ".join(dict.fromkeys(split_label(item.label)[0] or "group" for item in run.items))
        title = "repeated" if is_open else names
        number = self._push(
            Node(key, NodeKind.GROUP, title, "", run.count, run.event, last, parent, (), True, is_open)
        )
        if not is_open:
            self._fill(number, run.event, around, period * run.count)
        elif key in self._opened.opened and run.count <= _UNROLLED:
            inside: list[int] = []
            for index in range(run.count):
                first = run.event + index * period
                at = (*key, -100 - index)
                part = self._push(
                    Node(at, NodeKind.BRANCH, f"repeat {index + 1} of {run.count}", "", 1, first,
                         first + period - 1 + _later(around), number, (), False, True)
                )  # fmt: skip
                moved = _shift_all(run.items, index * period)
                self._adopt(part, self.add_runs(moved, at, part, around))
                inside.append(part)
            self._adopt(number, tuple(inside))
        else:
            self._adopt(number, self.add_runs(run.items, key, number, (*around, (run.count, period))))
        return number

    def _push(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _adopt(self, number: int, children: tuple[int, ...]) -> None:
        node = self.nodes[number]
        self.nodes[number] = Node(
            node.key, node.kind, node.title, node.subtitle, node.count, node.first, node.last, node.parent,
            children, node.can_open, node.is_open,
        )  # fmt: skip

    def _fill(self, number: int, first: int, repeats: Repeats, length: int) -> None:
        events = np.array([first])
        for count, period in repeats:
            if count > 1:
                events = (events[:, None] + np.arange(count) * period).reshape(-1)
        if length > 1:
            events = (events[:, None] + np.arange(length)).reshape(-1)
        self.node_of[events] = number

    def _span(self, run: Folded) -> int:
        """Return how many event numbers one repeat of a run takes, what is inside conditionals included."""
        if run.items:
            return sum(self._span(item) * item.count for item in run.items)
        if run.omitted:
            table = self._table
            assert table is not None
            frame = table.frame_of[run.event]
            mates = table.children[table.frames[frame].parent]
            return sum(self._sizes.get(event, 1) for event in mates if table.frame_of[event] == frame)
        return self._sizes.get(run.event, 1)

    def _words(self, run: Folded, kind: NodeKind) -> tuple[str, str]:
        """Return title and subtitle of an operation: how many threads, what it decides by, what it writes."""
        if run.omitted:
            return run.label, "nested too deep to show"
        if kind is NodeKind.LAUNCH:
            title, shape = split_label(run.label)
            return title, f"{shape} {'thread' if shape == '1' else 'threads'}" if shape else ""
        uses = self._capture.operations[run.event].uses
        read = self._names(use.region for use in uses if use.access is Access.READ)
        written = self._names(use.region for use in uses if use.access & Access.WRITE)
        if kind is NodeKind.CONTROL:
            return f"{run.label} {read}", ""
        if kind is NodeKind.MEMORY and read:
            written = f"{read} → {written}"
        return run.label, written

    def _names(self, regions: Iterable[int]) -> str:
        found = []
        for region in dict.fromkeys(regions):
            names = self._capture.regions[region].names if region in self._capture.regions else ()
            found.append(names[0] if names else f"region {region}")
        return ", ".join(found[:3]) + (f" +{len(found) - 3}" if len(found) > 3 else "")

    def _kind(self, event: int) -> NodeKind:
        return _KIND_OF[self._kinds[event]]


def _node_kind(kind: OpKind) -> NodeKind:
    if kind is OpKind.KERNEL_LAUNCH:
        return NodeKind.LAUNCH
    if kind in (OpKind.IF, OpKind.WHILE):
        return NodeKind.CONTROL
    return NodeKind.MEMORY if kind in _MEMORY else NodeKind.LIBRARY


_KIND_OF = {int(kind): _node_kind(kind) for kind in OpKind}


def _shift_all(runs: Sequence[Folded], by: int) -> tuple[Folded, ...]:
    return tuple(
        replace(
            run,
            event=run.event + by,
            items=_shift_all(run.items, by),
            branches=_shifted(run.branches, by),
        )
        for run in runs
    )


def _shifted(
    branches: tuple[tuple[str, tuple[Folded, ...]], ...], by: int
) -> tuple[tuple[str, tuple[Folded, ...]], ...]:
    return tuple((name, _shift_all(runs, by)) for name, runs in branches)


def split_label(label: str) -> tuple[str, str]:
    """Return name and shape of a folded label: `solve [128, 128]` is `solve` and `128 × 128`."""
    name, bracket, shape = label.rpartition(" [")
    if not bracket:
        return label, ""
    return name, shape.rstrip("]").replace(", ", " × ")
