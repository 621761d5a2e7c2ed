"""Whatever is done while a session is recorded, in whatever order: it replays the same, bit for bit."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from app_rig import running_app

from app.actions import perform
from app.basin.furnishing import Source
from app.basin.gallery import _begin
from app.basin.scenes import parse_scene
from app.basin.tools import clear
from app.bindings import Action
from app.cli import main
from app.rewind import rewind
from app.scene import open_scene

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")

SCENE = """
label = "Small"
border = "absorbing"
[grid]
width = 40
height = 30
substeps = 4
[values]
k_damp = 100.0
[[depth]]
shape = "disc"
centre = [20, 15]
radius = 6
depth = 0.4
[[sources]]
at = [5, 5]
frequency = 4.0
[[probes]]
at = [30, 20]
[rain]
every = 5
"""


@pytest.fixture(scope="module")
def paths(frame_of, frame_path):
    from app.trust import remember_recorded

    basin = frame_of(width=40, height=30, substeps=4, solver="basin")
    other = frame_of(width=36, height=44, substeps=3, solver="basin")
    for path in (basin, other):
        remember_recorded(path)
    return basin, other, frame_path


def do_something(rig, choose, paths):
    """One thing that a user may do; returns what."""
    app, scene = rig.app, rig.app.scene
    furnishing, editor = scene.furnishing, scene.editor
    rows, columns = scene.grid.height, scene.grid.width
    place = choose.uniform(0, columns - 1), choose.uniform(0, rows - 1)
    deeds = {
        "press": lambda: app.push.press(place),
        "drag": lambda: app.push.move(place),
        "release": app.push.release,
        "value": lambda: editor.apply(
            {choose.choice(["k_speed", "k_damp", "radius"]): choose.uniform(1, 80)}
        ),
        "slide": lambda: editor.move("k_speed", choose.uniform(1, 80)),
        "undo": lambda: perform(app, Action.UNDO),
        "redo": lambda: perform(app, Action.REDO),
        "reset": lambda: perform(app, Action.RESET_WATER),
        "pause": lambda: perform(app, Action.PAUSE),
        "faster": lambda: perform(app, Action.FASTER),
        "mode": lambda: perform(app, Action.NEXT_MODE),
        "camera": lambda: setattr(app.camera, "yaw", choose.uniform(-1, 1)),
        "rewind": lambda: rewind(app, choose.randint(app.lab.history.begin, app.lab.history.position)),
        "open": lambda: app.open(choose.choice(paths)),
        "keep": lambda: app.open(choose.choice(paths), keep_view=True),
        "reload": app.reload,
    }
    if furnishing is not None:
        deeds |= {
            "wall": lambda: furnishing.edit("walls")[int(place[1]), : int(place[0])].fill(1),
            "depth": lambda: furnishing.edit("depth")[:, int(place[0]) :].fill(0.3),
            "settle": furnishing.settle,
            "source": lambda: furnishing.set_source(
                choose.randrange(16), Source(place, choose.uniform(1, 9))
            ),
            "probe": lambda: furnishing.place("probe_pos", choose.randrange(16), place),
            "border": lambda: editor.apply({"border": choose.randrange(2)}),
            "clear": lambda: clear(furnishing),
        }
        if (rows, columns, scene.substeps) == (30, 40, 4):
            deeds["scene"] = lambda: _begin(app, parse_scene(SCENE, Path("small.toml")))
    name = choose.choice(list(deeds))
    deeds[name]()
    return name


@pytest.mark.parametrize("seed", [1, 2])
def test_it_replays_bit_for_bit(paths, seed, tmp_path, capsys):
    choose, done, path = random.Random(seed), [], tmp_path / "a.ripple"
    with running_app(open_scene(paths[0], "cpu").player) as rig:
        rig.app.session.start(path)
        for _ in range(120):
            if choose.random() < 0.5:
                done.append(do_something(rig, choose, paths))
            rig.frame(launches=choose.choice((0, 1, 1, 2)))
        assert not rig.app.message, (rig.app.message, done)
        rig.app.session.stop()
        heights = rig.heights().copy()
    assert main(["replay", str(path)]) == 0, done
    assert "equal     bit for bit" in capsys.readouterr().out
    from app.sessions import SessionOpener
    from replay.session.format import SessionReader
    from replay.session.playback import Playback

    with SessionReader(path) as reader, Playback(reader, SessionOpener()) as playback:
        for _ in playback.run():
            pass
        assert playback.player is not None
        assert np.array_equal(playback.player.get("heights"), heights), done
