"""Members of a struct argument that differ: where they lie, and what they may be.

The file stores a struct as bytes, without names and types of its members, so each is told by its place and
by every reading that makes sense; pointers and arrays are told as such, and are left out here.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from replay.graph.model import Argument
from replay.graph.scalars import guess_scalar, number_text, plausibility, value_of
from replay.wrp import layout


def changed_members(
    old: Argument, new: Argument, before: bytes, after: bytes
) -> Iterator[tuple[int, str, str]]:
    """Yield (first byte, old text, new text) for each member that differs.

    Args:
        old, new: the arguments, of equal size.
        before, after: their bytes without addresses of the recording process.
    """
    covered = np.zeros(len(before), bool)
    for view in (*old.arrays, *new.arrays):
        if view.path.startswith("+") and "." not in view.path and view.shape:
            at = int(view.path[1:])
            covered[at : at + layout.ARRAY.itemsize] = True
    differs = np.frombuffer(before, np.uint8) != np.frombuffer(after, np.uint8)
    places = np.flatnonzero(differs & ~covered)
    for word in dict.fromkeys((places // 8 * 8).tolist()):
        inside = places[(places >= word) & (places < word + 8)]
        parts = list(dict.fromkeys((inside // 4 * 4).tolist()))
        wide = _wide(before, after, word) if len(before) % 8 == 0 else ""
        narrow = [(part, _narrow(before, after, part)) for part in parts]
        halves = all(_sensible(before, after, part, name) for part, name in narrow)
        lower = before[word : word + 4] + after[word : word + 4]
        if wide == "int64":
            wide, halves = wide if word + 4 in parts else "", False
        elif wide and any(lower):
            # Two halves of a double rarely both look like numbers.
            halves &= _sensible(before, after, word, _narrow(before, after, word))
            wide = "" if halves else wide
        if not wide:
            for part, name in narrow:
                yield part, _told(before, part, name), _told(after, part, name)
            continue
        texts = []
        for data in (before, after):
            others = [f"{_told(data, part, name)} at byte {part}" for part, name in narrow if halves]
            texts.append(" or ".join([_told(data, word, wide), *others]))
        yield word, texts[0], texts[1]


def _wide(before: bytes, after: bytes, place: int) -> str:
    """Return the 8-byte type that makes sense for both values, empty if none does."""
    both = np.frombuffer(before[place : place + 8] + after[place : place + 8], np.uint8)
    if plausibility(both, "float64") == 1.0:
        return "float64"
    low, high = both.view(np.int32).reshape(-1, 2).T
    # A wide integer only extends its sign into the upper half; two side by side fill it otherwise.
    return "int64" if (high == low >> 31).all() else ""


def _narrow(before: bytes, after: bytes, place: int) -> str:
    size = 4 if place + 4 <= len(before) else 1
    both = np.frombuffer(before[place : place + size] + after[place : place + size], np.uint8)
    return guess_scalar(both, size) or "float32"


def _sensible(before: bytes, after: bytes, place: int, scalar: str) -> bool:
    size = np.dtype(scalar).itemsize
    both = np.frombuffer(before[place : place + size] + after[place : place + size], np.uint8)
    return plausibility(both, scalar) == 1.0


def _told(data: bytes, place: int, scalar: str) -> str:
    size = np.dtype(scalar).itemsize
    return f"{number_text(value_of(data[place : place + size], scalar))} ({scalar})"
