"""Shows pictures in a thread of its own, so that the next one is drawn while the swap of the last one waits.

Two contexts share their objects. The main thread draws into the textures of a small ring with a context that
nobody sees, and hands a texture over with a fence; the thread here has the context of the visible window,
copies the texture into it and swaps. Every picture that is handed over is shown, in order. At most two are on
their way, or as many as come in `_LATENCY`: then a swap, or a frame that builds the panels, may take longer
than others and nobody waits. Events, sizes and everything else of the toolkit stay with the main thread.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import deque
from queue import Empty, SimpleQueue
from typing import Any

from app.gl_platform import GL, glfw
from app.view.gl_objects import Framebuffer
from app.windows.gl_direct import TIMEOUT_IGNORED, DirectCalls
from replay.errors import DisplayError

_SLOTS = 5
_LATENCY = 4e-3  # s
_SWITCH_INTERVAL = 2e-4  # s; Python's own 5 ms would let the thread wait for whole frames
_PATIENCE = 0.5  # seconds between two looks whether the thread still lives

READ, DRAW = int(GL.GL_READ_FRAMEBUFFER), int(GL.GL_DRAW_FRAMEBUFFER)
_COLOUR, _NEAREST = int(GL.GL_COLOR_BUFFER_BIT), int(GL.GL_NEAREST)
_ATTACHMENT, _TEXTURE = int(GL.GL_COLOR_ATTACHMENT0), int(GL.GL_TEXTURE_2D)
_COMPLETE = int(GL.GL_SYNC_GPU_COMMANDS_COMPLETE)


class _Slot:
    """A picture: what it is drawn into, and fences by which each side waits for the other on the GPU."""

    def __init__(self, size: tuple[int, int]) -> None:
        self.target = Framebuffer(*size, depth=False)
        self.drawn: Any = None
        self.shown: Any = None


class Presenter:
    """The ring, and the thread that shows it. Everything public is for the main thread.

    Args:
        handle: the visible window, whose context is current nowhere and becomes the thread's.
        size: of the framebuffer in pixels.
        vsync: wait for the display.

    Attributes:
        shown: pictures that are known to have been swapped.
        calls: the functions of OpenGL that both threads call without PyOpenGL.
    """

    def __init__(self, handle: Any, size: tuple[int, int], *, vsync: bool) -> None:
        self._handle = handle
        self.calls = DirectCalls()
        self._size = size
        self._vsync = vsync
        self._ring = [_Slot(size) for _ in range(_SLOTS)]
        self._slot = self._ring[0]
        self._spare = deque(self._ring[1:])
        self._given = self.shown = 0
        self._given_at, self._period = 0.0, 1.0
        self._switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        self._jobs: SimpleQueue[_Slot | None] = SimpleQueue()
        self._back: SimpleQueue[_Slot | None] = SimpleQueue()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="presenter", daemon=True)
        self._thread.start()

    @property
    def target(self) -> Framebuffer:
        """What the next picture is drawn into."""
        return self._slot.target

    def fit(self, size: tuple[int, int]) -> None:
        """The window's framebuffer has another size; what was drawn of the next picture is lost."""
        self._size = size
        self._slot.target.resize(*size)

    def set_vsync(self, enabled: bool) -> None:
        """Wait for the display from the next picture on, or do not."""
        self._vsync = enabled

    def present(self) -> None:
        """Hand the picture over and go on with the next; waits while too many are on their way.

        Raises:
            DisplayError: the thread has failed.
        """
        slot, calls = self._slot, self.calls
        slot.drawn = calls.glFenceSync(_COMPLETE, 0)
        calls.glFlush()  # or the other context would wait for what was never sent
        self._given += 1
        self._jobs.put(slot)
        most = self._most_on_their_way()
        while not self._spare or self._given - self.shown > most:
            self._take_back()
        self._slot = slot = self._spare.popleft()
        self._wait_on_gpu(slot.shown)
        slot.shown = None
        slot.target.resize(*self._size)

    def _most_on_their_way(self) -> int:
        """How many pictures may wait to be shown, this one among them, by how fast they come."""
        now = time.perf_counter()
        self._period += 0.1 * (min(now - self._given_at, 0.1) - self._period)  # a pause is soon forgotten
        self._given_at = now
        if self._vsync:
            return 1  # a second one would only come later
        # With one on its way the GPU often has nothing to do.
        return int(min(max(_LATENCY / self._period, 2), _SLOTS - 1))

    def finish(self) -> None:
        """Wait until everything that was handed over is shown.

        Raises:
            DisplayError: the thread has failed.
        """
        while self.shown < self._given:
            self._take_back()

    def close(self) -> None:
        """Show what is on its way, end the thread, delete the ring; the drawing context must be current."""
        self._jobs.put(None)
        self._thread.join()
        sys.setswitchinterval(self._switch_interval)
        for slot in self._ring:
            for fence in (slot.drawn, slot.shown):
                if fence:
                    self.calls.glDeleteSync(fence)
            slot.target.close()

    def _take_back(self) -> None:
        while True:
            try:
                slot = self._back.get(timeout=_PATIENCE)
                break
            except Empty:
                if self._thread.is_alive():
                    continue
                slot = None
                break
        if slot is None:
            raise DisplayError(
                f"the window cannot be drawn to any more: {self._failure or 'its thread ended'}",
                remedy="set RIPPLESCOPE_THREADED_SWAP=0 if that happens again",
            )
        self.shown += 1
        self._spare.append(slot)

    def _wait_on_gpu(self, fence: Any) -> None:
        if fence:
            self.calls.glWaitSync(fence, 0, TIMEOUT_IGNORED)
            self.calls.glDeleteSync(fence)

    # In the thread

    def _run(self) -> None:
        try:
            glfw.make_context_current(self._handle)
            if glfw.get_current_context() is None:
                raise DisplayError("its context cannot be used in another thread")
            self._show_all()
        except BaseException as error:  # told where the main thread waits next
            self._failure = error
            self._back.put(None)
        finally:
            glfw.make_context_current(None)

    def _show_all(self) -> None:
        framebuffer = int(GL.glGenFramebuffers(1))
        vsync = None
        try:
            while (slot := self._jobs.get()) is not None:
                if vsync != self._vsync:
                    vsync = self._vsync
                    glfw.swap_interval(1 if vsync else 0)
                self._copy(slot, framebuffer)
                glfw.swap_buffers(self._handle)
                self._back.put(slot)
        finally:
            GL.glDeleteFramebuffers(1, [framebuffer])

    def _copy(self, slot: _Slot, framebuffer: int) -> None:
        """Copy a picture into the window, from its top left corner on if the window's size has changed."""
        calls, texture = self.calls, slot.target.texture
        assert texture is not None
        fence, slot.drawn = slot.drawn, None
        self._wait_on_gpu(fence)
        # Attached anew each time: only then is what another context drew sure to be seen.
        calls.glBindFramebuffer(READ, framebuffer)
        calls.glFramebufferTexture2D(READ, _ATTACHMENT, _TEXTURE, texture.name, 0)
        width, height = texture.width, texture.height
        if (width, height) != self._size:
            calls.glClear(_COLOUR)
        top = self._size[1]
        calls.glBlitFramebuffer(0, 0, width, height, 0, top - height, width, top, _COLOUR, _NEAREST)
        slot.shown = calls.glFenceSync(_COMPLETE, 0)
