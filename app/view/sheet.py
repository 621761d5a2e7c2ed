"""A sheet of quads over the tank without any vertex data, drawn as many copies of one small patch.

In a patch neighbouring triangles share their corners through indices, so that a corner is computed about
once and not for each triangle; and a sheet of any size is only another number of copies. Where the corners
are is worked out in shaders/sheet.glsl.
"""

from __future__ import annotations

import numpy as np

from app.gl_platform import GL, raw_draw_elements_instanced
from app.view.gl_objects import Buffer, Program, VertexArray

PATCH = 16
"""Quads a side; as in shaders/sheet.glsl."""
_STRIPE = 4  # quads; a GPU keeps about 32 corners, so narrow stripes find those of the row before


def patch_indices() -> np.ndarray:
    """Return the corners of a patch's triangles, uint16, row by row in narrow stripes."""
    corners = []
    for left in range(0, PATCH, _STRIPE):
        for row in range(PATCH):
            for column in range(left, left + _STRIPE):
                a = row * (PATCH + 1) + column
                b = a + PATCH + 1
                corners += [a, b, a + 1, a + 1, b, b + 1]
    return np.array(corners, np.uint16)


class Sheet:
    """The patch; its vertex array also serves for drawing without any vertices."""

    def __init__(self) -> None:
        self.vertices = VertexArray()
        self.vertices.bind()
        self._indices = Buffer(GL.GL_ELEMENT_ARRAY_BUFFER)
        indices = patch_indices()
        self._indices.fill(indices, GL.GL_STATIC_DRAW)
        self._count = len(indices)

    def draw(self, program: Program, columns: int, rows: int) -> None:
        """Draw so many quads with the current program; the vertex array must be bound."""
        program.set_int2("sheet", columns, rows)
        copies = -(-columns // PATCH) * -(-rows // PATCH)
        raw_draw_elements_instanced(GL.GL_TRIANGLES, self._count, GL.GL_UNSIGNED_SHORT, None, copies)

    def close(self) -> None:
        """Delete it."""
        self._indices.close()
        self.vertices.close()
