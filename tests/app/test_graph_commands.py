"""`inspect --svg`, `inspect --dot` and `diff`: output, exit codes, and what is not overwritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.cli import main


@pytest.fixture(scope="module")
def frames(frame_of: Callable[..., Path]) -> tuple[Path, Path]:
    """A frame of 4 and one of 6 substeps."""
    return frame_of(substeps=4, solver="reference"), frame_of(substeps=6, solver="reference")


def test_svg_to_a_file_and_to_standard_output(frames, tmp_path: Path, capsys) -> None:
    out = tmp_path / "graph.svg"
    assert main(["inspect", str(frames[0]), "--svg", str(out), "--theme", "dark"]) == 0
    assert capsys.readouterr().out == ""
    ElementTree.fromstring(out.read_text(encoding="utf-8"))
    assert main(["inspect", str(frames[0]), "--svg", "-"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("<svg ") and printed != out.read_text(encoding="utf-8")


def test_dot(frames, capsys) -> None:
    assert main(["inspect", str(frames[0]), "--dot", "-"]) == 0
    assert capsys.readouterr().out.startswith("digraph capture {")


@pytest.mark.parametrize("place", ["missing/graph.svg", ".", "frame.wrp"])
def test_a_place_that_cannot_be(frames, tmp_path: Path, monkeypatch, capsys, place: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["inspect", str(frames[0]), "--svg", place]) == 2
    error = capsys.readouterr().err
    assert error.startswith("ripplescope: ") and error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_capture_is_not_overwritten(frames, capsys, tmp_path: Path) -> None:
    link = tmp_path / "link.svg"
    link.symlink_to(frames[0])
    before = frames[0].read_bytes()
    assert main(["inspect", str(frames[0]), "--svg", str(link)]) == 2
    assert frames[0].read_bytes() == before


def test_equal(frames, capsys) -> None:
    assert main(["diff", str(frames[0]), str(frames[0])]) == 0
    assert "Equal: 5 operations" in capsys.readouterr().out


def test_different(frames, capsys) -> None:
    assert main(["diff", str(frames[0]), str(frames[1])]) == 1
    told = capsys.readouterr().out
    assert "2 operations added" in told and "substeps: 4 -> 6" in told
    assert main(["diff", str(frames[0]), str(frames[1]), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["equal"] is False


def test_bad_input(frames, tmp_path: Path, capsys) -> None:
    assert main(["diff", str(frames[0]), str(tmp_path / "none.wrp")]) == 2
    assert "no such file" in capsys.readouterr().err
    future = bytearray(frames[0].read_bytes())
    future[4] = 19
    other = tmp_path / "future.wrp"
    other.write_bytes(future)
    assert main(["diff", str(frames[0]), str(other)]) == 2
    assert "format version 19 cannot be compared" in capsys.readouterr().err
