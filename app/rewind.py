"""Going back in the running app: the water, the values shown in widgets, and the clock together."""

from __future__ import annotations

from app.state import App


def rewind(app: App, position: int) -> None:
    """Show the state at a position of the lab's history, and rest there; a launch goes on from it.

    Raises:
        ReplayError: a launch on the way to it failed.
    """
    scene, lab = app.scene, app.lab
    if scene is None or scene.player is None or lab is None or lab.history is None or lab.resting:
        return
    app.take_over()
    history, before = lab.history, lab.history.position
    scene.clock.paused = True
    history.seek(position)
    moved = history.position - before
    if not moved:
        return
    scene.editor.read(scene.player)
    if scene.furnishing is not None:
        scene.furnishing.read(scene.player)
    scene.clock.simulated = max(0.0, scene.clock.simulated + moved * scene.clock.step)
    if scene.not_finite:
        scene.not_finite = False
        lab.forget_found()
