"""The flow of data through a capture: what feeds an operation, what it feeds, who uses a region.

`data_flow(capture)` works everything out once; all questions are then asked of the `Flow`, in the words of
RenderDoc: *usage* of a region, *producers* and *consumers* of an event. Which operation an edge comes from
follows from the order of the stream and from byte ranges; whether an argument is read or written may be
known, observed or assumed, and each answer says which. Nothing is executed here.

Two things to know when reading an answer. A strided view counts as the whole range that it spans, so two
interleaved views seem to touch. And a launch need not write all of the range that it may write; so its own
predecessor still matters, and `upstream` follows these "keeps" edges too.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from replay.graph import edges as table
from replay.graph.edges import EdgeTable, Streams, find_edges
from replay.graph.model import Access, Capture, OpKind, Provenance
from replay.graph.operations import LazyOperations
from replay.graph.uses import PROVENANCES, READ, WRITE, KernelAccess, Observed, UseTable, use_table


class EdgeKind(enum.IntEnum):
    """What an edge says of its target."""

    RAW = table.RAW  # it reads what the source wrote: data flows
    WAR = table.WAR  # it overwrites what the source reads: order matters
    WAW = table.WAW  # it overwrites what the source wrote


class Scope(enum.IntEnum):
    """How an edge stands to conditionals."""

    SAME = table.SAME  # both ends in one stream
    ENTRY = table.ENTRY  # from an IF or WHILE to an operation inside: what came in from before
    EXIT = table.EXIT  # from an operation inside to its IF or WHILE: what may come out
    CARRIED = table.CARRIED  # from one turn of a WHILE to the next


@dataclass(frozen=True)
class Edge:
    """A dependence between two events through bytes `start` to `stop` of a region.

    Attributes:
        keeps: for WAW, whether older bytes of the range may survive the target's write.
        provenance: of the weaker end: known, observed or assumed.
    """

    source: int
    target: int
    kind: EdgeKind
    scope: Scope
    region: int
    start: int
    stop: int
    provenance: Provenance
    keeps: bool


@dataclass(frozen=True)
class Usage:
    """One use of a region by an event: bytes `start` to `stop`, how, and whether that is known."""

    event: int
    start: int
    stop: int
    access: Access
    provenance: Provenance


class Flow:
    """The data flow of one capture.

    Attributes:
        uses: all uses in event order, as parallel arrays.
        edges: all edges as a structured array (`edges.EDGE`), sorted by target event.
        sources: who reads what a region held before the launch (`edges.PORT`, sorted by region and event).
        sinks: who wrote last what a region holds after the launch; the same form.
        coarse: regions with so many different views that byte ranges were given up for them.
    """

    def __init__(
        self, uses: UseTable, found: EdgeTable, streams: Streams, conditions: dict[int, int]
    ) -> None:
        self.uses = uses
        self.edges = found.edges
        self.sources, self.sinks, self.coarse = found.sources, found.sinks, found.coarse
        self._streams = streams
        self._conditions = conditions  # region that decides, by event of the conditional

    def edge(self, number: int) -> Edge:
        """Return the edge in a row of `edges`."""
        row = self.edges[number]
        return Edge(
            int(row["source"]), int(row["target"]), EdgeKind(int(row["kind"])), Scope(int(row["scope"])),
            int(row["region"]), int(row["start"]), int(row["stop"]), PROVENANCES[int(row["provenance"])],
            bool(row["keeps"]),
        )  # fmt: skip

    def incoming(self, event: int) -> tuple[Edge, ...]:
        """Return the edges that end in an event."""
        return tuple(self.edge(number) for number in self._into(event))

    def outgoing(self, event: int) -> tuple[Edge, ...]:
        """Return the edges that start in an event."""
        return tuple(self.edge(number) for number in self._out_of(event))

    def producers(self, event: int) -> tuple[Edge, ...]:
        """Return the edges that bring data to an event: what it reads, and who wrote that last."""
        return tuple(edge for edge in self.incoming(event) if edge.kind is EdgeKind.RAW)

    def consumers(self, event: int) -> tuple[Edge, ...]:
        """Return the edges that carry on what an event wrote: who reads it."""
        return tuple(edge for edge in self.outgoing(event) if edge.kind is EdgeKind.RAW)

    def usage(self, region: int) -> tuple[Usage, ...]:
        """Return all uses of a region in event order."""
        return tuple(self._usages(self._rows(region)))

    def usages_of(self, event: int) -> tuple[tuple[int, Usage], ...]:
        """Return (region, use) for everything that an event touches itself; not what is inside of it."""
        low, high = np.searchsorted(self.uses.event, [event, event + 1]).tolist()
        rows = np.arange(low, high)
        return tuple(zip(self.uses.region[rows].tolist(), self._usages(rows), strict=True))

    def writers_of(self, region: int, start: int = 0, stop: int | None = None) -> tuple[int, ...]:
        """Return the events that may write some of the bytes from `start` to `stop` of a region."""
        return self._users(region, start, stop, WRITE)

    def readers_of(self, region: int, start: int = 0, stop: int | None = None) -> tuple[int, ...]:
        """Return the events that may read some of the bytes from `start` to `stop` of a region."""
        return self._users(region, start, stop, READ)

    def first_readers(self, region: int) -> tuple[int, ...]:
        """Return the top-level events that read what a region held before the launch, such as a parameter."""
        return _events(self.sources, region)

    def first_read(self, region: int) -> Provenance | None:
        """Return how surely the launch reads what a region held before; None if it does not."""
        low, high = np.searchsorted(self.sources["region"], [region, region + 1]).tolist()
        return PROVENANCES[int(self.sources["provenance"][low:high].min())] if high > low else None

    def last_writers(self, region: int) -> tuple[int, ...]:
        """Return the top-level events whose writes are what a region holds after the launch."""
        return _events(self.sinks, region)

    def last_writer_before(
        self, event: int, region: int, start: int = 0, stop: int | None = None
    ) -> int | None:
        """Return the last event before one that may have written some of these bytes; None if none did.

        Events in the other branch of an IF do not count: only one of the branches runs. In a WHILE, an
        earlier turn may have written later; ask `producers` for that.
        """
        above = set(self._streams_above(event))
        for candidate in reversed(self.writers_of(region, start, stop)):
            if candidate < event and self._may_precede(candidate, above):
                return candidate
        return None

    def upstream(self, event: int) -> frozenset[int]:
        """Return all events that may have a part in what an event reads, its conditionals included."""
        return _Walk(self, backward=True).run(event)

    def downstream(self, event: int) -> frozenset[int]:
        """Return all events that what an event writes may have a part in."""
        return _Walk(self, backward=False).run(event)

    def parent(self, event: int) -> int | None:
        """Return the IF or WHILE around an event."""
        parent = int(self._streams.parent[self._streams.of[event]])
        return parent if parent >= 0 else None

    @property
    def conditional_events(self) -> tuple[int, ...]:
        """The events of all IFs and WHILEs."""
        return tuple(self._conditions)

    def condition(self, event: int) -> int | None:
        """Return the region that decides an IF or WHILE; None for any other event."""
        return self._conditions.get(event)

    def is_loop(self, event: int) -> bool:
        """Whether an event is a WHILE with a body."""
        following = event + 1
        return following < len(self._streams.of) and bool(
            self._streams.loops[self._streams.of[following]] and self.parent(following) == event
        )

    def inside(self, event: int) -> Iterator[int]:
        """Yield all events inside an IF or WHILE, in order."""
        following = event + 1
        while following < len(self._streams.of) and event in self._parents_of(following):
            yield following
            following += 1

    def _parents_of(self, event: int) -> Iterator[int]:
        parent = self.parent(event)
        while parent is not None:
            yield parent
            parent = self.parent(parent)

    def _streams_above(self, event: int) -> Iterator[int]:
        stream = int(self._streams.of[event])
        yield stream
        while self._streams.parent[stream] >= 0:
            stream = int(self._streams.of[self._streams.parent[stream]])
            yield stream

    def _may_precede(self, candidate: int, above: set[int]) -> bool:
        """Whether an earlier event may run before one that lies in the streams `above`."""
        stream = int(self._streams.of[candidate])
        inner = -1
        while stream not in above:
            inner, stream = stream, int(self._streams.of[self._streams.parent[stream]])
        if inner < 0:
            return True
        # Both lie under one IF, in different branches: then that IF is around the other one too.
        owner = int(self._streams.parent[inner])
        return not any(int(self._streams.parent[other]) == owner for other in above)

    def _into(self, event: int) -> range:
        return range(self._first_in[event], self._first_in[event + 1])

    def _out_of(self, event: int) -> list[int]:
        order, first = self._by_source
        return order[first[event] : first[event + 1]]

    @cached_property
    def _first_in(self) -> list[int]:
        return _first_rows(self.edges["target"], len(self._streams.of))

    @cached_property
    def _by_source(self) -> tuple[list[int], list[int]]:
        source = np.ascontiguousarray(self.edges["source"])
        order = np.argsort(source, kind="stable")
        numbers: list[int] = order.tolist()
        return numbers, _first_rows(source[order], len(self._streams.of))

    @cached_property
    def _columns(self) -> dict[str, list[int]]:
        """Columns of the edges as lists, which a walk reads faster than an array."""
        edges = self.edges
        follow = (edges["kind"] == table.RAW) | ((edges["kind"] == table.WAW) & edges["keeps"])
        columns = {name: edges[name].tolist() for name in ("source", "target", "scope", "region")}
        return columns | {"follow": follow.tolist()}

    @cached_property
    def _by_region(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.uses.region, kind="stable")
        return order, self.uses.region[order]

    def _rows(self, region: int) -> np.ndarray:
        order, regions = self._by_region
        low, high = np.searchsorted(regions, [region, region + 1]).tolist()
        return order[low:high]

    def _users(self, region: int, start: int, stop: int | None, access: int) -> tuple[int, ...]:
        rows = self._rows(region)
        keep = (self.uses.access[rows] & access > 0) & (self.uses.stop[rows] > start)
        if stop is not None:
            keep &= self.uses.start[rows] < stop
        return tuple(np.unique(self.uses.event[rows[keep]]).tolist())

    def _usages(self, rows: np.ndarray) -> Iterator[Usage]:
        uses = self.uses
        for row in rows.tolist():
            yield Usage(
                int(uses.event[row]),
                int(uses.start[row]),
                int(uses.stop[row]),
                Access(int(uses.access[row])),
                PROVENANCES[int(uses.provenance[row])],
            )


class _Walk:
    """Everything reachable from an event along the flow of data, region by region through conditionals.

    A conditional is passed for one region at a time: what another region brought into it does not count.
    States are (event, region or None for all, whether the outside of a conditional is meant).
    """

    def __init__(self, flow: Flow, *, backward: bool) -> None:
        self._flow, self._backward = flow, backward
        columns = flow._columns
        self._follow, self._scope, self._region = (columns[name] for name in ("follow", "scope", "region"))
        self._far = columns["source" if backward else "target"]

    def run(self, event: int) -> frozenset[int]:
        found: set[int] = set()
        states: list[tuple[int, int | None, bool]] = [(event, None, False)]
        seen = set(states)
        while states:
            for state in self._next(*states.pop()):
                found.add(state[0])
                if state not in seen:
                    seen.add(state)
                    states.append(state)
        return frozenset(found - {event})

    def _next(self, event: int, region: int | None, outside: bool) -> Iterator[tuple[int, int | None, bool]]:
        flow = self._flow
        through, crossing = (table.EXIT, table.ENTRY) if self._backward else (table.ENTRY, table.EXIT)
        for number in flow._into(event) if self._backward else flow._out_of(event):
            scope = self._scope[number]
            if not self._follow[number] or (outside and scope == through):
                continue
            via = self._region[number]
            if region is not None and via != region:
                continue
            far = self._far[number]
            # Leaving a body meets the conditional from inside; entering one meets it from outside.
            yield far, via if far in flow._conditions else None, scope == crossing
        if self._backward:
            parent = flow.parent(event)
            if parent is not None:
                yield parent, flow.condition(parent), False
        elif event in flow._conditions and region in (None, flow._conditions[event]):
            # An IF has read its condition when its body begins; a WHILE reads it again after each turn.
            if outside and not flow.is_loop(event):
                return
            yield from ((inner, None, False) for inner in flow.inside(event))


def data_flow(
    capture: Capture, *, source: KernelAccess | None = None, observed: Observed | None = None
) -> Flow:
    """Return the data flow of a capture.

    Args:
        capture: the capture.
        source: access of kernel arguments by (key, module hash); by default what packaged source says.
        observed: regions that events were seen to change, by event.
    """
    uses = use_table(capture, source=source, observed=observed)
    operations = capture.operations
    if not isinstance(operations, LazyOperations):
        streams = Streams(np.zeros(0, np.int64), np.full(1, -1, np.int64), np.zeros(1, bool))
        return Flow(uses, find_edges(uses, streams), streams, {})
    nested = operations.table
    parents = np.array([frame.parent for frame in nested.frames], np.int64)
    loops = np.array([frame.branch == "body" for frame in nested.frames])
    streams = Streams(nested.frame_of.astype(np.int64), parents, loops)
    conditions: dict[int, int] = {}
    for kind in (OpKind.IF, OpKind.WHILE):
        events, records = nested.records(capture.data, kind)
        conditions |= dict(zip(events.tolist(), records["cond_region"].tolist(), strict=True))
    return Flow(uses, find_edges(uses, streams), streams, conditions)


def _first_rows(sorted_events: np.ndarray, count: int) -> list[int]:
    """Return the first row of each event in a sorted column, and one more at the end."""
    rows: list[int] = np.searchsorted(np.ascontiguousarray(sorted_events), np.arange(count + 1)).tolist()
    return rows


def _events(ports: np.ndarray, region: int) -> tuple[int, ...]:
    low, high = np.searchsorted(ports["region"], [region, region + 1]).tolist()
    return tuple(ports["event"][low:high].tolist())
