"""Seconds where the manifest gives them, launches where nobody knows how long one is."""

from __future__ import annotations

import dataclasses

import pytest
from app_rig import running_app

from app.clocktext import ago_text, elapsed_text, pace_fact, shortfall_text, span_text, speed_text
from app.scene import Scene
from app.simclock import SimulationClock
from replay.players.fake import FakePlayer


def slow(clock: SimulationClock) -> SimulationClock:
    """Let one launch in four go by for two seconds."""
    clock.spent(1, 1.0)  # so dear that one launch a frame is all there is
    for frame in range(31):
        clock.due(frame / 15)
    return clock


def test_with_a_time_step_everything_is_in_seconds():
    clock = slow(SimulationClock(1 / 60))
    assert elapsed_text(clock) == "0.5 s" and speed_text(clock) == "×1"
    assert shortfall_text(clock) == "25% of real time"
    assert pace_fact(clock) == ("Real time", "×0.25 of ×1")
    assert ago_text(clock, 75) == "-1.25 s" and span_text(clock, 600) == "10 s"


def test_without_one_everything_is_in_launches():
    clock = slow(SimulationClock(1 / 60, timed=False))
    assert elapsed_text(clock) == "31 launches" and speed_text(clock) == "60/s"
    assert shortfall_text(clock) == "15 of 60 launches a second"
    assert pace_fact(clock) == ("Launches", "15 of 60 a second")
    assert ago_text(clock, 1) == "-1 launch" and ago_text(clock, 0) == "now"
    assert span_text(clock, 1200) == "1,200 launches"


@pytest.mark.parametrize(("timed", "shown"), [(True, "free run ×0.5"), (False, "free run 30/s")])
def test_a_free_run_tells_what_it_reaches(timed, shown):
    clock = SimulationClock(1 / 60, timed=timed)
    clock.free_run = True
    for frame in range(61):
        clock.due(frame / 30)
    assert speed_text(clock) == shown


def test_only_a_manifest_knows_the_time_step(frame_capture):
    bare = dataclasses.replace(frame_capture, manifest=None)
    assert Scene.of_player(FakePlayer(frame_capture)).clock.timed
    assert not Scene.of_player(FakePlayer(bare)).clock.timed
    assert Scene.of_capture(frame_capture, "").clock.timed and not Scene.of_capture(bare, "").clock.timed


def test_the_window_shows_no_second_of_a_capture_without_a_manifest(frame_capture, monkeypatch):
    from app.gl_platform import imgui

    told: list[str] = []
    show = imgui.text_unformatted
    monkeypatch.setattr(imgui, "text_unformatted", lambda text, *rest: (told.append(text), show(text, *rest)))
    bare = dataclasses.replace(frame_capture, manifest=None)
    with running_app(FakePlayer(bare)) as rig:
        rig.frames(2, launches=3)
        assert "6 launches" in told and not any(text.endswith(" s") for text in told)
