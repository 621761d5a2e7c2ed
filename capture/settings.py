"""What a frame is recorded with: grid, substeps, the parameters' defaults and ranges; checked, no Warp.

Constants are those of the published wave example.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

from capture.basin import BASIN, NO_POINTER, basin_inputs, basin_outputs
from capture.device import free_host_memory, size_text
from capture.kernels import check_solver
from replay.errors import UsageError
from replay.manifest import CELL_RANGE, FRAME_RATE_RANGE, ParameterEntry, StabilityEntry

MIN_SIDE, MAX_SIDE = 3, 8192
MAX_SUBSTEPS = 10_000
K_SPEED, K_DAMP, RADIUS, MAGNITUDE = 60.0, 1000.0, 5.0, 0.3


@dataclass(frozen=True)
class FrameSettings:
    """Grid and parameters of a frame.

    Attributes:
        width, height: cells in x and y, 3 to 8192.
        substeps: steps of the wave equation in one frame, 1 to 10,000.
        frame_rate: frames in one second of simulated time, in 1/s.
        dx: size of a cell in m.
        solver: name of the kernels that advance the water.
        k_speed: wave speed squared in m^2/s^2.
        k_damp: damping in 1/s^2.
        radius: radius of a push in cells.
        magnitude: height of a push in m.
        dt: time of a substep in s. Worked out: 1 / (frame_rate substeps). If that is beyond the stability
            limit of the published wave speed and damping, as one substep of 1/60 s is, `frame_rate` is
            raised to the next whole number that is stable; `asked_frame_rate` keeps what was asked for.

    Raises:
        UsageError: on construction; a value has the wrong type or range, or makes the water unstable.
    """

    width: int = 128
    height: int = 128
    substeps: int = 16
    frame_rate: float = 60.0
    dx: float = 0.1
    solver: str = "tuned"
    k_speed: float = K_SPEED
    k_damp: float = K_DAMP
    radius: float = RADIUS
    magnitude: float = MAGNITUDE
    dt: float = field(init=False)
    asked_frame_rate: float = field(init=False)

    def __post_init__(self) -> None:
        for name in ("width", "height", "substeps"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool):
                raise UsageError(f"{name} is {value!r}, not a whole number")
        for entry in fields(self):
            if entry.init and entry.type == "float":
                value = getattr(self, entry.name)
                if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
                    raise UsageError(f"{entry.name} is {value!r}, not a finite number")
        self._check_ranges()
        check_solver(self.solver)
        object.__setattr__(self, "asked_frame_rate", self.frame_rate)
        if not self._stable_at(self.frame_rate, K_SPEED, K_DAMP):
            object.__setattr__(self, "frame_rate", self._stable_frame_rate())
        object.__setattr__(self, "dt", 1.0 / (self.frame_rate * self.substeps))
        if not self._stable_at(self.frame_rate, self.k_speed, self.k_damp):
            rule = self.stability
            courant = rule.courant(self.k_speed, self.dt)
            limit = math.sqrt(rule.margin) * rule.courant_limit(self.k_damp, self.dt)
            raise UsageError(
                f"the water would be unstable: k_speed {self.k_speed:g}, k_damp {self.k_damp:g} and substeps "
                f"of {self.dt:.3g} s give a Courant number of {courant:.3f}, the limit is {limit:.3f}",
                remedy="take more substeps, a higher frame rate or a lower k_speed or k_damp",
            )

    @property
    def stability(self) -> StabilityEntry:
        """The stability limit as the manifest states it."""
        return StabilityEntry(speed="k_speed", damping="k_damp", dt="dt", dx=self.dx)

    @property
    def field_bytes(self) -> int:
        """Size of one height field in bytes."""
        return 4 * self.width * self.height

    def parameters(self) -> tuple[ParameterEntry, ...]:
        """Return the named arrays of the frame in the order in which they are bound."""
        field, vector = ("float32", (self.height, self.width)), ("vec2f", (1,))
        return (
            ParameterEntry("heights", *field, "both", label="Heights", unit="m", default=0.0),
            ParameterEntry("heights_prev", *field, "both", label="Previous heights", unit="m", default=0.0),
            ParameterEntry("mouse_pos", *vector, "input", label="Pointer", unit="cells", default=NO_POINTER),
            ParameterEntry(
                "pointer_from", *vector, "input", label="Pointer before", unit="cells", default=NO_POINTER
            ),
            self._slider("k_speed", "Wave speed squared", "m^2/s^2", 1.0, 500.0, logarithmic=True),
            self._slider("k_damp", "Damping", "1/s^2", 0.0, 20_000.0),
            self._slider("radius", "Push radius", "cells", 1.0, 50.0),
            self._slider("magnitude", "Push height", "m", -1.0, 1.0),
            self._slider("dt", "Time step", "s", self.dt / 10.0, self.dt * 10.0, logarithmic=True),
            ParameterEntry(
                "clock", "int32", (1,), "both", label="Frames replayed", unit="frames", default=0.0
            ),
            *(basin_inputs(self.width, self.height) if self.solver == BASIN else ()),
            ParameterEntry("heights_out", *field, "output", label="Heights after", unit="m"),
            ParameterEntry("heights_prev_out", *field, "output", label="Previous heights after", unit="m"),
            *(basin_outputs(self.substeps) if self.solver == BASIN else ()),
        )

    def _slider(
        self, name: str, label: str, unit: str, low: float, high: float, *, logarithmic: bool = False
    ) -> ParameterEntry:
        value = float(getattr(self, name))
        low, high = min(low, value), max(high, value)
        return ParameterEntry(
            name,
            "float32",
            (1,),
            "input",
            label=label,
            unit=unit,
            minimum=low,
            maximum=high,
            default=value,
            logarithmic=logarithmic and low > 0.0,
            editable=True,
        )

    def _check_ranges(self) -> None:
        for name in ("width", "height"):
            side = getattr(self, name)
            if side < MIN_SIDE:
                raise UsageError(
                    f"{name} is {_short(side)}", remedy=f"sides go from {MIN_SIDE} to {MAX_SIDE} cells"
                )
            if side > MAX_SIDE:
                raise UsageError(
                    f"{name} is {_short(side)}{self._needed()}",
                    remedy=f"sides go from {MIN_SIDE} to {MAX_SIDE} cells",
                )
        if not 1 <= self.substeps <= MAX_SUBSTEPS:
            raise UsageError(f"substeps is {_short(self.substeps)}", remedy=f"take 1 to {MAX_SUBSTEPS}")
        for name, (low, high) in (("frame_rate", FRAME_RATE_RANGE), ("dx", CELL_RANGE)):
            if not low <= getattr(self, name) <= high:
                raise UsageError(
                    f"{name} is {getattr(self, name):g}", remedy=f"it must be from {low:g} to {high:g}"
                )
        if self.radius <= 0.0:
            raise UsageError(f"radius is {self.radius:g}", remedy="it must be greater than 0")
        for name in ("k_speed", "k_damp"):
            if getattr(self, name) < 0.0:
                raise UsageError(f"{name} is {getattr(self, name):g}", remedy="it must not be negative")

    def _needed(self) -> str:
        """Return what both height fields need and what is free, as a clause; empty if beyond any number."""
        needed = 2 * self.field_bytes
        if not 0 < needed < 1 << 100:
            return ""
        free = free_host_memory()
        have = f", {size_text(free)} are free" if free is not None else ""
        return f": a grid of {self.width} x {self.height} needs {size_text(needed)} of memory{have}"

    def _stable_at(self, frame_rate: float, speed: float, damping: float) -> bool:
        return self.stability.allows(speed, damping, 1.0 / (frame_rate * self.substeps))

    def _stable_frame_rate(self) -> float:
        # a <= margin (2 - b)/4 with a = K_SPEED dt^2/dx^2, b = K_DAMP dt^2, solved for dt.
        margin = self.stability.margin
        per_dt2 = 4.0 * K_SPEED / (margin * self.dx**2) + K_DAMP
        return float(math.ceil(math.sqrt(per_dt2 / 2.0) / self.substeps + 1e-9))


def _short(number: int) -> str:
    return (
        str(number) if abs(number) < 10**20 else f"about 10^{int(abs(number).bit_length() * math.log10(2.0))}"
    )
