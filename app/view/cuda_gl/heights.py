"""Heights on a CUDA device, and what all transfers from there have in common.

A transfer here runs on the player's own stream, right behind its launch, and only when something changed.
How the heights get across is for the modules beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from app.view.grid import Grid
from app.view.transfer import HeightTransfer
from replay.errors import ReplayError
from replay.parameters import spec_named

if TYPE_CHECKING:
    from replay.players.base import Player


@dataclass(frozen=True)
class DeviceHeights:
    """A height field in the memory of a CUDA device.

    Attributes:
        player: what computes them.
        grid: their grid.
        cuda: the player's driver; `with cuda` makes the device's context current.
        stream: the player's stream, the driver's handle.
        address: of the first height, float32, row 0 first, no gap between rows.
    """

    player: Player
    grid: Grid
    cuda: Any
    stream: Any
    address: int

    @classmethod
    def of_player(cls, player: Any, grid: Grid, name: str) -> DeviceHeights:
        """Return a CUDA player's array.

        Raises:
            ParameterError: there is no such array.
            ReplayError: it is no float32 field of the grid's size.
        """
        spec = spec_named(player.parameters, name)
        if spec.full_shape != (grid.height, grid.width) or spec.element.scalar != np.float32:
            raise ReplayError(
                f"{name!r} is {spec.element.name} of shape {spec.full_shape}, "
                f"which is no height field of {grid.width}x{grid.height}"
            )
        return cls(player, grid, player.cuda, player.stream_handle, player.address(name))

    @property
    def pitch(self) -> int:
        """Bytes from row to row."""
        return 4 * self.grid.width

    @property
    def nbytes(self) -> int:
        """Bytes of the whole field."""
        return self.pitch * self.grid.height


class DeviceTransfer(HeightTransfer):
    """A transfer from a CUDA device; children say how in `_bring`.

    They make what they need in `_open` and release it in `_shut`. The order of closing is: what CUDA holds
    of OpenGL, then what OpenGL holds of CUDA, then the texture; all with both contexts current, so never
    in `__del__`. The player is closed by its owner afterwards, the window last.

    Raises:
        ReplayError: this way does not work here; nothing is left behind.
    """

    def __init__(self, heights: DeviceHeights, reason: str = "") -> None:
        super().__init__(heights.grid, reason)
        self._heights = heights
        self._cuda, self._driver, self._stream = heights.cuda, heights.cuda.driver, heights.stream
        self._seen: int | None = None
        try:
            with self._cuda:
                self._open()
        except BaseException:
            self.close()
            raise

    def touch(self) -> None:
        """Transfer at the next `update` even if there was no launch."""
        self._seen = None

    def update(self) -> None:
        """Bring the heights into the texture if they may have changed since the last call."""
        player = self._heights.player
        player.flush()
        if player.revision == self._seen:
            return
        with self._cuda:
            self._bring()
        self._texture.touch()
        self._seen = player.revision

    def close(self) -> None:
        """Release everything; the OpenGL context must be current. A second call does nothing."""
        try:
            with self._cuda:
                self._shut()
        finally:
            super().close()

    def _open(self) -> None:
        """Make what the way needs; the device's context is current."""
        raise NotImplementedError

    def _bring(self) -> None:
        """Copy the heights into the texture, in stream order; the device's context is current."""
        raise NotImplementedError

    def _shut(self) -> None:
        """Release what `_open` made, however far it came; a second call does nothing."""
        raise NotImplementedError
