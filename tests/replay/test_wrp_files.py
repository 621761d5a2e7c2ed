"""Opening files: only regular ones, never waiting, one clear error for everything else."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from replay.errors import CaptureFileError
from replay.wrp.files import capture_path, read_regular_file


def refused(path: Path, **limits: int) -> str:
    """Return the error text of a file that is not read."""
    with pytest.raises(CaptureFileError) as caught:
        read_regular_file(path, **limits)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "a.wrp"
    file.write_bytes(bytes(range(256)) * 100)
    assert read_regular_file(file) == bytes(range(256)) * 100
    (tmp_path / "b.wrp").symlink_to(file)
    assert read_regular_file(tmp_path / "b.wrp") == file.read_bytes()


def test_what_is_no_regular_file_is_named(tmp_path: Path) -> None:
    assert "no such file" in refused(tmp_path / "none.wrp")
    assert "folder" in refused(tmp_path)
    (tmp_path / "loop.wrp").symlink_to(tmp_path / "loop.wrp")
    assert "symbolic links" in refused(tmp_path / "loop.wrp")
    (tmp_path / "dangling.wrp").symlink_to(tmp_path / "none")
    assert "no such file" in refused(tmp_path / "dangling.wrp")
    assert "not a path" in refused(Path("a\0b"))
    assert "File name too long" in refused(tmp_path / ("n" * 300))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_a_socket_and_a_device_never_wait(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wrp")
    assert "named pipe" in refused(tmp_path / "pipe.wrp")
    assert "device" in refused(Path("/dev/zero"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        assert "s: " in refused(tmp_path / "s")


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads files without permission all the same"
)
def test_a_file_without_permission_gives_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "secret.wrp"
    file.write_bytes(b"WRP1")
    file.chmod(0)
    assert "ermission" in refused(file)


def test_the_size_limit_is_named_before_anything_is_read(tmp_path: Path) -> None:
    file = tmp_path / "large.wrp"
    with file.open("wb") as handle:
        handle.truncate(20 << 30)  # a hole: takes no disk
    text = refused(file)
    assert str(20 << 30) in text and str(8 << 30) in text
    assert "11 bytes are more than the limit of 10 bytes" in refused(_eleven(tmp_path), limit=10)


def _eleven(folder: Path) -> Path:
    file = folder / "eleven"
    file.write_bytes(bytes(11))
    return file


def test_the_extension_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "frame.wrp").write_bytes(b"")
    assert capture_path(tmp_path / "frame") == tmp_path / "frame.wrp"
    assert capture_path(str(tmp_path / "frame.wrp")) == tmp_path / "frame.wrp"
    (tmp_path / "frame").mkdir()
    assert capture_path(tmp_path / "frame") == tmp_path / "frame.wrp"
    (tmp_path / "other.bin").write_bytes(b"")
    assert capture_path(tmp_path / "other.bin") == tmp_path / "other.bin"
    assert capture_path(tmp_path / "missing") == tmp_path / "missing.wrp"
