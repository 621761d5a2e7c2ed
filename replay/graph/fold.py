"""Folding: a long sequence of operations told as repeats, such as `(displace, solve x 16) x 8`.

A pure function from numbers to a tree of runs. The period that shortens the sequence most folds first, then
what is left, then the inside of each repeat; so repeats nest. Periods are guessed from the distances between
equal items and between equal windows, so time is near linear in the length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from replay.graph.model import Capture

_PERIODS = 12  # candidates from each size of window
_WINDOWS = (1, 4, 32)
_PASSES = 12
_HASH = np.array([0x9E3779B97F4A7C15], np.uint64)  # an array, whose products wrap without a warning
_DEEPEST = 24  # levels of conditionals that are told one in another


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
    tokens = _compress(tokens, grammar)
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

    def token(self, body: np.ndarray, count: int) -> int:
        """Return the token of a repeat, the same one for the same repeat; its body is folded too."""
        rule = (tuple(_compress(body, self).tolist()), count)
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


def _compress(tokens: np.ndarray, grammar: _Grammar) -> np.ndarray:
    """Return a sequence of tokens with its repeats replaced by tokens that stand for them."""
    for _ in range(_PASSES):
        best = max((_gain(tokens, period), -period) for period in (*_periods(tokens), 0))
        if best[0] <= 0:
            break
        tokens = _replace(tokens, -best[1], grammar)
    return tokens


def _stretches(tokens: np.ndarray, period: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where repeats of a period begin, and how many positions there equal the one a period on."""
    equal = np.zeros(len(tokens) + 1, np.int8)
    equal[1 : len(tokens) - period + 1] = tokens[period:] == tokens[:-period]
    edges = np.flatnonzero(np.diff(equal, append=0))
    starts, lengths = edges[::2], edges[1::2] - edges[::2]
    useful = lengths >= period
    return starts[useful], lengths[useful]


def _gain(tokens: np.ndarray, period: int) -> int:
    """Return how many tokens shorter the sequence becomes if a period is folded."""
    if period == 0:
        return 0
    _, lengths = _stretches(tokens, period)
    return int(((lengths // period + 1) * period - 1).sum())


def _periods(tokens: np.ndarray) -> set[int]:
    """Return distances between equal items, or equal windows of items, that may be periods."""
    found: set[int] = set()
    for window in _WINDOWS:
        if len(tokens) < 2 * window:
            break
        marks, width, power = tokens.astype(np.uint64), 1, _HASH
        while width < window:  # the hash of twice the window from that of two halves; wraps at 2^64
            marks = marks[:-width] * power + marks[width:]
            power, width = power * power, 2 * width
        order = np.argsort(marks, kind="stable")
        same = marks[order][1:] == marks[order][:-1]
        distances, counts = np.unique(np.diff(order)[same], return_counts=True)
        keep = distances <= len(tokens) // 2
        distances, counts = distances[keep], counts[keep]
        found.update(distances[np.argsort(-counts, kind="stable")[:_PERIODS]].tolist())
    return found


def _replace(tokens: np.ndarray, period: int, grammar: _Grammar) -> np.ndarray:
    """Replace each repeat of a period by one token."""
    pieces: list[np.ndarray] = []
    done = 0
    for start, length in zip(*(part.tolist() for part in _stretches(tokens, period)), strict=True):
        begin = max(start, done)
        count = (start + length - begin) // period + 1
        if count < 2:
            continue
        pieces.append(tokens[done:begin])
        pieces.append(np.array([grammar.token(tokens[begin : begin + period], count)], np.int64))
        done = begin + period * count
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
        omitted: operations that this stands for without telling them, nested too deep.
    """

    event: int
    label: str
    count: int
    items: tuple[Folded, ...] = ()
    branches: tuple[tuple[str, tuple[Folded, ...]], ...] = ()
    omitted: int = 0

    def __str__(self) -> str:
        body = self.label or "(" + ", ".join(map(str, self.items)) + ")"
        return f"{body} x {self.count}" if self.count > 1 else body


def fold_capture(capture: Capture) -> tuple[Folded, ...]:
    """Return the outermost stream of a capture, folded by kernel and launch shape.

    Conditionals fold only with conditionals whose branches hold the same. Scalars are not compared: they
    stay visible in the operations. Conditionals nested very deep are only counted.
    """
    from replay.graph.operations import LazyOperations

    operations = capture.operations
    if not isinstance(operations, LazyOperations) or not len(operations):
        return ()
    table, labels = operations.table, operations.labels
    codes = operations.label_of.copy()
    seen: dict[tuple[object, ...], int] = {}
    # Inner streams have larger event numbers: from last to first, each conditional knows its branches.
    for event in sorted(table.children, reverse=True):
        inside = np.array(table.children[event])
        names = table.frame_of[inside] - table.frame_of[inside[0]]
        key = (int(codes[event]), names.tobytes(), codes[inside].tobytes())
        codes[event] = len(labels) + seen.setdefault(key, len(seen))

    def told(events: np.ndarray) -> tuple[Folded, ...]:
        return tuple(_tell(run, events, label, branches) for run in fold(codes[events]))

    def label(event: int) -> str:
        return str(labels[operations.label_of[event]])

    def branches(event: int) -> tuple[tuple[str, tuple[Folded, ...]], ...]:
        inside = np.array(table.children.get(event, ()), np.int64)
        found = []
        for frame in np.unique(table.frame_of[inside]).tolist():
            events = inside[table.frame_of[inside] == frame]
            deep = table.frames[frame].depth > _DEEPEST
            left_out = Folded(int(events[0]), f"{len(events)} operations", 1, omitted=len(events))
            runs = (left_out,) if deep else told(events)
            found.append((table.frames[frame].branch, runs))
        return tuple(found)

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
