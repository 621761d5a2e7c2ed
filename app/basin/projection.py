"""Where marks on the water lie in the window: many cells projected at once. Values only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.view.grid import Grid

if TYPE_CHECKING:
    from app.view.camera import OrbitCamera, Viewport

Place = tuple[float, float]
_OFF = float("nan")


def project_cells(
    camera: OrbitCamera, cells: np.ndarray, viewport: Viewport, grid: Grid, ratio: float = 1.0
) -> list[Place]:
    """Return the places of cells at the still water, divided by `ratio`; NaN for those behind the eye.

    Args:
        camera: from where.
        cells: (number, 2), column and row.
        viewport: x, y, width, height in framebuffer pixels, y down.
        grid: the grid.
        ratio: framebuffer pixels in a unit of the result.
    """
    if not len(cells):
        return []
    x, y, width, height = viewport
    matrix = camera.projection_matrix(width / max(height, 1e-9)) @ camera.view_matrix()
    world = np.empty((len(cells), 4))
    world[:, 0] = (cells[:, 0] + 0.5 - grid.width / 2) * grid.dx
    world[:, 1] = 0.0
    world[:, 2] = (cells[:, 1] + 0.5 - grid.height / 2) * grid.dx
    world[:, 3] = 1.0
    clip = world @ np.asarray(matrix).T
    ahead = clip[:, 3] > 1e-9
    depth = np.where(ahead, clip[:, 3], np.nan)
    across = (x + (clip[:, 0] / depth + 1.0) / 2.0 * width) / ratio
    down = (y + (1.0 - clip[:, 1] / depth) / 2.0 * height) / ratio
    return list(zip(across.tolist(), down.tolist(), strict=True))


def seen(place: Place) -> bool:
    """Whether a projected place is before the eye."""
    return not math.isnan(place[0])
