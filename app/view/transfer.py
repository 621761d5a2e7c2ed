"""How heights get from a player to the texture that the water is drawn from.

A transfer owns an R32F texture, one texel a cell, row 0 of the grid first. `update` brings the player's
present heights into it. Here is the way through the host, which always works; other ways keep to the same
interface.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from app.gl_platform import GL
from app.view.gl_objects import Texture
from app.view.grid import Grid
from replay.errors import ReplayError

if TYPE_CHECKING:
    from replay.players.base import Player


class HeightTransfer:
    """The interface, and the owner of the texture.

    Attributes:
        texture: the heights in OpenGL.
        path: short name of the way.
        reason: why this way and no faster one.
    """

    path = ""

    def __init__(self, grid: Grid, reason: str) -> None:
        limit = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_SIZE))
        if max(grid.width, grid.height) > limit:
            raise ReplayError(
                f"a grid of {grid.width}x{grid.height} is larger than this OpenGL can show ({limit} a side)",
                remedy="use a smaller grid",
            )
        self.grid, self.reason = grid, reason
        self.texture = Texture(grid.width, grid.height, GL.GL_R32F)

    def update(self) -> None:
        """Bring the player's present heights into the texture."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the texture."""
        self.texture.close()

    def __enter__(self) -> HeightTransfer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class ArrayTransfer(HeightTransfer):
    """Heights that the caller hands over as an array."""

    path = "host"

    def __init__(self, grid: Grid, reason: str = "heights are given as an array") -> None:
        super().__init__(grid, reason)

    def upload(self, heights: np.ndarray) -> None:
        """Upload heights of shape (height, width), m."""
        shape = (self.grid.height, self.grid.width)
        if heights.shape != shape:
            raise ReplayError(f"heights of shape {heights.shape} do not fit the grid's {shape}")
        self.texture.upload(np.ascontiguousarray(heights, np.float32))


class HostTransfer(ArrayTransfer):
    """Upload from host memory: the player's own memory on the CPU, a copy of it elsewhere.

    Uploads only after a launch or a reset, and whenever `touch` was called.
    """

    def __init__(self, player: Player, grid: Grid, name: str, reason: str) -> None:
        super().__init__(grid, reason)
        self._player, self._name = player, name
        self._seen: Any = None

    def touch(self) -> None:
        """Upload at the next `update` even if there was no launch."""
        self._seen = None

    def update(self) -> None:
        """Upload the heights if they may have changed since the last call."""
        frames = self._player.frames
        if frames == self._seen:
            return
        self._seen = frames
        if self._player.device.startswith("cpu"):
            heights = np.asarray(self._player.view(self._name))
        else:
            heights = self._player.get(self._name)
        self.upload(heights.reshape(self.grid.height, self.grid.width))


def open_transfer(player: Player, grid: Grid, name: str = "heights_out") -> HeightTransfer:
    """Return the fastest transfer that works for a player.

    Args:
        player: what computes the heights.
        grid: their grid.
        name: the parameter that holds them, float32.

    Raises:
        ReplayError: the grid is larger than OpenGL can show.
        ParameterError: the capture has no such parameter.
    """
    if player.device.startswith("cpu"):
        return HostTransfer(player, grid, name, "heights are in host memory")
    return HostTransfer(player, grid, name, f"heights are copied from {player.device} through the host")
