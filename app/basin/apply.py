"""Furnishing an opened basin with a scene: its arrays, its rain, its camera."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from app.editor import Step
from replay.errors import ReplayError

if TYPE_CHECKING:
    from app.basin.scenes import BasinScene
    from app.scene import Scene
    from app.view.camera import OrbitCamera


def record_scene(scene: BasinScene, device: str) -> Path:
    """Return the capture of a scene's frame, recorded now if it is not kept.

    Raises:
        UsageError, DeviceError, RecordingError: it cannot be recorded.
    """
    from app.cache import demo_capture

    return demo_capture(scene.settings(), device)


def furnish(live: Scene, scene: BasinScene) -> None:
    """Write walls, depth, border, sources and probes into what is replayed, and let its rain fall: one step.

    Raises:
        ReplayError: it is no basin of the scene's grid.
    """
    player = live.player
    arrays = scene.arrays()
    if player is None or not all(
        name in player.parameters and player.parameters[name].full_shape == value.shape
        for name, value in arrays.items()
    ):
        raise ReplayError(
            f"{live.name} is no basin of {scene.width} x {scene.height} cells",
            remedy="record one with --solver basin and that grid",
        )
    before, rain = live.rain, scene.rain
    with live.editor.together():
        for name, value in arrays.items():
            player.set(name, value)
            if name in live.editor.values:
                live.editor.move(name, tuple(value.reshape(-1).tolist()))
        if live.furnishing is not None:
            live.furnishing.replace(arrays)
        live.editor.record(
            Step(undo=lambda: setattr(live, "rain", before), redo=lambda: setattr(live, "rain", rain))
        )
    live.rain = rain


def look_at(scene: BasinScene, camera: OrbitCamera) -> None:
    """Turn a camera to where a scene is seen from; what the scene leaves open stays."""
    wanted = scene.camera
    if wanted.yaw is not None:
        camera.yaw = math.radians(wanted.yaw)
    if wanted.pitch is not None:
        camera.pitch = math.radians(wanted.pitch)
    if wanted.distance is not None:
        camera.distance = min(max(wanted.distance, camera.limits[0]), camera.limits[1])
