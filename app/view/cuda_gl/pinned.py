"""The copy through the host: works wherever CUDA and OpenGL do, whatever they know of each other.

The heights are copied into pinned memory on the player's stream; the host waits for the event behind that
copy and hands the memory to OpenGL, which has taken it when the call returns. So one piece of memory is
enough.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from app.view.cuda_gl.heights import DeviceHeights, DeviceTransfer
from app.view.cuda_gl.shared import new_event


class PinnedCopy(DeviceTransfer):
    """CUDA copies into pinned memory, OpenGL from there into the texture."""

    path = "pinned copy"

    def __init__(self, heights: DeviceHeights, reason: str = "") -> None:
        self._memory = 0
        self._event: Any = None
        super().__init__(heights, reason)

    def _open(self) -> None:
        heights = self._heights
        self._memory = int(self._cuda.call(self._driver.cuMemHostAlloc, heights.nbytes, 0))
        bytes_ = (ctypes.c_char * heights.nbytes).from_address(self._memory)
        shape = heights.grid.height, heights.grid.width
        self._pinned = np.frombuffer(bytes_, np.float32).reshape(shape)
        self._event = new_event(self._cuda)

    def _bring(self) -> None:
        self._cuda.copy_out(self._memory, self._heights.address, self._heights.nbytes, self._stream)
        self._cuda.call(self._driver.cuEventRecord, self._event, self._stream)
        self._cuda.call(self._driver.cuEventSynchronize, self._event)
        self._texture.upload(self._pinned)

    def _shut(self) -> None:
        if self._event is not None:
            self._driver.cuEventSynchronize(self._event)  # a copy under way writes into the memory
            self._driver.cuEventDestroy(self._event)
            self._event = None
        if self._memory:
            self._driver.cuMemFreeHost(self._memory)
            self._memory = 0
