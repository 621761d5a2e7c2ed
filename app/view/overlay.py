"""A picture that lies over another one and is drawn again and again: drawn once, kept, and only blended.

What is in it is drawn by the caller, straight alpha over nothing, which gives premultiplied alpha if the
alpha itself is blended as coverage; ImGui's backend does so.
"""

from __future__ import annotations

from app.gl_platform import GL
from app.resources import resource
from app.view.gl_objects import Framebuffer, VertexArray
from app.view.shader import UNITS, ShaderLibrary


class Overlay:
    """The kept picture, and the way it is laid over a framebuffer of its size.

    Raises:
        ShaderError: the shader does not compile here.
    """

    def __init__(self) -> None:
        self._shaders = ShaderLibrary(resource("shaders"))
        self._vertices = VertexArray()
        self._target: Framebuffer | None = None

    def begin(self, size: tuple[int, int]) -> None:
        """Empty the picture and make it what is drawn into, in a size in pixels."""
        if self._target is None:
            self._target = Framebuffer(*size, depth=False)
        self._target.resize(*size)
        self._target.bind()
        GL.glClearColor(0.0, 0.0, 0.0, 0.0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)

    def blend(self) -> None:
        """Lay the picture over the framebuffer that is bound, whose viewport must be its size."""
        assert self._target is not None and self._target.texture is not None
        self._target.texture.bind(UNITS["source"])
        self._vertices.bind()
        self._shaders.use("fullscreen.vert", "overlay.frag")
        GL.glDisable(GL.GL_DEPTH_TEST)
        GL.glEnable(GL.GL_BLEND)
        GL.glBlendFunc(GL.GL_ONE, GL.GL_ONE_MINUS_SRC_ALPHA)
        GL.glDrawArrays(GL.GL_TRIANGLES, 0, 3)
        GL.glDisable(GL.GL_BLEND)

    def close(self) -> None:
        """Delete it; the context must be current."""
        if self._target is not None:
            self._target.close()
            self._target = None
        self._vertices.close()
        self._shaders.close()
