"""Bytes of a region as numbers: its element type and shape as far as the model knows them."""

from __future__ import annotations

import math

import numpy as np

from replay.graph.model import Region


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
