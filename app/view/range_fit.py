"""The symmetric range of a height texture, found on the GPU, steady from picture to picture."""

from __future__ import annotations

import numpy as np

from app.gl_platform import GL
from app.view.gl_objects import Framebuffer, Texture, VertexArray
from app.view.shader import ShaderLibrary

SMALLEST = 1e-3  # m: still water is not blown up to noise
_SIDE = 8  # as in shaders/reduce.frag
_EVERY = 8  # pictures between two looks at a large grid
_LARGE = 1 << 18  # cells
_FALL = 0.9  # a look, when the heights became smaller


class RangeFit:
    """Follows the largest height: up at once, down slowly, so that colours do not flicker."""

    def __init__(self, shaders: ShaderLibrary, vertices: VertexArray) -> None:
        self._shaders, self._vertices = shaders, vertices
        self._levels: list[Framebuffer] = []
        self._size = (0, 0)
        self._seen: tuple[int, int] | None = None
        self._pictures = 0
        self.largest = SMALLEST

    def update(self, texture: Texture) -> tuple[float, float]:
        """Return (-m, m) for the largest finite absolute height m so far, or a little less."""
        now = (texture.name, texture.revision)
        self._pictures += 1
        skip = texture.width * texture.height > _LARGE and self._pictures % _EVERY and self._seen
        if now != self._seen and not skip:
            self._seen = now
            low, high = self.reduce(texture)
            present = max(abs(low), abs(high), SMALLEST) if low <= high else SMALLEST
            self.largest = max(present, self.largest * _FALL)
        return -self.largest, self.largest

    def reduce(self, texture: Texture) -> tuple[float, float]:
        """Return the lowest and the highest finite value of a texture; (3.4e38, -3.4e38) if none is."""
        self._fit(texture)
        self._vertices.bind()
        program = self._shaders.get("fullscreen.vert", "reduce.frag")
        program.use({"source": 5})
        source = texture
        for index, level in enumerate(self._levels):
            level.bind()
            source.bind(5)
            program.use({"first": int(index == 0)})
            program.set_int2("source_size", source.width, source.height)
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
            assert level.texture
            source = level.texture
        found = np.empty(2, np.float32)
        GL.glReadPixels(0, 0, 1, 1, GL.GL_RG, GL.GL_FLOAT, found)
        return float(found[0]), float(found[1])

    def _fit(self, texture: Texture) -> None:
        if (texture.width, texture.height) == self._size:
            return
        self.close()
        width, height = self._size = (texture.width, texture.height)
        while not self._levels or width * height > 1:
            width, height = -(-width // _SIDE), -(-height // _SIDE)
            self._levels.append(Framebuffer(width, height, internal=GL.GL_RG32F, depth=False))

    def close(self) -> None:
        """Delete the levels."""
        for level in reversed(self._levels):
            level.close()
        self._levels.clear()
        self._size = (0, 0)
