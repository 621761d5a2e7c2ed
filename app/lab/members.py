"""A struct argument member by member: arrays where the file relocates pointers, numbers between them.

The file stores a struct as bytes, so names are not known and types are inferred from the values, until the
user chooses others. Values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from replay.elements import ElementType
from replay.graph.model import Argument, ArrayView
from replay.graph.scalars import guess_scalar, plausibility, value_of
from replay.wrp import layout

_NARROW = ("float32", "int32", "uint32")
_WIDE = ("float64", "int64", "uint64")
_LARGEST = 1024
"""Structs of more bytes are told by their pointers only."""


@dataclass(frozen=True)
class Member:
    """A part of a struct.

    Attributes:
        offset: its first byte in the argument.
        type: a Warp scalar type; empty for an array, a pointer, or bytes that fill no number.
        value: the number; None where there is none.
        view: the array or pointer, None for a number.
        choices: other types that the bytes can be read as.
    """

    offset: int
    type: str
    value: float | int | None
    view: ArrayView | None
    choices: tuple[str, ...] = ()


def is_struct(argument: Argument) -> bool:
    """Whether an argument is a struct, so that it has members and no value of its own."""
    return argument.type.startswith("struct")


def members_of(argument: Argument, chosen: Mapping[int, str] | None = None) -> tuple[Member, ...]:
    """Return the members of a struct argument by their place.

    Args:
        argument: with its values.
        chosen: types that the user gave to numbers, by their first byte.
    """
    chosen = chosen or {}
    raw = argument.raw
    covered = np.zeros(len(raw), bool)
    members: list[Member] = []
    for view in argument.arrays:
        place = view.path.removeprefix("+").partition(".")[0]
        at = int(place) if place.isdigit() else 0
        nested = "." in view.path or not view.path.startswith("+")
        if not nested:
            described = bool(view.shape) or view.region is None
            covered[at : at + (layout.ARRAY.itemsize if described else 8)] = True
        members.append(Member(at, "", None, view))
    if len(raw) <= _LARGEST:
        members += _numbers(raw, covered, chosen)
    return tuple(sorted(members, key=lambda member: member.offset))


def _numbers(raw: bytes, covered: np.ndarray, chosen: Mapping[int, str]) -> list[Member]:
    found, at = [], 0
    while at < len(raw):
        if covered[at]:
            at += 1
            continue
        wide = at % 8 == 0 and len(raw) % 8 == 0 and at + 8 <= len(raw) and not covered[at : at + 8].any()
        if at % 4 or at + 4 > len(raw) or covered[at : at + 4].any():
            found.append(Member(at, "uint8", raw[at], None, ("uint8", "int8", "bool")))
            at += 1
            continue
        scalar = chosen.get(at) or _guess(raw, at, wide=wide)
        if scalar in _WIDE and not wide:
            scalar = _guess(raw, at, wide=False)
        size = ElementType.named(scalar).nbytes
        value = value_of(raw[at : at + size], scalar)
        assert not isinstance(value, tuple)
        found.append(Member(at, scalar, value, None, _NARROW + (_WIDE if wide else ())))
        at += size
    return found


def _guess(raw: bytes, at: int, *, wide: bool) -> str:
    """Return the likeliest type of the number at a byte: two of four bytes go before one of eight."""
    word = np.frombuffer(raw[at : at + 8], np.uint8)
    narrow = [guess_scalar(word[side : side + 4], 4) for side in (0, 4)] if wide else []
    if wide and word.any():
        halves = all(
            name is None or plausibility(word[side : side + 4], name) == 1.0
            for side, name in zip((0, 4), narrow, strict=True)
        )
        if plausibility(word, "float64") == 1.0 and (not halves or narrow[0] is None):
            return "float64"
        low, high = word.view(np.uint32).tolist()
        if not halves and low > 1 << 24 and high < 1 << 15:
            return "uint64"  # an address, such as the id of a mesh
    return guess_scalar(word[:4], 4) or "float32"
