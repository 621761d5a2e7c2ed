"""A running app on the headless window for tests: real panels, real ImGui, one frame at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from app.settings import Settings
from replay.players.base import Player


class Rig:
    """The app, its panels, and hands to use them with."""

    def __init__(self, window, app, gui, desk) -> None:
        self.window, self.app, self.gui, self.desk = window, app, gui, desk
        self.now = 100.0

    def frame(self, *events, launches: int | None = None, seconds: float = 1 / 60) -> None:
        """Run one frame `seconds` later, with events as the window would deliver them."""
        from app.loop import run_frame

        self.window.post(*events)
        self.now += seconds
        run_frame(self.app, self.gui, self.desk, lambda: self.now, launches=launches)

    def frames(self, count: int, **options) -> None:
        for _ in range(count):
            self.frame(**options)

    def click(self, x: float, y: float, *, launches: int | None = None) -> None:
        """Move there, press and release the left button, as ImGui needs it: one thing a frame."""
        from app.window import Button, Modifiers, PointerButton, PointerMoved

        self.frame(PointerMoved(x, y), launches=launches)
        self.frame(PointerMoved(x, y), launches=launches)
        self.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, x, y), launches=launches)
        self.frame(PointerButton(Button.LEFT, False, Modifiers.NONE, x, y), launches=launches)
        self.frame(launches=launches)

    def key(self, name: str, modifiers=None) -> None:
        """Press and release a key."""
        from app.window import KeyPressed, Modifiers

        held = Modifiers.NONE if modifiers is None else modifiers
        self.frame(KeyPressed(name, True, False, held))
        self.frame(KeyPressed(name, False, False, held))

    def heights(self) -> np.ndarray:
        """The present heights, (rows, columns)."""
        return self.app.scene.player.get(self.app.scene.heights)


@contextmanager
def running_app(
    player: Player | None = None,
    *,
    size: tuple[int, int] = (1000, 640),
    config: Path | None = None,
    settings: Settings | None = None,
    before: Callable[[object], None] | None = None,
) -> Iterator[Rig]:
    """Open the app headless with its panels; show a player's capture if one is given."""
    from app.gui import Gui
    from app.panels.desk import Desk
    from app.scene import Scene
    from app.state import App
    from app.window import open_window

    with open_window(size, "test", headless=True) as window:
        app = App(window, settings or Settings(), device="cpu", config=config)
        gui = Gui(window, theme_name=app.settings.theme)
        try:
            desk = Desk(app, gui)
            if player is not None:
                app.show(Scene.of_player(player))
            rig = Rig(window, app, gui, desk)
            rig.frames(3, launches=0)
            yield rig
        finally:
            gui.close()
            app.close()
