"""From uses to edges: who reads what whom wrote, over byte ranges, for all operations at once.

The ranges that occur cut each region into atoms; per stream and atom the uses in order give the edges. A
conditional stands in its own stream for everything inside it, reads and writes as if it might do either;
its body has edges from it (what came in) and to it (what may come out). Nothing here runs in a loop over
operations, and what a hostile file could blow up is bounded: a region cut too finely becomes one atom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from replay.graph.groups import group
from replay.graph.uses import ASSUMED, BOTH, READ, WRITE, UseTable

RAW, WAR, WAW = 0, 1, 2
SAME, ENTRY, EXIT, CARRIED = 0, 1, 2, 3
_MOST_ROWS = 4_000_000

EDGE = np.dtype(
    [
        ("source", np.int64), ("target", np.int64), ("kind", np.int8), ("scope", np.int8), ("keeps", bool),
        ("region", np.int64), ("start", np.int64), ("stop", np.int64), ("provenance", np.int8),
    ]
)  # fmt: skip
"""An edge: events, kind and scope by the numbers above, `keeps` (a write that may leave older bytes in its
range), the smallest byte range that holds all that it is about, and the weaker provenance of its ends."""

PORT = np.dtype(
    [
        ("region", np.int64),
        ("event", np.int64),
        ("start", np.int64),
        ("stop", np.int64),
        ("provenance", np.int8),
    ]
)
"""An operation that reads what a region held before the launch, or that leaves what it holds afterwards."""


@dataclass(frozen=True)
class Streams:
    """How operations nest.

    Attributes:
        of: number of the stream of each event.
        parent: event of the conditional around each stream, -1 for the outermost.
        loops: whether each stream is the body of a WHILE.
    """

    of: np.ndarray
    parent: np.ndarray
    loops: np.ndarray


@dataclass(frozen=True)
class EdgeTable:
    """Edges sorted by target, then source; what enters and leaves the launch; regions that lost precision."""

    edges: np.ndarray
    sources: np.ndarray
    sinks: np.ndarray
    coarse: frozenset[int]


@dataclass(frozen=True)
class _Rows:
    """Uses of atoms."""

    event: np.ndarray
    atom: np.ndarray
    access: np.ndarray
    provenance: np.ndarray
    full: np.ndarray

    def take(self, rows: np.ndarray) -> _Rows:
        return _Rows(
            self.event[rows], self.atom[rows], self.access[rows], self.provenance[rows], self.full[rows]
        )


def find_edges(uses: UseTable, streams: Streams, *, most_rows: int = _MOST_ROWS) -> EdgeTable:
    """Return the edges that some uses make.

    Args:
        uses: in event order.
        streams: how the events nest.
        most_rows: bound for the work, in uses of atoms.
    """
    atoms, rows, coarse = _atoms(uses, most_rows)
    rows = _merged(rows)
    lifted = [rows]
    level = rows
    while True:
        stream = streams.of[level.event]
        inner = np.flatnonzero(stream > 0)
        if not len(inner):
            break
        access = np.where(level.access[inner] & WRITE, BOTH, READ)
        level = _merged(
            _Rows(
                streams.parent[stream[inner]], level.atom[inner], access, level.provenance[inner],
                np.zeros(len(inner), bool),
            )
        )  # fmt: skip
        lifted.append(level)
    if len(lifted) > 1:
        rows = _merged(_Rows(*(np.concatenate([getattr(part, name) for part in lifted]) for name in
                               ("event", "atom", "access", "provenance", "full"))))  # fmt: skip
    edges, sources, sinks = _connect(rows, streams)
    return EdgeTable(_joined(edges, atoms), _ports(sources, atoms), _ports(sinks, atoms), coarse)


def _atoms(uses: UseTable, most_rows: int) -> tuple[np.ndarray, _Rows, frozenset[int]]:
    """Return the atoms as rows (region, start, stop), the uses of atoms, and what had to be coarsened."""
    empty = np.zeros((0, 3), np.int64)
    if not len(uses):
        none = np.zeros(0, np.int64)
        return empty, _Rows(none, none, none, none, none.astype(bool)), frozenset()
    regions, region = np.unique(uses.region, return_inverse=True)
    start, stop = uses.start.copy(), uses.stop.copy()
    access, provenance, full = uses.access.copy(), uses.provenance.copy(), uses.full.copy()
    coarse: set[int] = set()
    while True:
        first, number = group(region, start, stop)
        points = np.concatenate(
            [np.column_stack([region[first], start[first]]), np.column_stack([region[first], stop[first]])]
        )
        distinct, rank = np.unique(points, axis=0, return_inverse=True)
        rank = rank.reshape(-1)
        low, high = rank[: len(first)][number], rank[len(first) :][number]
        spans = high - low
        extra = int(spans.sum()) - len(spans)
        if extra <= most_rows:
            break
        # The region that costs the most is no longer cut: then a write may keep anything.
        worst = int(np.argmax(np.bincount(region, weights=spans - 1)))
        inside = region == worst
        start[inside], stop[inside] = start[inside].min(), stop[inside].max()
        access[inside] = np.where(access[inside] & WRITE, BOTH, READ)
        provenance[inside], full[inside] = ASSUMED, False
        coarse.add(int(regions[worst]))
    row = np.repeat(np.arange(len(spans)), spans)
    atom = low[row] + np.arange(len(row)) - np.repeat(np.cumsum(spans) - spans, spans)
    # An atom ends where the next one begins; behind the last point of a region there is none.
    after = np.append(np.where(np.diff(distinct[:, 0]) == 0, distinct[1:, 1], 0), 0)
    table = np.column_stack([regions[distinct[:, 0]], distinct[:, 1], after])
    rows = _Rows(uses.event[row], atom, access[row], provenance[row], full[row])
    return table, rows, frozenset(coarse)


def _merged(rows: _Rows) -> _Rows:
    """Return one row an event and atom, in order of event: all accesses together, the weakest provenance."""
    if not len(rows.event):
        return rows
    order = _order(rows.event, rows.atom)
    rows = rows.take(order)
    new = np.concatenate(([True], (np.diff(rows.event) != 0) | (np.diff(rows.atom) != 0)))
    at = np.flatnonzero(new)
    if len(at) == len(order):
        return rows
    return _Rows(
        rows.event[at],
        rows.atom[at],
        np.bitwise_or.reduceat(rows.access, at),
        np.maximum.reduceat(rows.provenance, at),
        np.logical_or.reduceat(rows.full, at),
    )


def _connect(rows: _Rows, streams: Streams) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return edges with the atom as region, and (atom, event, provenance) of sources and of sinks."""
    count = len(rows.event)
    if not count:
        return np.zeros(0, EDGE), np.zeros((0, 3), np.int64), np.zeros((0, 3), np.int64)
    stream = streams.of[rows.event]
    order = _order(stream, rows.atom)  # stable: within a stream and atom they stay in order of event
    rows, stream = rows.take(order), stream[order]
    reads, writes = (rows.access & READ) > 0, (rows.access & WRITE) > 0
    at = np.arange(count)
    new = np.concatenate(([True], (np.diff(rows.atom) != 0) | (np.diff(stream) != 0)))
    begin = np.maximum.accumulate(np.where(new, at, 0))
    end = np.minimum.accumulate(np.where(np.append(new[1:], True), at, count)[::-1])[::-1]
    latest = np.maximum.accumulate(np.where(writes, at, -1))
    before = np.concatenate(([-1], latest[:-1]))
    has_before = before >= begin
    following = np.minimum.accumulate(np.where(writes, at, count)[::-1])[::-1]
    after = np.append(following[1:], count)
    inner, parent = stream > 0, streams.parent[stream]

    made: list[np.ndarray] = []

    def add(
        source: np.ndarray, target: np.ndarray, kind: int, scope: int, rows_of: tuple[np.ndarray, ...]
    ) -> None:
        """Add edges; `rows_of` are the rows whose knowledge they rest on, the last one the target's."""
        edges = np.zeros(len(source), EDGE)
        edges["source"], edges["target"], edges["kind"], edges["scope"] = source, target, kind, scope
        edges["region"] = rows.atom[rows_of[-1]]
        edges["provenance"] = np.maximum.reduce([rows.provenance[part] for part in rows_of])
        if kind == WAW:
            edges["keeps"] = ~rows.full[rows_of[-1]]
        made.append(edges)

    events = rows.event
    pick = np.flatnonzero(reads & has_before)
    add(events[before[pick]], events[pick], RAW, SAME, (before[pick], pick))
    pick = np.flatnonzero(writes & ~reads & has_before)
    add(events[before[pick]], events[pick], WAW, SAME, (before[pick], pick))
    pick = np.flatnonzero(reads & ~writes & (after <= end))
    add(events[pick], events[after[pick]], WAR, SAME, (pick, after[pick]))
    pick = np.flatnonzero(inner & reads & ~has_before)
    add(parent[pick], events[pick], RAW, ENTRY, (pick,))
    pick = np.flatnonzero(inner & writes & ~reads & ~rows.full & ~has_before)
    add(parent[pick], events[pick], WAW, ENTRY, (pick,))
    last = latest[end]
    pick = np.flatnonzero(streams.loops[stream] & reads & ~has_before & (last >= begin))
    add(events[last[pick]], events[pick], RAW, CARRIED, (last[pick], pick))
    final = writes & (last == at)
    pick = np.flatnonzero(inner & final)
    add(events[pick], parent[pick], RAW, EXIT, (pick,))
    columns = np.column_stack([rows.atom, events, rows.provenance])
    return np.concatenate(made), columns[~inner & reads & ~has_before], columns[~inner & final]


