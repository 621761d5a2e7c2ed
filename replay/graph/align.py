"""Which items of two sequences belong together: the longest parts that agree, in near-linear time.

Equal ends first, then items that occur once in both (patience), then Myers' shortest edit script where few
edits suffice ("An O(ND) difference algorithm", Algorithmica 1986). Where all of that finds nothing cheaply,
items are matched step by step. Tokens are numbers; equal numbers are equal items.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

MOST_EDITS = 400
_DEEPEST = 200
_AHEAD = 24

Pairs = list[tuple[int, int]]


def align(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """Return positions (in `a`, in `b`) of equal items, ascending in both."""
    pairs: Pairs = []
    waiting = [(0, len(a), 0, len(b), 0)]
    while waiting:
        low_a, high_a, low_b, high_b, depth = waiting.pop()
        while low_a < high_a and low_b < high_b and a[low_a] == b[low_b]:
            pairs.append((low_a, low_b))
            low_a, low_b = low_a + 1, low_b + 1
        while low_a < high_a and low_b < high_b and a[high_a - 1] == b[high_b - 1]:
            high_a, high_b = high_a - 1, high_b - 1
            pairs.append((high_a, high_b))
        if low_a == high_a or low_b == high_b:
            continue
        anchors = _unique(a, b, low_a, high_a, low_b, high_b) if depth < _DEEPEST else []
        if anchors:
            at_a, at_b = low_a, low_b
            for one, other in [*anchors, (high_a, high_b)]:
                waiting.append((at_a, one, at_b, other, depth + 1))
                at_a, at_b = one + 1, other + 1
            pairs += anchors
            continue
        found = _myers(a[low_a:high_a], b[low_b:high_b])
        if found is None:
            found = _greedy(a[low_a:high_a], b[low_b:high_b])
        pairs += [(low_a + one, low_b + other) for one, other in found]
    return sorted(pairs)


def _unique(a: Sequence[int], b: Sequence[int], low_a: int, high_a: int, low_b: int, high_b: int) -> Pairs:
    """Return the longest ascending chain of items that occur exactly once in both parts."""
    once_a, once_b = _once(a, low_a, high_a), _once(b, low_b, high_b)
    both = sorted((at, once_b[token]) for token, at in once_a.items() if token in once_b)
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, other) in enumerate(both):
        at = bisect_left(tails, other)
        before.append(ends[at - 1] if at else -1)
        tails[at:] = [other] if at == len(tails) else [other, *tails[at + 1 :]]
        ends[at:] = [number] if at == len(ends) else [number, *ends[at + 1 :]]
    chain: Pairs = []
    number = ends[-1] if ends else -1
    while number >= 0:
        chain.append(both[number])
        number = before[number]
    return chain[::-1]


def _once(tokens: Sequence[int], low: int, high: int) -> dict[int, int]:
    places: dict[int, int] = {}
    for at in range(low, high):
        places[tokens[at]] = -1 if tokens[at] in places else at
    return {token: at for token, at in places.items() if at >= 0}


def _myers(a: Sequence[int], b: Sequence[int]) -> Pairs | None:
    """Return the matches of a shortest edit script; None if it has more than `MOST_EDITS` edits."""
    furthest = {1: 0}
    trace: list[dict[int, int]] = []
    for edits in range(min(len(a) + len(b), MOST_EDITS) + 1):
        trace.append(dict(furthest))
        for diagonal in range(-edits, edits + 1, 2):
            down = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(a) and y < len(b) and a[x] == b[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(a) and y >= len(b):
                return _traced(trace, len(a), len(b))
    return None


def _traced(trace: list[dict[int, int]], x: int, y: int) -> Pairs:
    pairs: Pairs = []
    for edits in range(len(trace) - 1, -1, -1):
        furthest, diagonal = trace[edits], x - y
        down = diagonal == -edits or (diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1])
        before = diagonal + 1 if down else diagonal - 1
        old_x = furthest[before] if edits else 0
        old_y = old_x - before if edits else 0
        while x > old_x and y > old_y:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if edits:
            x, y = old_x, old_y
    return pairs[::-1]


def _greedy(a: Sequence[int], b: Sequence[int]) -> Pairs:
    """Match step by step: where items differ, go on at the nearest two that agree, a few items ahead."""
    pairs: Pairs = []
    x = y = 0
    while x < len(a) and y < len(b):
        step = next(
            (
                (ahead, total - ahead)
                for total in range(_AHEAD)
                for ahead in range(total + 1)
                if x + ahead < len(a) and y + total - ahead < len(b) and a[x + ahead] == b[y + total - ahead]
            ),
            None,
        )
        if step is not None:
            x, y = x + step[0], y + step[1]
            pairs.append((x, y))
        x, y = x + 1, y + 1
    return pairs
