"""The range of a height texture, and whether it holds a NaN, found on the GPU without waiting for it.

The first look waits for its answer, so that a single picture is right. Every later one is told to the GPU,
and its answer is taken a picture or two later, when it has arrived by itself.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from app.gl_platform import GL
from app.view.gl_objects import Buffer, Framebuffer, Texture
from app.view.shader import UNITS, ShaderLibrary

SMALLEST = 1e-3  # m: still water is not blown up to noise
_SIDE = 8  # as in shaders/reduce.frag
_EVERY = 8  # pictures between two looks at a large grid
_LARGE = 1 << 18  # cells
_FALL = 0.9  # a look, when the heights became smaller
_NBYTES = 16
_START = ctypes.c_void_p(0)
_DONE = (GL.GL_ALREADY_SIGNALED, GL.GL_CONDITION_SATISFIED)


class RangeFit:
    """Follows the largest height: up at once, down slowly, so that colours do not flicker.

    Attributes:
        largest: largest finite absolute height so far, or a little less, m.
        not_finite: whether the last look that was answered saw a NaN or an infinity.
    """

    def __init__(self, shaders: ShaderLibrary) -> None:
        self._shaders = shaders
        self._levels: list[Framebuffer] = []
        self._size = (0, 0)
        self._seen: tuple[int, int] | None = None
        self._pictures = 0
        self._answer: Buffer | None = None
        self._fence: Any = None
        self.largest = SMALLEST
        self.not_finite = False

    def update(self, texture: Texture) -> tuple[float, float]:
        """Return (-m, m) for the largest finite absolute height m, as far as it is known by now."""
        self.look(texture, every=_EVERY if texture.width * texture.height > _LARGE else 1)
        return -self.largest, self.largest

    def look(self, texture: Texture, every: int = 1) -> None:
        """Take an answer that has arrived, and ask again if the heights changed, once in `every` pictures."""
        self._pictures += 1
        self._take()
        now = (texture.name, texture.revision)
        if now == self._seen or self._fence is not None or (self._pictures % every and self._seen):
            return
        first, self._seen = self._seen is None, now
        if first:
            self._note(*self.reduce(texture))
        else:
            self._ask(texture)

    def forget(self) -> None:
        """Drop what was seen of non-finite heights, and an answer on its way."""
        self._drop()
        self.not_finite = False

    def reduce(self, texture: Texture) -> tuple[float, float, bool]:
        """Return lowest and highest finite value, and whether others are there; waits for the GPU.

        (3.4e38, -3.4e38) if no value is finite.
        """
        self._draw(texture)
        found = np.empty(4, np.float32)
        GL.glReadPixels(0, 0, 1, 1, GL.GL_RGBA, GL.GL_FLOAT, found)
        return float(found[0]), float(found[1]), bool(found[2])

    def _ask(self, texture: Texture) -> None:
        if self._answer is None:
            self._answer = Buffer(GL.GL_PIXEL_PACK_BUFFER)
            self._answer.bind()
            GL.glBufferData(GL.GL_PIXEL_PACK_BUFFER, _NBYTES, None, GL.GL_STREAM_READ)
        self._draw(texture)
        self._answer.bind()
        GL.glReadPixels(0, 0, 1, 1, GL.GL_RGBA, GL.GL_FLOAT, _START)
        GL.glBindBuffer(GL.GL_PIXEL_PACK_BUFFER, 0)
        self._fence = GL.glFenceSync(GL.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)

    def _take(self) -> None:
        if self._fence is None:
            return
        if GL.glClientWaitSync(self._fence, GL.GL_SYNC_FLUSH_COMMANDS_BIT, 0) not in _DONE:
            return
        self._drop()
        assert self._answer
        self._answer.bind()
        raw = GL.glGetBufferSubData(GL.GL_PIXEL_PACK_BUFFER, 0, _NBYTES)
        GL.glBindBuffer(GL.GL_PIXEL_PACK_BUFFER, 0)
        low, high, bad, _ = np.frombuffer(raw, np.float32)
        self._note(float(low), float(high), bool(bad))

    def _drop(self) -> None:
        if self._fence is not None:
            GL.glDeleteSync(self._fence)
            self._fence = None

    def _note(self, low: float, high: float, bad: bool) -> None:
        present = max(abs(low), abs(high), SMALLEST) if low <= high else SMALLEST
        self.largest = max(present, self.largest * _FALL)
        self.not_finite = bad

    def _draw(self, texture: Texture) -> None:
        """Reduce the texture to one texel, and leave its framebuffer bound."""
        self._fit(texture)
        program = self._shaders.use("fullscreen.vert", "reduce.frag")
        source = texture
        for index, level in enumerate(self._levels):
            level.bind()
            source.bind(UNITS["source"])
            program.set("first", int(index == 0))
            program.set_int2("source_size", source.width, source.height)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
            assert level.texture
            source = level.texture

    def _fit(self, texture: Texture) -> None:
        if (texture.width, texture.height) == self._size:
            return
        self._close_levels()
        width, height = self._size = (texture.width, texture.height)
        while not self._levels or width * height > 1:
            width, height = -(-width // _SIDE), -(-height // _SIDE)
            self._levels.append(Framebuffer(width, height, internal=GL.GL_RGBA32F, depth=False))

    def _close_levels(self) -> None:
        for level in reversed(self._levels):
            level.close()
        self._levels.clear()
        self._size = (0, 0)

    def close(self) -> None:
        """Delete everything."""
        self._drop()
        if self._answer is not None:
            self._answer.close()
            self._answer = None
        self._close_levels()
