"""A few gentle drops in the first second of the wave demo, so that nobody first sees dead water.

They go the way of the pointer's presses (`app.touch`), one after the other in simulated time, and are called
off by the first press of a button or a key. Whether there are any is decided where the window is opened.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from app.window import Event, KeyPressed, PointerButton

if TYPE_CHECKING:
    from app.scene import Scene
    from app.state import App

DROPS = ((0.20, 0.36, 0.42), (0.55, 0.68, 0.60), (0.95, 0.50, 0.24))
"""Simulated seconds, and the place as shares of the tank along x and z."""


class Welcome:
    """The drops that are still to fall: none until `begin`."""

    def __init__(self) -> None:
        self._drops: list[tuple[float, float, float]] = []
        self._scene: Scene | None = None

    def begin(self, scene: Scene | None) -> None:
        """Let them fall into a scene from now on."""
        self._drops, self._scene = list(DROPS), scene

    def step(self, app: App, events: Iterable[Event]) -> None:
        """Push where a drop is due; once a frame, before the launches.

        Args:
            app: the app.
            events: of this frame; one that presses something calls off what is to come.
        """
        if not self._drops:
            return
        pressed = any(isinstance(event, (KeyPressed, PointerButton)) and event.pressed for event in events)
        scene = app.scene
        if pressed or scene is None or scene is not self._scene or scene.grid is None:
            self._drops.clear()
            return
        due, x, z = self._drops[0]
        if scene.clock.simulated >= due:
            del self._drops[0]
            app.push.press((x * (scene.grid.width - 1), z * (scene.grid.height - 1)))
            app.push.release()
