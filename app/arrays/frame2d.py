"""Where an image or a line lies in its place in the window, and how it is panned and zoomed; pure values.

Places are in pixels, y down. A room is x, y, width, height.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

Room = tuple[float, float, float, float]
_THINNEST = 28.0
"""Pixels that the short side of a long image has at least."""
_LARGEST_CELL = 400.0
_SMALLEST_ZOOM = 0.5


@dataclass(frozen=True)
class Look:
    """Which part is looked at: the place in the middle of the room, 0 to 1 along each side, and the zoom.

    A zoom of 1 fits all into the room.
    """

    x: float = 0.5
    y: float = 0.5
    zoom: float = 1.0


@dataclass(frozen=True)
class ImageFrame:
    """Where the cells lie: the corner of cell (0, 0) and the size of a cell."""

    left: float
    top: float
    cell_x: float
    cell_y: float
    rows: int
    columns: int

    def cell_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column under a place, None beside the image."""
        column = math.floor((x - self.left) / self.cell_x)
        row = math.floor((y - self.top) / self.cell_y)
        return (row, column) if 0 <= row < self.rows and 0 <= column < self.columns else None

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        right, bottom = self.left + self.cell_x * self.columns, self.top + self.cell_y * self.rows
        return self.left, self.top, right, bottom


def image_frame(rows: int, columns: int, room: Room, look: Look) -> ImageFrame:
    """Return the frame of an image; cells are square unless that makes the image a thread."""
    x, y, width, height = room
    fit = min(width / columns, height / rows, _LARGEST_CELL)
    cell_x = max(fit, min(_THINNEST, width) / columns) * look.zoom
    cell_y = max(fit, min(_THINNEST, height) / rows) * look.zoom
    left = x + width / 2 - look.x * columns * cell_x
    top = y + height / 2 - look.y * rows * cell_y
    return ImageFrame(left, top, cell_x, cell_y, rows, columns)


def pan_image(look: Look, frame: ImageFrame, dx: float, dy: float) -> Look:
    """Return the look after the image was dragged by pixels."""
    x = look.x - dx / (frame.columns * frame.cell_x)
    y = look.y - dy / (frame.rows * frame.cell_y)
    return replace(look, x=min(max(x, 0.0), 1.0), y=min(max(y, 0.0), 1.0))


def zoom_image(look: Look, frame: ImageFrame, room: Room, cursor: tuple[float, float], factor: float) -> Look:
    """Return the look after a zoom toward the cursor, whose cell stays under it."""
    cell = max(frame.cell_x, frame.cell_y)
    most = look.zoom * _LARGEST_CELL / cell
    zoom = min(max(look.zoom * factor, _SMALLEST_ZOOM), max(most, 1.0))
    grown = zoom / look.zoom
    width, height = frame.columns * frame.cell_x, frame.rows * frame.cell_y
    u, v = (cursor[0] - frame.left) / width, (cursor[1] - frame.top) / height
    x = u - (cursor[0] - room[0] - room[2] / 2) / (width * grown)
    y = v - (cursor[1] - room[1] - room[3] / 2) / (height * grown)
    return Look(min(max(x, 0.0), 1.0), min(max(y, 0.0), 1.0), zoom)


def span_of(count: int, look: Look) -> tuple[float, float]:
    """Return the indices at the left and right edge of a line of so many numbers."""
    whole = max(count, 1)
    span = max(whole / max(look.zoom, 1.0), min(4.0, whole))
    first = min(max(look.x * whole - span / 2, 0.0), whole - span)
    return first - 0.5, first - 0.5 + span


def pan_line(look: Look, count: int, width: float, dx: float) -> Look:
    """Return the look after a line was dragged by pixels."""
    first, last = span_of(count, look)
    middle = (first + last) / 2 + 0.5 - dx * (last - first) / max(width, 1.0)
    half = (last - first) / 2
    return replace(look, x=min(max(middle, half), max(count - half, half)) / max(count, 1))


def zoom_line(look: Look, count: int, share: float, factor: float) -> Look:
    """Return the look after a zoom toward the index at a share (0 to 1) of the width."""
    first, last = span_of(count, look)
    zoom = min(max(look.zoom * factor, 1.0), max(count / 4.0, 1.0))
    at = first + share * (last - first)
    span = max(count / zoom, min(4.0, count))
    return replace(look, x=(at - share * span + span / 2 + 0.5) / max(count, 1), zoom=zoom)
