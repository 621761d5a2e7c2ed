"""A lock between processes on one path: who publishes a capture now. Nothing here knows what is published.

A file of our own is locked, not the folder, which whoever may read it may lock too; and nobody waits forever.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from replay.errors import RecordingError

LONGEST_WAIT = 10.0  # s; publishing takes milliseconds
_PAUSE = 0.02
# what network file systems and some containers say in place of locking
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP}


@contextlib.contextmanager
def locked(path: Path, longest_wait: float = LONGEST_WAIT) -> Iterator[None]:
    """Hold the lock file of a path, which is removed afterwards; the system frees it if the process dies.

    Where the file system has no locks, nothing is held.

    Args:
        path: of the lock file, in a folder that exists.
        longest_wait: how long to wait for another process, in s.

    Raises:
        RecordingError: another process holds it for longer.
        OSError: the file cannot be made.
    """
    deadline = time.monotonic() + longest_wait
    while (handle := _try(path)) is None:
        if time.monotonic() > deadline:
            raise RecordingError(
                f"another process holds {path} for more than {longest_wait:g} s",
                remedy="wait for its end or stop it, then record again",
            )
        time.sleep(_PAUSE)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink()  # while it is held: who waits finds that it holds a file that is gone
        os.close(handle)
        if sys.platform == "win32":  # an open file cannot be removed there
            with contextlib.suppress(OSError):
                path.unlink()


def _try(path: Path) -> int | None:
    """Return a descriptor of the locked file, None if it is held or was just removed."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(path, flags, 0o600)
    try:
        if _lock(handle) and os.path.samestat(os.fstat(handle), os.lstat(path)):
            return handle
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
        return True
