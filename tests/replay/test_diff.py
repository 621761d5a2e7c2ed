"""Differences of captures: none between two recordings of one program, and exactly what was changed."""

from __future__ import annotations

import dataclasses
import itertools
import json
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from replay.graph.align import align
from replay.graph.changes import ChangeKind, Difference, ValueChange
from replay.graph.diff import diff
from replay.graph.diff_tell import difference_json, summary, tell_difference
from replay.graph.members import changed_members
from replay.graph.model import Capture
from replay.graph.open import capture_from_bytes, open_capture
from replay.graph.operations import LazyOperations
from replay.wrp.write import repeat_operations, with_bytes, with_operations

RECORDED_TWICE = (
    "launches", "struct_argument", "indexed", "copies", "library", "sparse", "conditions", "views", "nothing",
    "backward", "arrays_in_array", "mesh_handle", "no_elements",
)  # fmt: skip


@pytest.mark.parametrize("name", RECORDED_TWICE)
def test_two_recordings_of_one_program_are_equal(
    recorded: dict[str, Path], tmp_path: Path, name: str
) -> None:
    import makers

    again = makers.record(getattr(makers, name), tmp_path)
    difference = diff(open_capture(recorded[name]), open_capture(again))
    assert difference.equal, tell_difference(difference, open_capture(recorded[name]), open_capture(again))


def test_two_processes_that_record_one_program_differ_in_nothing(
    recorded: dict[str, Path], tmp_path: Path
) -> None:
    # Ids of meshes passed as numbers, alone and in a struct, and arrays in an array of structs: all of them
    # are addresses, which another process has elsewhere.
    names = ("mesh_handle", "arrays_in_array", "struct_argument")
    program = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import makers\n"
        "room = [makers.wp.zeros(100 + 50 * n) for n in range(9)]\n"
        "for name in sys.argv[3:]: makers.record(getattr(makers, name), pathlib.Path(sys.argv[2]))\n"
    )
    here = str(Path(__file__).parent)
    subprocess.run([sys.executable, "-c", program, here, str(tmp_path), *names], check=True, timeout=120)
    for name in names:
        old, new = open_capture(recorded[name]), open_capture(tmp_path / f"{name}.wrp")
        assert old.data != new.data
        assert diff(old, new).equal, tell_difference(diff(old, new), old, new)


def test_members_of_a_struct_are_told_by_place_and_value(recorded: dict[str, Path]) -> None:
    # Pair: gain at byte 0, the array `first` at 8 to 64, steps at 64, the array `second` behind.
    capture = open_capture(recorded["struct_argument"])
    argument = capture.operations[0].arguments[0]
    data = with_bytes(capture.data, argument.offset, struct.pack("<f", 3.5))
    data = with_bytes(data, argument.offset + 64, struct.pack("<i", -4))
    data = with_bytes(data, argument.offset + 8 + 16, struct.pack("<i", 2))  # rows of `first`, 4 before
    (change,) = diff(capture, capture_from_bytes(data, capture.path)).operations
    assert change.values == (
        ValueChange(
            "argument 1.+8", "first shape [4, 2] strides [8, 4]", "first shape [2, 2] strides [8, 4]"
        ),
        ValueChange("argument 1 byte 0, inferred", "2.5 (float32)", "3.5 (float32)"),
        ValueChange("argument 1 byte 64, inferred", "3 (int32)", "-4 (int32)"),
    )


@pytest.mark.parametrize(
    ("form", "old", "new", "told"),
    [
        ("<d", 0.1, 0.2, [(8, "0.10000000000000001 (float64)", "0.20000000000000001 (float64)")]),
        # The upper half of a double with few digits is a good float as well: both are told.
        ("<d", 0.25, 0.5, [
            (8, "0.25 (float64) or 1.625 (float32) at byte 12", "0.5 (float64) or 1.75 (float32) at byte 12")
        ]),
        ("<q", -1, 7, [(8, "-1 (int64)", "7 (int64)")]),
        ("<q", -1, -3, [(8, "-1 (int32)", "-3 (int32)")]),
        # A bool, a byte and a half in four bytes, which are no number that somebody wrote.
        ("<?be4x", (True, 3, 0.5), (True, -4, 0.5), [
            (8, "3.0520376e-05 (float32) or 3 (int8) at byte 9",
             "3.0752275e-05 (float32) or -4 (int8) at byte 9")
        ]),
        ("<?be4x", (True, 3, 0.5), (True, 3, 0.75), [
            (8, "3.0520376e-05 (float32) or 0.5 (float16) at byte 10",
             "0.000488326 (float32) or 0.75 (float16) at byte 10")
        ]),
        ("<bb", (1, 2), (1, 3), [(9, "2 (uint8)", "3 (uint8)")]),
        ("<2f", (1.5, 2), (1.5, 3), [(12, "2.0 (float32)", "3.0 (float32)")]),
        ("<2i", (1, 2), (3, 4), [(8, "1 (int32)", "3 (int32)"), (12, "2 (int32)", "4 (int32)")]),
    ],
)  # fmt: skip
def test_a_member_is_told_by_every_type_that_makes_sense(
    recorded: dict[str, Path], form: str, old: object, new: object, told: list[tuple[int, str, str]]
) -> None:
    argument = open_capture(recorded["struct_argument"]).operations[0].arguments[0]
    argument = dataclasses.replace(argument, arrays=())
    data = [bytes(8) + struct.pack(form, *(x if isinstance(x, tuple) else (x,))) for x in (old, new)]
    assert list(changed_members(argument, argument, *data)) == told


