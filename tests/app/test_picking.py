"""Cell to screen to cell, for any camera, window and scale."""

from __future__ import annotations

import math

import numpy as np
import pytest

from app.view.camera import OrbitCamera
from app.view.grid import Grid
from app.view.picking import cursor_ray, pick_cell, project_cell


def random_camera(random: np.random.Generator, grid: Grid) -> OrbitCamera:
    camera = OrbitCamera()
    camera.frame_grid(grid)
    size = max(grid.extent)
    camera.target = random.uniform(-0.4, 0.4, 3) * [size, 0.05 * size, size]
    camera.yaw = random.uniform(-math.pi, math.pi)
    camera.pitch = math.radians(random.uniform(3, 89))
    camera.distance = random.uniform(*camera.limits)
    camera.fov = math.radians(random.uniform(20, 80))
    return camera


@pytest.mark.parametrize("seed", range(200))
def test_cell_to_screen_to_cell(seed: int):
    random = np.random.default_rng(seed)
    grid = Grid(*(int(n) for n in random.integers(3, 3000, 2)), float(10 ** random.uniform(-3, 1)))
    camera = random_camera(random, grid)
    viewport = (*random.uniform(0, 500, 2), *random.uniform(30, 4000, 2))
    seen = 0
    for _ in range(20):
        cell = tuple(random.uniform((0, 0), (grid.width - 1, grid.height - 1)))
        cursor = project_cell(camera, cell, viewport, grid)
        if cursor is None:
            continue
        seen += 1
        assert pick_cell(camera, cursor, viewport, grid) == pytest.approx(cell, abs=1e-3)
    assert seen or camera.position[1] < max(grid.extent)


@pytest.mark.parametrize("scale", [1.0, 1.25, 2.0, 3.0])
def test_the_scale_of_the_display_does_not_move_the_pick(scale: float):
    grid, camera = Grid(128, 96), OrbitCamera()
    size, cursor = (640, 480), (301.0, 222.0)
    at_one = pick_cell(camera, cursor, (0, 0, *size), grid)
    scaled = pick_cell(
        camera, (cursor[0] * scale, cursor[1] * scale), (0, 0, size[0] * scale, size[1] * scale), grid
    )
    assert scaled == pytest.approx(at_one)


def test_a_viewport_inside_the_window_moves_the_pick_with_it():
    grid, camera = Grid(128, 128), OrbitCamera()
    inner = pick_cell(camera, (250 + 210, 40 + 180), (250, 40, 400, 300), grid)
    assert inner == pytest.approx(pick_cell(camera, (210, 180), (0, 0, 400, 300), grid))


@pytest.mark.parametrize("grid", [Grid(128, 128), Grid(5, 4), Grid(200, 51, 0.03)])
def test_the_middle_of_the_picture_is_the_middle_of_the_grid(grid: Grid):
    cell = pick_cell(OrbitCamera(), (400, 300), (0, 0, 800, 600), grid)
    assert cell == pytest.approx(((grid.width - 1) / 2, (grid.height - 1) / 2))


def test_from_above_columns_run_right_and_rows_run_down():
    grid, camera = Grid(64, 64), OrbitCamera(yaw=0, pitch=math.radians(89), distance=10)
    viewport = (0, 0, 600, 600)
    centre = pick_cell(camera, (300, 300), viewport, grid)
    right = pick_cell(camera, (330, 300), viewport, grid)
    down = pick_cell(camera, (300, 330), viewport, grid)
    pixel = 2 * 10 * math.tan(camera.fov / 2) / 600 / grid.dx  # in cells
    assert np.subtract(right, centre) == pytest.approx((30 * pixel, 0), abs=1e-6)
    assert np.subtract(down, centre) == pytest.approx((0, 30 * pixel), rel=0.01, abs=1e-6)


def test_sky_and_deck_are_no_cell():
    grid, camera = Grid(128, 128), OrbitCamera(pitch=0.1)
    assert pick_cell(camera, (400, 2), (0, 0, 800, 600), grid) is None
    assert pick_cell(OrbitCamera(), (2, 590), (0, 0, 800, 600), grid) is None


def test_a_cell_behind_the_eye_has_no_cursor():
    camera = OrbitCamera(yaw=0, pitch=0.01, distance=1)
    assert project_cell(camera, (64, 128), (0, 0, 800, 600), Grid(128, 128)) is None


def test_rays_have_unit_length_and_start_at_the_eye():
    camera = OrbitCamera()
    eye, direction = cursor_ray(camera, (10, 20), (0, 0, 800, 600))
    assert eye == pytest.approx(camera.position)
    assert np.linalg.norm(direction) == pytest.approx(1)


def test_the_rim_belongs_to_the_tank_and_what_is_beyond_does_not():
    grid = Grid(4, 3)
    assert grid.contains(-0.5, -0.5) and grid.contains(3.5, 2.5)
    assert not grid.contains(-0.51, 0) and not grid.contains(0, 2.51)
    assert grid.to_cell(*grid.to_world(1.25, 0.5)) == pytest.approx((1.25, 0.5))
