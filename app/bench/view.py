"""The whole app frame by frame: frames a second with and without panels, and where the time of a frame goes.

Every frame is what the window does in a free run: one launch, one transfer, one picture. The stages are the
host's time, which waits where the GPU is behind; the passes are the GPU's own time between two time stamps.
Beside the times stands what a frame asks of the device, counted (app/bench/calls.py). Of the panels, building
is Python's part (median, with the quartiles as lowest and highest), drawing what ImGui and OpenGL make of it;
a panel's own time is that of the builds which did not keep it.
A display is used if there is one, without waiting for it, and every frame that counts has been swapped; else
the picture is drawn and not shown.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from app.bench.calls import Calls, counted_calls
from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds
from app.bench.report import duration
from app.bench.timers import BuildTimer, PassTimer, Spread, timed_panels
from replay.errors import DisplayError

if TYPE_CHECKING:
    from app.state import App

SIZE = (800, 600)
BARE, PANELS = "frame, no panels", "frame, panels"
BUILD, BUILD_WALL, DRAWING = "panels, Python", "panels, Python, wall", "panels, drawing"
GROWTH, PROCESSOR = "memory growth", "frame, processor time"
PANELS_GOAL = 1e-3
"""Seconds of processor time for building all panels once."""
# Frames a second with panels that are good enough, by what draws and the side of the grid. On a GPU: what
# Warp's own C++ program reached on an H200, and 4 and 10 times that on larger grids.
GOALS = {"software": {128: 20.0}, "cuda": {128: 910.0, 1024: 728.0, 2048: 500.0}}
_ROUND = 2.5  # rounds of frames are longer than those of launches, for their times spread more
_PUSH_EVERY = 30
_STAGE_FRAMES = 80  # the split of a frame is smoothed over about 20
_PASS_FRAMES = 12
_GROWTH_FRAMES, _GROWTH = 20_000, 50  # at most so many frames, for so many times the shortest round
_HISTORY = 60  # frames that can be gone back to while memory is watched
_BUILDS = 300
_COUNTED_FRAMES = 45  # some of them keep a state for going back


class ViewPart(Part):
    """Frames of the reference frame's water in a window of 800x600.

    Attributes:
        solver: of the frame; empty for the default.
    """

    name = "view"

    def __init__(self, solver: str = "") -> None:
        self.solver = solver
        self._notes: dict[str, str] = {}

    @property
    def notes(self) -> dict[str, str]:
        """What drew, and how the heights got there."""
        return self._notes

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure each grid; the reference is the frame without panels."""
        from app.window import load_libraries, open_window

        display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
        load_libraries(headless=not display)
        measured: list[Measurement] = []
        with open_window(SIZE, "Ripplescope bench", headless=not display, vsync=False) as window:
            swap = "swaps in a thread" if window.threaded_swap else "swaps in the loop"
            self._notes |= {
                "OpenGL": f"{window.gl_version} on {window.gl_renderer}",
                "window": f"{window.kind}, {swap}",
            }
            for side in plan.grids:
                plan.say(f"{self.name} {side}x{side} on {window.gl_renderer}")
                with _running(window, self._record(side, plan), plan.device) as (app, frames):
                    measured += self._one_grid(app, frames, side, plan)
        return measured

    def _record(self, side: int, plan: Plan) -> Path:
        from capture.frame import FrameSettings, record_frame

        solver = {"solver": self.solver} if self.solver else {}
        path = plan.folder / f"view-{side}{self.solver}"
        return record_frame(FrameSettings(width=side, height=side, **solver), path, plan.device)

    def _one_grid(self, app: App, frames: Frames, side: int, plan: Plan) -> list[Measurement]:
        assert app.scene is not None and app.scene.player is not None and app.transfer is not None
        case = f"{side}x{side}"
        self._notes[f"transfer {case}"] = f"{app.transfer.path}: {app.transfer.reason}"
        kind = "software" if app.window.software else app.scene.player.device.partition(":")[0]
        goal = GOALS.get(kind, {}).get(side)
        things = [Timed(BARE, frames.bare), Timed(PANELS, frames.with_panels)]
        taken = time_rounds(things, min(plan.rounds, 5), _ROUND * plan.seconds)
        goals = {} if goal is None else {PANELS: 1 / goal}
        measured = compare(self.name, case, taken, BARE, unit="frames/s", goals=goals)
        whole = median(taken[PANELS])

        def one(name: str, seconds: float, rate: float, unit: str) -> None:
            seconds = max(seconds, 1e-9)
            measured.append(
                Measurement(
                    part=self.name, case=case, name=name, seconds=seconds, lowest=seconds, highest=seconds,
                    reference=PANELS, ratio=whole / seconds, rate=rate, unit=unit,
                )
            )  # fmt: skip

        def spread(name: str, times: Spread, goal: float | None = None) -> None:
            one(name, times.middle, 100 * times.middle / whole, "% of a frame")
            measured[-1] = replace(measured[-1], lowest=times.low, highest=times.high, goal=goal)

        for name, seconds in frames.stages().items():
            one(f"stage {name}", seconds, 100 * seconds / whole, "% of a frame")
        one(PROCESSOR, frames.processor, 100 * frames.processor / whole, "% of a frame")
        together, each = frames.panels()
        for name, times in together.items():
            spread(name, times, PANELS_GOAL if name == BUILD else None)
        for name, times in each.items():
            spread(f"panel {name}", times)
        self._notes[f"panels built {case}"] = frames.built
        quartiles = together[BUILD]
        self._notes[f"{BUILD} {case}"] = (
            f"quartiles {duration(quartiles.low)} and {duration(quartiles.high)} of at least {_BUILDS} builds"
        )
        assert app.water is not None
        self._notes[f"quality {case}"] = f"{app.water.quality.value}: {app.water.auto.reason}"
        for name, seconds in frames.passes().items():
            one(f"pass {name}", seconds, 100 * seconds / whole, "% of a frame")
        if kind == "cuda":
            for name, calls in zip(
                ("a frame", "a frame, pointer moved", "paused"), frames.calls(), strict=True
            ):
                self._notes[f"calls of {name}, {case}"] = str(calls)
        count = max(min(int(_GROWTH * plan.seconds / whole), _GROWTH_FRAMES), 12)
        seconds, nbytes = frames.growth(count)
        one(GROWTH, seconds, nbytes, "bytes/frame")
        self._notes[f"{GROWTH} {case}"] = f"over {count} frames, after {2 * _HISTORY}"
        return measured


