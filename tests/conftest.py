"""Fixtures that several rooms share, and what the markers mean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from replay.graph.model import Capture


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip tests marked `gpu` where Warp finds no CUDA device, with that reason."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if not marked:
        return
    from replay.native import import_warp

    if not import_warp().get_cuda_device_count():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="Warp finds no CUDA device here"))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, pytest.CollectReport, object]:
    """Skip modules that need the window where imgui-bundle has no wheel, with that reason."""
    report = yield
    if (
        sys.version_info < (3, 11)
        and report.failed
        and "No module named 'imgui_bundle'" in report.longreprtext
    ):
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, "Skipped: the window needs Python 3.11 or later")
    return report


@pytest.fixture(scope="session", autouse=True)
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Generator[Path, None, None]:
    """Keep the record of trusted captures, also that of child processes, out of the user's own."""
    folder = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RIPPLESCOPE_DATA_DIR", str(folder))
        yield folder


@pytest.fixture(scope="session")
def frame_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Record a wave frame once a session for each combination of arguments; returns the `.wrp` path.

    Called as `frame_of(width=24, height=16, substeps=4, device="cpu", **settings)`. Do not change the files.
    """
    from capture.frame import FrameSettings, record_frame

    made: dict[object, Path] = {}

    def record(*, device: str = "cpu", **settings: object) -> Path:
        settings = {"width": 24, "height": 16, "substeps": 4} | settings
        key = (device, *sorted(settings.items()))
        if key not in made:
            folder = tmp_path_factory.mktemp("frame")
            made[key] = record_frame(FrameSettings(**settings), folder / "frame.wrp", device)
        return made[key]

    return record


@pytest.fixture(scope="session")
def frame_path(frame_of: Callable[..., Path]) -> Path:
    """Return a wave frame of 24 x 16 cells and 4 substeps on the CPU, which the app replays unasked."""
    from app.trust import remember_recorded

    path = frame_of()
    remember_recorded(path)
    return path


@pytest.fixture(scope="session")
def frame_capture(frame_path: Path) -> Capture:
    """Return the opened capture of `frame_path`."""
    from replay.graph.open import open_capture

    return open_capture(frame_path)
