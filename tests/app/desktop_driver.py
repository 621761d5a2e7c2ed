"""Run the app in a real window for a test that drives it with xdotool; tell in JSON what came of it.

Prints `ready X Y` with the place of cell (6, 5) in the window, runs until the user quits, then one line.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np


def main(path: str) -> None:
    from app.controls import water_viewport
    from app.gui import Gui
    from app.loop import run_frame
    from app.panels.desk import Desk
    from app.scene import open_scene
    from app.settings import Settings
    from app.state import App
    from app.view.picking import project_cell
    from app.window import open_window

    with open_window((900, 600), "desktop test", vsync=False) as window:
        app = App(window, Settings(), device="cpu", config=None)
        gui = Gui(window, theme_name="dark")
        desk = Desk(app, gui)
        app.show(open_scene(Path(path), "cpu"))
        app.scene.editor.apply({"radius": 1.5})
        for _ in range(5):
            run_frame(app, gui, desk, time.perf_counter, launches=0)
        app.frame_view()
        run_frame(app, gui, desk, time.perf_counter, launches=0)
        yaw, pitch, distance = app.camera.yaw, app.camera.pitch, app.camera.distance
        x, y = project_cell(app.camera, (6.0, 5.0), water_viewport(app), app.scene.grid)
        print(f"ready {x:.0f} {y:.0f}", flush=True)
        ring = None
        end = time.monotonic() + 60
        while not (app.quitting or window.should_close) and time.monotonic() < end:
            run_frame(app, gui, desk, time.perf_counter)
            heights = np.abs(app.scene.player.view(app.scene.heights))
            if ring is None and heights.max() > 1e-3:
                row, column = np.unravel_index(np.argmax(heights), heights.shape)
                ring = [int(column), int(row)]
        told = {
            "ring": ring,
            "turned": [app.camera.yaw - yaw, app.camera.pitch - pitch],
            "zoomed": app.camera.distance / distance,
            "paused": app.scene.clock.paused,
            "speed": app.scene.clock.speed,
            "k_speed": app.scene.editor.values["k_speed"][0],
            "panels": app.panels_shown,
            "quit": app.quitting,
            "log": app.log.text(),
        }
        gui.close()
        app.close()
    print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
