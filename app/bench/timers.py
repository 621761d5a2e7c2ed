"""Watches over frames while they run: the GPU's passes, and what building the panels costs.

They hang themselves into the running app and take themselves out again; nothing here draws or prints.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of some times, in s."""

    middle: float
    low: float
    high: float

    @classmethod
    def of(cls, times: list[float]) -> Spread:
        """Return the spread of one or more times."""
        if len(times) < 2:
            return cls(times[0], times[0], times[0])
        low, middle, high = quantiles(times, n=4, method="inclusive")
        return cls(middle, low, high)


class PassTimer:
    """Notes when the GPU begins each pass; called with the pass's name, and with "" after the last."""

    def __init__(self) -> None:
        self._marks: list[tuple[str, int]] = []

    def __call__(self, name: str) -> None:
        """Note the time at which the GPU gets here."""
        from app.gl_platform import GL

        query = int(GL.glGenQueries(1)[0])
        GL.glQueryCounter(query, GL.GL_TIMESTAMP)
        self._marks.append((name, query))

    def seconds(self) -> dict[str, float]:
        """Return the median of each pass over the pictures, in the order of the passes; waits for the GPU."""
        import ctypes

        from app.gl_platform import GL

        taken: defaultdict[str, list[float]] = defaultdict(list)
        times = []
        value = ctypes.c_uint64()
        for _, query in self._marks:
            GL.glGetQueryObjectui64v(query, GL.GL_QUERY_RESULT, ctypes.byref(value))
            times.append(value.value)
            GL.glDeleteQueries(1, [query])
        for (name, _), begun, ended in zip(self._marks, times, times[1:], strict=False):
            if name:
                taken[name].append((ended - begun) * 1e-9)
        self._marks.clear()
        return {name: median(all_of_it) for name, all_of_it in taken.items()}


class BuildTimer:
    """Notes wall time and this thread's processor time of each build of the panels, and of their drawing.

    Building is what happens between ImGui's `new_frame` and its `render`: the panels' own Python and the
    widgets that it calls. Processor time leaves out what other programs took meanwhile.
    """

    def __init__(self) -> None:
        self.built: list[float] = []
        self.built_cpu: list[float] = []
        self.drawn: list[float] = []
        self._state, self._wall, self._cpu = "", 0.0, 0.0

    def __call__(self, name: str) -> None:
        """Note the beginning of `build` or of `draw`, or with "" the end of either."""
        wall, cpu = time.perf_counter(), time.thread_time()
        if self._state == "build":
            self.built.append(wall - self._wall)
            self.built_cpu.append(cpu - self._cpu)
        elif self._state == "draw":
            self.drawn.append(wall - self._wall)
        self._state, self._wall, self._cpu = name, time.perf_counter(), time.thread_time()


@contextmanager
def timed_panels(desk: Any) -> Iterator[dict[str, list[float]]]:
    """Time each panel of a desk while this lasts: its processor time in each build, in s, by name."""
    taken: defaultdict[str, list[float]] = defaultdict(list)

    def watched(name: str, draw: Any) -> Any:
        def draw_timed(*arguments: Any) -> None:
            begun = time.thread_time()
            draw(*arguments)
            taken[name].append(time.thread_time() - begun)

        return draw_timed

    parts = desk.parts
    for name, part in parts.items():
        part.draw = watched(name, part.draw)
    try:
        yield taken
    finally:
        for part in parts.values():
            del part.draw  # the class's own is found again
