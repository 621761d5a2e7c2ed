"""From a framebuffer to an array and a PNG file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from replay.errors import UsageError

if TYPE_CHECKING:
    from os import PathLike


def read_pixels(framebuffer: int, size: tuple[int, int]) -> np.ndarray:
    """Return what was drawn, as uint8 of shape (height, width, 3), top row first.

    Args:
        framebuffer: name of the framebuffer object, without multisampling; 0 for the window's back buffer.
        size: width and height in pixels.
    """
    from app.gl_platform import GL

    width, height = size
    pixels = np.empty((height, width, 3), np.uint8)
    GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, framebuffer)
    GL.glReadBuffer(GL.GL_COLOR_ATTACHMENT0 if framebuffer else GL.GL_BACK)
    GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
    GL.glBindBuffer(GL.GL_PIXEL_PACK_BUFFER, 0)
    GL.glReadPixels(0, 0, width, height, GL.GL_RGB, GL.GL_UNSIGNED_BYTE, pixels)
    return np.ascontiguousarray(pixels[::-1])


def save_png(path: str | PathLike[str], pixels: np.ndarray) -> Path:
    """Write pixels as a PNG file, whole or not at all.

    Raises:
        UsageError: the file cannot be written.
    """
    from PIL import Image

    path = Path(path)
    partial = path.with_name(f".{path.name}.part")
    try:
        Image.fromarray(pixels).save(partial, format="PNG")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise UsageError(
            f"cannot write {path} ({error.strerror or error})", remedy="name a file in a writable folder"
        ) from error
    return path
