"""Pictures of a player's water without a window: as the window draws it, or from above without OpenGL.

A film is of one size, whatever captures the session went through; each has a painter of its own.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Protocol

import numpy as np

from app.look import give_look
from app.view.options import Quality
from replay.errors import ReplayError

if TYPE_CHECKING:
    from app.scene import Scene
    from app.window import Window
    from replay.session.records import Camera, Look


class Painter(Protocol):
    """Paints the present heights of one scene."""

    def paint(self, camera: Camera | None, look: Look | None = None) -> np.ndarray:
        """Return a picture (height, width, 3), uint8, from a camera and so shown; None for the defaults."""

    def close(self) -> None:
        """Release what it holds."""


class TopViewPainter:
    """From above, without OpenGL; knows no camera, and one look: water."""

    def __init__(self, scene: Scene, size: tuple[int, int]) -> None:
        self._scene, self._size = scene, size
        _require_water(scene)

    def paint(self, camera: Camera | None, look: Look | None = None) -> np.ndarray:
        """Return the picture."""
        from app.topview import render_topview

        scene = self._scene
        assert scene.player is not None and scene.heights is not None and scene.grid is not None
        walls = scene.player.get("walls") if scene.furnishing is not None else None
        return render_topview(scene.player.get(scene.heights), self._size, scene.grid.dx, walls=walls)

    def close(self) -> None:
        """Nothing to do."""


class WaterPainter:
    """As the window draws it, into a headless window of the film's size.

    Args:
        scene: with a height field.
        window: open, its context current.
        quality: how much work goes into a picture. The best, if not asked otherwise: `auto` is for those who
            wait for the next frame, and would make the pictures of one film differ.
    """

    def __init__(self, scene: Scene, window: Window, quality: Quality = Quality.HIGH) -> None:
        from app.view.camera import OrbitCamera
        from app.view.transfer import open_transfer
        from app.view.water import WaterView

        grid, heights = _require_water(scene)
        assert scene.player is not None
        self._scene, self._window = scene, window
        self._camera = OrbitCamera()
        width, height = window.framebuffer_size
        self._camera.frame_grid(grid, width / height)
        self._stack = ExitStack()
        with ExitStack() as stack:
            self._transfer = stack.enter_context(open_transfer(scene.player, grid, heights))
            self._water = WaterView(grid.width, grid.height, grid.dx)
            self._water.options.quality = quality
            stack.callback(self._water.close)
            self._stack = stack.pop_all()

    def paint(self, camera: Camera | None, look: Look | None = None) -> np.ndarray:
        """Return the picture."""
        from app.gl_platform import GL
        from app.view.screenshot import read_pixels

        if camera is not None:
            self._camera.target = np.array(camera[:3])
            self._camera.distance, self._camera.yaw, self._camera.pitch, self._camera.fov = camera[3:]
        if look is not None:
            give_look(self._water.options, look)
        scene = self._scene
        if scene.furnishing is not None and scene.player is not None:
            scene.furnishing.read(scene.player)
            self._water.furnish(scene.furnishing)
        self._transfer.update()
        self._window.bind()
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
        size = self._window.framebuffer_size
        self._water.draw(self._transfer.texture, self._camera, (0.0, 0.0, *map(float, size)), None)
        return read_pixels(self._window.framebuffer, size)

    def close(self) -> None:
        """Release the OpenGL objects."""
        self._stack.close()


def _require_water(scene: Scene):
    if scene.grid is None or scene.heights is None:
        raise ReplayError(
            f"{scene.name} names no height field, so there is no water to picture",
            remedy="'ripplescope inspect' shows what it holds",
        )
    return scene.grid, scene.heights
