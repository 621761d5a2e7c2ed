"""An array as a picture in OpenGL: cells, a line, or points in space, and what is written around them.

`app.arrays` says what is where; this draws it into a place of a framebuffer. What the values mean and where
they come from is not known here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack, closing

import numpy as np

from app.arrays.columns import as_bars, bar_columns, line_columns, shares
from app.arrays.ink import Inks, Item, paint
from app.arrays.layout import Layout, axis_range
from app.arrays.shown import ShownArray
from app.arrays.space import point_radius
from app.arrays.ways import Way
from app.gl_platform import GL
from app.resources import resource
from app.view import colormaps
from app.view.gl_objects import Framebuffer, Texture, VertexArray
from app.view.shader import UNITS, ShaderLibrary

_ROW = 1024  # points in a row of their texture
_LINE = 0.9  # half the width of a line, in units


class ArrayView:
    """Draws the array of a `ShownArray`; textures are filled anew only when its revision changes.

    Raises:
        ShaderError: a shader does not compile here.
    """

    def __init__(self) -> None:
        with ExitStack() as made:
            self._shaders = made.enter_context(closing(ShaderLibrary(resource("shaders"))))
            self._vertices = made.enter_context(closing(VertexArray()))
            made.pop_all()
        self._largest = int(GL.glGetIntegerv(GL.GL_MAX_TEXTURE_SIZE))
        self._target: Framebuffer | None = None
        self._textures: dict[int, Texture] = {}
        self._colours: Texture | None = None
        self._colours_name = ""
        self._uploaded: tuple[object, ...] = ()
        self._bounds = (0.0, 1.0)
        self._count = 0
        self._ink: Texture | None = None

    def draw(
        self,
        shown: ShownArray,
        layout: Layout,
        place: tuple[int, int, int, int],
        into: tuple[int, tuple[int, int]],
        *,
        unit: float,
        inks: Inks,
        written: bool,
    ) -> None:
        """Draw the body, and what is written around it where nobody else writes it.

        Args:
            shown: what.
            layout: of `place`'s size.
            place: x, y, width, height in framebuffer pixels, y down.
            into: framebuffer and its size; it is bound afterwards.
            unit: pixels to a unit of text.
            inks: colours.
            written: whether to paint the layout's items.
        """
        x, y, width, height = place
        if width < 1 or height < 1:
            return
        self._shaders.poll()
        for capability in (GL.GL_BLEND, GL.GL_SCISSOR_TEST, GL.GL_CULL_FACE, GL.GL_DEPTH_TEST):
            GL.glDisable(capability)
        GL.glPolygonMode(GL.GL_FRONT_AND_BACK, GL.GL_FILL)
        if self._target is None:
            self._target = Framebuffer(width, height)
        self._target.resize(width, height)
        self._target.bind()
        GL.glClearColor(*inks.background)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT | GL.GL_DEPTH_BUFFER_BIT)
        self._vertices.bind()
        if shown.values is not None and shown.ways:
            self._draw_body(shown, layout, (width, height), unit, inks)
        if written:
            self._write(layout.items, (width, height))
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self._target.name)
        GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, into[0])
        bottom = into[1][1] - y - height
        GL.glBlitFramebuffer(
            0, 0, width, height, x, bottom, x + width, bottom + height, GL.GL_COLOR_BUFFER_BIT, GL.GL_NEAREST
        )
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, into[0])
        GL.glViewport(0, 0, *into[1])

    def _draw_body(
        self, shown: ShownArray, layout: Layout, size: tuple[int, int], unit: float, inks: Inks
    ) -> None:
        if shown.way is Way.LINE and layout.span is not None:
            self._draw_line(shown, layout, size, unit, inks)
        elif shown.way in (Way.IMAGE, Way.COLOUR) and layout.frame is not None:
            self._draw_image(shown, layout, size)
        elif shown.way is Way.POINTS and shown.bounds is not None:
            self._draw_points(shown, size)

    def _room(self, layout: Layout) -> tuple[float, float, float, float]:
        x, y, width, height = layout.room
        return math.floor(x), math.floor(y), math.floor(x) + math.floor(width), math.floor(y + height)

    def _draw_image(self, shown: ShownArray, layout: Layout, size: tuple[int, int]) -> None:
        frame = layout.frame
        assert frame is not None
        colours = shown.way is Way.COLOUR
        cells = shown.pixels if colours else shown.scalars
        assert cells is not None
        step = -(-max(cells.shape[:2]) // self._largest)
        key = (id(shown), shown.revision, shown.way)
        if key != self._uploaded:
            self._uploaded = key
            if colours:
                self._fill(GL.GL_RGBA8, np.ascontiguousarray(cells[::step, ::step]))
                self._bounds = (0.0, 1.0)
            else:
                texels, self._bounds = texels_of(thin(cells, step), shown.range)
                self._fill(GL.GL_R32F, texels)
        self._textures[GL.GL_RGBA8 if colours else GL.GL_R32F].bind(UNITS["cells_map"])
        self._bind_colours(shown.map_name)
        program = self._shaders.use("fullscreen.vert", "array_image.frag", ("COLOURS",) if colours else ())
        program.set("cell_frame", (frame.left, frame.top, frame.cell_x * step, frame.cell_y * step))
        program.set("room", self._room(layout))
        program.set("span", (*self._bounds, float(size[1]), 0.0))
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)

    def _draw_line(
        self, shown: ShownArray, layout: Layout, size: tuple[int, int], unit: float, inks: Inks
    ) -> None:
        assert shown.scalars is not None and layout.span is not None
        left, top, right, bottom = self._room(layout)
        width = min(right - left, self._largest)
        bars = as_bars(len(shown.scalars))
        key = (id(shown), shown.revision, shown.way, width, layout.span)
        if key != self._uploaded:
            self._uploaded = key
            make = bar_columns if bars else line_columns
            columns = make(shown.scalars, *layout.span, width)
            self._fill(GL.GL_RGBA32F, shares(columns, axis_range(shown)).reshape(1, width, 4))
        self._textures[GL.GL_RGBA32F].bind(UNITS["cells_map"])
        program = self._shaders.use("fullscreen.vert", "array_line.frag")
        program.set("room", (left, top, right, bottom))
        program.set("span", (_LINE * unit, float(bars), float(size[1]), 0.0))
        program.set("ink", inks.accent)
        self._blend(GL.GL_SRC_ALPHA)

    def _draw_points(self, shown: ShownArray, size: tuple[int, int]) -> None:
        assert shown.points is not None and shown.scalars is not None and shown.bounds is not None
        key = (id(shown), shown.revision, shown.way)
        if key != self._uploaded:
            self._uploaded = key
            low, high = shown.range
            self._count = len(shown.points)
            rows = -(-self._count // _ROW)
            texels = np.full((rows * _ROW, 4), np.nan, np.float32)
            with np.errstate(invalid="ignore", over="ignore"):
                texels[: self._count, :3] = shown.bounds.to_world(shown.points)
                texels[: self._count, 3] = (shown.scalars - low) / max(high - low, 1e-30)
            texels[~np.isfinite(texels).all(axis=1), 0] = np.nan
            self._fill(GL.GL_RGBA32F, texels.reshape(rows, _ROW, 4))
        self._textures[GL.GL_RGBA32F].bind(UNITS["cells_map"])
        self._bind_colours(shown.map_name)
        program = self._shaders.use("array_points.vert", "array_points.frag")
        camera = shown.camera
        matrix = camera.projection_matrix(size[0] / size[1]) @ camera.view_matrix()
        for name, row in zip("xyzw", matrix.tolist(), strict=True):
            program.set(f"to_clip_{name}", row)
        pixels = size[1] / 2 / math.tan(camera.fov / 2)
        program.set("span", (point_radius(self._count), pixels, float(_ROW), 1.0))
        GL.glEnable(GL.GL_PROGRAM_POINT_SIZE)
        GL.glEnable(GL.GL_DEPTH_TEST)
        GL.glDrawArrays(GL.GL_POINTS, 0, self._count)
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glDisable(GL.GL_PROGRAM_POINT_SIZE)

    def _write(self, items: Sequence[Item], size: tuple[int, int]) -> None:
        """Lay what is written over the body; a single picture is made so, not one of many."""
        pixels = np.ascontiguousarray(paint(items, size)[::-1])
        if self._ink is None:
            self._ink = Texture(*size, GL.GL_RGBA8, linear=False)
        self._ink.resize(*size)
        self._ink.upload(pixels)
        self._ink.bind(UNITS["source"])
        self._shaders.use("fullscreen.vert", "overlay.frag")
        self._blend(GL.GL_ONE)

    @staticmethod
    def _blend(source: int) -> None:
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFunc(source, GL.GL_ONE_MINUS_SRC_ALPHA)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glDisable(GL.GL_BLEND)

    def _fill(self, internal: int, texels: np.ndarray) -> None:
        height, width = texels.shape[:2]
        texture = self._textures.get(internal)
        if texture is None:
            texture = self._textures[internal] = Texture(width, height, internal, linear=False)
        texture.resize(width, height)
        texture.upload(texels)

    def _bind_colours(self, name: str) -> None:
        if self._colours is None:
            self._colours = Texture(colormaps.SIZE, 1, GL.GL_RGB8, linear=False)
        if name != self._colours_name:
            self._colours_name = name
            self._colours.upload(np.ascontiguousarray(colormaps.table(name)).reshape(1, colormaps.SIZE, 3))
        self._colours.bind(UNITS["colour_map"])

    def close(self) -> None:
        """Delete everything; the context must be current."""
        for part in (self._target, self._ink, self._colours, *self._textures.values()):
            if part is not None:
                part.close()
        self._target = self._ink = self._colours = None
        self._textures.clear()
        self._vertices.close()
        self._shaders.close()


def texels_of(scalars: np.ndarray, bounds: tuple[float, float]) -> tuple[np.ndarray, tuple[float, float]]:
    """Return numbers as float32 texels, and the range that they are shown in.

    Types whose numbers float32 does not hold become shares of the range, so that none becomes infinite.
    """
    if scalars.dtype == np.float32 or scalars.dtype.itemsize <= 2:
        return np.ascontiguousarray(scalars, np.float32), bounds
    low, high = bounds
    values = scalars.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        share = np.clip((values - low) / max(high - low, 1e-300), -1.0, 2.0)
    share[~np.isfinite(values)] = np.nan
    return np.ascontiguousarray(share, np.float32), (0.0, 1.0)


def thin(cells: np.ndarray, step: int) -> np.ndarray:
    """Return every so many rows and columns; a cell that is not finite is kept for the block it lies in."""
    if step <= 1:
        return cells
    shown = np.ascontiguousarray(cells[::step, ::step])
    if cells.dtype.kind == "f":
        wrong = np.argwhere(~np.isfinite(cells))
        shown[wrong[:, 0] // step, wrong[:, 1] // step] = np.nan
    return shown
