"""The collection of good and broken captures beside the repository, where there is one.

Its scripts record the captures and note facts, results and faults; here the model must state exactly those
facts, a replay must lead to those results, and every fault must be refused or marked at its place. Without
the collection these tests are skipped: `test_wrp_reader` and `test_graph_open` do not need it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from replay.errors import CaptureFileError, ReplayError
from replay.graph.model import Capture, Fault, Operation, Severity
from replay.graph.open import open_capture
from replay.players import open_player

CASES = Path(__file__).resolve().parents[2].parent / "shared" / "cases"

pytestmark = pytest.mark.skipif(
    not (CASES / "make_captures.py").is_file(), reason="no collection of captures beside the repository"
)


def _run(script: str, *arguments: str) -> None:
    subprocess.run([sys.executable, str(CASES / script), *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all good captures."""
    folder = tmp_path_factory.mktemp("good")
    _run("make_captures.py", str(folder))
    return folder


@pytest.fixture(scope="module")
def broken(good: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with all broken captures."""
    folder = tmp_path_factory.mktemp("broken")
    _run("make_broken.py", str(folder), "--captures", str(good))
    return folder


def tree(capture: Capture, events: Any) -> list[dict[str, Any]]:
    """Return operations as the facts tell them."""
    return [_told(capture, capture.operations[event]) for event in events]


def _told(capture: Capture, operation: Operation) -> dict[str, Any]:
    told: dict[str, Any] = {"type": operation.kind.name}
    if operation.key:
        told |= {"kernel": operation.key, "dim": list(operation.shape)}
    for branch in {"IF": ("then", "else"), "WHILE": ("body",)}.get(operation.kind.name, ()):
        inside = [event for event in operation.children if capture.operations[event].branch == branch]
        told[branch] = tree(capture, inside)
    return told


def facts_of(capture: Capture) -> dict[str, Any]:
    """Return the facts that a capture states."""
    top = [capture.operations[event] for event in capture.top_level]
    return {
        "format_version": capture.format_version,
        "warp_version": capture.producer,
        "device": capture.device_kind,
        "op_count": len(top),
        "op_types": [operation.kind.name for operation in top],
        "ops": tree(capture, capture.top_level),
        "kernel_keys": sorted({operation.key for operation in capture.operations if operation.key}),
        "modules": sorted(module.file for module in capture.modules),
        "mesh_count": len(capture.meshes),
        "region_count": len(capture.regions),
        "region_bytes": {str(region.id): region.nbytes for region in capture.regions.values()},
        "bindings": [
            {"name": binding.name, "region": binding.region, "bytes": capture.regions[binding.region].nbytes}
            for binding in capture.bindings
        ],
        "aliases": sorted(map(list, capture.aliases)),
    }


def test_every_good_capture_states_its_facts(good: Path) -> None:
    names = sorted(path.name.removesuffix(".facts.json") for path in good.glob("*.facts.json"))
    assert len(names) >= 20
    for name in names:
        capture = open_capture(good / name)
        expected = json.loads((good / f"{name}.facts.json").read_text(encoding="utf-8"))
        expected["aliases"].sort()
        for binding in expected["bindings"]:
            del binding["role"]  # the file does not say where inputs end
        for key, value in facts_of(capture).items():
            assert value == expected[key], (name, key)
        assert capture.faults == (), name


def test_every_good_capture_replays_to_its_recorded_values(good: Path) -> None:
    names = sorted(path.stem for path in good.glob("*.npz"))
    assert len(names) >= 20
    for name in names:
        recorded = np.load(good / f"{name}.npz")
        results = {
            key.removeprefix("out."): recorded[key] for key in recorded.files if key.startswith("out.")
        }
        with open_player(open_capture(good / name), "cpu") as player:
            for key in recorded.files:
                if key.startswith("in."):
                    spec = player.parameters[key.removeprefix("in.")]
                    given = np.ascontiguousarray(recorded[key])
                    # as bytes, since an inferred type may not be the recorded one
                    value = np.frombuffer(given.tobytes(), spec.element.scalar).reshape(spec.full_shape)
                    player.set(spec.name, value)
            for _ in range(int(recorded["launches"])):
                player.launch()
            for parameter, expected in results.items():
                assert player.get(parameter).tobytes() == expected.tobytes(), (name, parameter)
        assert results or name == "no_named_params", name


def test_every_marked_capture_is_not_replayed_and_the_reason_told(broken: Path) -> None:
    refused = 0
    for case in json.loads((broken / "broken.json").read_text(encoding="utf-8")):
        name = case["case"]
        if "mark" not in case["must"]:
            continue
        try:
            capture = open_capture(broken / f"{name}.wrp")
        except CaptureFileError:
            continue  # judged above
        if name == "23_extra_junk_o_in_modules":
            with open_player(capture, "cpu") as player:
                player.launch()
            continue
        with pytest.raises(ReplayError) as reason:
            open_player(capture, "cpu")
        assert " ".join(capture.blocking_faults[0].what.split()) in str(reason.value), name
        assert f"{name}.wrp is not replayed: " in str(reason.value)
        refused += 1
    assert refused >= 12


def test_every_broken_capture_is_refused_or_marked_at_its_place(broken: Path) -> None:
    cases = json.loads((broken / "broken.json").read_text(encoding="utf-8"))
    assert len(cases) >= 35
    judged = 0
    for case in cases:
        name = case["case"]
        if name == "63_noperm" and os.geteuid() == 0:
            continue  # root reads it all the same; test_wrp_files tests it for others
        start = time.perf_counter()
        try:
            capture = open_capture(broken / f"{name}.wrp")
        except CaptureFileError as error:
            assert "refuse" in case["must"], (name, str(error))
            assert error.offset is not None or name in ("60_directory", "63_noperm"), name
        else:
            assert "mark" in case["must"], name
            assert capture.faults, name
            if name == "23_extra_junk_o_in_modules":
                assert not capture.blocking_faults
            else:
                assert capture.blocking_faults, name
                assert _at_its_place(capture, case), (name, list(map(str, capture.faults)))
        assert time.perf_counter() - start < 2, name
        judged += 1
    assert judged >= 34


def _at_its_place(capture: Capture, case: dict[str, Any]) -> bool:
    """Whether a blocking fault lies at an offset that was changed, or names the companion that was."""
    offsets = {fault["offset"] for fault in case["faults"]}
    if offsets == {None}:
        return all("_modules" in fault.where for fault in capture.blocking_faults)
    return any(_near(fault, offsets) for fault in capture.faults if fault.severity is Severity.BLOCKS_REPLAY)


def _near(fault: Fault, offsets: set[int | None]) -> bool:
    return fault.offset in offsets


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("31_launch_shape_huge", "operation 0"),
        ("32_launch_ndim_negative", "operation 0"),
        ("33_unknown_kernel_key_in_op", "operation 0"),
        ("34_reloc_missing_region", "operation 0, argument 1"),
        ("35_reloc_offset_beyond_region", "operation 0, argument 1"),
        ("37_array_shape_flipped", "operation 0, argument 1"),
    ],
)
def test_faults_in_a_launch_name_operation_and_argument(broken: Path, name: str, place: str) -> None:
    assert [fault.where for fault in open_capture(broken / name).blocking_faults] == [place]
