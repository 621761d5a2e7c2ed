"""What a wave's numbers are: wavelength along a line, frequency of a record, speed between two records.

NumPy arrays in, numbers out; SI units. A sine is fitted by least squares (Lomb 1976 without its shift), so
that a few waves are enough and no whole number of them is needed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
_STILL = 1e-6  # m: below this, water is at rest
FARTHEST = 1.5
"""Wavelengths between two probes at most: farther apart, a wave cannot be told from the next one."""


@dataclass(frozen=True)
class Sine:
    """A fitted sine.

    Attributes:
        rate: cycles in a unit of the axis: 1/m along a line, Hz in time.
        amplitude: of the sine, in the unit of the values.
        phase: of its cosine at the axis' zero, rad.
        share: of the variance that it explains, 0 to 1.
    """

    rate: float
    amplitude: float
    phase: float
    share: float


def profile(heights: np.ndarray, start: tuple[float, float], end: tuple[float, float]) -> np.ndarray:
    """Return heights along a line between two cells, about two a cell, interpolated between the four nearest.

    Args:
        heights: (rows, columns), m.
        start, end: (column, row).
    """
    length = math.dist(start, end)
    count = max(2, math.ceil(2.0 * length) + 1)
    rows, columns = heights.shape
    x = np.clip(np.linspace(start[0], end[0], count), 0, columns - 1)
    y = np.clip(np.linspace(start[1], end[1], count), 0, rows - 1)
    left, top = np.minimum(x.astype(int), columns - 2), np.minimum(y.astype(int), rows - 2)
    u, v = x - left, y - top
    upper = heights[top, left] * (1 - u) + heights[top, left + 1] * u
    lower = heights[top + 1, left] * (1 - u) + heights[top + 1, left + 1] * u
    return upper * (1 - v) + lower * v


def fit_sine(values: np.ndarray, step: float, lowest: float = 1.0) -> Sine | None:
    """Fit the strongest sine to evenly spaced values.

    Args:
        values: at least 8; a mean and a slope are taken off.
        step: between two values, in the unit of the axis.
        lowest: fewest cycles in the record that count.

    Returns:
        The sine, None where there is no movement or fewer cycles than `lowest`.
    """
    count = len(values)
    if count < 8 or not np.isfinite(values).all():
        return None
    axis = (np.arange(count) - (count - 1) / 2.0) * step
    level = values - values.mean()
    level = level - axis * (float(level @ axis) / float(axis @ axis))
    total = float(level @ level)
    if total <= count * _STILL**2:
        return None
    padded = 1 << max(8, (4 * count - 1).bit_length())
    power = np.abs(np.fft.rfft(level * np.hanning(count), padded))
    spacing = 1.0 / (padded * step)
    first = max(1, math.floor(lowest / (count * step) / spacing))
    if first >= len(power):
        return None
    peak = first + int(np.argmax(power[first:]))
    width = 1.0 / (count * step)
    low = max(peak * spacing - width, 0.6 * lowest * width)
    high = min(peak * spacing + width, 0.5 / step)
    rate = _refine(level, axis, low, high, peak * spacing)
    amplitude, phase, explained = _fit(level, axis, rate)
    return Sine(rate, amplitude, phase - 2 * math.pi * rate * float(axis[0]), explained / total)


def _fit(values: np.ndarray, axis: np.ndarray, rate: float) -> tuple[float, float, float]:
    """Return amplitude, phase at axis 0, and the explained sum of squares of the best cosine."""
    angle = 2.0 * math.pi * rate * axis
    c, s = np.cos(angle), np.sin(angle)
    # Mean and slope were taken off the values, so they are off both parts, too. The axis is symmetric:
    # nothing even has a slope, nothing odd a mean, and the parts are orthogonal.
    c = c - c.mean()
    s = s - axis * (float(s @ axis) / float(axis @ axis))
    a, b = float(values @ c) / float(c @ c), float(values @ s) / float(s @ s)
    explained = a * float(values @ c) + b * float(values @ s)
    return math.hypot(a, b), math.atan2(-b, a), explained


def _refine(values: np.ndarray, axis: np.ndarray, low: float, high: float, near: float) -> float:
    """Return the rate between `low` and `high` that explains most, found from a coarse look on."""
    rates = np.linspace(max(low, 1e-12), high, 17)
    quality = [_fit(values, axis, float(rate))[2] for rate in (*rates, near)]
    best = int(np.argmax(quality))
    centre = float((*rates, near)[best])
    reach = float(rates[1] - rates[0])
    a, b = max(centre - reach, low, 1e-12), min(centre + reach, high)
    one, other = b - _GOLDEN * (b - a), a + _GOLDEN * (b - a)
    at_one, at_other = _fit(values, axis, one)[2], _fit(values, axis, other)[2]
    for _ in range(26):
        if at_one > at_other:
            b, other, at_other = other, one, at_one
            one = b - _GOLDEN * (b - a)
            at_one = _fit(values, axis, one)[2]
        else:
            a, one, at_one = one, other, at_other
            other = a + _GOLDEN * (b - a)
            at_other = _fit(values, axis, other)[2]
    return (a + b) / 2.0


def wavelength(heights: np.ndarray, step: float) -> Sine | None:
    """Return the strongest wave along a line; its wavelength is 1 / rate.

    Args:
        heights: along the line, m.
        step: between two of them, m.
    """
    return fit_sine(heights, step, lowest=1.2)


@dataclass(frozen=True)
class Spectrum:
    """Amplitudes by frequency.

    Attributes:
        frequencies: Hz.
        amplitudes: m; a sine shows as a peak of its amplitude.
        peak: frequency of the strongest sine, Hz; None where the water is at rest.
        height: its amplitude, m.
    """

    frequencies: np.ndarray
    amplitudes: np.ndarray
    peak: float | None
    height: float


def spectrum(heights: np.ndarray, step: float, highest: float = 25.0) -> Spectrum:
    """Return the spectrum of a record, seen through a Hann window.

    Args:
        heights: m, evenly spaced, at least 8.
        step: s between two.
        highest: Hz; what lies above is left out.
    """
    level = heights - heights.mean()
    padded = 1 << (2 * len(level) - 1).bit_length()
    window = np.hanning(len(level))
    amplitudes = np.abs(np.fft.rfft(level * window, padded)) * 2.0 / window.sum()
    frequencies = np.fft.rfftfreq(padded, step)
    shown = int(np.searchsorted(frequencies, highest, "right"))
    sine = fit_sine(heights, step, lowest=1.5)
    return Spectrum(
        frequencies[:shown].copy(),
        amplitudes[:shown].copy(),
        sine.rate if sine is not None else None,
        sine.amplitude if sine is not None else 0.0,
    )


def speed_between(
    one: np.ndarray, other: np.ndarray, step: float, distance: float, expected: float
) -> float | None:
    """Return the speed of a wave from one probe to another, from how much later it is there.

    Args:
        one, other: records of the same times, m.
        step: s between two values.
        distance: between the probes along the wave's way, m.
        expected: m/s; says which of the delays, which differ by a period, is meant.

    Returns:
        m/s, None without a common wave, or where the probes are more than `FARTHEST` wavelengths apart.
    """
    first = fit_sine(one, step, lowest=1.5)
    if first is None or distance <= 0.0 or expected <= 0.0:
        return None
    if distance * first.rate / expected > FARTHEST:
        return None
    count = len(one)
    axis = (np.arange(count) - (count - 1) / 2.0) * step
    phases = []
    for values in (one, other):
        level = values - values.mean()
        level = level - axis * (float(level @ axis) / float(axis @ axis))
        amplitude, phase, _ = _fit(level, axis, first.rate)
        if amplitude <= _STILL:
            return None
        phases.append(phase)
    period = 1.0 / first.rate
    delay = (phases[0] - phases[1]) / (2.0 * math.pi) * period
    time = distance / expected
    # It may come the other way: then the first probe is the later one.
    ways = (delay, -delay)
    delays = [way + round((time - way) / period) * period for way in ways]
    delay = min(delays, key=lambda found: abs(found - time))
    return distance / delay if delay > 0.0 else None


def wave_speed(values: Mapping[str, float], depth: float = 1.0) -> float:
    """Return the speed of long waves from the parameters, m/s: the root of k_speed times the depth."""
    return math.sqrt(max(values.get("k_speed", 0.0) * depth, 0.0))


def thinned(values: np.ndarray, step: float, rate: float = 120.0) -> tuple[np.ndarray, float]:
    """Return means of neighbouring values so that there are about `rate` in a second, and their step in s."""
    by = max(1, int(1.0 / (rate * step) + 0.5)) if step > 0.0 else 1
    count = len(values) // by * by
    return values[len(values) - count :].reshape(-1, by).mean(1, dtype=np.float64), step * by
