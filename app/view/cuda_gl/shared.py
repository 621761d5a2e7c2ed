"""Shared memory: one allocation that CUDA and OpenGL both see, so that nothing is mapped in a frame.

CUDA allocates with its virtual memory calls, exports the allocation as a file descriptor, and OpenGL
imports that as a buffer (GL_EXT_memory_object_fd). Linux only.

Nobody keeps order for us here. OpenGL and CUDA can only import semaphores, not make them, so without Vulkan
there is none to share; what is left is to wait on the host, and the two waits are made as short as can be:

    copy      into the slot after the last one; before it, the host waits for the fence that OpenGL set
              after it had read this slot the time before. With two slots that is long past.
    read      the host waits for the event behind this copy, not for the stream, which may hold more work.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from app.gl_platform import GL, check_errors
from app.view.cuda_gl import memory_object
from app.view.cuda_gl.device import gl_is_on
from app.view.cuda_gl.heights import DeviceHeights, DeviceTransfer
from app.view.cuda_gl.interop import fill_from_buffer
from app.view.gl_objects import Buffer
from replay.errors import ReplayError

_SLOTS = 2
_ALIGNMENT = 256
_FENCE_TIMEOUT = 2_000_000_000  # ns; a GPU that is two seconds late is not coming


class SharedMemory:
    """Device memory that CUDA allocated and OpenGL uses as a buffer.

    Args:
        heights: gives the driver; the device's context must be current.
        nbytes: at least so many.

    Attributes:
        address: in CUDA.
        buffer: in OpenGL.

    Raises:
        ReplayError, DisplayError: one of the two cannot; nothing is left behind.
    """

    def __init__(self, heights: DeviceHeights, nbytes: int) -> None:
        for extension in ("GL_EXT_memory_object", "GL_EXT_memory_object_fd"):
            if not memory_object.has_extension(extension):
                raise ReplayError(f"OpenGL has no {extension}")
        self._cuda, self._driver = heights.cuda, heights.cuda.driver
        self.address = 0
        self.buffer: Buffer | None = None
        self._memory, self._handle, self._is_mapped = 0, None, False
        try:
            self._allocate(nbytes)
            self._import()
        except BaseException:
            self.close()
            raise

    def _allocate(self, nbytes: int) -> None:
        driver, call = self._driver, self._cuda.call
        device = int(call(driver.cuCtxGetDevice))
        kinds = driver.CUmemAllocationHandleType
        wanted = driver.CUmemAllocationProp()
        wanted.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
        wanted.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        wanted.location.id = device
        wanted.requestedHandleTypes = kinds.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        least = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
        grain = int(call(driver.cuMemGetAllocationGranularity, wanted, least))
        self._size = -(-nbytes // grain) * grain
        self._handle = call(driver.cuMemCreate, self._size, wanted, 0)
        self.address = int(call(driver.cuMemAddressReserve, self._size, 0, 0, 0))
        call(driver.cuMemMap, self.address, self._size, 0, self._handle, 0)
        self._is_mapped = True
        access = driver.CUmemAccessDesc()
        access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
        access.location.id = device
        access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        call(driver.cuMemSetAccess, self.address, self._size, [access], 1)

    def _import(self) -> None:
        kind = self._driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
        self._memory = memory_object.create()
        descriptor = int(self._cuda.call(self._driver.cuMemExportToShareableHandle, self._handle, kind, 0))
        try:
            memory_object.import_descriptor(self._memory, self._size, descriptor)
            check_errors("importing memory of CUDA")
        except BaseException:
            os.close(descriptor)  # only a successful import takes it over
            raise
        self.buffer = Buffer(GL.GL_PIXEL_UNPACK_BUFFER)
        self.buffer.bind()
        try:
            memory_object.use_as_buffer(GL.GL_PIXEL_UNPACK_BUFFER, self._size, self._memory)
            check_errors("making a buffer of imported memory")
        finally:
            GL.glBindBuffer(GL.GL_PIXEL_UNPACK_BUFFER, 0)

    def close(self) -> None:
        """Release it in OpenGL, then in CUDA; both must be done with it."""
        if self.buffer is not None:
            self.buffer.close()
            self.buffer = None
        if self._memory:
            memory_object.delete(self._memory)
            self._memory = 0
        if self._is_mapped:
            self._driver.cuMemUnmap(self.address, self._size)
            self._is_mapped = False
        if self.address:
            self._driver.cuMemAddressFree(self.address, self._size)
            self.address = 0
        if self._handle is not None:
            self._driver.cuMemRelease(self._handle)
            self._handle = None


class SharedTransfer(DeviceTransfer):
    """CUDA copies into memory that OpenGL fills the texture from."""

    path = "shared memory"

    def __init__(self, heights: DeviceHeights, reason: str = "") -> None:
        self._shared: SharedMemory | None = None
        self._event: Any = None
        self._fences: list[Any] = [None] * _SLOTS
        self._slot = 0
        super().__init__(heights, reason)

    def _open(self) -> None:
        if not sys.platform.startswith("linux"):
            raise ReplayError("memory is shared by file descriptor on Linux only")
        # a descriptor of another device's memory is nothing that OpenGL could refuse with grace
        if not gl_is_on(self._cuda, int(self._cuda.call(self._driver.cuCtxGetDevice))):
            raise ReplayError("OpenGL runs on another device")
        self._stride = -(-self._heights.nbytes // _ALIGNMENT) * _ALIGNMENT
        self._shared = SharedMemory(self._heights, _SLOTS * self._stride)
        self._event = new_event(self._cuda)

    def _bring(self) -> None:
        assert self._shared is not None and self._shared.buffer is not None
        self._slot = slot = (self._slot + 1) % _SLOTS
        self._wait_until_read(slot)
        offset = slot * self._stride
        self._cuda.copy(
            self._shared.address + offset, self._heights.address, self._heights.nbytes, self._stream
        )
        self._cuda.call(self._driver.cuEventRecord, self._event, self._stream)
        self._cuda.call(self._driver.cuEventSynchronize, self._event)
        fill_from_buffer(self._texture, self._shared.buffer.name, offset)
        self._fences[slot] = GL.glFenceSync(GL.GL_SYNC_GPU_COMMANDS_COMPLETE, 0)

    def _wait_until_read(self, slot: int) -> None:
        fence, self._fences[slot] = self._fences[slot], None
        if fence is None:
            return
        status = GL.glClientWaitSync(fence, GL.GL_SYNC_FLUSH_COMMANDS_BIT, _FENCE_TIMEOUT)
        GL.glDeleteSync(fence)
        if status not in (GL.GL_ALREADY_SIGNALED, GL.GL_CONDITION_SATISFIED):
            raise ReplayError("OpenGL did not finish reading the heights of an earlier frame")

    def _shut(self) -> None:
        if self._event is not None:  # there was a frame, perhaps; both sides must be done with the memory
            self._driver.cuStreamSynchronize(self._stream)
            GL.glFinish()
            self._driver.cuEventDestroy(self._event)
            self._event = None
        for slot, fence in enumerate(self._fences):
            if fence is not None:
                GL.glDeleteSync(fence)
                self._fences[slot] = None
        if self._shared is not None:
            self._shared.close()
            self._shared = None


def new_event(cuda: Any) -> Any:
    """Return an event of the driver that takes no time stamps, which would cost."""
    return cuda.call(cuda.driver.cuEventCreate, int(cuda.driver.CUevent_flags.CU_EVENT_DISABLE_TIMING))
