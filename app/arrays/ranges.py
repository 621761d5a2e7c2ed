"""The range of values that colours and axes span: fitted to what is finite, calm while values move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.view import colormaps

DIVERGING, RISING = "balance", "viridis"
_COLOURS = 256  # that a map has
_FALL = 0.1  # share of the way that a range shrinks with a look


@dataclass(frozen=True)
class Finite:
    """The finite values: lowest and highest (None if there is none), and how many are not finite."""

    low: float | None
    high: float | None
    wrong: int


def finite_range(values: np.ndarray) -> Finite:
    """Return lowest and highest finite value, and how many values are none."""
    if not values.size:
        return Finite(None, None, 0)
    low, high = values.min(), values.max()  # a NaN is both, an infinity one of them
    if values.dtype.kind != "f" or (np.isfinite(low) and np.isfinite(high)):
        return Finite(float(low), float(high), 0)
    finite = values[np.isfinite(values)]
    wrong = values.size - finite.size
    return (
        Finite(float(finite.min()), float(finite.max()), wrong) if finite.size else Finite(None, None, wrong)
    )


def fitted(low: float | None, high: float | None) -> tuple[float, float]:
    """Return the range that shows values best: around zero where there are both signs, never empty."""
    if low is None or high is None:
        return -1.0, 1.0
    if low < 0 < high:
        most = max(-low, high)
        return -most, most
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def calmed(old: tuple[float, float] | None, new: tuple[float, float]) -> tuple[float, float]:
    """Return a range that grows at once and shrinks slowly, so that colours do not flicker.

    It shrinks at once where all values had one colour, as after a reset from values that had run away.
    """
    if old is None or old[1] - old[0] > _COLOURS * (new[1] - new[0]):
        return new
    low = new[0] if new[0] < old[0] else old[0] + _FALL * (new[0] - old[0])
    high = new[1] if new[1] > old[1] else old[1] + _FALL * (new[1] - old[1])
    return (low, high) if high > low else new


def map_for(bounds: tuple[float, float]) -> str:
    """Return the colour map to begin with: with a middle where there are both signs."""
    return DIVERGING if bounds[0] < 0 < bounds[1] and DIVERGING in colormaps.names() else RISING


def ticks(low: float, high: float, most: int) -> list[float]:
    """Return about so many round numbers between two values; steps are 1, 2, 5 times a power of ten."""
    span = high - low
    if not np.isfinite(span) or span <= 0 or most < 1:
        return []
    raw = span / most
    power = 10.0 ** np.floor(np.log10(raw))
    step = float(power * next(factor for factor in (1, 2, 5, 10) if raw <= factor * power * (1 + 1e-9)))
    first = np.ceil(low / step - 1e-9)
    count = int(np.floor(high / step + 1e-9) - first) + 1
    return [float(step * (first + k)) for k in range(max(count, 0))]


def number_text(value: float) -> str:
    """Return a number for people: whole ones in full, others in four digits."""
    if np.isfinite(value) and abs(value) < 1e7 and value == int(value):
        return f"{int(value):,}"
    return f"{value:.4g}"
