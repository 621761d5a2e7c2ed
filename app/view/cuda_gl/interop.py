"""Graphics interop: CUDA maps an object of OpenGL and copies the heights into it, device to device.

Two ways. Into the texture itself is one copy. Into a pixel-unpack buffer, from which OpenGL fills the
texture, is two, and works where a driver does not register textures.

Order between the two APIs is the driver's promise: mapping makes the stream wait for what OpenGL was told
before, so the copy never overwrites what a draw still reads; unmapping makes OpenGL wait for the copy, so
a draw never reads half of it. Both waits are on the device. The graph itself writes into memory that
OpenGL does not know, so the next launch waits for no drawing.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

from app.gl_platform import GL
from app.view.cuda_gl.heights import DeviceHeights, DeviceTransfer
from app.view.gl_objects import Buffer


class Registration:
    """An OpenGL object that CUDA may map.

    Args:
        heights: gives driver and stream.
        register: the driver's function.
        arguments: its arguments before the flags: the object's name, and for a texture its target.
    """

    def __init__(self, heights: DeviceHeights, register: Any, *arguments: int) -> None:
        self._cuda, self._driver, self._stream = heights.cuda, heights.cuda.driver, heights.stream
        flags = self._driver.CUgraphicsRegisterFlags.CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD
        self._resource: Any = self._cuda.call(register, *arguments, int(flags))
        self.is_mapped = False

    @contextlib.contextmanager
    def mapped(self) -> Iterator[Any]:
        """Map, and unmap at the end of the scope, whatever happens in it; gives the resource."""
        self._cuda.call(self._driver.cuGraphicsMapResources, 1, self._resource, self._stream)
        self.is_mapped = True
        try:
            yield self._resource
        finally:
            self._cuda.call(self._driver.cuGraphicsUnmapResources, 1, self._resource, self._stream)
            self.is_mapped = False

    def close(self) -> None:
        """Unregister; must come before the object is deleted."""
        resource, self._resource = self._resource, None
        if resource is not None:
            self._driver.cuGraphicsUnregisterResource(resource)  # at the end a failure helps nobody


class InteropTransfer(DeviceTransfer):
    """What both ways share: one registration, mapped for the length of one copy."""

    def __init__(self, heights: DeviceHeights, reason: str = "") -> None:
        self._registration: Registration | None = None
        super().__init__(heights, reason)

    @property
    def mapped(self) -> bool:
        """Whether CUDA has the object now; drawing from the texture would be undefined."""
        return self._registration is not None and self._registration.is_mapped

    def _shut(self) -> None:
        if self._registration is not None:
            self._registration.close()
            self._registration = None


class TextureInterop(InteropTransfer):
    """CUDA copies into the texture."""

    path = "interop"

    def _open(self) -> None:
        driver, heights = self._driver, self._heights
        self._registration = Registration(
            heights, driver.cuGraphicsGLRegisterImage, self._texture.name, int(GL.GL_TEXTURE_2D)
        )
        copy = self._copy = driver.CUDA_MEMCPY2D()
        copy.srcMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_DEVICE
        copy.srcDevice = heights.address
        copy.srcPitch = copy.WidthInBytes = heights.pitch
        copy.Height = heights.grid.height
        copy.dstMemoryType = driver.CUmemorytype.CU_MEMORYTYPE_ARRAY

    def _bring(self) -> None:
        assert self._registration is not None
        with self._registration.mapped() as resource:
            # the array may be another one with every mapping
            array = self._cuda.call(self._driver.cuGraphicsSubResourceGetMappedArray, resource, 0, 0)
            self._copy.dstArray = array
            self._cuda.call(self._driver.cuMemcpy2DAsync, self._copy, self._stream)


class BufferInterop(InteropTransfer):
    """CUDA copies into a buffer, OpenGL from there into the texture."""

    path = "interop buffer"

    def __init__(self, heights: DeviceHeights, reason: str = "") -> None:
        self._buffer: Buffer | None = None
        super().__init__(heights, reason)

    def _open(self) -> None:
        self._buffer = Buffer(GL.GL_PIXEL_UNPACK_BUFFER)
        self._buffer.bind()
        GL.glBufferData(GL.GL_PIXEL_UNPACK_BUFFER, self._heights.nbytes, None, GL.GL_STREAM_DRAW)
        GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)
        self._registration = Registration(
            self._heights, self._driver.cuGraphicsGLRegisterBuffer, self._buffer.name
        )

    def _bring(self) -> None:
        assert self._registration is not None and self._buffer is not None
        with self._registration.mapped() as resource:
            target, _ = self._cuda.call(self._driver.cuGraphicsResourceGetMappedPointer, resource)
            self._cuda.copy(target, self._heights.address, self._heights.nbytes, self._stream)
        fill_from_buffer(self._texture, self._buffer.name, 0)

    def _shut(self) -> None:
        super()._shut()
        if self._buffer is not None:
            self._buffer.close()


def fill_from_buffer(texture: Any, buffer: int, offset: int) -> None:
    """Fill a texture from a buffer of OpenGL, from a byte offset on; leaves no unpack buffer bound."""
    GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, buffer)
    texture.upload(ctypes.c_void_p(offset))
    GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)
