"""The water in its pool, or the heights as data: one draw call for the whole scene.

The passes, in order: smooth the heights (surface), send sunlight through them (caustics), find their range
(data mode), then draw background, deck and walls, water, scale bar into a target of the quality's own size
and samples, and copy that into the framebuffer that was bound. The first three run only when the heights
changed. What the heights mean and where they come from is not known here.
"""

from __future__ import annotations

import math

import numpy as np

from app.gl_platform import GL, is_software
from app.resources import resource
from app.view import colormaps
from app.view.camera import OrbitCamera
from app.view.gl_objects import Buffer, Framebuffer, Program, Texture, VertexArray
from app.view.grid import Grid
from app.view.marks import MarkSheet, place_marks
from app.view.options import (
    LEVELS,
    Level,
    Mode,
    Quality,
    WaterOptions,
    chosen_quality,
    picture_size,
    round_length,
)
from app.view.range_fit import RangeFit
from app.view.shader import ShaderLibrary
from replay.errors import ShaderError

SUN = np.array([-0.46, 0.60, -0.72]) / np.linalg.norm([-0.46, 0.60, -0.72])
# Snell's law at still water, for light that goes down.
_SUNK = np.array([-SUN[0] / 1.333, -math.sqrt(1 - (1 - SUN[1] ** 2) / 1.333**2), -SUN[2] / 1.333])
DEPTH = 0.12  # of the pool, to the longer side of the tank
RIM = 0.013  # height of the rim over the still water, in the same measure
_UNITS = {
    "sky_map": 0,
    "surface_map": 1,
    "caustics_map": 2,
    "heights": 3,
    "colour_map": 4,
    "source": 5,
    "labels": 6,
}

Cell = tuple[float, float]


