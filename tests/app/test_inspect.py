"""`ripplescope inspect`: readable, complete as JSON, exit code 0 for what opens and 2 for what is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app import cli
from replay.graph.open import open_capture
from replay.wrp.write import with_bytes


def run(path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool = False) -> str:
    """Run the command and return what it prints."""
    assert cli.main(["inspect", str(path), *(["--json"] if as_json else [])]) == 0
    return capsys.readouterr().out


def test_the_frame_is_told(frame_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = run(frame_path.with_suffix(""), capsys)
    assert "device      CPU" in text
    assert "operations  5 (5 at the top level)" in text
    assert "No fault found." in text
    assert "24 x 16 cells" in text
    assert " x 4" in text  # the four substeps are folded
    assert "heights = heights_out" in text
    assert "inferred" not in text.split("Parameters")[1].split("Regions")[0]
    assert "read and written, known  region 1 heights" in text and "assumed" not in text
    assert max(map(len, text.splitlines())) < 200


def test_json_is_complete(frame_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: dict[str, Any] = json.loads(run(frame_path, capsys, as_json=True))
    assert told["schema"] == "ripplescope-inspect" and told["operation_count"] == 5
    assert [operation["event"] for operation in told["operations"]] == [0, 1, 2, 3, 4]
    launch = told["operations"][1]
    assert launch["type"] == "KERNEL_LAUNCH" and launch["dim"]
    assert all(argument["inferred"] is False and argument["name"] for argument in launch["arguments"])
    assert {use["provenance"] for use in launch["uses"]} == {"known"}
    assert all(region["inferred"] is False for region in told["regions"] if region["names"])
    assert told["faults"] == [] and len(told["folded"]) == 2


def test_without_a_manifest_types_are_marked_inferred(
    frame_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bare.wrp").write_bytes(frame_path.read_bytes())
    text = run(tmp_path / "bare", capsys)
    assert "Wrong, replay refused" in text and "the folder of modules is missing" in text
    assert "manifest    none" in text
    assert "read and written, assumed  region 1 heights" in text and ", known  region" not in text
    told = json.loads(run(tmp_path / "bare", capsys, as_json=True))
    assert all(region["inferred"] for region in told["regions"])
    assert [fault["blocks_replay"] for fault in told["faults"]] == [True]


def test_names_cannot_steer_a_terminal(
    frame_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = frame_path.read_bytes().replace(b"heights_prev", b"h\x1b[31m_prev\n")
    (tmp_path / "odd.wrp").write_bytes(data)
    text = run(tmp_path / "odd.wrp", capsys)
    assert "\x1b" not in text and "h\\x1b[31m_prev\\x0a" in text


def test_a_refused_file_exits_with_2_and_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "zip.wrp").write_bytes(b"PK\x03\x04" + bytes(100))
    assert cli.main(["inspect", str(tmp_path / "zip.wrp")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("ripplescope: ") and printed.err.count("\n") == 1
    assert "offset 0 (header.magic)" in printed.err
    assert cli.main(["inspect", str(tmp_path)]) == 2
    assert "folder" in capsys.readouterr().err


def test_a_folded_run_tells_what_its_launches_do_not_share(
    tmp_path: Path, frame_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "region 1 heights/heights_out shape [16, 24] and in turn" in run(frame_path, capsys)
    capture = open_capture(frame_path)
    solves = [op for op in capture.operations if op.index > 0]
    scalar = next(a for a in solves[0].arguments if a.type == "float32")
    data = capture.data
    for number, op in enumerate(solves):
        at = op.arguments[scalar.index].offset
        data = with_bytes(data, at, np.float32(0.1 * (number + 1)).tobytes())
    edited = tmp_path / "edited.wrp"
    edited.write_bytes(data)
    assert f"0.1 to 0.4, {len(solves)} values, first 0.1" in run(edited, capsys)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems take only UTF-8 in file names")
def test_a_path_that_is_no_utf8_is_told_as_valid_text(
    frame_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / os.fsdecode(b"caf\xe9")
    odd.with_suffix(".wrp").write_bytes(frame_path.read_bytes())
    text = run(odd, capsys, as_json=True)
    told = json.loads(text.encode("utf-8"))  # fails for a lone surrogate
    assert Path(told["path"]).name == "caf\\xe9.wrp" and told["modules_folder"] == "caf\\xe9_modules"
    assert "caf\\xe9.wrp" in run(odd, capsys).encode("utf-8").decode()
