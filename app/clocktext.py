"""How a clock is told: in seconds where the time step of a launch is known, in launches where it is not.

Only a manifest knows how long a frame is. Without one a launch is a launch, and no second of it may be
shown. Nothing here is kept between frames.
"""

from __future__ import annotations

from app.simclock import SimulationClock
from replay.text import counted


def elapsed_text(clock: SimulationClock) -> str:
    """Return how far a replay is: `13.6 s`, or `816 launches`."""
    return f"{clock.simulated:.1f} s" if clock.timed else counted(clock.launches, "launch")


def speed_text(clock: SimulationClock) -> str:
    """Return the speed that is asked for: `×1`, or `60/s`; in a free run the speed that was reached."""
    if clock.free_run:
        return f"free run ×{clock.pace:.3g}" if clock.timed else f"free run {clock.pace / clock.step:.0f}/s"
    return f"×{clock.speed:g}" if clock.timed else f"{clock.speed / clock.step:.0f}/s"


def shortfall_text(clock: SimulationClock) -> str:
    """Return what a machine that is too slow reaches: `42% of real time`, or `25 of 60 launches a second`."""
    if clock.timed:
        return f"{clock.real_time_factor:.0%} of real time"
    asked = clock.speed / clock.step
    return f"{clock.real_time_factor * asked:.0f} of {asked:.0f} launches a second"


def pace_fact(clock: SimulationClock) -> tuple[str, str]:
    """Return what the pace is called, and what it is and ought to be."""
    if clock.timed:
        reached = f"×{clock.real_time_factor * clock.speed:.2f} of ×{clock.speed:g}"
        free = f"×{clock.pace:.3g}, free run: one launch a frame"
        return "Real time", free if clock.free_run else reached
    free = f"{clock.pace / clock.step:.0f} a second, free run: one a frame"
    asked = clock.speed / clock.step
    reached = f"{clock.real_time_factor * asked:.0f} of {asked:.0f} a second"
    return "Launches", free if clock.free_run else reached


def ago_text(clock: SimulationClock, launches: int) -> str:
    """Return how far back a place in the past is: `-1.25 s`, or `-75 launches`; `now` for none."""
    if not launches:
        return "now"
    return f"{-launches * clock.step:.2f} s" if clock.timed else f"-{counted(launches, 'launch')}"


def span_text(clock: SimulationClock, launches: int) -> str:
    """Return how long so many launches are: `12 s`, or `720 launches`."""
    return f"{launches * clock.step:.0f} s" if clock.timed else counted(launches, "launch")
