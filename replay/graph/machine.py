"""What this machine has: memory that a replay on the CPU could take, and the processor's kind."""

from __future__ import annotations

import os
import platform
from pathlib import Path

# `e_machine` in ELF headers, by what `platform.machine()` says.
ELF_MACHINES = {"x86_64": 62, "amd64": 62, "aarch64": 183, "arm64": 183, "ppc64le": 21, "riscv64": 243}


def elf_machine() -> int | None:
    """Return the ELF number of this processor, None if it is not in our list."""
    return ELF_MACHINES.get(platform.machine().lower())


def available_memory() -> int | None:
    """Return the bytes of memory that a process can take without swapping; None if that cannot be told."""
    found = [value for value in (_meminfo(), _control_group()) if value is not None]
    if found:
        return min(found)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return _total()


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return None


def _control_group() -> int | None:
    """Return the limit of the container that this process runs in, if it has one."""
    for place in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            return int(Path(place).read_text(encoding="ascii"))
        except (OSError, ValueError):
            continue
    return None


def _total() -> int | None:
    """Return all physical memory, where the free part cannot be told (macOS)."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
