"""Arrays as pictures: which way for which type and shape, what pixels must be, what is chosen at first."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from app.arrays.candidates import first_choice
from app.arrays.columns import bar_columns, line_columns
from app.arrays.flat import render_array
from app.arrays.frame2d import Look, image_frame, pan_image, span_of, zoom_image, zoom_line
from app.arrays.gestures import read_at
from app.arrays.ranges import calmed, finite_range, fitted, map_for, number_text, ticks
from app.arrays.space import Bounds, bounds_of, frame_box, project
from app.arrays.ways import (
    INDEX,
    MAGNITUDE,
    Way,
    choices_of,
    colours_of,
    plane_of,
    planes_of,
    scalars_of,
    ways_of,
)
from app.lab.lab import Lab
from app.panels.region_table import index_of
from app.scene import Scene
from app.view import colormaps
from app.view.camera import OrbitCamera
from replay.elements import ElementType

SIZE = (320, 240)
MAGENTA = [255, 0, 255]


def element(name: str) -> ElementType:
    return ElementType.named(name)


@pytest.mark.parametrize(
    ("name", "shape", "ways"),
    [
        ("float32", (48, 64), (Way.IMAGE,)),
        ("float64", (4, 48, 64), (Way.IMAGE,)),
        ("float32", (1000,), (Way.LINE,)),
        ("bool", (7,), (Way.LINE,)),
        ("vec3f", (500,), (Way.POINTS, Way.LINE)),
        ("vec2d", (500,), (Way.POINTS, Way.LINE)),
        ("transformf", (9,), (Way.POINTS, Way.LINE)),
        ("vec4f", (500,), (Way.LINE,)),
        ("quatf", (500,), (Way.LINE,)),
        ("mat33f", (500,), (Way.LINE,)),
        ("vec3ub", (500,), (Way.LINE,)),
        ("vec2f", (48, 64), (Way.IMAGE,)),
        ("vec3f", (48, 64), (Way.IMAGE, Way.COLOUR)),
        ("vec4ub", (48, 64), (Way.COLOUR, Way.IMAGE)),
        ("uint8", (48, 64, 3), (Way.COLOUR, Way.IMAGE)),
        ("int32", (1,), (Way.VALUE,)),
        ("vec2f", (1,), (Way.VALUE,)),
        ("mat44f", (1, 1), (Way.VALUE,)),
        ("float32", (0,), ()),
    ],
)
def test_type_and_shape_say_how_an_array_is_drawn(name, shape, ways):
    assert ways_of(element(name), shape) == ways


def test_a_row_whose_rows_and_columns_are_known_is_an_image_first():
    assert ways_of(element("float32"), (3072,), (48, 64)) == (Way.IMAGE, Way.LINE)


def test_components_are_called_what_they_are():
    assert choices_of(element("vec3f"), Way.POINTS)[0] == ("index", INDEX)
    assert choices_of(element("vec2f"), Way.IMAGE) == (("length", MAGNITUDE), ("x", 0), ("y", 1))
    assert [name for name, _ in choices_of(element("transformf"), Way.LINE)] == [
        "px", "py", "pz", "qx", "qy", "qz", "qw"
    ]  # fmt: skip
    assert choices_of(element("float32"), Way.LINE) == ()


def test_numbers_of_an_element_and_planes_of_an_array():
    vectors = np.array([[[3.0, 4.0], [0.0, np.nan]]], np.float32)
    assert scalars_of(vectors, 2, 1)[0, 0] == 4.0
    length = scalars_of(vectors, 2, MAGNITUDE)
    assert length[0, 0] == 5.0 and np.isnan(length[0, 1])
    volume = np.arange(24).reshape(2, 3, 4)
    assert plane_of(volume, 1)[0, 0] == 12 and planes_of(Way.IMAGE, element("int32"), (2, 3, 4)) == 2
    assert plane_of(np.arange(6), 0, (2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert planes_of(Way.COLOUR, element("uint8"), (5, 3, 4, 3)) == 5


def test_colours_are_floats_from_zero_to_one_and_bytes_as_they_are():
    floats = np.array([[[0.0, 0.5, 2.0], [np.nan, 0.0, 0.0]]], np.float32)
    assert colours_of(floats, element("vec3f"), 0)[0, :, :3].tolist() == [[0, 128, 255], MAGENTA]
    octets = np.array([[[1, 2, 3, 9]]], np.uint8)
    assert colours_of(octets, element("vec4ub"), 0)[0, 0].tolist() == [1, 2, 3, 255]


def test_a_range_shrinks_slowly_but_at_once_from_where_all_values_had_one_colour():
    assert calmed((0.0, 10.0), (0.0, 5.0)) == pytest.approx((0.0, 9.5))
    assert calmed((0.0, 5.0), (-1.0, 10.0)) == (-1.0, 10.0)
    assert calmed((-1.0, 2e38), (0.48, 11.52)) == (0.48, 11.52)


def test_ranges_are_of_what_is_finite():
    found = finite_range(np.array([1.0, np.nan, -3.0, np.inf], np.float32))
    assert (found.low, found.high, found.wrong) == (-3.0, 1.0, 2)
    assert (
        fitted(-3.0, 1.0) == (-3.0, 3.0) and fitted(2.0, 2.0) == (1.5, 2.5) and fitted(None, None) == (-1, 1)
    )
    assert map_for((-1.0, 1.0)) == "balance" and map_for((0.0, 1.0)) == "viridis"
    assert ticks(0.0, 1.0, 5) == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    assert ticks(0.0, 0.0, 5) == [] and ticks(-9.0, 9.0, 4) == [-5.0, 0.0, 5.0]
    assert (number_text(1200.0), number_text(0.12345), number_text(math.nan)) == ("1,200", "0.1235", "nan")


def test_a_line_covers_all_numbers_of_its_columns():
    values = np.zeros(1000)
    values[777] = 5.0  # one peak among ten numbers a column must not be lost
    columns = line_columns(values, -0.5, 999.5, 100)
    assert columns[77, 1] == 5.0 and np.nanmax(np.delete(columns[:, 1], [77, 78, 76])) == 0.0
    few = line_columns(np.array([0.0, 10.0]), 0.0, 1.0, 10)
    assert few[:, 0] == pytest.approx(np.arange(10)) and few[:, 1] == pytest.approx(np.arange(1, 11))
    wrong = line_columns(np.array([0.0, np.nan, 2.0]), -0.5, 2.5, 30)
    assert wrong[:, 2].sum() == 1 and 10 <= int(np.argmax(wrong[:, 2])) < 20


def test_bars_stand_on_zero():
    columns = bar_columns(np.array([2.0, -1.0, np.inf]), -0.5, 2.5, 30)
    assert columns[5].tolist() == [0.0, 2.0, 0.0] and columns[15].tolist() == [-1.0, 0.0, 0.0]
    assert np.isnan(columns[10, 0]) and columns[25, 2] == 1.0


def test_an_image_is_fitted_panned_and_zoomed_to_the_cursor():
    room = (10.0, 20.0, 300.0, 200.0)
    frame = image_frame(48, 64, room, Look())
    assert frame.cell_x == frame.cell_y == pytest.approx(200 / 48)
    assert frame.cell_at(160, 120) == (24, 32) and frame.cell_at(0, 0) is None
    cursor = (200.0, 90.0)
    before = (cursor[0] - frame.left) / frame.cell_x, (cursor[1] - frame.top) / frame.cell_y
    look = zoom_image(Look(), frame, room, cursor, 2.0)
    near = image_frame(48, 64, room, look)
    after = (cursor[0] - near.left) / near.cell_x, (cursor[1] - near.top) / near.cell_y
    assert near.cell_x == pytest.approx(2 * frame.cell_x) and after == pytest.approx(before)
    assert image_frame(48, 64, room, pan_image(look, near, 7.0, -3.0)).left == pytest.approx(near.left + 7)
    thread = image_frame(1, 1000, room, Look())
    assert thread.cell_y >= 28 and thread.cell_x == pytest.approx(0.3)


def test_a_line_is_zoomed_to_the_index_under_the_cursor():
    look = zoom_line(Look(), 1000, 0.25, 4.0)
    first, last = span_of(1000, look)
    assert last - first == pytest.approx(250) and first + 0.25 * 250 == pytest.approx(-0.5 + 250)
    assert span_of(1000, Look()) == (-0.5, 999.5)


def test_points_are_fitted_into_the_box_and_lie_where_the_camera_sees_them():
    points = np.array([[0.0, 0.0, 0.0], [4.0, 2.0, 1.0], [np.nan, 0, 0]])
    bounds = bounds_of(points)
    assert bounds == Bounds((0, 0, 0), (4, 2, 1))
    world = bounds.to_world(points[:2])
    assert world[0] == pytest.approx([-5, -2.5, -1.25]) and world[1] == pytest.approx([5, 2.5, 1.25])
    camera = OrbitCamera()
    frame_box(camera, bounds.half, flat=True, aspect=4 / 3)
    x, y, depth = project(np.zeros((1, 3)), camera, (320, 240))[0]
    assert (x, y) == pytest.approx((160, 120)) and depth == pytest.approx(camera.distance)
    corner = project(world, camera, (320, 240))
    assert 0 < corner[0, 0] < 160 < corner[1, 0] < 320 and corner[0, 1] > 120 > corner[1, 1]


# Whole captures, with OpenGL


@pytest.fixture(scope="module")
def captures(tmp_path_factory) -> dict[str, Path]:
    from array_captures import record_all

    return record_all(tmp_path_factory.mktemp("arrays"))


@pytest.fixture
def opened(captures):
    """Open captures by name, with their labs; all are closed in the end."""
    from replay.graph.open import open_capture
    from replay.players import open_player

    labs = []

    def open_named(name: str, launches: int = 12) -> Lab:
        scene = Scene.of_player(open_player(open_capture(captures[name]), "cpu"))
        labs.append(Lab(scene))
        for _ in range(launches):
            scene.player.launch()
        labs[-1].shown.refresh(0.0, force=True)
        return labs[-1]

    yield open_named
    for lab in labs:
        lab.close()
        lab.scene.close()


def picture_of(window, lab: Lab, *, written: bool = False) -> np.ndarray:
    from app.arrays.ink import Inks
    from app.arrays.layout import Insets, lay_out
    from app.view.arrays import ArrayView
    from app.view.screenshot import read_pixels

    shown = lab.shown
    if shown.view is None:
        shown.view = ArrayView()
        lab.closables.append(shown.view)
    shown.fit_place(SIZE[0] / SIZE[1])
    shown.layout = lay_out(shown, SIZE, 1.0, Insets(), Inks())
    into = window.framebuffer, window.framebuffer_size
    shown.view.draw(shown, shown.layout, (0, 0, *SIZE), into, unit=1.0, inks=Inks(), written=written)
    return read_pixels(*into).astype(int)


def force(lab: Lab, values: np.ndarray) -> None:
    """Write values into the region that is shown, and read them."""
    lab.scene.player.write_regions(
        [(lab.shown.candidate.region, np.ascontiguousarray(values).view(np.uint8))]
    )
    lab.shown.refresh(0.0, force=True)
    lab.shown.fix_range(None)  # else it would follow slowly, as for pictures that follow each other


@pytest.mark.parametrize(
    ("name", "label", "way"),
    [
        ("particles", "positions", Way.POINTS),
        ("heat", "temperature", Way.IMAGE),
        ("signal", "signal", Way.LINE),
        ("loop", "total", Way.LINE),
        ("colours", "pixels", Way.COLOUR),
        ("number", "clock", Way.VALUE),
    ],
)
def test_the_array_that_is_meant_is_shown_first_in_the_way_that_suits_it(opened, name, label, way):
    lab = opened(name)
    assert lab.shown.active and lab.shown.candidate.label == label and lab.shown.way is way
    assert lab.shown.sentence == ""


def test_cells_have_the_colours_of_their_values_and_nan_is_magenta(gl, opened):
    lab = opened("heat")
    rows, columns = lab.shown.scalars.shape
    values = np.tile(np.linspace(0.0, 1.0, columns, dtype=np.float32), (rows, 1))
    values[10, 20] = np.nan
    force(lab, values)
    picture = picture_of(gl, lab)
    frame, table = lab.shown.layout.frame, colormaps.table("viridis")
    for row, column in ((0, 0), (5, 63), (47, 31), (30, 7)):
        x, y = frame.left + (column + 0.5) * frame.cell_x, frame.top + (row + 0.5) * frame.cell_y
        expected = table[round(float(values[row, column]) * 255)]
        assert np.abs(picture[int(y), int(x)] - expected).max() <= 2
    x, y = frame.left + 20.5 * frame.cell_x, frame.top + 10.5 * frame.cell_y
    assert picture[int(y), int(x)].tolist() == MAGENTA
    assert lab.shown.wrong == 1
    # Nearest sampling: no colour between those of two cells, on more than two pixels a cell.
    inside = picture[int(y) + 20, math.ceil(frame.left) : int(frame.box[2])]
    assert len(inside) > 2 * columns >= 2 * len(np.unique(inside, axis=0))


def test_one_nan_among_many_cells_of_a_pixel_is_seen(gl, opened):
    lab = opened("heat")
    lab.shown.scalars = np.zeros((2000, 2000), np.float32)
    lab.shown.scalars[1234, 777] = np.nan
    lab.shown.revision += 1
    picture = picture_of(gl, lab)
    assert 1 <= (picture == MAGENTA).all(axis=2).sum() <= 6


def test_numbers_beyond_float32_keep_their_colours(gl, opened):
    from app.view.arrays import texels_of

    texels, bounds = texels_of(np.array([[1e300, -1e300, np.nan, np.inf]]), (-1e300, 1e300))
    assert bounds == (0.0, 1.0) and texels[0, :2].tolist() == [1.0, 0.0] and np.isnan(texels[0, 2:]).all()
    texels, _ = texels_of(np.array([[2**60, 2**60 + 2**52]], np.int64), (float(2**60), float(2**60 + 2**52)))
    assert texels.tolist() == [[0.0, 1.0]]


def test_points_are_drawn_where_they_are_projected(gl, opened):
    lab = opened("particles")
    points = np.full((500, 3), [0.0, -1.0, 0.0], np.float32)
    points[0], points[1], points[2] = (-1, 1, 0), (1, 1, 1), (np.nan, 0, 0)
    lab.shown.frame()
    force(lab, points)
    picture = picture_of(gl, lab)
    background = picture[2, 2]
    world = lab.shown.bounds.to_world(points[[0, 1, 499]].astype(float))
    for x, y, _ in project(world, lab.shown.camera, SIZE):
        assert np.abs(picture[int(y), int(x)] - background).max() > 40
    drawn = np.abs(picture - background).max(axis=2) > 12
    assert drawn.sum() < 600  # three balls, and nothing for the point that is not finite
    assert lab.shown.wrong == 1
    x, y, _ = project(world, lab.shown.camera, SIZE)[1]
    assert read_at(lab.shown, (x, y), SIZE, 1.0) == "[1]  (1, 1, 1)"


def test_a_line_passes_through_its_numbers(gl, opened):
    lab = opened("signal")
    values = np.full(1000, 0.25, np.float32)
    values[500:] = 0.75
    values[100] = np.nan
    force(lab, values)
    picture = picture_of(gl, lab)
    x, y, width, height = lab.shown.layout.room
    from app.arrays.layout import axis_range

    low, high = axis_range(lab.shown)
    for index, value in ((250, 0.25), (750, 0.75)):
        column = int(x + width * (index + 0.5) / 1000)
        row = int(y + height * (1 - (value - low) / (high - low)))
        bright = np.flatnonzero(picture[:, column, 2] > 120)
        assert len(bright) and np.abs(bright - row).max() <= 2
    column = int(x + width * 100.5 / 1000)
    assert (picture[int(y + height / 2), column - 1 : column + 2] == MAGENTA).all(axis=1).any()


def test_values_can_be_read_under_the_pointer(gl, opened):
    lab = opened("heat")
    picture_of(gl, lab)
    frame = lab.shown.layout.frame
    at = frame.left + 36.5 * frame.cell_x, frame.top + 14.5 * frame.cell_y
    assert read_at(lab.shown, at, SIZE, 1.0) == f"[14, 36]  {lab.shown.scalars[14, 36]:.9g}"
    assert read_at(lab.shown, (1.0, 1.0), SIZE, 1.0) == ""


def test_counters_without_a_manifest_are_integers(opened):
    lab = opened("number")
    assert lab.shown.typing.element.name == "int32"
    assert lab.shown.values.tolist() == [
        lab.scene.player.region_bytes(lab.shown.candidate.region).view(np.int32)[0]
    ]


def test_a_true_height_field_is_water_and_an_array_on_request(frame_path, gl):
    from app_rig import running_app

    from replay.graph.open import open_capture
    from replay.players import open_player

    with running_app(open_player(open_capture(frame_path), "cpu")) as rig:
        shown = rig.app.lab.shown
        assert not shown.active and rig.app.water is not None
        shown.active = True
        rig.desk._front = ["Picture"]
        rig.frames(3)
        assert shown.layout is not None and shown.candidate.typing.shape == (16, 24) and rig.app.message == ""
        shown.active = False
        rig.frames(2)
        assert rig.app.message == ""


@pytest.mark.parametrize("name", ["particles", "heat", "signal", "loop", "colours", "number"])
def test_the_window_shows_every_kind_and_wheel_and_drag_move_it(captures, name):
    from app_rig import running_app

    from app.window import PointerMoved, Scrolled
    from replay.graph.open import open_capture
    from replay.players import open_player

    with running_app(open_player(open_capture(captures[name]), "cpu")) as rig:
        rig.frames(3, launches=1)
        shown = rig.app.lab.shown
        x, y, width, height = rig.app.canvas.rect
        middle = x + width / 2, y + height / 2
        before = shown.look, shown.pose
        rig.frame(PointerMoved(*middle))
        rig.frame(PointerMoved(*middle))
        rig.frame(Scrolled(0.0, 2.0, *middle))
        rig.frames(2)
        assert rig.app.message == ""
        if shown.way is not Way.VALUE:
            assert (shown.look, shown.pose) != before
        rig.app.frame_view()
        rig.frames(1)
        assert shown.look == Look()
        rig.desk._front = ["Picture"]
        for item in shown.candidates:  # the inspector shows it, too, and both panels build without a fault
            rig.app.lab.selection.select_region(item.region)
            rig.frames(3)
            assert shown.pick(item.region)
            rig.frames(2)
            for way in shown.ways:
                shown.draw_as(way)
                rig.frames(2)
                assert shown.way is way and rig.app.message == ""


@pytest.mark.parametrize("name", ["particles", "heat", "signal", "loop", "colours", "number"])
def test_the_picture_without_opengl_shows_the_same(gl, opened, name):
    lab = opened(name)
    with_gl = picture_of(gl, lab, written=True)
    without = render_array(lab.shown, SIZE).astype(int)
    assert without.shape == (240, 320, 3) and without.std() > 4
    assert np.abs(with_gl - without).mean() < 6


@pytest.mark.parametrize("top_view", [False, True])
def test_a_headless_picture_is_of_an_array_and_never_black(captures, tmp_path, top_view):
    from PIL import Image

    from app.cli import main

    out = tmp_path / "out.png"
    words = ["--headless", "--trust", str(captures["heat"]), "--frames", "4", "--size", "320x240"]
    assert main([*words, "--screenshot", str(out), *(["--top-view"] if top_view else [])]) == 0
    with Image.open(out) as image:
        pixels = np.asarray(image.convert("RGB")).astype(int)
    assert pixels.std() > 15 and (np.abs(pixels - (68, 1, 84)).max(axis=2) <= 3).mean() > 0.1  # viridis' zero


def test_what_holds_no_memory_is_refused_in_one_sentence_before_a_frame_is_replayed(
    captures, tmp_path, capsys
):
    from app.cli import main

    out = tmp_path / "out.png"
    words = ["--headless", "--trust", str(captures["empty"]), "--frames", "999999999"]
    for more in ([], ["--top-view"]):
        assert main([*words, "--screenshot", str(out), *more]) == 2
        said = capsys.readouterr().err.strip()
        assert "holds no memory, so there is no array to show" in said and len(said.splitlines()) == 1
    assert not out.exists()


def test_a_capture_without_memory_says_so_in_the_centre(captures):
    from app_rig import running_app

    from replay.graph.open import open_capture
    from replay.players import open_player

    with running_app(open_player(open_capture(captures["empty"]), "cpu")) as rig:
        rig.frames(2)
        (text,) = rig.app.lab.shown.layout.items
        assert text.text == "This capture holds no memory, so there is no array to show."
        assert rig.app.message == ""


def test_the_first_choice_is_what_changes(opened):
    lab = opened("colours", launches=0)
    by_name = {item.label: item for item in lab.shown.candidates}
    changed = frozenset({by_name["field"].region})
    assert first_choice(lab.scene, lab.shown.candidates, changed).label == "field"
    assert first_choice(lab.scene, [], frozenset()) is None


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("12", (12, 0)), ("12, 40", (12, 40)), ("[12 40]", (12, 40)), ("-1 -1", (99, 49)),
        ("100", None), ("3, 50", None), ("", None), ("x", None), ("1 2 3", None),
    ],
)  # fmt: skip
def test_an_index_is_read_as_people_type_it(text, cell):
    assert index_of(text, 100, 50) == cell
