"""What is wrong with the values of launches: how they lie, and which pointers in them are patched.

Warp's loader copies the values one behind the other by size and alignment and patches pointers where the
relocations say. It trusts both: a value that is too short or a pointer that is not patched lets a kernel read
what was never meant. Warp lays values out in one way only (`_pack_param_record` in its `apic/capture.py`), so
any other is damage. Where pointers lead is looked at in `check_launches`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from replay.graph.check_common import LaunchPlaces, RegionSizes, some
from replay.graph.descriptors import Descriptors
from replay.graph.model import Fault
from replay.wrp import layout
from replay.wrp.tables import OperationTable

_ALIGNMENTS = (1, 2, 4, 8)
_POINTER = 8


class ValueChecker(LaunchPlaces):
    """The checks of the values of all launches of one file."""

    def __init__(self, table: OperationTable, descriptors: Descriptors, sizes: RegionSizes) -> None:
        super().__init__(table)
        self._found, self._sizes = descriptors, sizes

    def check(self, data: bytes) -> Iterator[Fault]:
        """Return all faults."""
        yield from self._layout()
        yield from self._slots()
        yield from self._descriptors()
        yield from self._gradients()
        yield from self._index_lists(data)

    def _layout(self) -> Iterator[Fault]:
        """Values follow each other, each at its alignment, from the first byte to the last."""
        launches, params = self.launches, self.launches.params
        offset, size, align = (
            params[name].astype(np.int64) for name in ("value_offset", "value_size", "value_align")
        )
        places = {"value_offset": 4, "value_size": 8, "value_align": 12}

        def told(wrong: np.ndarray, what: str, name: str, *columns: np.ndarray) -> Iterator[Fault]:
            yield from some(
                np.flatnonzero(wrong),
                lambda param: self.at_param(
                    param,
                    what.format(*(int(column[param]) for column in columns)),
                    int(launches.param_base[param]) + places[name],
                    f"params[{{}}].{name}",
                ),
            )

        known = np.isin(align, _ALIGNMENTS)
        pointers = params["num_relocs"] > 0
        yield from told(~known, "an alignment of {0} bytes; 1, 2, 4 or 8 expected", "value_align", align)
        yield from told(
            known & pointers & (align != _POINTER),
            "an alignment of {0} bytes for a value with pointers, which have 8", "value_align", align,
        )  # fmt: skip
        step = np.where(known, align, 1)
        yield from told(
            size % step != 0, "{0} bytes, which are no whole number of {1}, its alignment", "value_size",
            size, step,
        )  # fmt: skip
        before = np.zeros(len(params), np.int64)
        before[1:] = (offset + size)[:-1]
        first = launches.param_slot == 0
        before[first] = 0
        expected = -(-before // step) * step
        yield from told(
            known & (offset != expected),
            "its value lies at byte {0} of the values, {1} expected behind those before", "value_offset",
            offset, expected,
        )  # fmt: skip
        total = np.zeros(len(launches.events), np.int64)
        filled = launches.param_start[1:] > launches.param_start[:-1]
        total[filled] = (offset + size)[launches.param_start[1:][filled] - 1]
        claimed = launches.records["value_data_size"].astype(np.int64)
        yield from some(
            np.flatnonzero(total != claimed),
            lambda row: self.at_launch(
                row, f"{int(claimed[row])} bytes of values, but its arguments end at {int(total[row])}",
                "value_data_size",
            ),
        )  # fmt: skip

    def _slots(self) -> Iterator[Fault]:
        """Each relocation patches an aligned slot of its own that belongs to an array or is a handle."""
        launches = self.launches
        slot = launches.relocs["value_byte_offset"].astype(np.int64)
        crooked = slot % _POINTER != 0
        again = np.zeros(len(slot), bool)
        again[1:] = (launches.reloc_param[1:] == launches.reloc_param[:-1]) & (
            slot[1:] < slot[:-1] + _POINTER
        )
        for wrong, what in (
            (crooked, "patches byte {0}, which is no place of a pointer"),
            (~crooked & again, "patches byte {0}, not behind the relocation before it"),
            (
                ~crooked & ~again & self._found.loose,
                "patches byte {0}, where no array lies in the argument",
            ),
        ):
            yield from some(
                np.flatnonzero(wrong),
                lambda number, what=what: self.reloc_fault(  # type: ignore[misc]
                    number, what.format(int(slot[number])), 0, "value_byte_offset"
                ),
            )

    def _descriptors(self) -> Iterator[Fault]:
        """Arrays in one argument do not overlap, and an array with elements has a pointer to them."""
        found = self._found
        size = np.where(found.indexed, layout.INDEXED_ARRAY.itemsize, layout.ARRAY.itemsize)
        overlap = np.zeros(len(found), bool)
        overlap[1:] = (found.param[1:] == found.param[:-1]) & (found.at[1:] < (found.at + size)[:-1])
        yield from some(
            np.flatnonzero(overlap),
            lambda row: self.reloc_fault(
                int(found.reloc[row]), f"an array at byte {int(found.at[row])} lies in the one before it", 0,
                "value_byte_offset",
            ),
        )  # fmt: skip
        nowhere = (found.region < 0) & (found.cells > 0)
        yield from some(
            np.flatnonzero(nowhere),
            lambda row: self.reloc_fault(
                int(found.reloc[row]),
                f"an array of {found.cells[row]:.0f} elements without memory",
                16,
                "kind",
            ),
        )

    def _gradients(self) -> Iterator[Fault]:
        """The gradient of an array has its shape and strides: a backward launch reaches as far there."""
        found = self._found
        backward = self.launches.records["is_forward"][self.launches.param_launch[found.param]] == 0
        exists, size, _ = self._sizes.find(found.grad_region)
        low, high = found.reach
        start = found.grad_offset.astype(np.float64)
        leaves = (start + low < 0) | (start + high >= size.astype(np.float64))
        wrong = backward & (found.grad_region >= 0) & exists & found.sane & (found.cells > 0) & leaves
        yield from some(
            np.flatnonzero(wrong),
            lambda row: self.reloc_fault(
                int(found.reloc[row]) + 1,
                f"the gradient reaches bytes {int(start[row] + low[row])} to "
                f"{int(start[row] + high[row])} of region {int(found.grad_region[row])}, which has "
                f"{int(size[row])} bytes",
                8, "region_offset",
            ),
        )  # fmt: skip

    def _index_lists(self, data: bytes) -> Iterator[Fault]:
        """The index lists of an indexed array are as long as its shape says."""
        found, relocs = self._found, self.launches.relocs
        rows = np.flatnonzero(found.indexed)
        if not len(rows):
            return
        sides = layout.gather(data, layout.INDEXED_ARRAY, found.base[rows])["shape"].astype(np.int64)
        for axis in range(layout.MAX_DIMS):
            number = found.reloc[rows] + 2 + axis
            region = relocs["region"][number].astype(np.int64)
            exists, size, _ = self._sizes.find(region)
            start = relocs["region_offset"][number].astype(np.float64)
            end = start + 4 * sides[:, axis]
            wrong = (relocs["kind"][number] == layout.RelocKind.DATA_PTR) & exists
            wrong &= (sides[:, axis] < 0) | (end > size.astype(np.float64))
            yield from some(
                np.flatnonzero(wrong),
                lambda n, number=number, axis=axis, region=region, size=size: self.reloc_fault(  # type: ignore[misc]
                    int(number[n]),
                    f"an index list of {int(sides[n, axis])} entries for dimension {axis + 1} leaves region "
                    f"{int(region[n])} of {int(size[n])} bytes",
                    8,
                    "region_offset",
                ),
            )
