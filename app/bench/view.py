"""The whole app frame by frame: frames a second with and without panels, and where the time of a frame goes.

Every frame is what the window does in a free run: one launch, one transfer, one picture. The stages are the
host's time, which waits where the GPU is behind; the passes are the GPU's own time between two time stamps.
A display is used if there is one, without waiting for it, and every frame that counts has been swapped; else
the picture is drawn and not shown.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds
from replay.errors import DisplayError

if TYPE_CHECKING:
    from app.state import App

SIZE = (800, 600)
BARE, PANELS = "frame, no panels", "frame, panels"
# Frames a second with panels that are good enough, by what draws and the side of the grid. On a GPU: what
# Warp's own C++ program reached on an H200, and 4 and 10 times that on larger grids.
GOALS = {"software": {128: 20.0}, "cuda": {128: 910.0, 1024: 728.0, 2048: 500.0}}
_ROUND = 2.5  # rounds of frames are longer than those of launches, for their times spread more
_PUSH_EVERY = 30
_STAGE_FRAMES = 80  # the split of a frame is smoothed over about 20
_PASS_FRAMES = 12
_GROWTH_FRAMES, _GROWTH = 20_000, 50  # at most so many frames, for so many times the shortest round


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

        for name, seconds in frames.stages().items():
            one(f"stage {name}", seconds, 100 * seconds / whole, "% of a frame")
        for name, seconds in frames.passes().items():
            one(f"pass {name}", seconds, 100 * seconds / whole, "% of a frame")
        seconds, nbytes = frames.growth(int(_GROWTH * plan.seconds / whole))
        one("memory growth", seconds, nbytes, "bytes/frame")
        return measured


class Frames:
    """Runs frames of an app, with or without its panels."""

    def __init__(self, app: App, gui: Any, desk: Any) -> None:
        self._app, self._gui, self._desk = app, gui, desk
        self._count = 0

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

        self.with_panels(_STAGE_FRAMES)
        return {stage.name.lower(): float(self._app.times.split[stage]) / 1e3 for stage in Stage}

    def passes(self) -> dict[str, float]:
        """Return the GPU's median time of each pass over the water, with panels, in s."""
        assert self._app.water is not None
        timer = PassTimer()
        self._app.water.probe = timer
        self.with_panels(_PASS_FRAMES)
        self._app.water.probe = None
        return timer.seconds()

    def growth(self, count: int) -> tuple[float, float]:
        """Run about so many frames; return the seconds of one, and the bytes the process grows with it."""
        count = max(min(_GROWTH_FRAMES, count), 10)
        before, begun = _resident(), time.perf_counter()
        self.with_panels(count)
        return (time.perf_counter() - begun) / count, (_resident() - before) / count

    def _run(self, count: int, gui: Any, desk: Any) -> None:
        from app.gl_platform import GL
        from app.loop import run_frame

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
            run_frame(app, gui, desk, time.perf_counter)
        app.scene.player.synchronize()
        window.finish()
        GL.glFinish()
        if window.swaps - shown != count:
            raise DisplayError(f"{window.swaps - shown} of {count} frames were shown")


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
