"""Points in space: their bounds, the box they are fitted into, and what of it the camera sees; pure values.

World: the longest side of the bounds runs from -HALF to HALF, its middle is the origin, axes as the array
has them, y up. Pictures of two components lie in the plane z = 0 and are looked at from the front.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.view.camera import OrbitCamera

HALF = 5.0
_MOST_POINTS = 1 << 20
"""Of more points only so many, evenly spread, are drawn."""


@dataclass(frozen=True)
class Bounds:
    """The box around all finite points, in the array's own units."""

    low: tuple[float, float, float]
    high: tuple[float, float, float]

    @property
    def centre(self) -> np.ndarray:
        """The middle."""
        return (np.asarray(self.low) + np.asarray(self.high)) / 2

    @property
    def scale(self) -> float:
        """World units to a unit of the array."""
        longest = float(np.max(np.asarray(self.high) - np.asarray(self.low)))
        return 2 * HALF / longest if longest > 0 and math.isfinite(longest) else 1.0

    @property
    def half(self) -> np.ndarray:
        """Half the sides of the box, in the world."""
        return (np.asarray(self.high) - np.asarray(self.low)) / 2 * self.scale

    def to_world(self, points: np.ndarray) -> np.ndarray:
        """Return points (n, 3) of the array in the world."""
        return (points - self.centre) * self.scale

    def joined(self, other: Bounds | None) -> Bounds:
        """Return the box around both."""
        if other is None:
            return self
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Bounds(tuple(low.tolist()), tuple(high.tolist()))


def places(values: np.ndarray, dimensions: int) -> np.ndarray:
    """Return the places of a row of vectors or transforms as float64 (n, 3)."""
    flat = values.reshape(len(values), -1)[:, :dimensions].astype(np.float64)
    return flat if dimensions == 3 else np.concatenate([flat, np.zeros((len(flat), 1))], axis=1)


def bounds_of(points: np.ndarray) -> Bounds | None:
    """Return the box around the finite points (n, 3), None if there is none."""
    finite = points[np.isfinite(points).all(axis=1)]
    if not len(finite):
        return None
    return Bounds(tuple(finite.min(axis=0).tolist()), tuple(finite.max(axis=0).tolist()))


def thinned(count: int) -> int:
    """Return the step at which points are drawn: 1 unless there are very many."""
    return -(-count // _MOST_POINTS)


def frame_box(camera: OrbitCamera, half: np.ndarray, flat: bool, aspect: float) -> None:
    """Look at the whole box, from the front if it is flat, and fit the distance limits to it."""
    default = OrbitCamera()
    camera.fov = default.fov
    camera.yaw, camera.pitch = (0.0, 0.0) if flat else (default.yaw, math.radians(22.0))
    camera.target = np.zeros(3)
    corners = box_corners(half)
    tangent = math.tan(camera.fov / 2) * 0.86
    needed = np.maximum(
        np.abs(corners @ camera.right) / (tangent * aspect), np.abs(corners @ camera.up) / tangent
    )
    camera.distance = max(float(np.max(corners @ camera.back + needed)), HALF)
    camera.limits = HALF / 50, max(10 * HALF, 1.5 * camera.distance)


def box_corners(half: np.ndarray) -> np.ndarray:
    """Return the eight corners of a box around the origin; bit k of the number is the side along axis k."""
    signs = np.array([[(n >> axis & 1) * 2 - 1 for axis in range(3)] for n in range(8)], float)
    return signs * half


def project(points: np.ndarray, camera: OrbitCamera, size: tuple[float, float]) -> np.ndarray:
    """Return where points (n, 3) of the world are in a picture: x, y in pixels (y down), distance.

    NaN for what lies behind the eye.
    """
    width, height = size
    matrix = camera.projection_matrix(width / max(height, 1)) @ camera.view_matrix()
    clip = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ matrix.T
    depth = np.where(clip[:, 3] > 1e-6, clip[:, 3], np.nan)
    with np.errstate(invalid="ignore"):
        x, y = clip[:, 0] / depth, clip[:, 1] / depth
    return np.stack([(x + 1) / 2 * width, (1 - y) / 2 * height, depth], axis=1)


def nearest_point(projected: np.ndarray, cursor: tuple[float, float], reach: float) -> int | None:
    """Return the point nearest to the eye of those within `reach` pixels of the cursor, None if none is."""
    with np.errstate(invalid="ignore"):
        away = np.hypot(projected[:, 0] - cursor[0], projected[:, 1] - cursor[1])
        near = np.flatnonzero(away <= reach)
    return int(near[np.argmin(projected[near, 2] + away[near] * 1e-3)]) if len(near) else None


def point_radius(count: int) -> float:
    """Return the radius of a point in the world: smaller where there are many."""
    return float(np.clip(0.28 * 2 * HALF / max(count, 1) ** (1 / 2), 0.03, 0.22))
