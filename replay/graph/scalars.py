"""Guessing the type of values that the file stores without one, from their bytes.

A number is taken for a float if its magnitude is one that people use, and for an integer if it is small.
The guess is never more than that: results are to be marked inferred.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from replay.elements import ElementType
from replay.graph.model import Reading

# Scalar types that a value of so many bytes may have, the first one if nothing speaks for another.
CANDIDATES: dict[int, tuple[str, ...]] = {
    1: ("uint8", "int8"),
    2: ("float16", "int16", "uint16"),
    4: ("float32", "int32", "uint32"),
    8: ("float64", "int64", "uint64"),
}
_SUFFIX = {
    "float16": "h", "float32": "f", "float64": "d", "int8": "b", "uint8": "ub", "int16": "s", "uint16": "us",
    "int32": "i", "uint32": "ui", "int64": "l", "uint64": "ul",
}  # fmt: skip
_LIMITS = {"f": (1e-9, 1e9), "i": (1, 1 << 24), "u": (1, 1 << 24)}


def plausibility(raw: np.ndarray, scalar: str) -> float | None:
    """Return the share of non-zero values that are sensible under a scalar type; None if all are zero.

    Args:
        raw: uint8 array, a whole number of scalars.
        scalar: a NumPy and Warp scalar name.
    """
    values = raw.view(np.dtype(scalar))
    bits = values.view(np.dtype(f"u{values.dtype.itemsize}"))
    values, bits = values[bits != 0], bits[bits != 0]
    if not len(values):
        return None
    low, high = _LIMITS[values.dtype.kind]
    if values.dtype.kind == "f":
        low = max(low, float(np.finfo(values.dtype).tiny))  # below, halves are rather small integers
    with np.errstate(all="ignore"):
        magnitude = np.abs(values.astype(np.float64))
        sensible = (magnitude >= low) & (magnitude <= high)
    if values.dtype.kind == "f":
        sensible |= np.isin(bits, _special_bits(values.dtype))
    return float(np.mean(sensible))


def _special_bits(dtype: np.dtype) -> np.ndarray:
    """Return the bits of floats that people mean though no magnitude says so: -0, the infinities, NaN."""
    meant = np.array([-0.0, np.inf, -np.inf, np.nan, -np.nan], dtype)
    return meant.view(np.dtype(f"u{dtype.itemsize}"))


def guess_scalar(raw: np.ndarray, size: int) -> str | None:
    """Return the most plausible scalar type of `size` bytes; None if all values are zero.

    Args:
        raw: uint8 array; a rest that fills no scalar is left out.
        size: 1, 2, 4 or 8.
    """
    raw = np.ascontiguousarray(raw[: len(raw) // size * size])
    scores = {name: plausibility(raw, name) for name in CANDIDATES[size]}
    told = {name: score for name, score in scores.items() if score is not None}
    if not told:
        return None
    best = max(told.values())
    if not best and size == 8 and not (np.abs(raw.view(np.float64)) >= np.finfo(np.float64).tiny).any():
        return "int64"  # large for an integer, but far too small for a double that somebody meant
    return next(name for name in CANDIDATES[size] if told.get(name) == best)


def lanes_of(nbytes: int, align: int) -> tuple[int, int] | None:
    """Return scalar size and number of scalars of a value, None if it is no scalar, vector or matrix.

    Args:
        nbytes: size of the value.
        align: its natural alignment, which is that of its scalars.
    """
    size = align if align in CANDIDATES else 4
    if nbytes % size or not nbytes:
        return None
    lanes = nbytes // size
    return (size, lanes) if lanes in _SHAPES else None


# How Warp names a value of so many scalars; 4 may be a vec4, a quat or a mat22.
_SHAPES = {1: "", 2: "vec2", 3: "vec3", 4: "vec4", 6: "spatial_vector", 7: "transform", 9: "mat33",
           16: "mat44", 36: "spatial_matrix"}  # fmt: skip


def element_name(scalar: str, lanes: int) -> str:
    """Return Warp's name of `lanes` scalars, such as `vec3f` for three of `float32`."""
    shape = _SHAPES[lanes]
    return shape + _SUFFIX[scalar] if shape else scalar


