"""The drops at the start of the demo: honest pushes, called off by any press."""

from __future__ import annotations

import numpy as np
import pytest
from app_rig import running_app

from app.scene import open_scene
from app.welcome import DROPS
from app.window import Button, KeyPressed, Modifiers, PointerButton, PointerMoved


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player) as rig:
        rig.frames(4, launches=0)
        yield rig


def pushes(rig, frames: int = 80) -> list[tuple[float, float]]:
    """Where the launches of some frames pushed, as the graph's own array holds it."""
    found = []
    for _ in range(frames):
        rig.frame(launches=1)
        x, y = rig.app.scene.player.get("mouse_pos").reshape(2)
        if x > -1000:
            found.append((float(x), float(y)))
    return found


def test_drops_fall_where_they_should_one_launch_each(rig):
    rig.app.welcome.begin(rig.app.scene)
    grid = rig.app.scene.grid
    expected = [(x * (grid.width - 1), z * (grid.height - 1)) for _, x, z in DROPS]
    assert np.array(pushes(rig)) == pytest.approx(np.array(expected), abs=1e-4)
    assert np.abs(rig.heights()).max() > 1e-3 and np.isfinite(rig.heights()).all()
    assert not rig.app.push.pressed


def test_without_a_word_nothing_falls(rig):
    assert pushes(rig) == [] and not rig.heights().any()


@pytest.mark.parametrize(
    "event",
    [
        KeyPressed("H", True, False, Modifiers.NONE),
        PointerButton(Button.RIGHT, True, Modifiers.NONE, 3.0, 3.0),
        PointerButton(Button.LEFT, True, Modifiers.NONE, 3.0, 3.0),
    ],
)
def test_a_press_calls_them_off(rig, event):
    rig.app.welcome.begin(rig.app.scene)
    rig.frame(event, launches=1)
    assert pushes(rig) == []


def test_a_pointer_that_only_moves_does_not(rig):
    rig.app.welcome.begin(rig.app.scene)
    rig.frame(PointerMoved(5.0, 5.0), launches=1)
    assert len(pushes(rig)) == len(DROPS)


def test_another_scene_gets_none(rig, frame_path):
    rig.app.welcome.begin(rig.app.scene)
    rig.app.show(open_scene(frame_path, "cpu"))
    assert pushes(rig) == []
