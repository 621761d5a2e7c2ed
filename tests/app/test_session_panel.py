"""Recording, going back and exporting in the running app, through its real frame loop."""

from __future__ import annotations

import time

import numpy as np
import pytest
from app_rig import running_app

from app.cli import main
from app.rewind import rewind
from app.scene import open_scene
from app.session import LiveSession, free_path


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        yield rig


def push(rig, cell, frames):
    rig.app.push.press(cell)
    rig.frame(launches=1)
    rig.app.push.release()
    rig.frames(frames - 1, launches=1)


def test_a_session_with_a_rewind_in_it_replays_bit_for_bit(rig, tmp_path, capsys):
    path = tmp_path / "a.ripple"
    push(rig, (4.0, 5.0), 5)
    rig.app.session.start(path)
    push(rig, (6.0, 9.0), 20)
    rig.app.scene.editor.apply({"k_speed": 40.0})
    push(rig, (12.0, 9.0), 20)
    rewind(rig.app, 15)
    assert rig.app.scene.clock.paused
    rig.app.scene.reset_water()
    push(rig, (3.0, 3.0), 4)
    wanted = rig.heights()
    assert rig.app.session.stop() == path
    assert main(["replay", str(path)]) == 0
    assert "replayed  44 frames" in capsys.readouterr().out
    assert main(["export", str(path), "--npz", str(tmp_path / "h.npz")]) == 0
    with np.load(tmp_path / "h.npz") as held:
        np.testing.assert_array_equal(held["heights"][-1], wanted)


def test_going_back_shows_the_water_and_the_values_of_then(rig):
    app = rig.app
    push(rig, (4.0, 5.0), 10)
    then, position = rig.heights(), app.lab.history.position
    speed = app.scene.editor.values["k_speed"]
    app.scene.editor.apply({"k_speed": 33.0})
    push(rig, (12.0, 9.0), 10)
    now = rig.heights()
    rewind(app, position)
    rig.frame(launches=0)
    np.testing.assert_array_equal(rig.heights(), then)
    assert app.scene.editor.values["k_speed"] == speed
    assert app.scene.clock.simulated == pytest.approx(10 / 60)
    rewind(app, position + 10)
    np.testing.assert_array_equal(rig.heights(), now)
    assert app.scene.editor.values["k_speed"] == (33.0,)
    rewind(app, position)
    push(rig, (8.0, 8.0), 3)
    assert app.lab.history.end == position + 3 and app.scene.editor.values["k_speed"] == speed


def test_the_panel_is_built_in_all_its_states(rig, tmp_path):
    app = rig.app
    app.closed_panels.discard("Session")
    panel = next(panel for panel in rig.desk.panels if panel.name == "Session")
    drawn = []
    draw = panel.draw
    panel.draw = lambda app, gui: (draw(app, gui), drawn.append(app.session.recorder is not None))
    from app.gl_platform import imgui

    focus = lambda: imgui.set_window_focus(rig.desk._titles["Session"])  # noqa: E731
    app.later(focus)
    rig.frames(3, launches=1)
    app.session.start(tmp_path / "b.ripple")
    rig.frames(3, launches=1)
    app.session.stop()
    app.session.export("mp4", (64, 48))
    rig.frames(3, launches=1)
    ended = app.session.job is None  # a slow machine may have exported it meanwhile
    app.session.cancel_export()
    app.lab.history.close()
    app.lab.history = None
    rig.frames(2, launches=1)
    assert {True, False} <= set(drawn) and not app.message, app.message
    left = {"b.ripple", "b.mp4"} if ended else {"b.ripple"}
    assert {path.name for path in tmp_path.iterdir()} == left


def test_an_export_goes_on_beside_the_window(rig, tmp_path):
    app = rig.app
    app.session.start(tmp_path / "c.ripple")
    push(rig, (6.0, 9.0), 10)
    app.session.stop()
    app.session.export("npz", (64, 48))
    started = time.monotonic()
    while app.session.job is not None:
        assert time.monotonic() - started < 60
        rig.frame(launches=0)
        time.sleep(0.02)
    assert app.notice == f"exported {tmp_path / 'c.npz'}"
    with np.load(tmp_path / "c.npz") as held:
        np.testing.assert_array_equal(held["heights"][-1], rig.heights())
    (tmp_path / "c.ripple").write_bytes(b"no session")
    app.session.export("npz", (64, 48))
    while app.session.job is not None:
        rig.frame(launches=0)
        time.sleep(0.02)
    assert "c-2.npz was not exported" in app.message and "no session" in app.message


def test_another_capture_goes_on_in_the_same_session(rig, frame_of, tmp_path, capsys):
    from app.trust import remember_recorded

    other = frame_of(width=20, height=18)
    remember_recorded(other)
    path = tmp_path / "d.ripple"
    rig.app.session.start(path)
    push(rig, (6.0, 9.0), 4)
    rig.app.open(other)
    push(rig, (6.0, 9.0), 4)
    rig.app.session.stop()
    assert main(["replay", str(path)]) == 0
    assert "replayed  8 frames" in capsys.readouterr().out
    assert main(["export", str(path), "--npz", str(tmp_path / "x.npz")]) == 2
    assert "the grid changes in frame 4" in capsys.readouterr().err
    assert main(["export", str(path), "--mp4", str(tmp_path / "x.mp4"), "--size", "64x48"]) == 0


def test_names_that_are_taken_get_a_number(tmp_path):
    assert free_path(tmp_path, "a", ".mp4").name == "a.mp4"
    (tmp_path / "a.mp4").touch()
    (tmp_path / "a-2.mp4").touch()
    assert free_path(tmp_path, "a", ".mp4").name == "a-3.mp4"
    assert LiveSession().stop() is None