class Frames:
    """Runs frames of an app, with or without its panels.

    Attributes:
        processor: processor time of a frame with panels, all threads together, in s; known after `stages`.
        built: how many of how many builds each panel was in; known after `panels`.
    """

    def __init__(self, app: App, gui: Any, desk: Any) -> None:
        self._app, self._gui, self._desk = app, gui, desk
        self._count = 0
        self.processor = 0.0
        self.built = ""

    def bare(self, count: int) -> None:
        """Draw frames without panels, the water over the whole window."""
        self._app.canvas.rect = (0.0, 0.0, *map(float, self._app.window.size))
        self._run(count, None, None)

    def with_panels(self, count: int) -> None:
        """Draw frames with the panels of the first start."""
        self._run(count, self._gui, self._desk)

    def stages(self) -> dict[str, float]:
        """Return the host's time of each stage of a frame with panels, in s."""
        from app.simclock import Stage

        begun = time.process_time()
        self.with_panels(_STAGE_FRAMES)
        self.processor = (time.process_time() - begun) / _STAGE_FRAMES
        split = {stage.name.lower(): float(self._app.times.split[stage]) / 1e3 for stage in Stage}
        return {name: seconds for name, seconds in split.items() if name != "panels"}

    def panels(self) -> tuple[dict[str, Spread], dict[str, Spread]]:
        """Return what the panels cost in s: building and drawing them, and each of them.

        Only frames that build them count for the former; nothing watches the panels one by one meanwhile.
        """
        from app.panels.keeping import INTERVALS

        timer = BuildTimer()
        self.with_panels(_STAGE_FRAMES)
        self._gui.probe = timer
        while len(timer.built) < _BUILDS:
            self.with_panels(_STAGE_FRAMES)
        self._gui.probe = None
        # Panels that are kept take turns, so a number of frames may end before one of them had its turn.
        ends = time.perf_counter() + 4 * max(INTERVALS.values())
        with timed_panels(self._desk) as taken:
            while time.perf_counter() < ends:
                self.with_panels(_STAGE_FRAMES)
        builds = max(map(len, taken.values()))
        often = ", ".join(f"{name} {len(times)}" for name, times in taken.items() if len(times) < builds)
        self.built = f"in {builds} builds all, but {often}" if often else f"in each of {builds} builds all"
        whole = {BUILD: timer.built_cpu, BUILD_WALL: timer.built, DRAWING: timer.drawn}
        each = {name: Spread.of(times) for name, times in taken.items()}
        dearest = sorted(each, key=lambda name: -each[name].middle)
        together = {name: Spread.of(times) for name, times in whole.items()}
        return together, {name: each[name] for name in dearest}

    def passes(self) -> dict[str, float]:
        """Return the GPU's median time of each pass over the water, with panels, in s."""
        assert self._app.water is not None
        timer = PassTimer()
        self._app.water.probe = timer
        self.with_panels(_PASS_FRAMES)
        self._app.water.probe = None
        return timer.seconds()

    def calls(self) -> tuple[Calls, Calls, Calls]:
        """Return what frames ask of the device: most of them, one with a moved pointer, and one while paused.

        All with panels; each is shown before the next begins. Of those that only differ in OpenGL the first
        counts.
        """
        app = self._app
        assert app.scene is not None and app.scene.grid is not None
        place = app.scene.grid.width / 2, app.scene.grid.height / 3
        self.with_panels(_STAGE_FRAMES)
        with counted_calls(app.window.direct_calls) as taken:

            def one() -> Calls:
                self._frame(self._gui, self._desk)
                app.window.finish()
                return taken()

            one()
            seen = [one() for _ in range(_COUNTED_FRAMES)]
            kinds = Counter(calls.of_cuda() for calls in seen)
            usual = kinds.most_common(1)[0][0]
            app.push.press(place)
            moved = one()
            app.push.release()
            app.scene.clock.paused = True
            paused = [one() for _ in range(4)][-1]  # whatever was asked before has been answered
            app.scene.clock.paused = False
        return next(calls for calls in seen if calls.of_cuda() == usual), moved, paused

    def growth(self, count: int) -> tuple[float, float]:
        """Run so many frames; return the seconds of one, and the bytes the process grows with it.

        What the history keeps for going back grows until it is full, so it is kept short and filled first.
        Then the memory is read a dozen times: the median of the last third is held against that of the
        first, for a page more at one moment is no growth.
        """
        assert self._app.lab is not None and self._app.lab.history is not None
        self._app.lab.history.max_frames = _HISTORY
        self.with_panels(2 * _HISTORY)
        each = max(count // 12, 1)
        read, begun = [], time.perf_counter()
        for _ in range(12):
            self.with_panels(each)
            read.append(_resident())
        seconds = (time.perf_counter() - begun) / (12 * each)
        return seconds, (median(read[-4:]) - median(read[:4])) / (8 * each)

    def _run(self, count: int, gui: Any, desk: Any) -> None:
        from app.gl_platform import GL

        app = self._app
        assert app.scene is not None and app.scene.grid is not None and app.scene.player is not None
        grid = app.scene.grid
        window = app.window
        window.finish()
        shown = window.swaps
        for _ in range(count):
            self._count += 1
            if self._count % _PUSH_EVERY == 0:
                share = 0.2 + 0.6 * (self._count * 0.618 % 1)
                app.push.press((grid.width * share, grid.height * 0.5))
                app.push.release()
            self._frame(gui, desk)
        app.scene.player.synchronize()
        window.finish()
        GL.glFinish()
        if window.swaps - shown != count:
            raise DisplayError(f"{window.swaps - shown} of {count} frames were shown")

    def _frame(self, gui: Any, desk: Any) -> None:
        from app.loop import run_frame

        run_frame(self._app, gui, desk, time.perf_counter)


@contextmanager
def _running(window: Any, path: Path, device: str) -> Iterator[tuple[App, Frames]]:
    from app.gui import Gui
    from app.panels.desk import Desk
    from app.settings import Settings
    from app.state import App

    with ExitStack() as stack:
        app = App(window, Settings(), device=device, config=None)
        stack.callback(app.close)
        gui = Gui(window, theme_name=app.settings.theme)
        stack.callback(gui.close)
        app.set_free_run(True)
        app.trust = True  # recorded here a moment ago
        app.open(path)
        yield app, Frames(app, gui, Desk(app, gui))
        if app.message:
            from replay.errors import RipplescopeError

            raise RipplescopeError(app.message)


def _resident() -> int:
    """Bytes of this process in memory; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0
