"""The one interface of all players: load a capture, move its parameters, launch it, read it back.

A backend implements the methods that start with `_`. Everything a caller may do is public and is the
same on every device; one test suite runs against every backend. Life of a player:

    load      the bytes of the capture and of the modules it records, nothing else
    set       remembers a value on the host and marks the name dirty
    launch    writes the dirty values, launches the graph once, applies the carry pairs
    reset     rewrites the contents that the file holds
    close     releases the graph; the memory lives on while a zero-copy view of it does
"""

from __future__ import annotations

import abc
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from replay.errors import ReplayError
from replay.graph.model import Capture
from replay.parameters import ParameterSpec, check_value, specs_of


class Player(abc.ABC):
    """A loaded capture.

    Attributes:
        capture: what was loaded.
        device: `cpu`, `cuda:0`, ...
        device_name: the name a person knows the device by.
        parameters: the named arrays, by name, in file order; a name that is bound twice appears once.
        frames: launches since loading or since `reset`.
    """

    def __init__(self, capture: Capture, device: str) -> None:
        self.capture = capture
        self.device = device
        self.device_name = device
        self.parameters: Mapping[str, ParameterSpec] = specs_of(capture)
        self.frames = 0
        self._pending: dict[str, np.ndarray] = {}
        self._closed = False

    def set(self, name: str, value: npt.ArrayLike) -> None:
        """Give a parameter a value, which the next launch uses.

        Args:
            name: a name in `parameters`.
            value: array-like of the parameter's shape followed by its element's inner shape; a scalar
                if the array holds one scalar. Integers are taken for floats, never floats for integers.

        Raises:
            ParameterError: unknown name, or a value of another type or shape, or not finite.
            ReplayError: the player is closed.
        """
        self._check_open()
        self._pending[name] = check_value(self.parameters, name, value)

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
        raw = self._read(name, spec.nbytes)
        return raw.view(spec.element.scalar).reshape(spec.full_shape)

    def view(self, name: str) -> Any:
        """Return the parameter's memory itself, without a copy, after writing pending values.

        Returns:
            On the CPU a NumPy array, on CUDA a `warp.array`; it keeps the memory alive.
        """
        self._check_open()
        spec = self._spec(name)
        self.flush()
        return self._view(spec)

    def flush(self) -> int:
        """Write the values set since the last launch to the device; return how many were written."""
        pending, self._pending = self._pending, {}
        for name, value in pending.items():
            self._write(name, value)
        return len(pending)

    def launch(self) -> None:
        """Write dirty values, launch the graph once, then copy each carry pair from source to target.

        Raises:
            ReplayError: with the native reason.
        """
        self._check_open()
        self.flush()
        self._launch()
        self._carry()
        self.frames += 1

    def reset(self, names: Iterable[str] | None = None) -> None:
        """Rewrite the contents that the file holds: of all regions, or of the named parameters."""
        self._check_open()
        if names is None:
            self._pending.clear()
            self.frames = 0
        else:
            names = [self._spec(name).name for name in names]
            for name in names:
                self._pending.pop(name, None)
        self._reset(names)

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
        from replay.parameters import spec_named

        return spec_named(self.parameters, name)

    def _check_open(self) -> None:
        if self._closed:
            raise ReplayError("the player is closed", remedy="open the capture again")

    @abc.abstractmethod
    def _write(self, name: str, value: np.ndarray) -> None:
        """Copy a checked, contiguous value into the parameter's memory, in stream order."""

    @abc.abstractmethod
    def _read(self, name: str, nbytes: int) -> np.ndarray:
        """Return a fresh uint8 array of the parameter's bytes, after all launches so far."""

    @abc.abstractmethod
    def _view(self, spec: ParameterSpec) -> Any:
        """Return the parameter's memory without a copy; the result keeps it alive."""

    @abc.abstractmethod
    def _launch(self) -> None:
        """Launch the graph once."""

    @abc.abstractmethod
    def _carry(self) -> None:
        """Apply the manifest's carry pairs at once (all sources are read before any target is written)."""

    @abc.abstractmethod
    def _reset(self, names: list[str] | None) -> None:
        """Rewrite initial contents of all regions (None) or of the named parameters."""

    @abc.abstractmethod
    def _synchronize(self) -> None:
        """Wait for the device."""

    @abc.abstractmethod
    def _close(self) -> None:
        """Release the graph and everything that was made for it."""
