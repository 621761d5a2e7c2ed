"""Captures that the program makes by itself, in the user's cache folder.

A capture is kept under a name that says its grid, substeps, solver and device, and a digest of all that
it depends on: settings, Warp release, and the source that records it. What is stale is simply never asked
for again; what is damaged is recorded anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import shutil
import sys
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from app.child import ROOT
from replay.errors import CaptureFileError, RecordingError, ReplayError, TrustError
from replay.manifest import manifest_path, next_manifest_path

if TYPE_CHECKING:
    from capture.settings import FrameSettings


def cache_folder() -> Path:
    """Return the user's cache folder for captures, made if it is missing.

    Raises:
        RecordingError: it cannot be made.
    """
    folder = platformdirs.user_cache_path("ripplescope") / "captures"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordingError(
            f"cannot make the cache folder {folder}: {error.strerror}",
            remedy="make it writable, or point XDG_CACHE_HOME elsewhere",
        ) from None
    return folder


def _digest(settings: FrameSettings, device: str) -> str:
    digest = hashlib.sha256()
    said = {
        "settings": dataclasses.asdict(settings),
        "device": device,
        "warp": metadata.version("warp-lang"),
    }
    digest.update(json.dumps(said, sort_keys=True).encode())
    for source in sorted((ROOT / "capture").rglob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


def capture_path(settings: FrameSettings, device: str) -> Path:
    """Return where the capture of these settings on a device (`cpu`, `cuda:0`) is kept."""
    kind = device.partition(":")[0]
    name = (
        f"wave-{settings.width}x{settings.height}x{settings.substeps}-{settings.solver}-{kind}"
        f"-{_digest(settings, device)}.wrp"
    )
    return cache_folder() / name


def _discard(path: Path) -> None:
    """Remove a capture from the cache."""
    for file in (path, manifest_path(path), next_manifest_path(path)):
        with contextlib.suppress(OSError):
            file.unlink()
    shutil.rmtree(path.with_name(f"{path.stem}_modules"), ignore_errors=True)


def demo_capture(settings: FrameSettings, device: str) -> Path:
    """Return the capture of these settings, recorded now if it is not kept, does not open, or may not run.

    What lies in the cache may have been put there by anyone: only a record says that it was recorded here.

    Args:
        settings: the frame.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.

    Raises:
        DeviceError: no such device.
        RecordingError: it could not be recorded or kept.
    """
    from app.trust import is_trusted, remember_recorded
    from replay.graph.open import open_capture

    if device != "cpu":  # which GPU is `auto`, and is there one? Only Warp knows
        from capture.device import find_device

        device = find_device(device).alias
    path = capture_path(settings, device)
    was_there = os.path.lexists(path)
    try:
        kept = open_capture(path)
        if not kept.blocking_faults and is_trusted(kept):
            return path
    except (CaptureFileError, ReplayError, TrustError):
        pass
    if was_there:
        _discard(path)  # damaged or put there, so a recording would not take it for a capture of ours
    from capture.frame import record_frame

    print(
        f"recording {settings.width}x{settings.height}, {settings.substeps} substeps, on {device} "
        f"(compiles once, kept in {path.parent})",
        file=sys.stderr,
    )
    path = record_frame(settings, path, device)
    remember_recorded(path)
    return path
