"""The graph and the inspector by hand: what stays in place, what colours say, which digits are told."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from app_rig import running_app

from app.gl_platform import imgui
from app.panels.graph_blocks import MOST_BLOCKS, Ladder
from app.panels.graph_colors import ColorBy
from app.panels.graph_draw import Painter
from app.panels.graph_parts import Marks, mixed
from app.panels.region_numbers import digits_of, range_text
from app.scene import open_scene
from app.window import KeyPressed, Modifiers


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player, size=(1280, 800)) as rig:
        rig.frames(2, launches=0)
        yield rig


def panel_of(rig, name):
    return next(panel for panel in rig.desk.panels if panel.name == name)


def test_what_is_found_lies_over_the_graph_which_stays_as_it_is(rig):
    graph = panel_of(rig, "Graph")
    rig.frames(30, launches=0)
    before = (graph.picture, graph.camera.zoom, graph.camera.origin)
    rig.key("F", Modifiers.CONTROL)
    rig.frames(3)
    for pressed in (True, False):
        rig.frame(KeyPressed("k", pressed, False, Modifiers.NONE))
    rig.frames(3)
    assert graph.search == "k"
    assert (graph.picture, graph.camera.zoom, graph.camera.origin) == before
    x, y = graph.corner
    rig.click(x + 60, y + imgui.get_style().window_padding.y + 6)  # the first that was found: k_speed
    names = rig.app.lab.capture.regions[rig.app.lab.selection.region].names
    assert names == ("k_speed",)


def test_enter_chooses_the_first_that_was_found_and_ends_the_search(rig):
    rig.key("F", Modifiers.CONTROL)
    rig.frames(3)
    for sign in ("d", "t"):
        for pressed in (True, False):
            rig.frame(KeyPressed(sign, pressed, False, Modifiers.NONE))
    rig.key("enter")
    rig.frames(3)
    lab = rig.app.lab
    assert lab.capture.regions[lab.selection.region].names == ("dt",)
    assert panel_of(rig, "Graph").search == ""


def test_what_unfolds_fits_again_or_stays_where_the_user_put_it(rig):
    graph, lab = panel_of(rig, "Graph"), rig.app.lab
    run = graph.picture.boxes[graph.box_of(2)]
    graph.toggle(lab, run)
    rig.frames(2, launches=0)
    box = next(box for box in graph.picture.boxes if box.key == run.key)
    right, bottom = graph.camera.to_window((graph.picture.width, graph.picture.height))
    assert min(graph.camera.to_window((0.0, 0.0))) >= 0
    assert right <= graph._fitted[0] and bottom <= graph._fitted[1]
    graph.camera.pan(-40.0, 25.0)
    graph._moved = True
    place = graph.camera.to_window((box.x, box.y))
    graph.toggle(lab, box)
    rig.frames(2, launches=0)
    again = next(box for box in graph.picture.boxes if box.key == run.key)
    assert not again.is_open
    assert graph.camera.to_window((again.x, again.y)) == pytest.approx(place)


def test_a_colour_that_was_asked_for_fills_the_boxes(rig):
    graph = panel_of(rig, "Graph")
    colors = rig.gui.colors

    def fills(paint):
        made = Painter(graph.picture, graph.camera, (0.0, 0.0), (380.0, 300.0), paint, Marks(), 1.0).draw()
        return {arguments[2] for name, arguments in made.calls if name == "add_rect_filled"}

    rig.frame(launches=0)
    plain = dataclasses.replace(graph._paint, boxes=[0xFF0000FF] * len(graph.picture.boxes))
    tinted = mixed(colors.raised, 0xFF0000FF, 0.34)
    assert not graph._paint.filled and tinted not in fills(plain)
    graph.color_by = ColorBy.BYTES
    rig.frames(2, launches=0)
    assert graph._paint.filled and tinted in fills(dataclasses.replace(plain, filled=True))
    assert (
        mixed(0xFF102030, 0xFF3040F0, 0.5) == 0xFF203090 and mixed(0xFF102030, 0xFFFFFFFF, 0.0) == 0xFF102030
    )


# Blocks


def picture_of(bounds, containers=None):
    """What the ladder needs of a picture."""
    bounds = np.array(bounds, float)
    flags = np.zeros(len(bounds), bool) if containers is None else np.array(containers)
    return SimpleNamespace(box_bounds=bounds, containers=flags)


def test_small_boxes_become_blocks_that_cover_them():
    places = np.array([(10.0 * (n % 40), 10.0 * (n // 40)) for n in range(1600)])
    picture = picture_of(np.hstack((places, places + 8.0)))
    blocks, seen = Ladder(picture).seen((0.0, 0.0, 400.0, 400.0), 5.0)
    assert len(seen) <= MOST_BLOCKS and len(seen) == len(blocks.bounds)
    own = blocks.bounds[blocks.number]
    assert (own[:, :2] <= picture.box_bounds[:, :2]).all() and (own[:, 2:] >= picture.box_bounds[:, 2:]).all()
    assert (blocks.number[blocks.first] == np.arange(len(blocks.bounds))).all()
    near, some = Ladder(picture).seen((0.0, 0.0, 95.0, 95.0), 5.0)
    assert len(near.bounds) == 1600 and len(some) == 100  # what is seen alone needs no larger blocks


def test_a_container_is_no_block():
    picture = picture_of([(0, 0, 100, 100), (10, 10, 20, 20)], [True, False])
    blocks, seen = Ladder(picture).seen((0.0, 0.0, 100.0, 100.0), 4.0)
    assert blocks.bounds.tolist() == [[10, 10, 20, 20]] and blocks.first.tolist() == [1] and len(seen) == 1


def test_blocks_stay_the_same_while_the_picture_is_moved_and_have_the_colours_of_the_selection(rig):
    graph, lab = panel_of(rig, "Graph"), rig.app.lab
    graph.unfold_all(lab, closed=False)
    lab.selection.select_event(2)
    rig.frames(2, launches=0)
    graph.camera.zoom = 0.05
    graph.camera.origin = (20.0, 20.0)
    rig.frame(launches=0)

    def blocks():
        made = [arguments for name, arguments in graph.drawing.calls if name == "add_rect_filled"]
        strong = [arguments[:3] for arguments in made if arguments[2] >> 24 == 0xE0]
        return [(round(low.x), round(high.x - low.x), color) for low, high, color in strong]

    before = blocks()
    strong = rig.gui.colors.accent_strong & 0xFFFFFF | 0xE0000000
    assert graph.drawing.boxes == 0 and strong in {color for _, _, color in before}
    graph.camera.pan(3.0, 0.0)
    rig.frame(launches=0)
    assert blocks() == [(x + 3, width, color) for x, width, color in before]


# The inspector's region


def test_another_type_of_the_same_size_keeps_the_shape(rig):
    lab, tab = rig.app.lab, panel_of(rig, "Inspector").region
    region = rig.app.scene.player.parameters["heights"].region
    lab.selection.select_region(region)
    rig.frames(2, launches=0)
    rows, columns = lab.capture.regions[region].shape
    for name, shape in (("int32", f"{rows}x{columns}"), ("uint8", ""), ("vec2f", "")):
        assert tab._shape_for(name) == shape


def test_another_region_is_told_from_its_name_on(rig):
    lab = rig.app.lab
    parameters = rig.app.scene.player.parameters

    def child():
        windows = imgui.get_current_context().windows
        return next(window for window in windows if "/region_" in window.name)

    lab.selection.select_region(parameters["heights"].region)
    rig.frames(4, launches=0)
    assert child().scroll_max.y > 20  # the picture does not fit, or this test shows nothing
    imgui.internal.set_scroll_y(child(), 20.0)
    rig.frames(2, launches=0)
    assert child().scroll.y == 20.0
    lab.selection.select_region(parameters["heights_prev"].region)
    rig.frames(3, launches=0)
    assert child().scroll.y == 0.0


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (-0.25, 0.5, "-0.25 to 0.5"),
        (0.002844770, 0.002844861, "0.00284477 to 0.002844861"),
        (993712345.0, 993712399.0, "993712345 to 993712399"),
        (0.002845, 0.002845, "all 0.002845"),
        (0.0, 1e30, "0 to 1e+30"),
    ],
)
def test_the_ends_of_a_range_can_be_told_apart(low, high, text):
    assert range_text(low, high) == text


def test_digits_are_as_many_as_are_needed():
    assert digits_of(0.0, 1.0) == 4 and digits_of(1000.0, 1001.0) == 7 and digits_of(2.0, 2.0) == 4
    assert digits_of(0.0, float("inf")) == 4 and digits_of(1.0, 1.0 + 2**-52) == 17
