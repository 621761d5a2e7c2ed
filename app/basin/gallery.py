"""Starting a scene of the gallery in the running app: in the open basin, or in one captured for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.actions import perform
from app.basin.apply import furnish, look_at
from app.bindings import Action
from app.look import give_look, look_of
from app.recapture import FrameRequest
from app.view.camera import OrbitCamera
from app.view.options import WaterOptions

if TYPE_CHECKING:
    from app.basin.scenes import BasinScene
    from app.state import App


def start_scene(app: App, scene: BasinScene) -> None:
    """Start a scene: at once where the open basin has its grid and substeps, else once one is captured.

    Raises:
        ReplayError: the basin cannot be furnished.
    """
    live = app.scene
    if (
        live is not None
        and live.player is not None
        and live.grid is not None
        and live.furnishing is not None
        and (live.grid.width, live.grid.height, live.substeps) == (scene.width, scene.height, scene.substeps)
    ):
        _begin(app, scene)
        return
    device = live.player.device if live is not None and live.player is not None else app.device
    request = FrameRequest(scene.width, scene.height, scene.substeps, device, "basin")
    app.start_recapture(request, lambda: _begin(app, scene, first=True))


def _begin(app: App, scene: BasinScene, *, first: bool = False) -> None:
    """Start it in the open basin: one step for undo, but where that was captured for it."""
    live = app.scene
    if live is None or live.player is None:
        return
    with live.editor.together():
        live.editor.reset()
        for message in live.editor.apply(scene.values):
            app.log.add(message)
        furnish(live, scene)
    if first:
        live.editor.forget()
    perform(app, Action.RESET_WATER)
    live.clock.paused = False
    show_from(app, scene)
    app.tools.source = app.tools.probe = app.tools.ruler = None
    app.tell(f"{scene.label}: {scene.description}" if scene.description else scene.label)


def begin_first(app: App, scene: BasinScene) -> None:
    """Furnish the basin that was opened for a scene, and show it.

    Raises:
        ReplayError: it cannot be furnished.
    """
    if app.scene is not None:
        furnish(app.scene, scene)
        show_from(app, scene)


def show_from(app: App, scene: BasinScene) -> None:
    """Show a scene as its file says, from there; a distance that it gives does not follow the window."""
    if app.water is not None:
        plain = {
            name: value
            for name, value in look_of(WaterOptions()).items()
            if name not in ("axes", "wireframe")
        }
        give_look(app.water.options, {**plain, **scene.view})
    if app.lab is not None:
        app.lab.shown.active = False
    if app.scene is not None and scene.description:
        app.scene.caption = f"{scene.label}.  {scene.description}"
    wanted, camera = scene.camera, OrbitCamera()
    look_at(scene, camera)
    if app.scene is not None:
        app.scene.seen_from = camera.yaw, camera.pitch
    app.frame_view()
    if wanted.distance is not None:
        look_at(scene, app.camera)
        app.framed = None
