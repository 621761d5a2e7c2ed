"""A shaded picture of a height field seen from straight above, by NumPy and Pillow alone.

For machines with no OpenGL: the demo, the checks, pictures in reports. Same field, same picture, on any
machine. It is no substitute for the 3D view: no camera, no shadows, and relief is exaggerated until small
waves show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PIL import Image

from replay.errors import UsageError

NAN_COLOUR = (255, 0, 255)
MARGIN_COLOUR = (14, 18, 26)
WALL_COLOUR = (92, 84, 74)

_DEEP = np.array([0.004, 0.024, 0.085], np.float32)
_WATER = np.array([0.008, 0.150, 0.300], np.float32)
_TURQUOISE = np.array([0.185, 0.640, 0.650], np.float32)
_ZENITH = np.array([0.200, 0.420, 0.700], np.float32)
_HORIZON = np.array([0.800, 0.900, 0.960], np.float32)
_SUN = np.array([1.000, 0.950, 0.850], np.float32)

# Toward the sun, x right, y down the picture, z up: from the upper left, as relief is usually lit.
_SUN_DIRECTION = np.array([-0.42, -0.52, 0.744], np.float32)
_STEEPEST = 0.55  # the slope that the steepest hundredth of the water is brought to
_BAND = 1 << 20  # pixels that are shaded at once: each takes some 200 bytes meanwhile
LARGEST = 8192 * 8192  # pixels of a picture; shading that many takes some ten seconds
_LARGEST_GAIN = 25.0  # so that rounding noise on still water does not look like waves


def _fit(grid: tuple[int, int], size: tuple[int, int]) -> tuple[int, int, int, int]:
    """Return left, top, width, height of the largest rectangle of the grid's aspect within the picture."""
    rows, columns = grid
    scale = min(size[0] / columns, size[1] / rows)
    width, height = max(1, round(columns * scale)), max(1, round(rows * scale))
    return (size[0] - width) // 2, (size[1] - height) // 2, width, height


@dataclass(frozen=True)
class _Band:
    """Rows `first` to `stop` of a picture of width x height pixels."""

    width: int
    height: int
    first: int
    stop: int

    def of(self, field: Image.Image, resampling: Image.Resampling) -> npt.NDArray[np.float32]:
        """Resample these rows of a field; filters reach over the band's edges, so that bands do not show."""
        scale = field.height / self.height
        box = (0.0, self.first * scale, field.width, min(self.stop * scale, field.height))
        rows = field.resize((self.width, self.stop - self.first), resampling, box)
        return np.asarray(rows, np.float32)


def _bands(width: int, height: int) -> Iterator[_Band]:
    rows = max(1, _BAND // width)
    for first in range(0, height, rows):
        yield _Band(width, height, first, min(first + rows, height))


def _image(field: np.ndarray) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(field, np.float32))


def _slopes(heights: np.ndarray, dx: float) -> tuple[np.ndarray, np.ndarray]:
    """Central differences along x and y; zero across an axis of one cell."""
    along_y = np.gradient(heights, dx, axis=0) if heights.shape[0] > 1 else np.zeros_like(heights)
    along_x = np.gradient(heights, dx, axis=1) if heights.shape[1] > 1 else np.zeros_like(heights)
    return along_x, along_y


def _mix(low: np.ndarray, high: np.ndarray, amount: np.ndarray) -> np.ndarray:
    return low + (high - low) * amount[..., None]


def _shade(level: np.ndarray, slope_x: np.ndarray, slope_y: np.ndarray, curve: np.ndarray) -> np.ndarray:
    """Return linear colours (h, w, 3) of water.

    Args:
        level: height, about -1 in troughs to 1 on crests.
        slope_x, slope_y: exaggerated slopes.
        curve: curvature, about -1 to 1, positive on crests, which focus light on the floor.
    """
    normal_z = 1.0 / np.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    normal_x, normal_y = -slope_x * normal_z, -slope_y * normal_z
    sun_x, sun_y, sun_z = _SUN_DIRECTION

    lit = normal_x * sun_x + normal_y * sun_y + normal_z * sun_z
    tone = np.clip(0.40 + 0.42 * level + (lit - sun_z), 0.0, 1.0)
    body = np.where(
        (tone < 0.5)[..., None], _mix(_DEEP, _WATER, 2.0 * tone), _mix(_WATER, _TURQUOISE, 2.0 * tone - 1.0)
    )
    body = body * (1.0 + 0.30 * np.clip(curve, -0.6, 1.5))[..., None]

    # The eye is straight above, so the mirrored ray is 2 nz n - z; Schlick's term with water's 0.02.
    mirror_x, mirror_y = 2.0 * normal_z * normal_x, 2.0 * normal_z * normal_y
    mirror_z = 2.0 * normal_z * normal_z - 1.0
    fresnel = 0.02 + 0.98 * (1.0 - normal_z) ** 5
    toward_sun = np.clip(0.5 + 0.5 * (mirror_x * sun_x + mirror_y * sun_y), 0.0, 1.0)
    sky = _mix(_ZENITH, _HORIZON, np.clip((1.0 - mirror_z) * 1.2, 0.0, 1.0) * toward_sun)
    colour = body + sky * (0.05 * toward_sun + fresnel)[..., None]

    glance = np.clip(mirror_x * sun_x + mirror_y * sun_y + mirror_z * sun_z, 0.0, 1.0)
    return colour + _SUN * (0.80 * glance**60 + 0.10 * glance**12)[..., None]


