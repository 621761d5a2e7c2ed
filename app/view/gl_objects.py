"""Small owners of OpenGL objects: program, texture, buffer, vertex array, framebuffer.

Each owns one name, counts itself in `alive` while it lives, and is closed by its owner while the context is
current; nothing is left to `__del__`. Owners close in the reverse order of making. What is drawn, and with
which shader, is not known here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from app.gl_platform import GL
from replay.errors import DisplayError

alive: Counter[str] = Counter()
"""How many objects of each kind live in this process: what a leak test looks at."""


_SCRATCH_UNIT = 7
"""Textures are made and filled here, so that no unit that a pass has set up changes under it."""


class GlObject:
    """A named OpenGL object; closed once, by its owner."""

    kind = "object"

    def __init__(self, name: int) -> None:
        if not name:
            raise DisplayError(f"OpenGL could not make a {self.kind}")
        self.name = int(name)
        alive[self.kind] += 1

    def _delete(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """Delete the object. A second call does nothing."""
        if self.name:
            self._delete()
            self.name = 0
            alive[self.kind] -= 1

    def __enter__(self) -> Any:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Program(GlObject):
    """A linked program. Uniforms are set by name; a name that the compiler dropped is ignored.

    What many passes share is in a uniform block.
    """

    kind = "program"

    def __init__(self, name: int) -> None:
        super().__init__(name)
        self._locations: dict[str, int] = {}
        self._tied = False

    def _delete(self) -> None:
        GL.glDeleteProgram(self.name)

    def use(self) -> None:
        """Make it the current program."""
        GL.glUseProgram(self.name)

    def bind_units(self, units: Mapping[str, int], block: str) -> None:
        """Once in its life, tie its samplers to units and its block to binding 0; it must be current."""
        if self._tied:
            return
        self._tied = True
        for name, unit in units.items():
            self.set(name, unit)
        index = int(GL.glGetUniformBlockIndex(self.name, block))
        if index != GL.GL_INVALID_INDEX:
            GL.glUniformBlockBinding(self.name, index, 0)

    def set_int2(self, name: str, first: int, second: int) -> None:
        """Set an ivec2 of the current program."""
        location = self._location(name)
        if location >= 0:
            GL.glUniform2i(location, first, second)

    def _location(self, name: str) -> int:
        location = self._locations.get(name)
        if location is None:
            location = self._locations[name] = int(GL.glGetUniformLocation(self.name, name))
        return location

    def set(self, name: str, value: Any) -> None:
        """Set a uniform of the current program: an int, a float or a vec4."""
        location = self._location(name)
        if location < 0:
            return
        if isinstance(value, (bool, int)):
            GL.glUniform1i(location, int(value))
        elif isinstance(value, float):
            GL.glUniform1f(location, value)
        elif len(value) == 4:
            GL.glUniform4f(location, *map(float, value))
        else:
            raise TypeError(f"uniform {name}: no rule for {type(value).__name__}")


class Texture(GlObject):
    """A 2-D texture of one level, bound to no unit in particular.

    `revision` grows with every upload; who writes texels in another way calls `touch`.

    Args:
        width, height: in texels.
        internal: internal format, such as `GL.GL_R32F`.
        linear: interpolate between texels; else nearest.
        wrap: what lies outside; clamped to the edge if not given.
    """

    kind = "texture"

    def __init__(
        self, width: int, height: int, internal: int, *, linear: bool = True, wrap: int | None = None
    ) -> None:
        super().__init__(GL.glGenTextures(1))
        self.internal, self.width, self.height = internal, 0, 0
        self.revision = 0
        self.bind(_SCRATCH_UNIT)
        sampling = GL.GL_LINEAR if linear else GL.GL_NEAREST
        wrapping = GL.GL_CLAMP_TO_EDGE if wrap is None else wrap
        for parameter, value in (
            (GL.GL_TEXTURE_MIN_FILTER, sampling),
            (GL.GL_TEXTURE_MAG_FILTER, sampling),
            (GL.GL_TEXTURE_WRAP_S, wrapping),
            (GL.GL_TEXTURE_WRAP_T, wrapping),
            (GL.GL_TEXTURE_MAX_LEVEL, 0),
        ):
            GL.glTexParameteri(GL.GL_TEXTURE_2D, parameter, value)
        self.resize(width, height)

    def _delete(self) -> None:
        GL.glDeleteTextures(1, [self.name])

    def resize(self, width: int, height: int) -> None:
        """Give it another size; the contents are lost if it differs."""
        if (width, height) == (self.width, self.height):
            return
        self.width, self.height = width, height
        layout, kind = _UPLOADS[self.internal]
        self.bind(_SCRATCH_UNIT)
        GL.glTexImage2D(GL.GL_TEXTURE_2D, 0, self.internal, width, height, 0, layout, kind, None)

    def upload(self, texels: Any) -> None:
        """Replace all texels by a contiguous array (or an offset in the bound unpack buffer), row 0 first."""
        layout, kind = _UPLOADS[self.internal]
        self.bind(_SCRATCH_UNIT)
        GL.glPixelStorei(GL.GL_UNPACK_ALIGNMENT, 1)
        GL.glTexSubImage2D(GL.GL_TEXTURE_2D, 0, 0, 0, self.width, self.height, layout, kind, texels)

        self.touch()

    def touch(self) -> None:
        """Say that the texels changed."""
        self.revision += 1

    def bind(self, unit: int) -> None:
        """Bind to a texture unit."""
        GL.glActiveTexture(GL.GL_TEXTURE0 + unit)
        GL.glBindTexture(GL.GL_TEXTURE_2D, self.name)


_UPLOADS = {
    GL.GL_R32F: (GL.GL_RED, GL.GL_FLOAT),
    GL.GL_RG32F: (GL.GL_RG, GL.GL_FLOAT),
    GL.GL_R16F: (GL.GL_RED, GL.GL_FLOAT),
    GL.GL_R8: (GL.GL_RED, GL.GL_UNSIGNED_BYTE),
    GL.GL_RGB8: (GL.GL_RGB, GL.GL_UNSIGNED_BYTE),
    GL.GL_RGBA8: (GL.GL_RGBA, GL.GL_UNSIGNED_BYTE),
    GL.GL_RGBA32F: (GL.GL_RGBA, GL.GL_FLOAT),
    GL.GL_RGBA16F: (GL.GL_RGBA, GL.GL_FLOAT),
    GL.GL_R11F_G11F_B10F: (GL.GL_RGB, GL.GL_FLOAT),
}


class Buffer(GlObject):
    """A buffer for one target, such as `GL.GL_PIXEL_UNPACK_BUFFER`."""

    kind = "buffer"

    def __init__(self, target: int) -> None:
        super().__init__(GL.glGenBuffers(1))
        self.target = target

    def _delete(self) -> None:
        GL.glDeleteBuffers(1, [self.name])

    def bind(self) -> None:
        """Bind to its target."""
        GL.glBindBuffer(self.target, self.name)

    def fill(self, contents: Any, usage: int) -> None:
        """Replace contents and size, leaving the old storage to draws that still read it."""
        self.bind()
        GL.glBufferData(self.target, contents.nbytes, contents, usage)


class VertexArray(GlObject):
    """A vertex array; meshes here have no attributes, only an index buffer or nothing."""

    kind = "vertex array"

    def __init__(self) -> None:
        super().__init__(GL.glGenVertexArrays(1))

    def _delete(self) -> None:
        GL.glDeleteVertexArrays(1, [self.name])

    def bind(self) -> None:
        """Make it the current vertex array."""
        GL.glBindVertexArray(self.name)


class Renderbuffer(GlObject):
    """Storage to draw into that is not read as a texture."""

    kind = "renderbuffer"

    def __init__(self, width: int, height: int, internal: int, samples: int) -> None:
        super().__init__(GL.glGenRenderbuffers(1))
        GL.glBindRenderbuffer(GL.GL_RENDERBUFFER, self.name)
        GL.glRenderbufferStorageMultisample(GL.GL_RENDERBUFFER, samples, internal, width, height)

    def _delete(self) -> None:
        GL.glDeleteRenderbuffers(1, [self.name])


class Framebuffer(GlObject):
    """Something to draw into: a colour texture (or multisampled storage), and depth if wanted.

    Args:
        width, height: in pixels; the smallest size is 1x1.
        internal: format of the colour.
        depth: with a depth buffer.
        samples: samples a pixel; above 1 the colour is storage to be resolved by `blit_to`, no texture.
    """

    kind = "framebuffer"

    def __init__(
        self,
        width: int,
        height: int,
        *,
        internal: int | None = None,
        depth: bool = True,
        samples: int = 1,
        wrap: int | None = None,
    ) -> None:
        super().__init__(GL.glGenFramebuffers(1))
        self.internal = GL.GL_RGBA8 if internal is None else internal
        self.depth, self.samples, self.wrap = depth, samples, wrap
        self.texture: Texture | None = None
        self._parts: list[GlObject] = []
        self.size = (0, 0)
        self.resize(width, height)

    def resize(self, width: int, height: int) -> tuple[int, int]:
        """Give it another size and return it; the contents are lost if it differs."""
        width, height = max(width, 1), max(height, 1)
        if (width, height) == self.size:
            return self.size
        self._close_parts()
        self.size = (width, height)
        samples = self.samples if self.samples > 1 else 0
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self.name)
        if samples:
            colour = Renderbuffer(width, height, self.internal, samples)
            self._parts.append(colour)
            self._attach(GL.GL_COLOR_ATTACHMENT0, colour)
        else:
            self.texture = Texture(width, height, self.internal, wrap=self.wrap)
            self._parts.append(self.texture)
            GL.glFramebufferTexture2D(
                GL.GL_FRAMEBUFFER, GL.GL_COLOR_ATTACHMENT0, GL.GL_TEXTURE_2D, self.texture.name, 0
            )
        if self.depth:
            depth = Renderbuffer(width, height, GL.GL_DEPTH_COMPONENT24, samples)
            self._parts.append(depth)
            self._attach(GL.GL_DEPTH_ATTACHMENT, depth)
        status = GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER)
        if status != GL.GL_FRAMEBUFFER_COMPLETE:
            raise DisplayError(f"a framebuffer of {width}x{height} is not complete (status {int(status):#x})")
        return self.size

    @staticmethod
    def _attach(point: int, storage: Renderbuffer) -> None:
        GL.glFramebufferRenderbuffer(GL.GL_FRAMEBUFFER, point, GL.GL_RENDERBUFFER, storage.name)

    def bind(self) -> None:
        """Draw into it, whole."""
        GL.glBindFramebuffer(GL.GL_FRAMEBUFFER, self.name)
        GL.glViewport(0, 0, *self.size)

    def blit_to(self, other: int, *, depth: bool = False) -> None:
        """Copy the colour, and the depth if wanted, into another framebuffer of the same size."""
        parts = GL.GL_COLOR_BUFFER_BIT | (GL.GL_DEPTH_BUFFER_BIT if depth else 0)
        GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, self.name)
        GL.glBindFramebuffer(GL.GL_DRAW_FRAMEBUFFER, other)
        GL.glBlitFramebuffer(0, 0, *self.size, 0, 0, *self.size, parts, GL.GL_NEAREST)

    def _close_parts(self) -> None:
        for part in reversed(self._parts):
            part.close()
        self._parts.clear()
        self.texture = None

    def _delete(self) -> None:
        self._close_parts()
        GL.glDeleteFramebuffers(1, [self.name])
