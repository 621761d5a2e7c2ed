"""The orbit camera: pure values and NumPy, no window and no OpenGL.

World axes as in app.view.grid. Yaw 0 looks from +z along -z; yaw grows toward +x. Matrices are for column
vectors (clip = projection @ view @ world) and follow OpenGL's clip space; formulas as in the OpenGL 2.1
reference pages of gluPerspective and gluLookAt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from app.view.grid import Grid

PITCH_LIMIT = math.radians(89.0)
REFERENCE_EXTENT = 12.8  # m; the tank for which the distance limits are 5 and 50 m
REFERENCE_LIMITS = (5.0, 50.0)

RIM_WIDTH, RIM_HEIGHT = 0.054, 0.013
"""Of the coping around the tank, in longer sides of it."""
BESIDE = 0.105
"""How far beyond the coping the scale bar and its words reach, in the same measure."""

Viewport = tuple[float, float, float, float]
Rect = tuple[float, float, float, float]
WHOLE: Rect = (0.0, 0.0, 1.0, 1.0)


def _origin() -> np.ndarray:
    return np.zeros(3)


@dataclass
class OrbitCamera:
    """A camera that looks at `target` from `distance`.

    Attributes:
        target: world place in the middle of the picture, m.
        distance: from target to eye, m, kept within `limits`.
        yaw, pitch: direction of the eye from the target, radians; pitch within 89 degrees.
        fov: vertical field of view, radians.
        limits: smallest and largest distance, m.
    """

    target: np.ndarray = field(default_factory=_origin)
    distance: float = 17.0
    yaw: float = math.radians(28.0)
    pitch: float = math.radians(36.0)
    fov: float = math.radians(42.0)
    limits: tuple[float, float] = REFERENCE_LIMITS

    @property
    def back(self) -> np.ndarray:
        """Unit vector from the target to the eye."""
        cosine = math.cos(self.pitch)
        return np.array([math.sin(self.yaw) * cosine, math.sin(self.pitch), math.cos(self.yaw) * cosine])

    @property
    def right(self) -> np.ndarray:
        """Unit vector to the right of the picture; level."""
        return np.array([math.cos(self.yaw), 0.0, -math.sin(self.yaw)])

    @property
    def up(self) -> np.ndarray:
        """Unit vector to the top of the picture."""
        sine = math.sin(self.pitch)
        return np.array([-sine * math.sin(self.yaw), math.cos(self.pitch), -sine * math.cos(self.yaw)])

    @property
    def position(self) -> np.ndarray:
        """World place of the eye, m."""
        return self.target + self.distance * self.back

    @property
    def clip_planes(self) -> tuple[float, float]:
        """Distances of the near and the far plane, m; they follow the distance."""
        return 0.02 * self.distance, 20.0 * self.distance

    def view_matrix(self) -> np.ndarray:
        """World to eye, 4x4."""
        matrix = np.eye(4)
        matrix[0, :3], matrix[1, :3], matrix[2, :3] = self.right, self.up, self.back
        matrix[:3, 3] = -matrix[:3, :3] @ self.position
        return matrix

    def projection_matrix(self, aspect: float) -> np.ndarray:
        """Eye to clip, 4x4, for a picture `aspect` times as wide as high."""
        scale = 1.0 / math.tan(self.fov / 2)
        near, far = self.clip_planes
        matrix = np.zeros((4, 4))
        matrix[0, 0], matrix[1, 1] = scale / aspect, scale
        matrix[2, 2], matrix[2, 3] = (far + near) / (near - far), 2 * far * near / (near - far)
        matrix[3, 2] = -1.0
        return matrix

    def orbit(self, yaw: float, pitch: float) -> None:
        """Turn around the target by angles in radians; stops at the pitch limit."""
        self.yaw = math.remainder(self.yaw + yaw, 2 * math.pi)
        self.pitch = min(max(self.pitch + pitch, -PITCH_LIMIT), PITCH_LIMIT)

    def pan(self, dx: float, dy: float, viewport: Viewport) -> None:
        """Move the target so that what is at its depth follows the pointer.

        Args:
            dx, dy: way of the pointer in framebuffer pixels, y down.
            viewport: x, y, width, height in framebuffer pixels.
        """
        step = 2 * self.distance * math.tan(self.fov / 2) / max(viewport[3], 1)
        self.target = self.target + step * (dy * self.up - dx * self.right)

    def zoom_toward(self, cursor: tuple[float, float], viewport: Viewport, factor: float) -> None:
        """Multiply the distance by `factor`; the place of the still water under the cursor stays there.

        A cursor over the sky, or a still water far behind the target, zooms toward the target instead.
        """
        from app.view.picking import cursor_ray, hit_level

        before = self.distance
        self.distance = min(max(before * factor, self.limits[0]), self.limits[1])
        fixed = hit_level(*cursor_ray(self, cursor, viewport, distance=before))
        if fixed is None or np.linalg.norm(fixed - self.target) > 3 * before:
            return
        # Eye and target move on the lines to the fixed place by the same ratio.
        self.target = fixed + (self.target - fixed) * (self.distance / before)

    def frame_grid(
        self,
        grid: Grid,
        aspect: float = 4 / 3,
        free: Rect = WHOLE,
        direction: tuple[float, float] | None = None,
    ) -> None:
        """Look at the whole tank, and fit the distance limits to it.

        Args:
            grid: the grid.
            aspect: of the picture, width to height.
            free: the part of the picture that nothing lies over, in shares of its width and height: left,
                top, right, bottom. The tank with its rim, scale bar and axes is put into it.
            direction: yaw and pitch in radians; None for those of a new camera.
        """
        default = OrbitCamera()
        self.yaw, self.pitch = direction if direction is not None else (default.yaw, default.pitch)
        self.fov = default.fov
        size = max(grid.extent)
        nearest, farthest = (limit * size / REFERENCE_EXTENT for limit in REFERENCE_LIMITS)
        eye = self._fitting_eye(furnished_bounds(grid), aspect, free)
        # What it turns around is the still water in the middle of the picture.
        self.distance = max(float(eye[1] / self.back[1]), nearest)
        self.target = eye - float(eye[1] / self.back[1]) * self.back
        self.limits = nearest, max(farthest, self.distance)  # a very narrow window needs more

    def _fitting_eye(self, points: np.ndarray, aspect: float, free: Rect) -> np.ndarray:
        """Return the nearest place of the eye from which all points are in a part of the picture, m.

        A point at (x, y, z) along right, up and back is seen from an eye at (X, Y, Z) at the tangents
        (x - X) / (Z - z) and (y - Y) / (Z - z). That they are within the limits of the free part is linear
        in X, Y and Z; the least Z follows, and X and Y are put in the middle of what is left for them.
        Y stays near the tank's centre, for that is what the camera turns around.
        """
        tangent = math.tan(self.fov / 2)
        left, top, right, bottom = free
        wide = ((2 * left - 1) * tangent * aspect, (2 * right - 1) * tangent * aspect)
        high = ((1 - 2 * bottom) * tangent, (1 - 2 * top) * tangent)
        along, up, back = points @ self.right, points @ self.up, points @ self.back

        def ends(side: np.ndarray, limits: tuple[float, float]) -> tuple[float, float]:
            return float(np.max(side + limits[1] * back)), float(np.min(side + limits[0] * back))

        def middle(far: float, side: np.ndarray, limits: tuple[float, float]) -> float:
            most, least = ends(side, limits)
            return (most - limits[1] * far + least - limits[0] * far) / 2

        def nearest(side: np.ndarray, limits: tuple[float, float]) -> float:
            most, least = ends(side, limits)
            return (most - least) / (limits[1] - limits[0])

        far = max(nearest(along, wide), nearest(up, high))
        limit = 0.07 * float(np.ptp(points, axis=0).max())
        y = min(max(middle(far, up, high), -limit), limit)
        off = up - y
        far = max(nearest(along, wide), float(np.max(back + np.maximum(off / high[1], off / high[0]))))
        return middle(far, along, wide) * self.right + y * self.up + far * self.back


def furnished_bounds(grid: Grid) -> np.ndarray:
    """Return points around the tank with its rim, scale bar and axes, (number, 3), m."""
    size = max(grid.extent)
    half_x, half_z = grid.extent[0] / 2 + RIM_WIDTH * size, grid.extent[1] / 2 + RIM_WIDTH * size
    height = RIM_HEIGHT * size
    points = [(x, y, z) for x in (-half_x, half_x) for y in (0.0, height) for z in (-half_z, half_z)]
    points += [(x, height, half_z + BESIDE * size) for x in (half_x - grid.extent[0] / 3, half_x)]
    points.append((-half_x, 0.1 * size, -half_z))
    return np.array(points)
