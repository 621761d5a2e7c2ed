"""The one interface of all players: load a capture, move its parameters, launch it, read it back.

A backend implements the methods that start with `_` at the end; they know regions, not names. Everything
a caller may do is public and is the same on every device; one test suite runs against every backend. Life
of a player:

    load      the bytes of the capture and of the modules it records, nothing else
    set       remembers a value on the host and marks the name dirty
    launch    writes the dirty values, launches the graph once, applies the carry pairs
    reset     rewrites the contents that the file holds, in place: views stay valid
    close     releases the graph; the memory lives on while a zero-copy view of it does
"""

from __future__ import annotations

import abc
import dataclasses
import functools
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.errors import ReplayError
from replay.graph.model import Access, Capture
from replay.parameters import ParameterSpec, check_value, spec_named, specs_of
from replay.players.observer import Observer
from replay.players.snapshot import Snapshot, handle_slots

_REMEMBERED_NBYTES = 4096  # values up to this size are remembered, so that equal ones are not written again


class Player(abc.ABC):
    """A loaded capture.

    Attributes:
        capture: what was loaded.
        device: `cpu`, `cuda:0`, ...
        device_name: the name a person knows the device by.
        parameters: the named arrays, by name, in file order; a name that is bound twice appears once.
        frames: launches since loading or since `reset`.
        revision: grows whenever a launch, a reset or a written value may have changed memory; what was
            written through a view it does not know.
        observers: who is told of what enters the player, in this order.
    """

    def __init__(self, capture: Capture, device: str) -> None:
        self.capture = capture
        self.device = device
        self.device_name = device
        specs = specs_of(capture)
        self.frames = 0
        self.revision = 0
        self.observers: list[Observer] = []
        self._carry_pairs = _carry_pairs(capture, specs)
        self.parameters: Mapping[str, ParameterSpec] = _after_carry(capture, specs)
        self._pending: dict[str, np.ndarray] = {}
        self._written: dict[int, bytes] = {}
        self._viewed: set[int] = set()
        self._live: dict[int, np.ndarray] = {}
        self._closed = False

    def set(self, name: str, value: npt.ArrayLike) -> None:
        """Give a parameter a value, which the next launch uses.

        Args:
            name: a name in `parameters`.
            value: array-like of the parameter's shape followed by its element's inner shape; one
                element, such as a scalar or (x, y), if the array holds one. Integers are taken for
                floats, never floats for integers.

        Raises:
            ParameterError: unknown name, or a value of another type or shape, or not finite.
            ReplayError: the player is closed.
        """
        self._check_open()
        checked = check_value(self.parameters, name, value)
        self._pending.pop(name, None)  # of two names for one region, the one set last wins
        self._pending[name] = checked

    def holds(self, name: str, value: np.ndarray) -> bool:
        """Whether a parameter surely has the bytes of this array already: setting it would write nothing."""
        region = self._spec(name).region
        pending = any(self.parameters[other].region == region for other in self._pending)
        return not pending and self._is_written(region, value)

    def get(self, name: str) -> np.ndarray:
        """Return a copy of a parameter's present contents, pending values included.

        Returns:
            Array of the parameter's shape followed by its element's inner shape.

        Raises:
            ParameterError: unknown name.
            ReplayError: the player is closed, or the device failed.
        """
        self._check_open()
        spec = self._spec(name)
        self.flush()
        raw = self._read(spec.region) if spec.nbytes else np.empty(0, np.uint8)
        return raw.view(spec.element.scalar).reshape(spec.full_shape)

    def view(self, name: str) -> Any:
        """Return the parameter's memory itself, without a copy, after writing pending values.

        It shows every later launch and reset, and outlives `close`, after which nothing moves it.

        Returns:
            On the CPU a NumPy array, on CUDA a `warp.array` whose contents are ordered by the player's
            stream; both keep the memory alive.
        """
        self._check_open()
        spec = self._spec(name)
        self.flush()
        if spec.nbytes:
            self._viewed.add(spec.region)
        return self._view(spec)

    def region_bytes(self, region: int) -> np.ndarray:
        """Return a copy of any region's present contents, named or not, as uint8.

        Raises:
            ReplayError: no such region, the player is closed, or the device failed.
        """
        self._check_open()
        if region not in self.capture.regions:
            raise ReplayError(f"{self.capture.path.name} has no region {region}")
        self.flush()
        return self._read(region)

    def flush(self) -> int:
        """Write the values set since the last launch to the device; return how many were written.

        A value that equals the one written last is not written again where nothing else can have changed
        the memory: no operation, no carry pair, no view.
        """
        values: dict[int, np.ndarray] = {}
        for name, value in self._pending.items():
            if not value.nbytes:
                continue  # an array without elements may have no region at all
            region = self.parameters[name].region
            values.pop(region, None)
            values[region] = value
        changed = [(region, value) for region, value in values.items() if not self._is_written(region, value)]
        if changed:
            self.write_regions(changed)
        for region, value in changed:
            if value.nbytes <= _REMEMBERED_NBYTES:
                self._written[region] = value.tobytes()
        self._pending.clear()
        return len(changed)

    def _is_written(self, region: int, value: np.ndarray) -> bool:
        known = self._written.get(region)
        if known is None or region in self._viewed or known != value.tobytes():
            return False
        return self._written_on_device is not None and region not in self._written_on_device

    @functools.cached_property
    def _written_on_device(self) -> frozenset[int] | None:
        """Regions that a launch may change; None if that is not known, as without a manifest."""
        if self.capture.manifest is None:
            return None
        written = {
            use.region for op in self.capture.operations for use in op.uses if Access.WRITE in use.access
        }
        return frozenset(written | {target for _, target in self._carry_pairs})

    def launch(self) -> None:
        """Write dirty values, launch the graph once, then copy each carry pair from source to target.

        After it the targets hold the newest state, and the names of the sources mean them too.

        Raises:
            ReplayError: with the native reason.
        """
        self._check_open()
        self.flush()
        for observer in self.observers:
            observer.launching()
        self._launch()
        if self._carry_pairs:
            self._copy(self._carry_pairs)
        self.frames += 1
        self.revision += 1
        for observer in self.observers:
            observer.launched()

    def reset(self, names: Iterable[str] | None = None) -> None:
        """Rewrite the contents that the file holds: of all regions, or of the named parameters.

        Memory that the file has no contents for becomes zero. Pending values of what is rewritten are
        dropped.
        """
        self._check_open()
        if names is None:
            regions = set(self.capture.regions)
            self.frames = 0
        else:
            regions = {self._spec(name).region for name in names}
        for name in list(self._pending):
            if self.parameters[name].region in regions:
                del self._pending[name]
        for region in regions:
            self._written.pop(region, None)
        filled = [region for region in self.capture.regions if region in regions]
        self.write_regions([(region, self._initial(region)) for region in filled])

    def _keep_live_contents(self) -> None:
        """Remember the contents after loading, where they differ from the file's; a backend calls it once.

        Regions may hold mesh handles, which Warp replaces by live ones when it loads a file. A reset to the
        file's bytes would bring dead handles back.
        """
        if self.capture.meshes:
            self._live = {region: self._read(region) for region in self.capture.regions}

    def initial_bytes(self, region: int) -> np.ndarray:
        """Return what `reset` writes into a region, as uint8; not to be changed."""
        return self._initial(region)

    def _initial(self, region: int) -> np.ndarray:
        if region in self._live:
            return self._live[region]
        record = self.capture.regions[region]
        if record.data_offset is None:
            return np.zeros(record.nbytes, np.uint8)
        return np.frombuffer(self.capture.data, np.uint8, record.nbytes, record.data_offset)

    def write_regions(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """Write contiguous values over whole regions, in this order, as they are: nothing is checked.

        Where there are observers, the arrays must not change afterwards.
        """
        self._check_open()
        for region, _ in values:  # else the value set before would be taken for written still
            self._written.pop(region, None)
        self._write(values)
        self.revision += 1
        for observer in self.observers:
            observer.wrote(values)

    def snapshot(self) -> Snapshot:
        """Return the present contents of all regions, pending values included."""
        self._check_open()
        self.flush()
        return self._take()

    def restore(self, snapshot: Snapshot) -> None:
        """Write a snapshot into all regions, in place: views stay valid. Pending values are dropped.

        It may come from another player on the same device, if its regions are the same. Mesh handles stay
        this player's own.

        Raises:
            ReplayError: it is of other regions or of another device.
        """
        self._check_open()
        sizes = {region.id: region.nbytes for region in self.capture.regions.values()}
        if snapshot.device != self.device or sizes != {
            region: int(content.size) for region, content in snapshot.contents.items()
        }:
            raise ReplayError(
                f"a snapshot of {snapshot.device} does not fit {self.capture.path.name} on {self.device}",
                remedy="take it from a player of the same regions on the same device",
            )
        self._begin_restore(snapshot.frames)
        if self.capture.meshes:
            self._write(
                [(region, self._with_own_handles(snapshot.region_bytes(region), region)) for region in sizes]
            )
        else:
            self._put(snapshot)
        for observer in self.observers:
            observer.restored()

    def restore_bytes(self, contents: Mapping[int, np.ndarray], frames: int) -> None:
        """Write contents of all regions that came from elsewhere, such as a file; else as `restore`.

        Args:
            contents: uint8 arrays by region; they may change afterwards.
            frames: launches that led to them.

        Raises:
            ReplayError: they are of other regions.
        """
        self._check_open()
        sizes = {region.id: region.nbytes for region in self.capture.regions.values()}
        if sizes != {region: int(content.size) for region, content in contents.items()}:
            raise ReplayError(f"the state does not fit {self.capture.path.name}: its regions are others")
        self._begin_restore(frames)
        self._write([(region, self._with_own_handles(contents[region].copy(), region)) for region in sizes])
        for observer in self.observers:
            observer.restored()

    def _begin_restore(self, frames: int) -> None:
        self._pending.clear()
        self._written.clear()
        self.frames = frames
        self.revision += 1

    def _with_own_handles(self, content: np.ndarray, region: int) -> np.ndarray:
        slots = self._handle_slots.get(region)
        if slots is not None:
            content[slots] = self._initial(region)[slots]
        return content

    @functools.cached_property
    def _handle_slots(self) -> dict[int, np.ndarray]:
        return handle_slots(self.capture)

    def _take(self) -> Snapshot:
        """Return the contents of all regions; a backend may keep them on the device."""
        return Snapshot(
            self.device, self.frames, {region: self._read(region) for region in self.capture.regions}
        )

    def _put(self, snapshot: Snapshot) -> None:
        """Write what `_take` of a player on the same device returned."""
        self._write(list(snapshot.contents.items()))

    def synchronize(self) -> None:
        """Wait until the device has finished all launches."""
        self._check_open()
        self._synchronize()

    def close(self) -> None:
        """Release the graph. A second call does nothing."""
        if not self._closed:
            self._closed = True
            self._pending.clear()
            self._close()

    def __enter__(self) -> Player:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _spec(self, name: str) -> ParameterSpec:
        return spec_named(self.parameters, name)

    def _check_open(self) -> None:
        if self._closed:
            raise ReplayError("the player is closed", remedy="open the capture again")

    @abc.abstractmethod
    def _write(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """Copy contiguous values over whole regions, in this order and in stream order.

        The arrays may change or go as soon as this returns.
        """

    @abc.abstractmethod
    def _read(self, region: int) -> np.ndarray:
        """Return a fresh uint8 array of a region's bytes, after all launches so far."""

    @abc.abstractmethod
    def _view(self, spec: ParameterSpec) -> Any:
        """Return the parameter's memory without a copy; the result keeps it alive."""

    @abc.abstractmethod
    def _launch(self) -> None:
        """Launch the graph once."""

    @abc.abstractmethod
    def _copy(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Copy regions (source, target) at once: all sources are read before any target is written."""

    @abc.abstractmethod
    def _synchronize(self) -> None:
        """Wait for the device."""

    @abc.abstractmethod
    def _close(self) -> None:
        """Release the graph and everything that was made for it."""


def _after_carry(capture: Capture, specs: Mapping[str, ParameterSpec]) -> dict[str, ParameterSpec]:
    """Return the specifications as they hold between launches: an output is where it was carried to.

    Where two fields are swapped, as after an odd number of substeps, the source of one pair is the target of
    the other; its own memory holds the previous field then, which nobody means by the output's name.
    """
    carried = {
        source: dataclasses.replace(specs[source], region=specs[target].region)
        for source, target in (capture.manifest.carry if capture.manifest else ())
    }
    return {**specs, **carried}


def _carry_pairs(capture: Capture, parameters: Mapping[str, ParameterSpec]) -> list[tuple[int, int]]:
    """Return the manifest's carry pairs as regions, without those whose names are one region."""
    pairs = []
    for source, target in capture.manifest.carry if capture.manifest else ():
        for name in (source, target):
            if name not in parameters:
                raise ReplayError(
                    f"{capture.path.name}: the manifest carries {name!r}, which the file does not name"
                )
        if parameters[source].nbytes != parameters[target].nbytes:
            raise ReplayError(
                f"{capture.path.name}: the manifest carries {source!r} ({parameters[source].nbytes} bytes) "
                f"to {target!r} ({parameters[target].nbytes} bytes)"
            )
        if parameters[source].nbytes:
            pairs.append((parameters[source].region, parameters[target].region))
    return [(source, target) for source, target in pairs if source != target]
