"""Which quality `auto` takes: the best on a GPU, and in software the best that keeps frames coming.

In software the picture is made by the processor, and how long that takes depends on the machine, the window
and who else works there; so the frames are watched. A level is left quickly and taken again slowly: a better
one that turned out too slow is not tried again for a while, which grows with each failure. Times are
arguments; nothing here knows a clock or OpenGL.
"""

from __future__ import annotations

from collections import deque
from statistics import median

from app.view.options import Quality

LADDER = (Quality.DRAFT, Quality.LOW, Quality.MEDIUM)
"""What software may take, the cheapest first."""
WANTED_RATE = 25.0
"""Frames a second that a level must give; also what the time of a picture is judged by."""
SLOW = 1.07 / WANTED_RATE
"""Seconds of a frame beyond which the next cheaper level is taken; a display at 24 Hz stays below."""
REACTION = 0.7
"""Seconds of slow frames before a cheaper level is taken."""
PATIENCE = 4.0
"""Seconds of fast frames before a better level is taken."""
_FAST = {Quality.DRAFT: 0.026, Quality.LOW: 0.0195}
# Seconds of a frame below which the next level up is likely to be fast enough: it takes about 1.3 and 1.6
# times as long in a window of 800x600, and more in larger ones. At 60 Hz no frame is below 0.0167.
_STALL = 0.5  # a frame longer than that was not spent on the picture
_FEWEST = 4
_COLD = 5  # frames at the very beginning, in which shaders are compiled
_FIRST_BAN, _LONGEST_BAN = 20.0, 600.0
_ANOTHER_SIZE = 1.2  # times as many pixels, or as few, are another window


class AutoQuality:
    """The level that `auto` stands for, from one frame to the next.

    Args:
        software: whether the processor draws; else nothing is ever changed.

    Attributes:
        quality: the level now.
        reason: why this one, in a few words for people.
    """

    def __init__(self, software: bool) -> None:
        self._software = software
        self.quality = Quality.LOW if software else Quality.HIGH
        self.reason = "software OpenGL" if software else "the renderer is a GPU"
        self._last: float | None = None
        self._slow: deque[tuple[float, float]] = deque()
        self._fast = _FastRun()
        self._pixels = 0
        self._bans: dict[Quality, tuple[float, float]] = {}
        self._raised_at: float | None = None
        self._cold = _COLD

    def note(self, now: float, pixels: int, *, moving: bool, elsewhere: float = 0.0) -> bool:
        """Take a frame into account; return whether the level changed.

        Args:
            now: wall time in s at which the frame ended.
            pixels: of the place that the picture is shown in.
            moving: whether the heights had changed; a picture of resting water costs little and does not
                speak for a better level.
            elsewhere: s of the frame that had nothing to do with pictures.
        """
        last, self._last = self._last, now
        if not self._software or last is None:
            return False
        if not self._pixels / _ANOTHER_SIZE <= pixels <= self._pixels * _ANOTHER_SIZE:
            self._pixels = pixels
            self._bans.clear()
            self._forget()
        taken = now - last
        if self._cold or taken > _STALL:
            self._cold = max(self._cold - 1, 0)
            self._forget()
            return False
        self._slow.append((now, taken))
        while now - self._slow[0][0] > 1.5 * REACTION:
            self._slow.popleft()
        # Where most of the time goes elsewhere, a cheaper picture would not help.
        helps = taken - elsewhere > 0.5 * taken
        if helps and _lasted(self._slow) and (middle := median(taken for _, taken in self._slow)) > SLOW:
            return self._lower(now, middle)
        if moving:
            bound = _FAST.get(self.quality)
            if bound is not None and self._fast.lasts(taken, bound):
                return self._raise(now)
        return False

    def rest(self) -> None:
        """Frames are not drawn for a while, or not with this level: start anew with the next one."""
        self._last = None
        self._forget()

    def _lower(self, now: float, seconds: float) -> bool:
        place = LADDER.index(self.quality)
        if place == 0:
            return False
        if self._raised_at is not None:  # it was tried and failed
            _, ban = self._bans.get(self.quality, (0.0, _FIRST_BAN / 2))
            ban = min(2 * ban, _LONGEST_BAN)
            self._bans[self.quality] = now + ban, ban
        self.reason = f"{self.quality.value} gave {1 / seconds:.0f} frames/s"
        self.quality = LADDER[place - 1]
        self._raised_at = None
        self._forget()
        return True

    def _raise(self, now: float) -> bool:
        better = LADDER[LADDER.index(self.quality) + 1]
        if now < self._bans.get(better, (0.0, 0.0))[0]:
            return False
        self.reason = f"{self.quality.value} gave {self._fast.rate:.0f} frames/s"
        self.quality, self._raised_at = better, now
        self._forget()
        return True

    def _forget(self) -> None:
        self._slow.clear()
        self._fast = _FastRun()


class _FastRun:
    """Frames of which nearly all were fast; keeps no frames, for there may be hundreds a second."""

    def __init__(self) -> None:
        self._seconds, self._frames, self._late = 0.0, 0, 0

    def lasts(self, taken: float, bound: float) -> bool:
        """Add a frame; return whether the run is long enough."""
        self._seconds += taken
        self._frames += 1
        self._late += taken > bound
        if self._late > max(0.2 * self._frames, 2):
            self._seconds, self._frames, self._late = 0.0, 0, 0
        return self._seconds >= PATIENCE

    @property
    def rate(self) -> float:
        """Frames a second."""
        return self._frames / max(self._seconds, 1e-9)


def _lasted(frames: deque[tuple[float, float]]) -> bool:
    return len(frames) >= _FEWEST and frames[-1][0] - frames[0][0] + frames[0][1] >= REACTION
