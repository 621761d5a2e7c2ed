"""What the graph's panel costs a frame, for captures of very many operations, against one of 17.

Time of the thread on its processor in building the panel, headless and without a player: what the graphics
driver does with the result is in the view's part. Panning draws the picture anew with every frame.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.bench.parts import Measurement, Part, Plan, compare

if TYPE_CHECKING:
    from app.gui import Gui
    from app.panels.graph import GraphPanel
    from app.state import App
    from app.window import Window

SHORT, FOLDED, PANNED, OPENED, WHOLE = (
    "17 operations", "folded", "folded, panned", "unfolded, panned", "unfolded, all in sight",
)  # fmt: skip
COUNTS = (10_000, 100_000)
GOAL = 4e-3  # s a frame
_SIZE, _PANEL = (1280, 800), (390.0, 360.0)
_FRAMES = 10


class PanelPart(Part):
    """The graph's panel."""

    name = "panel"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure captures of 10,000 operations and, unless the run is a quick one, of 100,000."""
        from app.gui import Gui
        from app.settings import Settings
        from app.state import App
        from app.window import load_libraries, open_window

        load_libraries(headless=True)
        measured = []
        with open_window(_SIZE, "Ripplescope bench", headless=True) as window:
            app, gui = App(window, Settings(), device="cpu", config=None), Gui(window, theme_name="dark")
            try:
                short = self._timer(app, gui, window, _record(plan.folder / "short", 0))
                base = [short.frame(0.0) for _ in range(plan.rounds)]
                for count in COUNTS:
                    if count <= plan.operations:
                        plan.say(f"{self.name} {count:,} operations")
                        path = _record(plan.folder / f"panel{count}", count)
                        measured += self._long(plan, self._timer(app, gui, window, path), count, base)
            finally:
                gui.close()
                app.close()
        return measured

    def _long(self, plan: Plan, timer: PanelTimer, count: int, base: list[float]) -> list[Measurement]:
        ways: dict[str, tuple[Callable[[], None], float]] = {
            FOLDED: (lambda: None, 0.0), PANNED: (lambda: None, 3.0),
        }  # fmt: skip
        if count <= COUNTS[0]:
            ways |= {OPENED: (timer.unfold, 3.0), WHOLE: (timer.see_all, 3.0)}
        taken = {SHORT: base}
        for name, (prepare, pan) in ways.items():
            prepare()
            timer.frame(pan)  # lays out, and fills what is kept
            taken[name] = [timer.frame(pan) for _ in range(plan.rounds)]
        goals = dict.fromkeys(ways, GOAL)
        return compare(self.name, f"{count:,} operations", taken, SHORT, unit="frames/s", goals=goals)

    @staticmethod
    def _timer(app: App, gui: Gui, window: Window, path: Path) -> PanelTimer:
        from app.scene import Scene
        from replay.graph.open import open_capture

        app.show(Scene.of_capture(open_capture(path), "it is only measured here"))
        timer = PanelTimer(app, gui)
        timer.frame(0.0)
        return timer


class PanelTimer:
    """Builds a graph panel of its own, and tells how long that took.

    Attributes:
        panel: the panel.
    """

    def __init__(self, app: App, gui: Gui) -> None:
        from app.panels.graph import GraphPanel

        self._app, self._gui = app, gui
        self.panel: GraphPanel = GraphPanel()
        self._spent = 0.0

    def frame(self, pan: float) -> float:
        """Build some frames, moved by some window units each, back and forth; return the seconds of one."""
        self._spent = 0.0
        for number in range(_FRAMES):
            if pan:
                self.panel.camera.pan(pan if number % 2 else -pan, pan if number % 4 < 2 else -pan)
            self._gui.build(time.perf_counter(), self._draw, force=True)
        return self._spent / _FRAMES

    def unfold(self) -> None:
        """Show every operation in a box of its own, as if no two were alike, at a size that can be read."""
        from app.panels.graph import GraphPanel
        from replay.graph.fold import Folded
        from replay.graph.operations import LazyOperations

        lab, boxes = self._app.lab, 0
        assert lab is not None
        operations = lab.capture.operations
        assert isinstance(operations, LazyOperations)
        labels = [operations.labels[code] for code in operations.label_of.tolist()]
        vars(lab)["folded"] = tuple(Folded(event, label, 1) for event, label in enumerate(labels))
        self.panel = GraphPanel()
        self.frame(0.0)
        assert self.panel.picture is not None
        while len(self.panel.picture.boxes) > boxes:
            boxes = len(self.panel.picture.boxes)
            self.panel.unfold_all(lab, closed=False)
            self.frame(0.0)

    def see_all(self) -> None:
        """Bring all of the picture into sight."""
        self.panel.fit_asked = True

    def _draw(self) -> None:
        from app.gl_platform import imgui

        imgui.set_next_window_size(_PANEL)
        imgui.begin("Graph")
        begun = time.thread_time()
        self.panel.draw(self._app, self._gui)
        self._spent += time.thread_time() - begun
        imgui.end()


def _record(folder: Path, count: int) -> Path:
    """Record the reference frame, its launches repeated to at least so many operations."""
    from capture.frame import FrameSettings, record_frame
    from replay.graph.open import open_capture
    from replay.wrp.write import repeat_operations

    path = record_frame(FrameSettings(solver="reference"), folder, "cpu")
    launches = len(open_capture(path).top_level)
    if count > launches:
        path.write_bytes(repeat_operations(path.read_bytes(), -(-count // launches)))
    return path