def test_stale_pointers_are_no_difference(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["struct_argument"])
    operations = capture.operations
    assert isinstance(operations, LazyOperations)
    launches = operations.table.launches
    data = bytearray(capture.data)
    for number, param in enumerate(launches.reloc_param.tolist()):
        at = int(launches.blob_base[param]) + int(launches.relocs["value_byte_offset"][number])
        data[at : at + 8] = b"\xab" * 8
    assert diff(capture, capture_from_bytes(bytes(data), capture.path)).equal


def test_a_changed_scalar(recorded: dict[str, Path]) -> None:
    # `scale2` runs as events 1 to 3 with 0.5, 1.5 and 2.5.
    capture = open_capture(recorded["launches"])
    argument = capture.operations[2].arguments[1]
    assert argument.value == 1.5
    changed = capture_from_bytes(
        with_bytes(capture.data, argument.offset, struct.pack("<f", 9.0)), capture.path
    )
    difference = diff(capture, changed)
    (change,) = difference.operations
    assert (change.kind, change.old, change.new, change.label) == (ChangeKind.CHANGED, 2, 2, "scale2")
    assert change.values == (ValueChange("argument 2", "1.5", "9"),)
    assert not (difference.regions or difference.modules or difference.header or difference.manifest)
    told = tell_difference(difference, capture, changed)
    assert "~ event 2  scale2\n      argument 2: 1.5 -> 9\n" in told
    assert told.endswith("\n1 operation changed\n")


def without(capture: Capture, events: Sequence[int]) -> Capture:
    """Return a capture without some operations of its top level."""
    operations = capture.operations
    assert isinstance(operations, LazyOperations)
    table = operations.table
    kept = [event for event in range(len(table)) if event not in events]
    stream = b"".join(
        capture.data[int(table.offsets[event]) : int(table.offsets[event] + table.sizes[event])]
        for event in kept
    )
    return capture_from_bytes(with_operations(capture.data, stream, len(kept)), capture.path)


def test_removed_and_added(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["launches"])
    shorter = without(capture, [2, 4])
    difference = diff(capture, shorter)
    assert [(change.kind, change.old, change.label) for change in difference.operations] == [
        (ChangeKind.REMOVED, 2, "scale2"),
        (ChangeKind.REMOVED, 4, "count3"),
    ]
    assert difference.pairs == ((0, 0), (1, 1), (3, 2), (5, 3))
    back = diff(shorter, capture)
    assert [(change.kind, change.new) for change in back.operations] == [
        (ChangeKind.ADDED, 2),
        (ChangeKind.ADDED, 4),
    ]
    assert summary(back) == "2 operations added"


def record_pair(tmp_path: Path, **second: object) -> tuple[Capture, Capture]:
    """Record a launch twice, the second time with something else."""
    from makers import Recorded, record, scale

    def one(size: int = 8, name: str = "x", fill: float = 0.0, view: int = 0, hidden: int = 3) -> Capture:
        def maker() -> Recorded:
            array, scratch = wp.array(np.full(size, fill, np.float32)), wp.zeros(hidden, dtype=float)
            part = array[view:]

            def body() -> None:
                wp.launch(scale, len(part), inputs=[part, 2.0])
                wp.launch(scale, hidden, inputs=[scratch, 3.0])

            return Recorded(body, {name: array})

        folder = tmp_path / f"{size}{name}{fill}{view}{hidden}"
        folder.mkdir()
        return open_capture(record(maker, folder))

    return one(), one(**second)  # type: ignore[arg-type]


def values(difference: Difference) -> list[tuple[str, str, str]]:
    changes = [value for change in difference.operations for value in change.values]
    changes += [value for region in difference.regions for value in region.values]
    return [(value.what, value.old, value.new) for value in changes]


def test_size(tmp_path: Path) -> None:
    assert values(diff(*record_pair(tmp_path, size=10))) == [
        ("dim", "[8]", "[10]"),
        ("argument 1", "x shape [8] strides [4]", "x shape [10] strides [4]"),
        ("bytes", "32", "40"),
        ("type", "float32 [8]", "float32 [10]"),
    ]


