from __future__ import annotations

import argparse
import math
import shlex

import numpy as np
import pytest

from app.editor import ParameterEditor
from replay.elements import ElementType
from replay.errors import ParameterError
from replay.manifest import StabilityEntry
from replay.parameters import ParameterSpec, courant
from replay.players.fake import FakePlayer

RULE = StabilityEntry("k_speed", "k_damp", "dt", 0.1, 0.98)


def spec(name: str, **fields) -> ParameterSpec:
    element = ElementType.named(fields.pop("dtype", "float32"))
    return ParameterSpec(name, element, fields.pop("shape", (1,)), 1, True, editable=True, **fields)


SPECS = {
    "k_speed": spec("k_speed", minimum=1.0, maximum=1e6, default=60.0, logarithmic=True),
    "k_damp": spec("k_damp", minimum=0.0, maximum=1e7, default=1000.0),
    "dt": spec("dt", minimum=1e-4, maximum=1.0, default=1 / 960),
    "radius": spec("radius", minimum=1.0, maximum=50.0, default=5.0),
    "free": spec("free", default=0.5),
    "flags": spec("flags", dtype="int32", shape=(3,)),
}
VALUES = {
    "k_speed": (60.0,),
    "k_damp": (1000.0,),
    "dt": (float(np.float32(1 / 960)),),
    "radius": (5.0,),
    "free": (0.5,),
    "flags": (1, 2, 3),
}


@pytest.fixture
def editor() -> ParameterEditor:
    return ParameterEditor(SPECS, VALUES, RULE)


@pytest.mark.parametrize("name", ["k_speed", "k_damp", "dt"])
def test_no_value_passes_the_stability_limit(editor, name):
    editor.move(name, 1e9)
    scalars = editor.scalars()
    assert courant(RULE, scalars) <= RULE.margin
    assert scalars[name] == pytest.approx(editor.limits(name)[1], rel=1e-6)
    scalars[name] *= 1.03
    assert courant(RULE, scalars) > RULE.margin  # the limit is not lower than it must be


def test_the_limit_of_the_speed_is_that_of_the_published_scheme():
    undamped = ParameterEditor(SPECS, VALUES | {"k_damp": (0.0,)}, RULE)
    undamped.move("k_speed", 1e9)
    dt = undamped.values["dt"][0]
    assert undamped.values["k_speed"][0] * dt**2 / 0.1**2 == pytest.approx(0.98 * 0.5, rel=1e-5)


def test_limits_hold_over_any_order_of_moves(editor):
    random = np.random.default_rng(1)
    for _ in range(300):
        name = ("k_speed", "k_damp", "dt")[random.integers(3)]
        editor.move(name, float(10 ** random.uniform(-6, 9)))
        assert editor.courant <= RULE.margin * (1 + 1e-6)


def test_a_fixed_time_step_still_limits_the_speed():
    values = {name: value for name, value in VALUES.items() if name != "dt"}
    editor = ParameterEditor(SPECS, values, RULE, {"dt": 1 / 60})
    editor.move("k_damp", 0.0)
    editor.move("k_speed", 1e9)
    assert editor.values["k_speed"][0] == pytest.approx(0.98 * 0.5 * 0.01 * 3600, rel=1e-5)


def test_without_a_rule_only_the_range_limits():
    editor = ParameterEditor(SPECS, VALUES)
    editor.move("k_speed", 1e9)
    assert editor.values["k_speed"] == (1e6,) and editor.courant is None


def test_values_stay_in_their_range_and_type(editor):
    editor.move("radius", -3.0)
    assert editor.values["radius"] == (1.0,)
    editor.move("flags", (1e12, -1e12, 2.9))
    assert editor.values["flags"] == (2**31 - 1, -(2**31), 2)
    editor.move("free", 1e30)
    assert editor.values["free"] == (float(np.float32(1e30)),)
    editor.move("free", -1e300)
    assert editor.values["free"] == (float(np.finfo(np.float32).min),)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(editor, bad):
    with pytest.raises(ParameterError):
        editor.move("free", bad)
    assert editor.values["free"] == (0.5,)


@pytest.mark.parametrize("bad", [{"free": math.inf}, {"flags": (1.0,)}, {"k_speed": math.nan}])
def test_nothing_is_set_where_one_value_is_impossible(editor, bad):
    before = dict(editor.values)
    with pytest.raises(ParameterError):
        editor.apply({"radius": 7.0, "k_speed": 50.0, **bad})
    assert editor.values == before and not editor.can_undo


def test_a_wrong_number_of_values_is_refused(editor):
    with pytest.raises(ParameterError, match="holds 3 numbers"):
        editor.move("flags", (1, 2))


def test_a_drag_is_one_step_for_undo(editor):
    for value in (6.0, 7.0, 8.0):
        editor.move("radius", value)
    editor.settle()
    editor.move("free", 0.75)
    editor.settle()
    assert editor.undo() and editor.values["free"] == (0.5,) and editor.values["radius"] == (8.0,)
    assert editor.undo() and editor.values["radius"] == (5.0,)
    assert not editor.undo()
    assert editor.redo() and editor.redo() and not editor.redo()
    assert editor.values["radius"] == (8.0,) and editor.values["free"] == (0.75,)


