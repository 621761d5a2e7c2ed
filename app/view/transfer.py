"""How heights get from a player to the texture that the water is drawn from.

A transfer owns an R32F texture, one texel a cell, row 0 of the grid first. `update` brings the player's
present heights into it. Here are the interface and the way from host memory; the ways from a CUDA device
are in app/view/cuda_gl/.
"""

from __future__ import annotations

import enum
import os
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from app.gl_platform import GL
from app.view.gl_objects import Texture
from app.view.grid import Grid
from replay.errors import ReplayError, UsageError

if TYPE_CHECKING:
    from replay.players.base import Player


class Prefer(enum.Enum):
    """Which way a user asks for; what does not work gives way to the copy, which always does."""

    AUTO = "auto"
    INTEROP = "interop"
    SHARED = "shared"
    COPY = "copy"

    @classmethod
    def of_text(cls, text: str) -> Prefer:
        """Return the way of a name.

        Raises:
            UsageError: there is no such way.
        """
        try:
            return cls(text)
        except ValueError:
            names = ", ".join(way.value for way in cls)
            raise UsageError(f"unknown transfer {text!r}", remedy=f"use one of {names}") from None


class HeightTransfer:
    """The interface, and the owner of the texture.

    Attributes:
        path: short name of the way.
        reason: why this way and no faster one.
        mapped: whether another API has the texture, or what fills it, for itself just now.
    """

    path = ""
    mapped = False

    def __init__(self, grid: Grid, reason: str) -> None:
        limit = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_SIZE))
        if max(grid.width, grid.height) > limit:
            raise ReplayError(
                f"a grid of {grid.width}x{grid.height} is larger than this OpenGL can show ({limit} a side)",
                remedy="use a smaller grid",
            )
        self.grid, self.reason = grid, reason
        self._texture = Texture(grid.width, grid.height, GL.GL_R32F)

    @property
    def texture(self) -> Texture:
        """The heights in OpenGL, to be drawn from."""
        assert not self.mapped, "drawing while mapped: what the picture shows would be undefined"
        return self._texture

    def update(self) -> None:
        """Bring the player's present heights into the texture."""
        raise NotImplementedError

    def close(self) -> None:
        """Release the texture."""
        self._texture.close()

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
        self._texture.upload(np.ascontiguousarray(heights, np.float32))


class HostTransfer(ArrayTransfer):
    """Upload from host memory: the player's own on the CPU.

    Uploads only what a launch, a reset or a value may have changed, and whenever `touch` was called.
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
        self._player.flush()
        if self._player.revision == self._seen:
            return
        self._seen = self._player.revision
        heights = np.asarray(self._player.view(self._name))
        self.upload(heights.reshape(self.grid.height, self.grid.width))


def open_transfer(
    player: Player, grid: Grid, name: str = "heights_out", prefer: str | None = None
) -> HeightTransfer:
    """Return the fastest transfer that works for a player, or the one asked for if it does.

    Args:
        player: what computes the heights.
        grid: their grid.
        name: the parameter that holds them, float32.
        prefer: `auto`, `interop`, `shared` or `copy`, which matters on CUDA only; None takes the
            environment's RIPPLESCOPE_TRANSFER, or `auto`.

    Raises:
        UsageError: there is no such way.
        ReplayError: the grid is larger than OpenGL can show, or the array is no field of its size.
        ParameterError: the capture has no such parameter.
    """
    wanted = Prefer.of_text(prefer or os.environ.get("RIPPLESCOPE_TRANSFER") or "auto")
    if player.device.startswith("cuda"):
        from app.view.cuda_gl.choose import open_cuda_transfer

        return open_cuda_transfer(player, grid, name, wanted)
    return HostTransfer(player, grid, name, "heights are in host memory")
