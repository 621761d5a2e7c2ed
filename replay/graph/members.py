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

_ROUND = 6  # decimal digits of a number that somebody wrote


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
        # What is left behind the last four bytes is told byte by byte.
        whole = inside // 4 * 4
        parts = list(dict.fromkeys(np.where(whole + 4 <= len(before), whole, inside).tolist()))
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
                packed = _packed(before, after, part, name)
                told = [
                    " or ".join([_told(data, part, name), *_each(data, packed)]) for data in (before, after)
                ]
                yield part, told[0], told[1]
            continue
        texts = []
        for data in (before, after):
            others = _each(data, narrow if halves else [])
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


def _packed(before: bytes, after: bytes, place: int, scalar: str) -> list[tuple[int, str]]:
    """Return place and type of smaller members that may share four bytes, if these are no round number."""
    values = [value_of(data[place : place + np.dtype(scalar).itemsize], scalar) for data in (before, after)]
    if not any(isinstance(value, float) and len(_digits(value)) > _ROUND for value in values):
        return []
    places = [place + number for number in range(4) if before[place + number] != after[place + number]]
    found: list[tuple[int, str]] = []
    for start in (place, place + 2):
        inside = [one for one in places if start <= one < start + 2]
        both = np.frombuffer(before[start : start + 2] + after[start : start + 2], np.uint8)
        if inside and plausibility(both, "float16") == 1.0 and both[1] and both[3]:
            found.append((start, "float16"))
        elif len(inside) == 1:
            large = max(before[inside[0]], after[inside[0]]) > 127
            found.append((inside[0], "int8" if large else "uint8"))
        elif inside:
            found.append((start, "int16"))
    return found


def _digits(value: float) -> str:
    return number_text(value).partition("e")[0].replace(".", "").strip("-0")


def _each(data: bytes, places: list[tuple[int, str]]) -> list[str]:
    return [f"{_told(data, place, scalar)} at byte {place}" for place, scalar in places]


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
