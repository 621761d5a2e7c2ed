from __future__ import annotations

import argparse
import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app import compare
from app.commands import check
from app.compare import largest_difference
from replay.errors import DeviceError, ReplayError, RipplescopeError, UsageError


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    check.add_arguments(parser)
    return check.run(parser.parse_args(arguments))


def test_a_capture_of_ours_is_compared_with_the_loop(
    frame_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(str(frame_path), "--frames", "5") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:4] for line in lines[1:4]] == [
        ["eager", "=", "live", "0"],
        ["eager", "=", "loaded", "0"],
        ["live", "=", "loaded", "0"],
    ]
    assert lines[4] == "frame.wrp on cpu: 5 frames agree (asked: equality bit for bit)"


def test_without_a_path_a_frame_is_recorded_and_removed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("--frames", "2", "--device", "cpu") == 0
    assert "2 frames agree" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_capture_is_compared_with_itself(
    frame_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(frame_path.parent, tmp_path, dirs_exist_ok=True)
    (tmp_path / "frame.json").unlink()
    assert run(str(tmp_path / "frame.wrp"), "--frames", "3") == 0
    text = capsys.readouterr().out
    assert "the eager loop and the live graph cannot be compared" in text
    assert "first load = second load" in text and "3 frames agree" in text


@pytest.mark.parametrize(
    "change",
    [{"radius": None}, {"dt": None}, {"k_damp": None}, {"k_speed": None}, {"magnitude": None}],
    ids=lambda change: next(iter(change)),
)
def test_a_manifest_without_the_numbers_to_move_is_told(
    frame_path: Path, tmp_path: Path, change: dict[str, object]
) -> None:
    shutil.copytree(frame_path.parent, tmp_path, dirs_exist_ok=True)
    value = json.loads((tmp_path / "frame.json").read_text())
    for entry in value["parameters"]:
        if entry["name"] in change:
            entry["default"] = change[entry["name"]]
    (tmp_path / "frame.json").write_text(json.dumps(value))
    with pytest.raises(ReplayError, match="no manifest of a wave frame"):
        run(str(tmp_path / "frame.wrp"), "--frames", "2")


@pytest.mark.parametrize(("name", "value"), [("dt", 1e200), ("k_speed", 1e308), ("k_damp", 1e308)])
def test_a_manifest_of_absurd_numbers_is_an_error_of_ours(
    frame_path: Path, tmp_path: Path, name: str, value: float
) -> None:
    shutil.copytree(frame_path.parent, tmp_path, dirs_exist_ok=True)
    manifest = json.loads((tmp_path / "frame.json").read_text())
    for entry in manifest["parameters"]:
        if entry["name"] == name:
            entry.update(default=value, maximum=value)
    (tmp_path / "frame.json").write_text(json.dumps(manifest))
    with pytest.raises(RipplescopeError):
        run(str(tmp_path / "frame.wrp"), "--frames", "2")


def test_a_difference_gives_exit_code_1_and_its_frame(
    frame_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    original: Callable[..., object] = compare.scripted_inputs
    calls = []

    def once(manifest: object, frame: int) -> object:
        calls.append(frame)
        return original(manifest, frame)

    def poke(a: np.ndarray, b: np.ndarray) -> float:
        return 0.5 if calls[-1] == 2 and a.dtype == np.int32 else largest_difference(a, b)

    monkeypatch.setattr(compare, "scripted_inputs", once)
    monkeypatch.setattr(compare, "largest_difference", poke)
    assert run(str(frame_path), "--frames", "5") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["eager", "=", "live", "0.5", "3", "clock"]
    assert "5 frames DIFFER" in lines[-1]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(UsageError, match="--frames is 0"):
        run("--frames", "0")
    with pytest.raises(DeviceError, match="unknown device 'gpu'"):
        run("--device", "gpu")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.5], 0.5),
        ([1.0, math.nan], [1.0, math.nan], 0.0),
        ([1.0, math.nan], [1.0, 2.0], math.inf),
        ([math.inf], [math.inf], 0.0),
        ([math.inf], [-math.inf], math.inf),
        ([0.0], [-0.0], math.ulp(0.0)),
    ],
)
def test_largest_difference_of_floats(a: list[float], b: list[float], expected: float) -> None:
    assert largest_difference(np.float32(a), np.float32(b)) == expected


def test_largest_difference_of_integers_does_not_wrap() -> None:
    assert largest_difference(np.uint8([0, 3]), np.uint8([255, 3])) == 255
    assert largest_difference(np.int32([-(2**31)]), np.int32([2**31 - 1])) == 2**32 - 1
