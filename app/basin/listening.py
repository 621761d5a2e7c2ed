"""What is told of the probes' records: spectra and the speed between two, a few times a second. No window."""

from __future__ import annotations

import math

import numpy as np

from app.basin.furnishing import Cell
from app.basin.probelog import ProbeLog
from app.basin.waves import Spectrum, spectrum, speed_between, thinned

_OFTEN = 0.12  # s between two spectra; each takes about a millisecond
_FEWEST = 24


class Listening:
    """Numbers made from a log.

    Attributes:
        spectra: by probe.
        speed: m/s between the first two probes, None where it is not known.
        pair: those two.
    """

    def __init__(self) -> None:
        self.spectra: dict[int, Spectrum] = {}
        self.speed: float | None = None
        self.pair: tuple[int, int] | None = None
        self._turn = 0
        self._next = -math.inf
        self._seen = -1

    def update(
        self,
        log: ProbeLog,
        placed: list[tuple[int, Cell]],
        seconds: float,
        dx: float,
        speed: float,
        now: float,
    ) -> None:
        """Make one spectrum anew, each probe in its turn, or the speed; nothing if it is too early.

        Args:
            log: the records.
            placed: number and place of each probe.
            seconds: of the record that are looked at.
            dx: side of a cell, m.
            speed: that waves should have, m/s.
            now: wall time in s.
        """
        if now < self._next or log.revision == self._seen:
            return
        self._next, self._seen = now + _OFTEN, log.revision
        numbers = [probe for probe, _ in placed]
        for probe in set(self.spectra) - set(numbers):
            del self.spectra[probe]
        turns = len(placed) + (len(placed) > 1)
        if not turns:
            self.speed = self.pair = None
            return
        self._turn = (self._turn + 1) % turns
        if self._turn < len(placed):
            probe = numbers[self._turn]
            values, step = thinned(log.record(probe, seconds)[1], log.step)
            if len(values) >= _FEWEST:
                self.spectra[probe] = spectrum(values, step)
            else:
                self.spectra.pop(probe, None)
            return
        self.pair = numbers[0], numbers[1]
        self.speed = measured_speed(log, placed[0], placed[1], seconds, dx, speed)


def measured_speed(
    log: ProbeLog, one: tuple[int, Cell], other: tuple[int, Cell], seconds: float, dx: float, expected: float
) -> float | None:
    """Return the speed from one probe to another along the line between them, m/s.

    It is the waves' speed only where they run along that line.
    """
    records = [thinned(log.record(probe, seconds)[1], log.step) for probe, _ in (one, other)]
    count = min(len(values) for values, _ in records)
    if count < _FEWEST:
        return None
    first, second = (np.asarray(values[-count:]) for values, _ in records)
    # A probe records the cell nearest to it.
    cells = [(math.floor(x + 0.5), math.floor(y + 0.5)) for x, y in (one[1], other[1])]
    return speed_between(first, second, records[0][1], math.dist(*cells) * dx, expected)
