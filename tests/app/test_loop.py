from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest
from app_rig import running_app
from PIL import Image

from app.loop import HeadlessPlan, run_app
from app.scene import open_scene
from app.window import Button, Modifiers, PointerButton, PointerMoved
from replay.errors import (
    CaptureFileError,
    ParameterError,
    ReplayError,
    RipplescopeError,
    SessionError,
    UsageError,
)
from replay.players.fake import FakePlayer


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        yield rig


@pytest.fixture
def small_rig(frame_path):
    """A window so small that many frames cost little."""
    with running_app(open_scene(frame_path, "cpu").player, size=(160, 120)) as rig:
        yield rig


def place_of(rig, cell) -> tuple[float, float]:
    """Where a cell is shown, in window units; the test window has a pixel a unit."""
    from app.controls import water_viewport
    from app.view.picking import project_cell

    return project_cell(rig.app.camera, cell, water_viewport(rig.app), rig.app.scene.grid)


@pytest.mark.parametrize("cell", [(6.0, 5.0), (17.0, 11.0)])
def test_a_click_makes_a_ring_at_the_cell_under_the_cursor(rig, cell):
    rig.app.scene.editor.apply({"radius": 1.5})
    rig.app.camera.orbit(0.4, 0.2)
    rig.click(*place_of(rig, cell), launches=1)
    heights = rig.heights()
    row, column = np.unravel_index(np.argmax(np.abs(heights)), heights.shape)
    assert np.abs(heights).max() > 1e-3
    assert abs(column - cell[0]) <= 2 and abs(row - cell[1]) <= 2


def test_a_drag_between_two_frames_pushes_all_along_its_way(rig):
    pushed = []
    scene = rig.app.scene
    push = scene.push
    scene.push = lambda segment: (pushed.append(segment), push(segment))
    start, end = place_of(rig, (4.0, 8.0)), place_of(rig, (20.0, 8.0))
    rig.frame(PointerMoved(*start), launches=1)
    rig.frame(PointerMoved(*start), launches=1)
    rig.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, *start), launches=1)
    rig.frame(launches=1)
    rig.frame(PointerMoved(*end), launches=1)
    before, here = pushed[-1]
    assert before == pytest.approx((4.0, 8.0), abs=0.2) and here == pytest.approx((20.0, 8.0), abs=0.2)
    rig.frame(PointerButton(Button.LEFT, False, Modifiers.NONE, *end), launches=1)
    rig.frames(2, launches=1)
    assert pushed[-1] is None


def test_a_stroke_between_two_polls_is_pushed_with_its_corner(rig):
    """A fast hand, or few frames a second: press, moves and release come at once."""
    cells = [(4.0, 4.0), (20.0, 4.0), (20.0, 12.0)]
    start, *way = [place_of(rig, cell) for cell in cells]
    pushed = []
    push = rig.app.scene.push
    rig.app.scene.push = lambda segment: (pushed.append(segment), push(segment))
    rig.frame(PointerMoved(*start), launches=1)
    rig.frame(PointerMoved(*start), launches=1)
    rig.frame(
        PointerButton(Button.LEFT, True, Modifiers.NONE, *start),
        *(PointerMoved(*place) for place in way),
        PointerButton(Button.LEFT, False, Modifiers.NONE, *way[-1]),
        launches=1,
    )
    rig.frames(6, launches=1)
    segments = [segment for segment in pushed if segment is not None]
    assert [end for _, end in segments] == [pytest.approx(cell, abs=0.2) for cell in cells[1:]]
    assert segments[0][0] == pytest.approx(cells[0], abs=0.2) and segments[1][0] == segments[0][1]
    assert pushed[-1] is None and not rig.app.push.pressed


def test_a_press_on_a_panel_never_reaches_the_water(rig):
    x, y, _, _ = rig.app.canvas.rect
    on_panel = (x / 2, y + 200.0)
    over_water = place_of(rig, (12.0, 8.0))
    rig.frame(PointerMoved(*on_panel), launches=1)
    rig.frame(PointerMoved(*on_panel), launches=1)
    rig.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, *on_panel), launches=1)
    rig.frame(PointerMoved(*over_water), launches=1)
    rig.frames(3, launches=1)
    rig.frame(PointerButton(Button.LEFT, False, Modifiers.NONE, *over_water), launches=1)
    rig.frames(2, launches=1)
    assert not np.any(rig.heights())


def test_a_move_to_a_panel_and_a_press_in_one_poll_stays_on_the_panel(rig):
    over_water = place_of(rig, (12.0, 8.0))
    rig.frame(PointerMoved(*over_water), launches=1)
    rig.frames(2, launches=1)
    assert rig.app.canvas.hovered
    rig.frame(
        PointerMoved(40.0, 300.0), PointerButton(Button.LEFT, True, Modifiers.NONE, 40.0, 300.0), launches=1
    )
    rig.frames(3, launches=1)
    assert not np.any(rig.heights())


