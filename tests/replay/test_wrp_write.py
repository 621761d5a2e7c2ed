"""Writing another operation stream: what comes out is a capture, for our reader and for Warp's loader."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from replay.errors import CaptureFileError, UsageError
from replay.graph.open import capture_from_bytes, open_capture
from replay.wrp.document import parse
from replay.wrp.write import prefix, repeat_operations, with_bytes, with_operations


def modules_of(path: Path) -> dict[str, bytes]:
    """Return the recorded module files of a capture."""
    capture = open_capture(path)
    return {module.file: (capture.modules_folder / module.file).read_bytes() for module in capture.modules}


def replayed(data: bytes, path: Path, name: str) -> np.ndarray:
    """Return a float32 parameter after Warp has loaded the bytes and launched them once."""
    import warp as wp

    graph = wp.capture_load_from_bytes(data, modules_of(path), device="cpu")
    wp.capture_launch(graph)
    region = next(b.region for b in parse(data).metadata.bindings if b.name.value == name)  # type: ignore[union-attr]
    nbytes = next(r.nbytes for r in parse(data).regions if r.id == region)
    value = np.zeros(nbytes // 4, np.float32)
    graph.get_param(name, wp.array(value, device="cpu", copy=False))
    return value


def initial(path: Path, name: str) -> np.ndarray:
    """Return the contents that the file holds for a parameter."""
    capture = open_capture(path)
    region = next(capture.regions[binding.region] for binding in capture.bindings if binding.name == name)
    assert region.data_offset is not None
    return np.frombuffer(capture.data, np.float32, region.nbytes // 4, region.data_offset)


@pytest.mark.parametrize("k", range(7))
def test_a_prefix_holds_the_first_operations_and_loads_in_warp(recorded: dict[str, Path], k: int) -> None:
    path = recorded["launches"]
    short = prefix(path.read_bytes(), k)
    capture, whole = capture_from_bytes(short, path), open_capture(path)
    assert [op.label for op in capture.operations] == [op.label for op in whole.operations][:k]
    assert not capture.blocking_faults
    # plane is scaled by 0.5, 1.5 and 2.5 in operations 1, 2 and 3.
    factor = np.float32(1.0)
    expected = initial(path, "plane").copy()
    for factor in (0.5, 1.5, 2.5)[: max(0, min(k - 1, 3))]:
        expected = expected * np.float32(factor)
    np.testing.assert_array_equal(replayed(short, path, "plane"), expected)


def test_a_prefix_keeps_conditionals_whole(recorded: dict[str, Path]) -> None:
    path = recorded["conditions"]
    capture = capture_from_bytes(prefix(path.read_bytes(), 2), path)
    assert [op.kind.name for op in capture.operations] == [
        "KERNEL_LAUNCH", "WHILE", "KERNEL_LAUNCH", "IF", "KERNEL_LAUNCH", "KERNEL_LAUNCH",
    ]  # fmt: skip
    expected = initial(path, "x") * np.float32(1.5)
    for _ in range(3):
        expected = expected * np.float32(2.0)
    np.testing.assert_array_equal(replayed(capture.data, path, "x"), expected)


def test_a_scalar_can_be_rewritten(recorded: dict[str, Path]) -> None:
    path = recorded["launches"]
    capture = open_capture(path)
    argument = capture.operations[0].arguments[1]
    assert argument.value == 2.0
    edited = with_bytes(capture.data, argument.offset, struct.pack("<f", -3.0))
    assert capture_from_bytes(edited, path).operations[0].arguments[1].value == -3.0
    np.testing.assert_array_equal(replayed(edited, path, "line"), initial(path, "line") * np.float32(-3.0))


def test_repeats(recorded: dict[str, Path]) -> None:
    path = recorded["conditions"]
    data = path.read_bytes()
    assert repeat_operations(data, 1) == data
    five = capture_from_bytes(repeat_operations(data, 5), path)
    assert len(five.operations) == 5 * 7 and len(five.top_level) == 15
    assert len(capture_from_bytes(repeat_operations(data, 0), path).operations) == 0


def test_a_section_behind_the_operations_moves_along(recorded: dict[str, Path]) -> None:
    data = bytearray(recorded["launches"].read_bytes())
    document = parse(bytes(data))
    # Put the metadata behind everything else: its old place stays as a hole.
    first = document.header.sections[0]
    assert first.type == 1
    moved = len(data)
    data += data[first.offset : first.offset + first.nbytes]
    struct.pack_into("<Q", data, first.entry + 8, moved)
    longer = repeat_operations(bytes(data), 3)
    again = parse(longer)
    assert again.metadata is not None and again.operations is not None
    assert again.metadata.producer == parse(longer).metadata.producer  # type: ignore[union-attr]
    assert len(again.operations) == 18
    assert again.header.sections[0].offset == moved + 2 * (document.header.sections[2].nbytes - 4)


def test_nonsense_is_refused(recorded: dict[str, Path]) -> None:
    data = recorded["launches"].read_bytes()
    with pytest.raises(UsageError, match="first 7 operations of 6"):
        prefix(data, 7)
    with pytest.raises(UsageError):
        repeat_operations(data, -1)
    with pytest.raises(UsageError):
        repeat_operations(data, 1 << 32)
    with pytest.raises(UsageError):
        with_bytes(data, len(data) - 1, b"ab")
    with pytest.raises(CaptureFileError):
        with_operations(data[:100], b"", 0)
    with pytest.raises(CaptureFileError, match="format version 19"):
        prefix(data[:4] + b"\x13" + data[5:], 0)
