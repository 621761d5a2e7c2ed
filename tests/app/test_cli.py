"""The command line as a user meets it: exit codes, one line an error, nothing left behind."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[2]


def ripplescope(
    *arguments: str, cwd: Path, timeout: float = 120, redirect: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder of its own, with the caches of this test session.

    `redirect` is shell text such as `>/dev/full`; `variables` are added to the environment.
    """
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    environment.pop("PYTHONUNBUFFERED", None)
    command = [sys.executable, "-m", "app", *arguments]
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {redirect}', "sh", *command] if redirect else command,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the error, which must be one line of its own and nothing on standard output."""
    assert done.returncode == 2, done
    assert "Traceback" not in done.stderr
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("ripplescope: "), done.stderr
    return lines[0]


@pytest.fixture(scope="module")
def caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's folders of all runs here, so that the demo frame is recorded once."""
    return tmp_path_factory.mktemp("user")


@pytest.fixture(autouse=True)
def user_folders(caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(caches / variable))
    monkeypatch.delenv("RIPPLESCOPE_DATA_DIR", raising=False)


def test_smoke_without_a_graph_records_replays_checks_and_leaves_nothing_behind(tmp_path: Path) -> None:
    first = ripplescope("--smoke", "--device", "cpu", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    lines = first.stdout.splitlines()
    assert lines[-1] == "smoke OK (10 graph launches)"
    digest = next(line for line in lines if line.startswith("digest"))
    assert re.fullmatch(r"digest    [0-9a-f]{16}", digest)
    sizes = {row.split()[0]: row for row in lines if row.endswith("bytes")}
    assert sizes["heights"].endswith(" 65,536 bytes") and sizes["mouse_pos"].endswith(" 8 bytes")
    assert "equal bit for bit" in first.stdout
    second = ripplescope("--smoke", "--device", "cpu", cwd=tmp_path)
    assert digest in second.stdout, "the same frames give the same digest"
    assert list(tmp_path.iterdir()) == []


def test_smoke_of_a_foreign_capture_wants_trust_and_then_replays(tmp_path: Path, frame_path: Path) -> None:
    # recorded by this test session, not by the command, so the command has never seen it
    assert "--trust" in one_line(ripplescope("--smoke", "--graph", str(frame_path), cwd=tmp_path))
    done = ripplescope("--smoke", "--trust", "--graph", str(frame_path), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "smoke OK (10 graph launches)"


def ring_centre(picture: np.ndarray) -> tuple[float, float]:
    """Return the centre (x, y) of everything that is not still water, as a share of the picture."""
    grey = picture.astype(float).mean(axis=2)
    still = np.median(grey)
    y, x = np.nonzero(abs(grey - still) > 12)
    return (x.min() + x.max()) / 2 / grey.shape[1], (y.min() + y.max()) / 2 / grey.shape[0]


@pytest.mark.parametrize("cell", [(64, 64), (40, 80), (90, 50)])
def test_the_top_view_shows_a_ring_centred_where_it_was_clicked(
    tmp_path: Path, cell: tuple[int, int]
) -> None:
    out = tmp_path / "ring.png"
    done = ripplescope(
        "--headless", "--top-view", "--device", "cpu", "--frames", "16", "--size", "256x256",
        "--click", f"{cell[0]},{cell[1]}", "--screenshot", str(out), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    picture = np.asarray(Image.open(out).convert("RGB"))
    assert picture.shape == (256, 256, 3)
    x, y = ring_centre(picture)
    assert x * 128 - 0.5 == pytest.approx(cell[0], abs=2)
    assert y * 128 - 0.5 == pytest.approx(cell[1], abs=2)


@pytest.mark.parametrize("extra", [[], ["--top-view"]], ids=["OpenGL or not", "top view"])
def test_headless_says_what_it_replayed_and_wrote(tmp_path: Path, extra: list[str]) -> None:
    done = ripplescope(
        "--headless", "--device", "cpu", "--frames", "1", "--size", "64x48", *extra,
        "--screenshot", "out.png", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    replayed, picture = done.stdout.splitlines()
    assert re.fullmatch(r"replayed  1 frame of wave-128x128x16\S+\.wrp on cpu", replayed)
    assert picture == "picture   out.png (64x48)"


def test_a_lost_record_of_trust_asks_nothing_about_the_demo(tmp_path: Path, caches: Path) -> None:
    assert ripplescope("--headless", "--device", "cpu", "--frames", "1", cwd=tmp_path).returncode == 0
    shutil.rmtree(caches / "XDG_DATA_HOME")
    done = ripplescope("--headless", "--device", "cpu", "--frames", "1", cwd=tmp_path)
    assert done.returncode == 0 and "recording 128x128" in done.stderr, done.stderr


def test_a_parameter_from_the_command_line_changes_the_picture(tmp_path: Path) -> None:
    arguments = [
        "--headless",
        "--top-view",
        "--device",
        "cpu",
        "--frames",
        "12",
        "--size",
        "64x64",
        "--click",
        "64,64",
    ]
    for name, extra in (("slow", ["--param", "k_speed=10"]), ("fast", ["--param", "k_speed=200"])):
        done = ripplescope(*arguments, *extra, "--screenshot", f"{name}.png", cwd=tmp_path)
        assert done.returncode == 0, done.stderr

    def width(name: str) -> int:
        grey = np.asarray(Image.open(tmp_path / name).convert("L")).astype(float)
        return int(np.ptp(np.nonzero(abs(grey - np.median(grey)) > 8)[1]))

    assert width("fast.png") > 2 * width("slow.png") > 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--device", "tpu", "--smoke"], "unknown device 'tpu'"),
        (["--smoke", "nowhere.wrp"], "no such file"),
        (["--smoke", "--graph", "."], "folder"),
        (["a.wrp", "--graph", "b.wrp"], "two captures"),
        (["--headless", "--frames", "0"], "not a count"),
        (["--headless", "--frames", "many"], "not a count"),
        (["--headless", "--size", "8x8"], "not a size"),
        (["--headless", "--click", "1;2"], "not a place"),
        (["--headless", "--click", "nan,2"], "not a place"),
        (["--headless", "--param", "k_speed"], "not NAME=VALUE"),
        (["--headless", "--screenshot", "x.jpg"], "not a .png"),
        (["--headless", "--screenshot", "no/x.png"], "no folder"),
        (["--headless", "--screenshot", "x" * 300 + ".png"], "File name too long"),
        (["--headless", "--screenshot", "a\nb/c.png"], "there is no folder a b"),
        (["--headless", "--frames", "1_0"], "not a count"),
        (["--headless", "--frames", "٣"], "not a count"),
        (["--headless", "--size", "٣٢x٣٢"], "not a size"),
        (["--headless", "--click", "1_0,2"], "not a place"),
        (["--headless", "--param", "k_speed=6_0"], "not NAME=VALUE"),
        (["inspect", "nowhere", "--dot", "x"], "no such file"),
        (["check", "--frames", "1_0"], "'1_0' is not a whole number"),
        (["audit", "--substeps", "٣"], "is not a whole number"),
        (["bench", "--grids", "6" * 5000], "no list of grids"),
        (["--screenshot", "x.png"], "--headless"),
        (["--nonsense"], "unrecognized arguments"),
        (
            ["--headless", "--top-view", "--size", "16384x16384", "--screenshot", "x.png", "--device", "cpu"],
            "at most 67,108,864",
        ),
        (["--headless", "--top-view", "--device", "cpu", "--click", "500,2"], "outside the grid"),
        (["--headless", "--top-view", "--device", "cpu", "--click", "5,2@99"], "the last frame is 59"),
        (["--headless", "--top-view", "--device", "cpu", "--param", "k_sped=1"], "did you mean 'k_speed'"),
        (["--headless", "--top-view", "--device", "cpu", "--param", "k_speed=1e9"], "outside its range"),
        (["--headless", "--top-view", "--device", "cpu", "--param", "k_speed=nan"], "not finite"),
        (["--headless", "--top-view", "--device", "cpu", "--param", "clock=1.5"], "int32"),
        (["--headless", "--top-view", "--device", "cpu", "--param", "k_speed=1,2"], "shape"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, arguments: list[str], words: str) -> None:
    assert words in one_line(ripplescope(*arguments, cwd=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_values_that_are_unstable_together_are_refused(tmp_path: Path) -> None:
    line = one_line(
        ripplescope(
            "--headless", "--top-view", "--device", "cpu", "--param", "dt=0.008", "--param", "k_speed=200",
            cwd=tmp_path,
        )
    )  # fmt: skip
    assert "stability limit" in line or "outside its range" in line


def test_help_is_quick_to_import_and_lists_every_command(tmp_path: Path) -> None:
    from app.cli import COMMANDS

    done = ripplescope("--help", cwd=tmp_path)
    assert done.returncode == 0
    for name in COMMANDS:
        assert re.search(rf"^  {name} ", done.stdout, re.M)
        assert ripplescope(name, "--help", cwd=tmp_path).returncode == 0


needs_dev_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")


@needs_dev_full
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [["inspect", "FRAME"], ["inspect", "FRAME", "--json"], ["--help"], ["--smoke", "--trust", "FRAME"]],
)
def test_a_full_disk_behind_the_output_is_one_line(
    tmp_path: Path, frame_path: Path, arguments: list[str], unbuffered: str
) -> None:
    arguments = [str(frame_path) if argument == "FRAME" else argument for argument in arguments]
    done = ripplescope(*arguments, cwd=tmp_path, redirect=">/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert one_line(done) == "ripplescope: cannot write the output: No space left on device"


@needs_dev_full
def test_errors_that_cannot_be_told_keep_their_exit_code(tmp_path: Path) -> None:
    done = ripplescope("inspect", "nowhere", cwd=tmp_path, redirect="2>/dev/full")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


@pytest.mark.skipif(os.name == "nt", reason="needs a shell that closes descriptors")
def test_closed_streams(tmp_path: Path, frame_path: Path) -> None:
    before = frame_path.read_bytes()
    done = ripplescope("inspect", str(frame_path), cwd=tmp_path, redirect=">&-")
    assert (done.returncode, done.stderr) == (0, "")
    done = ripplescope("--smoke", "--trust", str(frame_path), cwd=tmp_path, redirect=">&- 2>&- <&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert ripplescope("inspect", "nowhere", cwd=tmp_path, redirect=">&- 2>&-").returncode == 2
    assert frame_path.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_names_that_the_terminal_cannot_show(
    tmp_path: Path, frame_path: Path, variables: dict[str, str]
) -> None:
    name = tmp_path / "welle\U0001f30a.wrp"
    name.write_bytes(frame_path.read_bytes())
    done = ripplescope("inspect", str(name), cwd=tmp_path, **variables)
    assert done.returncode == 0, done.stderr
    assert "welle\\" in done.stdout.splitlines()[0] and done.stdout.isascii()


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, frame_path: Path) -> None:
    done = ripplescope("inspect", str(frame_path), "--json", cwd=tmp_path, redirect="| head -c 1")
    assert (done.stdout, done.stderr) == ("{", "")


@pytest.mark.parametrize("value", ["relative", "./here", ""])
def test_relative_user_folders_are_ignored(tmp_path: Path, value: str) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    work.mkdir()
    home.mkdir()
    folders = dict.fromkeys(("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), value)
    done = ripplescope("--smoke", "--device", "cpu", cwd=work, HOME=str(home), **folders)
    assert done.returncode == 0, done.stderr
    assert list(work.iterdir()) == []
    assert {path.name for path in (home / ".cache").iterdir()} == {"ripplescope", "warp"}


@pytest.fixture(scope="module")
def no_water(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture with no height field, whose one array has a name that would fake the output."""
    folder = tmp_path_factory.mktemp("water")
    code = (
        "import warp as wp; x = wp.zeros(4, dtype=float, device='cpu')\n"
        "with wp.ScopedCapture('cpu', apic=True) as capture: x.fill_(1.0)\n"
        f"wp.capture_save(capture.graph, {str(folder / 'odd')!r}, inputs={{{EVIL!r}: x}})"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return folder / "odd.wrp"


EVIL = "y\x1b[2J\rsmoke OK (10 graph launches)\n"
SPELLED = r"y\x1b[2J\x0dsmoke OK (10 graph launches)\x0a"


def test_a_capture_without_a_height_field_is_pictured_as_an_array(tmp_path: Path, no_water: Path) -> None:
    done = ripplescope(
        "--headless", "--top-view", "--trust", "--frames", "2", "--screenshot", "x.png",
        str(no_water), cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0 and done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["x.png"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--smoke", "--trust", "FILE"],
        ["check", "--trust", "FILE", "--frames", "2"],
        ["state", "--trust", "FILE", "--after", "0"],
        ["profile", "--trust", "FILE", "--repeats", "1"],
        ["inspect", "FILE"],
        ["inspect", "FILE", "--json"],
        ["diff", "FILE", "FRAME"],
        ["diff", "FILE", "FRAME", "--json"],
        ["state", "FILE", "--after", "0", "--region", "z"],
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_names_cannot_steer_the_terminal(
    tmp_path: Path, no_water: Path, frame_path: Path, arguments: list[str]
) -> None:
    paths = {"FILE": str(no_water), "FRAME": str(frame_path)}
    done = ripplescope(*(paths.get(argument, argument) for argument in arguments), cwd=tmp_path)
    text = done.stdout + done.stderr
    assert "Traceback" not in text
    assert not {char for char in text if not char.isprintable()} - {"\n"}
    assert text.splitlines().count("smoke OK (10 graph launches)") == (arguments[0] == "--smoke")
    if arguments[0] in ("--smoke", "inspect", "state") and not {"--json", "--region"} & set(arguments):
        assert SPELLED in text
