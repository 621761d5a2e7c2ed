"""What stands in the pool: walls as blocks of stone, and the map of depth that tints its floor.

Cells of wall are merged into boxes (pure), which one draw call draws from a texture of rectangles. Nothing
happens while walls and depth stay as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.gl_platform import GL
from app.view.gl_objects import Texture
from app.view.shader import UNITS, ShaderLibrary

if TYPE_CHECKING:
    from app.basin.furnishing import Furnishing

_ROW = 1024  # boxes in a row of the texture
_VERTICES = 30  # five faces; nobody sees the bottom


def boxes_of(walls: np.ndarray) -> np.ndarray:
    """Return rectangles (left, top, right, bottom), ends exclusive, that together cover all cells of wall.

    Runs of a row that have the same ends as those of the row before are one rectangle.

    Args:
        walls: (rows, columns), not 0 is wall.

    Returns:
        (number, 4) int32.
    """
    edges = np.diff(np.pad(walls != 0, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, lefts = np.nonzero(edges == 1)
    rights = np.nonzero(edges == -1)[1]
    open_boxes: dict[tuple[int, int], list[int]] = {}
    boxes: list[list[int]] = []
    for row, left, right in zip(rows.tolist(), lefts.tolist(), rights.tolist(), strict=True):
        box = open_boxes.get((left, right))
        if box is not None and box[3] == row:
            box[3] = row + 1
            continue
        box = [left, row, right, row + 1]
        open_boxes[left, right] = box
        boxes.append(box)
    return np.array(boxes, np.int32).reshape(-1, 4)


class Furniture:
    """The blocks and the map of a view, and their textures."""

    def __init__(self) -> None:
        self._of: tuple[object, int] = (None, -1)
        self._map: Texture | None = None
        self._boxes: Texture | None = None
        self._count = 0
        self.revision = 0

    def take(self, furnishing: Furnishing | None) -> None:
        """Take over walls and depth if they changed."""
        of = (furnishing, furnishing.map_revision if furnishing is not None else 0)
        if of[0] is self._of[0] and of[1] == self._of[1] and self._map is not None:
            return
        self._of = of
        self.revision += 1
        pixels = np.full((1, 1, 4), (0, 255, 0, 255), np.uint8)
        boxes = np.zeros((0, 4), np.int32)
        if furnishing is not None:
            walls, depth = furnishing.arrays["walls"], furnishing.arrays["depth"]
            pixels = np.zeros((*walls.shape, 4), np.uint8)
            pixels[..., 0] = (walls != 0) * 255
            pixels[..., 1] = np.clip(depth * 255, 0, 255)
            boxes = boxes_of(walls)
        if self._map is None:
            self._map = Texture(pixels.shape[1], pixels.shape[0], GL.GL_RGBA8)
        self._map.resize(pixels.shape[1], pixels.shape[0])
        self._map.upload(pixels)
        self._count = len(boxes)
        if self._count:
            height = -(-self._count // _ROW)
            texels = np.zeros((height * _ROW, 4), np.float32)
            texels[: self._count] = boxes
            if self._boxes is None:
                self._boxes = Texture(_ROW, height, GL.GL_RGBA32F, linear=False)
            self._boxes.resize(_ROW, height)
            self._boxes.upload(texels.reshape(height, _ROW, 4))

    def bind(self) -> None:
        """Bind the map to its unit."""
        if self._map is None:
            self.take(None)
        assert self._map is not None
        self._map.bind(UNITS["basin_map"])

    def draw(self, shaders: ShaderLibrary) -> None:
        """Draw the blocks; the depth test is on."""
        if not self._count or self._boxes is None:
            return
        self._boxes.bind(UNITS["boxes"])
        shaders.use("blocks.vert", "blocks.frag")
        GL.glDrawArraysInstanced(GL.GL_TRIANGLES, 0, _VERTICES, self._count)

    def close(self) -> None:
        """Delete the textures."""
        for texture in (self._map, self._boxes):
            if texture is not None:
                texture.close()
        self._map = self._boxes = None
