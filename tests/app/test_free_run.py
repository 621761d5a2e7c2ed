"""A free run: one launch a frame whatever the clock says, and what stops it."""

from __future__ import annotations

import numpy as np
import pytest
from app_rig import running_app

from app.bindings import Action
from app.scene import open_scene
from replay.players.fake import FakePlayer


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player, size=(160, 120)) as rig:
        yield rig


def test_each_frame_launches_once_and_the_panels_stay_at_60_builds_a_second(rig):
    app = rig.app
    app.set_free_run(True)
    built = []
    draw = rig.desk.draw
    rig.desk.draw = lambda: (built.append(1), draw())
    launched = app.scene.player.frames
    for _ in range(200):
        rig.frame(seconds=1 / 200)
    assert app.scene.player.frames - launched == 200
    assert app.scene.clock.pace == pytest.approx(200 / 60, rel=0.01)
    assert 50 <= len(built) <= 61


def test_a_speed_asked_for_ends_it_and_a_new_scene_keeps_it(rig, frame_of):
    from app.actions import perform

    app = rig.app
    app.set_free_run(True)
    app.trust = True
    app.open(frame_of(width=20, height=12, substeps=2))
    assert app.scene.clock.free_run
    perform(app, Action.FASTER)
    assert not app.free_run and not app.scene.clock.free_run and app.scene.clock.speed == 2.0


def test_heights_on_a_gpu_are_watched_by_the_view_and_not_fetched(frame_capture):
    player = FakePlayer(frame_capture)
    with running_app(player) as rig:
        app, fetched = rig.app, []
        player.device = "cuda:0"
        get = player.get
        player.get = lambda name: (fetched.append(name), get(name))[1]
        rig.frames(130)
        assert "heights_out" not in fetched and not app.scene.not_finite
        heights = np.zeros((app.scene.grid.height, app.scene.grid.width), np.float32)
        heights[3, 4] = np.nan
        app.transfer.update = lambda: app.transfer.upload(heights)
        rig.frames(140)
        assert app.scene.not_finite and app.scene.clock.paused
