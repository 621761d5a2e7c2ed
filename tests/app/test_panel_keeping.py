"""Panels that keep what was drawn of them: when they are built all the same, and that nobody sees it."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from app_rig import running_app

from app.panels.keeping import INTERVALS
from app.view.screenshot import read_pixels
from app.window import Button, KeyPressed, Modifiers, PointerButton, PointerMoved
from replay.players.fake import FakePlayer

STILL = (400.0, 300.0)  # over the water
SETTLED = 12


@pytest.fixture
def rig(frame_capture):
    with running_app(FakePlayer(frame_capture), size=(1000, 640)) as rig:
        rig.app.scene.clock.paused = True  # or a light would go through the graph
        yield rig


def built(rig, count=1, **options) -> Counter:
    """Run frames; return how often each panel was built."""
    counts: Counter = Counter()

    def watched(name, draw):
        def counted(*arguments):
            counts[name] += 1
            draw(*arguments)

        return counted

    for name in INTERVALS.keys() & rig.desk.parts.keys() - {"menu", "status bar"}:
        panel = rig.desk.parts[name]
        panel.draw = watched(name, panel.draw)
    try:
        rig.frames(count, **options)
    finally:
        for panel in rig.desk.parts.values():
            vars(panel).pop("draw", None)
    return counts


def picture(rig) -> np.ndarray:
    return read_pixels(rig.window.framebuffer, rig.window.framebuffer_size)


def freeze_readings(rig, monkeypatch) -> None:
    """Let what changes with every frame, such as the frame rate, stay as it is."""
    times = rig.app.times
    for name in ("begin", "lap"):
        monkeypatch.setattr(times, name, lambda *_: 0.0)
    monkeypatch.setattr("app.panels.performance._memory_text", lambda: "much")


def test_panels_that_are_kept_look_as_if_they_were_built(rig, monkeypatch):
    freeze_readings(rig, monkeypatch)
    rig.frames(40)
    few = built(rig, 3)
    assert sum(few.values()) <= 3 < 3 * 4  # one at a time, of four in front
    kept = picture(rig)
    whole = built(rig, 1, launches=0)
    assert whole == Counter({"Parameters": 1, "Inspector": 1, "Events": 1, "Performance": 1})
    assert (kept == picture(rig)).all()


def test_readings_are_built_again_in_their_time(rig):
    rig.frames(SETTLED)
    counts = built(rig, 60)  # of a second
    assert 3 <= counts["Parameters"] <= 4 and 3 <= counts["Events"] <= 4
    assert 7 <= counts["Performance"] <= 10


def test_a_changed_value_shows_in_the_next_build(rig, monkeypatch):
    freeze_readings(rig, monkeypatch)
    rig.frames(30)
    before = picture(rig)
    rig.app.scene.editor.apply({"k_speed": 12.0})
    assert built(rig)["Parameters"] == 1
    after = picture(rig)
    rig.frame(launches=0)
    left = slice(0, int(rig.app.canvas.rect[0]))
    assert (after[:, left] == picture(rig)[:, left]).all() and (after[:, left] != before[:, left]).any()


def test_the_panel_under_the_pointer_is_built_every_time(rig):
    rig.frame(PointerMoved(100.0, 154.0))
    rig.frames(SETTLED)
    counts = built(rig, 20)
    assert counts["Parameters"] == 20 and counts["Events"] <= 2
    rig.frame(PointerMoved(*STILL))
    rig.frames(SETTLED)
    assert built(rig, 10)["Parameters"] <= 1


def test_a_pointer_over_the_water_builds_no_panel(rig):
    rig.frame(PointerMoved(*STILL))
    rig.frames(SETTLED)
    counts: Counter = Counter()
    for step in range(20):
        rig.window.post(PointerMoved(STILL[0] + step, STILL[1]))
        counts += built(rig)
    assert rig.app.canvas.hovered and sum(counts.values()) <= 10


@pytest.mark.parametrize("deed", ["key", "press", "select", "theme", "panel"])
def test_whatever_is_done_builds_all_of_them(rig, deed):
    rig.frames(SETTLED)
    app = rig.app
    if deed == "key":
        rig.window.post(KeyPressed("tab", True, False, Modifiers.NONE))
    elif deed == "press":
        rig.window.post(PointerMoved(100.0, 154.0))
        rig.frames(2)
        rig.window.post(PointerButton(Button.LEFT, True, Modifiers.NONE, 100.0, 154.0))
    elif deed == "select":
        app.lab.selection.select_event(1)
    elif deed == "theme":
        rig.gui.theme_name = "light"
        rig.gui.restyle()
    else:
        app.closed_panels.discard("Sources")
    counts = built(rig, 2)
    assert [counts[name] for name in ("Inspector", "Events", "Performance")] == [2, 2, 2]


def test_a_held_slider_builds_every_panel_that_shows_its_value(rig):
    rig.frame(PointerMoved(100.0, 154.0))
    rig.frames(2)
    rig.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, 100.0, 154.0))
    rig.frames(SETTLED)
    assert rig.app.widget_held
    counts = built(rig, 5)
    assert counts["Parameters"] == counts["Events"] == counts["Performance"] == 5


def test_a_docked_panel_goes_on_for_long_while_it_is_kept(rig, monkeypatch):
    """ImGui forgets windows that are not begun, and complains of those that no other window draws."""
    freeze_readings(rig, monkeypatch)
    rig.frames(30)
    before = picture(rig)
    rig.frames(300)
    assert (before == picture(rig)).all() and rig.app.log.text() == ""
