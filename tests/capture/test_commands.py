"""`ripplescope capture` and `ripplescope audit`: output, exit codes, and one clear line for bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli import main


def test_capture(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "x.WRP"
    sizes = ["--width", "24", "--height", "16", "--substeps", "3"]
    assert main(["capture", *sizes, "--device", "cpu", "--output", str(output)]) == 0
    out, err = capfd.readouterr()
    assert out == f"{tmp_path / 'x.wrp'}: 24 x 16 cells, 3 substeps, 4 launches\n"
    assert err == ""
    assert {entry.name for entry in tmp_path.iterdir()} == {"x.wrp", "x.json", "x_modules"}


def test_the_path_of_a_capture_is_told_without_detours(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "b")
    sizes = ["--width", "24", "--height", "16", "--substeps", "3"]
    assert main(["capture", *sizes, "--device", "cpu", "--output", "../x"]) == 0
    assert capfd.readouterr().out.startswith(f"{tmp_path.resolve() / 'x.wrp'}: 24 x 16")


def test_capture_tells_of_another_frame_rate(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", "--substeps", "1", "--device", "cpu", "--output", str(tmp_path / "x")]) == 0
    assert "note: a frame of 1/60 s would be unstable" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--width", "0"], "width is 0; sides go from 3 to 8192 cells"),
        (["--height", "-4"], "height is -4; sides go"),
        (["--width", "wide"], "argument --width: 'wide' is not a whole number"),
        (["--width", "12.5"], "argument --width: '12.5' is not a whole number"),
        (["--height", "nan"], "argument --height: 'nan' is not a whole number"),
        (["--width", "9" * 400], "width is about 10^400; sides go from 3 to 8192 cells"),
        (["--width", "9" * 9000], "is not a whole number"),
        (["--width", "1_6"], "argument --width: '1_6' is not a whole number"),
        (["--width", "٣٢"], "argument --width: '٣٢' is not a whole number"),
        (["--width", " 32"], "argument --width: ' 32' is not a whole number"),
        (["--width", "+32"], "argument --width: '+32' is not a whole number"),
        (["--width", "100000", "--height", "100000"], "needs 74.5 GiB of memory"),
        (["--substeps", "0"], "substeps is 0; take 1 to 10000"),
        (["--device", "gpu"], "unknown device 'gpu'; use auto, cpu, cuda or cuda:N"),
        (["--device", "cuda:77"], "device 'cuda:77'"),
        (["--solver", "best"], "unknown solver 'best'"),
        (["--color"], "unrecognized arguments: --color"),
    ],
)
def test_bad_input(tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str], said: str) -> None:
    assert main(["capture", "--output", str(tmp_path / "x"), *options]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("ripplescope: ") and err.count("\n") == 1
    assert said in err
    assert len(err) < 600
    assert not list(tmp_path.iterdir())


def test_output_is_required(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["capture"]) == 2
    assert "--output" in capfd.readouterr().err


def test_output_that_ends_like_a_folder(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["capture", "--device", "cpu", "--output", f"{tmp_path}/new/"]) == 2
    assert "names a folder, not a file" in capfd.readouterr().err
    assert not list(tmp_path.iterdir())


def test_folder_in_the_way(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.wrp").mkdir()
    assert main(["capture", "--device", "cpu", "--output", str(tmp_path / "x")]) == 2
    assert "x.wrp is in the way: it is a folder" in capfd.readouterr().err


def test_audit_shows_the_classic_case(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--device", "cpu"]) == 0
    out, err = capfd.readouterr()
    even, odd = out.split("== 49 substeps")
    assert err == ""
    assert "self.sim_tick: counter" in even and "swapped" not in even
    assert "eager 150, replay 150: the same" in even
    assert "self.states[0], self.states[1]: swapped references" in odd
    assert "eager 147, replay 145: 2 lost" in odd


def test_audit_as_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "--device", "cpu", "--json", "--substeps", "4", "--substeps", "3"]) == 0
    four, three = json.loads(capfd.readouterr().out)
    assert [finding["kind"] for finding in four["findings"]] == ["counter"]
    assert [finding["kind"] for finding in three["findings"]] == ["counter", "swapped references"]
    assert (three["eager_steps"], three["replayed_steps"]) == (9, 7)


@pytest.mark.parametrize("substeps", ["0", "-1", "many", "1000000"])
def test_audit_bad_substeps(capfd: pytest.CaptureFixture[str], substeps: str) -> None:
    assert main(["audit", "--substeps", substeps]) == 2
    err = capfd.readouterr().err
    assert "is not a whole number from 1 to 10000" in err and err.count("\n") == 1
