"""From a picture of a capture to a list of drawing calls: what is seen, at the detail that can be seen.

The list is made anew only when the view, the picture or what is highlighted changes; between that it is
played back. However large the picture, the list is bounded: boxes that are too small to tell apart are
drawn as blocks, lines that are too many are thinned out. ImGui's draw list is not touched here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from app.gl_platform import imgui
from app.panels.graph_camera import GraphCamera
from app.panels.graph_kept import Kept
from app.panels.graph_parts import Drawing, Marks, Paint, dashes_of, faded, line_of, mixed, text_width
from replay.graph.export import arrow_base
from replay.graph.layout import HEADER, SUBTITLE_SIZE, TITLE_SIZE, Box, Picture, fitted
from replay.graph.model import Provenance

Vec = imgui.ImVec2
MOST_BOXES = 350
MOST_PATHS = 260
MOST_LIT = 60
"""Paths of the selection over blocks, which have its colours themselves."""
_MOST_DASHED = 40
_MOST_DASHED_MOVING = 16
_DIM = 0x38
_TINT = 0.34
"""How much of its colour a box is filled with where the colour is what was asked for."""
_TWO_LINES = 0.6
"""Below this zoom boxes have their title only, in letters that can still be read."""
_SMALLEST, _SMALL = 12.0, 9.0


class Painter:
    """Makes the drawing of a picture at a place of the window.

    Args:
        picture: what is drawn.
        camera: pan and zoom.
        corner: of the panel, in window units.
        room: size of the panel.
        paint: colours.
        marks: what is highlighted.
        scale: of the user interface.
        kept: what earlier drawings of the same picture have left.
        moving: whether it is drawn anew with every frame, so that few lines are dashed.
    """

    def __init__(
        self,
        picture: Picture,
        camera: GraphCamera,
        corner: tuple[float, float],
        room: tuple[float, float],
        paint: Paint,
        marks: Marks,
        scale: float,
        kept: Kept | None = None,
        *,
        moving: bool = False,
    ) -> None:
        self._picture, self._zoom = picture, camera.zoom
        self._left, self._top = corner[0] + camera.origin[0], corner[1] + camera.origin[1]
        self._seen = camera.seen(room)
        self._paint, self._marks, self._scale = paint, marks, scale
        self._line = max(1.2 * scale, 1.0)
        self._kept = Kept(picture) if kept is None else kept
        self._most_dashed = _MOST_DASHED_MOVING if moving else _MOST_DASHED
        self.drawing = Drawing()

    def draw(self) -> Drawing:
        """Return the drawing."""
        picture, drawing = self._picture, self.drawing
        seen, pills, paths = picture.visible(*self._seen)
        inside = picture.containers[seen]
        containers, leaves = seen[inside].tolist(), seen[~inside]
        small = self._zoom < 0.12 * self._scale or len(leaves) > MOST_BOXES
        for index in containers[:MOST_BOXES]:
            self._container(index)
        lit = self._kept.lit(self._marks)[paths]
        chosen, others = _thinned(paths[lit], MOST_LIT if small else MOST_PATHS), paths[~lit]
        if not small or len(paths) <= MOST_PATHS:
            others = _thinned(others, MOST_PATHS)
            dashes = self._zoom > 0.5 * self._scale and self._few_dashes(others)
            for index in others:
                self._path(index, lit=False, dashes=dashes)
        dashes = self._zoom > 0.3 * self._scale and self._few_dashes(chosen)
        for index in chosen:
            self._path(index, lit=True, dashes=dashes)
        if small:
            self._blocks()
        else:
            for index in leaves.tolist():
                self._box(index)
        for index in pills[:MOST_BOXES].tolist():
            self._pill(index)
        if small:
            for index in sorted(self._marks.chosen)[:50]:
                if not picture.boxes[index].container:
                    self._ring(picture.boxes[index])
        drawing.paths = min(len(paths), MOST_PATHS)
        return drawing

    def _few_dashes(self, paths: list[int]) -> bool:
        """Return whether so few paths would be dashed that there is time for it."""
        all_paths, assumed = self._picture.paths, Provenance.ASSUMED
        weak = sum(all_paths[path].provenance is assumed or not all_paths[path].data for path in paths)
        return weak <= self._most_dashed

    def _at(self, x: float, y: float) -> Any:
        return Vec(self._left + x * self._zoom, self._top + y * self._zoom)

    def _call(self, name: str, *arguments: Any) -> None:
        self.drawing.calls.append((name, arguments))

    def _alpha(self, index: int) -> int:
        """Return how strong a box is drawn: what has no part in the selection is dimmed."""
        marks = self._marks
        if not marks.active or index in marks.chosen or index in marks.upstream or index in marks.downstream:
            return 255
        return 0x70

    def _tone(self, index: int) -> tuple[int, float]:
        """Return the colour and width of a box's border."""
        colors, marks = self._paint.colors, self._marks
        if index in marks.chosen:
            return colors.accent_strong, 2.2 * self._line
        if index in marks.upstream:
            return colors.memory, 1.6 * self._line
        if index in marks.downstream:
            return colors.good, 1.6 * self._line
        color = self._paint.boxes[index]
        if marks.hovered == ("box", index):
            return color, 1.8 * self._line
        return faded(color, self._alpha(index)), self._line

    def _container(self, index: int) -> None:
        box, colors, zoom = self._picture.boxes[index], self._paint.colors, self._zoom
        start, end = self._at(box.x, box.y), self._at(box.x + box.width, box.y + box.height)
        color, width = self._tone(index)
        rounding = 8 * zoom
        self._call("add_rect_filled", start, end, faded(colors.field, 0x60), rounding)
        self._call("add_rect", start, end, faded(color, 0xB0), rounding, width)
        if zoom * TITLE_SIZE < 5 * self._scale:
            return
        size = self._size(12)
        y = box.y + (HEADER - 12) / 2
        self._text(self._paint.fonts[1], size, box.x + 12, y, self._paint.boxes[index], box.title)
        self._fold_sign(box, box.y + HEADER / 2)
        if box.badge:
            self._badge(box, y, size)

    def _box(self, index: int) -> None:
        box, colors, zoom = self._picture.boxes[index], self._paint.colors, self._zoom
        self.drawing.boxes += 1
        start, end = self._at(box.x, box.y), self._at(box.x + box.width, box.y + box.height)
        rounding = 6 * zoom
        color, width = self._tone(index)
        fill = colors.field_hovered if index in self._marks.chosen else colors.raised
        if self._marks.hovered == ("box", index):
            fill = colors.field_hovered
        if self._paint.filled:
            fill = mixed(fill, self._paint.boxes[index], _TINT if self._alpha(index) == 255 else _TINT / 2)
        if box.badge:  # several operations: a second card behind
            back, behind = (
                self._at(box.x + 3, box.y + 3),
                self._at(box.x + box.width + 3, box.y + box.height + 3),
            )
            self._call("add_rect_filled", back, behind, colors.raised, rounding)
            self._call("add_rect", back, behind, faded(color, 0x70), rounding, self._line)
        self._call("add_rect_filled", start, end, fill, rounding)
        if index == self._marks.live:
            glow = 3 * zoom
            self._call(
                "add_rect",
                Vec(start.x - glow, start.y - glow),
                Vec(end.x + glow, end.y + glow),
                faded(colors.control, 0xC0),
                rounding + glow,
                2 * self._line,
            )
        self._call("add_rect", start, end, color, rounding, width)
        if zoom * TITLE_SIZE < 5 * self._scale:
            return
        bar = faded(self._paint.boxes[index], self._alpha(index))
        low = self._at(box.x + 3.5, box.y + box.height - 6)
        self._call("add_rect_filled", self._at(box.x, box.y + 6), low, bar)
        ink = colors.text if self._alpha(index) == 255 else colors.muted
        note = self._paint.notes.get(index, "")
        two = bool(box.subtitle or note) and zoom >= _TWO_LINES * self._scale
        middle = box.y + box.height / 2
        y = middle - (16.5 if two else self._size(TITLE_SIZE) / zoom / 2 + 1)
        size = self._size(TITLE_SIZE)
        taken = 20.0 + 16.0 * box.can_open
        if box.badge:
            taken += text_width(size, box.badge) / zoom + 8.0
        self._text(
            self._paint.fonts[0], size, box.x + 13, y, ink, self._cut(box.title, size, box.width - taken)
        )
        if box.badge:
            self._badge(box, y, self._size(TITLE_SIZE))
        self._fold_sign(box, y + TITLE_SIZE / 2 + 1)
        if zoom * SUBTITLE_SIZE >= 5 * self._scale and two:
            font, size = self._paint.fonts[0], self._size(SUBTITLE_SIZE)
            wide = text_width(size, note) / zoom if note else 0.0
            left = text_width(size, box.subtitle) / zoom
            if left + wide + 36 < box.width or not note:
                words = self._cut(box.subtitle, size, box.width - 20)
                self._text(font, size, box.x + 13, middle + 2.0, colors.muted, words)
            if note:
                x = box.x + box.width - 11 - wide
                self._text(font, size, x, middle + 2.0, colors.control, note)

    def _badge(self, box: Box, y: float, size: float) -> None:
        sign = 16.0 if box.can_open else 0.0
        x = box.x + box.width - 11 - sign - text_width(size, box.badge) / self._zoom
        self._text(self._paint.fonts[0], size, x, y, self._paint.colors.muted, box.badge)

    def _fold_sign(self, box: Box, y: float) -> None:
        """A chevron at the right end: there is more inside, or it can be closed."""
        if not box.can_open:
            return
        x, arm = box.x + box.width - 16, 3.6
        color = self._paint.colors.muted
        if box.is_open:
            points = ((x - arm, y - arm / 2), (x, y + arm / 2), (x + arm, y - arm / 2))
        else:
            points = ((x - arm / 2, y - arm), (x + arm / 2, y), (x - arm / 2, y + arm))
        one, two, three = (self._at(*point) for point in points)
        width = 1.6 * self._line
        self._call("add_line", one, two, color, width)
        self._call("add_line", two, three, color, width)

    def _pill(self, index: int) -> None:
        pill, colors, zoom = self._picture.pills[index], self._paint.colors, self._zoom
        self.drawing.pills += 1
        start, end = self._at(pill.x, pill.y), self._at(pill.x + pill.width, pill.y + pill.height)
        rounding = pill.height / 2 * zoom
        lit, hovered = index in self._marks.pills, self._marks.hovered == ("pill", index)
        strong = lit or hovered or not self._marks.active
        line = faded(colors.accent_strong if lit else colors.memory, 255 if strong else 0x70)
        fill = faded(colors.memory, 0xE0 if strong else 0x60) if pill.writers else colors.raised
        if hovered and not pill.writers:
            fill = colors.field_hovered
        self._call("add_rect_filled", start, end, fill, rounding)
        self._call("add_rect", start, end, line, rounding, (1.8 if lit else 1.0) * self._line)
        if zoom * SUBTITLE_SIZE < 5 * self._scale:
            return
        ink = colors.background if pill.writers and strong else colors.text if strong else colors.muted
        size = self._size(SUBTITLE_SIZE)
        text, room = pill.text, (pill.width - 10) * zoom
        wide = text_width(size, text)
        if wide > room:  # letters that are large enough do not fit: as large as fits
            size = max(int(size * room / wide), 1)
        x = pill.x + (pill.width - text_width(size, text) / zoom) / 2
        y = pill.y + (pill.height - size / zoom) / 2 - 0.6
        self._text(self._paint.fonts[0], size, x, y, ink, text)

    def _text(self, font: Any, size: float, x: float, y: float, color: int, text: str) -> None:
        """Write at whole pixels, where letters are sharp."""
        place = self._at(x, y)
        self._call("add_text", font, size, Vec(round(place.x), round(place.y)), color, text)

    def _size(self, units: float) -> float:
        """Return the size of a text: whole pixels, and never hard to read where the picture is near."""
        size = round(units * self._zoom)
        if self._zoom >= 0.85 * self._scale:
            return max(size, round(_SMALLEST * self._scale))
        return max(size, round(_SMALL * self._scale)) if self._zoom >= 0.4 * self._scale else max(size, 1)

    def _cut(self, text: str, size: float, width: float) -> str:
        """Return a text, cut with dots where letters that must be large enough do not fit into a width."""
        if self._zoom >= 0.85 * self._scale or text_width(size, text) <= width * self._zoom:
            return text
        return fitted(text, width * self._zoom, lambda part: text_width(size, part))

    def _path(self, index: int, *, lit: bool, dashes: bool) -> None:
        path, colors = self._picture.paths[index], self._paint.colors
        ends_in_pill = path.source < 0 or path.targets[0] < 0
        color = colors.memory if ends_in_pill else colors.muted
        if lit:
            color, width = (colors.accent_strong if index == self._marks.path else color), 1.9 * self._line
        else:
            color = faded(color, _DIM if self._marks.active else 0x90 if ends_in_pill else 0xC0)
            width = self._line
        if path.provenance is Provenance.OBSERVED and lit:
            color = colors.good
        for number, stroke in enumerate(path.strokes):
            if dashes and (path.provenance is Provenance.ASSUMED or not path.data):
                self._dashes((index, number), stroke, color, width)
            else:
                self._curve(stroke, color, width)
        if self._zoom > 0.25 * self._scale:
            for tip, direction in path.arrows:
                one, two = arrow_base(tip, direction)
                self._call("add_triangle_filled", self._at(*tip), self._at(*one), self._at(*two), color)

    def _curve(self, stroke: tuple[tuple[float, float], ...], color: int, width: float) -> None:
        start = stroke[0]
        for at in range(1, len(stroke), 3):
            one, two, end = stroke[at : at + 3]
            if (start[0] == end[0] and one[0] == start[0] and two[0] == start[0]) or (
                start[1] == end[1] and one[1] == start[1] and two[1] == start[1]
            ):
                self._call("add_line", self._at(*start), self._at(*end), color, width)
            else:
                self._call(
                    "add_bezier_cubic",
                    self._at(*start),
                    self._at(*one),
                    self._at(*two),
                    self._at(*end),
                    color,
                    width,
                )
            start = end

    def _dashes(
        self, key: tuple[int, int], stroke: tuple[tuple[float, float], ...], color: int, width: float
    ) -> None:
        line = self._kept.lines.get(key)
        if line is None:
            line = self._kept.lines[key] = line_of(stroke)
        unit = self._scale / self._zoom  # dashes are as long on the screen at any zoom
        for x, y, to_x, to_y in dashes_of(line, 5 * unit, 4 * unit, self._seen):
            self._call("add_line", self._at(x, y), self._at(to_x, to_y), color, width)

    def _ring(self, box: Box) -> None:
        start, end = self._at(box.x, box.y), self._at(box.x + box.width, box.y + box.height)
        grow = 2 * self._scale
        self._call(
            "add_rect", Vec(start.x - grow, start.y - grow), Vec(end.x + grow, end.y + grow),
            self._paint.colors.accent_strong, grow, 2 * self._line,
        )  # fmt: skip

    def _blocks(self) -> None:
        """Draw boxes that are too small or too many as blocks of a few pixels.

        A block has the part in the selection of the box in it that has the most.
        """
        marks, colors, zoom = self._marks, self._paint.colors, self._zoom
        blocks, seen = self._kept.ladder.seen(self._seen, 5.0 * self._scale / zoom)
        part = self._kept.parts(marks, blocks)[seen].tolist() if marks.active else [0] * len(seen)
        tones = (0, colors.good, colors.memory, colors.accent_strong)
        rest = 0x60 if marks.active else 0xB0
        shift = np.array([self._left, self._top, self._left, self._top])
        bounds = (blocks.bounds[seen] * zoom + shift).tolist()
        boxes = self._paint.boxes
        for (left, top, right, bottom), at, tone in zip(
            bounds, blocks.first[seen].tolist(), part, strict=True
        ):
            color = faded(tones[tone], 0xE0) if tone else faded(boxes[at], rest)
            end = Vec(max(right, left + 1), max(bottom, top + 1))
            self._call("add_rect_filled", Vec(left, top), end, color)
        self.drawing.blocks = len(bounds)


def _thinned(paths: np.ndarray, most: int) -> list[int]:
    """Return so many paths at most, as far from each other as they are."""
    found: list[int] = paths[:: max(1, -(-len(paths) // most))].tolist()
    return found
