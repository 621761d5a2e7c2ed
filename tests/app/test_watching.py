"""A session watched in the window: the recorded states, nobody's hand in them, and ways out."""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from app_rig import running_app

from app.actions import show_after
from app.cli import main
from app.opening import Answer
from app.panels.watching import strip_text
from app.rewind import rewind
from app.scene import open_scene
from app.view.options import Mode
from app.watching import LOCKED
from app.window import FilesDropped

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")
FRAMES = 40


@pytest.fixture(scope="module")
def recorded(frame_of, frame_path, tmp_path_factory):
    """Two captures in one session, and the heights after each frame."""
    from app.trust import remember_recorded

    basin = frame_of(width=40, height=30, substeps=4, solver="basin")
    remember_recorded(basin)
    path, fields = tmp_path_factory.mktemp("watch") / "a.ripple", []
    with running_app(open_scene(basin, "cpu").player) as rig:
        rig.app.session.start(path)
        for frame in range(FRAMES):
            app = rig.app
            if frame == 2:
                app.push.press((8.0, 15.0))
            if frame == 3:
                app.push.release()
                app.scene.editor.apply({"k_speed": 33.0})
                app.scene.furnishing.edit("walls")[5:20, 22] = 1
                app.scene.furnishing.settle()
            if frame == 10:
                app.water.options.mode = Mode.DATA
                app.camera.yaw = 0.25
                app.framed = None
            if frame == 20:
                app.open(frame_path)
                app.push.press((6.0, 7.0))
            rig.frame(launches=1)
            fields.append(rig.heights().copy())
        rig.app.session.stop()
    return path, fields


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        rig.frame(launches=0)
        yield rig


def watch_until(rig, frames):
    while rig.app.watching is not None and rig.app.watching.frames < frames:
        rig.frame(launches=1)


def test_each_state_is_the_recorded_one_and_the_end_says_how_it_came_out(rig, recorded):
    path, fields = recorded
    rig.frame(FilesDropped((str(path),)), launches=0)
    rig.frame(launches=0)
    assert rig.app.watching is not None and rig.app.watching.total == FRAMES
    for frame in range(1, FRAMES + 1):
        watch_until(rig, frame)
        assert np.array_equal(rig.heights(), fields[frame - 1]), frame
        if frame == 8:
            assert rig.app.scene.editor.values["k_speed"] == (33.0,)
            rig.frame(launches=0)
            assert rig.app.scene.furnishing.arrays["walls"].sum() == 15
            assert rig.app.water.options.mode is Mode.WATER
        if frame == 12:
            assert rig.app.water.options.mode is Mode.DATA and rig.app.camera.yaw == 0.25
    rig.frame(launches=1)
    assert "equal bit for bit" in rig.app.watching.verdict and rig.app.scene.clock.paused
    assert "equal bit for bit" in strip_text(rig.app.watching, 1 / 60)
    assert not rig.app.message


def test_hands_and_widgets_change_nothing(rig, recorded):
    path, fields = recorded
    rig.app.open(path)
    watch_until(rig, 5)
    rig.click(*rig_middle(rig), launches=0)
    assert rig.app.notice == LOCKED
    rig.app.scene.editor.apply({"k_speed": 80.0})
    rig.app.scene.furnishing.edit("walls")[:] = 1
    rig.app.scene.furnishing.settle()
    rig.frame(launches=0)
    assert rig.app.scene.editor.values["k_speed"] == (33.0,) and not rig.app.scene.editor.can_undo
    assert rig.app.scene.furnishing.arrays["walls"].sum() == 15
    watch_until(rig, 15)
    assert np.array_equal(rig.heights(), fields[14]) and rig.app.watching.equal


def rig_middle(rig):
    x, y, width, height = rig.app.canvas.rect
    return x + width / 2, y + height / 2


def test_speed_pause_and_single_steps_are_those_of_the_clock(rig, recorded):
    rig.app.open(recorded[0])
    clock = rig.app.scene.clock
    rig.frame()
    start = rig.app.watching.frames
    clock.speed = 2.0
    rig.frames(6)
    assert rig.app.watching.frames - start == pytest.approx(12, abs=1)
    clock.paused = True
    rig.frames(3)
    stopped = rig.app.watching.frames
    rig.frames(3)
    assert rig.app.watching.frames == stopped
    clock.step_once()
    rig.frame()
    assert rig.app.watching.frames == stopped + 1


def test_escape_takes_over_and_the_water_goes_on_from_there(rig, recorded):
    path, fields = recorded
    rig.app.open(path)
    watch_until(rig, 9)
    rig.key("escape")
    assert rig.app.watching is None and not rig.app.quitting
    rig.app.scene.clock.paused = True
    before = rig.heights().copy()
    assert any(np.array_equal(before, field) for field in fields)
    rig.app.push.press((20.0, 25.0))
    rig.frame(launches=1)
    assert np.abs(rig.heights() - before).max() > 0.1
    rig.key("escape")
    assert rig.app.quitting


def test_reset_begins_again_and_rewind_takes_over(rig, recorded):
    path, fields = recorded
    rig.app.open(path)
    watch_until(rig, 9)
    rig.key("R")
    assert rig.app.watching.frames < 5
    watch_until(rig, 12)
    at = rig.app.watching.frames
    rewind(rig.app, rig.app.lab.history.position - 4)
    assert rig.app.watching is None and np.array_equal(rig.heights(), fields[at - 5])


def test_a_session_of_a_stranger_is_asked_about(rig, recorded, tmp_path, monkeypatch):
    path, fields = recorded
    monkeypatch.setenv("RIPPLESCOPE_DATA_DIR", str(tmp_path / "nobody"))
    monkeypatch.setattr("app.trust._recorded_now", set())
    rig.app.asks = True
    rig.app.open(path)
    assert rig.app.watching is None and rig.app.question is not None and rig.app.scene.player is None
    rig.app.answer(Answer.ALWAYS)
    end = time.monotonic() + 60
    while rig.app.watching is None and not rig.app.message and time.monotonic() < end:
        rig.frame(launches=0)
        time.sleep(0.02)
    assert rig.app.message == "" and rig.app.watching is not None
    watch_until(rig, 6)
    assert np.array_equal(rig.heights(), fields[5])


def test_a_session_with_nothing_in_it_is_one_message(rig, recorded, tmp_path):
    from replay.session.format import file_head

    empty = tmp_path / "empty.ripple"
    empty.write_bytes(file_head())
    scene = rig.app.scene
    rig.app.attempt(lambda: rig.app.open(empty))
    assert "it has no frame" in rig.app.message
    assert rig.app.scene is scene and rig.app.watching is None


@pytest.mark.parametrize("words", [["--frames", "3"], ["--digest-only"], ["--screenshot", "x.png"]])
def test_options_that_have_no_use_in_the_window_are_refused(words, recorded, capsys):
    assert main(["replay", str(recorded[0]), "--window", *words]) == 2
    error = capsys.readouterr().err
    assert f"{words[0]} has no use with --window" in error and error.count("\n") == 1


def test_a_session_is_listed_where_captures_are(recorded, tmp_path):
    from app.folder import listed

    assert [entry.name for entry in listed(recorded[0].parent).entries] == ["a.ripple"]


def test_the_state_after_an_event_of_the_last_frame_can_be_looked_at(rig, recorded):
    rig.app.open(recorded[0])
    watch_until(rig, 15)
    show_after(rig.app, 3)
    rig.frames(3)
    assert rig.app.message == "" and rig.app.lab.frame.event == 3
    assert rig.app.inside is not None