def test_a_move_to_the_water_and_a_click_in_one_poll_push_there(rig):
    rig.frame(PointerMoved(40.0, 300.0), launches=1)
    rig.frames(2, launches=1)
    there = place_of(rig, (12.0, 8.0))
    rig.frame(
        PointerMoved(*there),
        PointerButton(Button.LEFT, True, Modifiers.NONE, *there),
        PointerButton(Button.LEFT, False, Modifiers.NONE, *there),
        launches=1,
    )
    rig.frames(2, launches=1)
    row, column = np.unravel_index(np.argmax(np.abs(rig.heights())), rig.heights().shape)
    assert rig.heights()[row, column] != 0.0 and np.hypot(column - 12, row - 8) <= 8
    assert not rig.app.push.pressed


def test_orbit_pan_and_zoom_move_only_the_camera(rig):
    from app.window import Scrolled

    camera = rig.app.camera
    over_water = place_of(rig, (12.0, 8.0))
    rig.frame(PointerMoved(*over_water))
    rig.frames(2)
    yaw, target, distance = camera.yaw, camera.target.copy(), camera.distance
    for button in (Button.RIGHT, Button.MIDDLE):
        rig.frame(PointerButton(button, True, Modifiers.NONE, *over_water))
        rig.frame()
        rig.frame(PointerMoved(over_water[0] + 40, over_water[1] + 10))
        rig.frame()
        rig.frame(PointerButton(button, False, Modifiers.NONE, *over_water))
        rig.frames(2)
    assert camera.yaw != yaw and not np.allclose(camera.target, target)
    rig.frame(Scrolled(0.0, 1.0, *over_water))
    rig.frames(2)
    assert camera.distance < distance
    assert not np.any(rig.heights())


def test_the_grid_stays_framed_until_the_user_moves_the_camera(rig):
    from app.window import Scrolled

    app = rig.app
    distance = app.camera.distance
    app.closed_panels |= {"Graph", "Events", "Inspector"}
    rig.frames(3)
    assert app.camera.distance != distance and app.framed == app.canvas.rect
    over_water = place_of(rig, (12.0, 8.0))
    rig.frame(Scrolled(0.0, 1.0, *over_water))
    rig.frames(2)
    distance = app.camera.distance
    app.closed_panels.clear()
    rig.frames(3)
    assert app.camera.distance == distance and app.framed is None


def test_launches_follow_the_wall_clock(small_rig):
    rig = small_rig
    frames = rig.app.scene.player.frames
    for _ in range(60):
        rig.frame(seconds=1 / 30)
    assert rig.app.scene.player.frames - frames == pytest.approx(120, abs=2)
    rig.app.scene.clock.paused = True
    frames = rig.app.scene.player.frames
    rig.frames(10)
    assert rig.app.scene.player.frames == frames


def test_panels_are_built_at_most_60_times_a_second_while_the_water_runs_free(small_rig):
    rig = small_rig
    built = 0
    draw = rig.desk.draw

    def count():
        nonlocal built
        built += 1
        draw()

    rig.desk.draw = count
    for _ in range(500):
        rig.frame(seconds=1 / 500)
    assert 55 <= built <= 61


def test_shortcuts_act(rig):
    app = rig.app
    rig.key("space")
    assert app.scene.clock.paused
    frames = app.scene.player.frames
    rig.key("period")
    assert app.scene.player.frames == frames + 1
    rig.key("semicolon")
    assert app.scene.clock.speed == 2.0
    rig.key("comma")
    assert app.scene.clock.speed == 1.0
    rig.key("H")
    assert not app.panels_shown and app.canvas.rect == (0.0, 0.0, 1000.0, 640.0)
    rig.key("H")
    assert app.panels_shown and app.canvas.rect != (0.0, 0.0, 1000.0, 640.0)
    app.scene.editor.apply({"radius": 3.0})
    rig.key("Z", Modifiers.CONTROL)
    assert app.scene.editor.values["radius"] == (5.0,)
    rig.key("Y", Modifiers.CONTROL)
    assert app.scene.editor.values["radius"] == (3.0,)
    rig.key("F1")
    assert app.popup_open
    rig.key("escape")
    rig.frame()
    assert not app.popup_open and not app.quitting
    rig.key("escape")
    assert app.quitting


def test_reset_keeps_what_the_user_set(rig):
    rig.click(*place_of(rig, (12.0, 8.0)), launches=1)
    assert np.any(rig.heights())
    rig.app.scene.editor.apply({"k_speed": 33.0})
    rig.key("space")
    rig.key("R")
    assert not np.any(rig.heights())
    assert rig.app.scene.player.get("k_speed").tolist() == [33.0]


