"""A long row of numbers as columns of pixels: lowest and highest value in each, for a line or for bars."""

from __future__ import annotations

import numpy as np

MOST_BARS = 64
"""So few numbers are bars, more are a line."""
_BAR = 0.4  # half the width of a bar, in steps from one to the next


def as_bars(count: int) -> bool:
    """Whether so many numbers are drawn as bars."""
    return count <= MOST_BARS


def line_columns(values: np.ndarray, first: float, last: float, width: int) -> np.ndarray:
    """Return what a line through numbers covers in each column of pixels.

    Args:
        values: (n,); number i stands at index i.
        first, last: indices at the left and right edge of the picture.
        width: in pixels.

    Returns:
        (width, 3) float64: lowest, highest value, NaN where there is no line; and 1 where a number that is
        not finite lies in the column.
    """
    values = np.asarray(values, np.float64)
    count = len(values)
    edges = np.linspace(first, last, width + 1)
    out = np.full((width, 3), np.nan)
    out[:, 2] = 0.0
    wrong = ~np.isfinite(values)
    if wrong.any():
        places = (np.flatnonzero(wrong) - first) / max(last - first, 1e-30) * width
        inside = np.rint(places[(places > -1) & (places < width + 1)] - 0.5)
        out[np.clip(inside, 0, width - 1).astype(int), 2] = 1.0
    with np.errstate(invalid="ignore"):
        at = np.interp(edges, np.arange(count), np.where(wrong, np.nan, values), np.nan, np.nan)
        # Above a number, not between two, the neighbour that is not finite must not hide it.
        exact = (edges == np.rint(edges)) & (edges >= 0) & (edges < count)
        at[exact] = np.where(wrong, np.nan, values)[edges[exact].astype(int)]
        low, high = np.fmin(at[:-1], at[1:]), np.fmax(at[:-1], at[1:])
    starts = np.clip(np.ceil(edges[:-1]).astype(np.int64), 0, count)
    stops = np.clip(np.ceil(edges[1:]).astype(np.int64), 0, count)
    filled = np.flatnonzero(stops > starts)
    if len(filled):
        pairs = np.stack([starts[filled], stops[filled]], 1).reshape(-1)
        padded = np.append(values, np.nan)  # an end past the last number must be an index
        padded[:-1][wrong] = np.nan
        low[filled] = np.fmin(low[filled], np.fmin.reduceat(padded, pairs)[::2])
        high[filled] = np.fmax(high[filled], np.fmax.reduceat(padded, pairs)[::2])
    out[:, 0], out[:, 1] = low, high
    return out


def bar_columns(values: np.ndarray, first: float, last: float, width: int) -> np.ndarray:
    """Return what bars from zero to each number cover in each column of pixels; as `line_columns`."""
    values = np.asarray(values, np.float64)
    middles = first + (np.arange(width) + 0.5) * (last - first) / width
    nearest = np.rint(middles)
    inside = (np.abs(middles - nearest) <= _BAR) & (nearest >= 0) & (nearest < len(values))
    of = values[np.clip(nearest, 0, len(values) - 1).astype(int)]
    out = np.full((width, 3), np.nan)
    shown = inside & np.isfinite(of)
    out[shown, 0], out[shown, 1] = np.minimum(of[shown], 0.0), np.maximum(of[shown], 0.0)
    out[:, 2] = inside & ~np.isfinite(of)
    return out


def shares(columns: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """Return columns for the shader, float32 (width, 4): 0 to 1 over a range; -9, -10 where nothing is."""
    low, high = bounds
    out = np.zeros((len(columns), 4), np.float32)
    with np.errstate(invalid="ignore"):
        ends = np.clip((columns[:, :2] - low) / max(high - low, 1e-300), -1.0, 2.0)
    out[:, :2] = np.where(np.isfinite(columns[:, :2]), ends, (-9.0, -10.0))
    out[:, 2] = columns[:, 2]
    return out
