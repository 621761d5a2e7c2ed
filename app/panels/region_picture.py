"""Rows and columns of numbers as a heat map: range, NaN in magenta, the value under the pointer."""

from __future__ import annotations

import math

import numpy as np

from app.arrays import ranges
from app.gl_platform import GL, imgui
from app.gui import Gui
from app.lab.contents import picture_of
from app.lab.lab import Lab
from app.panels.region_numbers import digits_of
from app.state import App
from app.view import colormaps
from app.view.gl_objects import Texture

_LARGEST = 1024
"""Pixels a side that a picture of few cells is made with at most."""


class RegionPicture:
    """The picture; its texture belongs to the lab and is closed with it."""

    def __init__(self) -> None:
        self._lab: Lab | None = None
        self._texture: Texture | None = None
        self._key: tuple[object, ...] = ()
        self._map = ""
        self._fixed: tuple[float, float] | None = None
        self._region = -1
        self._range_of: tuple[object, ...] = ()
        self._fitted = (0.0, 1.0)

    def draw(
        self,
        app: App,
        gui: Gui,
        lab: Lab,
        plane: np.ndarray,
        key: tuple[object, ...],
        region: int,
    ) -> None:
        """Build the picture of a plane (rows, columns); `key` changes when its values do."""
        if lab is not self._lab:
            self._lab, self._texture, self._key = lab, None, ()
        if region != self._region:
            self._region, self._fixed = region, None
        if plane.dtype.kind == "b":
            plane = plane.view(np.uint8)
        found = ranges.finite_range(plane) if (*key, region) != self._range_of else None
        if found is not None:
            self._range_of, self._fitted = (*key, region), ranges.fitted(found.low, found.high)
        low, high = self._fitted
        name = self._map or ranges.map_for((low, high))
        self._controls(gui, name, (low, high))
        bounds = self._fixed or (low, high)
        rows, columns = plane.shape
        available = imgui.get_content_region_avail()
        room = (available.x, max(available.y - 4 * gui.scale, 240 * gui.scale))
        cell = min(room[0] / columns, room[1] / rows)
        grown = min(math.ceil(cell), _LARGEST // max(rows, columns))
        if (*key, name, bounds, grown) != self._key:
            self._key = (*key, name, bounds, grown)
            pixels = picture_of(plane, colormaps.table(name), bounds)
            if grown > 1:  # ImGui would blur the borders of cells, however their texture is to be sampled
                pixels = pixels.repeat(grown, axis=0).repeat(grown, axis=1)
            self._upload(lab, pixels)
        texture = self._texture
        assert texture is not None
        width, height = columns * cell, max(rows * cell, min(8 * gui.scale, room[1]))
        corner = imgui.get_cursor_screen_pos()
        imgui.image(imgui.ImTextureRef(int(texture.name)), (width, height))
        if imgui.is_item_hovered():
            mouse = imgui.get_io().mouse_pos
            column = min(int((mouse.x - corner.x) / width * columns), columns - 1)
            row = min(int((mouse.y - corner.y) / height * rows), rows - 1)
            imgui.set_tooltip(f"[{row}, {column}]  {plane[row, column]:.9g}")
        cells = lab.marked(region)
        if cells is not None and cells.shape[1] == 2 and lab.capture.regions[region].shape == plane.shape:
            draw = imgui.get_window_draw_list()
            for row, column in cells[:: max(1, len(cells) // 60)].tolist():
                centre = (corner.x + (column + 0.5) * cell, corner.y + (row + 0.5) * cell)
                draw.add_circle(centre, max(5 * gui.scale, cell), 0xFFFFFFFF, 0, 1.5 * gui.scale)

    def _controls(self, gui: Gui, name: str, fitted: tuple[float, float]) -> None:
        scale = gui.scale
        changed, fit = imgui.checkbox("Fit", self._fixed is None)
        if changed:
            self._fixed = None if fit else fitted
        imgui.same_line(0.0, 8 * scale)
        width = imgui.get_content_region_avail().x - 100 * scale
        imgui.set_next_item_width(max(width, 60 * scale))
        imgui.begin_disabled(self._fixed is None)
        bounds = self._fixed or fitted
        changed, (low, high) = imgui.input_float2("##range", list(bounds), f"%.{digits_of(*bounds)}g")
        imgui.end_disabled()
        if changed and self._fixed is not None and low < high:
            self._fixed = (low, high)
        imgui.same_line(0.0, 8 * scale)
        imgui.set_next_item_width(imgui.get_content_region_avail().x)
        if imgui.begin_combo("##map", name):
            for other in colormaps.names():
                if imgui.selectable(other, other == name)[0]:
                    self._map = other
            imgui.end_combo()

    def _upload(self, lab: Lab, pixels: np.ndarray) -> None:
        height, width = pixels.shape[:2]
        if self._texture is None:
            self._texture = Texture(width, height, GL.GL_RGBA8, linear=False)
            lab.closables.append(self._texture)
        self._texture.resize(width, height)
        self._texture.upload(pixels)
