"""Reading bytes: right values from good files; from damaged ones a Capture or one clear error, quickly."""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from replay.errors import CaptureFileError
from replay.graph.model import Capture
from replay.graph.open import capture_from_bytes
from replay.graph.tell import tell
from replay.wrp import layout
from replay.wrp.document import Document, parse
from replay.wrp.write import repeat_operations, with_operations

SOURCES = ("launches", "struct_argument", "indexed", "library", "sparse", "conditions", "mesh_handle")


@pytest.fixture(scope="module")
def sources(recorded: dict[str, Path]) -> dict[str, bytes]:
    """Return the bytes of the captures that are damaged."""
    return {name: recorded[name].read_bytes() for name in SOURCES}


def outcome(data: bytes, path: Path = Path("none/damaged.wrp")) -> Capture | None:
    """Open damaged bytes and look at everything; None if they are refused. Any other error is a failure."""
    try:
        capture = capture_from_bytes(data, path)
    except CaptureFileError as error:
        assert error.offset is not None and 0 <= error.offset <= len(data)
        assert error.field
        assert "\n" not in str(error)
        return None
    assert [operation.event for operation in capture.operations] == list(range(len(capture.operations)))
    tell(capture)
    return capture


def test_sections_and_counts(recorded: dict[str, Path]) -> None:
    document = parse(recorded["launches"].read_bytes())
    assert document.header.version == 18
    assert document.metadata is not None and document.operations is not None
    assert {kernel.key.value for kernel in document.metadata.kernels} == {
        "scale",
        "scale2",
        "count3",
        "count4",
    }
    assert [binding.name.value for binding in document.metadata.bindings] == [
        "line", "line_out", "plane", "solid", "four",
    ]  # fmt: skip
    assert sorted(region.nbytes for region in document.regions) == [28, 60, 64, 96]
    records = document.operations.launches.records
    assert records["shape"].tolist()[1] == [3, 5, 0, 0]
    assert records["size"].tolist() == [7, 15, 15, 15, 24, 16]


def test_every_record_type_has_the_size_of_the_definition() -> None:
    sizes = {kind: record.itemsize for kind, record in layout.RECORDS.items()}
    assert sizes == {
        1: 80, 2: 32, 3: 8, 4: 40, 5: 32, 6: 24, 7: 40, 8: 40, 9: 52, 10: 32, 11: 68, 12: 52, 13: 64, 14: 160,
        15: 116, 16: 64, 17: 24, 18: 24, 19: 64,
    }  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_cut_anywhere_is_refused(sources: dict[str, bytes], name: str) -> None:
    data = sources[name]
    document = parse(data)
    cuts = {0, 1, 3, 4, 40, 63, 64, 100, 159, len(data) - 1}
    for section in document.header.sections:
        cuts |= {section.offset - 1, section.offset, section.offset + 1, section.offset + section.nbytes - 1}
    for cut in sorted(cut for cut in cuts if cut < len(data)):
        assert outcome(data[:cut]) is None, cut


def test_every_header_byte_may_be_wrong(sources: dict[str, bytes]) -> None:
    data = sources["launches"]
    harmless = []
    for offset in range(160):
        for value in (0, 0x7F, 0xFF):
            if data[offset] == value:
                continue
            damaged = data[:offset] + bytes([value]) + data[offset + 1 :]
            capture = outcome(damaged)
            if capture is not None and len(capture.faults) == 1 and "modules" in str(capture.faults[0]):
                harmless.append(offset)
    # Only the flags of a section, which nothing reads, may change without a fault or a refusal.
    table = 64
    assert {(offset - table) % 32 in range(4, 8) and offset >= table for offset in harmless} <= {True}


@pytest.mark.parametrize("name", SOURCES)
def test_flipped_bytes_never_do_more_than_be_refused(sources: dict[str, bytes], name: str) -> None:
    data = sources[name]
    rng = np.random.default_rng(20_261_130)
    refused = 0
    for _ in range(150):
        damaged = bytearray(data)
        for offset in rng.integers(0, len(data), rng.integers(1, 9)):
            damaged[offset] = rng.choice([0, 0xFF, 0x80, int(rng.integers(0, 256))])
        refused += outcome(bytes(damaged)) is None
    assert 0 < refused < 150


