"""All operations of a capture as a sequence whose items are made on access."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import overload

import numpy as np

from replay.graph import library
from replay.graph.arguments import ArgumentDecoder
from replay.graph.groups import group
from replay.graph.model import Access, Kernel, Operation, OpKind, Provenance, RegionUse
from replay.text import printable
from replay.wrp.layout import MAX_DIMS, RECORDS, gather
from replay.wrp.tables import OperationTable


class LazyOperations(Sequence[Operation]):
    """`operations[event]`: each operation is decoded when it is asked for, and not kept.

    Attributes:
        table: the operations as parallel arrays, for whoever must look at all of them.
    """

    def __init__(
        self,
        data: bytes,
        table: OperationTable,
        decoder: ArgumentDecoder,
        kernels: dict[tuple[bytes, bytes], Kernel],
    ) -> None:
        self.table = table
        self._data = data
        self._decoder = decoder
        self._kernels = [kernels.get(name) for name in table.launches.names]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def source_access(self) -> Mapping[tuple[str, str], tuple[Access | None, ...]]:
        """What packaged source says of kernel arguments, see `ArgumentDecoder.source`."""
        return self._decoder.source

    @overload
    def __getitem__(self, event: int) -> Operation: ...
    @overload
    def __getitem__(self, event: slice) -> list[Operation]: ...
    def __getitem__(self, event: int | slice) -> Operation | list[Operation]:
        if isinstance(event, slice):
            return [self._make(number) for number in range(*event.indices(len(self)))]
        number = event + len(self) if event < 0 else event
        if not 0 <= number < len(self):
            raise IndexError(f"event {event} of {len(self)}")
        return self._make(number)

    def with_data(self, data: bytes) -> LazyOperations:
        """Return the same operations over a file in which only value bytes of launches differ.

        Types that were inferred stay as they are, so that an edited number does not change its type.
        """
        other = copy.copy(self)
        other._data = data
        other._decoder = dataclasses.replace(self._decoder, data=data)
        return other

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """In words, what folding may treat as equal; `label_of` indexes it by event. Words may repeat."""
        return self._labelled[0]

    @cached_property
    def label_of(self) -> np.ndarray:
        """Index into `labels` of each event: equal for launches of one kernel and shape, or equal records."""
        return self._labelled[1]

    @cached_property
    def _labelled(self) -> tuple[tuple[str, ...], np.ndarray]:
        table, launches = self.table, self.table.launches
        codes = np.empty(len(table), np.int64)
        labels: list[str] = []
        seen: dict[bytes, int] = {}
        for event in np.flatnonzero(table.launch_row < 0).tolist():
            kind, offset = int(table.kinds[event]), int(table.offsets[event])
            # Of a conditional only what it asks, its branches are compared by whoever folds.
            nbytes = 24 if kind in (OpKind.IF, OpKind.WHILE) else int(table.sizes[event])
            record = self._data[offset : offset + 4] + self._data[offset + 8 : offset + nbytes]
            number = seen.setdefault(record, len(labels))
            if number == len(labels):
                labels.append(OpKind(kind).name)
            codes[event] = number
        if len(launches.events):
            ndim, shape = launches.records["ndim"], launches.records["shape"]
            first, numbers = group(launches.name_of, ndim, *shape.T)
            codes[launches.events] = numbers + len(labels)
            for row in first.tolist():
                key = printable(launches.names[launches.name_of[row]][0].decode("utf-8", "backslashreplace"))
                sides = shape[row, : min(max(int(ndim[row]), 0), MAX_DIMS)].tolist()
                labels.append(f"{key} {sides}")
        return tuple(labels), codes

    def _make(self, event: int) -> Operation:
        table = self.table
        frame = table.frames[table.frame_of[event]]
        kind = OpKind(int(table.kinds[event]))
        offset, nbytes = int(table.offsets[event]), int(table.sizes[event])
        parent = frame.parent if frame.parent >= 0 else None
        index = int(table.index[event])
        if kind is OpKind.KERNEL_LAUNCH:
            row = int(table.launch_row[event])
            launches = table.launches
            record, name = launches.records[row], int(launches.name_of[row])
            arguments = self._decoder.decode(row)
            return Operation(
                event, index, kind, offset, nbytes, frame.depth, parent, frame.branch,
                key=printable(launches.names[name][0].decode("utf-8", "backslashreplace")),
                kernel=self._kernels[name],
                shape=tuple(record["shape"][: min(max(int(record["ndim"]), 0), MAX_DIMS)].tolist()),
                block_dim=int(record["block_dim"]),
                is_forward=bool(record["is_forward"]),
                arguments=arguments,
                uses=self._decoder.uses(arguments),
            )  # fmt: skip
        fixed = RECORDS[kind]
        records = gather(self._data, fixed, np.array([offset]))
        inline = self._data[offset + fixed.itemsize : offset + min(nbytes, fixed.itemsize + 256)]
        target = None
        if kind is OpKind.MEMTILE:
            target = self._decoder.regions.get(int(records["region"][0]))
        uses = tuple(
            RegionUse(
                int(column.region[0]),
                int(column.offset[0]),
                int(column.nbytes[0]),
                column.access,
                Provenance.KNOWN,
                column.label,
            )
            for column in library.columns(kind, records)
            if column.region[0] >= 0
        )
        return Operation(
            event, index, kind, offset, nbytes, frame.depth, parent, frame.branch,
            details=library.details(kind, records[0], inline, target),
            uses=uses,
            children=table.children.get(event, ()),
        )  # fmt: skip
