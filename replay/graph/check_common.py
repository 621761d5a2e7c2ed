"""What the checks of operations share: sizes of many regions at once, and telling a few faults of many."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from replay.graph.model import Fault, Region

SHOWN = 8  # faults of one kind that are told one by one


class RegionSizes:
    """Sizes of regions, looked up for many ids at once."""

    def __init__(self, regions: Mapping[int, Region]) -> None:
        self._ids = np.array(sorted(regions), np.int64)
        self._sizes = np.array([min(regions[ident].nbytes, 1 << 63) for ident in sorted(regions)], np.uint64)
        self._elements = np.array(
            [region.element.nbytes if (region := regions[ident]).element else 1 for ident in sorted(regions)],
            np.int64,
        )

    def find(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return whether each region exists, its size, and the size of its elements (1 if not known)."""
        if not len(self._ids):
            return np.zeros(len(ids), bool), np.zeros(len(ids), np.uint64), np.ones(len(ids), np.int64)
        place = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return self._ids[place] == ids, self._sizes[place], self._elements[place]


def some(rows: np.ndarray, tell: Callable[[int], Fault]) -> Iterator[Fault]:
    """Tell the first faults of one kind, and how many more there are."""
    for number, row in enumerate(rows[:SHOWN].tolist(), 1):
        fault = tell(row)
        if number == SHOWN < len(rows):
            rest = f"{fault.what} (and {len(rows) - SHOWN} more like it)"
            fault = Fault(fault.where, rest, fault.severity, fault.event, fault.offset, fault.field)
        yield fault
