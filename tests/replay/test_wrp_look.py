"""Large files: what they hold is looked at before they are read, and memory is taken once."""

from __future__ import annotations

import struct
from pathlib import Path

import fat
import pytest

from replay.errors import CaptureFileError
from replay.graph import open as opening
from replay.graph.open import open_capture
from replay.wrp.files import Peek

GIB = 1 << 30
CELL = fat.region(1, b"\1\2\3\4")


@pytest.fixture
def no_whole_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file be looked at, but never read whole."""
    look = opening.look_over

    def only_look(peek: Peek, *, path: str) -> None:
        look(peek, path=path)
        raise AssertionError("would have been read whole")

    monkeypatch.setattr(opening, "look_over", only_look)


def _sparse(path: Path, head: bytes, nbytes: int) -> Path:
    with path.open("wb") as file:
        file.write(head)
        file.truncate(nbytes)  # a hole: takes no disk
    return path


def _grown(data: bytes, section: int, nbytes: int) -> bytes:
    """Return a file whose section claims all up to its new end."""
    raw = bytearray(data)
    entry = 64 + 32 * section
    (offset,) = struct.unpack_from("<Q", raw, entry + 8)
    struct.pack_into("<QQ", raw, entry + 16, nbytes - offset, nbytes - offset)
    return bytes(raw)


@pytest.mark.usefixtures("no_whole_reads")
@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"", r"not a \.wrp file: it starts with b'\\x00\\x00\\x00\\x00'"),
        (b"MZ" * 40, r"not a \.wrp file"),
        (fat.build(regions=[CELL]), r"8589934358 of its 8589934592 bytes .* end at 234; cut the file there"),
        (_grown(fat.build(), 0, 8 * GIB), "8589934394 bytes follow the last record of the metadata"),
        (_grown(fat.build(), 1, 8 * GIB), "8589934390 bytes follow the last region"),
        (_grown(fat.build(), 2, 8 * GIB), "operations of 8589934390 bytes, but at most 1073741824 are read"),
    ],
    ids=["zeros", "another format", "valid, then a hole", "metadata", "memory", "operations"],
)
def test_a_file_of_8_gib_is_refused_by_its_small_parts(head: bytes, reason: str, tmp_path: Path) -> None:
    path = _sparse(tmp_path / "large.wrp", head, 8 * GIB)
    with pytest.raises(CaptureFileError, match=reason):
        open_capture(path)


def test_some_bytes_in_no_section_are_read_and_told(tmp_path: Path) -> None:
    path = tmp_path / "longer.wrp"
    path.write_bytes(fat.build(regions=[CELL]) + bytes(5000))
    capture = open_capture(path)
    assert [fault.what for fault in capture.faults if fault.where == "file"] == [
        "5000 of the file's 5234 bytes are in none of its sections; nothing reads them"
    ]
    assert not capture.blocking_faults


def test_a_large_sound_file_is_looked_at_and_read(tmp_path: Path) -> None:
    contents = bytes(range(256)) * (20 << 12)
    path = tmp_path / "sound.wrp"
    path.write_bytes(fat.build(regions=[CELL, fat.region(2, contents)]))
    capture = open_capture(path)
    assert capture.regions[2].nbytes == len(contents) == 20 << 20
    assert capture.data == path.read_bytes() and not capture.blocking_faults


def test_a_file_larger_than_the_free_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "sound.wrp"
    path.write_bytes(fat.build(regions=[CELL]))
    monkeypatch.setattr(opening, "available_memory", lambda: 100)
    with pytest.raises(CaptureFileError, match="its 234 bytes are read whole, but only 100 bytes of memory"):
        open_capture(path)
