"""The manifest: what is written is read back, and every fault is named by its place."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.errors import ManifestError
from replay.graph.model import Capture
from replay.graph.open import open_capture
from replay.manifest import (
    MAX_BYTES,
    ArgumentEntry,
    GridEntry,
    KernelEntry,
    Manifest,
    ParameterEntry,
    StabilityEntry,
    manifest_path,
    next_manifest_path,
    read_manifest_of,
)

VALID = Manifest(
    created_by="test",
    warp_version="1.19.0",
    device_kind="cpu",
    wrp_sha256="0123456789abcdef" * 4,
    solver="reference",
    substeps=3,
    frame_rate=60.0,
    grid=GridEntry(width=5, height=4, dx=0.1),
    stability=StabilityEntry("k_speed", "k_damp", "dt", 0.1),
    parameters=(
        ParameterEntry("heights", "float32", (4, 5), "both", unit="m"),
        ParameterEntry("heights_out", "float32", (4, 5), "output"),
        ParameterEntry("mouse_pos", "vec2f", (1,), "input", default=(-1000.0, -1000.0)),
        ParameterEntry("k_speed", "float32", (1,), "input", "Speed", "m^2/s^2", 1.0, 500.0, 60.0, True, True),
        ParameterEntry("k_damp", "float32", (1,), "input", minimum=0.0),
        ParameterEntry("dt", "float32", (1,), "input"),
    ),
    kernels=(
        KernelEntry("solve", (ArgumentEntry("h", "array2d[float32]", "read"), ArgumentEntry("w", "int32"))),
    ),
    carry=(("heights_out", "heights"),),
    modules=("wp_solve_0123abc.cpu01234567.o",),
)


def test_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "frame.json"
    VALID.write(path)
    assert Manifest.read(path) == VALID
    assert Manifest.from_json(VALID.to_json(), where="here") == VALID
    assert [entry.name for entry in tmp_path.iterdir()] == ["frame.json"]


def test_path_keeps_dots_in_the_name() -> None:
    assert manifest_path(Path("a/frame.v2.wrp")) == Path("a/frame.v2.json")


Edit = Callable[[dict[str, Any]], object]
FAULTS: list[tuple[Edit, str]] = [
    (lambda m: m.pop("grid"), "the field 'grid' is missing"),
    (lambda m: m.update(color=1), "color: unknown field"),
    (lambda m: m.update(schema="other"), "schema is 'other'"),
    (lambda m: m.pop("schema"), "schema is None"),
    (lambda m: m.update(schema_version=2), "schema_version 2 is unknown, this program reads 1"),
    (lambda m: m.update(schema_version=True), "schema_version True is unknown"),
    (lambda m: m.update(created_by=5), "created_by: expected a string, found the number 5"),
    (lambda m: m.update(created_by="a\nb"), "created_by: expected at most 500 printable characters"),
    (lambda m: m.update(warp_version=""), "warp_version: must not be empty"),
    (lambda m: m.update(device_kind="tpu"), "device_kind: 'tpu' is none of 'cpu', 'cuda'"),
    (lambda m: m.update(wrp_sha256="12"), "wrp_sha256: expected 64 lower-case hexadecimal digits"),
    (lambda m: m.update(substeps=0), "substeps: 0 is not from 1 to"),
    (lambda m: m.update(substeps=1.5), "substeps: expected a whole number, found the number 1.5"),
    (lambda m: m.update(substeps=True), "substeps: expected a whole number, found true or false"),
    (lambda m: m.update(frame_rate=0), "frame_rate: 0 is not from 1e-06 to 1e+09"),
    (lambda m: m.update(frame_rate=5e-324), "frame_rate: 4.94066e-324 is not from 1e-06 to 1e+09"),
    (lambda m: m.update(frame_rate=1.7e308), "frame_rate: 1.7e+308 is not from 1e-06 to 1e+09"),
    (lambda m: m.update(frame_rate=10**400), "frame_rate: not a finite number"),
    (lambda m: m.update(grid=[]), "grid: expected an object, found a list"),
    (lambda m: m["grid"].update(width=-1), "grid.width: -1 is not from 1 to"),
    (lambda m: m["grid"].update(width=6), "grid: 'heights' is float32 of shape [4, 5]"),
    (lambda m: m["grid"].update(pointer="mouse"), "grid.pointer: 'mouse' is not in parameters"),
    (lambda m: m["grid"].update(pointer="dt"), "grid.pointer: 'dt' is float32, not vec2f"),
    (lambda m: m["grid"].pop("dx"), "grid: the field 'dx' is missing"),
    (lambda m: m["grid"].update(dz=1), "grid.dz: unknown field"),
    (lambda m: m["stability"].update(speed="c"), "stability.speed: 'c' is not in parameters"),
    (lambda m: m["grid"].update(dx=1e300), "grid.dx: 1e+300 is not from 1e-06 to 1e+06"),
    (lambda m: m["stability"].update(dx=1e-200), "stability.dx: 1e-200 is not from 1e-06 to 1e+06"),
    (lambda m: m["stability"].update(dx=1e200), "stability.dx: 1e+200 is not from 1e-06 to 1e+06"),
    (
        lambda m: m["stability"].update(speed="heights"),
        "stability.speed: 'heights' is float32 of shape [4, 5], not float32 of [1]",
    ),
    (
        lambda m: m["stability"].update(damping="mouse_pos"),
        "stability.damping: 'mouse_pos' is vec2f of shape [1], not float32 of [1]",
    ),
    (lambda m: m.update(modules=["a.o", "../b.o"]), "modules: '../b.o' is no plain file name"),
    (lambda m: m.update(modules=[".."]), "modules: '..' is no plain file name"),
    (lambda m: m["stability"].update(margin=1.5), "stability.margin: 1.5 is more than 1"),
    (lambda m: m.update(parameters={}), "parameters: expected a list, found an object"),
    (
        lambda m: m["parameters"][0].update(dtype="float31"),
        "parameters[0].dtype: unknown element type 'float31'",
    ),
    (lambda m: m["parameters"][0].update(shape=[]), "parameters[0].shape: an array has at least one side"),
    (lambda m: m["parameters"][0].update(shape=[4, 0]), "parameters[0].shape[1]: 0 is not from 1 to"),
    (
        lambda m: m["parameters"][0].update(shape=[1] * 5),
        "parameters[0].shape: 5 items, more than the 4 allowed",
    ),
    (lambda m: m["parameters"][1].update(role="in"), "parameters[1].role: 'in' is none of"),
    (
        lambda m: m["parameters"][3].update(minimum=900),
        "parameters[3].minimum: 900 is greater than the maximum 500",
    ),
    (
        lambda m: m["parameters"][3].update(default=0.5),
        "parameters[3].default: 0.5 is less than the minimum 1",
    ),
    (
        lambda m: m["parameters"][3].update(default=501),
        "parameters[3].default: 501 is greater than the maximum 500",
    ),
    (lambda m: m["parameters"][3].update(minimum=0), "parameters[3].logarithmic: a logarithmic range needs"),
    (lambda m: m["parameters"][3].update(editable=1), "parameters[3].editable: expected true or false"),
    (
        lambda m: m["parameters"][2].update(default=[1, 2, 3]),
        "parameters[2].default: 3 numbers do not make one vec2f",
    ),
    (
        lambda m: m["parameters"][2].update(default="x"),
        "parameters[2].default: expected a number, found a string",
    ),
    (lambda m: m["parameters"].append(m["parameters"][0]), "parameters[6].name: 'heights' appears twice"),
    (lambda m: m["kernels"].append(m["kernels"][0]), "kernels[1].key: 'solve' appears twice"),
    (
        lambda m: m["kernels"][0]["arguments"][0].update(access="rw"),
        "kernels[0].arguments[0].access: 'rw' is none of",
    ),
    (lambda m: m["kernels"][0].pop("key"), "kernels[0]: the field 'key' is missing"),
    (lambda m: m.update(carry=[["heights_out"]]), "carry[0]: expected a pair of names"),
    (lambda m: m.update(carry=[["heights_out", "x"]]), "carry[0]: 'x' is not in parameters"),
    (lambda m: m.update(carry=[["dt", "heights"]]), "carry[0]: 'dt' and 'heights' differ in type or shape"),
    (lambda m: m.update(carry=m["carry"] * 2), "carry[1]: 'heights' is the target of two pairs"),
]


@pytest.mark.parametrize(("edit", "said"), FAULTS, ids=[said[:50] for _, said in FAULTS])
def test_fault_is_named(edit: Edit, said: str) -> None:
    value: dict[str, Any] = copy.deepcopy(VALID.to_json())
    edit(value)
    with pytest.raises(ManifestError) as caught:
        Manifest.from_json(value, where="frame.json")
    assert str(caught.value).startswith(f"frame.json: {said}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (b'{"schema": \n  nonsense}', "line 2, column 3: not valid JSON"),
        (b"", "line 1, column 1: not valid JSON"),
        (b"\xff\xfe", "not valid JSON: 'utf-8' codec"),
        (b"[NaN]", "NaN is no JSON number"),
        (b'{"a": 1, "a": 2}', "the name 'a' appears twice in one object"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 5000, "not valid JSON"),
        (b"[]", "expected an object, found a list"),
        (b" " * (MAX_BYTES + 1), f"{MAX_BYTES + 1} bytes, more than the {MAX_BYTES} allowed"),
    ],
    ids=["nonsense", "empty", "utf-8", "nan", "twice", "deep", "digits", "list", "large"],
)
def test_file_that_is_no_manifest(tmp_path: Path, contents: bytes, said: str) -> None:
    path = tmp_path / "frame.json"
    path.write_bytes(contents)
    with pytest.raises(ManifestError, match=r"frame\.json") as caught:
        Manifest.read(path)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_folder_and_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"not a regular file|cannot be opened"):
        Manifest.read(tmp_path)
    with pytest.raises(ManifestError, match="No such file"):
        Manifest.read(tmp_path / "none.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_fifo_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "frame.json")
    with pytest.raises(ManifestError, match="not a regular file"):
        Manifest.read(tmp_path / "frame.json")


def test_invalid_manifest_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "frame.json"
    VALID.write(path)
    broken = Manifest(**{**VALID.__dict__, "substeps": 0})
    with pytest.raises(ManifestError, match="substeps"):
        broken.write(path)
    assert Manifest.read(path) == VALID


class TestManifestOfFile:
    """Whose manifest is taken while a new capture replaces an old one."""

    NEW = "fedcba9876543210" * 4

    def test_none(self, tmp_path: Path) -> None:
        assert read_manifest_of(tmp_path / "x.wrp", VALID.wrp_sha256) is None

    def test_of_another_file(self, tmp_path: Path) -> None:
        VALID.write(tmp_path / "x.json")
        with pytest.raises(ManifestError, match="belongs to another file"):
            read_manifest_of(tmp_path / "x.wrp", self.NEW)

    def test_waiting_manifest_of_the_new_file(self, tmp_path: Path) -> None:
        wrp = tmp_path / "x.wrp"
        VALID.write(manifest_path(wrp))
        new = Manifest(**{**VALID.__dict__, "wrp_sha256": self.NEW})
        new.write(next_manifest_path(wrp))
        assert read_manifest_of(wrp, VALID.wrp_sha256) == VALID
        assert read_manifest_of(wrp, self.NEW) == new

    def test_broken_waiting_manifest_is_passed_over(self, tmp_path: Path) -> None:
        wrp = tmp_path / "x.wrp"
        VALID.write(manifest_path(wrp))
        next_manifest_path(wrp).write_text('{"schema"')
        assert read_manifest_of(wrp, VALID.wrp_sha256) == VALID


class TestStability:
    """The limit a <= (2 - b)/4, 0 <= b <= 2."""

    RULE = StabilityEntry("c2", "k", "dt", dx=0.1, margin=1.0)

    def test_undamped_limit_is_one_half(self) -> None:
        dt = 0.001
        at_half = 0.5 * 0.1**2 / dt**2
        assert self.RULE.allows(at_half * 0.9999, 0.0, dt)
        assert not self.RULE.allows(at_half * 1.01, 0.0, dt)
        assert self.RULE.courant(at_half, dt) == pytest.approx(0.5**0.5)

    @pytest.mark.parametrize("b", [0.0, 0.3, 1.0, 1.7])
    def test_agrees_with_the_roots_of_the_fastest_mode(self, b: float) -> None:
        # h'' = (2 - b - 8a) h - (1 - b) h0: stable where both roots of the recurrence lie in the unit disc
        dt = 0.01
        for share in (0.99, 1.01):
            a = share * (2.0 - b) / 4.0
            roots = np.roots([1.0, -(2.0 - b - 8.0 * a), 1.0 - b])
            stable = bool(np.all(np.abs(roots) <= 1.0 + 1e-9))
            assert self.RULE.allows(a * 0.1**2 / dt**2, b / dt**2, dt) is stable is (share < 1.0)

    @pytest.mark.parametrize("b", [-0.1, 2.1])
    def test_damping_alone_can_be_unstable(self, b: float) -> None:
        assert not self.RULE.allows(0.0, b / 0.01**2, 0.01)


def test_needs_neither_warp_nor_capture() -> None:
    code = "import sys, replay.manifest; sys.exit(bool({'warp', 'capture'} & set(sys.modules)))"
    root = Path(__file__).resolve().parents[2]
    assert subprocess.run([sys.executable, "-c", code], cwd=root, check=False).returncode == 0


def test_json_is_readable(tmp_path: Path) -> None:
    VALID.write(tmp_path / "frame.json")
    value = json.loads((tmp_path / "frame.json").read_text())
    assert (value["schema"], value["schema_version"]) == ("ripplescope-manifest", 1)
    assert value["parameters"][2]["default"] == [-1000.0, -1000.0]


def with_manifest(frame_path: Path, folder: Path, edit: Edit) -> Capture:
    """Open a copy of a wave frame whose manifest was edited and still has the right digest."""
    shutil.copy(frame_path, folder / "frame.wrp")
    shutil.copytree(frame_path.with_name("frame_modules"), folder / "frame_modules")
    value = json.loads(manifest_path(frame_path).read_text())
    edit(value)
    (folder / "frame.json").write_text(json.dumps(value))
    return open_capture(folder / "frame")


GHOST = {"name": "ghost", "dtype": "float32", "shape": [1], "role": "input"}
DOUBLE = ["heights", "heights_prev", "heights_out", "heights_prev_out"]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            lambda m: (m["parameters"].append(GHOST), m["stability"].update(speed="ghost")),
            "it relies on 'ghost', which the file does not name",
        ),
        (
            lambda m: (m["parameters"].append(GHOST), m.update(carry=[["ghost", "dt"]])),
            "it relies on 'ghost', which the file does not name",
        ),
        (
            lambda m: (
                [p.update(shape=[32, 48]) for p in m["parameters"] if p["name"] in DOUBLE],
                m["grid"].update(width=48, height=32),
            ),
            "its 'heights' has 6144 bytes, in the file it has 1536",
        ),
    ],
)
def test_a_manifest_that_relies_on_what_the_file_lacks_is_left_out(
    frame_path: Path, tmp_path: Path, edit: Edit, said: str
) -> None:
    capture = with_manifest(frame_path, tmp_path, edit)
    assert capture.manifest is None and not capture.blocking_faults
    assert [str(fault) for fault in capture.faults] == [f"manifest: not used: {said}"]


def test_a_name_that_nothing_relies_on_may_be_missing(frame_path: Path, tmp_path: Path) -> None:
    capture = with_manifest(frame_path, tmp_path, lambda m: m["parameters"].append(GHOST))
    assert capture.manifest is not None and not capture.faults
