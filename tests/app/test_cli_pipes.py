"""What a command found is told by its exit code, also when nobody reads what it prints."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_unread(*arguments: str, cwd: Path) -> tuple[int, str]:
    """Run the command with a standard output whose reader is gone; return exit code and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            cwd=cwd,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    finally:
        os.close(writer)
    return done.returncode, done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no broken pipes of this kind")
def test_the_exit_code_survives_a_reader_that_went_away(tmp_path: Path, frame_path: Path) -> None:
    from replay.graph.open import open_capture
    from replay.wrp.write import with_bytes

    capture = open_capture(frame_path)
    scalar = next(a for a in capture.operations[1].arguments if a.type == "float32")
    other = tmp_path / "other.wrp"
    other.write_bytes(with_bytes(capture.data, scalar.offset, b"\x00\x00\x80\x3f"))
    assert run_unread("diff", str(frame_path), str(other), cwd=tmp_path) == (1, "")
    assert run_unread("diff", str(frame_path), str(frame_path), cwd=tmp_path) == (0, "")
    code, told = run_unread("inspect", "nowhere.wrp", cwd=tmp_path)
    assert code == 2 and "no such file" in told