def test_contents(tmp_path: Path) -> None:
    assert values(diff(*record_pair(tmp_path, fill=0.5))) == [
        ("initial contents (8 elements, first [0])", "0", "0.5")
    ]


def test_name(tmp_path: Path) -> None:
    difference = diff(*record_pair(tmp_path, name="y"))
    assert [(change.kind, change.name) for change in difference.regions] == [
        (ChangeKind.REMOVED, "x"),
        (ChangeKind.ADDED, "y"),
    ]


def test_view(tmp_path: Path) -> None:
    assert ("argument 1", "x shape [8] strides [4]", "x from byte 8 shape [6] strides [4]") in values(
        diff(*record_pair(tmp_path, view=2))
    )


def test_a_region_without_a_name_keeps_its_partner(tmp_path: Path) -> None:
    difference = diff(*record_pair(tmp_path, hidden=5))
    assert [(change.kind, change.name) for change in difference.regions] == [(ChangeKind.CHANGED, "region 2")]
    assert {event for change in difference.operations for event in (change.old, change.new)} == {1}


def test_frames(frame_of: Callable[..., Path]) -> None:
    four, six = (open_capture(frame_of(substeps=count, solver="reference")) for count in (4, 6))
    assert diff(four, open_capture(four.path)).equal
    difference = diff(four, six)
    assert [(change.kind.value, change.label) for change in difference.operations] == [
        ("added", "wave_solve")
    ] * 2
    told = {value.what: (value.old, value.new) for value in difference.manifest}
    assert told["substeps"] == ("4", "6")
    assert any(change.name == "dt" for change in difference.regions)
    text = tell_difference(difference, four, six)
    assert "+ events 3 to 4  wave_solve" in text or "+ events 5 to 6  wave_solve" in text


def test_json(frame_of: Callable[..., Path]) -> None:
    four, six = (open_capture(frame_of(substeps=count, solver="reference")) for count in (4, 6))
    told = json.loads(json.dumps(difference_json(diff(four, six), four, six)))
    assert (told["schema"], told["schema_version"], told["equal"]) == ("ripplescope-diff", 1, False)
    assert [operation["change"] for operation in told["operations"]] == ["added", "added"]


def test_ten_thousand_operations(frame_of: Callable[..., Path]) -> None:
    path = frame_of(substeps=4, solver="reference")
    long = capture_from_bytes(repeat_operations(path.read_bytes(), 2000), path)
    cut = without(long, [500, 501, 502, 503, 504])
    start = time.process_time()
    difference = diff(long, cut)
    assert time.process_time() - start < 5.0  # 0.5 s where nothing else runs
    assert summary(difference) == "5 operations removed"
    data = bytearray(long.data)
    operations = long.operations
    assert isinstance(operations, LazyOperations)
    launches = operations.table.launches
    for param in (launches.param_start[:-1] + 2).tolist():  # the width, baked into every launch
        struct.pack_into("<i", data, int(launches.blob_base[param]), 25)
    difference = diff(long, capture_from_bytes(bytes(data), path))
    assert summary(difference) == "10000 operations changed"
    assert {change.values for change in difference.operations} == {(ValueChange("argument 3", "24", "25"),)}


@pytest.mark.parametrize("seed", range(30))
def test_alignment_is_in_order_and_as_long_as_possible(seed: int) -> None:
    random = np.random.default_rng(seed)
    a = random.integers(0, 4, random.integers(0, 40)).tolist()
    b = random.integers(0, 4, random.integers(0, 40)).tolist()
    pairs = align(a, b)
    assert all(a[one] == b[other] for one, other in pairs)
    assert all(one < two and other < more for (one, other), (two, more) in itertools.pairwise(pairs))
    longest = np.zeros((len(a) + 1, len(b) + 1), int)
    for one in range(len(a)):
        for other in range(len(b)):
            longest[one + 1, other + 1] = (
                longest[one, other] + 1
                if a[one] == b[other]
                else max(longest[one, other + 1], longest[one + 1, other])
            )
    assert len(pairs) >= 0.8 * longest[-1, -1]


def test_alignment_of_long_sequences_is_quick() -> None:
    start = time.process_time()
    same = [event % 17 for event in range(100_000)]
    assert len(align(same, [*same[:50000], 99, *same[50000:]])) == 100_000
    random = np.random.default_rng(0)
    a, b = (random.integers(0, 10, 10_000).tolist() for _ in range(2))
    assert len(align(a, b)) > 2000
    distinct = list(range(10_000))
    assert len(align(distinct, distinct[5000:] + distinct[:5000])) == 5000
    assert time.process_time() - start < 10.0
