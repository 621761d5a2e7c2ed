"""What the status bar says is new, or goes on."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from app_rig import running_app

from app.panels.statusbar import StatusBar
from app.recapture import FrameRequest
from replay.players.fake import FakePlayer


@pytest.fixture
def app(frame_capture):
    with running_app(FakePlayer(frame_capture)) as rig:
        yield rig.app


def test_a_notice_is_shown_for_some_seconds(app):
    bar = StatusBar()
    app.notice = "the water is as the file holds it"
    assert bar.left_text(app, 10.0) == bar.left_text(app, 17.9) == "the water is as the file holds it"
    assert bar.left_text(app, 18.1) == ""


def test_the_same_notice_once_more_is_shown_once_more(app):
    bar = StatusBar()
    app.notice = "nothing to undo"
    assert bar.left_text(app, 10.0) and not bar.left_text(app, 30.0)
    app.notice = "nothing to undo"
    assert bar.left_text(app, 31.0) == "nothing to undo"


def test_what_goes_on_is_told_when_the_notice_is_old(app, tmp_path, monkeypatch):
    bar = StatusBar()
    app.notice = "speed ×2"
    bar.left_text(app, 0.0)
    with monkeypatch.context() as patch:
        request = FrameRequest(64, 32, 8, "cpu")
        patch.setattr(app, "recapture", SimpleNamespace(request=request, cancel=lambda: None))
        assert bar.left_text(app, 1.0) == "speed ×2"
        assert bar.left_text(app, 60.0) == "capturing 64×32, 8 substeps…"
    app.session.start(tmp_path / "pond.ripples")
    assert bar.left_text(app, 61.0) == "recording pond.ripples"
    app.session.stop()
    assert bar.left_text(app, 62.0) == ""