def test_typing_fires_no_shortcut(rig):
    from app.window import KeyPressed

    rig.key("O", Modifiers.CONTROL)  # the open form has a text field with the focus
    rig.frames(3)
    assert rig.gui.takes_keys
    for name in ("R", "space", "H", "F", "period"):
        rig.frame(
            KeyPressed(name, True, False, Modifiers.NONE), KeyPressed(name, False, False, Modifiers.NONE)
        )
        rig.frames(2)
    assert not rig.app.scene.clock.paused and rig.app.panels_shown and not rig.app.quitting


def test_an_error_is_a_popup_and_a_line_in_the_log_and_the_old_capture_stays(rig, tmp_path):
    bad = tmp_path / "bad.wrp"
    bad.write_bytes(b"nothing")
    scene = rig.app.scene
    rig.app.later(lambda: rig.app.open(bad))
    rig.frames(3)
    assert "bad.wrp" in rig.app.message and rig.app.popup_open
    assert "bad.wrp" in rig.app.log.entries[-1].text
    assert "Traceback" not in rig.app.log.text()
    rig.key("escape")
    rig.frames(2)
    assert rig.app.message == "" and not rig.app.popup_open
    assert rig.app.scene is scene and not rig.app.quitting


def test_the_same_error_is_shown_again_unless_it_comes_with_every_frame(small_rig, tmp_path, monkeypatch):
    app, now = small_rig.app, [100.0]
    monkeypatch.setattr("app.state.time.monotonic", lambda: now[0])
    shown = []
    for seconds in (10.0, 0.01, 0.01, 5.0):
        now[0] += seconds
        app.attempt(lambda: app.open(tmp_path))
        shown.append(app.message != "")
        app.message = ""
    assert shown == [True, False, False, True]


def test_a_panel_that_fails_leaves_the_others_alone(rig):
    panel = rig.desk.panels[0]
    drawn = []
    other = next(panel for panel in rig.desk.panels if panel.name == "Graph")
    draw = other.draw
    panel.draw = lambda app, gui: 1 / 0
    other.draw = lambda app, gui: (drawn.append(1), draw(app, gui))
    rig.frames(5)
    assert "ZeroDivisionError" in rig.app.log.text() and len(drawn) == 5


def test_a_file_that_changed_on_disk_is_noticed_and_reloaded_with_the_values(rig, frame_path):
    app = rig.app
    app.scene.editor.apply({"radius": 2.0})
    app.scene.stamp = (1, 1)
    app.scene.look_at_disk()
    assert app.scene.changed_on_disk
    distance = app.camera.distance = 9.0
    rig.key("F5")
    rig.frames(2)
    assert not app.scene.changed_on_disk and app.scene.editor.values["radius"] == (2.0,)
    assert app.camera.distance == distance


def test_water_that_is_not_finite_pauses_and_can_be_reset(frame_capture):
    def spoil(player: FakePlayer) -> None:
        player.view("heights")[3, 4] = np.nan

    player = FakePlayer(frame_capture, spoil)
    player.device = "cpu"  # read without a copy, as on the CPU
    with running_app(player) as rig:
        rig.frame()
        assert rig.app.scene.not_finite and rig.app.scene.clock.paused
        rig.app.later(rig.app.scene.reset_water)
        rig.frame()
        assert not rig.app.scene.not_finite


def test_a_dropped_file_opens(rig, frame_of):
    from app.trust import remember_recorded
    from app.window import FilesDropped

    other = frame_of(width=20, height=12, substeps=2)
    remember_recorded(other)
    rig.frame(FilesDropped((str(other),)))
    rig.frames(2)
    assert (rig.app.scene.grid.width, rig.app.scene.grid.height) == (20, 12)
    assert rig.app.settings.recent[0] == str(other)


def test_headless_writes_a_picture_with_and_without_panels_and_keeps_the_folder_clean(
    frame_path, tmp_path, monkeypatch
):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    pictures = {}
    for ui in (False, True):
        path = tmp_path / f"{ui}.png"
        plan = HeadlessPlan(frames=8, clicks=((12.0, 8.0, 0),), screenshot=path, ui=ui)
        assert run_app(frame_path, device="cpu", size=(640, 400), headless=plan) == 0
        pictures[ui] = np.asarray(Image.open(path)).astype(int)
        assert pictures[ui].shape == (400, 640, 3) and pictures[ui].std() > 5
    assert np.abs(pictures[True] - pictures[False]).mean() > 5
    assert list(work.iterdir()) == []
    assert not any(
        isinstance(item, logging.Handler) and "LogHandler" in repr(item) for item in logging.root.handlers
    )


