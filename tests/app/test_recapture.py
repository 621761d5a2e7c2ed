from __future__ import annotations

import sys
import time

import pytest
from app_rig import running_app

from app.recapture import FrameRequest, Recapture
from app.scene import open_scene
from replay.errors import CaptureFileError, RecordingError

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")


def wait(recapture: Recapture, seconds: float = 120.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        path = recapture.poll()
        if path is not None:
            return path
        time.sleep(0.05)
    recapture.cancel()
    raise AssertionError("the child did not end")


def test_another_grid_keeps_the_camera_and_the_values(frame_path, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        app = rig.app
        app.scene.editor.apply({"radius": 2.0})
        app.camera.orbit(0.5, 0.1)
        yaw, distance = app.camera.yaw, app.camera.distance
        app.start_recapture(FrameRequest(20, 12, 2, "cpu"))
        frames = 0
        end = time.monotonic() + 120
        while app.recapture is not None and time.monotonic() < end:
            rig.frame()
            frames += 1
            app.attempt(app.poll_recapture)
        assert app.message == ""
        assert frames > 3  # the window went on meanwhile
        assert (app.scene.grid.width, app.scene.grid.height, app.scene.substeps) == (20, 12, 2)
        assert app.scene.editor.values["radius"] == (2.0,)
        assert (app.camera.yaw, app.camera.distance) == (yaw, distance)
        rig.frames(2)


def test_opening_another_file_ends_a_capture_in_the_making(frame_path, frame_of, tmp_path, monkeypatch):
    """Else it would take the place of what the user opened meanwhile."""
    from app.trust import remember_recorded

    other = frame_of(width=20, height=12, substeps=2)
    remember_recorded(other)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        app = rig.app
        app.start_recapture(FrameRequest(64, 64, 2, "cpu"))
        recapture = app.recapture
        app.reload()
        assert app.recapture is recapture
        with pytest.raises(CaptureFileError):
            app.open(tmp_path / "no.wrp")
        assert app.recapture is recapture  # what cannot be opened ends nothing
        app.open(other)
        assert app.recapture is None and recapture._child.poll() is not None
        assert app.scene.capture.path == other and "was ended" in app.log.text()


def test_a_capture_that_fails_says_why(tmp_path):
    recapture = Recapture(FrameRequest(0, 12, 2, "cpu"), tmp_path)
    with pytest.raises(RecordingError) as error:
        wait(recapture)
    assert "0×12" in str(error.value) and "Traceback" not in str(error.value)


def test_a_capture_can_be_cancelled(tmp_path):
    recapture = Recapture(FrameRequest(64, 64, 2, "cpu"), tmp_path)
    recapture.cancel()
    assert recapture._child.poll() is not None
