"""What is computed from the heights before the picture: the smoothed surface, and sunlight on the floor.

Both run only when the heights changed, and in sizes that follow the picture (app/view/detail.py). Where the
picture has fewer pixels than the grid has cells, the surface is smoothed from means of cells.
"""

from __future__ import annotations

from app.gl_platform import GL
from app.view.detail import Detail
from app.view.gl_objects import Framebuffer, Texture
from app.view.grid import Grid
from app.view.shader import UNITS, ShaderLibrary
from app.view.sheet import Sheet


class Preparation:
    """The passes and what they draw into.

    Args:
        grid: the grid.
        shaders, sheet: of the view, which closes them.
    """

    def __init__(self, grid: Grid, shaders: ShaderLibrary, sheet: Sheet) -> None:
        self._grid, self._shaders, self._sheet = grid, shaders, sheet
        self._coarse: Framebuffer | None = None
        self._surface: Framebuffer | None = None
        self._caustics: Framebuffer | None = None

    def bind(self) -> None:
        """Bind surface and light to their units."""
        assert self._surface and self._surface.texture
        self._surface.texture.bind(UNITS["surface_map"])
        if self._caustics and self._caustics.texture:
            self._caustics.texture.bind(UNITS["caustics_map"])

    def draw_surface(self, heights: Texture, detail: Detail) -> None:
        """Smooth the heights: height and slopes in each texel."""
        grid, size = self._grid, detail.surface
        self._surface = _fitted(self._surface, size, GL.GL_RGBA16F)
        heights.bind(UNITS["heights"])
        if size != (grid.width, grid.height):
            self._coarse = _fitted(self._coarse, size, GL.GL_R32F)
            across, along = grid.width / size[0], grid.height / size[1]
            self._coarse.bind()
            program = self._shaders.use("fullscreen.vert", "coarse.frag")
            program.set("blocks", (grid.width, grid.height, across, along))
            program.set_int2("taps", _taps(across), _taps(along))
            GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
            assert self._coarse.texture
            self._coarse.texture.bind(UNITS["heights"])
        self._surface.bind()
        program = self._shaders.use("fullscreen.vert", "surface.frag")
        program.set("cells", (*size, grid.extent[0] / size[0], grid.extent[1] / size[1]))
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)

    def draw_caustics(self, detail: Detail) -> None:
        """Send a sheet of sunlight through the surface and add up where it falls."""
        assert self._surface and self._surface.texture
        self._surface.texture.bind(UNITS["surface_map"])
        self._caustics = _fitted(self._caustics, detail.caustics, GL.GL_R16F)
        self._caustics.bind()
        GL.glClearColor(0, 0, 0, 0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFunc(GL.GL_ONE, GL.GL_ONE)
        program = self._shaders.use("caustics.vert", "caustics.frag", smooth(detail.smooth_rays))
        (width, height), extent = detail.caustics, self._grid.extent
        program.set("texel_area", extent[0] / width * extent[1] / height)
        self._sheet.draw(program, *detail.rays)
        GL.glDisable(GL.GL_BLEND)

    def close(self) -> None:
        """Delete what was drawn into."""
        for framebuffer in (self._caustics, self._surface, self._coarse):
            if framebuffer:
                framebuffer.close()
        self._caustics = self._surface = self._coarse = None


def smooth(wanted: bool) -> tuple[str, ...]:
    """The variant of a shader that interpolates the surface smoothly, or not."""
    return ("BICUBIC",) if wanted else ()


def _fitted(framebuffer: Framebuffer | None, size: tuple[int, int], internal: int) -> Framebuffer:
    if framebuffer is None:
        return Framebuffer(*size, internal=internal, depth=False)
    framebuffer.resize(*size)
    return framebuffer


def _taps(cells: float) -> int:
    """Taps a side that read all the cells of a texel, each the mean of two."""
    return max(-(-round(cells) // 2), 1)
