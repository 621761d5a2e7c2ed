"""What a region holds, as a person reads it: a table, a histogram, a picture, counts, files.

Values only. A type and shape that the user gave go before those of the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from replay.elements import ElementType
from replay.errors import UsageError
from replay.graph.model import Region

MAGENTA = (255, 0, 255, 255)
PICTURE_SIDE = 512
_BINS = 48
_SAMPLED = 1 << 20
"""A histogram of more values is made of so many of them."""
TYPES = (
    "float32", "float64", "float16", "int32", "uint32", "int64", "uint64", "int16", "uint16", "int8", "uint8",
    "bool", "vec2f", "vec3f", "vec4f", "vec2i", "vec3i", "vec4i", "vec2d", "vec3d", "mat22f", "mat33f",
    "mat44f", "quatf", "transformf",
)  # fmt: skip


@dataclass(frozen=True)
class Typing:
    """How the bytes of a region are read.

    Attributes:
        element: of the array.
        shape: of the array; empty reads as many elements as there are.
        given: whether the user chose it.
    """

    element: ElementType
    shape: tuple[int, ...] = ()
    given: bool = False

    @classmethod
    def of_region(cls, region: Region) -> Typing:
        """Return what the model knows of a region; bytes where it knows nothing."""
        if region.element is None:
            return cls(ElementType.named("uint8"))
        return cls(region.element, region.shape or ())

    @classmethod
    def parsed(cls, type_name: str, shape: str, nbytes: int) -> Typing:
        """Return what a user typed, such as `float32` and `128x128` or `128, -1`.

        Raises:
            UsageError: the shape is none, or takes more bytes than the region holds.
            ParameterError: unknown type.
        """
        element = ElementType.named(type_name)
        words = shape.replace("×", " ").replace("x", " ").replace(",", " ").split()
        try:
            sides = [int(word) for word in words]
        except ValueError:
            raise UsageError(f"{shape!r} is no shape", remedy="give sides such as 128x128") from None
        count = nbytes // element.nbytes
        if sides.count(-1) == 1:
            rest = math.prod(side for side in sides if side != -1)
            sides[sides.index(-1)] = count // rest if rest > 0 else 0
        if any(side < 1 for side in sides) or (sides and math.prod(sides) > count):
            raise UsageError(
                f"{shape} of {type_name} does not fit", remedy=f"the region holds {count} of them"
            )
        return cls(element, tuple(sides), True)


def contents_of(raw: np.ndarray, typing: Typing) -> np.ndarray:
    """Return bytes as an array of a typing: its shape, then the element's own."""
    element = typing.element
    whole = raw[: len(raw) // element.nbytes * element.nbytes]
    values = whole.view(element.scalar).reshape(-1, *element.inner_shape)
    if typing.shape:
        count = math.prod(typing.shape)
        if count <= len(values):
            return values[:count].reshape(*typing.shape, *element.inner_shape)
    return values


@dataclass(frozen=True)
class Facts:
    """What is told of values.

    Attributes:
        low, high, mean: of the finite ones; None if there is none.
        nan, infinite: how many are so.
        counts: histogram of the finite ones between `low` and `high`, (bins,).
    """

    count: int
    low: float | None
    high: float | None
    mean: float | None
    nan: int
    infinite: int
    counts: np.ndarray


def facts_of(values: np.ndarray) -> Facts:
    """Return counts, range and histogram of all scalars."""
    flat = values.reshape(-1)
    if flat.dtype.kind == "b":
        flat = flat.view(np.uint8)
    nan = infinite = 0
    if flat.dtype.kind == "f":
        nan = int(np.count_nonzero(np.isnan(flat)))
        infinite = int(np.count_nonzero(np.isinf(flat)))
        finite = flat[np.isfinite(flat)] if nan or infinite else flat
    else:
        finite = flat
    if not len(finite):
        return Facts(len(flat), None, None, None, nan, infinite, np.zeros(_BINS, np.int64))
    low, high = float(finite.min()), float(finite.max())
    mean = float(finite.mean(dtype=np.float64))
    sampled = finite[:: max(1, len(finite) // _SAMPLED)].astype(np.float64)
    span = high - low
    if not math.isfinite(span) or span <= 0:
        counts = np.zeros(_BINS, np.int64)
        counts[_BINS // 2] = len(sampled)
    else:
        index = np.minimum(((sampled - low) * (_BINS / span)).astype(np.int64), _BINS - 1)
        counts = np.bincount(np.maximum(index, 0), minlength=_BINS)
    return Facts(len(flat), low, high, mean, nan, infinite, counts)


def picture_of(plane: np.ndarray, table: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return a plane of numbers as colours, uint8 (rows, columns, 4), at most `PICTURE_SIDE` a side.

    What is not finite is magenta, and stays so if only one cell under a pixel is.

    Args:
        plane: (rows, columns).
        table: colour map, uint8 (n, 3).
        bounds: values of its ends.
    """
    rows, columns = plane.shape
    step_y, step_x = -(-rows // PICTURE_SIDE), -(-columns // PICTURE_SIDE)
    shown = plane[::step_y, ::step_x].astype(np.float64)
    low, high = bounds
    with np.errstate(invalid="ignore", over="ignore"):
        share = (shown - low) / (high - low) if high > low else np.full(shown.shape, 0.5)
        index = np.clip(np.nan_to_num(share, nan=0.0) * (len(table) - 1) + 0.5, 0, len(table) - 1)
    pixels = np.empty((*shown.shape, 4), np.uint8)
    pixels[..., :3] = table[index.astype(np.int64)]
    pixels[..., 3] = 255
    if plane.dtype.kind == "f":
        wrong = np.argwhere(~np.isfinite(plane))
        if len(wrong):
            pixels[wrong[:, 0] // step_y, wrong[:, 1] // step_x] = MAGENTA
    return np.ascontiguousarray(pixels)


def save_npy(path: Path, values: np.ndarray) -> Path:
    """Write an array in NumPy's own format; return the path with its extension.

    Raises:
        UsageError: it cannot be written.
    """
    target = path if path.suffix == ".npy" else path.with_name(path.name + ".npy")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            np.save(file, values)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
    return target


def save_csv(path: Path, values: np.ndarray) -> Path:
    """Write an array as comma-separated numbers, its last dimension along a line.

    Raises:
        UsageError: it cannot be written.
    """
    target = path if path.suffix == ".csv" else path.with_name(path.name + ".csv")
    rows = values.reshape(-1, values.shape[-1]) if values.ndim > 1 else values.reshape(-1, 1)
    form = "%.9g" if values.dtype.itemsize <= 4 else "%.17g"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        np.savetxt(target, rows, form if values.dtype.kind == "f" else "%d", ",")
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror or error}") from None
    return target
