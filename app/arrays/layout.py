"""The picture of an array laid out: where its body lies, and the title, axes and legend around it.

A pure function of what is shown and the size of the place; places are in its pixels, y down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from app.arrays.columns import as_bars
from app.arrays.frame2d import ImageFrame, Room, image_frame, span_of
from app.arrays.ink import LARGE, NOT_FINITE, PLAIN, SMALL, Fill, Inks, Item, Ramp, Stroke, Text
from app.arrays.ranges import number_text, ticks
from app.arrays.shown import ShownArray
from app.arrays.space import box_corners, project
from app.arrays.ways import Way, choices_of, component_names
from app.view.options import round_length

_RIMS = {
    Way.VALUE: (14, 14, 40, 20),
    Way.LINE: (64, 20, 62, 50),
    Way.IMAGE: (52, 52, 40, 74),
    Way.COLOUR: (52, 52, 40, 32),
    Way.POINTS: (14, 14, 40, 74),
}
"""Room at the left, right, top and bottom of a body for what is written there."""
_MOST_WRITTEN = 600
"""So many cells have their values written into them, if these fit."""


@dataclass(frozen=True)
class Insets:
    """What floats over the place at its top and bottom, in pixels."""

    top: float = 0.0
    bottom: float = 0.0


@dataclass(frozen=True)
class Layout:
    """Where things are.

    Attributes:
        room: x, y, width, height of the body.
        frame: of an image.
        span: indices at the left and right edge of a line.
        items: what is written and drawn over the body.
    """

    room: Room
    frame: ImageFrame | None
    span: tuple[float, float] | None
    items: tuple[Item, ...]


def room_of(way: Way, size: tuple[float, float], unit: float, insets: Insets) -> Room:
    """Return where the body of a picture lies in a place of a size."""
    left, right, above, below = _RIMS[way]
    side, right, top = left * unit, right * unit, insets.top + above * unit
    bottom = insets.bottom + below * unit
    width, height = max(size[0] - side - right, 16.0), max(size[1] - top - bottom, 16.0)
    return min(side, size[0] / 4), min(top, size[1] / 2), width, height


def lay_out(shown: ShownArray, size: tuple[float, float], unit: float, insets: Insets, inks: Inks) -> Layout:
    """Lay out the picture of an array.

    Args:
        shown: with its values read.
        size: width and height of the place.
        unit: pixels to a unit of text.
        insets: what is covered.
        inks: colours.
    """
    room = room_of(shown.way, size, unit, insets)
    pen = _Pen(shown, size, unit, insets, inks, room)
    frame = span = None
    if shown.sentence or shown.values is None or not shown.ways:
        words = shown.sentence or "There is no element in this array."
        pen.text(size[0] / 2, size[1] / 2, words, inks.muted, PLAIN, 0.5)
        return Layout(room, None, None, tuple(pen.items))
    pen.title()
    if shown.way is Way.VALUE:
        pen.value()
    elif shown.way is Way.LINE:
        assert shown.scalars is not None
        span = span_of(len(shown.scalars), shown.look)
        pen.line(span)
    elif shown.way is Way.POINTS:
        pen.space()
        pen.legend()
    else:
        cells = shown.pixels if shown.way is Way.COLOUR else shown.scalars
        assert cells is not None
        frame = image_frame(cells.shape[0], cells.shape[1], room, shown.look)
        pen.image(frame)
        if shown.way is Way.IMAGE:
            pen.legend()
    return Layout(room, frame, span, tuple(pen.items))


class _Pen:
    """Collects items for one picture."""

    def __init__(
        self,
        shown: ShownArray,
        size: tuple[float, float],
        unit: float,
        insets: Insets,
        inks: Inks,
        room: Room,
    ) -> None:
        self.shown, self.size, self.unit, self.insets = shown, size, unit, insets
        self.inks, self.room = inks, room
        self.items: list[Item] = []

    def text(self, x, y, words, colour, size=SMALL, align=0.0) -> None:
        self.items.append(Text((x, y), words, colour, size * self.unit, align))

    def stroke(self, colour, *places, width=1.0) -> None:
        self.items.append(Stroke(places, colour, width * self.unit))

    def title(self) -> None:
        """Name, type and shape, which state, what is wrong."""
        shown, unit = self.shown, self.unit
        assert shown.candidate is not None and shown.typing is not None
        y = self.insets.top + 20 * unit
        shape = "×".join(map(str, shown.shape)) or "1"
        words = f"{shown.candidate.label}   {shown.typing.element.name} [{shape}]"
        if shown.planes > 1:
            words += f"   plane {shown.plane} of {shown.planes}"
        if shown.where and shown.where != "now":
            words += f"   {shown.where}"
        self.text(16 * unit, y, words, self.inks.text, PLAIN)
        if shown.wrong:
            what = "points" if shown.way is Way.POINTS else "numbers"
            self.text(
                self.size[0] - 16 * unit, y, f"{shown.wrong:,} {what} not finite", NOT_FINITE, SMALL, 1.0
            )

    def value(self) -> None:
        """One element in large type."""
        shown = self.shown
        assert shown.values is not None and shown.typing is not None
        rows = value_rows(shown.values, shown.typing.element.inner_shape)
        longest = max(map(len, rows))
        x, y, width, height = self.room
        size = min(LARGE * self.unit, 1.7 * width / longest, 0.6 * height / len(rows))
        step = 1.35 * size
        top = y + height / 2 - step * (len(rows) - 1) / 2
        for number, words in enumerate(rows):
            colour = NOT_FINITE if "nan" in words or "inf" in words else self.inks.text
            self.items.append(Text((x + width / 2, top + number * step), words, colour, size, 0.5))
        names = ", ".join(component_names(shown.typing.element))
        if names and len(rows) == 1:
            self.text(x + width / 2, top + step, f"({names})", self.inks.muted, PLAIN, 0.5)

    def line(self, span: tuple[float, float]) -> None:
        """Axes and grid of a line or of bars."""
        x, y, width, height = self.room
        unit, inks = self.unit, self.inks
        low, high = self.bounds
        for value in ticks(low, high, max(int(height / (46 * unit)), 2)):
            at = y + height * (1 - (value - low) / (high - low))
            self.stroke(inks.line if value else inks.muted, (x, at), (x + width, at))
            self.text(x - 8 * unit, at, number_text(value), inks.muted, SMALL, 1.0)
        last = y + height
        self.stroke(inks.muted, (x, y), (x, last), (x + width, last))
        for index in ticks(span[0] + 0.5, span[1] - 0.5, max(int(width / (80 * unit)), 2)):
            if index != int(index):
                continue
            at = x + width * (index - span[0]) / (span[1] - span[0])
            self.stroke(inks.muted, (at, last), (at, last + 5 * unit))
            self.text(at, last + 16 * unit, f"{int(index):,}", inks.muted, SMALL, 0.5)
        self.text(x + width / 2, last + 36 * unit, "index", inks.muted, SMALL, 0.5)
        self.text(x, y - 12 * unit, self.what or "value", inks.muted, SMALL, 0.0)

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the values' axis."""
        return axis_range(self.shown)

    @property
    def what(self) -> str:
        """The component that is shown, empty for a scalar."""
        shown = self.shown
        assert shown.typing is not None
        for label, component in choices_of(shown.typing.element, shown.way):
            if component == shown.component:
                return label
        return ""

    def image(self, frame: ImageFrame) -> None:
        """Indices along two sides, a border, and the values where cells are large."""
        unit, inks = self.unit, self.inks
        x, y, width, height = self.room
        left, top, right, bottom = frame.box
        left, right = max(left, x), min(right, x + width)
        top, bottom = max(top, y), min(bottom, y + height)
        if left >= right or top >= bottom:
            return
        self.stroke(inks.line, (left, top), (right, top), (right, bottom), (left, bottom), (left, top))
        for column in _indices((left - frame.left) / frame.cell_x, (right - frame.left) / frame.cell_x,
                               (right - left) / (70 * unit)):  # fmt: skip
            at = frame.left + (column + 0.5) * frame.cell_x
            self.text(at, bottom + 12 * unit, str(column), inks.muted, SMALL, 0.5)
        for row in _indices((top - frame.top) / frame.cell_y, (bottom - frame.top) / frame.cell_y,
                            (bottom - top) / (46 * unit)):  # fmt: skip
            at = frame.top + (row + 0.5) * frame.cell_y
            self.text(left - 8 * unit, at, str(row), inks.muted, SMALL, 1.0)
        self._write_cells(frame, (left, top, right, bottom))

    def _write_cells(self, frame: ImageFrame, box: tuple[float, float, float, float]) -> None:
        cells, unit = self.shown.scalars, self.unit
        if cells is None or frame.cell_x < 50 * unit or frame.cell_y < 18 * unit:
            return
        first, last = (max(math.floor((edge - frame.left) / frame.cell_x), 0) for edge in (box[0], box[2]))
        upper, lower = (max(math.floor((edge - frame.top) / frame.cell_y), 0) for edge in (box[1], box[3]))
        part = cells[upper : lower + 1, first : last + 1]
        if part.size > _MOST_WRITTEN:
            return
        low, high = self.shown.range
        for (row, column), value in np.ndenumerate(part):
            at = (
                frame.left + (first + column + 0.5) * frame.cell_x,
                frame.top + (upper + row + 0.5) * frame.cell_y,
            )
            if not (box[0] < at[0] < box[2] and box[1] < at[1] < box[3]):
                continue
            share = (float(value) - low) / (high - low) if high > low else 0.5
            colour = _over(self.shown.map_name, share)
            self.text(at[0], at[1], number_text(float(value)), colour, SMALL, 0.5)

    def legend(self) -> None:
        """The ramp of the colour map with its ends, at the lower left."""
        shown, unit, inks = self.shown, self.unit, self.inks
        width, height = min(240 * unit, self.size[0] - 40 * unit), 10 * unit
        x, y = 16 * unit, self.size[1] - self.insets.bottom - 36 * unit
        if width < 60 * unit:
            return
        low, high = shown.range
        self.items.append(Ramp((x, y, x + width, y + height), shown.map_name))
        below = y + height + 11 * unit
        self.text(x, below, number_text(low), inks.text)
        self.text(x + width, below, number_text(high), inks.text, SMALL, 1.0)
        self.text(x + width / 2, below, self.what or "value", inks.muted, SMALL, 0.5)
        if shown.wrong and shown.way is Way.IMAGE:
            left = x + width + 18 * unit
            self.items.append(Fill((left, y, left + height, y + height), NOT_FINITE))
            self.text(left + height + 6 * unit, y + height / 2, "not finite", inks.muted)

    def space(self) -> None:
        """The box of the bounds with the ends of its axes, and a scale."""
        shown, inks = self.shown, self.inks
        bounds = shown.bounds
        if bounds is None:
            self.text(self.size[0] / 2, self.size[1] / 2, "No point is finite.", inks.muted, PLAIN, 0.5)
            return
        flat = bounds.half[2] == 0
        corners = project(box_corners(bounds.half), shown.camera, self.size)[:, :2]
        middle = np.nanmean(corners, axis=0)
        for axis in range(2 if flat else 3):
            edges = [(n, n | 1 << axis) for n in range(8) if not n >> axis & 1]
            if flat:
                edges = [edge for edge in edges if not edge[0] & 4]
            for first, second in edges:
                self._edge(corners[first], corners[second], inks.line)
            # Beside the outermost edge the words do not lie over points.
            axis_down = corners[:, 1] if axis != 1 else -corners[:, 0]
            best = max(edges, key=lambda edge: np.nan_to_num(axis_down[list(edge)].sum(), nan=-1e9))
            self._ends(corners[best[0]], corners[best[1]], middle, axis)
        self._scale(bounds.scale)

    def _edge(self, first: np.ndarray, second: np.ndarray, colour) -> None:
        if np.isfinite([first, second]).all():
            self.stroke(colour, tuple(first.tolist()), tuple(second.tolist()))

    def _ends(self, first: np.ndarray, second: np.ndarray, middle: np.ndarray, axis: int) -> None:
        """Write both ends of an axis, and its name between them, beside its edge."""
        if not np.isfinite([first, second]).all():
            return
        bounds, unit, inks = self.shown.bounds, self.unit, self.inks
        assert bounds is not None
        self._edge(first, second, inks.muted)
        centre = (first + second) / 2
        away = centre - middle
        # Square to the edge, and away from the box.
        along = (second - first) / max(float(np.hypot(*(second - first))), 1e-9)
        square = np.array([-along[1], along[0]])
        square = square if float(square @ away) >= 0 else -square
        align = 1.0 if square[0] < -0.5 else 0.0 if square[0] > 0.5 else 0.5
        for at, words, colour in (
            (first + 0.08 * (second - first), number_text(bounds.low[axis]), inks.muted),
            (centre, "xyz"[axis], inks.text),
            (first + 0.92 * (second - first), number_text(bounds.high[axis]), inks.muted),
        ):
            x, y = (at + square * 14 * unit).tolist()
            self.text(x, y, words, colour, PLAIN if colour is inks.text else SMALL, align)

    def _scale(self, scale: float) -> None:
        """A bar as long as a round number is in the middle of the picture, at the lower right."""
        camera, unit, inks = self.shown.camera, self.unit, self.inks
        pixels = scale * self.size[1] / 2 / math.tan(camera.fov / 2) / camera.distance
        if not (math.isfinite(pixels) and pixels > 0):
            return
        length = round_length(140 * unit / pixels)
        right, y = self.size[0] - 20 * unit, self.size[1] - self.insets.bottom - 31 * unit
        left = right - length * pixels
        self.stroke(inks.text, (left, y - 4 * unit), (left, y), (right, y), (right, y - 4 * unit), width=1.5)
        self.text((left + right) / 2, y + 13 * unit, number_text(length), inks.text, SMALL, 0.5)


