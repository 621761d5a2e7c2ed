"""The parameters as a user edits them: values, limits, undo and redo, and what must be uploaded.

The editor holds the truth about what the user asked for; the player is told once a frame, in `upload`. Only
where the graph writes a value as well, what it wrote last is taken over, by `follow`.
Values outside a parameter's range or beyond the scheme's stability limit cannot be set here. No window.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from replay.errors import ParameterError
from replay.manifest import StabilityEntry
from replay.parameters import ParameterSpec, courant, largest_stable
from replay.players.base import Player

Value = tuple[float, ...]
MAX_SCALARS = 16
"""Arrays of more scalars have no widgets; they are shown by type and shape only."""
MAX_UNDO = 200


@dataclass(frozen=True)
class Change:
    """One step that undo takes back: values before and after, by name."""

    before: Mapping[str, Value]
    after: Mapping[str, Value]


@dataclass(frozen=True)
class Step:
    """One step that undo takes back, of something that is not a parameter of the editor."""

    undo: Callable[[], object]
    redo: Callable[[], object]


class ParameterEditor:
    """Values of the editable parameters.

    Args:
        specs: all named arrays of the capture.
        values: present values of the editable ones, flat.
        stability: the scheme's limit, None if the capture states none.
        fixed: values in that limit that are not editable.

    Attributes:
        names: editable parameters, in file order.
        values, defaults: by name, flat tuples.
        revision: changes with every change of a value, so that texts made from values can be kept.
    """

    def __init__(
        self,
        specs: Mapping[str, ParameterSpec],
        values: Mapping[str, Value],
        stability: StabilityEntry | None = None,
        fixed: Mapping[str, float] | None = None,
    ) -> None:
        self.specs = {name: specs[name] for name in values}
        self._fixed = dict(fixed or {})
        self.names = tuple(values)
        self.values = dict(values)
        self.defaults = {name: self._default(name, value) for name, value in values.items()}
        self.revision = 0
        self._stability = stability if stability is not None and self._has_all(stability) else None
        self._dirty: set[str] = set()
        self._undo: list[Change | Step] = []
        self._redo: list[Change | Step] = []
        self._held: dict[str, Value] = {}
        self._limits: dict[str, tuple[float | None, float | None]] = {}
        self._written: set[str] = set()
        self._live: set[str] = set()

    @classmethod
    def of_player(cls, player: Player) -> ParameterEditor:
        """Return an editor of what a player's capture lets a user edit, with its present values.

        With a manifest these are the parameters that it calls editable; without one, every small array
        of numbers.
        """
        manifest = player.capture.manifest
        values = {}
        for name, spec in player.parameters.items():
            size = int(np.prod(spec.full_shape, dtype=np.int64))
            if size <= MAX_SCALARS and (spec.editable if manifest is not None else size > 0):
                values[name] = tuple(player.get(name).reshape(-1).tolist())
        stability = manifest.stability if manifest is not None else None
        fixed = {}
        if stability is not None:
            for name in (stability.speed, stability.damping, stability.dt):
                if name not in values and name in player.parameters:
                    fixed[name] = float(player.get(name).reshape(-1)[0])
        return cls(player.parameters, values, stability, fixed)

    def limits(self, name: str) -> tuple[float | None, float | None]:
        """Return the smallest and largest value that can be set now; None where there is no bound."""
        if name not in self._limits:
            spec = self.specs[name]
            high = spec.maximum
            if self._stability is not None and name in (
                self._stability.speed,
                self._stability.damping,
                self._stability.dt,
            ):
                stable = largest_stable(self._stability, name, self._scalars())
                # A float32 must not round up across the limit.
                stable = float(np.nextafter(np.float32(stable), np.float32(0)))
                high = stable if high is None else min(high, stable)
            self._limits[name] = (spec.minimum, high)
        return self._limits[name]

    @property
    def courant(self) -> float | None:
        """Courant number as a share of the stability limit; None if the capture states none."""
        if self._stability is None:
            return None
        return courant(self._stability, self._scalars())

    def move(self, name: str, value: Value | float) -> None:
        """Set a value, clamped to its limits, as part of a movement that `settle` ends."""
        old = self.values[name]
        new = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        self._check(name, new)
        new = self._clamped(name, new)
        if not _same(new, old):
            self._held.setdefault(name, old)
            self._put(name, new)
        elif name in self._live:
            self._put(name, new)  # it may be another value by now

    def settle(self) -> None:
        """End a movement: what was moved since the last time becomes one step for undo."""
        before = {name: value for name, value in self._held.items() if not _same(self.values[name], value)}
        self._held.clear()
        if before:
            self._add(Change(before, {name: self.values[name] for name in before}))

    def record(self, step: Step) -> None:
        """Take a step of something else into the same order of undo and redo."""
        self.settle()
        self._add(step)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all that is changed meanwhile one step for undo."""
        self.settle()
        before, self._undo = self._undo, []
        try:
            yield
        finally:
            self.settle()
            steps, self._undo = self._undo, before
            if steps:
                self._add(
                    Step(
                        undo=lambda: [self._take_back(step) for step in reversed(steps)],
                        redo=lambda: [self._do_again(step) for step in steps],
                    )
                )

    def forget(self) -> None:
        """Forget the steps so far: what is set now is where undo ends."""
        self._held.clear()
        self._undo.clear()
        self._redo.clear()

    def _add(self, change: Change | Step) -> None:
        self._undo.append(change)
        del self._undo[:-MAX_UNDO]
        self._redo.clear()

    def apply(self, values: Mapping[str, float | Value]) -> list[str]:
        """Set several values as one step; return a message for each that could not be set as asked.

        Unknown names are told and left out. The time step is set first and the wave speed last, so that it is
        the speed that gives way to the stability limit.

        Raises:
            ParameterError: a value is not finite, or has the wrong length; then nothing is set.
        """
        self.settle()
        messages = []
        known = {}
        for name, value in values.items():
            if name in self.values:
                known[name] = tuple(value) if isinstance(value, (tuple, list)) else (float(value),)
                self._check(name, known[name])
            else:
                messages.append(f"this capture has no editable parameter {name!r}")
        order = () if self._stability is None else (self._stability.damping, self._stability.speed)
        for name in order:  # they make room first: the limit of the time step depends on them
            if name in known:
                low = self.specs[name].minimum
                self.move(name, low if low is not None else 0.0)
        for name in sorted(known, key=lambda name: order.index(name) if name in order else -1):
            self.move(name, known[name])
            if not np.allclose(_floats(self.values[name]), _floats(known[name]), rtol=1e-6, atol=0):
                got, wanted = self.values[name][0], known[name][0]
                messages.append(f"{name} was set to {got:.6g}, the nearest possible to {wanted:.6g}")
        self.settle()
        return messages

    def is_default(self, name: str) -> bool:
        """Whether a parameter has its default value."""
        return _same(self.values[name], self.defaults[name])

    def reset(self, names: Iterable[str] | None = None) -> list[str]:
        """Give the default back to some parameters, or to all, as one step; return as `apply` does."""
        return self.apply({name: self.defaults[name] for name in (self.names if names is None else names)})

    def undo(self) -> bool:
        """Take the last step back; return whether there was one."""
        self.settle()
        if not self._undo:
            return False
        change = self._undo.pop()
        self._redo.append(change)
        self._take_back(change)
        return True

    def redo(self) -> bool:
        """Do again what undo took back; return whether there was something."""
        self.settle()
        if not self._redo:
            return False
        change = self._redo.pop()
        self._undo.append(change)
        self._do_again(change)
        return True

    def _take_back(self, change: Change | Step) -> None:
        if isinstance(change, Step):
            change.undo()
            return
        for name, value in change.before.items():
            self._put(name, value)

    def _do_again(self, change: Change | Step) -> None:
        if isinstance(change, Step):
            change.redo()
            return
        for name, value in change.after.items():
            self._put(name, value)

    @property
    def can_undo(self) -> bool:
        """Whether `undo` would do something."""
        return bool(self._undo or self._held)

    @property
    def can_redo(self) -> bool:
        """Whether `redo` would do something."""
        return bool(self._redo)

    def upload(self, player: Player) -> int:
        """Give the player what changed since the last call; return how many parameters that were."""
        if not self._dirty:
            return 0
        names, self._dirty = self._dirty, set()
        for name in names:
            spec = self.specs[name]
            player.set(name, np.asarray(self.values[name], spec.element.scalar).reshape(spec.full_shape))
        return len(names)

    def read(self, player: Player) -> None:
        """Take the values that a player has now, as after it was rewound; that is no step for undo."""
        self._dirty.clear()
        self._held.clear()
        for name in self.names:
            value = tuple(player.get(name).reshape(-1).tolist())
            if value != self.values[name]:
                self._put(name, value)
        self._dirty.clear()

    def follow(self, player: Player) -> None:
        """Take the values that the graph itself has written; that is no step for undo, and nobody's wish."""
        for name in self.names:
            if name in self._dirty or name in self._held:
                continue  # what the user wants comes first
            live = player.get(name).reshape(-1)
            if not np.array_equal(live, self.values[name], equal_nan=live.dtype.kind == "f"):
                self._put(name, tuple(live.tolist()))
                self._dirty.discard(name)
                self._written.add(name)
                self._live.add(name)

    def touch_all(self) -> None:
        """Mark for upload what the user may have set: the player's memory was rewritten."""
        self._dirty.update(name for name in self.names if name not in self._written)

    def adopt(self, other: ParameterEditor) -> list[str]:
        """Take the changed values of another editor, as after a new capture of the same frame."""
        return self.apply({name: value for name, value in other.changed().items() if name in self.values})

    def changed(self) -> dict[str, Value]:
        """Return the values that are not their defaults, without those that the graph wrote last."""
        names = (name for name in self.names if name not in self._written)
        return {name: self.values[name] for name in names if not self.is_default(name)}

    def scalars(self) -> dict[str, float]:
        """Return all parameters that are one number."""
        return {name: float(value[0]) for name, value in self.values.items() if len(value) == 1}

    def command_line(self, path: str) -> str:
        """Return the command that opens a capture with the present values."""
        words = ["ripplescope", path]
        for name, value in self.changed().items():
            scalar = self.specs[name].element.scalar
            words += ["--param", f"{name}={','.join(_exact(scalar, number) for number in value)}"]
        return shlex.join(words)

    def _put(self, name: str, value: Value) -> None:
        self.values[name] = value
        self._written.discard(name)
        self._dirty.add(name)
        self._limits.clear()
        self.revision += 1

    def _check(self, name: str, value: Value) -> None:
        if len(value) != len(self.values[name]):
            raise ParameterError(f"{name} holds {len(self.values[name])} numbers, not {len(value)}")
        for number in value:
            if not isinstance(number, int) and not np.isfinite(number):
                raise ParameterError(f"{name} cannot be {number}", remedy="give a finite number")

    def _clamped(self, name: str, value: Value) -> Value:
        scalar = self.specs[name].element.scalar
        low, high = self.limits(name)
        if scalar.kind in "iu":
            info = np.iinfo(scalar)
            low = info.min if low is None else max(low, info.min)
            high = info.max if high is None else min(high, info.max)
            return tuple(int(min(max(number, low), high)) for number in value)
        if scalar.kind == "b":
            return tuple(bool(number) for number in value)
        largest = float(np.finfo(scalar).max)
        low = -largest if low is None else max(low, -largest)
        high = largest if high is None else min(high, largest)
        return tuple(float(scalar.type(min(max(number, low), high))) for number in value)

    def _default(self, name: str, present: Value) -> Value:
        default = self.specs[name].default
        if default is None:
            return present
        numbers = default if isinstance(default, tuple) else (default,)
        if len(numbers) != len(present):
            return present
        scalar = self.specs[name].element.scalar
        return tuple(scalar.type(number).item() for number in numbers)

    def _has_all(self, stability: StabilityEntry) -> bool:
        return all(
            name in self._fixed or len(self.values.get(name, ())) == 1
            for name in (stability.speed, stability.damping, stability.dt)
        )

    def _scalars(self) -> dict[str, float]:
        return {**self._fixed, **self.scalars()}


def _floats(value: Value) -> list[float]:
    return [float(number) for number in value]  # an integer may be beyond what NumPy holds


def _same(first: Value, second: Value) -> bool:
    """Whether two values are equal, also in the signs of their zeros."""
    return first == second and (
        0 not in first
        or all(math.copysign(1, a) == math.copysign(1, b) for a, b in zip(first, second, strict=True))
    )


def _exact(scalar: np.dtype, number: float) -> str:
    """Return the shortest text that gives the same element again."""
    return str(int(number)) if scalar.kind == "b" else str(scalar.type(number)).removesuffix(".0")
