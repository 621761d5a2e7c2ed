"""A scene starts as its file says, with its look and caption, as one step for undo; and shows its point."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from app_rig import running_app

from app.basin.apply import furnish, record_scene
from app.basin.gallery import _begin, begin_first
from app.basin.scenes import find_scene, parse_scene, scene_names
from app.look import look_of
from app.scene import open_scene
from app.view.options import Mode
from replay.errors import UsageError

SMALL = """
label = "Small"
description = "There is a wall"
border = "absorbing"
[grid]
width = 40
height = 30
substeps = 4
[values]
k_speed = 50.0
k_damp = 0.0
[[walls]]
shape = "rectangle"
one = [10, 10]
other = [12, 20]
[[sources]]
at = [5, 5]
frequency = 5.0
[rain]
every = 9
[view]
mode = "data"
range = [-0.25, 0.5]
contours = false
"""


@pytest.fixture(scope="module")
def basin_path(frame_of):
    return frame_of(width=40, height=30, substeps=4, solver="basin")


@pytest.fixture
def rig(basin_path):
    with running_app(open_scene(basin_path, "cpu").player) as rig:
        yield rig


@pytest.fixture(scope="module")
def small():
    return parse_scene(SMALL, Path("small.toml"))


def held(rig):
    """All that a scene sets."""
    scene = rig.app.scene
    arrays = {name: scene.player.get(name).tolist() for name in scene.furnishing.arrays}
    return {**arrays, **scene.editor.values, "rain": scene.rain}


def test_the_first_scene_of_a_window_leaves_nothing_to_undo(rig, small, basin_path, monkeypatch):
    from app import loop

    monkeypatch.setattr("app.basin.apply.record_scene", lambda scene, device: basin_path)
    monkeypatch.setattr(rig.app, "trust", True)
    loop.open_first(rig.app, None, {"k_speed": (45.0,)}, small)
    rig.frames(2, launches=1)
    assert not rig.app.scene.editor.can_undo
    before = held(rig)
    rig.app.scene.editor.undo()
    rig.frame(launches=0)
    assert held(rig) == before and before["border"] == (1,) and before["k_speed"] == (45.0,)
    look = look_of(rig.app.water.options)
    assert (look["mode"], look["fixed_range"], look["contours"]) == ("data", [-0.25, 0.5], False)
    assert rig.app.scene.caption == "Small.  There is a wall"


def test_starting_a_scene_in_the_open_basin_is_one_step(rig, small):
    scene = rig.app.scene
    scene.furnishing.edit("walls")[2:5, 30] = 1
    scene.furnishing.settle()
    scene.editor.apply({"k_speed": 40.0})
    rig.frame(launches=1)
    mine = held(rig)
    _begin(rig.app, small)
    rig.frame(launches=1)
    started = held(rig)
    assert started["k_speed"] == (50.0,) and started["rain"] == small.rain
    assert np.array_equal(started["walls"], small.walls) and started["source_on"][0] == 1
    assert scene.editor.undo()
    rig.frame(launches=1)
    assert held(rig) == mine
    assert scene.editor.redo()
    rig.frame(launches=1)
    assert held(rig) == started
    assert scene.editor.undo() and scene.editor.undo()
    rig.frame(launches=1)
    assert scene.editor.values["k_speed"] == (60.0,) and np.array(held(rig)["walls"]).sum() == 3


def test_what_to_see_is_told_until_a_press_on_the_water(rig, small):
    from app.panels.canvas import CAPTION_SECONDS, FirstHint

    hint = FirstHint()
    _begin(rig.app, small)
    assert hint.shows(rig.app, 100.0) and hint.shows(rig.app, 99.0 + CAPTION_SECONDS)
    assert not hint.shows(rig.app, 101.0 + CAPTION_SECONDS)
    rig.app.scene.caption = "Another scene"
    assert hint.shows(rig.app, 200.0)
    rig.app.canvas.down[0] = True
    assert not hint.shows(rig.app, 200.1)


def test_a_scene_without_a_view_shows_water(rig, small):
    _begin(rig.app, small)
    assert rig.app.water.options.mode is Mode.DATA
    options = rig.app.water.options
    options.axes, options.colour_map = False, "inferno"
    begin_first(rig.app, parse_scene(SMALL.partition("[view]")[0], Path("small.toml")))
    assert options.mode is Mode.WATER and options.fixed_range is None and options.colour_map == "balance"
    assert not options.axes  # a choice about the picture, not about the scene


def test_a_scene_fills_its_place_from_its_own_side_and_follows_the_window(rig):
    """All four corners are in the free part of the water's place; F brings the same view back."""
    from app.controls import water_viewport
    from app.view.picking import project_cell

    steep = parse_scene(SMALL + "[camera]\nyaw = 0.0\npitch = 66.0\n", Path("small.toml"))
    begin_first(rig.app, steep)
    rig.frames(3, launches=0)
    camera = rig.app.camera
    assert np.degrees([camera.yaw, camera.pitch]) == pytest.approx([0.0, 66.0])
    viewport = water_viewport(rig.app)
    left, top, right, bottom = rig.app.canvas.free
    corners = [(0.0, 0.0), (39.0, 0.0), (39.0, 29.0), (0.0, 29.0)]
    places = np.array([project_cell(camera, cell, viewport, rig.app.scene.grid) for cell in corners])
    shares = (places - viewport[:2]) / viewport[2:]
    assert (shares > (left, top)).all() and (shares < (right, bottom)).all()
    before, camera.yaw, camera.distance = camera.distance, 0.7, 3.0
    rig.key("F")
    assert (camera.yaw, camera.distance) == pytest.approx((0.0, before))


