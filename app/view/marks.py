"""Axes and scale bar as marks that lie beside the tank: where they are (pure) and how they are drawn.

x runs along the back edge and z along the left edge, from the corner of cell (0, 0); y stands in it. The
scale bar lies along the front edge, half of it dark, with its length beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.gl_platform import GL
from app.view.camera import OrbitCamera
from app.view.gl_objects import Program, Texture
from app.view.grid import Grid
from app.view.options import round_length

X_INK, Y_INK, Z_INK = (0.80, 0.16, 0.14), (0.13, 0.55, 0.20), (0.12, 0.32, 0.80)
_LINE = 64  # texels that a label is high
_SOLID = "■"

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Mark:
    """A parallelogram: corner and two edges, m; the label it shows (or solid); its colour."""

    corner: Vector
    edge_u: Vector
    edge_v: Vector
    label: str
    ink: tuple[float, float, float]


def length_text(length: float) -> str:
    """A length in m as people write it."""
    for unit, size in (("km", 1e3), ("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)):
        if length >= size * 0.999:
            return f"{length / size:.3g} {unit}"
    return f"{length:.1e} m"


def place_marks(
    grid: Grid,
    camera: OrbitCamera,
    level: float,
    size: float,
    ink: tuple[float, float, float],
    pixel: float = 0.0,
) -> list[Mark]:
    """Return axes and scale bar.

    Args:
        grid: the grid.
        camera: y's axis turns its face toward it.
        level: height of the marks, m.
        size: of a tile, m; the marks are made to its measure.
        ink: colour of the scale bar.
        pixel: what a pixel covers at the target, m; no line is thinner, or it would be dots.
    """
    half_x, half_z = grid.extent[0] / 2, grid.extent[1] / 2
    beside, long, text = 2.2 * size, 4.5 * size, 1.5 * size
    thick = max(0.13 * size, 1.8 * pixel)  # lines on the ground are seen at a slant
    left, back, front = -half_x - beside, -half_z - beside, half_z + beside
    marks = []

    def solid(corner: Vector, edge_u: Vector, edge_v: Vector, colour: tuple[float, float, float]) -> None:
        marks.append(Mark(corner, edge_u, edge_v, _SOLID, colour))

    def label(x: float, z: float, words: str, colour: tuple[float, float, float]) -> None:
        """Words on the ground, read from the front, their lower left corner at (x, z)."""
        width = text * label_width(words) / _LINE
        marks.append(Mark((x, level, z), (width, 0, 0), (0, 0, -text), words, colour))

    solid((left, level, back + thick), (long, 0, 0), (0, 0, -thick), X_INK)
    label(left + long + 0.25 * size, back + 0.45 * text, "x", X_INK)
    solid((left, level, back), (thick, 0, 0), (0, 0, long), Z_INK)
    label(left - 0.2 * text, back + long + text, "z", Z_INK)
    right = camera.right
    across = (float(right[0]) * thick, 0.0, float(right[2]) * thick)
    solid((left, level, back), across, (0, 0.6 * long, 0), Y_INK)
    wide = text * label_width("y") / _LINE
    letter = (left - float(right[0]) * wide / 2, level + 0.6 * long, back - float(right[2]) * wide / 2)
    marks.append(Mark(letter, (float(right[0]) * wide, 0, float(right[2]) * wide), (0, text, 0), "y", Y_INK))

    bar = round_length(grid.extent[0] / 3)
    end, deep = half_x, max(0.24 * size, 5.0 * pixel)
    solid((end - bar, level, front + deep), (bar / 2, 0, 0), (0, 0, -deep), ink)
    for offset in (0.0, deep * 0.75):  # the other half is an outline
        solid((end - bar / 2, level, front + deep - offset), (bar / 2, 0, 0), (0, 0, -deep / 4), ink)
    solid((end - deep / 4, level, front + deep), (deep / 4, 0, 0), (0, 0, -deep), ink)
    words = length_text(bar)
    width = text * label_width(words) / _LINE
    label(end - bar / 2 - width / 2, front + deep + 1.25 * text, words, ink)
    return marks


def _font():
    from PIL import ImageFont

    return ImageFont.load_default(_LINE * 0.8)


def label_width(words: str) -> int:
    """Texels that a label is wide."""
    return max(round(_font().getlength(words)) + 4, 8)


class MarkSheet:
    """All labels of a scene on one texture, and the drawing of marks."""

    def __init__(self) -> None:
        self._texture: Texture | None = None
        self._places: dict[str, tuple[float, float, float, float]] = {}

    def draw(self, program: Program, marks: list[Mark], unit: int) -> None:
        """Draw marks with a program that is current, over what is there."""
        self._write({mark.label for mark in marks} | {_SOLID})
        assert self._texture
        self._texture.bind(unit)
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFunc(GL.GL_SRC_ALPHA, GL.GL_ONE_MINUS_SRC_ALPHA)
        for mark in marks:
            program.set("corner", (*mark.corner, 1.0))
            program.set("edge_u", (*mark.edge_u, 0.0))
            program.set("edge_v", (*mark.edge_v, 0.0))
            program.set("label_rect", self._places[mark.label])
            program.set("ink", (*mark.ink, 0.85))
            GL.glDrawArrays(GL.GL_TRIANGLE_STRIP, 0, 4)
        GL.glDisable(GL.GL_BLEND)

    def _write(self, labels: set[str]) -> None:
        """Make the texture hold these labels, one a row; a row of full texels stands for solid."""
        if labels <= self._places.keys():
            return
        from PIL import Image, ImageDraw

        rows = [_SOLID, *sorted(labels - {_SOLID})]
        width, height = max(map(label_width, rows)), _LINE * len(rows)
        picture = Image.new("L", (width, height), 0)
        pen = ImageDraw.Draw(picture)
        self._places = {}
        for row, words in enumerate(rows):
            top = row * _LINE
            if words == _SOLID:
                pen.rectangle((0, top, width, top + _LINE - 1), fill=255)
                self._places[words] = (0.1, (top + 8) / height, 0.5, (_LINE - 16) / height)
            else:
                pen.text((2, top + _LINE // 2), words, fill=255, font=_font(), anchor="lm")
                # A texel less above and below: the filter would mix in the rows beside it.
                self._places[words] = (
                    0.0,
                    (top + 1) / height,
                    label_width(words) / width,
                    (_LINE - 2) / height,
                )
        self.close()
        self._texture = Texture(width, height, GL.GL_R8)
        self._texture.upload(np.ascontiguousarray(picture))

    def close(self) -> None:
        """Delete the texture."""
        if self._texture:
            self._texture.close()
            self._texture = None
