"""What a user may choose about the look of the water, and what each quality stands for."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass


class Mode(str, enum.Enum):
    """How the heights are shown."""

    WATER = "water"
    DATA = "data"


class Quality(str, enum.Enum):
    """How much work goes into a picture; `auto` goes by the renderer and its speed (app/view/pace.py)."""

    AUTO = "auto"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    DRAFT = "draft"


@dataclass(frozen=True)
class Level:
    """What a quality stands for.

    Attributes:
        samples: samples a pixel.
        pixels: most pixels of a picture; a larger place shows it enlarged, so that the time a picture
            takes does not grow with the window.
        texel: pixels that a texel of the smoothed surface, or of the light on the floor, covers at most.
        quad: pixels that a quad of the surface covers at most, while `mesh` allows.
        mesh: most quads a side of the surface.
        surface: most texels a side of the smoothed surface.
        caustics: most texels a side of the light on the floor.
        rays: most quads a side of the sheet of sunlight.
        bicubic: smooth the surface between cells in the fragment shader.
    """

    samples: int
    pixels: int
    texel: float
    quad: float
    mesh: int
    surface: int
    caustics: int
    rays: int
    bicubic: bool


LEVELS = {
    Quality.HIGH: Level(4, 1 << 26, 0.75, 4.0, 512, 4096, 1024, 512, True),
    Quality.MEDIUM: Level(1, 1 << 20, 0.75, 4.0, 256, 2048, 512, 256, True),
    Quality.LOW: Level(1, 360_000, 1.5, 4.0, 48, 512, 192, 96, False),
    Quality.DRAFT: Level(1, 90_000, 1.5, 4.0, 32, 256, 128, 64, False),
}


@dataclass
class WaterOptions:
    """Choices that may change from frame to frame.

    Attributes:
        mode: water or data.
        quality: `auto` is high on a GPU, and on software OpenGL what is fast enough.
        exaggeration: factor on the heights that are shown, slopes included.
        colour_map: a name in `app.view.colormaps.names()`; data mode.
        fixed_range: lowest and highest value of the colour map, m; None fits it symmetrically.
        contours: with contour lines; data mode.
        contour_interval: m; 0 divides the range into ten.
        wireframe: with the borders of cells; data mode.
        axes: with scale bar and axes.
        deck: brightness of the surroundings, 1 by day, less in a dark theme.
        marker_radius: radius of the pointer's ring, in cells.
    """

    mode: Mode = Mode.WATER
    quality: Quality = Quality.AUTO
    exaggeration: float = 1.5
    colour_map: str = "balance"
    fixed_range: tuple[float, float] | None = None
    contours: bool = True
    contour_interval: float = 0.0
    wireframe: bool = False
    axes: bool = True
    deck: float = 1.0
    marker_radius: float = 5.0


def picture_size(level: Level, width: int, height: int) -> tuple[int, int]:
    """Width and height that a place of the window is drawn with, in pixels, at most those of the place."""
    scale = min(1.0, (level.pixels / (width * height)) ** 0.5)
    return max(round(width * scale), 1), max(round(height * scale), 1)


def round_length(length: float) -> float:
    """The largest of 1, 2, 5 times a power of ten that is at most `length`."""
    exponent = math.floor(math.log10(length * (1 + 1e-9)))
    share = length * (1 + 1e-9) / 10.0**exponent
    return max(factor for factor in (1, 2, 5) if factor <= max(share, 1)) * 10.0**exponent