def check_size(size: tuple[int, int]) -> None:
    """Refuse a picture of more than `LARGEST` pixels.

    Raises:
        UsageError: names both numbers.
    """
    if size[0] * size[1] > LARGEST:
        raise UsageError(
            f"a top view of {size[0]}x{size[1]} has {size[0] * size[1]:,} pixels, at most {LARGEST:,} go",
            remedy="take a smaller --size",
        )


def render_topview(
    heights: npt.ArrayLike,
    size: tuple[int, int] = (960, 960),
    dx: float = 0.1,
    walls: npt.ArrayLike | None = None,
) -> npt.NDArray[np.uint8]:
    """Render a height field from above, row 0 at the top, column 0 at the left.

    The relief is scaled by the field's own largest heights and slopes: waves of a millimetre show as well as
    waves of a metre, and still water is one even colour. A grid of another aspect than the picture keeps its
    own and gets margins. Cells that are not finite are magenta.

    Args:
        heights: (rows, columns) heights in m.
        size: width and height of the picture in pixels.
        dx: width of a cell in m.
        walls: (rows, columns), not 0 where a cell is wall; None for water everywhere.

    Returns:
        (height, width, 3) colours, sRGB.

    Raises:
        UsageError: not a field of two axes, a size or cell width that is not positive, or too many pixels.
    """
    check_size(size)
    field = np.asarray(heights, np.float64)
    if field.ndim != 2 or field.size == 0:
        raise UsageError(
            f"a top view needs rows and columns, not an array of shape {field.shape}",
            remedy="name a height field",
        )
    if min(size) < 1 or not dx > 0:
        raise UsageError(f"no top view of size {size[0]}x{size[1]} with cells of {dx} m")

    bad = ~np.isfinite(field)
    field = np.where(bad, 0.0, field)
    # Fields of any size, even near the end of float64, become numbers whose differences are finite.
    unit = max(float(np.abs(field).max()) / 1e6, 1.0)
    field = field / unit
    field = field - np.median(field)

    along_x, along_y = _slopes(field, dx)
    steepness = np.hypot(along_x, along_y)
    busy = steepness[steepness > 1e-3 * steepness.max()]
    # The square root keeps some of the difference between gentle and wild water.
    typical = float(np.percentile(busy, 97.0)) if busy.size else 0.0
    gain = min(_STEEPEST / typical, _LARGEST_GAIN) if typical > 0 else 1.0
    span = max(float(np.percentile(np.abs(field), 99.5)), _STEEPEST * dx / _LARGEST_GAIN)
    curve = -(_slopes(along_x, dx)[0] + _slopes(along_y, dx)[1]) * gain * dx

    left, top, width, height = _fit(field.shape, size)
    parts = [_image(part) for part in (np.tanh(field / span), along_x * gain, along_y * gain)]
    parts.append(_image(np.tanh(2.0 * curve)))
    # a cell stays visible however much the grid shrinks
    marked = _image(bad) if bad.any() else None
    marking = Image.Resampling.BOX if width < field.shape[1] else Image.Resampling.NEAREST
    blocks = _image(np.asarray(walls, bool)) if walls is not None and np.any(walls) else None

    picture = np.empty((size[1], size[0], 3), np.uint8)
    picture[:] = MARGIN_COLOUR
    for band in _bands(width, height):
        level, slope_x, slope_y, focus = (band.of(part, Image.Resampling.BICUBIC) for part in parts)
        colour = np.clip(_shade(level, slope_x, slope_y, focus), 0.0, 1.0) ** (1.0 / 2.2)
        water = np.rint(colour * 255.0).astype(np.uint8)
        if marked is not None:
            water[band.of(marked, marking) > 0] = NAN_COLOUR
        if blocks is not None:
            share = band.of(blocks, Image.Resampling.BOX).astype(np.float64)[..., None]
            water = np.rint(water * (1.0 - share) + np.array(WALL_COLOUR) * share).astype(np.uint8)
        picture[top + band.first : top + band.stop, left : left + width] = water
    return picture