class WaterView:
    """Draws one grid. For another grid make another view.

    Args:
        width, height: columns and rows of cells.
        dx: side of a cell, m.

    Attributes:
        options: what the user chose; may be changed at any time.
        grid: the grid.
        range: lowest and highest value of the colour map at the last data picture, m.
        contour_interval: m, at the last data picture.
        quality: the level of the last picture (never `auto`).

    Raises:
        ShaderError: a shader does not compile here.
    """

    def __init__(self, width: int, height: int, dx: float) -> None:
        self.grid = Grid(width, height, dx)
        self.options = WaterOptions()
        self.range = (-1e-3, 1e-3)
        self.contour_interval = 0.0
        self._software = is_software(GL.glGetString(GL.GL_RENDERER).decode())
        self._max_samples = int(GL.glGetIntegerv(GL.GL_MAX_SAMPLES))
        self.quality = chosen_quality(Quality.AUTO, self._software)
        self._shaders = ShaderLibrary(resource("shaders"))
        self._vertices = VertexArray()
        self._scene = Buffer(GL.GL_UNIFORM_BUFFER)
        self._sky: Framebuffer | None = None
        self._surface: Framebuffer | None = None
        self._caustics: Framebuffer | None = None
        self._target: Framebuffer | None = None
        self._backdrop: Framebuffer | None = None
        self._backdrop_of: tuple[object, ...] = ()
        self._colours: Texture | None = None
        self._colours_name = ""
        self._range_fit = RangeFit(self._shaders, self._vertices)
        self._marks = MarkSheet()
        self._prepared: tuple[object, ...] = ()
        self._sizes_of: Quality | None = None

    @property
    def shader_error(self) -> ShaderError | None:
        """The fault of a shader that was edited while running; the last good one is drawn with."""
        return self._shaders.error

    def draw(
        self, texture: Texture, camera: OrbitCamera, viewport: tuple[int, int, int, int], marker: Cell | None
    ) -> None:
        """Draw the scene into the framebuffer that is bound for drawing.

        Args:
            texture: heights, R32F of the grid's size, m.
            camera: from where.
            viewport: x, y, width, height in framebuffer pixels, y down from the top of the framebuffer.
                The framebuffer's height is taken from the present GL viewport.
            marker: cell coordinates of the pointer's mark, or None.
        """
        outer = int(GL.glGetIntegerv(GL.GL_DRAW_FRAMEBUFFER_BINDING))
        outer_viewport = [int(v) for v in GL.glGetIntegerv(GL.GL_VIEWPORT)]
        x, y, width, height = (int(v) for v in viewport)
        if width < 1 or height < 1:
            return
        if self._shaders.poll():
            self._prepared, self._backdrop_of, self._sizes_of = (), (), None
        self.quality = chosen_quality(self.options.quality, self._software)
        level = LEVELS[self.quality]
        for capability in (GL.GL_BLEND, GL.GL_SCISSOR_TEST, GL.GL_CULL_FACE, GL.GL_DEPTH_TEST):
            GL.glDisable(capability)
        GL.glPolygonMode(GL.GL_FRONT_AND_BACK, GL.GL_FILL)
        self._vertices.bind()
        self._fit_sizes(level)
        size = picture_size(level, width, height)
        self._fit_range(texture)
        self._upload_scene(camera, size, marker)
        self._prepare(texture, level)
        target, backdrop = self._fit_targets(size, level)
        self._draw_backdrop(backdrop, camera)
        backdrop.blit_to(target.name, depth=True)
        target.bind()
        self._draw_surface(texture, level)
        bottom = outer_viewport[1] + outer_viewport[3] - y - height
        self._present(target, outer, (x, bottom, width, height))
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, outer)
        GL.glViewport(*outer_viewport)

    def _fit_sizes(self, level: Level) -> None:
        """Make the textures of the passes before the picture fit the quality."""
        if self._sizes_of == self.quality:
            return
        self._close_passes()
        grid, longest = self.grid, max(self.grid.width, self.grid.height)
        share = min(1.0, level.surface / longest)
        self._surface = Framebuffer(
            max(round(grid.width * share), 1),
            max(round(grid.height * share), 1),
            internal=GL.GL_RGBA16F,
            depth=False,
        )
        self._caustics = Framebuffer(
            max(round(level.caustics * grid.width / longest), 16),
            max(round(level.caustics * grid.height / longest), 16),
            internal=GL.GL_R16F,
            depth=False,
        )
        if self._sky is None:
            self._sky = Framebuffer(768, 768, internal=GL.GL_RGBA16F, depth=False)
            self._upload_scene(OrbitCamera(), (1, 1), None)
        self._sky.bind()
        self._use("fullscreen.vert", "sky.frag")
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        self._sizes_of, self._prepared = self.quality, ()

    def _fit_targets(self, size: tuple[int, int], level: Level) -> tuple[Framebuffer, Framebuffer]:
        """Return what is drawn into, and what holds the picture without water, of the level's size."""
        samples = min(level.samples, self._max_samples)
        if self._target is None or self._backdrop is None or self._target.samples != samples:
            self._close_targets()
            self._target = Framebuffer(*size, samples=samples)
            self._backdrop = Framebuffer(*size, samples=samples)
        if self._backdrop.size != self._target.resize(*size):
            self._backdrop_of = ()
            self._backdrop.resize(*size)
        return self._target, self._backdrop

    def _upload_scene(self, camera: OrbitCamera, size: tuple[int, int], marker: Cell | None) -> None:
        """Fill the uniform block; the layout is that of shaders/scene.glsl."""
        grid, options = self.grid, self.options
        longest = max(grid.extent)
        aspect = size[0] / size[1]
        tangent = math.tan(camera.fov / 2)
        block = np.zeros((14, 4), np.float32)
        block[0:4] = camera.projection_matrix(aspect) @ camera.view_matrix()
        block[4] = *camera.position, options.exaggeration
        block[5] = *(camera.right * tangent * aspect), size[0]
        block[6] = *(camera.up * tangent), size[1]
        block[7] = *-camera.back, 2 * tangent / size[1]
        block[8] = grid.extent[0] / 2, grid.extent[1] / 2, _depth(grid), RIM * longest
        block[9] = *SUN, _tile(grid)
        block[10, :3] = _SUNK
        block[11] = grid.width, grid.height, grid.dx, marker is not None
        if marker is not None:
            block[12, :3] = *grid.to_world(*marker), options.marker_radius * grid.dx
        block[12, 3] = options.deck
        block[13] = *self.range, self.contour_interval if options.contours else 0.0, options.wireframe
        self._scene.fill(block, GL.GL_STREAM_DRAW)
        GL.glBindBufferBase(GL.GL_UNIFORM_BUFFER, 0, self._scene.name)

    def _fit_range(self, texture: Texture) -> None:
        """Choose range and contour interval of a data picture."""
        if self.options.mode != Mode.DATA:
            return
        if self.options.fixed_range is None:
            self.range = self._range_fit.update(texture)
        else:
            self.range = self.options.fixed_range
        span = self.range[1] - self.range[0]
        self.contour_interval = self.options.contour_interval or round_length(max(span, 1e-30) / 8)

    def _prepare(self, texture: Texture, level: Level) -> None:
        """Run the passes that depend on the heights only, if something they depend on changed."""
        options = self.options
        state = (texture.name, texture.revision, options.exaggeration, options.mode, self.quality)
        if state == self._prepared:
            return
        self._prepared = state
        assert self._surface and self._caustics and self._surface.texture
        texture.bind(_UNITS["heights"])
        self._surface.bind()
        program = self._use("fullscreen.vert", "surface.frag")
        program.use({"cells": (self.grid.width, self.grid.height, self.grid.dx, 0.0)})
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        self._surface.texture.bind(_UNITS["surface_map"])
        if options.mode == Mode.WATER:
            self._draw_caustics(level)

    def _draw_caustics(self, level: Level) -> None:
        assert self._caustics
        columns, rows = self._sheet(level.rays)
        width, height = self._caustics.size
        extent = self.grid.extent
        self._caustics.bind()
        GL.glClearColor(0, 0, 0, 0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFunc(GL.GL_ONE, GL.GL_ONE)
        program = self._use("caustics.vert", "caustics.frag", _smooth(level))
        area = extent[0] / width * extent[1] / height
        program.use({"texel_area": area})
        self._draw_sheet(program, columns, rows)
        GL.glDisable(GL.GL_BLEND)

    def _draw_backdrop(self, backdrop: Framebuffer, camera: OrbitCamera) -> None:
        """Draw what the heights do not change; kept while nobody moves, for it costs as much as the water."""
        data = self.options.mode == Mode.DATA
        state = (
            data,
            self.options.deck,
            self.options.axes,
            *camera.position,
            camera.yaw,
            camera.pitch,
            camera.fov,
        )
        assert self._sky and self._sky.texture
        self._sky.texture.bind(_UNITS["sky_map"])
        if state == self._backdrop_of:
            return
        self._backdrop_of = state
        backdrop.bind()
        GL.glClear(GL.GL_DEPTH_BUFFER_BIT)
        GL.glEnable(GL.GL_DEPTH_TEST)
        if not data:
            self._use("basin.vert", "basin.frag")
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 54)
        # Last and at the far plane: only what is still empty is shaded.
        GL.glDepthFunc(GL.GL_LEQUAL)
        self._use("fullscreen.vert", "background.frag", ("DATA",) if data else ())
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glDepthFunc(GL.GL_LESS)
        if self.options.axes:
            tile = _tile(self.grid)
            level = 0.0 if data else RIM * max(self.grid.extent)
            ink = (0.85, 0.87, 0.90) if data else (0.17, 0.16, 0.15)
            marks = place_marks(self.grid, camera, level + 0.003 * tile, tile, ink)
            self._marks.draw(self._use("decal.vert", "decal.frag"), marks, _UNITS["labels"])
        GL.glDisable(GL.GL_DEPTH_TEST)

    def _draw_surface(self, texture: Texture, level: Level) -> None:
        data = self.options.mode == Mode.DATA
        assert self._surface and self._surface.texture and self._caustics and self._caustics.texture
        self._surface.texture.bind(_UNITS["surface_map"])
        self._caustics.texture.bind(_UNITS["caustics_map"])
        texture.bind(_UNITS["heights"])
        if data:
            self._bind_colours()
        program = self._use("water.vert", "data.frag" if data else "water.frag", _smooth(level))
        GL.glEnable(GL.GL_DEPTH_TEST)
        self._draw_sheet(program, *self._sheet(level.mesh))
        GL.glDisable(GL.GL_DEPTH_TEST)

    def _present(self, target: Framebuffer, outer: int, place: tuple[int, int, int, int]) -> None:
        x, y, width, height = place
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, target.name)
        GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, outer)
        same = target.size == (width, height)
        GL.glBlitFramebuffer(
            0, 0, *target.size, x, y, x + width, y + height,
            GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST if same else GL.GL_LINEAR,
        )  # fmt: skip

    def _use(self, vertex: str, fragment: str, defines: tuple[str, ...] = ()) -> Program:
        """Make a program current, with its samplers on their units and the scene on its binding."""
        program = self._shaders.get(vertex, fragment, defines)
        program.bind_units(_UNITS, "Scene")
        program.use()
        return program

    def _sheet(self, limit: int) -> tuple[int, int]:
        """Quads along x and z of a sheet, nearly square ones; two to a cell, at most `limit` a side."""
        width, height = self.grid.width, self.grid.height
        longest = max(width, height)
        most = min(limit, max(2 * longest, 64))
        return max(round(width * most / longest), 2), max(round(height * most / longest), 2)

    @staticmethod
    def _draw_sheet(program: Program, columns: int, rows: int) -> None:
        program.set_int2("sheet", columns, rows)
        GL.glDrawArraysInstanced(GL.GL_TRIANGLE_STRIP, 0, 2 * (columns + 1), rows)

    def _bind_colours(self) -> None:
        name = self.options.colour_map
        if self._colours is None:
            self._colours = Texture(colormaps.SIZE, 1, GL.GL_RGB8)
        if name != self._colours_name:
            self._colours.upload(colormaps.table(name))
            self._colours_name = name
        self._colours.bind(_UNITS["colour_map"])

    def _close_targets(self) -> None:
        for framebuffer in (self._backdrop, self._target):
            if framebuffer:
                framebuffer.close()
        self._backdrop = self._target = None
        self._backdrop_of = ()

    def _close_passes(self) -> None:
        for framebuffer in (self._caustics, self._surface):
            if framebuffer:
                framebuffer.close()
        self._caustics = self._surface = None

    def close(self) -> None:
        """Delete all GL objects; the context must be current."""
        self._range_fit.close()
        self._marks.close()
        self._close_targets()
        self._close_passes()
        for thing in (self._sky, self._colours, self._scene, self._vertices):
            if thing:
                thing.close()
        self._shaders.close()


def _smooth(level: Level) -> tuple[str, ...]:
    return ("BICUBIC",) if level.bicubic else ()


def _depth(grid: Grid) -> float:
    """Depth of the pool, m; a narrow one is less deep, or its floor could not be seen."""
    return min(DEPTH * max(grid.extent), 0.3 * min(grid.extent))


def _tile(grid: Grid) -> float:
    """Side of a floor tile, m: a round share of the longer side."""
    return max(grid.extent) / 30
