"""From the cursor to a cell and back: pure NumPy, the inverse of what the shaders draw.

A cursor is in framebuffer pixels, y down, (0, 0) the top left corner of the framebuffer; a viewport is x, y,
width, height in the same pixels and the same direction. HiDPI scales are the caller's: it converts window
units with `Window.to_framebuffer`. The ray meets the still water (height 0): a push must not jump when a
wave passes under the pointer.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from app.view.grid import Grid

if TYPE_CHECKING:
    from app.view.camera import OrbitCamera, Viewport


def cursor_ray(
    camera: OrbitCamera, cursor: tuple[float, float], viewport: Viewport, *, distance: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ray from the eye through a cursor.

    Args:
        distance: distance of the eye from the target if it is not the camera's present one, m.

    Returns:
        Eye and unit direction in world coordinates.
    """
    x, y, width, height = viewport
    right = 2 * (cursor[0] - x) / max(width, 1e-9) - 1
    up = 1 - 2 * (cursor[1] - y) / max(height, 1e-9)
    tangent = math.tan(camera.fov / 2)
    aspect = width / max(height, 1e-9)
    direction = right * tangent * aspect * camera.right + up * tangent * camera.up - camera.back
    eye = camera.target + (camera.distance if distance is None else distance) * camera.back
    return eye, direction / np.linalg.norm(direction)


def hit_level(eye: np.ndarray, direction: np.ndarray, level: float = 0.0) -> np.ndarray | None:
    """Return where a ray meets the plane y = level, m; None if it does not, or only behind the eye."""
    if abs(direction[1]) < 1e-9:
        return None
    along = (level - eye[1]) / direction[1]
    return eye + along * direction if along > 0 else None


def pick_cell(
    camera: OrbitCamera, cursor: tuple[float, float], viewport: Viewport, grid: Grid
) -> tuple[float, float] | None:
    """Return the cell coordinates under a cursor (the centre of cell i is at i), or None beside the tank."""
    place = hit_level(*cursor_ray(camera, cursor, viewport))
    if place is None:
        return None
    i, j = grid.to_cell(float(place[0]), float(place[2]))
    return (i, j) if grid.contains(i, j) else None


def project_point(camera: OrbitCamera, point: np.ndarray, viewport: Viewport) -> tuple[float, float] | None:
    """Return the cursor that shows a world point, or None if it is behind the eye."""
    x, y, width, height = viewport
    matrix = camera.projection_matrix(width / max(height, 1e-9)) @ camera.view_matrix()
    clip = matrix @ np.append(np.asarray(point, float), 1.0)
    if clip[3] <= 0:
        return None
    return x + (clip[0] / clip[3] + 1) / 2 * width, y + (1 - clip[1] / clip[3]) / 2 * height


def project_cell(
    camera: OrbitCamera, cell: tuple[float, float], viewport: Viewport, grid: Grid, height: float = 0.0
) -> tuple[float, float] | None:
    """Return the cursor that shows a cell at a height in m, or None if it is behind the eye."""
    x, z = grid.to_world(*cell)
    return project_point(camera, np.array([x, height, z]), viewport)
