"""The small map in the corner of the graph: all of the picture, and which part the panel shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.gl_platform import imgui
from app.panels.graph_camera import GraphCamera
from app.panels.graph_parts import faded
from app.theme import Packed
from replay.graph.layout import Picture

_SIZE = (112.0, 84.0)
_MOST = 160

Point = tuple[float, float]


class Minimap:
    """The map; its rectangles are made when the picture changes."""

    def __init__(self) -> None:
        self._picture: Picture | None = None
        self._rects: list[list[float]] = []
        self.rect: tuple[float, float, float, float] | None = None

    def draw(
        self,
        draw: Any,
        colors: Packed,
        picture: Picture,
        camera: GraphCamera,
        corner: Point,
        room: Point,
        scale: float,
    ) -> None:
        """Draw it where the picture is larger than the panel; else there is nothing to show."""
        self.rect = None
        width, height = picture.width * camera.zoom, picture.height * camera.zoom
        if (width <= room[0] * 1.6 and height <= room[1] * 1.6) or room[0] < 220 * scale:
            return
        if picture is not self._picture:
            self._picture, self._rects = picture, _rects_of(picture)
        fit = min(_SIZE[0] * scale / picture.width, _SIZE[1] * scale / picture.height)
        size = (max(picture.width * fit, 8 * scale), max(picture.height * fit, 8 * scale))
        x = corner[0] + room[0] - size[0] - 12 * scale
        y = corner[1] + room[1] - size[1] - 12 * scale
        pad = 5 * scale
        self.rect = (x, y, size[0], size[1])
        draw.add_rect_filled(
            (x - pad, y - pad), (x + size[0] + pad, y + size[1] + pad), colors.overlay, 6 * scale
        )
        for left, top, right, bottom in self._rects:
            start = (x + left * fit, y + top * fit)
            end = (max(x + right * fit, start[0] + 1), max(y + bottom * fit, start[1] + 1))
            draw.add_rect_filled(start, end, faded(colors.muted, 0x90))
        left, top, right, bottom = camera.seen(room)
        start = (x + max(left * fit, -pad), y + max(top * fit, -pad))
        end = (x + min(right * fit, size[0] + pad), y + min(bottom * fit, size[1] + pad))
        draw.add_rect_filled(start, end, faded(colors.accent, 0x20), 3 * scale)
        draw.add_rect(start, end, colors.accent, 3 * scale, max(scale, 1.0))

    def takes(self, mouse: imgui.ImVec2) -> Point | None:
        """Return the place of the picture under the pointer, None if it is not over the map."""
        if self.rect is None or self._picture is None:
            return None
        x, y, width, height = self.rect
        if not (x <= mouse.x <= x + width and y <= mouse.y <= y + height):
            return None
        return (mouse.x - x) / width * self._picture.width, (mouse.y - y) / height * self._picture.height


def _rects_of(picture: Picture) -> list[list[float]]:
    """Return at most some rectangles that stand for all boxes."""
    leaves = [index for index, box in enumerate(picture.boxes) if not box.container]
    bounds = picture.box_bounds[leaves]
    side = 1.0
    while len(bounds) > _MOST:
        cells = np.floor(bounds[:, :2] / (max(picture.width, picture.height) / 160 * side)).astype(np.int64)
        _, number = np.unique(cells[:, 0] * (1 << 32) + cells[:, 1], return_inverse=True)
        order = np.argsort(number.reshape(-1), kind="stable")
        begin = np.searchsorted(number.reshape(-1)[order], np.arange(number.max() + 1))
        bounds = np.column_stack(
            [np.minimum.reduceat(bounds[order, :2], begin), np.maximum.reduceat(bounds[order, 2:], begin)]
        )
        side *= 1.8
    return bounds.tolist()
