"""How an array is drawn: a pure mapping from element type and shape to pictures, the first one the likeliest.

The centre of the window and the inspector share it. What a picture looks like is not known here.
"""

from __future__ import annotations

import enum
import math

import numpy as np

from replay.elements import ElementType

MAGNITUDE = -1
"""In place of a component's number: the length of the vector."""
INDEX = -2
"""In place of a component's number: the place in the array; for the colour of points."""
_MOST_SHOWN = 16
"""Components of one element that are written out as a value."""
_AXES = "xyzw"
_TRANSFORM = ("px", "py", "pz", "qx", "qy", "qz", "qw")


class Way(str, enum.Enum):
    """A kind of picture."""

    VALUE = "value"
    LINE = "line"
    IMAGE = "image"
    COLOUR = "colours"
    POINTS = "points"


def ways_of(
    element: ElementType, shape: tuple[int, ...], known: tuple[int, int] | None = None
) -> tuple[Way, ...]:
    """Return the ways in which an array can be drawn, the one to begin with first; none if it is empty.

    Args:
        element: of the array.
        shape: of the array.
        known: rows and columns that the cells of a one-dimensional array are known to have.
    """
    count, inner = math.prod(shape), element.inner_shape
    if not count:
        return ()
    if count == 1:
        return (Way.VALUE,) if math.prod(inner) <= _MOST_SHOWN else (Way.LINE,)
    if len(shape) <= 1:
        if places_of(element) is not None:
            return Way.POINTS, Way.LINE
        return (Way.IMAGE, Way.LINE) if known is not None else (Way.LINE,)
    if inner in ((3,), (4,)):
        is_colour = element.scalar == np.uint8
        return (Way.COLOUR, Way.IMAGE) if is_colour else (Way.IMAGE, Way.COLOUR)
    if not inner and len(shape) == 3 and shape[2] in (3, 4) and element.scalar == np.uint8:
        return Way.COLOUR, Way.IMAGE
    return (Way.IMAGE,)


def places_of(element: ElementType) -> int | None:
    """Return how many of an element's first components are a place in space, None if it is no place."""
    if element.scalar.kind not in "fiu" or element.scalar.itemsize == 1:
        return None
    if element.name.startswith("transform"):
        return 3
    return element.inner_shape[0] if element.inner_shape in ((2,), (3,)) else None


def component_names(element: ElementType) -> tuple[str, ...]:
    """Return the names of an element's scalars, in order; empty for a scalar."""
    inner = element.inner_shape
    if not inner:
        return ()
    if element.name.startswith("transform"):
        return _TRANSFORM
    if len(inner) == 2:
        return tuple(f"[{row},{column}]" for row in range(inner[0]) for column in range(inner[1]))
    return tuple(_AXES[: inner[0]]) if inner[0] <= len(_AXES) else tuple(f"[{k}]" for k in range(inner[0]))


def choices_of(element: ElementType, way: Way) -> tuple[tuple[str, int], ...]:
    """Return what of an element a picture may show: labels and components, the one to begin with first."""
    named = tuple((name, number) for number, name in enumerate(component_names(element)))
    has_length = len(element.inner_shape) == 1 and not element.name.startswith("transform")
    length = (("length", MAGNITUDE),) if has_length else ()
    if way is Way.POINTS:
        return (("index", INDEX), *named, *length)
    if way is Way.IMAGE:
        return (*length, *named)
    return (*named, *length) if way is Way.LINE else ()


def scalars_of(values: np.ndarray, dimensions: int, component: int) -> np.ndarray:
    """Return one number for each element.

    Args:
        values: of the array's `dimensions`, then the element's own.
        dimensions: of the array.
        component: a scalar's number, or MAGNITUDE.

    Returns:
        Of the array's shape; bools are uint8.
    """
    if values.dtype.kind == "b":
        values = values.view(np.uint8)
    if values.ndim == dimensions:
        return values
    flat = values.reshape(*values.shape[:dimensions], -1)
    if component != MAGNITUDE:
        return flat[..., min(max(component, 0), flat.shape[-1] - 1)]
    with np.errstate(over="ignore", invalid="ignore"):
        if flat.dtype == np.float32:  # in its own precision, for it is looked at, not computed with
            return np.sqrt(np.einsum("...k,...k->...", flat, flat))
        return np.linalg.norm(flat.astype(np.float64), axis=-1)


def planes_of(way: Way, element: ElementType, shape: tuple[int, ...]) -> int:
    """Return how many pictures of rows and columns lie behind each other in an array."""
    if len(shape) < 3 or way not in (Way.IMAGE, Way.COLOUR):
        return 1
    return math.prod(shape[:-3]) if is_stacked_colour(way, element) else math.prod(shape[:-2])


def is_stacked_colour(way: Way, element: ElementType) -> bool:
    """Whether the colours lie along the last dimension of the array and not within its elements."""
    return way is Way.COLOUR and not element.inner_shape


def plane_of(scalars: np.ndarray, plane: int, known: tuple[int, int] | None = None) -> np.ndarray:
    """Return the rows and columns that an image shows.

    Args:
        scalars: of the array's shape.
        plane: which one, where there are more than two dimensions.
        known: rows and columns of a one-dimensional array; else it is one row.
    """
    if scalars.ndim < 2:
        rows, columns = known if known is not None else (1, scalars.size)
        return scalars.reshape(-1)[: rows * columns].reshape(rows, columns)
    planes = scalars.reshape(-1, *scalars.shape[-2:])
    return planes[min(max(plane, 0), len(planes) - 1)]


def colours_of(values: np.ndarray, element: ElementType, plane: int) -> np.ndarray:
    """Return an image of colours, uint8 (rows, columns, 4); what is not finite is magenta.

    Numbers of bytes are colours as they are, floats run from 0 to 1, other integers fill their own range.
    """
    planes = values.reshape(-1, *values.shape[-3:])
    cells = planes[min(max(plane, 0), len(planes) - 1)]
    pixels = np.full((*cells.shape[:2], 4), 255, np.uint8)
    if cells.dtype == np.uint8:
        pixels[..., :3] = cells[..., :3]
        return pixels
    shown = cells[..., :3].astype(np.float64)
    if cells.dtype.kind != "f":
        shown /= max(float(np.abs(shown).max(initial=0.0)), 1.0)
    wrong = ~np.isfinite(shown).all(-1)
    pixels[..., :3] = np.rint(np.clip(np.nan_to_num(shown), 0, 1) * 255)
    pixels[wrong, :3] = (255, 0, 255)
    return pixels


def known_square(count: int) -> tuple[int, int] | None:
    """Return rows and columns of a square with so many cells; None where it is none or a short row."""
    side = math.isqrt(count)
    return (side, side) if side >= 8 and side * side == count else None
