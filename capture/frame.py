"""Recording one frame of the tank into a graph, and saving it with its manifest.

A frame is recorded as launches only: modules are loaded and arrays allocated before, the recording always
ends, and the state is saved before anything runs. Where the files go is `capture.files`.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warp as wp

from capture.device import find_device
from capture.files import FileSet, digest_of
from capture.kernels.base import State
from capture.settings import FrameSettings
from capture.tank import Tank
from replay.errors import RecordingError
from replay.manifest import GridEntry, Manifest

__all__ = ["FrameSettings", "Recording", "record_frame", "record_graph", "recording"]


@dataclass(frozen=True)
class Recording:
    """A graph recorded from a tank, with the arrays that hold the result of a launch."""

    tank: Tank
    graph: Any
    state: State

    @property
    def carry(self) -> tuple[tuple[str, str], ...]:
        """Names (source, target) to copy after each launch; empty if the result lies where it started."""
        fields, pairs = self.tank.fields, []
        if self.state.newest is not fields.heights:
            pairs.append(("heights_out", "heights"))
        if self.state.previous is not fields.heights_prev:
            pairs.append(("heights_prev_out", "heights_prev"))
        return tuple(pairs)

    def inputs(self) -> dict[str, Any]:
        """Return the named inputs in the order in which they are bound."""
        return self.tank.arrays

    def outputs(self) -> dict[str, Any]:
        """Return the named outputs."""
        fields = {"heights_out": self.state.newest, "heights_prev_out": self.state.previous}
        names = (entry.name for entry in self.tank.settings.parameters() if entry.role == "output")
        return {name: fields[name] if name in fields else self.tank.named(name) for name in names}

    def launch(self) -> None:
        """Launch the live graph once and apply the carry pairs, all at once."""
        wp.capture_launch(self.graph)
        named = {**self.inputs(), **self.outputs()}
        copies = [(wp.clone(named[source]), named[target]) for source, target in self.carry]
        for source, target in copies:
            wp.copy(target, source)


@contextlib.contextmanager
def recording(device: Any) -> Iterator[list[Any]]:
    """Record what the block launches; the list holds the graph once the block has ended.

    The recording ends whatever happens, since Warp swallows all launches after one that did not. The
    garbage collector rests meanwhile: an array freed during a capture can corrupt it.

    Raises:
        RecordingError: not on the main thread, or Warp refuses; holds its reason.
    """
    if threading.current_thread() is not threading.main_thread():
        raise RecordingError("a frame can be recorded on the main thread only")
    result: list[Any] = []
    collected = gc.isenabled()
    gc.disable()
    try:
        try:
            wp.capture_begin(device=device, apic=True)
        except RuntimeError as error:
            raise _refused(device, error) from error
        try:
            yield result
        except BaseException:
            with contextlib.suppress(RuntimeError):  # the reason is the block's, not that its graph is broken
                wp.capture_end(device=device)
            raise
        try:
            result.append(wp.capture_end(device=device))
        except RuntimeError as error:
            raise _refused(device, error) from error
    finally:
        if collected:
            gc.enable()


def record_graph(tank: Tank) -> Recording:
    """Record one frame of a tank without running it.

    Raises:
        RecordingError: as `recording` does.
    """
    with recording(tank.device) as graphs:
        state = tank.launch_frame()
    return Recording(tank, graphs[0], state)


def record_frame(
    settings: FrameSettings, output: Path, device: str = "auto", *, source_fallback: bool = False
) -> Path:
    """Record a frame of a tank at rest and save it; return the path of the `.wrp` file.

    Args:
        settings: grid and parameters.
        output: where; with or without `.wrp` in any case. Folders are made as needed. An older capture
            there is replaced once the new one is complete.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        source_fallback: whether to package CUDA source, so that other GPUs can compile it.

    Raises:
        DeviceError: unknown or absent device.
        UsageError: the solver cannot run these settings.
        RecordingError: files in the way, not enough memory, or Warp cannot record or save.
    """
    files = FileSet.at(output)
    files.check(2 * settings.field_bytes)
    recorded = record_graph(Tank(settings, find_device(device)))
    with files.staging() as staged:
        try:
            wp.capture_save(
                recorded.graph,
                str(staged.wrp.with_suffix("")),
                inputs=recorded.inputs(),
                outputs=recorded.outputs(),
                source_fallback=source_fallback,
            )
        except (RuntimeError, OSError) as error:
            raise RecordingError(f"{files.wrp}: the graph cannot be saved: {error}") from error
        _manifest(recorded, staged).write(staged.manifest)
        files.publish(staged)
    return files.wrp


def _manifest(recorded: Recording, saved: FileSet) -> Manifest:
    settings = recorded.tank.settings
    return Manifest(
        created_by="ripplescope",
        warp_version=wp.__version__,
        device_kind="cuda" if recorded.tank.device.is_cuda else "cpu",
        wrp_sha256=digest_of(saved.wrp),
        solver=settings.solver,
        substeps=settings.substeps,
        frame_rate=float(settings.frame_rate),
        grid=GridEntry(settings.width, settings.height, float(settings.dx)),
        stability=settings.stability,
        parameters=settings.parameters(),
        kernels=recorded.tank.solver.signatures(),
        carry=recorded.carry,
        modules=tuple(sorted(path.name for path in saved.modules.iterdir())),
    )


def _refused(device: Any, error: RuntimeError) -> RecordingError:
    driver = ""
    if device.is_cuda:
        driver = f" (CUDA driver {wp.get_cuda_driver_version()})"
    return RecordingError(
        f"Warp cannot record on {device.alias}{driver}: {error}",
        remedy="end any other capture first, and load modules before one",
    )