@pytest.mark.parametrize("params", [{"nothing": (1.0,)}, {"radius": (1e9,)}, {"k_speed": (1.0, 2.0)}])
def test_headless_refuses_bad_values(frame_path, params):
    with pytest.raises(ParameterError):
        run_app(frame_path, device="cpu", size=(64, 64), params=params, headless=HeadlessPlan(frames=1))


def test_headless_refuses_a_missing_file(tmp_path):
    with pytest.raises(RipplescopeError):
        run_app(Path(tmp_path / "no.wrp"), device="cpu", size=(64, 64), headless=HeadlessPlan(frames=1))


def test_a_launch_that_fails_pauses_and_is_shown_while_the_window_goes_on(frame_capture):
    def fail(player: FakePlayer) -> None:
        raise ReplayError("the device is gone", remedy="open the capture again")

    with running_app(FakePlayer(frame_capture, fail)) as rig:
        rig.frames(5)
        assert rig.app.scene.clock.paused and rig.app.popup_open
        assert rig.app.message == "the device is gone; open the capture again"
        assert rig.app.frame >= 8


def test_no_growth_over_many_frames(small_rig):
    import gc
    import tracemalloc

    def objects() -> int:
        gc.collect()
        return len(gc.get_objects())

    small_rig.app.lab.history.max_frames = 60
    small_rig.frames(300, seconds=1 / 200)  # all rings and caches are full by then
    before = objects()
    tracemalloc.start()
    small_rig.frames(100, seconds=1 / 200)
    gc.collect()
    first = tracemalloc.get_traced_memory()[0]
    small_rig.frames(400, seconds=1 / 200)
    after = objects()
    last = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 50
    assert last - first < 20_000  # 50 bytes a frame


def test_a_wrong_file_is_told_before_a_window_opens(tmp_path, monkeypatch):
    monkeypatch.delenv("DISPLAY", raising=False)
    with pytest.raises(CaptureFileError):
        run_app(tmp_path / "no.wrp")


def test_a_minimized_window_has_no_pixels_and_comes_back(small_rig, monkeypatch):
    """As Windows tells it: a framebuffer of (0, 0), while simulated time goes on."""
    rig = small_rig
    launches = rig.app.scene.player.frames
    with monkeypatch.context() as patch:
        patch.setattr(type(rig.window), "framebuffer_size", property(lambda self: (0, 0)))
        rig.frames(4)
    assert rig.app.scene.player.frames >= launches + 3 and rig.app.log.text() == ""
    rig.frames(3)
    rig.app.scene.editor.apply({"radius": 1.5})
    rig.click(*place_of(rig, (12.0, 8.0)), launches=1)
    assert np.any(rig.heights()) and rig.app.log.text() == ""


def test_a_part_that_cannot_be_closed_keeps_no_other_open(rig, monkeypatch):
    app = rig.app
    scene, transfer, water = app.scene, app.transfer, app.water
    closed = []

    def fails():
        raise ReplayError("the lab is stuck")

    monkeypatch.setattr(app.lab, "close", fails)
    for part in (transfer, water):
        close = part.close
        monkeypatch.setattr(part, "close", lambda part=part, close=close: (closed.append(part), close()))
    with pytest.raises(ReplayError, match="stuck"):
        app._close_scene()
    assert closed == [water, transfer]
    assert app.scene is app.lab is app.water is app.transfer is None
    with pytest.raises(ReplayError, match="closed"):
        scene.player.launch()


def test_a_scene_that_cannot_take_over_leaves_the_one_before_and_no_gl_object(rig, frame_path, monkeypatch):
    from app.view.gl_objects import alive

    rig.frames(1, launches=1)
    before, shown = +alive, rig.app.scene
    with open_scene(frame_path, "cpu") as scene:

        def fails(old):
            raise ReplayError("it does not fit")

        monkeypatch.setattr(scene, "adopt", fails)
        with pytest.raises(ReplayError, match="does not fit"):
            rig.app.show(scene, keep_view=True)
    assert +alive == before and rig.app.scene is shown
    rig.frames(1, launches=1)


def test_folders_that_cannot_be_made_are_told(rig, tmp_path, monkeypatch):
    import platformdirs

    from app.loop import save_screenshot
    from app.session import session_path

    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UsageError, match="file/shots cannot be made: Not a directory"):
        save_screenshot(rig.app, tmp_path / "file" / "shots" / "a.png")
    monkeypatch.setattr(platformdirs, "user_documents_dir", lambda: str(tmp_path / "file"))
    with pytest.raises(SessionError, match="file/Ripplescope cannot be made: Not a directory"):
        session_path()
