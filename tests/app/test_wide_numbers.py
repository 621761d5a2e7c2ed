"""Integers of 64 bits and the sign of a zero, on every way in: command line, editor, arguments, fields."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from app_rig import running_app

from app.cli import main
from app.commands.view import assignment
from app.editor import ParameterEditor
from app.panels.edit_row import EditRow
from app.panels.inspect_arguments import _same
from app.scene import open_scene
from app.trust import remember_recorded
from app.window import KeyPressed, Modifiers
from replay.edit import edit_scalar
from replay.elements import ElementType
from replay.graph.open import open_capture
from replay.parameters import ParameterSpec
from replay.players import open_player

WIDE, ODD = 5_000_000_000, 9_007_199_254_740_993  # 2^53 + 1, which no double holds


@wp.struct
class Wide:
    out: wp.array[wp.int64]
    number: wp.int64


@wp.kernel(module="wide_numbers")
def put_member(wide: Wide):
    wide.out[0] = wide.number


@wp.kernel(module="wide_numbers")
def put(
    out: wp.array[wp.int64], number: wp.int64, signs: wp.array[float], zero: float, given: wp.array[wp.int64]
):
    out[1] = number + given[0] - given[0]
    signs[0] = zero


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    place = tmp_path_factory.mktemp("wide") / "wide.wrp"
    wide = Wide()
    wide.out, wide.number = wp.zeros(2, dtype=wp.int64, device="cpu"), WIDE
    given = wp.array([3, -5], dtype=wp.int64, device="cpu")
    signs = wp.zeros(1, dtype=float, device="cpu")
    wp.load_module("wide_numbers", device="cpu")
    with wp.ScopedDevice("cpu"):
        with wp.ScopedCapture(apic=True) as recorded:
            wp.launch(put_member, 1, inputs=[wide])
            wp.launch(put, 1, inputs=[wide.out, WIDE, signs, 1.0, given])
        wp.capture_save(
            recorded.graph, str(place), inputs={"given": given}, outputs={"out": wide.out, "signs": signs}
        )
    remember_recorded(place)
    return place


@pytest.mark.parametrize("number", [ODD, -(2**63), 2**63 - 1, -ODD])
def test_a_parameter_of_the_command_line(path, number, tmp_path, capsys):
    saved = tmp_path / "given.npy"
    arguments = ["--after", "0", "--region", "given", "--type", "int64", "--npy", str(saved)]
    assert main(["state", str(path), *arguments, "--param", f"given={number},7"]) == 0
    assert np.load(saved).tolist() == [number, 7]
    assert f"min {min(number, 7)}, max {max(number, 7)}" in capsys.readouterr().out


def test_numbers_beyond_64_bits_are_refused(path, capsys):
    assert main(["state", str(path), "--after", "0", "--param", f"given={2**64},7"]) == 2
    assert "an integer is beyond 64 bits" in capsys.readouterr().err
    assert assignment("a=3,9007199254740993,-0.0") == ("a", (3.0, ODD, 0.0))


def test_an_editor_keeps_integers_and_signs_of_zeros():
    specs = {
        name: ParameterSpec(name, ElementType.named(dtype), (1,), 1, True, editable=True)
        for name, dtype in (("i", "int64"), ("u", "uint64"), ("f", "float32"))
    }
    editor = ParameterEditor(specs, {"i": (0,), "u": (0,), "f": (0.0,)})
    assert editor.apply({"i": (ODD,), "u": (2**64 - 1,), "f": (-0.0,)}) == []
    assert editor.values["i"] == (ODD,) and editor.values["u"] == (2**64 - 1,)
    assert np.signbit(editor.values["f"][0]) and not editor.is_default("f")
    words = editor.command_line("x.wrp")
    assert f"i={ODD}" in words and f"u={2**64 - 1}" in words and "f=-0" in words
    assert editor.apply({"i": (2**70,)}) == ["i was set to 9.22337e+18, the nearest possible to 1.18059e+21"]
    assert editor.values["i"] == (2**63 - 1,)
    editor.undo()
    editor.undo()
    assert not np.signbit(editor.values["f"][0])


def test_an_argument_is_edited(path):
    capture = open_capture(path)
    assert capture.operations[1].arguments[1].value == WIDE
    edited = edit_scalar(edit_scalar(capture, 1, 1, -ODD, type="int64"), 1, 3, -0.0, type="float32")
    with open_player(edited) as player:
        player.launch()
        out = np.frombuffer(player.get("out").tobytes(), np.int64)
        assert out.tolist() == [WIDE, -ODD] and np.signbit(player.get("signs")[0])
    assert not _same(-0.0, 0.0, np.dtype("f4")) and _same(0.1, float(np.float32(0.1)), np.dtype("f4"))
    assert not _same(ODD, ODD - 1, np.dtype("i8")) and not _same(300, 44, np.dtype("u1"))


def test_a_field_takes_64_bits(path):
    with running_app(open_scene(path, "cpu").player, size=(1280, 800)) as rig:
        app, lab = rig.app, rig.app.lab
        lab.selection.select_event(0)
        lab.member_types[0, 0, 56] = "int64"
        rig.frames(4, launches=1)
        inspector = next(panel for panel in rig.desk.panels if panel.name == "Inspector")
        rig.click(*inspector._operation._table.places[0, 56])
        rig.key("A", Modifiers.CONTROL)
        for sign in str(ODD):
            rig.frame(KeyPressed(sign, True, False, Modifiers.NONE))
            rig.frame(KeyPressed(sign, False, False, Modifiers.NONE))
        rig.key("enter")
        rig.frames(3, launches=1)
        out = np.frombuffer(app.scene.player.get("out").tobytes(), np.int64)
        assert out[0] == ODD and app.notice == f"event 0: argument 1, byte 56, is now {ODD}"
        argument = lab.operation(0).arguments[0]
        assert EditRow.key_of(lab, 0, argument.index, 56) is not None
