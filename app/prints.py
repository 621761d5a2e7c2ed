"""What kernels print goes to the standard error, apart from the program's own text.

`printf` in a kernel writes through the C library to file descriptor 1, behind the back of `sys.stdout`.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def own_output(stream: TextIO) -> Iterator[TextIO]:
    """Give a stream to where the standard output goes, while descriptor 1 leads to the standard error.

    Args:
        stream: the standard output; one that is not descriptor 1, as in a test, is given back as it is.
    """
    try:
        apart = stream.fileno() == 1
    except (OSError, ValueError):
        apart = False
    if not apart:
        yield stream
        return
    stream.flush()
    place = os.dup(1)
    os.dup2(2, 1)
    own = os.fdopen(os.dup(place), "w", encoding=stream.encoding, errors=stream.errors)
    try:
        yield own
    finally:
        _flush_kernels()
        os.dup2(place, 1)
        os.close(place)
        with contextlib.suppress(OSError):  # a reader that went away was told before
            own.close()


def _flush_kernels() -> None:
    """Let the C library write what kernels printed, if any could have run."""
    if "warp" in sys.modules:
        import ctypes

        with contextlib.suppress(OSError, AttributeError, TypeError):
            (ctypes.cdll.ucrtbase if sys.platform == "win32" else ctypes.CDLL(None)).fflush(None)