def test_large_claims_cost_nothing(sources: dict[str, bytes]) -> None:
    data = sources["conditions"]
    document = parse(data)
    places = [section.offset for section in document.header.sections]
    places += list(range(160, len(data) - 4, 61))
    tracemalloc.start()
    start = time.perf_counter()
    for place in places:
        for number in (0xFFFFFFFF, 0x7FFFFFFF):
            outcome(data[:place] + struct.pack("<I", number) + data[place + 4 :])
    seconds = time.perf_counter() - start
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
    assert seconds / (2 * len(places)) < 1.0


def _nested(depth: int) -> bytes:
    stream = b""
    for _ in range(depth):
        size = 40 + len(stream)
        stream = struct.pack("<IIiIQIIII", 7, size, 1, 0, 0, len(stream), 1 if stream else 0, 0, 0) + stream
    return stream


def test_deep_nesting_is_read_to_the_depth_that_warp_allows(sources: dict[str, bytes]) -> None:
    data = sources["conditions"]
    capture = outcome(with_operations(data, _nested(1000), 1))
    assert capture is not None
    assert capture.operations[999].depth == 999
    with pytest.raises(CaptureFileError, match="nested deeper than 1024"):
        with_operations(data, _nested(3000), 1)


@pytest.mark.parametrize(
    ("stream", "count", "words"),
    [
        (struct.pack("<II", 99, 8), 1, "unknown operation type 99"),
        (struct.pack("<II", 1, 0), 1, "a size of 0 bytes"),
        (struct.pack("<II", 5, 4096), 1, "a size of 4096 bytes"),
        (struct.pack("<II", 5, 24) + bytes(16), 1, "at least 32"),
        (b"", 3, "3 operations claimed"),
        (struct.pack("<IIiIQQ", 6, 24, 1, 0, 0, 0)[:24] * 1 + b"xxxx", 1, "does not hold exactly"),
        (struct.pack("<IIiIQIIII", 8, 40, 1, 0, 0, 0, 0, 1, 1), 1, "branches of 0 and 1 bytes"),
        (struct.pack("<IIiIQIIII", 7, 40, 1, 0, 0, 0, 5, 0, 0), 1, "5 operations claimed in 0 bytes"),
        (struct.pack("<IIiIQQ", 2, 32, 1, 0, 0, 100), 1, "100 bytes of inline data"),
        (struct.pack("<IIiIQQ", 10, 32, 1, 0, 0, 1), 1, "0 bytes of inline data"),
        (struct.pack("<II", 16, 72) + bytes(64), 1, "a size of 72 bytes, 64 expected"),
    ],
)
def test_broken_streams_say_what_is_wrong(
    sources: dict[str, bytes], stream: bytes, count: int, words: str
) -> None:
    with pytest.raises(CaptureFileError) as caught:
        with_operations(sources["launches"], stream, count)
    assert words in str(caught.value)


def change(data: bytes, where: Callable[[Document], int], format: str, value: int) -> bytes:
    """Return the bytes with a number stored at a place."""
    damaged = bytearray(data)
    struct.pack_into(format, damaged, where(parse(data)), value)
    return bytes(damaged)


@pytest.mark.parametrize(
    ("place", "format", "value", "field"),
    [
        (64, "<H", 60000, "kernel_key_len"),
        (68, "<H", 60000, "num_params"),
        (72, "<I", 0xFFFFFFFF, "num_relocs"),
        (72, "<I", 1, "num_relocs"),
        (76, "<I", 0xFFFFFFFF, "value_data_size"),
    ],
)
def test_tables_of_a_launch_must_fit(
    sources: dict[str, bytes], place: int, format: str, value: int, field: str
) -> None:
    def where(document: Document) -> int:
        assert document.operations is not None
        return int(document.operations.offsets[0]) + place

    with pytest.raises(CaptureFileError) as caught:
        parse(change(sources["launches"], where, format, value))
    assert caught.value.offset == where(parse(sources["launches"]))
    assert caught.value.field == f"operations[0].{field}"


def test_a_hundred_thousand_operations_open_within_a_second(
    recorded: dict[str, Path], tmp_path: Path
) -> None:
    data = repeat_operations(recorded["launches"].read_bytes(), 100_000 // 6)
    best = min(_seconds(data, recorded["launches"]) for _ in range(3))
    assert best < 2.0  # the goal is 1 s of a quiet machine; processor time on a busy one may be twice that


def _seconds(data: bytes, path: Path) -> float:
    start = time.process_time()
    capture = capture_from_bytes(data, path)
    assert len(capture.operations) == 99_996
    assert not capture.faults
    return time.process_time() - start
