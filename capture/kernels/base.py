"""The interface between the wave tank and the kernels that advance it.

A solver launches kernels on arrays that the tank owns; it allocates nothing and keeps no state, so the same
calls run eagerly and inside a capture. How a frame is recorded and saved is not its business.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import warp as wp

from replay.manifest import ArgumentEntry, KernelEntry

Array = Any  # warp.array: Warp's own annotation is a class that mypy takes for a dtype factory


@dataclass(frozen=True)
class TankArrays:
    """The arrays of one tank, all on one device.

    Attributes:
        width, height: cells in x and y, at least 3.
        dx: size of a cell in m.
        heights, heights_prev: height fields in m of this and the previous substep at the start of a
            frame; float32, shape (height, width).
        mouse_pos: vec2[1], pointer in cells (x, y), cell centres at whole numbers; (-1000, -1000) for none.
        pointer_from: vec2[1], where the pointer was at the previous frame; (-1000, -1000) for nowhere.
        k_speed: float32[1], wave speed squared in m^2/s^2.
        k_damp: float32[1], damping in 1/s^2.
        radius: float32[1], radius of a push in cells.
        magnitude: float32[1], height of a push in m.
        dt: float32[1], time of one substep in s.
        clock: int32[1], frames since the start; what `displace` launches adds one.
        scratch: further float32 arrays that the solver asked for, by its names.
        named: further arrays that a capture binds by name, as `FrameSettings.parameters` lists them.
    """

    width: int
    height: int
    dx: float
    heights: Array
    heights_prev: Array
    mouse_pos: Array
    pointer_from: Array
    k_speed: Array
    k_damp: Array
    radius: Array
    magnitude: Array
    dt: Array
    clock: Array
    scratch: Mapping[str, Array] = field(default_factory=dict)
    named: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """Which arrays of a tank hold the newest and the previous height field."""

    newest: Array
    previous: Array


class Solver(abc.ABC):
    """A way to advance the tank by one frame: one call of `displace`, one of `advance`.

    Attributes:
        name: how the command line and the manifest call it.
        summary: one line for people.
    """

    name: str
    summary: str

    @abc.abstractmethod
    def kernels(self) -> tuple[wp.Kernel, ...]:
        """Return every kernel that a frame may launch."""

    @abc.abstractmethod
    def access(self) -> Mapping[str, Mapping[str, str]]:
        """Return `read`, `write` or `read_write` by kernel key and name of an array argument."""

    @abc.abstractmethod
    def launches(self, width: int, height: int, substeps: int, *, cuda: bool) -> int:
        """Return how many launches one frame has, those of `displace` included."""

    @abc.abstractmethod
    def displace(self, arrays: TankArrays) -> None:
        """Launch the push of the pointer on `heights` and `heights_prev`, and advance `clock` by one."""

    @abc.abstractmethod
    def advance(self, arrays: TankArrays, substeps: int) -> State:
        """Launch all substeps of a frame, and say which two arrays hold the result.

        The result may lie in any two of `heights`, `heights_prev` and `scratch`. Where it lies depends on
        `substeps` and the kind of device only.
        """

    def scratch(self, width: int, height: int, *, cuda: bool) -> Mapping[str, tuple[int, ...]]:
        """Return names and shapes of the further float32 arrays that `advance` needs."""
        return {}

    def refusal(self, width: int, height: int, substeps: int, *, cuda: bool) -> str:
        """Return why this solver cannot run so, as a clause; empty if it can."""
        return ""

    def load(self, device: Any, width: int, height: int) -> None:
        """Compile and load the modules of a grid for a device, so that nothing is loaded during a capture."""
        for module in dict.fromkeys(kernel.module for kernel in self.kernels()):
            wp.load_module(module, device=device)

    def signatures(self) -> tuple[KernelEntry, ...]:
        """Return the signatures of all kernels, for the manifest."""
        return tuple(_signature(kernel, self.access().get(kernel.key, {})) for kernel in self.kernels())


def _signature(kernel: wp.Kernel, access: Mapping[str, str]) -> KernelEntry:
    return KernelEntry(
        kernel.key,
        tuple(
            ArgumentEntry(arg.label, type_name(arg.type), access.get(arg.label, ""))
            for arg in kernel.adj.args
        ),
    )


def type_name(kind: Any) -> str:
    """Return the name of a Warp type as a manifest writes it: `float32`, `vec2f`, `array2d[float32]`."""
    if isinstance(kind, wp.array):
        dims = f"{kind.ndim}d" if kind.ndim > 1 else ""
        return f"array{dims}[{type_name(kind.dtype)}]"
    builtin = {float: "float32", int: "int32", bool: "bool"}
    return builtin.get(kind) or str(wp.types.type_repr(kind)).rsplit(".", 1)[-1]