def axis_range(shown: ShownArray) -> tuple[float, float]:
    """Return the range of a line's axis: with a rim, and from zero for bars."""
    low, high = shown.range
    if shown.fixed is not None:
        return low, high
    if shown.scalars is not None and as_bars(len(shown.scalars)):
        low, high = min(low, 0.0), max(high, 0.0)
    rim = 0.05 * (high - low)
    return (low - rim if low != 0 else low), (high + rim if high != 0 else high)


def value_rows(values: np.ndarray, inner: tuple[int, ...]) -> list[str]:
    """Return the one element of an array in lines of text."""
    if values.dtype.kind == "b":
        return [str(bool(values.reshape(-1)[0]))]
    flat = values.reshape(inner or (1,))
    rows = flat.reshape(1, -1) if flat.ndim < 2 else flat.reshape(-1, flat.shape[-1])
    form = "{:.7g}" if values.dtype.kind == "f" else "{}"
    return [",  ".join(form.format(value) for value in row.tolist()) for row in rows]


def _indices(first: float, last: float, most: float) -> list[int]:
    """Return round indices of cells between two edges, both in cells."""
    found = ticks(max(math.ceil(first - 0.5), 0), math.floor(last - 0.5), max(int(most), 1))
    whole = [int(value) for value in found if value == int(value)]
    return whole or [max(math.ceil(first - 0.5), 0)]


def _over(colour_map: str, share: float) -> tuple[float, float, float, float]:
    """Return black or white, whichever is read better over a colour of a map."""
    from app.view import colormaps

    if not math.isfinite(share):
        return 0.0, 0.0, 0.0, 1.0
    red, green, blue = colormaps.table(colour_map)[min(max(int(share * 255), 0), 255)].tolist()
    light = 0.299 * red + 0.587 * green + 0.114 * blue > 130
    return (0.05, 0.05, 0.05, 1.0) if light else (0.97, 0.97, 0.97, 1.0)