def test_a_new_change_ends_redo(editor):
    editor.apply({"radius": 9.0})
    editor.undo()
    editor.apply({"radius": 3.0})
    assert not editor.can_redo
    assert editor.undo() and editor.values["radius"] == (5.0,)


def test_a_drag_that_comes_back_is_no_step(editor):
    editor.move("radius", 9.0)
    editor.move("radius", 5.0)
    editor.settle()
    assert not editor.can_undo


def test_reset_one_and_all(editor):
    editor.apply({"radius": 9.0, "k_speed": 90.0})
    editor.reset(["radius"])
    assert editor.is_default("radius") and not editor.is_default("k_speed")
    editor.reset()
    assert all(editor.is_default(name) for name in editor.names)
    editor.undo()
    assert editor.values["k_speed"] == (90.0,)


def test_a_preset_is_one_step_and_tells_what_does_not_fit(editor):
    messages = editor.apply({"radius": 8.0, "k_speed": 1e6, "nothing": 1.0})
    assert editor.values["radius"] == (8.0,)
    assert any("k_speed" in message for message in messages)
    assert any("'nothing'" in message for message in messages)
    editor.undo()
    assert editor.values == dict(ParameterEditor(SPECS, VALUES, RULE).values)


def test_a_stable_set_is_reached_whatever_the_values_before(editor):
    editor.apply({"k_speed": 4000.0})
    wanted = {"dt": 0.01, "k_speed": 30.0, "k_damp": 100.0}
    assert editor.apply(wanted) == []
    for name, value in wanted.items():
        assert editor.values[name][0] == pytest.approx(value, rel=1e-6)


def test_the_command_line_says_what_is_not_default(editor):
    assert editor.command_line("my frame.wrp") == "ripplescope 'my frame.wrp'"
    editor.apply({"k_speed": 80.0, "flags": (4, 5, 6)})
    assert editor.command_line("f.wrp") == "ripplescope f.wrp --param k_speed=80 --param flags=4,5,6"


def test_only_what_changed_is_uploaded(frame_capture):
    with FakePlayer(frame_capture) as player:
        editor = ParameterEditor.of_player(player)
        assert editor.upload(player) == 0
        editor.move("k_speed", 42.0)
        assert editor.upload(player) == 1 and editor.upload(player) == 0
        assert player.get("k_speed").tolist() == [42.0]
        player.reset()
        assert player.get("k_speed").tolist() == [60.0]
        editor.touch_all()
        editor.upload(player)
        assert player.get("k_speed").tolist() == [42.0]


def test_the_wave_frames_own_parameters(frame_capture):
    with FakePlayer(frame_capture) as player:
        editor = ParameterEditor.of_player(player)
        assert {"k_speed", "k_damp", "radius", "magnitude"} <= set(editor.names)
        assert "heights" not in editor.names and "mouse_pos" not in editor.names
        assert 0 < editor.courant < 1


def test_values_survive_a_new_capture(frame_capture, frame_of):
    from replay.graph.open import open_capture

    with FakePlayer(frame_capture) as player, FakePlayer(open_capture(frame_of(substeps=3))) as other:
        editor, new = ParameterEditor.of_player(player), ParameterEditor.of_player(other)
        editor.apply({"k_speed": 90.0, "radius": 3.0})
        assert new.adopt(editor) == []
        assert new.values["k_speed"] == (90.0,) and new.values["radius"] == (3.0,)


def test_a_default_beyond_the_stability_limit_is_not_reached_and_that_is_told(editor):
    editor.apply({"k_speed": 1.0, "dt": 1.0})
    (message,) = editor.reset(["k_speed"])
    assert message.startswith("k_speed was set to") and message.endswith("the nearest possible to 60")
    assert courant(RULE, editor.scalars()) <= RULE.margin
    assert editor.reset() == [] and editor.changed() == {}


@pytest.mark.parametrize("value", [1e9, -1e9, 0.3])
@pytest.mark.parametrize("name", ["k_speed", "k_damp", "radius", "magnitude", "dt"])
def test_the_copied_command_gives_the_same_values_again(frame_capture, name, value):
    """Also at the ends of a range and at the stability limit."""
    from app.commands.view import add_arguments
    from app.headless import set_parameters
    from app.scene import Scene
    from replay.players import open_player

    with Scene.of_player(open_player(frame_capture, "cpu")) as scene:
        scene.editor.apply({name: value})
        wanted = dict(scene.editor.values)
        line = scene.editor.command_line("frame.wrp")
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    arguments = parser.parse_args(shlex.split(line)[1:])
    with Scene.of_player(open_player(frame_capture, "cpu")) as again:
        set_parameters(again, dict(arguments.param))
        assert {name: tuple(again.player.get(name).reshape(-1)) for name in wanted} == wanted
