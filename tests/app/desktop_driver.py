"""The app as a user starts it, with one thing added for tests: between two frames it answers questions.

A question is a line of JSON on standard input, the answer a line on standard output. What a user does comes
from the X server; questions only look, put everything back in place (`reset`), or end with the input.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
from typing import Any

import numpy as np

SEEN = 1e-3
"""Height in m from which on water counts as pushed."""


class Places:
    """Where the widgets of the last build lie: `id/label` to x, y, width, height in window units."""

    def __init__(self) -> None:
        from app.gl_platform import imgui

        self.found: dict[str, list[float]] = {}
        self.ids: list[str] = []
        new_frame, push_id, pop_id = imgui.new_frame, imgui.push_id, imgui.pop_id

        def begin() -> None:
            self.found.clear()
            self.ids.clear()
            new_frame()

        def push(name: Any) -> None:
            self.ids.append(str(name))
            push_id(name)

        def pop() -> None:
            self.ids.pop()
            pop_id()

        imgui.new_frame, imgui.push_id, imgui.pop_id = begin, push, pop
        for name in (
            "button",
            "input_float",
            "input_int",
            "slider_float",
            "input_text_with_hint",
            "begin_menu",
        ):
            setattr(imgui, name, self._noting(imgui, getattr(imgui, name)))

    def _noting(self, imgui: Any, widget: Any) -> Any:
        def noting(label: str, *arguments: Any, **options: Any) -> Any:
            result = widget(label, *arguments, **options)
            if imgui.is_item_visible():
                corner, size = imgui.get_item_rect_min(), imgui.get_item_rect_size()
                self.found["/".join([*self.ids, label])] = [corner.x, corner.y, size.x, size.y]
            return result

        return noting


class Probe:
    """Looks at the running app after each frame and answers what was asked meanwhile."""

    def __init__(self) -> None:
        self.places = Places()
        self.questions: queue.Queue[str] = queue.Queue()
        self.ring: list[float] | None = None
        self.app: Any = None
        self._player: Any = None
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            self.questions.put(line)
        self.questions.put("")

    def after_frame(self, app: Any) -> None:
        self.app = app
        if app.scene is not None and app.scene.player is not self._player:
            self._watch(app.scene)
        while not self.questions.empty():
            line = self.questions.get()
            if not line:
                app.quitting = True
                return
            question = json.loads(line)
            answer = getattr(self, question.pop("ask"))(**question)
            print(json.dumps(answer), flush=True)

    def _watch(self, scene: Any) -> None:
        """Note where the water moves with the first launch that moves it, before the wave spreads."""
        player = self._player = scene.player
        if player is None:
            return
        launch = player.launch

        def launch_and_look() -> None:
            launch()
            if self.ring is None:
                heights = np.abs(player.view(scene.heights))
                if heights.max() > SEEN:
                    rows, columns = np.indices(heights.shape)
                    total = heights.sum()
                    self.ring = [
                        float((columns * heights).sum() / total),
                        float((rows * heights).sum() / total),
                    ]

        player.launch = launch_and_look

    def state(self) -> dict[str, Any]:
        from app.gl_platform import glfw, imgui

        app, scene = self.app, self.app.scene
        camera, canvas, clock = app.camera, app.canvas, scene.clock
        return {
            "frame": app.frame,
            "file": str(scene.capture.path),
            "scene": id(scene),
            "grid": None if scene.grid is None else [scene.grid.width, scene.grid.height],
            "launches": 0 if scene.player is None else scene.player.frames,
            "ring": self.ring,
            "waves": 0.0 if scene.player is None else float(np.abs(scene.player.view(scene.heights)).max()),
            "camera": {
                "yaw": camera.yaw,
                "pitch": camera.pitch,
                "distance": camera.distance,
                "target": camera.target.tolist(),
            },
            "framed": app.framed is not None,
            "canvas": list(canvas.rect),
            "pointer": list(canvas.pointer),
            "hovered": canvas.hovered,
            "down": canvas.down,
            "size": list(app.window.size),
            "framebuffer": list(app.window.framebuffer_size),
            "place": list(glfw.get_window_pos(app.window.handle)),
            "minimized": app.window.minimized,
            "swaps": app.window.swaps,
            "scale": app.window.content_scale,
            "full_screen": app.window._placement is not None,
            "recapturing": app.recapture is not None,
            "changed_on_disk": scene.changed_on_disk,
            "paused": clock.paused,
            "speed": clock.speed,
            "simulated": clock.simulated,
            "values": {name: list(value) for name, value in scene.editor.values.items()},
            "mode": None if app.water is None else app.water.options.mode.value,
            "tool": app.tools.tool.value,
            "panels": app.panels_shown,
            "preset": app.preset,
            "looking": app.lab.frame.looking,
            "event": app.selected,
            "popup": app.popup_open,
            "message": app.message,
            "typing": bool(imgui.get_io().want_text_input),
            "places": dict(self.places.found),
            "log": app.log.text(),
        }

    def heights(self) -> list[list[float]]:
        """The heights as they are, row by row."""
        return self.app.scene.player.view(self.app.scene.heights).tolist()

    def cell(self, cell: list[float]) -> list[float]:
        """Where a cell is shown, in window units."""
        from app.controls import water_viewport
        from app.view.picking import project_cell

        app = self.app
        x, y = project_cell(app.camera, tuple(cell), water_viewport(app), app.scene.grid)
        (width, height), (columns, rows) = app.window.size, app.window.framebuffer_size
        return [x * width / columns, y * height / rows]

    def reset(self, path: str, size: list[int]) -> bool:
        """As after the start, but for the log; what takes some frames is not waited for."""
        from pathlib import Path

        from app.gl_platform import imgui
        from app.view.options import Mode

        app = self.app
        if app.window._placement is not None:
            app.window.toggle_full_screen()
        app.window.resize(*size)
        app.message = ""
        app.close_popups_asked = app.layout_reset_asked = app.panels_shown = True
        imgui.internal.clear_active_id()
        if app.scene.capture.path != Path(path):
            app.open(Path(path))
        app.lab.frame.leave()
        app.selected = None
        app.water.options.mode = Mode.WATER
        app.preset = ""
        app.tools.put_down()
        editor = app.scene.editor
        editor.reset()
        editor.apply({"radius": 1.5})
        app.scene.clock.paused, app.scene.clock.speed = False, 1.0
        app.scene.reset_water()
        app.frame_view()
        self.ring = None
        return True

    def calm(self) -> bool:
        """Still water, and the next ring is noted."""
        self.app.scene.reset_water()
        self.ring = None
        return True


def main() -> int:
    import app.loop
    from app.window import load_libraries

    load_libraries(headless=False)
    probe = Probe()
    run_frame = app.loop.run_frame

    def run_and_answer(shown: Any, *arguments: Any, **options: Any) -> None:
        run_frame(shown, *arguments, **options)
        probe.after_frame(shown)

    app.loop.run_frame = run_and_answer
    from app.cli import main as run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
