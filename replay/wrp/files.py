"""Opening files that a stranger made: regular files only, of a size we accept, without ever waiting.

A FIFO, a device, a folder or a loop of links ends as one clear error. What the bytes mean is not known here.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from replay.errors import CaptureFileError

SIZE_LIMIT = 8 << 30  # bytes; a capture holds a copy of all its memory regions
MODULE_SIZE_LIMIT = 1 << 30

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def capture_path(path: str | os.PathLike[str]) -> Path:
    """Return the path of a capture that was named with or without `.wrp`.

    A path that exists is taken as it is; else `.wrp` is added, as Warp does when it saves.
    """
    given = Path(path)
    if given.suffix == ".wrp" or (os.path.lexists(given) and not given.is_dir()):
        return given
    extended = given.with_name(given.name + ".wrp") if given.name else given
    return extended if os.path.lexists(extended) or not os.path.lexists(given) else given


class Peek:
    """The bytes of an open file, of which only the slices that are asked for are read.

    A file that shrinks meanwhile gives shorter slices, as bytes would at their end.
    """

    def __init__(self, file: BinaryIO, nbytes: int) -> None:
        self._file, self._nbytes = file, nbytes

    def __len__(self) -> int:
        return self._nbytes

    def __getitem__(self, part: slice) -> bytes:
        start, stop, _ = part.indices(self._nbytes)
        self._file.seek(start)
        return self._file.read(max(stop - start, 0))


def read_regular_file(
    path: Path, *, limit: int = SIZE_LIMIT, look: Callable[[Peek], None] | None = None
) -> bytes:
    """Return the contents of a regular file.

    Args:
        look: looks at the file before it is read whole, and raises where that would be in vain.

    Raises:
        CaptureFileError: it is missing, not readable, not a regular file, or larger than `limit` bytes.
    """
    shown = str(path)
    # O_NONBLOCK: opening a FIFO that nobody writes to must not wait.
    flags = (
        os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    )
    try:
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise CaptureFileError("no such file", path=shown, remedy="check the path") from None
    except ValueError as error:  # a null byte in the path
        raise CaptureFileError(f"not a path ({error})", path=repr(shown)) from None
    except OSError as error:
        # Windows refuses to open folders; say what it is rather than "permission denied".
        folder = isinstance(error, PermissionError) and path.is_dir()
        what = "not a regular file but a folder" if folder else error.strerror or str(error)
        raise CaptureFileError(what, path=shown) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            kind = next((name for test, name in _KINDS if test(status.st_mode)), "something else")
            raise CaptureFileError(f"not a regular file but {kind}", path=shown)
        if status.st_size > limit:
            raise CaptureFileError(
                f"{status.st_size} bytes are more than the limit of {limit} bytes", path=shown
            )
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            if look is not None:
                look(Peek(file, status.st_size))
                file.seek(0)
            return file.read(status.st_size)  # of the size asked for at once: no second copy of it
    except OSError as error:
        raise CaptureFileError(error.strerror or str(error), path=shown) from None
    finally:
        os.close(descriptor)