def _joined(edges: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """Return edges over regions, those of several atoms of one region joined, sorted by target."""
    atom = edges["region"]
    edges["start"], edges["stop"] = atoms[atom, 1], atoms[atom, 2]
    edges["region"] = atoms[atom, 0]
    if not len(edges):
        return edges
    keys: Sequence[str] = ("region", "scope", "kind", "source", "target")
    if len(np.unique(atoms[:, 0])) == np.count_nonzero(atoms[:, 2] > atoms[:, 1]):
        # One atom a region: nothing to join.
        order: np.ndarray = _order(edges["target"], edges["source"])
        ordered: np.ndarray = edges[order]
        return ordered
    edges = edges[np.lexsort(tuple(edges[key] for key in keys))]
    new = np.zeros(len(edges), bool)
    new[0] = True
    for key in keys:
        new[1:] |= np.diff(edges[key]) != 0
    at = np.flatnonzero(new)
    if len(at) == len(edges):
        return edges
    joined: np.ndarray = edges[at]
    joined["start"] = np.minimum.reduceat(edges["start"], at)
    joined["stop"] = np.maximum.reduceat(edges["stop"], at)
    joined["provenance"] = np.maximum.reduceat(edges["provenance"], at)
    joined["keeps"] = np.logical_or.reduceat(edges["keeps"], at)
    return joined


def _order(major: np.ndarray, minor: np.ndarray) -> np.ndarray:
    """Return the stable order of rows by two columns of small numbers, none negative."""
    span = int(minor.max()) + 1
    high = (int(major.max()) + 1) * span
    if high >= 1 << 62:
        return np.lexsort((minor, major))
    key = major * span + minor
    # NumPy sorts 16-bit numbers in linear time.
    return np.argsort(key.astype(np.uint16) if high <= 1 << 16 else key, kind="stable")


def _ports(columns: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    """Return ports sorted by region, then event; atoms of one region joined."""
    atom, event, provenance = columns.T
    ports = np.zeros(len(columns), PORT)
    ports["region"], ports["start"], ports["stop"] = atoms[atom].T
    ports["event"], ports["provenance"] = event, provenance
    ports = ports[np.lexsort((ports["start"], ports["event"], ports["region"]))]
    if not len(ports):
        return ports
    new = np.concatenate(([True], (np.diff(ports["event"]) != 0) | (np.diff(ports["region"]) != 0)))
    at = np.flatnonzero(new)
    joined = ports[at]
    joined["stop"] = np.maximum.reduceat(ports["stop"], at)
    joined["provenance"] = np.maximum.reduceat(ports["provenance"], at)
    return joined
