"""The choice among the transfers from a CUDA device: one probe at start, in order, the first that works.

A probe is a whole transfer, so whatever would fail in the first frame fails here. What failed is kept as
the reason why the chosen way is no faster one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from app.gl_platform import GL, GLError, check_errors
from app.view.cuda_gl.heights import DeviceHeights, DeviceTransfer
from app.view.cuda_gl.interop import BufferInterop, TextureInterop
from app.view.cuda_gl.pinned import PinnedCopy
from app.view.cuda_gl.shared import SharedTransfer
from app.view.grid import Grid
from app.view.transfer import Prefer
from replay.errors import ReplayError, RipplescopeError

if TYPE_CHECKING:
    from replay.players.base import Player

Way = Callable[[DeviceHeights], DeviceTransfer]

WAYS: dict[Prefer, tuple[Way, ...]] = {
    Prefer.AUTO: (TextureInterop, BufferInterop, SharedTransfer, PinnedCopy),
    Prefer.INTEROP: (TextureInterop, BufferInterop, PinnedCopy),
    Prefer.SHARED: (SharedTransfer, PinnedCopy),
    Prefer.COPY: (PinnedCopy,),
}

_BEST = {
    TextureInterop.path: "CUDA writes into the texture of OpenGL",
    BufferInterop.path: "CUDA writes into a buffer of OpenGL",
    SharedTransfer.path: "CUDA and OpenGL share memory",
    PinnedCopy.path: "through memory of the host",
}

_NOT_READY = 600


def open_cuda_transfer(player: Player, grid: Grid, name: str, prefer: Prefer) -> DeviceTransfer:
    """Return the first transfer that works, with the reason why it is no better one.

    Raises:
        ReplayError: none works, or CUDA is broken.
    """
    heights = DeviceHeights.of_player(player, grid, name)
    transfer = first_that_works(heights, WAYS[prefer])
    if prefer is not Prefer.AUTO:
        transfer.reason += f"; {prefer.value} was asked for"
    return transfer


def first_that_works(heights: DeviceHeights, ways: Sequence[Way]) -> DeviceTransfer:
    """Try ways in order, each with one transfer, and return the first that works.

    Raises:
        ReplayError: none works, or CUDA is broken after one failed.
    """
    failed: list[str] = []
    forget_gl_errors()  # an older one is not the fault of what is tried
    for way in ways:
        transfer = None
        try:
            transfer = way(heights)
            transfer.update()
            check_errors(f"trying {transfer.path}")
        except (RipplescopeError, GLError, OSError) as error:
            text = error.what if isinstance(error, RipplescopeError) else str(error)
            failed.append(f"{way.path} off ({text})")
            if transfer is not None:
                transfer.close()
            recover(heights.cuda, heights.stream)
            continue
        transfer.reason = "; ".join([_BEST[transfer.path], *failed])
        if failed:
            transfer.reason += hint(GL.glGetString(GL.GL_RENDERER).decode())
        return transfer
    raise ReplayError(f"the heights cannot be brought to OpenGL: {'; '.join(failed)}")


def recover(cuda: Any, stream: Any) -> None:
    """After a failed attempt, leave no error behind in OpenGL, and see that CUDA still works.

    A failed call of the driver API is told by its own result and leaves nothing behind: the error that
    sticks until it is asked for is the runtime API's, which is not used here. What does stick is a broken
    context, which every later call reports. So there is nothing to clear, but something to look at.

    Raises:
        ReplayError: the context is broken.
    """
    forget_gl_errors()
    with cuda:
        status, *_ = cuda.driver.cuStreamQuery(stream)
    if int(status) not in (0, _NOT_READY):
        raise ReplayError(f"CUDA stopped working (error {int(status)})", remedy="open the capture again")


def forget_gl_errors() -> None:
    """Take the errors that OpenGL keeps until it is asked; a lost context has one for ever."""
    for _ in range(16):
        if GL.glGetError() == GL.GL_NO_ERROR:
            break


def hint(renderer: str) -> str:
    """Return what to do about a renderer that cannot share with CUDA, or nothing."""
    if "nvidia" in renderer.lower() or "geforce" in renderer.lower() or "quadro" in renderer.lower():
        return ""
    return (
        f"; OpenGL runs on {renderer}: __NV_PRIME_RENDER_OFFLOAD=1 __GLX_VENDOR_LIBRARY_NAME=nvidia "
        "moves it to the NVIDIA GPU"
    )
