"""Different kernels under one name: a file keeps one of them for each module, whatever was launched.

Closures of one function, and the overloads of a generic kernel, share a name; the compiled module holds
them all and tells them apart by a hash, which a launch in the file does not have. Which of them a launch
was, nobody can say afterwards: `capture.audit` can while it is recorded.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from replay.graph.model import Fault, Severity
from replay.text import counted
from replay.wrp.document import KernelRecord
from replay.wrp.tables import LaunchTable

FIELD = "metadata.kernels.key"
"""The field of these faults, and of no others."""

# the forward function of a kernel: its name, a hash, the device
_SYMBOL = re.compile(rb"(.+)_[0-9a-f]{8}(?:_cpu|_cuda_kernel)_forward")
_ENTRY = re.compile(rb"\.entry\s+([\w$]+)")
_NAMED = 6  # events that one fault names


class Variants:
    """Finds kernels that stand for several, by what modules hold and how often they are launched."""

    def __init__(self, launches: LaunchTable | None) -> None:
        self._launches = launches
        self._rows = {} if launches is None else {name: row for row, name in enumerate(launches.names)}

    @property
    def launched_backward(self) -> set[tuple[str, str]]:
        """Key and module hash of the kernels that a launch runs backward."""
        if self._launches is None:
            return set()
        rows = np.unique(self._launches.name_of[self._launches.records["is_forward"] == 0])
        names = (self._launches.names[row] for row in rows.tolist())
        return {(key.decode("utf-8", "replace"), digest.decode("utf-8", "replace")) for key, digest in names}

    def faults(self, kernels: Sequence[KernelRecord], contents: bytes) -> Iterator[Fault]:
        """Return what is to know of the kernels of a module with these contents."""
        launches = self._launches
        if launches is None or not kernels:
            return
        bases: Counter[bytes] | None = None
        for kernel in kernels:
            found = _SYMBOL.fullmatch(kernel.forward_name.value.encode())
            row = self._rows.get((kernel.key.value.encode(), kernel.module_hash.value.encode()))
            if found is None or row is None:
                continue
            events = launches.events[launches.name_of == row]
            if len(events) < 2:  # one launch is the one that the file keeps
                continue
            if bases is None:
                bases = _compiled(contents)
            if bases[found[1]] > 1:
                yield _fault(kernel, bases[found[1]], events)


def _compiled(contents: bytes) -> Counter[bytes]:
    """Return how many forward functions a module holds of each name."""
    names = set(contents.split(b"\0")) | set(_ENTRY.findall(contents))
    return Counter(found[1] for name in names if (found := _SYMBOL.fullmatch(name)) is not None)


def _fault(kernel: KernelRecord, count: int, events: np.ndarray) -> Fault:
    listed = ", ".join(map(str, events[:_NAMED].tolist())) + (", ..." if len(events) > _NAMED else "")
    return Fault(
        f"kernel {kernel.key.value}",
        f"its module holds {counted(count, 'kernel')} of this name (closures, or types of a generic one), "
        f"and the file keeps {kernel.forward_name.value!r} alone: the {len(events)} launches, events "
        f"{listed}, replay as that one, whichever they were; record them under names of their own, as "
        "wp.Kernel(function, key=...) gives",
        Severity.NOTE,
        int(events[0]),
        kernel.offset,
        FIELD,
    )
