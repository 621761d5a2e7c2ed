"""Recording on CUDA: the same frame as on the CPU, hygiene, and files that Warp loads again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import warp as wp

from capture.audit import Kind, audit
from capture.classic import run_classic
from capture.frame import FrameSettings, record_frame, record_graph, recording
from capture.tank import Tank
from replay.errors import DeviceError, RecordingError
from replay.manifest import Manifest, manifest_path

pytestmark = pytest.mark.gpu

SMALL = {"width": 24, "height": 16, "substeps": 4}


def drive(tank: Tank, frame: int) -> None:
    tank.set("mouse_pos", (frame % 24, 7.5) if frame % 9 < 4 else (-1000.0, -1000.0))


@pytest.mark.parametrize("substeps", [1, 2, 3, 4, 16])
def test_live_graph_equals_eager_loop(substeps: int) -> None:
    eager, recorded = (Tank(FrameSettings(**{**SMALL, "substeps": substeps}), "cuda") for _ in range(2))
    recording = record_graph(recorded)
    for frame in range(60):
        for tank in (eager, recorded):
            drive(tank, frame)
        eager.step()
        recording.launch()
    assert eager.heights.numpy().any()
    np.testing.assert_array_equal(recorded.heights.numpy(), eager.heights.numpy())


def test_same_water_as_on_the_cpu() -> None:
    tanks = [Tank(FrameSettings(**SMALL), device) for device in ("cpu", "cuda")]
    for frame in range(60):
        for tank in tanks:
            drive(tank, frame)
            tank.step()
    on_cpu, on_cuda = (tank.heights.numpy() for tank in tanks)
    np.testing.assert_allclose(on_cuda, on_cpu, atol=1e-4)


@pytest.mark.parametrize("source_fallback", [False, True])
def test_saved_frame_loads_and_runs(tmp_path: Path, source_fallback: bool) -> None:
    path = record_frame(FrameSettings(**SMALL), tmp_path / "x", "cuda:0", source_fallback=source_fallback)
    assert Manifest.read(manifest_path(path)).device_kind == "cuda"
    assert any(entry.suffix == ".cu" for entry in (tmp_path / "x_modules").iterdir()) is source_fallback
    graph, eager = (
        wp.capture_load(str(path.with_suffix("")), device="cuda:0"),
        Tank(FrameSettings(**SMALL), "cuda"),
    )
    result = wp.zeros((16, 24), dtype=float, device="cuda:0")
    for frame in range(10):
        drive(eager, frame)
        graph.set_param("mouse_pos", eager.arrays["mouse_pos"])
        wp.capture_launch(graph)
        eager.step()
    graph.get_param("heights_out", result)
    np.testing.assert_array_equal(result.numpy(), eager.heights.numpy())
    # a later recording may replace it, with or without source
    record_frame(FrameSettings(**{**SMALL, "substeps": 3}), path, "cuda:0")
    assert Manifest.read(manifest_path(path)).substeps == 3


def test_exception_inside_ends_the_capture() -> None:
    tank = Tank(FrameSettings(**SMALL), "cuda")
    with pytest.raises(KeyError, match="mine"), recording(tank.device):
        tank.launch_frame()
        raise KeyError("mine")
    tank.set("mouse_pos", (12.0, 8.0))
    tank.step()
    assert tank.heights.numpy().any()
    with (
        recording(tank.device),
        pytest.raises(RecordingError, match=r"cuda:0 \(CUDA driver .*already in progress"),
    ):
        record_graph(tank)
    tank.step()


def test_own_frame_has_no_findings() -> None:
    tank = Tank(FrameSettings(**SMALL), "cuda")
    with audit(watch={"tank": tank}) as report:
        record_graph(tank)
    assert not report.findings, report.text()


def test_classic_case() -> None:
    outcome = run_classic(49, "cuda")
    assert [finding.kind for finding in outcome.report.findings] == [Kind.COUNTER, Kind.SWAP]
    assert (outcome.eager_steps, outcome.replayed_steps) == (147, 145)


def test_unknown_number(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match="CUDA devices; the last one is cuda:"):
        record_frame(FrameSettings(**SMALL), tmp_path / "x", "cuda:99")


def test_memory_of_the_device_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capture.tank.free_memory", lambda device: 1 << 20)
    with pytest.raises(RecordingError, match=r"needs 512\.0 MiB on cuda:0, 1\.0 MiB are free"):
        Tank(FrameSettings(width=8192, height=8192), "cuda")
