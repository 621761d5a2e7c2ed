"""What a benchmark part is, and how anything here is timed.

Every number is the median of repeats. Rounds alternate between what is compared, so that a machine that
warms up or gets busy touches all of it alike; that is why a ratio says more than either of its numbers. What
is measured is in the modules of the parts; nothing here prints.
"""

from __future__ import annotations

import abc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plan:
    """How a run measures.

    Attributes:
        device: the device string of the command line.
        grids: sides of the square grids, in cells.
        rounds: how often each thing is timed; the median counts.
        seconds: shortest time of one round, in s.
        operations: operations in the capture that the reader is timed on.
        folder: for files of the run; removed afterwards.
        say: tells a person, in a few words, what is being measured now.
    """

    device: str
    grids: tuple[int, ...]
    rounds: int
    seconds: float
    operations: int
    folder: Path
    say: Callable[[str], None]


@dataclass(frozen=True)
class Measurement:
    """One number, with what it is compared to.

    Attributes:
        part: which part measured it.
        case: on what, such as `128x128`.
        name: what was timed.
        seconds: median time of one of it, in s.
        lowest, highest: of the rounds, in s.
        reference: name of the measurement of the same part and case that it is compared to.
        ratio: reference time / time: above 1 is faster than the reference.
        rate, unit: the same as a person reads it, such as 1200 frames/s.
        goal: longest time that is good enough, in s; None without a goal.
        limit: time of what the device cannot avoid in the usual way, in s; None where that is not known.
    """

    part: str
    case: str
    name: str
    seconds: float
    lowest: float
    highest: float
    reference: str
    ratio: float
    rate: float
    unit: str
    goal: float | None = None
    limit: float | None = None

    @property
    def missed(self) -> bool:
        """Whether there is a goal and it was not reached."""
        return self.goal is not None and self.seconds > self.goal

    @property
    def share(self) -> float | None:
        """The limit over the time: 1 is at the limit, more is beyond it; None without a limit."""
        return None if self.limit is None else self.limit / self.seconds


class Part(abc.ABC):
    """One subject of a run."""

    name: str

    @property
    def notes(self) -> dict[str, str]:
        """What else a reader of the numbers must know, by name; complete once `measure` has returned."""
        return {}

    @abc.abstractmethod
    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure and return everything this part knows; files go to `plan.folder`.

        Raises:
            RipplescopeError: what is to be measured does not work here.
        """


@dataclass(frozen=True)
class Timed:
    """Something that can be timed: `run(n)` does it n times and returns when all of it is done."""

    name: str
    run: Callable[[int], None]


def time_rounds(things: list[Timed], rounds: int, seconds: float) -> Mapping[str, list[float]]:
    """Time things in turn.

    Args:
        things: what to time; each runs once untimed first.
        rounds: rounds, each of which times everything once.
        seconds: shortest time of a round for each thing, in s.

    Returns:
        By name, the seconds that one of it took, for each round.
    """
    counts = {thing.name: _count_for(thing, seconds) for thing in things}
    taken: dict[str, list[float]] = {thing.name: [] for thing in things}
    for turn in range(rounds):
        # the order turns too, so that nothing is always first after another
        for thing in things if turn % 2 == 0 else reversed(things):
            taken[thing.name].append(_time(thing, counts[thing.name]) / counts[thing.name])
    return taken


def compare(
    part: str,
    case: str,
    taken: Mapping[str, list[float]],
    reference: str,
    *,
    unit: str,
    amount: float = 1.0,
    goals: Mapping[str, float] | None = None,
) -> list[Measurement]:
    """Return the measurements of one case from the times of its rounds.

    Args:
        part, case: where they belong.
        taken: seconds by name, as `time_rounds` returns them.
        reference: the name that the others are compared to.
        unit: of the rate.
        amount: how many units one of it is.
        goals: longest good times by name, in s.
    """
    base = statistics.median(taken[reference])
    measured = []
    for name, times in taken.items():
        middle = statistics.median(times)
        measured.append(
            Measurement(
                part=part,
                case=case,
                name=name,
                seconds=middle,
                lowest=min(times),
                highest=max(times),
                reference=reference,
                ratio=base / middle,
                rate=amount / middle,
                unit=unit,
                goal=(goals or {}).get(name),
            )
        )
    return measured


def _time(thing: Timed, count: int) -> float:
    start = time.perf_counter()
    thing.run(count)
    return max(time.perf_counter() - start, 1e-9)


def _count_for(thing: Timed, seconds: float) -> int:
    thing.run(1)
    count = 1
    while True:
        taken = _time(thing, count)
        if taken >= seconds:
            return count
        # toward the goal, but by no more than tenfold on the word of one short measurement
        count = max(count + 1, min(count * 10, int(1.2 * count * seconds / taken)))
