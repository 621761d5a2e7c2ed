"""The device a capture is made on: found by name, its free memory, and Warp kept quiet.

Warp is imported here when a device is asked for, not before.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from replay.errors import DeviceError
from replay.native import import_warp


def find_device(name: str) -> Any:
    """Return the Warp device of a name: `auto`, `cpu`, `cuda` or `cuda:N`; `auto` prefers CUDA.

    Raises:
        DeviceError: the name is none of these, or there is no such device.
    """
    kind, colon, number = name.partition(":")
    if not (
        name in ("auto", "cpu", "cuda")
        or (kind == "cuda" and colon and number.isascii() and number.isdigit())
    ):
        raise DeviceError(f"unknown device {name!r}", remedy="use auto, cpu, cuda or cuda:N")
    wp = import_warp()
    count = wp.get_cuda_device_count()
    if name == "cpu" or (name == "auto" and count == 0):
        return wp.get_device("cpu")
    if count == 0:
        raise DeviceError(f"device {name!r}: Warp finds no CUDA device here", remedy="use --device cpu")
    if number and int(number) >= count:
        last = f"cuda:{count - 1}"
        raise DeviceError(
            f"device {name!r}: there are {count} CUDA devices", remedy=f"the last one is {last}"
        )
    return wp.get_device(f"cuda:{int(number)}" if number else "cuda")


def free_memory(device: Any) -> int | None:
    """Return the free memory of a device in bytes, None where the system does not tell."""
    return int(device.free_memory) if device.is_cuda else free_host_memory()


def free_host_memory() -> int | None:
    """Return the memory in bytes that this process may still take, None where the system does not tell."""
    free = []
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError, IndexError):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            free.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    group = Path("/sys/fs/cgroup")
    with contextlib.suppress(OSError, ValueError):  # a container may be allowed less than the machine has
        free.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    return max(min(free), 0) if free else None


def size_text(nbytes: float) -> str:
    """Return a size for people, such as `1.5 GiB`."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if nbytes < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "bytes" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} TiB"
