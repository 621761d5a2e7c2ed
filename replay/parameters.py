"""Parameters of a capture: what can be set, of which type and shape, and which values fit.

A specification comes from the manifest where there is one (known) and from the file where there is none
(inferred). Values are checked here, before any native code sees them.
"""

from __future__ import annotations

import difflib
import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from replay.elements import ElementType
from replay.errors import ParameterError

if TYPE_CHECKING:
    from replay.graph.model import Capture
    from replay.manifest import ParameterEntry, StabilityEntry


_LISTED = 64  # names that an error lists
_COMPARED = 1000  # and that an unknown one is compared with


@dataclass(frozen=True)
class ParameterSpec:
    """One named array.

    Attributes:
        name: the name bound in the file.
        element: type of one element.
        shape: shape of the array, without the element's inner shape.
        region: id of the memory region it names.
        known: True if the manifest says so, False if it was inferred from the file.
        label, unit: for people; empty if not known.
        minimum, maximum, default: in the parameter's unit; None if not known.
        logarithmic: whether a slider should move in ratios.
        editable: whether it is meant to be moved by a user (a height field is not a slider).
    """

    name: str
    element: ElementType
    shape: tuple[int, ...]
    region: int
    known: bool
    label: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    default: float | tuple[float, ...] | None = None
    logarithmic: bool = False
    editable: bool = False

    @functools.cached_property
    def full_shape(self) -> tuple[int, ...]:
        """Shape in scalars: the array's, then the element's."""
        return self.shape + self.element.inner_shape

    @functools.cached_property
    def nbytes(self) -> int:
        """Size of the whole array in bytes."""
        return math.prod(self.full_shape) * self.element.scalar.itemsize


def spec_named(specs: Mapping[str, ParameterSpec], name: str) -> ParameterSpec:
    """Return the specification of a name.

    Raises:
        ParameterError: no such name; lists near ones.
    """
    try:
        return specs[name]
    except KeyError:
        near = difflib.get_close_matches(name, itertools.islice(specs, _COMPARED), n=1)
        listed = ", ".join(itertools.islice(specs, _LISTED)) or "none"
        listed += f" and {len(specs) - _LISTED} more" if len(specs) > _LISTED else ""
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ParameterError(f"no parameter {name!r}", remedy=f"{hint}the capture names: {listed}") from None


def check_value(specs: Mapping[str, ParameterSpec], name: str, value: npt.ArrayLike) -> np.ndarray:
    """Return a value as a fresh contiguous array of the parameter's scalar type and full shape.

    Integers are taken for floats; floats are never taken for integers, nor numbers for booleans. One
    element is taken for an array that holds one: a scalar, or (x, y) for one vector. The manifest's
    minimum and maximum are for people and are not enforced here: see `check_limits`.

    Raises:
        ParameterError: unknown name, wrong type, wrong shape, out of the type's range, or not finite.
    """
    spec = spec_named(specs, name)
    given = _as_array(spec, value)
    if given.shape != spec.full_shape and (
        (given.shape == () and math.prod(spec.full_shape) == 1)
        or (given.shape == spec.element.inner_shape and math.prod(spec.shape) == 1)
    ):
        given = given.reshape(spec.full_shape)
    if given.shape != spec.full_shape:
        raise ParameterError(f"parameter {name!r} has shape {spec.full_shape}, the value has {given.shape}")
    _check_scalars(spec, given)
    result = _converted(given, spec.element.scalar)
    if result.dtype.kind == "f" and not np.isfinite(result).all():
        _refuse_not_finite(spec, given, result)
    return result


@np.errstate(over="ignore")  # an overflow is found afterwards, as an infinity
def _converted(given: np.ndarray, scalar: np.dtype) -> np.ndarray:
    return np.array(given, dtype=scalar, order="C")


