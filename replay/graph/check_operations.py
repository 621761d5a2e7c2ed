"""What is wrong with operations whose records can be read: all of them, and library calls in particular.

Everything is looked at for all operations at once. Of one kind of fault only the first few are told, and
how many more there are: a broken file must not fill memory with its faults.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from replay.graph import library
from replay.graph.check_common import SHOWN, RegionSizes, some
from replay.graph.check_contents import check_contents
from replay.graph.check_launches import LaunchChecker
from replay.graph.check_values import ValueChecker
from replay.graph.descriptors import Descriptors
from replay.graph.model import Fault, OpKind, Region, Severity
from replay.wrp import layout
from replay.wrp.document import Document
from replay.wrp.layout import DeviceType
from replay.wrp.tables import OperationTable

BLOCKS, NOTE = Severity.BLOCKS_REPLAY, Severity.NOTE
_PROCESS_LOCAL = (OpKind.BVH_REFIT, OpKind.BVH_REBUILD, OpKind.HASH_GRID_UPDATE)


def check_operations(
    data: bytes,
    document: Document,
    descriptors: Descriptors,
    regions: Mapping[int, Region],
    known: set[tuple[bytes, bytes]],
) -> Iterator[Fault]:
    """Return the faults of all operations; see `checks.check_document` for the arguments."""
    table = document.operations
    assert table is not None
    sizes = RegionSizes(regions)
    cpu = document.header.device_type == DeviceType.CPU
    yield from _trailing(table)
    yield from _library(data, table, sizes, cpu)
    if len(table.launches.events):
        checker = LaunchChecker(data, document, table, descriptors, sizes)
        yield from checker.kernels(known)
        yield from checker.bounds()
        yield from checker.arguments()
        yield from checker.pointers()
        yield from checker.arrays()
        yield from checker.baked_pointers()
        yield from ValueChecker(table, descriptors, sizes).check(data)
        yield from check_contents(data, table, descriptors, regions)


def _trailing(table: OperationTable) -> Iterator[Fault]:
    for offset, nbytes, frame in table.trailing[:SHOWN]:
        parent = table.frames[frame].parent
        where = "operations" if parent < 0 else f"operation {parent}, {table.frames[frame].branch}"
        what = f"{nbytes} bytes follow the last operation of the stream"
        yield Fault(where, what, NOTE, parent if parent >= 0 else None, offset, "operations")


@dataclass(frozen=True)
class _Records:
    """All operations of one type, and where faults of them lie."""

    kind: OpKind
    table: OperationTable
    events: np.ndarray
    records: np.ndarray

    def fault(self, row: int, what: str, name: str) -> Fault:
        """Return a fault of the field `name` of one of them."""
        event = int(self.events[row])
        fields = layout.RECORDS[self.kind].fields
        offset = int(self.table.offsets[event])
        if fields is not None and name in fields:
            offset += fields[name][1]
        where = f"operation {event}, {self.kind.name}"
        return Fault(where, what, BLOCKS, event, offset, f"{self.table.field_of(event)}.{name}")

    def told(self, wrong: np.ndarray, what: str, name: str, *columns: np.ndarray) -> Iterator[Fault]:
        """Tell of the rows that are wrong; `what` is filled in from the columns."""
        yield from some(
            np.flatnonzero(wrong),
            lambda row: self.fault(row, what.format(*(int(column[row]) for column in columns)), name),
        )


def _library(data: bytes, table: OperationTable, sizes: RegionSizes, cpu: bool) -> Iterator[Fault]:
    for kind in OpKind:
        if kind is OpKind.KERNEL_LAUNCH or not (table.kinds == kind).any():
            continue
        these = _Records(kind, table, *table.records(data, kind))
        every = np.ones(len(these.events), bool)
        if kind in _PROCESS_LOCAL:
            yield from these.told(
                every, "needs an object of the process that captured; Warp loads no such file", "op_type"
            )
        if kind is OpKind.MEMCPY_D2H:
            yield from these.told(every, "a reserved operation type, which Warp does not load", "op_type")
        if kind is OpKind.MEMCPY_H2D and cpu:
            yield from these.told(every, "Warp's replay on the CPU leaves this operation out", "op_type")
        yield from _values(these)
        for column in library.columns(kind, these.records):
            yield from _buffer(these, column, sizes)


def _buffer(these: _Records, column: library.Column, sizes: RegionSizes) -> Iterator[Fault]:
    """A buffer must lie in a region that the file holds."""
    names = these.records.dtype.names or ()
    stem = {"condition": "cond_", "region": ""}.get(column.label, f"{column.label}_")
    stem = stem if f"{stem}region" in names else ""
    exists, size, _ = sizes.find(column.region)
    absent = column.region < 0
    label = column.label
    yield from these.told(absent & column.required, f"{label} names no region", f"{stem}region")
    yield from these.told(
        ~absent & ~exists,
        f"{label} is region {{0}}, which the file does not hold",
        f"{stem}region",
        column.region,
    )
    room = size - np.minimum(column.offset, size)
    yield from these.told(
        exists & ~absent & ((column.offset > size) | (column.nbytes > room)),
        f"{label}: {{0}} bytes from byte {{1}} leave region {{2}} of {{3}} bytes",
        f"{stem}offset",
        column.nbytes,
        column.offset,
        column.region,
        size,
    )


def _values(these: _Records) -> Iterator[Fault]:
    """Numbers of library operations that Warp's validator would refuse."""
    kind, records = these.kind, these.records
    types = {
        OpKind.SCAN: (1, 3, 5, 6), OpKind.REDUCTION: (5, 6), OpKind.SEGMENTED_SORT: (1, 5),
        OpKind.RADIX_SORT: (1, 2, 3, 4, 5, 6),
    }  # fmt: skip
    bad: list[tuple[np.ndarray, str]] = []
    if kind in types:
        bad.append((~np.isin(records["dtype"], types[kind]), "dtype"))
    if kind is OpKind.SCAN:
        filled = records["length"] > 0
        bad += [(filled & (records[name] < 0), name) for name in ("in_stride", "out_stride")]
        bad += [(filled & (records["type_len"] <= 0), "type_len"), (records["inclusive"] > 1, "inclusive")]
    if kind is OpKind.REDUCTION:
        bad += [
            ((records["kind"] < 1) | (records["kind"] > 2), "kind"),
            (records["type_len"] <= 0, "type_len"),
        ]
        bad += [((records["count"] == 0) | (records["count"] >= 1 << 31), "count")]
        bad += [(records[name] < 0, name) for name in ("input_a_stride", "input_b_stride")]
    if kind is OpKind.RADIX_SORT:
        bits = 8 * layout.SCALAR_SIZES[np.clip(records["dtype"], 0, 7)]
        begin, end = records["begin_bit"].astype(np.int64), records["end_bit"].astype(np.int64)
        bad += [(begin < 0, "begin_bit"), ((end < begin) | (end > bits), "end_bit")]
        bad += [(~np.isin(records["value_size"], (4, 8)), "value_size")]
    if kind in (OpKind.BSR_FROM_TRIPLETS, OpKind.BSR_TRANSPOSE):
        names = ["row_count", "col_count", "nnz_upper_bound"]
        names += ["block_size", "scalar_size"] if kind is OpKind.BSR_FROM_TRIPLETS else []
        bad += [(records[name] < 0, name) for name in names]
    for wrong, name in bad:
        yield from these.told(wrong, f"{name} is {{0}}, which makes no sense", name, records[name])
