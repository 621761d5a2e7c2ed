"""How fine everything is drawn: from the picture's pixels, not from the grid's cells.

A mesh finer than the pixels costs vertices, and worse, pixels: a triangle smaller than a block of 2x2 pixels
is shaded as if it filled the block. A surface finer than the pixels costs the same and shimmers. So all sizes
follow from how many pixels a cell covers where the water is nearest. Values in, values out; no OpenGL.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.view.camera import OrbitCamera
from app.view.grid import Grid
from app.view.options import Level

SMOOTH_FROM = 1.5
"""Pixels of a texel from which on straight lines between texels would be seen."""
RAY_PIXELS = 2.0
"""Pixels that a quad of the sheet of sunlight covers at most, if its light falls where it entered."""
_SMALLEST_CAUSTICS = 256
_PATCH = 16
"""Quads a side that the mesh is made of; as in app/view/sheet.py."""

Size = tuple[int, int]


@dataclass(frozen=True)
class Detail:
    """Sizes of the passes of one picture.

    Attributes:
        surface: columns and rows of the smoothed surface; each texel stands for one cell or the mean of some.
        caustics: columns and rows of the light on the floor.
        mesh: quads of the surface along x and z.
        rays: quads of the sheet of sunlight along x and z.
        smooth: whether the surface is magnified so far that it is interpolated smoothly.
        smooth_rays: the same for the sheet of sunlight.
    """

    surface: Size
    caustics: Size
    mesh: Size
    rays: Size
    smooth: bool
    smooth_rays: bool


def choose_detail(level: Level, grid: Grid, camera: OrbitCamera, size: Size) -> Detail:
    """Return the sizes for a picture.

    Args:
        level: of the quality; bounds all of them.
        grid: the grid.
        camera: from where.
        size: width and height of the picture in pixels.
    """
    longest = max(grid.width, grid.height)
    cell = grid.dx * pixels_per_metre(grid, camera, size)
    ratio = max(2 ** math.floor(math.log2(max(level.texel / cell, 1.0))), -(-longest // level.surface))
    surface = -(-grid.width // ratio), -(-grid.height // ratio)

    wanted = max(longest * cell / level.texel, 1.0)
    caustics = min(max(2 ** math.ceil(math.log2(wanted)), _SMALLEST_CAUSTICS), level.caustics)
    most = max(2 * longest, 64)
    rays = min(level.rays, _patches(longest * cell / RAY_PIXELS), most)
    mesh = min(level.mesh, _patches(longest * cell / level.quad), most)
    return Detail(
        surface=surface,
        caustics=_shaped(grid, caustics, 16),
        mesh=_shaped(grid, mesh, 2),
        rays=_shaped(grid, rays, 2),
        smooth=level.bicubic and cell * ratio > SMOOTH_FROM,
        smooth_rays=level.bicubic and rays > max(surface),
    )


def pixels_per_metre(grid: Grid, camera: OrbitCamera, size: Size) -> float:
    """Pixels that a metre of the still water covers where it is nearest to the eye."""
    eye = camera.position
    half = np.array([grid.extent[0] / 2, 0.0, grid.extent[1] / 2])
    nearest = float(np.linalg.norm(eye - np.clip(eye, -half, half)))
    nearest = max(nearest, camera.clip_planes[0])
    return size[1] / (2 * math.tan(camera.fov / 2) * nearest)


def _patches(quads: float) -> int:
    """A number of quads rounded up to whole patches, and to steps that a moving camera takes seldom."""
    return -(-math.ceil(quads) // _PATCH) * _PATCH


def _shaped(grid: Grid, longest: int, least: int) -> Size:
    """Columns and rows in the grid's shape, `longest` on its longer side."""
    most = max(grid.width, grid.height)
    return max(round(grid.width * longest / most), least), max(round(grid.height * longest / most), least)
