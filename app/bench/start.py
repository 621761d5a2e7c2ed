"""How long the program takes to start: until its help is printed, and until the first picture is shown.

Each start is a process of its own, timed from before it is made, on caches that a start before it filled.
The first picture is shown in a window where there is a display, and drawn without one elsewhere.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from app.bench.parts import Measurement, Part, Plan, compare
from app.child import environment
from replay.errors import DisplayError

HELP, PICTURE = "--help", "first picture"
GOALS = {HELP: 0.3, PICTURE: 2.5}
_SIZE = "800x600"
_LIMIT = 120.0
# What `python -m app` does, ended after the frame in which the water is there.
_UNTIL_PICTURE = """
import sys, time
from app.window import load_libraries
load_libraries(headless="--headless" in sys.argv)
from app import cli, loop
run_frame = loop.run_frame
def first(app, *arguments, **options):
    run_frame(app, *arguments, **options)
    if app.water is not None and not app.quitting:
        app.window.finish()
        print("shown", time.time(), flush=True)
        app.quitting = True
loop.run_frame = first
sys.exit(cli.main(sys.argv[1:]))
"""


class StartPart(Part):
    """Starts of the program; the reference is its help."""

    name = "start"

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    @property
    def notes(self) -> dict[str, str]:
        """Where the first picture was shown."""
        return self._notes

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure starts with warm caches."""
        plan.say(self.name)
        display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
        self._notes["first picture"] = "in a window" if display else "drawn without a display"
        taken: dict[str, list[float]] = {HELP: [], PICTURE: []}
        for turn in range(1 + min(plan.rounds, 5)):
            seen = {HELP: _help(), PICTURE: first_picture(plan.folder, display)}
            if turn:  # the first one fills the caches
                for name, seconds in seen.items():
                    taken[name].append(seconds)
        return compare(self.name, "warm caches", taken, HELP, unit="starts/s", goals=GOALS)


def _help() -> float:
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "app", "--help"], check=True, stdout=subprocess.DEVNULL, env=environment()
    )
    return time.perf_counter() - begun


def first_picture(folder: Path, display: bool) -> float:
    """Start the program as a user would, with settings of its own; return the seconds to its first picture.

    Raises:
        DisplayError: it showed none.
    """
    picture = str(folder / "first.png")
    unseen = ["--headless", "--frames", "1", "--ui", "--screenshot", picture]
    where = ["--size", _SIZE, *([] if display else unseen)]
    begun = time.time()
    done = subprocess.run(
        [sys.executable, "-c", _UNTIL_PICTURE, *where],
        capture_output=True,
        text=True,
        timeout=_LIMIT,
        check=False,
        env=environment(RIPPLESCOPE_CONFIG_DIR=str(folder / "config")),
    )
    for line in done.stdout.splitlines():
        word, _, at = line.partition(" ")
        if word == "shown":
            return float(at) - begun
    raise DisplayError(f"a start showed no picture: {(done.stderr.strip() or 'no message').splitlines()[-1]}")
