"""The same frames by an eager loop, a live graph and a loaded graph, with the same moving inputs.

A recording may lack what the loop did on the host: a counter, a swap of two references, a value read back.
This finds it by comparing all three after every frame. It prints nothing: `app.commands.check` and the
smoke run show the result.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from capture.basin import NO_POINTER, PROBES, SOURCES
from capture.settings import FrameSettings
from replay.errors import ReplayError
from replay.graph.model import Capture
from replay.manifest import Manifest
from replay.parameters import largest_stable
from replay.players import open_player

# On CUDA the three run the same machine code; the bound allows for another order of float additions.
CUDA_BOUND = 1e-5
COMPARED = ("heights", "heights_prev", "clock")
BASIN_COMPARED = ("walls", "probe_out")
_POINTER_PERIOD = 40  # frames; the pointer is lifted in the last quarter


@dataclasses.dataclass(frozen=True)
class Difference:
    """The largest difference between two ways to run the same frames.

    Attributes:
        pair: what was compared.
        largest: largest absolute difference of any value, 0 if all are equal bit for bit; infinite where
            one value is a number and the other is not.
        frame: first frame, counted from 1, with the largest difference; None without one.
        name: the array it lies in; empty without one.
    """

    pair: tuple[str, str]
    largest: float = 0.0
    frame: int | None = None
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Comparison:
    """The outcome: `bound` is the largest difference that passes; 0 asks for equality bit for bit."""

    device: str
    frames: int
    bound: float
    differences: tuple[Difference, ...]

    @property
    def agrees(self) -> bool:
        """Whether every difference is within the bound."""
        return all(difference.largest <= self.bound for difference in self.differences)


def settings_of(manifest: Manifest) -> FrameSettings:
    """Return the settings that a manifest of ours was recorded with.

    Raises:
        UsageError: the manifest describes a frame that cannot be recorded here.
    """
    defaults = {entry.name: entry.default for entry in manifest.parameters}
    moved = {
        name: float(value)
        for name in ("k_speed", "k_damp", "radius", "magnitude")
        if isinstance(value := defaults.get(name), (int, float))
    }
    grid = manifest.grid
    return FrameSettings(
        width=grid.width,
        height=grid.height,
        substeps=manifest.substeps,
        frame_rate=manifest.frame_rate,
        dx=grid.dx,
        solver=manifest.solver,
        **moved,
    )


def capture_names(manifest: Manifest) -> set[str]:
    """Return the names of all named arrays."""
    return {entry.name for entry in manifest.parameters}


def _is_wave_frame(manifest: Manifest) -> bool:
    """Return whether there is all that `scripted_inputs` moves, with numbers to move it around."""
    rule = manifest.stability
    numbers = {entry.name for entry in manifest.parameters if isinstance(entry.default, (int, float))}
    moved = {"radius", "magnitude", rule.speed, rule.damping, rule.dt}
    return moved <= numbers and "pointer_from" in capture_names(manifest)


def scripted_inputs(manifest: Manifest, frame: int) -> dict[str, Any]:
    """Return the named values of a frame: a pointer on a curve over the grid, and moving parameters.

    Args:
        manifest: of a frame of ours.
        frame: counted from 0.
    """
    grid = manifest.grid
    given = {
        entry.name: entry.default for entry in manifest.parameters if isinstance(entry.default, (int, float))
    }
    rule = manifest.stability
    wave = math.sin(0.21 * frame)
    values: dict[str, Any] = {
        rule.damping: given[rule.damping] * (1.0 + 0.5 * wave),
        "radius": given["radius"] * (1.0 + 0.3 * math.cos(0.13 * frame)),
        "magnitude": given["magnitude"] * (1.0 + 0.5 * wave),
        rule.dt: given[rule.dt] * (1.0 - 0.05 * (1.0 + wave)),
    }
    speed = given[rule.speed] * (1.0 + 0.4 * wave)
    values[rule.speed] = min(speed, largest_stable(rule, rule.speed, given | values))
    values[grid.pointer] = _pointer(grid.width, grid.height, frame)
    values["pointer_from"] = _pointer(grid.width, grid.height, frame - 1)
    if "walls" in capture_names(manifest):
        values |= _scripted_basin(grid.width, grid.height, frame)
    return values


def _scripted_basin(width: int, height: int, frame: int) -> dict[str, Any]:
    """Return walls and a floor that move, a border that changes, sources and probes that wander and rest."""
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    walls = (columns == frame // 3 % width) & (rows % 8 > 1)
    turn = 0.1 * frame + np.arange(SOURCES)
    place = np.stack([(width - 1) * (0.5 + 0.5 * np.cos(turn)), (height - 1) * (0.5 + 0.5 * np.sin(turn))], 1)
    probes = np.where((np.arange(PROBES) % 4 == frame % 4)[:, None], NO_POINTER, place[::-1])
    return {
        "walls": walls.astype(np.uint8),
        "depth": (0.6 + 0.4 * np.cos(0.2 * columns + 0.05 * frame)).astype(np.float32),
        "border": np.array([frame // 20 % 2], np.int32),
        "source_pos": place.astype(np.float32),
        "source_freq": (3.0 + 0.3 * np.arange(SOURCES) + 0.01 * frame).astype(np.float32),
        "source_amp": np.full(SOURCES, 0.02, np.float32),
        "source_phase": (0.5 * np.arange(SOURCES)).astype(np.float32),
        "source_on": ((np.arange(SOURCES) + frame // 10) % 3 == 0).astype(np.int32),
        "probe_pos": probes.astype(np.float32),
    }


def _pointer(width: int, height: int, frame: int) -> tuple[float, float]:
    if frame < 0 or frame % _POINTER_PERIOD >= 3 * _POINTER_PERIOD // 4:
        return NO_POINTER
    return (
        (width - 1) * (0.5 + 0.45 * math.cos(0.17 * frame)),
        (height - 1) * (0.5 + 0.45 * math.sin(0.29 * frame)),
    )


def compare_frame(
    capture: Capture,
    device: str = "auto",
    frames: int = 100,
    *,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Run a capture of ours beside an eager tank and a live graph of the same settings.

    All three start from the contents that the file holds and take `scripted_inputs`.

    Args:
        capture: with a manifest.
        device: as for `open_player`.
        frames: how many.
        progress: called with the number of frames done.

    Raises:
        ReplayError: the capture has no manifest of a frame of ours, or cannot be replayed.
        DeviceError: the device is not the capture's.
        UsageError, RecordingError: the tank cannot be made.
    """
    from capture.device import find_device
    from capture.frame import record_graph
    from capture.tank import Tank

    manifest = capture.manifest
    if manifest is None or not _is_wave_frame(manifest):
        raise ReplayError(
            f"{capture.path.name} has no manifest of a wave frame, so there is no loop to compare"
        )
    settings = settings_of(manifest)
    compared = (*COMPARED, *(name for name in BASIN_COMPARED if name in capture_names(manifest)))
    with open_player(capture, device) as player:
        target = find_device(player.device)
        tank, recorded = Tank(settings, target), record_graph(Tank(settings, target))
        for name in tank.arrays:
            initial = player.get(name)
            tank.set(name, initial)
            recorded.tank.set(name, initial)

        def states() -> Iterator[dict[str, Mapping[str, np.ndarray]]]:
            for frame in range(frames):
                for name, value in scripted_inputs(manifest, frame).items():
                    player.set(name, value)  # first, since it checks the value
                    tank.set(name, value)
                    recorded.tank.set(name, value)
                tank.step()
                recorded.launch()
                player.launch()
                yield {
                    "eager": {name: tank.named(name).numpy() for name in compared},
                    "live": {name: recorded.tank.named(name).numpy() for name in compared},
                    "loaded": {name: player.get(name) for name in compared},
                }

        pairs = (("eager", "live"), ("eager", "loaded"), ("live", "loaded"))
        bound = CUDA_BOUND if capture.device_kind == "cuda" else 0.0
        return _compare(player.device, states(), pairs, bound, progress)


