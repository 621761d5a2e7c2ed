"""The orbit camera: axes, limits, zoom to the cursor, framing."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.view.camera import PITCH_LIMIT, OrbitCamera, furnished_bounds
from app.view.grid import Grid
from app.view.picking import cursor_ray, hit_level, project_point

VIEWPORT = (0, 0, 800, 600)


def test_yaw_zero_looks_along_minus_z_with_x_to_the_right():
    camera = OrbitCamera(distance=10, yaw=0, pitch=0)
    assert camera.position == pytest.approx([0, 0, 10])
    assert camera.view_matrix() @ [1, 2, 3, 1] == pytest.approx([1, 2, -7, 1])


def test_a_quarter_turn_of_yaw_stands_on_the_x_axis():
    camera = OrbitCamera(distance=10, yaw=math.pi / 2, pitch=0)
    assert camera.position == pytest.approx([10, 0, 0])
    assert camera.right == pytest.approx([0, 0, -1])


def test_the_view_matrix_keeps_lengths_and_hands():
    matrix = OrbitCamera(yaw=1.1, pitch=0.7).view_matrix()[:3, :3]
    assert matrix @ matrix.T == pytest.approx(np.eye(3))
    assert np.linalg.det(matrix) == pytest.approx(1)


def test_clip_planes_map_to_minus_and_plus_one():
    camera = OrbitCamera()
    for depth, expected in zip(camera.clip_planes, (-1, 1), strict=True):
        clip = camera.projection_matrix(1.5) @ [0, 0, -depth, 1]
        assert clip[2] / clip[3] == pytest.approx(expected)


def test_the_upper_edge_is_half_the_field_of_view_away():
    camera = OrbitCamera(fov=math.radians(40))
    clip = camera.projection_matrix(2.0) @ [0, math.tan(math.radians(20)), -1, 1]
    assert clip[1] / clip[3] == pytest.approx(1)


def test_pitch_stops_at_89_degrees_both_ways():
    camera = OrbitCamera()
    camera.orbit(0, 10)
    assert camera.pitch == PITCH_LIMIT == math.radians(89)
    camera.orbit(0, -10)
    assert camera.pitch == -PITCH_LIMIT


def test_many_turns_of_yaw_stay_small():
    camera = OrbitCamera(yaw=0)
    camera.orbit(100 * math.pi + 0.5, 0)
    assert camera.yaw == pytest.approx(0.5)


@pytest.mark.parametrize("factor", [0.5, 0.9, 1.2, 2.0])
@pytest.mark.parametrize("cursor", [(400, 300), (150, 420), (700, 250)])
def test_zoom_keeps_the_place_under_the_cursor(factor: float, cursor: tuple[float, float]):
    camera = OrbitCamera(distance=20)
    before = hit_level(*cursor_ray(camera, cursor, VIEWPORT))
    camera.zoom_toward(cursor, VIEWPORT, factor)
    assert camera.distance == pytest.approx(20 * factor)
    assert project_point(camera, before, VIEWPORT) == pytest.approx(cursor, abs=1e-6)


def test_zoom_stops_at_5_and_at_50_m_for_the_reference_tank():
    camera = OrbitCamera()
    camera.frame_grid(Grid(128, 128, 0.1))
    for _ in range(60):
        camera.zoom_toward((400, 300), VIEWPORT, 0.8)
    assert camera.distance == pytest.approx(5)
    for _ in range(60):
        camera.zoom_toward((400, 300), VIEWPORT, 1.25)
    assert camera.distance == pytest.approx(50)


def test_at_the_limit_zoom_moves_nothing():
    camera = OrbitCamera(distance=5)
    camera.zoom_toward((100, 500), VIEWPORT, 0.5)
    assert camera.distance == 5
    assert camera.target == pytest.approx([0, 0, 0])


def test_a_cursor_in_the_sky_zooms_to_the_target():
    camera = OrbitCamera(distance=20, pitch=0.05)
    camera.zoom_toward((400, 5), VIEWPORT, 0.5)
    assert camera.distance == 10
    assert camera.target == pytest.approx([0, 0, 0])


def test_pan_takes_the_target_along_with_the_pointer():
    camera = OrbitCamera(distance=20)
    was = camera.target.copy()
    camera.pan(30, -12, VIEWPORT)
    assert project_point(camera, was, VIEWPORT) == pytest.approx((430, 288))


@pytest.mark.parametrize(
    "grid", [Grid(128, 128), Grid(200, 50), Grid(40, 300), Grid(3, 3), Grid(2048, 2048, 0.01)]
)
@pytest.mark.parametrize("size", [(800, 600), (300, 900), (1600, 400)])
def test_framing_shows_all_corners(grid: Grid, size: tuple[int, int]):
    camera = OrbitCamera(yaw=3, pitch=-1, target=np.array([9.0, 9.0, 9.0]))
    camera.frame_grid(grid, size[0] / size[1])
    half_x, half_z = grid.extent[0] / 2, grid.extent[1] / 2
    for x in (-half_x, half_x):
        for z in (-half_z, half_z):
            u, v = project_point(camera, np.array([x, 0, z]), (0, 0, *size))
            assert 0 <= u <= size[0] and 0 <= v <= size[1]


@pytest.mark.parametrize("grid", [Grid(128, 128), Grid(200, 50), Grid(40, 300)])
@pytest.mark.parametrize("free", [(0.1, 0.12, 0.98, 0.9), (0.2, 0.2, 0.8, 0.8), (0.0, 0.0, 1.0, 1.0)])
def test_framing_keeps_to_the_free_part_and_fills_it(grid: Grid, free: tuple[float, float, float, float]):
    camera = OrbitCamera()
    camera.frame_grid(grid, 4 / 3, free)
    places = np.array([project_point(camera, point, VIEWPORT) for point in furnished_bounds(grid)])
    shares = places / (800, 600)
    assert (shares >= np.array(free[:2]) - 1e-9).all() and (shares <= np.array(free[2:]) + 1e-9).all()
    low, high = shares.min(axis=0), shares.max(axis=0)
    reached = [abs(low[0] - free[0]), abs(low[1] - free[1]), abs(high[0] - free[2]), abs(high[1] - free[3])]
    assert min(reached) < 1e-6
    assert camera.target[1] == pytest.approx(0, abs=1e-9)  # it turns around a place of the still water
    assert math.hypot(camera.target[0], camera.target[2]) < 0.35 * max(grid.extent)
