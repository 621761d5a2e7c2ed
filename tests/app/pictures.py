"""How alike two pictures are to an eye: colours by blocks, and structure. NumPy only.

Renderers round differently, antialias differently and place a glyph by a fraction of a pixel otherwise; an
eye sees none of that, and neither does this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

BLOCK = 8


@dataclass(frozen=True)
class Likeness:
    """What differs between two pictures, in steps of 255.

    Attributes:
        mean: mean absolute difference of block means.
        worst: largest difference of a block mean.
        structure: mean structural similarity of the blocks' luma, 1 for the same picture.
    """

    mean: float
    worst: float
    structure: float

    @property
    def alike(self) -> bool:
        """Whether an eye takes them for the same picture."""
        return self.mean < MEAN and self.worst < WORST and self.structure > STRUCTURE


# Between what renderers may differ by and what an eye sees; test_desktop_pictures.py holds both sides. In
# these pictures a shift by a pixel, noise of 8 steps and one percent of brightness reach at most 2.4, 24 and
# 0.947. A turn by 3 degrees or a missing ring changes a block by 46 at least, a shift by 3 pixels by 53, and
# 15 % of brightness the mean by 10.
MEAN, WORST, STRUCTURE = 3.0, 33.0, 0.93


def compare(first: np.ndarray, second: np.ndarray) -> Likeness:
    """Compare two pictures of one shape, (height, width, 3) uint8 with sides in whole blocks.

    The structure is SSIM (Wang, Bovik, Sheikh, Simoncelli 2004) with its usual constants, in blocks that do
    not overlap, after a blur of 3x3 that forgives half a pixel.
    """
    assert first.shape == second.shape, (first.shape, second.shape)
    a, b = (picture.astype(np.float64) for picture in (first, second))
    apart = np.abs(_blocks(a).mean(axis=(2, 3)) - _blocks(b).mean(axis=(2, 3)))
    x, y = (_blocks(_blurred(picture @ (0.299, 0.587, 0.114))[..., None])[..., 0] for picture in (a, b))
    mx, my = x.mean(axis=(2, 3)), y.mean(axis=(2, 3))
    vx, vy = x.var(axis=(2, 3)), y.var(axis=(2, 3))
    both = (x * y).mean(axis=(2, 3)) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    ssim = (2 * mx * my + c1) * (2 * both + c2) / ((mx**2 + my**2 + c1) * (vx + vy + c2))
    return Likeness(float(apart.mean()), float(apart.max()), float(ssim.mean()))


def shrunk(picture: np.ndarray, factor: int) -> np.ndarray:
    """A picture with the mean of `factor` x `factor` pixels in each."""
    height, width, _ = picture.shape
    parts = picture.reshape(height // factor, factor, width // factor, factor, 3)
    return np.rint(parts.mean(axis=(1, 3))).astype(np.uint8)


def _blocks(picture: np.ndarray) -> np.ndarray:
    """(rows, columns, BLOCK, BLOCK, channels)."""
    height, width, channels = picture.shape
    parts = picture.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK, channels)
    return parts.swapaxes(1, 2)


def _blurred(luma: np.ndarray) -> np.ndarray:
    wide = np.pad(luma, 1, mode="edge")
    rows = wide[:-2] + 2 * wide[1:-1] + wide[2:]
    return (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 16