def compare_replays(
    capture: Capture,
    device: str = "auto",
    frames: int = 100,
    *,
    progress: Callable[[int], None] | None = None,
) -> Comparison:
    """Load a capture twice and replay both: equal bit for bit if it is deterministic.

    All regions are compared, named or not. The arguments and errors are those of `compare_frame`.
    """
    with open_player(capture, device) as first, open_player(capture, device) as second:

        def contents(player: Any) -> dict[str, np.ndarray]:
            result = {name: player.get(name) for name in player.parameters}
            named = {spec.region for spec in player.parameters.values()}
            unnamed = (region for region in capture.regions if region not in named)
            return result | {f"region {region}": player.region_bytes(region) for region in unnamed}

        def states() -> Iterator[dict[str, Mapping[str, np.ndarray]]]:
            for _ in range(frames):
                first.launch()
                second.launch()
                yield {"first load": contents(first), "second load": contents(second)}

        return _compare(first.device, states(), (("first load", "second load"),), 0.0, progress)


def _compare(
    device: str,
    states: Iterator[dict[str, Mapping[str, np.ndarray]]],
    pairs: tuple[tuple[str, str], ...],
    bound: float,
    progress: Callable[[int], None] | None,
) -> Comparison:
    largest = {pair: Difference(pair) for pair in pairs}
    frame = 0
    for frame, state in enumerate(states, start=1):
        for pair in pairs:
            for name, value in state[pair[0]].items():
                difference = largest_difference(value, state[pair[1]][name])
                if difference > largest[pair].largest:
                    largest[pair] = Difference(pair, difference, frame, name)
        if progress is not None:
            progress(frame)
    return Comparison(device, frame, bound, tuple(largest.values()))


def largest_difference(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest absolute difference of two arrays of one type and shape.

    0 only if they are equal bit for bit: two zeros of different sign, or two NaNs of different bits, count
    as the smallest number above 0. Infinite where just one of two values is a NaN, or infinities differ.
    """
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if a.tobytes() == b.tobytes():
        return 0.0
    if a.dtype.kind == "f":
        with np.errstate(invalid="ignore"):
            difference = np.abs(a.astype(np.float64) - b.astype(np.float64))
        difference[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
        largest = float(np.nan_to_num(difference, nan=np.inf, posinf=np.inf).max())
    else:
        largest = float(np.abs(a.astype(object) - b.astype(object)).max())
    return largest or math.ulp(0.0)