@pytest.mark.parametrize(
    ("view", "text"),
    [
        ('mode = "fog"', "view.mode: 'fog' cannot be shown"),
        ("range = [1.0, 1.0]", "view.range"),
        ("exaggeration = 0.0", "view.exaggeration"),
        ("smell = 1", "smell"),
    ],
)
def test_a_view_that_cannot_be_shown_is_refused(view, text):
    with pytest.raises(UsageError) as caught:
        parse_scene(f'label = "x"\n[view]\n{view}\n', Path("x.toml"))
    assert text in str(caught.value)


@pytest.mark.parametrize("name", ["double-slit", "lens", "mirror", "shoal", "whispering-gallery"])
def test_a_scene_is_its_mirror_image_to_the_cell(name):
    """Sources act on the cell nearest to them: half a cell beside the axis makes the waves lopsided."""
    scene = find_scene(name)
    across = name == "whispering-gallery"
    for field in (scene.walls, scene.depth):
        assert np.array_equal(field, field[:, ::-1] if across else field[::-1])
    axis, size = (0, scene.width) if across else (1, scene.height)
    places = [int(np.floor(source.at[axis] + 0.5)) for source in scene.sources]
    assert sorted(places) == sorted(size - 1 - place for place in places)


@pytest.mark.parametrize("name", scene_names())
def test_every_scene_says_what_to_see(name):
    scene = find_scene(name)
    assert 20 < len(scene.description) < 140 and not scene.description.endswith(".")


def amplitude(name, frames, last):
    """Root of the mean square of the heights over the last frames of a run."""
    scene = find_scene(name)
    with open_scene(record_scene(scene, "cpu"), "cpu") as live:
        furnish(live, scene)
        total = np.zeros((scene.height, scene.width))
        for frame in range(frames):
            live.push(None)
            live.player.launch()
            if frame >= frames - last:
                total += np.square(live.player.get("heights"))
    return np.sqrt(total / last)


def test_the_whisper_is_heard_at_the_far_wall_and_not_in_the_middle():
    loud = amplitude("whispering-gallery", 360, 60)
    assert loud[5:9, 78:83].max() > 5 * loud[70:91, 70:91].mean()


def test_the_lens_makes_waves_high_in_its_focus():
    loud = amplitude("lens", 240, 48)
    focus = loud[60:69, 140:160].mean()
    assert focus > 2.5 * loud[20:109, 20:40].mean() and focus > 2.5 * loud[30:45, 140:160].mean()


def test_the_fans_of_the_double_slit_are_loud_and_between_them_it_is_still():
    """Slits 36 cells apart, a wave of 11.07 cells: on the screen the first dark line is 21.6 cells aside."""
    loud = amplitude("double-slit", 260, 33)
    screen = loud[:, 180]
    paths = np.hypot(140, np.arange(161) - 62.0) - np.hypot(140, np.arange(161) - 98.0)
    dark = int(np.argmin(np.abs(paths - 0.5 * 774.6 / 70)))
    assert screen[80] > 5 * screen[dark - 1 : dark + 2].mean()


def test_the_mirror_sends_straight_waves():
    """Phases along a line across the beam, 110 cells from the focus: flat within a quarter of a wave."""
    scene = find_scene("mirror")
    with open_scene(record_scene(scene, "cpu"), "cpu") as live:
        furnish(live, scene)
        total = np.zeros(scene.height, complex)
        for frame in range(300):
            live.push(None)
            live.player.launch()
            if frame >= 240:
                total += live.player.get("heights")[:, 148] * np.exp(-2j * np.pi * 7.0 * frame / 60)
    phases = np.unwrap(np.angle(total[34:95]))
    assert np.ptp(phases) < np.pi / 2


def test_a_shallow_is_grey_in_data_colours(rig):
    """Water at rest, the right half shallow: what bends the waves can be seen."""
    from app.view.screenshot import read_pixels

    rig.app.water.options.mode = Mode.DATA
    rig.app.water.options.fixed_range = (-1.0, 1.0)
    rig.app.camera.yaw, rig.app.camera.pitch, rig.app.framed = 0.0, 1.2, None
    rig.app.scene.furnishing.edit("depth")[:, 20:] = 0.25
    rig.app.scene.furnishing.settle()
    rig.app.panels_shown = False
    rig.frames(2, launches=0)
    pixels = read_pixels(rig.window.framebuffer, rig.window.framebuffer_size).astype(float)
    rows, columns = pixels.shape[:2]
    strip = pixels[rows // 2 - 5 : rows // 2 + 5]
    deep = strip[:, columns // 2 - 60 : columns // 2 - 20].mean()
    shallow = strip[:, columns // 2 + 20 : columns // 2 + 60].mean()
    assert shallow / deep == pytest.approx(0.7, abs=0.04)
