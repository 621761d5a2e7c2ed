"""Edited scalars equal a fresh recording with that value; edits revert, and are saved as a new file set."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import makers
import numpy as np
import pytest
import toy
import warp as wp

from replay.edit import Edit, EditList, apply_edits, edit_scalar, encode, save_edited
from replay.errors import ParameterError, ReplayError, UsageError
from replay.events.replayer import EventReplayer
from replay.graph.model import Capture, OpKind
from replay.graph.open import open_capture
from replay.players import open_player
from replay.players.swap import swap_player


@pytest.fixture(scope="module")
def launches(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    return open_capture(makers.record(makers.launches, tmp_path_factory.mktemp("launches")))


def _played(capture: Capture, name: str) -> np.ndarray:
    with open_player(capture) as player:
        player.launch()
        return player.get(name)


def test_an_edited_scalar_equals_a_fresh_capture(launches, tmp_path):
    """`scale(line, 2.0)` with 3.5 instead, and the edit of one launch leaves the others."""
    edited = edit_scalar(launches, 0, 1, 3.5)
    assert edited.operations[0].arguments[1].value == 3.5
    assert launches.operations[0].arguments[1].value == 2.0
    with wp.ScopedDevice("cpu"):
        line = wp.array(np.random.default_rng(1).standard_normal(7).astype(np.float32))
        with wp.ScopedCapture(apic=True) as recorded:
            wp.launch(makers.scale, 7, inputs=[line, 3.5])
        path = tmp_path / "fresh.wrp"
        wp.capture_save(recorded.graph, str(path), inputs={"line": line})
    np.testing.assert_array_equal(_played(edited, "line"), _played(open_capture(path), "line"))
    np.testing.assert_array_equal(_played(edited, "plane"), _played(launches, "plane"))


def test_numbers_of_other_types(tmp_path):
    """A double; and an integer where the file does not say that it is one."""
    loop = open_capture(makers.record(makers.conditions, tmp_path))
    edited = edit_scalar(loop, 2, 2, 0.1)
    assert loop.operations[2].arguments[2].type == "float64"
    np.testing.assert_array_equal(_played(edited, "total"), [0.1 + 0.1 + 0.1])
    # 1.5 is a float32; the same four bytes as an integer
    edited = edit_scalar(loop, 0, 1, 0x40000000, type="int32")
    np.testing.assert_array_equal(_played(edited, "x"), _played(edit_scalar(loop, 0, 1, 2.0), "x"))


def test_edits_add_up_replace_each_other_and_revert(launches):
    edits = EditList(launches)
    edits.set(Edit(0, 1, 3.0))
    edits.set(Edit(1, 1, 1.0))
    edits.set(Edit(0, 1, 4.0))
    assert [op.arguments[1].value for op in edits.capture.operations[:3]] == [4.0, 1.0, 1.5]
    assert len(edits.edits) == 2
    with pytest.raises(UsageError):
        edits.set(Edit(99, 0, 1.0))
    assert len(edits.edits) == 2 and edits.capture.operations[0].arguments[1].value == 4.0
    edits.revert(Edit(0, 1, 0.0).key)
    assert [op.arguments[1].value for op in edits.capture.operations[:3]] == [2.0, 1.0, 1.5]
    assert edits.revert_all() is launches and edits.edits == ()


def test_a_member_of_a_struct(tmp_path):
    """`Pair.gain` lies at byte 0 of the struct; the arrays after it cannot be overwritten."""
    capture = open_capture(makers.record(makers.struct_argument, tmp_path))
    edited = edit_scalar(capture, 0, 0, -1.5, type="float32", offset=0)
    with open_player(capture) as player:
        first, second = player.get("first"), player.get("second")
    wanted = np.float32(-1.5) * first[:, 0] + second[:, 1] * np.float32(3)
    np.testing.assert_allclose(_played(edited, "out"), wanted, rtol=1e-6)
    with pytest.raises(UsageError, match="is a pointer"):
        edit_scalar(capture, 0, 0, 7, type="int64", offset=8)
    with pytest.raises(UsageError, match="give type and offset"):
        edit_scalar(capture, 0, 0, 7)
    with pytest.raises(UsageError, match="leave its"):
        edit_scalar(capture, 0, 0, 7, type="int32", offset=10_000)


def test_what_cannot_be_edited(launches, tmp_path):
    with pytest.raises(UsageError, match="no event 77"):
        edit_scalar(launches, 77, 0, 1.0)
    with pytest.raises(UsageError, match="no argument 3; it has 2, counted from 1"):
        edit_scalar(launches, 0, 2, 1.0)
    with pytest.raises(UsageError, match="holds no single value"):
        edit_scalar(launches, 0, 0, 1.0)
    with pytest.raises(UsageError, match="no component 1"):
        edit_scalar(launches, 0, 1, 1.0, 1)
    with pytest.raises(UsageError, match="leave its 4 bytes"):
        edit_scalar(launches, 0, 1, 1.0, type="float64")
    loop = open_capture(makers.record(makers.conditions, tmp_path))
    event = next(op.event for op in loop.operations if op.kind is OpKind.WHILE)
    with pytest.raises(UsageError, match="only launches have arguments"):
        edit_scalar(loop, event, 0, 1.0)


@pytest.mark.parametrize(
    ("value", "type_name", "raw"),
    [
        (1.5, "float32", np.float32(1.5).tobytes()),
        (3, "float64", np.float64(3).tobytes()),
        (-2, "int32", np.int32(-2).tobytes()),
        (4.0, "int64", np.int64(4).tobytes()),
        (2**64 - 1, "uint64", np.uint64(2**64 - 1).tobytes()),
        (True, "bool", b"\1"),
        ((1.0, -2.0), "vec2f", np.float32([1, -2]).tobytes()),
        (float("inf"), "float32", np.float32(np.inf).tobytes()),
    ],
)
def test_values_are_stored_as_their_type(value, type_name, raw):
    assert encode(value, type_name) == raw


@pytest.mark.parametrize(
    ("value", "type_name", "why"),
    [
        (1e39, "float32", "beyond float32"),
        (0.5, "int32", "whole numbers"),
        (2**31, "int32", "beyond int32"),
        (-1, "uint8", "beyond uint8: 0 to 255"),
        (2, "bool", "no bool"),
        (1.0, "vec2f", "takes 2 numbers, not 1"),
        (1.0, "nothing", "unknown element type"),
    ],
)
def test_values_that_a_type_does_not_hold(value, type_name, why):
    with pytest.raises(ParameterError, match=why):
        encode(value, type_name)


def test_saved_edits_replay_elsewhere(launches, tmp_path):
    edited = apply_edits(launches, [Edit(0, 1, 3.5), Edit(2, 1, -1.0)])
    saved = save_edited(edited, tmp_path / "new" / "mine")
    assert saved == tmp_path / "new" / "mine.wrp"
    moved = tmp_path / "elsewhere"
    shutil.move(saved.parent, moved)
    opened = open_capture(moved / "mine.wrp")
    assert opened.faults == launches.faults
    np.testing.assert_array_equal(_played(opened, "line"), _played(edited, "line"))
    np.testing.assert_array_equal(_played(opened, "plane"), _played(edited, "plane"))
    assert sorted(path.name for path in moved.iterdir()) == ["mine.wrp", "mine_modules"]


def test_the_original_is_never_overwritten(frame_capture, tmp_path):
    for source in (frame_capture.path, frame_capture.path.with_suffix(".json")):
        shutil.copy(source, tmp_path)
    shutil.copytree(frame_capture.modules_folder, tmp_path / frame_capture.modules_folder.name)
    capture = open_capture(tmp_path / frame_capture.path.name)
    digest = hashlib.sha256(capture.path.read_bytes()).hexdigest()
    launch = next(op for op in capture.operations if any(arg.value is not None for arg in op.arguments))
    argument = next(arg for arg in launch.arguments if arg.value is not None)
    edited = edit_scalar(capture, launch.event, argument.index, argument.value)
    for name in (
        capture.path,
        capture.path.with_suffix(""),
        tmp_path / ".." / tmp_path.name / capture.path.name,
    ):
        with pytest.raises(UsageError, match="the capture that was opened"):
            save_edited(edited, name)
    assert hashlib.sha256(capture.path.read_bytes()).hexdigest() == digest

    saved = save_edited(edited, tmp_path / "other")
    opened = open_capture(saved)
    assert opened.manifest is not None and opened.faults == ()
    assert opened.manifest == dataclasses.replace(
        capture.manifest, wrp_sha256=hashlib.sha256(saved.read_bytes()).hexdigest()
    )


@pytest.mark.parametrize("name", ["note.wrp", "note_modules", "note.json", "note_modules/mine.o"])
def test_nothing_that_is_there_is_replaced(launches, tmp_path, name):
    there = tmp_path / name
    there.parent.mkdir(exist_ok=True)
    there.write_bytes(b"mine")
    with pytest.raises(UsageError, match="in the way; save under another name"):
        save_edited(edit_scalar(launches, 0, 1, 3.0), tmp_path / "note")
    assert there.read_bytes() == b"mine"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [there]


def test_a_saved_edit_replays_without_the_kernels_and_with_its_manifest(frame_capture, tmp_path):
    """In a process that can import neither `capture` nor this one's folder: the value is the edited one."""
    launch, argument = next(
        (op, arg) for op in frame_capture.operations for arg in op.arguments if arg.type == "float32"
    )
    edited = edit_scalar(frame_capture, launch.event, argument.index, 2 * argument.value)
    saved = save_edited(edited, tmp_path / "there" / "mine")
    moved = shutil.move(saved.parent, tmp_path / "far away")
    program = (
        "import sys\n"
        "sys.modules['capture'] = None\n"
        "import numpy as np\n"
        "from replay.graph.open import open_capture\n"
        "from replay.players import open_player\n"
        "capture = open_capture('mine.wrp')\n"
        "assert capture.manifest is not None and not capture.faults, capture.faults\n"
        f"print(capture.operations[{launch.event}].arguments[{argument.index}].value)\n"
        "with open_player(capture) as player:\n"
        "    player.set('mouse_pos', [[9.0, 7.0]])\n"
        "    player.launch()\n"
        "    np.save('heights.npy', player.get('heights'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=moved,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1]) == np.float32(2 * argument.value)
    with open_player(edited) as player, open_player(frame_capture) as plain:
        for one in (player, plain):
            one.set("mouse_pos", [[9.0, 7.0]])
            one.launch()
        np.testing.assert_array_equal(np.load(Path(moved) / "heights.npy"), player.get("heights"))
        assert (player.get("heights") != plain.get("heights")).any()


def test_a_swap_keeps_the_present_state(launches):
    """The next frame of the edited capture goes on from where the old one was."""
    player = open_player(launches)
    player.launch()
    player.set("line", np.arange(7, dtype=np.float32))
    edited = edit_scalar(launches, 0, 1, 10.0)
    plane, solid = player.get("plane"), player.get("solid")
    new = swap_player(player, edited)
    with new:
        assert new.frames == 1
        np.testing.assert_array_equal(new.get("plane"), plane)
        new.launch()
        np.testing.assert_array_equal(new.get("line"), np.arange(7, dtype=np.float32) * 10)
        # all zero in the file, so that the type is a guess; the kernel counts in int32
        np.testing.assert_array_equal(new.get("solid").view(np.int32), solid.view(np.int32) + 1)
    with pytest.raises(ReplayError, match="closed"):
        player.launch()


def test_a_swap_that_fails_leaves_the_old_player(launches, tmp_path):
    other = toy.record_toy(tmp_path, "cpu")
    with open_player(launches) as player:
        with pytest.raises(ReplayError, match="does not fit"):
            swap_player(player, other)
        player.launch()
        assert player.frames == 1


def test_events_of_an_edited_capture(launches):
    edited = edit_scalar(launches, 0, 1, 0.0)
    with open_player(edited) as player, EventReplayer.of_player(player) as frame:
        assert not frame.after(0).parameter("line").any()
        assert frame.start().parameter("line").any()


@pytest.mark.gpu
def test_a_swap_on_cuda(frame_of):
    capture = open_capture(frame_of(device="cuda"))
    player = open_player(capture)
    player.set("mouse_pos", [[9.0, 7.0]])
    player.launch()
    heights = player.get("heights")
    with swap_player(player, capture) as new:
        np.testing.assert_array_equal(new.get("heights"), heights)
