"""Element types of arrays by their Warp names, without Warp.

A name such as `float32`, `vec2f` or `mat33d` stands for a NumPy scalar type and the shape of one element.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass

import numpy as np

from replay.errors import ParameterError

_SCALARS = {
    "bool": "bool",
    "int8": "int8", "uint8": "uint8", "int16": "int16", "uint16": "uint16",
    "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64",
    "float16": "float16", "float32": "float32", "float64": "float64",
}  # fmt: skip
_SUFFIXES = {
    "h": "float16", "f": "float32", "d": "float64",
    "b": "int8", "ub": "uint8", "s": "int16", "us": "uint16",
    "i": "int32", "ui": "uint32", "l": "int64", "ul": "uint64",
}  # fmt: skip
_VECTOR = re.compile(r"vec(\d)([a-z]{1,2})$")
_MATRIX = re.compile(r"mat(\d)(\d)([a-z]{1,2})$")
_NAMED = {"quat": (4,), "transform": (7,), "spatial_vector": (6,), "spatial_matrix": (6, 6)}


@dataclass(frozen=True)
class ElementType:
    """One element of an array: a scalar type and the shape of scalars in it."""

    name: str
    scalar: np.dtype
    inner_shape: tuple[int, ...] = ()

    @property
    def nbytes(self) -> int:
        """Size of one element in bytes."""
        return self.scalar.itemsize * math.prod(self.inner_shape)

    @classmethod
    @functools.lru_cache(maxsize=1024)
    def named(cls, name: str) -> ElementType:
        """Return the element type of a Warp name.

        Raises:
            ParameterError: the name is no element type.
        """
        if name in _SCALARS:
            return cls(name, np.dtype(_SCALARS[name]))
        suffix = ""
        shape: tuple[int, ...] = ()
        if match := _VECTOR.match(name):
            suffix, shape = match[2], (int(match[1]),)
        elif match := _MATRIX.match(name):
            suffix, shape = match[3], (int(match[1]), int(match[2]))
        elif (base := name[:-1]) in _NAMED:
            suffix, shape = name[-1], _NAMED[base]
        if suffix not in _SUFFIXES:
            raise ParameterError(
                f"unknown element type {name!r}",
                remedy="use a Warp name such as float32, int32, vec2f or mat33d",
            )
        return cls(name, np.dtype(_SUFFIXES[suffix]), shape)
