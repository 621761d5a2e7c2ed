"""Pictures of the water: what is where, what is marked, what is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from app.view.camera import OrbitCamera
from app.view.grid import Grid
from app.view.options import LEVELS, Mode, Quality, WaterOptions, picture_size, round_length
from app.view.picking import pick_cell, project_cell
from app.window import Window

SIZE = (320, 240)
VIEWPORT = (0, 0, *SIZE)

Draw = Callable[..., np.ndarray]


class Stage:
    """A view of one grid in the headless window."""

    def __init__(self, window: Window, grid: Grid) -> None:
        from app.view.transfer import ArrayTransfer
        from app.view.water import WaterView

        self.window, self.grid = window, grid
        self.view = WaterView(grid.width, grid.height, grid.dx)
        self.transfer = ArrayTransfer(grid)
        self.camera = OrbitCamera()
        self.camera.frame_grid(grid)

    def picture(self, heights: np.ndarray, marker: tuple[float, float] | None = None) -> np.ndarray:
        from app.view.screenshot import read_pixels

        self.transfer.upload(heights)
        self.window.bind()
        self.view.draw(self.transfer.texture, self.camera, (0, 0, *self.window.framebuffer_size), marker)
        return read_pixels(self.window.framebuffer, self.window.framebuffer_size).astype(int)

    def close(self) -> None:
        self.transfer.close()
        self.view.close()


@pytest.fixture
def stage(gl: Window) -> Iterator[Stage]:
    stage = Stage(gl, Grid(64, 48))
    yield stage
    stage.close()


def still(grid: Grid) -> np.ndarray:
    return np.zeros((grid.height, grid.width), np.float32)


def ring(grid: Grid, i: float, j: float, radius: float = 6.0) -> np.ndarray:
    y, x = np.mgrid[: grid.height, : grid.width]
    return (0.12 * np.exp(-((np.hypot(x - i, y - j) - radius) ** 2) / 3)).astype(np.float32)


def middle_of(mask: np.ndarray) -> tuple[float, float]:
    rows, columns = np.nonzero(mask)
    assert len(rows) > 3
    return float(columns.mean()) + 0.5, float(rows.mean()) + 0.5


@pytest.mark.parametrize("quality", [Quality.HIGH, Quality.MEDIUM, Quality.LOW, Quality.DRAFT])
@pytest.mark.parametrize("mode", list(Mode))
def test_pictures_are_bright_and_varied(stage: Stage, mode: Mode, quality: Quality):
    stage.view.options = WaterOptions(mode=mode, quality=quality)
    picture = stage.picture(ring(stage.grid, 30, 20))
    assert stage.view.quality == quality
    assert 40 < picture.mean() < 230
    assert picture.std() > 15


def test_still_water_is_blue_and_its_surroundings_are_not(stage: Stage):
    stage.view.options.quality = Quality.MEDIUM
    picture = stage.picture(still(stage.grid))
    u, v = project_cell(stage.camera, (40, 34), VIEWPORT, stage.grid)
    red, green, blue = picture[int(v) - 3 : int(v) + 4, int(u) - 3 : int(u) + 4].mean(axis=(0, 1))
    assert blue > red + 40 and green > red + 30
    red, _, blue = picture[-6:, :6].mean(axis=(0, 1))
    assert red > blue


@pytest.mark.parametrize("cell", [(31, 23), (14, 30), (50, 12)])
@pytest.mark.parametrize("mode", list(Mode))
def test_a_ring_is_seen_where_its_cell_is_projected(stage: Stage, mode: Mode, cell: tuple[int, int]):
    stage.view.options = WaterOptions(
        mode=mode, quality=Quality.MEDIUM, exaggeration=0.05, fixed_range=(-0.2, 0.2)
    )
    change = stage.picture(ring(stage.grid, *cell)) - stage.picture(still(stage.grid))
    if mode is Mode.DATA:  # the water also moves light on the floor, away from the ring
        where = middle_of(np.abs(change).sum(axis=2) > 60)
        seen = pick_cell(stage.camera, where, VIEWPORT, stage.grid)
        assert seen == pytest.approx(cell, abs=1.5)
    else:
        u, v = project_cell(stage.camera, cell, VIEWPORT, stage.grid)
        rows, columns = np.nonzero(np.abs(change).sum(axis=2) > 8)
        assert columns.min() < u < columns.max() and rows.min() < v < rows.max()


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("yaw", [-2.0, 0.3, 1.5])
def test_the_marker_is_drawn_around_the_picked_cell(stage: Stage, mode: Mode, yaw: float):
    stage.view.options = WaterOptions(mode=mode, quality=Quality.MEDIUM, marker_radius=4)
    stage.camera.orbit(yaw, 0.4)
    marker = (40.0, 18.5)
    change = stage.picture(still(stage.grid), marker) - stage.picture(still(stage.grid))
    where = middle_of(np.abs(change).sum(axis=2) > 40)
    assert pick_cell(stage.camera, where, VIEWPORT, stage.grid) == pytest.approx(marker, abs=0.8)


def test_a_scene_in_part_of_the_window_leaves_the_rest_alone(stage: Stage, gl: Window):
    from app.gl_platform import GL
    from app.view.screenshot import read_pixels

    gl.bind()
    GL.glClearColor(0, 0, 0, 1)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    stage.transfer.upload(still(stage.grid))
    stage.view.draw(stage.transfer.texture, stage.camera, (100, 20, 150, 90), None)
    pixels = read_pixels(gl.framebuffer, gl.framebuffer_size)
    assert (pixels[20:110, 100:250].max(axis=2) > 0).all()
    pixels[20:110, 100:250] = 0
    assert pixels.max() == 0


@pytest.mark.parametrize("quality", [Quality.HIGH, Quality.LOW])
@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_cells_that_are_not_finite_are_magenta(stage: Stage, mode: Mode, quality: Quality, value: float):
    stage.view.options = WaterOptions(mode=mode, quality=quality)
    heights = ring(stage.grid, 20, 20)
    heights[30:34, 40:45] = value
    picture = stage.picture(heights)
    magenta = (picture[..., 0] > 240) & (picture[..., 1] < 15) & (picture[..., 2] > 240)
    seen = pick_cell(stage.camera, middle_of(magenta), VIEWPORT, stage.grid)
    assert seen == pytest.approx((42, 31.5), abs=0.7)
    corner = project_cell(stage.camera, (40, 30), VIEWPORT, stage.grid)
    assert not magenta[: int(corner[1]) - 12].any()


def test_the_range_is_symmetric_and_ignores_what_is_not_finite(stage: Stage):
    stage.view.options.mode = Mode.DATA
    heights = still(stage.grid)
    heights[3, 5], heights[47, 63], heights[10, 10], heights[11, 11] = 0.25, -0.75, np.nan, np.inf
    stage.picture(heights)
    assert stage.view.range == (-0.75, 0.75)
    stage.view.options.fixed_range = (-2.0, 1.0)
    stage.picture(heights)
    assert stage.view.range == (-2.0, 1.0)


@pytest.mark.parametrize("shape", [(3, 3), (48, 64), (1, 700), (129, 65)])
def test_lowest_and_highest_are_exact_in_any_shape(gl: Window, shape: tuple[int, int]):
    stage = Stage(gl, Grid(shape[1], shape[0]))
    heights = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    stage.transfer.upload(heights)
    found = stage.view._range_fit.reduce(stage.transfer.texture)[:2]
    stage.close()
    assert found == (heights.min(), heights.max())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_heights_that_are_not_finite_are_noticed_without_waiting(stage: Stage, value: float):
    heights = still(stage.grid)
    stage.picture(heights)
    assert not stage.view.not_finite
    heights[40, 60] = value
    for _ in range(140):  # water mode looks now and then only
        stage.picture(heights)
    assert stage.view.not_finite
    stage.view.forget_not_finite()
    assert not stage.view.not_finite


@pytest.mark.parametrize("shape", [(48, 64), (129, 65)])
@pytest.mark.parametrize("ratio", [2, 4, 5])
def test_a_coarse_surface_has_the_mean_height_and_slope_of_its_cells(
    gl: Window, shape: tuple[int, int], ratio: int
):
    from app.gl_platform import GL
    from app.view.detail import Detail

    rows, columns = shape
    stage = Stage(gl, Grid(columns, rows))
    size = -(-columns // ratio), -(-rows // ratio)
    y, x = np.mgrid[:rows, :columns] + 0.5
    plane = (0.3 * x / columns + 0.2 * y / rows).astype(np.float32)
    stage.picture(plane)
    detail = Detail(size, (16, 16), (8, 8), (8, 8), smooth=False, smooth_rays=False)
    stage.view._preparation.draw_surface(stage.transfer.texture, detail)
    found = np.empty((size[1], size[0], 4), np.float32)
    GL.glReadPixels(0, 0, *size, GL.GL_RGBA, GL.GL_FLOAT, found)
    stage.close()
    places = (np.arange(size[0]) + 0.5) / size[0], (np.arange(size[1]) + 0.5) / size[1]
    expected = 0.3 * places[0][None, :] + 0.2 * places[1][:, None]
    inside = found[1:-1, 1:-1]
    assert inside[..., 0] == pytest.approx(expected[1:-1, 1:-1], abs=2e-3)
    assert inside[..., 1] == pytest.approx(np.full(inside.shape[:2], 0.3 / (columns * 0.1)), rel=0.05)
    assert inside[..., 2] == pytest.approx(np.full(inside.shape[:2], 0.2 / (rows * 0.1)), rel=0.05)


def test_the_range_falls_slowly(stage: Stage):
    stage.view.options.mode = Mode.DATA
    stage.picture(np.full_like(still(stage.grid), 1.0))
    assert stage.view.range[1] == 1.0  # the first look waits for its answer
    stage.picture(still(stage.grid))
    stage.picture(still(stage.grid))  # a later one is answered a picture late
    assert stage.view.range[1] == pytest.approx(0.9)
    for _ in range(100):
        stage.picture(still(stage.grid))
    assert stage.view.range[1] == pytest.approx(1e-3)


def test_a_field_at_rest_has_no_contour_lines(stage: Stage):
    stage.view.options = WaterOptions(mode=Mode.DATA, quality=Quality.MEDIUM, axes=False)
    with_lines = stage.picture(still(stage.grid))
    stage.view.options.contours = False
    assert np.array_equal(with_lines, stage.picture(still(stage.grid)))
    assert not np.array_equal(stage.picture(ring(stage.grid, 30, 20)), with_lines)


@pytest.mark.parametrize("quality", [Quality.MEDIUM, Quality.LOW])
def test_a_nearly_flat_field_on_a_level_has_no_contour_lines(stage: Stage, quality: Quality):
    stage.view.options = WaterOptions(mode=Mode.DATA, quality=quality, axes=False, fixed_range=(-0.8, 0.8))
    noise = np.random.default_rng(3).normal(size=(stage.grid.height, stage.grid.width))
    flat = (0.2 + 2e-4 * noise).astype(np.float32)  # a line is where the height is 0.2 m
    with_lines = stage.picture(flat)
    assert stage.view.contour_interval == pytest.approx(0.2)
    stage.view.options.contours = False
    assert np.abs(with_lines - stage.picture(flat)).max() <= 2


@pytest.mark.parametrize("quality", [Quality.MEDIUM, Quality.LOW])
def test_a_slope_has_a_thin_line_at_every_level(stage: Stage, quality: Quality):
    stage.view.options = WaterOptions(
        mode=Mode.DATA, quality=quality, axes=False, exaggeration=0.01, fixed_range=(-0.8, 0.8)
    )
    stage.camera.orbit(-stage.camera.yaw, 2.0)  # from above
    slope = np.tile(np.linspace(-0.79, 0.79, stage.grid.width, dtype=np.float32), (stage.grid.height, 1))
    with_lines = stage.picture(slope)
    stage.view.options.contours = False
    darker = (stage.picture(slope) - with_lines)[SIZE[1] // 2].mean(axis=1) > 12
    begins = np.flatnonzero(np.diff(darker.astype(int)) == 1)
    assert len(begins) == 6 and darker.sum() <= 6 * 3  # at 0.2, 0.4, 0.6 m and below, and none at zero
    steps = np.diff(begins)
    assert steps[2] == pytest.approx(2 * steps[0], abs=2.01)
    assert np.delete(steps, 2) == pytest.approx(np.full(4, steps[0]), abs=1.01)


@pytest.mark.parametrize("quality", [Quality.HIGH, Quality.MEDIUM, Quality.LOW, Quality.DRAFT])
def test_still_water_mirrors_the_sun_as_a_small_disc(stage: Stage, quality: Quality):
    stage.view.options = WaterOptions(quality=quality, axes=False, deck=0.5)  # stone is no mirror
    bright = stage.picture(still(stage.grid)).min(axis=2) > 200
    assert 0.0002 < bright.mean() < 0.003
    rows, columns = np.nonzero(bright)
    assert np.ptp(rows) < 0.06 * SIZE[1] and np.ptp(columns) < 0.06 * SIZE[0]


@pytest.mark.parametrize("mode", list(Mode))
def test_the_axis_upward_has_no_gaps_in_a_small_picture(stage: Stage, mode: Mode):
    stage.view.options = WaterOptions(mode=mode, quality=Quality.DRAFT)
    with_axes = stage.picture(still(stage.grid))
    stage.view.options.axes = False
    change = with_axes - stage.picture(still(stage.grid))
    green = change[..., 1] - change[..., [0, 2]].max(axis=2) > 25
    rows = np.flatnonzero(green[: SIZE[1] // 2].any(axis=1))
    assert len(rows) > 8 and np.diff(rows[3:]).max() == 1  # its letter may have gaps


def test_a_change_of_window_and_grid_leaks_nothing(gl: Window):
    from app.view.gl_objects import alive

    counts = set()
    for number in range(50):
        stage = Stage(gl, Grid(3 + 7 * (number % 9), 3 + 5 * (number % 7)))
        gl.resize(40 + 13 * (number % 11), 30 + 17 * (number % 5))
        stage.view.options.mode = list(Mode)[number % 2]
        stage.view.options.quality = (Quality.LOW, Quality.HIGH, Quality.MEDIUM)[number % 3]
        stage.picture(still(stage.grid))
        stage.close()
        counts.add(tuple(sorted((+alive).items())))
    assert len(counts) == 1


def test_a_still_camera_keeps_the_deck_and_a_moved_one_does_not(stage: Stage):
    before = stage.picture(still(stage.grid))
    assert np.array_equal(before, stage.picture(still(stage.grid)))
    stage.camera.orbit(0.3, 0)
    assert not np.array_equal(before, stage.picture(still(stage.grid)))


@pytest.mark.parametrize("pitch", [-89, -20, 0, 0.5, 89])
def test_any_pitch_gives_a_picture(stage: Stage, pitch: float):
    stage.camera.pitch = np.radians(pitch)
    assert stage.picture(ring(stage.grid, 30, 20)).mean() > 20


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (900, 12)])
def test_tiny_and_odd_windows_are_drawn(stage: Stage, gl: Window, size: tuple[int, int]):
    gl.resize(*size)
    assert stage.picture(still(stage.grid)).shape == (size[1], size[0], 3)


@pytest.mark.parametrize("viewport", [(0, 0, 0, 240), (0, 0, 320, 0)])
def test_an_empty_viewport_draws_nothing(stage: Stage, gl: Window, viewport: tuple[int, int, int, int]):
    from app.view.screenshot import read_pixels

    before = stage.picture(still(stage.grid))
    stage.transfer.upload(ring(stage.grid, 30, 20))
    stage.view.draw(stage.transfer.texture, stage.camera, viewport, None)
    after = read_pixels(gl.framebuffer, gl.framebuffer_size)
    assert before.std() > 5 and np.array_equal(before, after)


def test_a_view_that_cannot_be_made_leaves_nothing(gl: Window, monkeypatch: pytest.MonkeyPatch):
    from app.view import water

    def fails() -> None:
        raise MemoryError

    monkeypatch.setattr(water, "Furniture", fails)  # the last part; the fixture counts what is left
    with pytest.raises(MemoryError):
        water.WaterView(24, 16, 0.1)


def test_a_choice_overrides_what_auto_takes(stage: Stage):
    stage.picture(still(stage.grid))
    assert stage.view.quality is stage.view.auto.quality
    for quality in (Quality.HIGH, Quality.DRAFT, Quality.MEDIUM):
        stage.view.options.quality = quality
        stage.picture(still(stage.grid))
        assert stage.view.quality is quality


def test_a_picture_on_the_processor_has_bounded_pixels_in_the_shape_of_its_place():
    assert picture_size(LEVELS[Quality.LOW], 400, 300) == (400, 300)
    width, height = picture_size(LEVELS[Quality.LOW], 1920, 1080)
    assert width * height == pytest.approx(360_000, rel=0.01)
    assert width / height == pytest.approx(16 / 9, rel=0.01)


@pytest.mark.parametrize(
    ("length", "expected"), [(4.27, 2), (5.0, 5), (0.1, 0.1), (0.0199, 0.01), (999, 500), (1e-7, 1e-7)]
)
def test_round_lengths(length: float, expected: float):
    assert round_length(length) == pytest.approx(expected)


def test_heights_out_of_all_proportion_stay_in_the_picture(stage: Stage):
    stage.view.options = WaterOptions(mode=Mode.DATA, quality=Quality.LOW, fixed_range=(-1.0, 1.0))
    for height in (50.0, 1e30):
        picture = stage.picture(np.full_like(still(stage.grid), height))
        red = (picture[..., 0] > 2 * picture[..., 1]) & (picture[..., 0] > 60)
        assert red.mean() > 0.1
