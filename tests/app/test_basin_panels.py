"""The ripple tank in the running app: tools on the water, probes, scenes, the page about capture."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from app_rig import running_app

from app.basin.furnishing import Source
from app.basin.gallery import start_scene
from app.basin.probelog import write_csv
from app.basin.scenes import parse_scene, scene_names
from app.basin.thumbnails import SIZE, thumbnail_path
from app.basin.tools import Tool
from app.panels.probes import plot_lines
from app.scene import open_scene
from app.settings import OPTIONAL_PANELS, Settings
from app.window import Button, Modifiers, PointerButton, PointerMoved

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")


@pytest.fixture(scope="module")
def basin_path(frame_of):
    from app.trust import remember_recorded

    path = frame_of(width=40, height=30, substeps=4, solver="basin")
    remember_recorded(path)
    return path


@pytest.fixture
def rig(basin_path):
    with running_app(open_scene(basin_path, "cpu").player) as rig:
        rig.app.scene.editor.apply({"k_damp": 0.0})
        yield rig


def place_of(rig, cell):
    """Where a cell shows, in window units."""
    from app.controls import water_viewport
    from app.view.picking import project_cell

    x, y = project_cell(rig.app.camera, cell, water_viewport(rig.app), rig.app.scene.grid)
    return x, y


def drag(rig, *cells, launches=0):
    places = [place_of(rig, cell) for cell in cells]
    rig.frame(PointerMoved(*places[0]), launches=launches)
    rig.frame(PointerMoved(*places[0]), launches=launches)
    rig.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, *places[0]), launches=launches)
    for place in places:
        rig.frame(PointerMoved(*place), launches=launches)
    rig.frame(PointerButton(Button.LEFT, False, Modifiers.NONE, *places[-1]), launches=launches)
    rig.frame(launches=launches)


def test_a_stroke_on_the_water_reaches_the_player_and_undo_takes_it_back(rig):
    app, player = rig.app, rig.app.scene.player
    app.tools.hold(Tool.WALL)
    app.tools.brush = 0.6
    drag(rig, (12.0, 15.0), (28.0, 15.0))
    walls = player.get("walls")
    assert walls[15, 12:29].all() and walls.sum() <= 3 * 17 + 12
    rig.key("Z", Modifiers.CONTROL)
    rig.frame(launches=0)
    assert not player.get("walls").any()
    assert app.log.text() == ""


def test_what_was_painted_stays_when_the_water_is_reset(rig):
    app = rig.app
    app.tools.hold(Tool.RECTANGLE)
    drag(rig, (10.0, 10.0), (14.0, 12.0))
    rig.key("R")
    rig.frames(2)
    assert app.scene.player.get("walls").sum() == 15


def test_a_source_is_dragged_on_the_water(rig):
    app = rig.app
    app.tools.hold(Tool.SOURCE)
    drag(rig, (10.0, 10.0))
    drag(rig, (10.0, 10.0), (30.0, 20.0))
    found = app.scene.player.get("source_pos")
    assert found[0] == pytest.approx((30.0, 20.0), abs=0.5) and (found[1:] == -1000.0).all()
    assert app.scene.player.get("source_on")[0] == 1


def test_a_tool_does_not_push(rig):
    app = rig.app
    app.tools.hold(Tool.RULER)
    drag(rig, (10.0, 10.0), (20.0, 10.0), launches=1)
    assert not rig.heights().any() and app.tools.ruler is not None


def test_probes_record_what_the_heights_are(rig):
    scene = rig.app.scene
    scene.furnishing.place("probe_pos", 0, (20.0, 15.0))
    scene.furnishing.place("probe_pos", 3, (25.0, 12.0))
    scene.furnishing.set_source(0, Source((15.0, 15.0), 5.0, 0.1))
    scene.furnishing.settle()
    seen = []
    for _ in range(30):
        rig.frame(launches=1)
        seen.append(rig.heights()[[15, 12], [20, 25]])
    seen = np.array(seen)
    for column, probe in enumerate((0, 3)):
        times, heights = scene.probes.record(probe)
        assert len(heights) == 30 * 4
        assert np.array_equal(heights[3::4], seen[:, column])
        assert times[-1] - times[0] == pytest.approx(119 * scene.probes.step)
    (probe, times, heights), _ = plot_lines(scene.probes, [0, 3], 5.0)
    assert probe == 0 and times[-1] == 0.0 and np.array_equal(heights[3::4], seen[:, 0])


def test_several_launches_a_picture_are_all_recorded(rig):
    scene = rig.app.scene
    scene.furnishing.place("probe_pos", 0, (20.0, 15.0))
    rig.frame(launches=1)
    rig.frame(launches=5)
    assert len(scene.probes.record(0)[1]) == 24


def test_a_rewind_begins_a_new_record(rig):
    from app.rewind import rewind

    scene, lab = rig.app.scene, rig.app.lab
    scene.furnishing.place("probe_pos", 0, (20.0, 15.0))
    rig.frames(8, launches=1)
    rewind(rig.app, lab.history.begin + 2)
    rig.frame(launches=0)
    assert len(scene.probes.record(0)[1]) == 0


def test_going_back_takes_the_walls_back(rig):
    from app.rewind import rewind

    app = rig.app
    rig.frames(4, launches=1)
    app.tools.hold(Tool.WALL)
    drag(rig, (12.0, 15.0), (20.0, 15.0))
    rig.frames(3, launches=1)
    assert app.scene.furnishing.arrays["walls"].any()
    rewind(app, app.lab.history.begin + 1)
    assert not app.scene.furnishing.arrays["walls"].any()
    rig.frames(2, launches=0)
    assert not app.scene.player.get("walls").any()


def test_the_spectrum_of_a_probe_peaks_at_the_sources_frequency(rig):
    from app.basin.waves import spectrum, thinned

    scene = rig.app.scene
    scene.editor.apply({"border": 1})
    scene.furnishing.place("probe_pos", 0, (30.0, 15.0))
    scene.furnishing.set_source(0, Source((10.0, 15.0), 4.0, 0.1))
    for _ in range(6):
        rig.frame(launches=30)
    values, step = thinned(scene.probes.record(0, 2.0)[1], scene.probes.step)
    assert spectrum(values, step).peak == pytest.approx(4.0, rel=0.02)


def test_the_speed_between_probes_counts_from_the_cells_they_record(rig):
    from app.basin.listening import measured_speed

    scene = rig.app.scene
    scene.editor.apply({"border": 1})
    placed = [(0, (18.4, 15.0)), (1, (22.6, 15.0))]  # cells 18 and 23: 0.5 m, not 0.42 m
    for index, cell in placed:
        scene.furnishing.place("probe_pos", index, cell)
    scene.furnishing.set_source(0, Source((4.0, 15.0), 4.0, 0.1))
    for _ in range(6):
        rig.frame(launches=30)
    speed = measured_speed(scene.probes, *placed, 2.0, 0.1, 7.746)
    assert speed == pytest.approx(7.746, rel=0.05)


def test_a_csv_holds_times_and_heights(rig, tmp_path):
    scene = rig.app.scene
    scene.furnishing.place("probe_pos", 1, (20.0, 15.0))
    scene.furnishing.set_source(0, Source((15.0, 15.0), 5.0, 0.1))
    rig.frames(5, launches=1)
    path = tmp_path / "record.csv"
    write_csv(path, scene.probes, [1], [(20.0, 15.0)])
    assert path.read_text().splitlines()[0] == "time (s),probe 2 at (20 15) (m)"
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    times, heights = scene.probes.record(1)
    assert np.allclose(table[:, 0], times, rtol=1e-8) and np.array_equal(table[:, 1].astype("f4"), heights)


def test_the_new_panels_are_closed_at_first_and_draw_when_opened(rig):
    app = rig.app
    assert app.closed_panels >= OPTIONAL_PANELS
    scene = app.scene
    scene.furnishing.set_source(0, Source((15.0, 15.0), 5.0, 0.1))
    scene.furnishing.place("probe_pos", 0, (20.0, 15.0))
    scene.furnishing.place("probe_pos", 1, (21.0, 15.0))
    app.closed_panels -= {"Sources", "Probes", "Gallery"}
    for tool in Tool:
        app.tools.hold(tool)
        rig.frames(3, launches=2)
    assert app.log.text() == "" and app.message == ""


def test_opened_panels_are_remembered():
    settings = Settings()
    assert settings.closed_panels() == OPTIONAL_PANELS
    settings.remember_panels({"Log", *OPTIONAL_PANELS} - {"Gallery"})
    assert (settings.hidden_panels, settings.opened_panels) == (["Log"], ["Gallery"])
    assert settings.closed_panels() == {"Log", *OPTIONAL_PANELS} - {"Gallery"}


def test_an_open_water_capture_offers_the_ripple_tank(frame_path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        app = rig.app
        app.camera.orbit(0.4, 0.1)
        yaw = app.camera.yaw
        app.tools.hold(Tool.WALL)
        rig.frames(3)
        assert app.scene.furnishing is None and app.log.text() == ""
        from app.recapture import FrameRequest

        app.start_recapture(FrameRequest(24, 16, 4, "cpu", "basin"))
        wait(rig)
        assert app.scene.furnishing is not None and app.camera.yaw == yaw
        assert app.scene.capture.manifest.solver == "basin" and app.tools.tool is Tool.WALL


def wait(rig, seconds=240.0):
    end = time.monotonic() + seconds
    while rig.app.recapture is not None and time.monotonic() < end:
        rig.frame(launches=0)
        rig.app.attempt(rig.app.poll_recapture)
    assert rig.app.recapture is None and rig.app.message == ""


SCENE = """
label = "Small"
border = "absorbing"
[grid]
width = {width}
height = 30
substeps = 4
[values]
k_damp = 0.0
[[walls]]
shape = "rectangle"
one = [5, 5]
other = [8, 9]
[[sources]]
at = [20, 20]
frequency = 6.0
[[probes]]
at = [30, 10]
"""


@pytest.mark.parametrize("width", [40, 44])
def test_a_scene_starts_in_the_open_basin_or_in_a_new_one(rig, tmp_path, monkeypatch, width):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    app = rig.app
    app.scene.furnishing.edit("walls")[20:, :] = 1  # what was there before goes
    rig.frame(launches=1)
    start_scene(app, parse_scene(SCENE.format(width=width), tmp_path / "small.toml"))
    assert (app.recapture is None) == (width == 40)
    wait(rig)
    rig.frame(launches=1)
    player = app.scene.player
    assert app.scene.grid.width == width and player.get("walls").sum() == 4 * 5
    assert player.get("source_pos")[0].tolist() == [20, 20] and player.get("border")[0] == 1
    assert app.scene.editor.values["k_damp"] == (0.0,)
    assert app.scene.furnishing.source(0) == Source((20.0, 20.0), 6.0, pytest.approx(0.05), 0.0, True)
    assert len(app.scene.probes.record(0)[1]) == 4


def test_every_scene_has_its_picture():
    from PIL import Image

    for name in scene_names():
        with Image.open(thumbnail_path(name)) as picture:
            assert picture.size == SIZE


def test_the_page_about_capture_tells_right_numbers(rig, tmp_path, monkeypatch):
    from app.lesson import Lesson

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    lesson = Lesson()
    try:
        end = time.monotonic() + 240
        while not lesson.poll() and not lesson.failed and time.monotonic() < end:
            time.sleep(0.05)
        assert lesson.failed == "" and len(lesson.cases) == 4
        for _ in range(7):
            lesson.replay()
        # substeps, what Python holds, the counter on the device, substeps in the result
        told = [(c.substeps, c.copies_back, c.sim_tick, c.clock, c.result, c.lost) for c in lesson.cases]
        assert told == [
            (1, False, 1, 7, 1, 6),
            (3, False, 3, 21, 15, 6),
            (4, False, 4, 28, 28, 0),
            (3, True, 3, 21, 21, 0),
        ]
        kinds = [[finding.kind for finding in case.findings] for case in lesson.cases]
        both = ["counter", "swapped references"]
        assert kinds == [both, both, ["counter"], both]
        lines = [lesson.code[finding.line].strip() for finding in lesson.cases[1].findings]
        assert lines == [
            "self.sim_tick += 1",
            "self.states[0], self.states[1] = self.states[1], self.states[0]",
        ]
        lesson.reset()
        assert [case.clock for case in lesson.cases] == [0, 0, 0, 0]
    finally:
        lesson.close()
    rig.app.closed_panels -= {"Capture, explained"}
    rig.frames(3, launches=1)  # it is kept in the cache: no second recording
    assert rig.app.log.text() == ""
    assert rig.app.closables[-1].poll()


def test_what_tools_do_is_recorded_and_replays_bit_for_bit(rig, tmp_path, capsys):
    from app.cli import main

    app, path = rig.app, tmp_path / "drawn.ripple"
    app.session.start(path)
    app.tools.hold(Tool.SOURCE)
    drag(rig, (10.0, 10.0), launches=1)
    app.tools.hold(Tool.WALL)
    drag(rig, (20.0, 5.0), (22.0, 25.0), launches=1)
    app.tools.hold(Tool.DEPTH)
    drag(rig, (30.0, 15.0), (33.0, 15.0), launches=1)
    rig.key("Z", Modifiers.CONTROL)
    rig.frames(20, launches=1)
    app.session.stop()
    assert app.scene.player.get("walls").any() and np.abs(rig.heights()).max() > 1e-4
    assert main(["replay", str(path)]) == 0
    assert "digest" in capsys.readouterr().out


def test_waves_that_are_too_short_for_the_grid_are_told_with_the_reason(rig):
    """8 Hz at 7.75 m/s is 9.7 cells; over a quarter of the depth half of that."""
    from app.panels.sources import doubt_of, shallowest, wave_cells

    scene, furnishing = rig.app.scene, rig.app.scene.furnishing
    source = Source((20.0, 15.0), 8.0)
    assert wave_cells(scene, source, 1.0) == pytest.approx(9.68, abs=0.01)
    furnishing.edit("depth")[3:6, 4] = 0.25
    assert shallowest(furnishing) == 0.25
    doubt = doubt_of(wave_cells(scene, source, 1.0), wave_cells(scene, source, 0.25))
    assert doubt.coarse and "Over the shallowest water only 4.8" in doubt.text
    furnishing.edit("walls")[3:6, 4] = 1
    assert shallowest(furnishing) == 1.0
    assert not doubt_of(9.68, 9.68).coarse and "aslant are stairs" in doubt_of(9.68, 9.68).text
    assert "from 12 up" in doubt_of(19.0, 19.0).text
    assert doubt_of(20.0, 20.0).text == "" and doubt_of(6.0, 6.0).coarse


def test_the_hand_drags_sources_and_probes_by_their_marks_and_pushes_beside_them(rig):
    """A probe is taken by its float, which stands above its cell; neither jumps under the pointer."""
    from app.basin.marks import HEAD

    app, furnishing = rig.app, rig.app.scene.furnishing
    furnishing.set_source(0, Source((12.0, 10.0)))
    furnishing.place("probe_pos", 2, (28.0, 18.0))
    furnishing.settle()
    rig.frame(launches=0)

    def drag_pixels(start, end):
        held = Modifiers.NONE
        rig.frame(PointerMoved(*start), launches=0)
        rig.frame(PointerMoved(*start), launches=0)
        rig.frame(PointerButton(Button.LEFT, True, held, *start), launches=0)
        rig.frame(PointerMoved(*end), launches=0)
        rig.frame(PointerButton(Button.LEFT, False, held, *end), launches=0)
        rig.frame(launches=0)

    x, y = place_of(rig, (12.0, 10.0))
    drag_pixels((x + 4.0, y), (place_of(rig, (20.0, 14.0))[0] + 4.0, place_of(rig, (20.0, 14.0))[1]))
    assert furnishing.arrays["source_pos"][0] == pytest.approx([20.0, 14.0], abs=0.3)
    assert app.tools.source == 0 and app.tools.tool is Tool.PUSH
    x, y = place_of(rig, (28.0, 18.0))
    to = place_of(rig, (24.0, 8.0))
    for tool in (Tool.PUSH, Tool.PROBE):
        app.tools.hold(tool)
        drag_pixels((x, y - HEAD), (to[0], to[1] - HEAD))
        assert furnishing.arrays["probe_pos"][2] == pytest.approx([24.0, 8.0], abs=1.0)
        assert [index for index, _ in furnishing.places("probe_pos")] == [2]
        furnishing.place("probe_pos", 2, (28.0, 18.0))
        furnishing.settle()
    assert np.abs(rig.heights()).max() == 0.0
    rig.key("Z", Modifiers.CONTROL)
    app.tools.hold(Tool.PUSH)
    rig.frame(PointerMoved(*place_of(rig, (6.0, 24.0))), launches=0)
    drag(rig, (6.0, 24.0), (7.0, 24.0), launches=1)
    assert np.abs(rig.heights()).max() > 0.0


def test_the_nearest_mark_under_the_pointer_is_taken():
    from app.basin.marks import mark_at

    off = (float("nan"), float("nan"))
    sources, probes = [(0, (10.0, 10.0)), (3, (22.0, 10.0)), (4, off)], [(1, (30.0, 30.0))]
    assert mark_at(sources, probes, (14.0, 10.0), 1.0) == ("source_pos", 0)
    assert mark_at(sources, probes, (17.0, 10.0), 1.0) == ("source_pos", 3)
    assert mark_at(sources, probes, (14.0, 10.0), 1.0, dots=True) == ("source_pos", 0)
    assert mark_at(sources, probes, (29.0, 10.0), 1.0) == ("probe_pos", 1)  # its float
    assert mark_at(sources, [], (29.0, 10.0), 1.0, dots=True) is None
    assert mark_at(sources, probes, (30.0, 12.0), 1.0) == ("probe_pos", 1)
    assert mark_at(sources, probes, (45.0, 45.0), 1.0) is None
    assert mark_at(sources, probes, (45.0, 30.0), 2.0) == ("probe_pos", 1)