def guess_element(raw: np.ndarray, nbytes: int) -> ElementType | None:
    """Return the most plausible element type of `nbytes` bytes; None if all are zero or no type fits."""
    found: list[tuple[float, int, ElementType]] = []
    for size in (8, 4, 2, 1):
        lanes = nbytes // size
        if nbytes % size or lanes not in _SHAPES or (size < 4 and lanes > 1):
            continue
        usable = np.ascontiguousarray(raw[: len(raw) // nbytes * nbytes])
        scalar = guess_scalar(usable, size)
        if scalar is None:
            continue
        score = plausibility(usable, scalar) or 0.0
        if size == nbytes == 8 and _is_wide_integer(usable):
            scalar, score = "int64", 2.0
        # Two halves of a double rarely both look like floats: with equal scores four bytes win. A lower half
        # that is always 0 is that of a double with few digits.
        rank = 2 if size == 8 and scalar == "float64" and _lower_halves_are_zero(usable) else size == 4
        found.append((score, int(rank), ElementType.named(element_name(scalar, lanes))))
    return max(found, key=lambda item: item[:2])[2] if found else None


def other_elements(raw: np.ndarray, chosen: ElementType) -> tuple[str, ...]:
    """Return the other 8-byte element types under which all values make sense, such as `vec2f` for doubles.

    Args:
        raw: uint8 array; a rest that fills no element is left out.
        chosen: the type that was preferred. Its twin without a sign is not listed.
    """
    usable = np.ascontiguousarray(raw[: len(raw) // 8 * 8])
    names = {
        element_name(scalar, lanes): plausibility(usable, scalar)
        # Not a double: two floats that both make sense are hardly ever the halves of one.
        for scalar, lanes in (("int64", 1), ("float32", 2), ("int32", 2))
    }
    if chosen.name == "vec2i" and _lower_halves_are_zero(usable):
        names["int64"] = 1.0  # multiples of 2^32
    return tuple(name for name, score in names.items() if score == 1.0 and name != chosen.name)


def _lower_halves_are_zero(raw: np.ndarray) -> bool:
    return not raw.view(np.uint32)[::2].any()


def _is_wide_integer(raw: np.ndarray) -> bool:
    """Whether 8-byte words are small integers rather than pairs: upper halves extend the lower ones' signs.

    A vector whose second parts are all 0 looks the same if its first parts are small integers too.
    """
    words = raw.view(np.int32).reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    if not low.any() or not ((high == 0) | (high == -1)).all():
        return False
    floats = plausibility(np.ascontiguousarray(low).view(np.uint8), "float32") or 0.0
    return floats < 0.5


def default_element(nbytes: int) -> ElementType | None:
    """Return the element type of `nbytes` bytes that is the most common one, None if there is none."""
    if nbytes in CANDIDATES:
        return ElementType.named(CANDIDATES[nbytes][0])
    if nbytes % 4 == 0 and nbytes // 4 in _SHAPES:
        return ElementType.named(element_name("float32", nbytes // 4))
    if nbytes % 8 == 0 and nbytes // 8 in _SHAPES:
        return ElementType.named(element_name("float64", nbytes // 8))
    return None


def readings(raw: bytes, size: int, first: str | None = None) -> tuple[Reading, ...]:
    """Return a value under every type that it may have, the likeliest first.

    Args:
        raw: the value, a whole number of scalars.
        size: bytes of a scalar.
        first: the scalar type to put first; by default the one that `raw` speaks for.
    """
    if size not in CANDIDATES or not raw or len(raw) % size or len(raw) // size not in _SHAPES:
        return ()
    buffer = np.frombuffer(raw, np.uint8)
    best = first or guess_scalar(buffer, size) or CANDIDATES[size][0]
    order = [best, *(name for name in CANDIDATES[size] if name != best)]
    return tuple(Reading(element_name(name, len(raw) // size), value_of(raw, name)) for name in order)


def sensible_readings(raw: bytes) -> tuple[Reading, ...]:
    """Return a value under every element type of its size that makes sense, the likeliest first.

    Empty if none does, or if all bytes are 0, which is 0 under any type.
    """
    buffer = np.frombuffer(raw, np.uint8)
    found: list[tuple[bool, Reading]] = []
    likeliest = guess_element(buffer, len(raw))
    for size in CANDIDATES:
        lanes = len(raw) // size
        if len(raw) % size or lanes not in _SHAPES or (size < 4 and lanes > 1):
            continue
        taken: list[float | int | tuple[float, ...]] = []
        for scalar in CANDIDATES[size]:
            value = value_of(raw, scalar)
            whole = np.dtype(scalar).kind != "f"
            if whole and value in taken:
                continue  # a positive number is the same with and without a sign
            lowest = scalar.startswith("int") and value == np.iinfo(scalar).min
            if plausibility(buffer, scalar) == 1.0 or lowest:
                reading = Reading(element_name(scalar, lanes), value)
                found.append((likeliest is None or reading.type != likeliest.name, reading))
            if whole:
                taken.append(value)
    return tuple(reading for _, reading in sorted(found, key=lambda item: item[0]))


def value_of(raw: bytes, scalar: str) -> float | int | tuple[float, ...]:
    """Return raw bytes as a Python number, or as a tuple of them."""
    numbers: Sequence[float] = np.frombuffer(raw, np.dtype(scalar)).tolist()
    return numbers[0] if len(numbers) == 1 else tuple(numbers)


def scalar_of(type_name: str) -> str:
    """Return the scalar type of an element type, such as `float32` of `vec3f`."""
    return str(ElementType.named(type_name).scalar.name)


def number_text(value: float | int | tuple[float, ...]) -> str:
    """Return a value as text: floats as short as they can be told apart from others of their size."""
    if isinstance(value, tuple):
        return "(" + ", ".join(number_text(part) for part in value) + ")"
    if isinstance(value, float):
        # most floats are float32, whose shortest text is the one that was written in the source
        short = np.float32(value) if abs(value) <= np.finfo(np.float32).max else value
        return f"{short!s}" if float(short) == value else f"{value:.17g}"
    return str(value)
