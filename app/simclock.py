"""Time: which launches are due, and where the time of a frame went.

Values in, values out; the clock's reading is an argument, so that tests pass their own. Nothing here
knows a window or a player.
"""

from __future__ import annotations

import enum
from collections import deque

import numpy as np

MAX_CATCH_UP = 8
"""Launches in one frame at most, whatever time has passed."""
LAUNCH_BUDGET = 0.05
"""Seconds of launching and transferring in one frame, so that the window stays responsive."""
SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


class SimulationClock:
    """Lets simulated time follow the wall clock in fixed steps, with a bounded catch-up.

    Args:
        step: simulated seconds of one launch.
        timed: whether that is known; else it is only how often to launch.

    Attributes:
        paused: nothing is due but single steps.
        speed: simulated seconds per wall second that are asked for.
        free_run: one launch a frame, however fast frames come; `speed` does not count then.
        simulated: simulated seconds launched since `restart`.
    """

    def __init__(self, step: float, *, timed: bool = True) -> None:
        self.step, self.timed = step, timed
        self.paused = False
        self.speed = 1.0
        self.free_run = False
        self.simulated = 0.0
        self._owed = 0.0
        self._last: float | None = None
        self._single_steps = 0
        self._limit = MAX_CATCH_UP
        self._window: deque[tuple[float, float, float]] = deque()
        self._asked = 0.0

    def due(self, now: float) -> int:
        """Return how many launches this frame owes, at wall time `now` in seconds.

        Time that cannot be caught up with is dropped, so a stall of any length costs at most
        `MAX_CATCH_UP` launches.
        """
        elapsed = 0.0 if self._last is None else max(0.0, now - self._last)
        first, self._last = self._last is None, now
        count, self._single_steps = self._single_steps, 0
        if self.free_run:
            self._owed = 0.0
            count += not self.paused
        elif not self.paused:
            asked = elapsed * self.speed
            self._asked += asked
            self._owed += self.step if first else asked
            # A thousandth of a step forgives the rounding of a clock that ticks exactly at the step.
            whole = int(self._owed / self.step + 1e-3)
            self._owed = max(0.0, self._owed - whole * self.step)
            count += min(whole, self._limit)
        self.simulated += count * self.step
        self._note(now)
        return count

    def spent(self, launches: int, seconds: float) -> None:
        """Tell what this frame's launches cost, which bounds the next frame's catch-up."""
        if launches:
            each = max(seconds / launches, 1e-9)
            self._limit = max(1, min(MAX_CATCH_UP, int(LAUNCH_BUDGET / each)))

    def step_once(self) -> None:
        """Pause, and launch once in the next frame."""
        self.paused = True
        self._single_steps += 1

    def faster(self) -> None:
        """Take the next higher speed."""
        self.speed = next((speed for speed in SPEEDS if speed > self.speed * 1.001), SPEEDS[-1])

    def slower(self) -> None:
        """Take the next lower speed."""
        self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed * 0.999), SPEEDS[0])

    def restart(self) -> None:
        """Set simulated time to zero and forget what is owed."""
        self.simulated = self._owed = self._asked = 0.0
        self._window.clear()

    @property
    def launches(self) -> int:
        """Launches since `restart`."""
        return round(self.simulated / self.step)

    @property
    def pace(self) -> float:
        """Simulated seconds per wall second over the last second; 0 while that is not known."""
        if len(self._window) < 2:
            return 0.0
        (begun, _, done0), (now, _, done1) = self._window[0], self._window[-1]
        return (done1 - done0) / (now - begun) if now > begun else 0.0

    @property
    def real_time_factor(self) -> float:
        """Simulated time per asked time over the last second; 1 when the machine keeps up."""
        if len(self._window) < 2 or self.free_run:
            return 1.0
        (_, asked0, done0), (_, asked1, done1) = self._window[0], self._window[-1]
        asked = asked1 - asked0
        return 1.0 if asked < 0.25 * self.speed else min(1.0, (done1 - done0) / asked)

    @property
    def behind(self) -> bool:
        """Whether the machine is too slow for the speed that is asked for."""
        return not self.paused and self.real_time_factor < 0.9

    def _note(self, now: float) -> None:
        if self.paused:
            self._window.clear()
            return
        self._window.append((now, self._asked, self.simulated))
        while now - self._window[0][0] > 1.0:
            self._window.popleft()


class Stage(enum.IntEnum):
    """The parts of a frame, in their order."""

    POLL = 0
    INPUT = 1
    UPLOAD = 2
    LAUNCH = 3
    TRANSFER = 4
    DRAW = 5
    PANELS = 6
    SWAP = 7


COLD_FRAMES = 5
"""Frames at the beginning that say nothing of those to come: shaders are compiled, caches are filled."""


class FrameTimes:
    """The time of each stage over the last frames, in milliseconds.

    Attributes:
        history: float32 (length,), total of each frame, a ring that starts at `offset`.
    """

    def __init__(self, length: int = 240) -> None:
        self.history = np.zeros(length, np.float32)
        self._split = [0.0] * len(Stage)
        self.offset = 0
        self.frames = 0
        self._current = [0.0] * len(Stage)
        self._mark = 0.0
        self._begun: float | None = None
        self._interval = 0.0

    def begin(self, now: float) -> None:
        """Start a frame at `now` seconds; the frame before ends here."""
        if self._begun is not None:
            total = now - self._begun
            self.history[self.offset] = total * 1e3
            self.offset = (self.offset + 1) % len(self.history)
            share = max(0.05, 1.0 / max(self.frames - COLD_FRAMES, 1))
            self._interval += share * (total - self._interval)
            keep = 1.0 - share
            self._split = [
                keep * old + share * 1e3 * new for old, new in zip(self._split, self._current, strict=True)
            ]
        for index in range(len(Stage)):
            self._current[index] = 0.0
        self.frames += 1
        self._begun = self._mark = now

    def lap(self, stage: Stage, now: float) -> float:
        """Book the time since the last mark to a stage; return it in seconds."""
        spent = now - self._mark
        self._current[stage] += spent
        self._mark = now
        return spent

    @property
    def split(self) -> np.ndarray:
        """Smoothed time of each stage in ms, float64."""
        return np.array(self._split)

    @property
    def frame_ms(self) -> float:
        """Smoothed time of a frame in ms."""
        return self._interval * 1e3

    @property
    def rate(self) -> float:
        """Smoothed frames a second."""
        return 1.0 / self._interval if self._interval > 0 else 0.0
