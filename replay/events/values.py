"""Bytes of a region as numbers: its element type and shape as far as the model knows them."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from replay.elements import ElementType
from replay.graph.model import Provenance, Region


def typed(region: Region, raw: np.ndarray) -> np.ndarray:
    """Return a region's bytes in its element type and shape.

    Args:
        region: of the model.
        raw: its contents, uint8.

    Returns:
        A view of `raw`: of the array's shape and the element's inner shape; flat elements where the shape
        is not known or does not fill the region; flat bytes where the type is not known. A rest that fills
        no element is left out.
    """
    element = region.element
    if element is None or not element.nbytes:
        return raw
    whole = raw[: len(raw) // element.nbytes * element.nbytes]
    values = whole.view(element.scalar).reshape(-1, *element.inner_shape)
    if region.shape is not None and math.prod(region.shape) == len(values):
        return values.reshape(*region.shape, *element.inner_shape)
    return values


def retyped(region: Region, type_name: str) -> Region:
    """Return a region with an element type that the user says, marked assumed.

    The shape stays if the size of an element does, else it is one row of elements.

    Raises:
        ParameterError: no such type.
    """
    element = ElementType.named(type_name)
    same = region.element is not None and region.element.nbytes == element.nbytes
    shape = region.shape if same else (region.nbytes // element.nbytes,)
    return dataclasses.replace(region, element=element, shape=shape, provenance=Provenance.ASSUMED)
