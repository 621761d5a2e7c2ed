"""Parameters of a capture: what can be set, of which type and shape, and which values fit.

A specification comes from the manifest where there is one (known) and from the file where there is none
(inferred). Values are checked here, before any native code sees them.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from replay.elements import ElementType
from replay.errors import ParameterError

if TYPE_CHECKING:
    from replay.graph.model import Capture


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

    @property
    def full_shape(self) -> tuple[int, ...]:
        """Shape in scalars: the array's, then the element's."""
        return self.shape + self.element.inner_shape

    @property
    def nbytes(self) -> int:
        """Size of the whole array in bytes."""
        return int(np.prod(self.full_shape, dtype=np.int64)) * self.element.scalar.itemsize


def spec_named(specs: Mapping[str, ParameterSpec], name: str) -> ParameterSpec:
    """Return the specification of a name.

    Raises:
        ParameterError: no such name; lists near ones.
    """
    try:
        return specs[name]
    except KeyError:
        near = difflib.get_close_matches(name, specs, n=1)
        listed = ", ".join(specs) or "none"
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ParameterError(f"no parameter {name!r}", remedy=f"{hint}the capture names: {listed}") from None


def check_value(specs: Mapping[str, ParameterSpec], name: str, value: npt.ArrayLike) -> np.ndarray:
    """Return a value as a fresh contiguous array of the parameter's scalar type and full shape.

    Integers are taken for floats; floats are never taken for integers. A scalar is taken for an array
    that holds one scalar.

    Raises:
        ParameterError: unknown name, wrong type, wrong shape, out of the type's range, or not finite.
    """
    raise NotImplementedError


def specs_of(capture: Capture) -> dict[str, ParameterSpec]:
    """Return the specification of every named array, in file order, each name once."""
    raise NotImplementedError
