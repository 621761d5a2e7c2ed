"""The solvers by name. A module of kernels is imported only when its solver is asked for."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING

from replay.errors import UsageError

if TYPE_CHECKING:
    from capture.kernels.base import Solver

_CLASSES = {
    "tuned": ("capture.kernels.tuned", "TunedSolver"),
    "reference": ("capture.kernels.reference", "ReferenceSolver"),
    "fused": ("capture.kernels.fused", "FusedSolver"),
    "basin": ("capture.kernels.basin", "BasinSolver"),
}


def solvers() -> tuple[str, ...]:
    """Return the names of all solvers, the default one first."""
    return tuple(_CLASSES)


def solver(name: str) -> Solver:
    """Return the solver of a name.

    Raises:
        UsageError: there is none of that name.
    """
    check_solver(name)
    module, class_name = _CLASSES[name]
    found: Solver = getattr(importlib.import_module(module), class_name)()
    return found


def check_solver(name: str) -> None:
    """Check that there is a solver of a name, without importing its kernels.

    Raises:
        UsageError: there is none.
    """
    if name not in _CLASSES:
        near = difflib.get_close_matches(name, _CLASSES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"unknown solver {name!r}", remedy=f"{hint}there are: {', '.join(_CLASSES)}")
