"""The water in its pool, or the heights as data: one call of `draw` for the whole scene.

The passes, in order: smooth the heights, send sunlight through them (app/view/prepare.py), find their range
(data mode), then draw background, deck and walls, water, scale bar into a target of the quality's own size
and samples, and copy that into the framebuffer it is for. The first three run only when the heights changed.
What the heights mean and where they come from is not known here.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import numpy as np

from app.gl_platform import GL, is_software
from app.resources import resource
from app.view import colormaps
from app.view.camera import OrbitCamera
from app.view.detail import Detail, choose_detail
from app.view.furniture import Furniture
from app.view.gl_objects import Buffer, Framebuffer, Texture
from app.view.grid import Grid
from app.view.marks import MarkSheet, place_marks
from app.view.options import (
    LEVELS,
    Level,
    Mode,
    Quality,
    WaterOptions,
    picture_size,
    round_length,
)
from app.view.pace import AutoQuality
from app.view.prepare import Preparation, smooth
from app.view.range_fit import RangeFit
from app.view.shader import UNITS, ShaderLibrary
from app.view.sheet import Sheet
from replay.errors import ShaderError

if TYPE_CHECKING:
    from app.basin.furnishing import Furnishing

# From behind the pool as one first sees it: its mirror image lies near the far wall, and waves glitter.
SUN = np.array([-0.30, 0.545, -0.783]) / np.linalg.norm([-0.30, 0.545, -0.783])
# Snell's law at still water, for light that goes down.
_SUNK = np.array([-SUN[0] / 1.333, -math.sqrt(1 - (1 - SUN[1] ** 2) / 1.333**2), -SUN[2] / 1.333])
DEPTH = 0.12  # of the pool, to the longer side of the tank
RIM = 0.013  # height of the rim over the still water, in the same measure
_FINITE_EVERY = 64  # pictures of water between two looks for heights that are not finite

Cell = tuple[float, float]
Target = tuple[int, tuple[int, int]]
"""A framebuffer object and its size in pixels."""


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
        auto: what `auto` stands for now; whoever draws live tells it how long frames take.
        detail: sizes of the passes of the last picture.
        light_interval: least seconds between two renewals of the light on the floor while the heights change;
            0 renews it with each change. For who draws more pictures than a display shows.
        probe: called with a pass's name before it and with "" after the last, for who measures them.

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
        self.auto = AutoQuality(self._software)
        self.quality = self.auto.quality
        with ExitStack() as made:  # what was made before a part that cannot be is closed
            self._shaders = made.enter_context(closing(ShaderLibrary(resource("shaders"))))
            self._sheet = made.enter_context(closing(Sheet()))
            self._scene = made.enter_context(closing(Buffer(GL.GL_UNIFORM_BUFFER)))
            self._preparation = made.enter_context(
                closing(Preparation(self.grid, self._shaders, self._sheet))
            )
            self._range_fit = made.enter_context(closing(RangeFit(self._shaders)))
            self._marks = made.enter_context(closing(MarkSheet()))
            self._furniture = made.enter_context(closing(Furniture()))
            made.pop_all()
        self._scene_of: tuple[object, ...] = ()
        self._sky: Framebuffer | None = None
        self._sky_drawn = False
        self._target: Framebuffer | None = None
        self._backdrop: Framebuffer | None = None
        self._backdrop_of: tuple[object, ...] = ()
        self._colours: Texture | None = None
        self._colours_name = ""
        self.light_interval = 0.0
        self._prepared: tuple[object, ...] = ()
        self._lit: tuple[object, ...] = ()
        self._lit_at = -math.inf
        self._detail_of: tuple[object, ...] = ()
        self.detail: Detail | None = None
        self.probe: Callable[[str], None] | None = None

    @property
    def shader_error(self) -> ShaderError | None:
        """The fault of a shader that was edited while running; the last good one is drawn with."""
        return self._shaders.error

    @property
    def not_finite(self) -> bool:
        """Whether heights that are not finite were seen; known late, for nobody waits for it."""
        return self._range_fit.not_finite

    def forget_not_finite(self) -> None:
        """The heights were replaced: what was seen of them before does not count."""
        self._range_fit.forget()

    def furnish(self, furnishing: Furnishing | None) -> None:
        """Show walls and depth of a basin from now on; cheap while they do not change."""
        self._furniture.take(furnishing)

    def draw(
        self,
        texture: Texture,
        camera: OrbitCamera,
        viewport: tuple[int, int, int, int],
        marker: Cell | None,
        into: Target | None = None,
    ) -> None:
        """Draw the scene.

        Args:
            texture: heights, R32F of the grid's size, m.
            camera: from where.
            viewport: x, y, width, height in framebuffer pixels, y down from the top of the framebuffer.
            marker: cell coordinates of the pointer's mark, or None.
            into: the framebuffer to draw into, which is bound afterwards; None asks OpenGL for the one
                that is bound, which waits for a driver that works in a thread of its own.
        """
        outer, (outer_width, outer_height) = into or _bound_target()
        x, y, width, height = (int(v) for v in viewport)
        if width < 1 or height < 1:
            return
        if self._shaders.poll():
            self._prepared, self._lit, self._backdrop_of, self._sky_drawn = (), (), (), False
        chosen = Quality(self.options.quality)
        self.quality = self.auto.quality if chosen is Quality.AUTO else chosen
        level = LEVELS[self.quality]
        for capability in (GL.GL_BLEND, GL.GL_SCISSOR_TEST, GL.GL_CULL_FACE, GL.GL_DEPTH_TEST):
            GL.glDisable(capability)
        GL.glPolygonMode(GL.GL_FRONT_AND_BACK, GL.GL_FILL)
        self._sheet.vertices.bind()
        size = picture_size(level, width, height)
        pose = (*camera.target.tolist(), camera.distance, camera.yaw, camera.pitch, camera.fov)
        detail = self._fit_detail(level, camera, size, (self.quality, size, pose))
        self._look(texture)
        self._upload_scene(camera, pose, size, marker)
        self._draw_sky()
        self._prepare(texture, detail)
        target, backdrop = self._fit_targets(size, level)
        self._draw_backdrop(backdrop, camera, pose)
        self._begin("copy")
        backdrop.blit_to(target.name, depth=True)
        target.bind()
        self._draw_surface(texture, detail)
        self._begin("present")
        self._present(target, outer, (x, outer_height - y - height, width, height))
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, outer)
        GL.glViewport(0, 0, outer_width, outer_height)
        self._begin("")
        if not self._software:
            GL.glFlush()  # or the GPU would begin only when the panels are drawn, too

    def _begin(self, name: str) -> None:
        if self.probe is not None:
            self.probe(name)

    def _fit_detail(
        self, level: Level, camera: OrbitCamera, size: tuple[int, int], state: tuple[object, ...]
    ) -> Detail:
        """Choose the sizes of the passes anew if something they follow from changed."""
        if self.detail is None or state != self._detail_of:
            self._detail_of = state
            self.detail = choose_detail(level, self.grid, camera, size)
        return self.detail

    def _draw_sky(self) -> None:
        """Once, for it does not change."""
        if self._sky is None:
            self._sky = Framebuffer(768, 768, internal=GL.GL_RGBA16F, depth=False)
        assert self._sky.texture
        if not self._sky_drawn:
            self._sky.bind()
            self._shaders.use("fullscreen.vert", "sky.frag")
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
            self._sky_drawn = True
        self._sky.texture.bind(UNITS["sky_map"])

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

    def _upload_scene(
        self, camera: OrbitCamera, pose: tuple[float, ...], size: tuple[int, int], marker: Cell | None
    ) -> None:
        """Fill the uniform block if something in it changed; the layout is that of shaders/scene.glsl."""
        grid, options = self.grid, self.options
        contours = self.contour_interval if options.contours else 0.0
        radius = options.marker_radius if marker is not None else 0.0
        state = (
            pose, size, marker, radius, options.exaggeration, options.deck, self.range, contours,
            options.wireframe,
        )  # fmt: skip
        if state != self._scene_of:
            self._scene_of = state
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
                block[12, :3] = *grid.to_world(*marker), radius * grid.dx
            block[12, 3] = options.deck
            block[13] = *self.range, contours, options.wireframe
            self._scene.fill(block, GL.GL_STREAM_DRAW)
        GL.glBindBufferBase(GL.GL_UNIFORM_BUFFER, 0, self._scene.name)

    def _look(self, texture: Texture) -> None:
        """Choose range and contour interval of a data picture; see now and then that all is finite."""
        self._begin("range")
        if self.options.mode != Mode.DATA:
            self._range_fit.look(texture, _FINITE_EVERY)
            return
        fitted = self._range_fit.update(texture)
        self.range = fitted if self.options.fixed_range is None else self.options.fixed_range
        span = self.range[1] - self.range[0]
        self.contour_interval = self.options.contour_interval or round_length(max(span, 1e-30) / 8)

    def _prepare(self, texture: Texture, detail: Detail) -> None:
        """Run the passes that depend on the heights only, if something they depend on changed."""
        options = self.options
        shape = texture.name, options.exaggeration, options.mode, detail.surface, detail.caustics, detail.rays
        state = (texture.revision, *shape)
        surface, light = state != self._prepared, options.mode == Mode.WATER and state != self._lit
        if light and self.light_interval and self._lit[1:] == shape:
            light = time.monotonic() - self._lit_at >= self.light_interval
        if surface:
            self._prepared = state
            self._begin("surface")
            self._preparation.draw_surface(texture, detail)
        if light:
            self._lit, self._lit_at = state, time.monotonic()
            self._begin("caustics")
            self._preparation.draw_caustics(detail)
        if (surface or light) and not self._software:
            GL.glFlush()  # the GPU begins while the rest is told

    def _draw_backdrop(self, backdrop: Framebuffer, camera: OrbitCamera, pose: tuple[float, ...]) -> None:
        """Draw what the heights do not change; kept while nobody moves, for it costs as much as the water."""
        data = self.options.mode == Mode.DATA
        self._furniture.bind()
        state = (data, self.options.deck, self.options.axes, pose, self._furniture.revision)
        if state == self._backdrop_of:
            return
        self._backdrop_of = state
        self._begin("backdrop")
        backdrop.bind()
        GL.glClear(GL.GL_DEPTH_BUFFER_BIT)
        GL.glEnable(GL.GL_DEPTH_TEST)
        if not data:
            self._shaders.use("basin.vert", "basin.frag")
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 54)
        self._furniture.draw(self._shaders)
        # Last and at the far plane: only what is still empty is shaded.
        GL.glDepthFunc(GL.GL_LEQUAL)
        self._shaders.use("fullscreen.vert", "background.frag", ("DATA",) if data else ())
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glDepthFunc(GL.GL_LESS)
        if self.options.axes:
            tile = _tile(self.grid)
            level = 0.0 if data else RIM * max(self.grid.extent)
            ink = (0.85, 0.87, 0.90) if data else (0.17, 0.16, 0.15)
            pixel = 2 * camera.distance * math.tan(camera.fov / 2) / backdrop.size[1]
            marks = place_marks(self.grid, camera, level + 0.003 * tile, tile, ink, pixel)
            self._marks.draw(self._shaders.use("decal.vert", "decal.frag"), marks, UNITS["labels"])
        GL.glDisable(GL.GL_DEPTH_TEST)

    def _draw_surface(self, texture: Texture, detail: Detail) -> None:
        self._begin("water")
        data = self.options.mode == Mode.DATA
        self._preparation.bind()
        texture.bind(UNITS["heights"])
        if data:
            self._bind_colours()
        fragment = "data.frag" if data else "water.frag"
        program = self._shaders.use("water.vert", fragment, smooth(detail.smooth))
        GL.glEnable(GL.GL_DEPTH_TEST)
        self._sheet.draw(program, *detail.mesh)
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

    def _bind_colours(self) -> None:
        name = self.options.colour_map
        if self._colours is None:
            self._colours = Texture(colormaps.SIZE, 1, GL.GL_RGB8)
        if name != self._colours_name:
            self._colours.upload(colormaps.table(name))
            self._colours_name = name
        self._colours.bind(UNITS["colour_map"])

    def _close_targets(self) -> None:
        for framebuffer in (self._backdrop, self._target):
            if framebuffer:
                framebuffer.close()
        self._backdrop = self._target = None
        self._backdrop_of = ()

    def close(self) -> None:
        """Delete all GL objects; the context must be current."""
        self._range_fit.close()
        self._marks.close()
        self._furniture.close()
        self._close_targets()
        self._preparation.close()
        for thing in (self._sky, self._colours, self._scene, self._sheet):
            if thing:
                thing.close()
        self._shaders.close()


def _bound_target() -> Target:
    """The framebuffer that is bound for drawing, with the size of the present viewport."""
    x, y, width, height = (int(v) for v in GL.glGetIntegerv(GL.GL_VIEWPORT))
    return int(GL.glGetIntegerv(GL.GL_DRAW_FRAMEBUFFER_BINDING)), (x + width, y + height)


def _depth(grid: Grid) -> float:
    """Depth of the pool, m; a narrow one is less deep, or its floor could not be seen."""
    return min(DEPTH * max(grid.extent), 0.3 * min(grid.extent))


def _tile(grid: Grid) -> float:
    """Side of a floor tile, m: a round share of the longer side."""
    return max(grid.extent) / 30
