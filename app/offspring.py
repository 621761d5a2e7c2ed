"""Processes that the code of a capture started on its own: found, told, and ended.

It is for accidents: code that means to hide can. Finding those that left their group needs Linux; where
processes have no groups, as on Windows, nothing is found.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from pathlib import Path

_SET_CHILD_SUBREAPER = 36  # `PR_SET_CHILD_SUBREAPER` of prctl(2), since Linux 3.4
_PATIENCE = 2.0  # s for the system to end what was killed


def adopt() -> None:
    """Let processes whose parent ended become children of this one, where the system can.

    A program that puts itself into the background, in a session of its own, is then still found here.
    """
    if sys.platform.startswith("linux"):
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> int:
    """End all children of this process and theirs, and return how many there were.

    Those that ended before and were never waited for count. This process must not have started any itself.
    """
    if not hasattr(os, "fork"):
        return 0
    count, deadline = 0, time.monotonic() + _PATIENCE
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return count
        if pid:
            count += 1
            continue
        found = descendants(os.getpid())
        for child in found:
            _kill(child)
        if time.monotonic() > deadline:
            return count + max(1, len(found))
        time.sleep(0.001)


def descendants(pid: int) -> list[int]:
    """Return the processes below one, nearest first; none where the system does not tell (`/proc`)."""
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            # the name, in brackets, may hold anything
            parent = int(place.read_text(errors="replace").rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(int(place.parent.name))
    found, waiting = [], [pid]
    while waiting:
        waiting = [child for parent in waiting for child in children.pop(parent, ())]
        found += waiting
    return found


def end_tree(pid: int) -> None:
    """End a child that leads a group of its own, the group, and what is known to be below the child."""
    if hasattr(os, "killpg"):
        _kill(pid, signal.SIGSTOP)  # it starts no more of them meanwhile
        below = descendants(pid)
        end_group(pid)
        for child in below:
            _kill(child)


def end_group(pid: int) -> bool:
    """End all processes of the group that a child leads or led; return whether there was one."""
    if not hasattr(os, "killpg"):
        return False
    try:
        os.killpg(pid, signal.SIGKILL)
    except OSError:
        return False
    return True


def _kill(pid: int, number: int = getattr(signal, "SIGKILL", signal.SIGTERM)) -> None:
    with contextlib.suppress(OSError):
        os.kill(pid, number)
