"""The wave tank: the arrays of one simulation on one device, and one eager frame at a time.

The same arrays and the same launches are what `capture.frame` records; stepping eagerly is the yardstick
for a replay.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import warp as wp

from capture.basin import NO_POINTER
from capture.device import free_memory, size_text
from capture.kernels import solver
from capture.kernels.base import Array, Solver, State, TankArrays
from capture.settings import FrameSettings
from replay.elements import ElementType
from replay.errors import RecordingError, UsageError
from replay.manifest import ParameterEntry


class Tank:
    """A wave tank at rest.

    Attributes:
        settings: grid and parameters.
        device: the Warp device.
        solver: the kernels that advance it.
        fields: the arrays as a solver takes them.
    """

    def __init__(self, settings: FrameSettings, device: Any) -> None:
        """Allocate the arrays and load the kernels.

        Raises:
            RecordingError: not enough memory, or the kernels cannot be built.
            UsageError: unknown solver, or one that cannot run this grid on this device.
        """
        self.settings, self.device = settings, wp.get_device(device)
        self.solver: Solver = solver(settings.solver)
        size = settings.width, settings.height
        if reason := self.solver.refusal(*size, settings.substeps, cuda=self.device.is_cuda):
            raise UsageError(
                f"solver {settings.solver!r} cannot run this: {reason}", remedy="use --solver reference"
            )
        scratch = self.solver.scratch(*size, cuda=self.device.is_cuda)
        _check_memory(
            settings,
            self.device,
            2 * settings.field_bytes
            + sum(4 * int(np.prod(s)) for s in scratch.values())
            + sum(entry.nbytes for entry in self._further()),
        )
        try:
            self.solver.load(self.device, settings.width, settings.height)
            self.fields = self._allocate(scratch)
        except RuntimeError as error:
            raise RecordingError(f"the tank cannot be set up on {self.device.alias}: {error}") from error

    @property
    def arrays(self) -> dict[str, Array]:
        """The named inputs by name; `heights` is the newest field."""
        names = [entry.name for entry in self.settings.parameters() if entry.role != "output"]
        return {name: self.named(name) for name in names}

    def named(self, name: str) -> Array:
        """Return an array by the name that a capture binds."""
        found = self.fields.named.get(name)
        return getattr(self.fields, name) if found is None else found

    @property
    def heights(self) -> Array:
        """The newest height field in m; float32, shape (height, width)."""
        return self.fields.heights

    def launch_frame(self) -> State:
        """Launch the kernels of one frame, and nothing else; return which arrays hold the result."""
        self.solver.displace(self.fields)
        return self.solver.advance(self.fields, self.settings.substeps)

    def step(self) -> None:
        """Advance by one frame; `heights` and `heights_prev` then name the result."""
        self.adopt(self.launch_frame())

    def adopt(self, state: State) -> None:
        """Let `heights` and `heights_prev` name the arrays of a result, and the others the rest."""
        pool = {
            id(a): a for a in (self.fields.heights, self.fields.heights_prev, *self.fields.scratch.values())
        }
        del pool[id(state.newest)], pool[id(state.previous)]
        scratch = dict(zip(self.fields.scratch, pool.values(), strict=True))
        self.fields = dataclasses.replace(
            self.fields, heights=state.newest, heights_prev=state.previous, scratch=scratch
        )

    def set(self, name: str, value: Any) -> None:
        """Write a parameter in place, as a replay does: a number, or an array of its shape."""
        array = self.arrays[name]
        now = array.numpy()
        array.assign(np.asarray(value, dtype=now.dtype).reshape(now.shape))

    def _further(self) -> list[_Further]:
        """Return the named arrays that not every tank has."""
        common = {entry.name for entry in dataclasses.fields(TankArrays)} | {
            "heights_out",
            "heights_prev_out",
        }
        return [_Further.of(entry) for entry in self.settings.parameters() if entry.name not in common]

    def _allocate(self, scratch: Any) -> TankArrays:
        settings = self.settings
        shape = settings.height, settings.width

        def single(value: float) -> Array:
            return wp.full(1, value, dtype=wp.float32, device=self.device)

        def pointer() -> Array:
            return wp.array([NO_POINTER], dtype=wp.vec2, device=self.device)

        return TankArrays(
            width=settings.width,
            height=settings.height,
            dx=settings.dx,
            heights=wp.zeros(shape, dtype=wp.float32, device=self.device),
            heights_prev=wp.zeros(shape, dtype=wp.float32, device=self.device),
            mouse_pos=pointer(),
            pointer_from=pointer(),
            k_speed=single(settings.k_speed),
            k_damp=single(settings.k_damp),
            radius=single(settings.radius),
            magnitude=single(settings.magnitude),
            dt=single(settings.dt),
            clock=wp.zeros(1, dtype=wp.int32, device=self.device),
            scratch={name: wp.zeros(s, dtype=wp.float32, device=self.device) for name, s in scratch.items()},
            named={entry.name: entry.allocate(self.device) for entry in self._further()},
        )


@dataclasses.dataclass(frozen=True)
class _Further:
    """A named array with its first contents, on the host; `dtype` is Warp's."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    default: float | tuple[float, ...]
    nbytes: int

    @classmethod
    def of(cls, entry: ParameterEntry) -> _Further:
        element = ElementType.named(entry.dtype)
        default = math.nan if entry.default is None else entry.default
        if element.scalar.kind in "iu" and not isinstance(default, tuple):
            default = int(default)
        return cls(
            entry.name,
            getattr(wp, entry.dtype),
            entry.shape,
            default,
            element.nbytes * math.prod(entry.shape),
        )

    def allocate(self, device: Any) -> Array:
        value = self.dtype(*self.default) if isinstance(self.default, tuple) else self.default
        return wp.full(self.shape, value, dtype=self.dtype, device=device)


def _check_memory(settings: FrameSettings, device: Any, nbytes: int) -> None:
    """Check that the arrays fit, and on the CPU the copy of them that saving makes."""
    needed = nbytes if device.is_cuda else 3 * nbytes
    free = free_memory(device)
    if free is not None and needed > free:
        raise RecordingError(
            f"a grid of {settings.width} x {settings.height} needs {size_text(needed)} on {device.alias}, "
            f"{size_text(free)} are free",
            remedy="take a smaller grid",
        )