def _as_array(spec: ParameterSpec, value: npt.ArrayLike) -> np.ndarray:
    """Return a value as an array on the host, without changing its numbers."""
    if not isinstance(value, (float, int, tuple, list, np.ndarray)):
        value = _host_array(spec, value)
    try:
        given = np.asarray(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise ParameterError(f"parameter {spec.name!r}: the value is no array: {error}") from error
    if given.dtype.kind == "O" and all(isinstance(item, int) for item in given.flat):
        raise ParameterError(f"parameter {spec.name!r}: an integer is beyond 64 bits")
    return given


def _host_array(spec: ParameterSpec, value: Any) -> Any:
    """Return what NumPy can take of a foreign array, and refuse one on a device."""
    device = getattr(value, "device", None)
    if getattr(device, "is_cuda", False) or (
        hasattr(value, "__cuda_array_interface__") and not hasattr(value, "__array__")
    ):
        raise ParameterError(
            f"parameter {spec.name!r} takes a value on the host, this is on {device or 'a CUDA device'}",
            remedy="pass array.numpy(), or write into the player's view",
        )
    return value.numpy() if callable(getattr(value, "numpy", None)) else value


def _check_scalars(spec: ParameterSpec, given: np.ndarray) -> None:
    """Refuse scalars of a kind or size that the parameter's type does not hold."""
    wanted = spec.element.scalar
    kinds = {"b": "b", "i": "iu", "u": "iu", "f": "fiu"}[wanted.kind]
    if given.size and given.dtype.kind not in kinds:
        raise ParameterError(f"parameter {spec.name!r} takes {wanted.name}, the value is {_kind_of(given)}")
    if wanted.kind in "iu" and given.size:
        limits = np.iinfo(wanted)
        low, high = int(given.min()), int(given.max())
        if low < limits.min or high > limits.max:
            raise ParameterError(
                f"parameter {spec.name!r} takes {wanted.name}, which holds {limits.min} to {limits.max}; "
                f"the value has {low if low < limits.min else high}"
            )


def _kind_of(given: np.ndarray) -> str:
    kind = {"U": "text", "S": "bytes", "O": "not a number", "c": "complex", "M": "a date"}
    return kind.get(str(given.dtype.kind), str(given.dtype))


def _refuse_not_finite(spec: ParameterSpec, given: np.ndarray, result: np.ndarray) -> None:
    index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
    at = f" at {index}" if result.size > 1 else ""
    if np.isfinite(given[index]):
        raise ParameterError(
            f"parameter {spec.name!r} takes {spec.element.scalar.name}, not holding {given[index]}{at}"
        )
    raise ParameterError(f"parameter {spec.name!r}: {given[index]}{at} is not finite")


def check_limits(spec: ParameterSpec, value: npt.ArrayLike) -> None:
    """Refuse a value outside the range that the manifest gives a parameter for people.

    The range holds what its ends become as elements: those can be set, so they can be given as well.

    Raises:
        ParameterError: names the value and the range.
    """
    numbers = np.atleast_1d(np.asarray(value))
    low = -np.inf if spec.minimum is None else spec.minimum
    high = np.inf if spec.maximum is None else spec.maximum
    held, least, most = numbers, low, high
    if spec.element.scalar.kind == "f":
        with np.errstate(over="ignore"):
            held = numbers.astype(spec.element.scalar).astype(np.float64)
            least, most = (float(spec.element.scalar.type(end)) for end in (low, high))
    outside = numbers[~((held >= min(low, least)) & (held <= max(high, most)))]
    if outside.size:
        unit = f" {spec.unit}" if spec.unit else ""
        raise ParameterError(
            f"parameter {spec.name!r}: {outside.flat[0]:g} is outside its range {low:g} to {high:g}{unit}"
        )


def specs_of(capture: Capture) -> dict[str, ParameterSpec]:
    """Return the specification of every named array, in file order, each name once.

    A name that is bound to two regions means the last one, as it does to Warp.
    """
    region_of = {binding.name: binding.region for binding in capture.bindings}
    entries = {entry.name: entry for entry in capture.manifest.parameters} if capture.manifest else {}
    return {name: _spec(capture, name, region, entries.get(name)) for name, region in region_of.items()}


def _spec(capture: Capture, name: str, region_id: int, entry: ParameterEntry | None) -> ParameterSpec:
    region = capture.regions.get(region_id)
    nbytes = region.nbytes if region else 0
    if entry is not None:
        spec = ParameterSpec(
            name=name,
            element=ElementType.named(entry.dtype),
            shape=tuple(entry.shape),
            region=region_id,
            known=True,
            label=entry.label,
            unit=entry.unit,
            minimum=entry.minimum,
            maximum=entry.maximum,
            default=entry.default,
            logarithmic=entry.logarithmic,
            editable=entry.editable,
        )
        if spec.nbytes == nbytes:  # a manifest that claims another size is not believed
            return spec
    if region is not None and region.element is not None and region.shape is not None:
        spec = ParameterSpec(name, region.element, region.shape, region_id, known=False)
        if spec.nbytes == nbytes:
            return spec
    return ParameterSpec(name, ElementType.named("uint8"), (nbytes,), region_id, known=False)


def _square(value: float) -> float:
    return value * value  # infinite where `value ** 2` raises OverflowError


def courant(stability: StabilityEntry, values: Mapping[str, float]) -> float:
    """Return how far the scheme is toward its stability limit: 1 is the limit, above it grows.

    The larger of a / ((2 - b)/4) and b / 2, infinite where b >= 2; a and b as in `StabilityEntry`. A
    negative speed or damping is unstable at any step and gives infinity.

    Args:
        stability: names and constants.
        values: speed (m^2/s^2), damping (1/s^2) and dt (s), by their names.
    """
    dt, dx2 = values[stability.dt], _square(stability.dx)
    a = values[stability.speed] * dt * dt / dx2 if dx2 else math.inf
    b = values[stability.damping] * dt * dt
    if not (a >= 0 and 0 <= b < 2):  # so that what is no number, of infinities, is not stable either
        return math.inf
    return max(4 * a / (2 - b), b / 2)


def largest_stable(stability: StabilityEntry, name: str, values: Mapping[str, float]) -> float:
    """Return the largest value of one parameter, the others kept, for which `courant` is at most `margin`.

    Args:
        stability: names and constants.
        name: the speed's, the damping's or dt's name.
        values: the values of all three, by name; that of `name` itself is not used.

    Returns:
        The value in the parameter's unit; 0 if none is stable, infinity if all are.

    Raises:
        ParameterError: the parameter has no part in the stability of the scheme.
    """
    m, dx2 = stability.margin, _square(stability.dx)
    if dx2 == 0:
        return 0.0
    if name == stability.dt:
        # both conditions are linear in dt^2: 4 s t/dx^2 <= m (2 - d t), and d t <= 2 m
        speed, damping = values[stability.speed], values[stability.damping]
        limits = [2 * m / (4 * speed / dx2 + m * damping) if speed or damping else math.inf]
        limits += [2 * m / damping] if damping else []
        return math.sqrt(min(limits))
    dt2 = _square(values[stability.dt])
    if dt2 == 0:
        return math.inf
    if name == stability.speed:
        b = values[stability.damping] * dt2
        return max(0.0, m * (2 - b) / 4 * dx2 / dt2) if b <= 2 * m else 0.0
    if name == stability.damping:
        a = values[stability.speed] * dt2 / dx2
        return max(0.0, min(2 - 4 * a / m, 2 * m) / dt2)
    raise ParameterError(f"parameter {name!r} has no part in the stability of the scheme")
