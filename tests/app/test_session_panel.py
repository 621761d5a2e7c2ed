"""Recording, going back and exporting in the running app, through its real frame loop."""

from __future__ import annotations

import time

import numpy as np
import pytest
from app_rig import running_app

from app.cli import main
from app.export.job import ExportChoice
from app.panels.exporting import ExportForm, choice_text, frames_of, range_text
from app.panels.session import watched_text
from app.rewind import rewind
from app.scene import open_scene
from app.session import LiveSession, free_path
from app.simclock import SimulationClock
from app.view.options import Quality


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
    app.session.export("mp4", ExportChoice((64, 48)))
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
    app.session.export("npz", ExportChoice())
    started = time.monotonic()
    while app.session.job is not None:
        assert time.monotonic() - started < 60
        rig.frame(launches=0)
        time.sleep(0.02)
    assert app.notice == f"exported {tmp_path / 'c.npz'}"
    with np.load(tmp_path / "c.npz") as held:
        np.testing.assert_array_equal(held["heights"][-1], rig.heights())
    (tmp_path / "c.ripple").write_bytes(b"no session")
    app.session.export("npz", ExportChoice())
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


def exported(rig):
    """Wait for the export and return what became of it."""
    end = time.monotonic() + 120
    while rig.app.session.job is not None and time.monotonic() < end:
        rig.frame(launches=0)
        time.sleep(0.02)
    assert rig.app.session.job is None
    return rig.app.message or rig.app.notice


def test_the_window_exports_the_frames_the_quality_and_the_look_that_were_chosen(rig, tmp_path):
    """Also while the session is still recorded: what there is so far."""
    from PIL import Image

    app = rig.app
    app.session.start(tmp_path / "e.ripple")
    fields = []
    for _ in range(10):
        push(rig, (6.0, 9.0), 1)
        fields.append(rig.heights().copy())
    assert frames_of(app) == 10
    app.session.export("npz", ExportChoice(frames=(3, 7)))
    assert "exported" in exported(rig)
    with np.load(tmp_path / "e.npz") as held:
        np.testing.assert_array_equal(held["frame"], [3, 4, 5, 6])
        np.testing.assert_array_equal(held["heights"], fields[3:7])
    push(rig, (8.0, 9.0), 2)
    app.session.stop()
    assert frames_of(app) == 12
    app.session.export("png-dir", ExportChoice((64, 48), (10, None), Quality.DRAFT, 30, "data"))
    assert "exported" in exported(rig)
    (picture,) = (tmp_path / "e-frames").iterdir()
    with Image.open(picture) as image:
        assert image.size == (64, 48)


def test_the_options_are_those_of_the_command_line():
    choice = ExportChoice((64, 48), (10, None), Quality.DRAFT, 30, "data")
    words = ["--frames", "10:", "--fps", "30"]
    assert choice.words("npz") == words
    assert choice.words("mp4") == [*words, "--size", "64x48", "--quality", "draft", "--mode", "data"]
    assert ExportChoice().words("npz") == ["--frames", "0:"]


def test_what_is_chosen_is_told_in_short():
    assert choice_text(ExportChoice()) == "all frames, 1280 × 720"
    chosen = ExportChoice((64, 48), (10, 20), Quality.DRAFT, 30, "data")
    assert choice_text(chosen) == "frames 10 to 19, 64 × 48, draft, 30 fps, data"
    assert range_text(90, 600, SimulationClock(1 / 60)) == "90 frames of 600, 1.5 s"
    assert range_text(1, 600, None) == "1 frame of 600"


def test_a_range_is_forgotten_with_its_session(tmp_path):
    form = ExportForm()
    form.follow(tmp_path / "a.ripple")
    form._all, form._first, form._stop = False, 3, 5
    form.follow(tmp_path / "a.ripple")
    assert form.choice().frames == (3, 5)
    form.follow(tmp_path / "b.ripple")
    assert form.choice().frames == (0, None)


def test_the_panel_tells_what_is_watched_and_its_digest_at_the_end(rig, tmp_path, capsys):
    app, path = rig.app, tmp_path / "f.ripple"
    app.session.start(path)
    push(rig, (6.0, 9.0), 8)
    app.session.stop()
    app.session.last = None
    app.open(path)
    assert app.session.last == path  # so that it can be exported and watched again
    while app.watching.frames < 5:
        rig.frame(launches=1)
    assert watched_text(app.watching) == "replaying f.ripple: frame 5 of 8"
    while not app.watching.verdict:
        rig.frame(launches=1)
    assert main(["replay", str(path), "--digest-only"]) == 0
    digest = capsys.readouterr().out.split()[1]
    assert watched_text(app.watching) == f"f.ripple: 8 frames, digest {digest}, equal bit for bit"
