"""How fine things are drawn follows the picture; the patch of the sheet covers it once."""

from __future__ import annotations

import numpy as np
import pytest

from app.view.camera import OrbitCamera
from app.view.detail import choose_detail, pixels_per_metre
from app.view.grid import Grid
from app.view.options import LEVELS, Quality

HIGH = LEVELS[Quality.HIGH]


def framed(grid: Grid) -> OrbitCamera:
    camera = OrbitCamera()
    camera.frame_grid(grid, 1.0)
    return camera


def test_pixels_of_a_metre_straight_from_above():
    camera = OrbitCamera(target=np.array([0.0, 0.0, 0.0]), distance=10.0, pitch=np.pi / 2)
    expected = 500 / (2 * np.tan(camera.fov / 2) * 10)
    assert pixels_per_metre(Grid(128, 128), camera, (700, 500)) == pytest.approx(expected)


@pytest.mark.parametrize(("side", "texels"), [(128, 128), (1024, 512), (2048, 512), (4096, 512), (8192, 512)])
def test_beyond_the_pixels_the_work_does_not_grow_with_the_grid(side: int, texels: int):
    grid = Grid(side, side)
    detail = choose_detail(HIGH, grid, framed(grid), (380, 390))
    assert detail.surface == (texels, texels)
    assert detail.caustics == (512, 512) and 144 <= detail.rays[0] <= 176
    assert 64 <= detail.mesh[0] <= 96
    assert detail.smooth == (side == 128)


def test_a_close_look_shows_each_cell():
    grid = Grid(2048, 2048)
    camera = framed(grid)
    camera.distance = camera.limits[0] / 10
    camera.target = np.array([0.0, 0.0, 0.0])
    detail = choose_detail(HIGH, grid, camera, (800, 600))
    assert detail.surface == (2048, 2048)
    assert detail.mesh == (512, 512) and detail.caustics == (1024, 1024)


@pytest.mark.parametrize("quality", list(LEVELS))
@pytest.mark.parametrize("shape", [(3, 3), (1000, 3), (31, 700), (4096, 4096)])
def test_all_sizes_keep_the_bounds_of_the_quality(quality: Quality, shape: tuple[int, int]):
    level, grid = LEVELS[quality], Grid(*shape)
    camera = framed(grid)
    for distance in (camera.limits[0], camera.limits[1]):
        camera.distance = distance
        detail = choose_detail(level, grid, camera, (1920, 1080))
        assert max(detail.surface) <= level.surface and min(detail.surface) >= 1
        assert max(detail.caustics) <= level.caustics
        assert max(detail.mesh) <= level.mesh and max(detail.rays) <= level.rays
        assert min(detail.mesh) >= 2 and min(detail.rays) >= 2


def test_the_patch_covers_each_quad_by_two_triangles_of_one_direction():
    pytest.importorskip("OpenGL")
    from app.view.sheet import PATCH, patch_indices

    corners = patch_indices().reshape(-1, 3).astype(int)
    x, y = corners % (PATCH + 1), corners // (PATCH + 1)
    area = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    assert len(corners) == 2 * PATCH * PATCH and len(set(area)) == 1
    quads = {(int(a), int(b)) for a, b in zip(x.min(axis=1), y.min(axis=1), strict=True)}
    assert len(quads) == PATCH * PATCH
