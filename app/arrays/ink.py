"""What is written and drawn around the picture of an array: texts, lines, the ramp of a legend.

Plain values in pixels of the picture, y down. The window paints them with ImGui; without a window they are
painted here with Pillow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from app.view import colormaps

if TYPE_CHECKING:
    from PIL.Image import Image

Rgba = tuple[float, float, float, float]
Place = tuple[float, float]
SMALL, PLAIN, LARGE = 12.5, 14.0, 40.0
"""Sizes of texts in pixels, at a scale of 1."""
NOT_FINITE: Rgba = (1.0, 0.0, 1.0, 1.0)
_FINER = 2  # the painting without a window is made so many times larger, and reduced


@dataclass(frozen=True)
class Inks:
    """Colours by use."""

    background: Rgba = (0.055, 0.071, 0.090, 1.0)
    text: Rgba = (0.894, 0.918, 0.941, 1.0)
    muted: Rgba = (0.545, 0.600, 0.659, 1.0)
    line: Rgba = (0.165, 0.200, 0.243, 1.0)
    accent: Rgba = (0.169, 0.663, 0.776, 1.0)


@dataclass(frozen=True)
class Text:
    """A text; `at` is its left, middle or right end by `align` (0, 0.5, 1), in the middle of its height."""

    at: Place
    text: str
    colour: Rgba
    size: float = SMALL
    align: float = 0.0


@dataclass(frozen=True)
class Stroke:
    """A line through places."""

    places: tuple[Place, ...]
    colour: Rgba
    width: float = 1.0


@dataclass(frozen=True)
class Ramp:
    """A colour map from left to right in a box: left, top, right, bottom."""

    box: tuple[float, float, float, float]
    colour_map: str


@dataclass(frozen=True)
class Fill:
    """A filled box: left, top, right, bottom."""

    box: tuple[float, float, float, float]
    colour: Rgba


Item = Text | Stroke | Ramp | Fill


def paint(items: Sequence[Item], size: tuple[int, int]) -> np.ndarray:
    """Paint items with Pillow.

    Args:
        items: the first one undermost.
        size: width and height of the picture in pixels.

    Returns:
        (height, width, 4) uint8, alpha premultiplied.
    """
    from PIL import Image

    large = Image.new("RGBA", (size[0] * _FINER, size[1] * _FINER), (0, 0, 0, 0))
    for item in items:
        _paint(large, item)
    pixels = np.asarray(large, np.float32)
    pixels = pixels.reshape(size[1], _FINER, size[0], _FINER, 4)
    alpha = pixels[..., 3:] / 255
    premultiplied = np.concatenate([pixels[..., :3] * alpha, pixels[..., 3:]], axis=-1)
    return np.rint(premultiplied.mean(axis=(1, 3))).astype(np.uint8)


def _paint(large: Image, item: Item) -> None:
    from PIL import ImageDraw, ImageFont

    pen = ImageDraw.Draw(large, "RGBA")
    if isinstance(item, Text):
        anchor = {0.0: "lm", 0.5: "mm", 1.0: "rm"}[item.align]
        at = (item.at[0] * _FINER, item.at[1] * _FINER)
        font = ImageFont.load_default(item.size * _FINER)
        pen.text(at, item.text.replace("×", "x"), fill=_bytes(item.colour), font=font, anchor=anchor)
    elif isinstance(item, Stroke):
        places = [(x * _FINER, y * _FINER) for x, y in item.places]
        pen.line(places, fill=_bytes(item.colour), width=max(round(item.width * _FINER), 1))
    elif isinstance(item, Fill):
        pen.rectangle([side * _FINER for side in item.box], fill=_bytes(item.colour))
    else:
        left, top, right, bottom = (round(side * _FINER) for side in item.box)
        table = colormaps.table(item.colour_map)
        columns = table[np.linspace(0, len(table) - 1, max(right - left, 1)).astype(int)]
        rows = np.broadcast_to(columns, (max(bottom - top, 1), *columns.shape))
        from PIL import Image as Images

        large.paste(Images.fromarray(np.ascontiguousarray(rows)), (left, top))


def _bytes(colour: Rgba) -> tuple[int, int, int, int]:
    red, green, blue, alpha = (round(channel * 255) for channel in colour)
    return red, green, blue, alpha
