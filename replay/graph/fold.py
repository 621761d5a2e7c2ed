"""Folding: a long sequence of operations told as repeats, such as `(displace, solve x 16) x 8`.

A pure function from numbers to a tree of runs. Equal neighbours fold first, then groups of two, and so on,
until nothing repeats; so repeats nest. Time is near linear in the length for sequences that people record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from replay.graph.model import Capture

_PERIODS_PER_PASS = 64
_PASSES = 64


@dataclass(frozen=True)
class Run:
    """Part of a sequence: one item, or a group of runs, `count` times.

    Attributes:
        start: position of the first item.
        length: items in one repeat.
        count: repeats, at least 1.
        items: the runs of one repeat; empty for a single item.
    """

    start: int
    length: int
    count: int
    items: tuple[Run, ...] = ()

    @property
    def total(self) -> int:
        """Items in all repeats."""
        return self.length * self.count


def fold(keys: Sequence[int] | np.ndarray) -> tuple[Run, ...]:
    """Return a sequence as runs, in order; together they hold every position once.

    Args:
        keys: a number for each item; items with equal numbers may fold.
    """
    tokens = np.asarray(keys, np.int64).copy()
    if not len(tokens):
        return ()
    tokens = np.unique(tokens, return_inverse=True)[1].reshape(-1).astype(np.int64)
    grammar = _Grammar(int(tokens.max()) + 1)
    for _ in range(_PASSES):
        folded = _fold_once(tokens, grammar)
        if folded is None:
            break
        tokens = folded
    runs: list[Run] = []
    position = 0
    for token in tokens.tolist():
        runs.append(grammar.expand(token, position))
        position += runs[-1].total
    return tuple(runs)


class _Grammar:
    """What folded tokens stand for: a body of tokens and a count."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._rules: list[tuple[tuple[int, ...], int]] = []
        self._numbers: dict[tuple[tuple[int, ...], int], int] = {}

    def token(self, body: tuple[int, ...], count: int) -> int:
        """Return the token of a repeat, the same one for the same repeat."""
        rule = (body, count)
        if rule not in self._numbers:
            self._numbers[rule] = self._first + len(self._rules)
            self._rules.append(rule)
        return self._numbers[rule]

    def expand(self, token: int, position: int) -> Run:
        """Return the run of a token that starts at a position."""
        if token < self._first:
            return Run(position, 1, 1)
        body, count = self._rules[token - self._first]
        items: list[Run] = []
        at = position
        for part in body:
            items.append(self.expand(part, at))
            at += items[-1].total
        if len(items) == 1 and items[0].count == 1 and not items[0].items:
            return Run(position, 1, count)
        return Run(position, at - position, count, tuple(items))


def _fold_once(tokens: np.ndarray, grammar: _Grammar) -> np.ndarray | None:
    """Fold the shortest period that repeats anywhere; None if none does."""
    for period in _periods(tokens):
        equal = np.concatenate([tokens[period:] == tokens[:-period], [False]])
        # Runs of equality: starts and lengths.
        edges = np.flatnonzero(np.diff(np.concatenate([[False], equal, [False]]).astype(np.int8)))
        starts, lengths = edges[::2], edges[1::2] - edges[::2]
        useful = lengths >= period
        if useful.any():
            return _replace(tokens, period, starts[useful], lengths[useful], grammar)
    return None


def _periods(tokens: np.ndarray) -> list[int]:
    """Return distances between equal neighbours that may be periods, the shortest first."""
    order = np.argsort(tokens, kind="stable")
    same = tokens[order][1:] == tokens[order][:-1]
    distances, counts = np.unique(np.diff(order)[same], return_counts=True)
    keep = distances <= len(tokens) // 2
    distances, counts = distances[keep], counts[keep]
    if len(distances) > _PERIODS_PER_PASS:
        likely = np.argsort(-counts, kind="stable")[:_PERIODS_PER_PASS]
        distances = np.sort(distances[likely])
    return [int(distance) for distance in distances]


def _replace(
    tokens: np.ndarray, period: int, starts: np.ndarray, lengths: np.ndarray, grammar: _Grammar
) -> np.ndarray:
    """Replace each repeat of a period by one token."""
    pieces: list[np.ndarray] = []
    done = 0
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        if start < done:
            length -= done - start
            start = done
        count = length // period + 1
        if count < 2:
            continue
        body = tuple(tokens[start : start + period].tolist())
        pieces.append(tokens[done:start])
        pieces.append(np.array([grammar.token(body, count)], np.int64))
        done = start + period * count
    pieces.append(tokens[done:])
    return np.concatenate(pieces)


@dataclass(frozen=True)
class Folded:
    """A run of events of one stream, with what repeats inside conditionals.

    Attributes:
        event: event of the first item.
        label: what a person calls it; empty for a group.
        count: repeats.
        items: the runs of one repeat of a group.
        branches: for an IF or WHILE, the folded branches by name, of its first repeat.
    """

    event: int
    label: str
    count: int
    items: tuple[Folded, ...] = ()
    branches: tuple[tuple[str, tuple[Folded, ...]], ...] = ()

    def __str__(self) -> str:
        body = self.label or "(" + ", ".join(map(str, self.items)) + ")"
        return f"{body} x {self.count}" if self.count > 1 else body


def fold_capture(capture: Capture) -> tuple[Folded, ...]:
    """Return the outermost stream of a capture, folded by kernel and launch shape.

    Conditionals fold only with conditionals whose branches hold the same. Scalars are not compared: they
    stay visible in the operations.
    """
    from replay.graph.operations import LazyOperations

    operations = capture.operations
    if not isinstance(operations, LazyOperations) or not len(operations):
        return ()
    table, labels = operations.table, operations.labels
    codes = operations.label_of.copy()
    seen: dict[tuple[object, ...], int] = {}
    # Inner streams have larger event numbers: from the last conditional to the first, each knows its branches.
    for event in sorted(table.children, reverse=True):
        inside = np.array(table.children[event])
        names = table.frame_of[inside] - table.frame_of[inside[0]]
        key = (int(codes[event]), names.tobytes(), codes[inside].tobytes())
        codes[event] = len(labels) + seen.setdefault(key, len(seen))

    def told(events: np.ndarray) -> tuple[Folded, ...]:
        return tuple(_tell(run, events, label, branches) for run in fold(codes[events]))

    def label(event: int) -> str:
        return labels[operations.label_of[event]]

    def branches(event: int) -> tuple[tuple[str, tuple[Folded, ...]], ...]:
        inside = np.array(table.children.get(event, ()), np.int64)
        frames = table.frame_of[inside]
        return tuple(
            (table.frames[frame].branch, told(inside[frames == frame]))
            for frame in np.unique(frames).tolist()
        )

    return told(np.asarray(capture.top_level, np.int64))


def _tell(
    run: Run,
    events: np.ndarray,
    label: Callable[[int], str],
    branches: Callable[[int], tuple[tuple[str, tuple[Folded, ...]], ...]],
) -> Folded:
    event = int(events[run.start])
    if run.items:
        return Folded(event, "", run.count, tuple(_tell(item, events, label, branches) for item in run.items))
    return Folded(event, label(event), run.count, (), branches(event))
