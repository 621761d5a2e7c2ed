"""What is wrong with operations whose records can be read: launches, pointers, arrays and library calls.

Everything is looked at for all operations at once. Of one kind of fault only the first `SHOWN` are told,
and how many more there are: a broken file must not fill memory with its faults.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from replay.graph import library
from replay.graph.descriptors import Descriptors
from replay.graph.model import Fault, OpKind, Region, Severity
from replay.wrp import layout
from replay.wrp.document import Document
from replay.wrp.layout import DeviceType, RelocKind
from replay.wrp.tables import OperationTable

BLOCKS, NOTE = Severity.BLOCKS_REPLAY, Severity.NOTE
SHOWN = 8
THREADS_SUSPICIOUS = 1 << 26  # a launch of more threads must have cells to match
THREADS_PER_CELL = 256
MAX_BLOCK = 1024
_PROCESS_LOCAL = (OpKind.BVH_REFIT, OpKind.BVH_REBUILD, OpKind.HASH_GRID_UPDATE)


class _Sizes:
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
    sizes = _Sizes(regions)
    cpu = document.header.device_type == DeviceType.CPU
    yield from _trailing(table)
    yield from _library(data, table, sizes, cpu)
    if len(table.launches.events):
        checker = _LaunchChecker(data, document, table, descriptors, sizes)
        yield from checker.kernels(known)
        yield from checker.bounds()
        yield from checker.arguments()
        yield from checker.pointers()
        yield from checker.arrays()
        yield from checker.baked_pointers()


def _trailing(table: OperationTable) -> Iterator[Fault]:
    for offset, nbytes, frame in table.trailing[:SHOWN]:
        parent = table.frames[frame].parent
        where = "operations" if parent < 0 else f"operation {parent}, {table.frames[frame].branch}"
        what = f"{nbytes} bytes follow the last operation of the stream"
        yield Fault(where, what, NOTE, parent if parent >= 0 else None, offset, "operations")


def _some(rows: np.ndarray, tell: Callable[[int], Fault]) -> Iterator[Fault]:
    """Tell the first faults of one kind, and how many more there are."""
    for number, row in enumerate(rows[:SHOWN].tolist(), 1):
        fault = tell(row)
        if number == SHOWN < len(rows):
            rest = f"{fault.what} (and {len(rows) - SHOWN} more like it)"
            fault = Fault(fault.where, rest, fault.severity, fault.event, fault.offset, fault.field)
        yield fault


def _library(data: bytes, table: OperationTable, sizes: _Sizes, cpu: bool) -> Iterator[Fault]:
    for kind in OpKind:
        if kind is OpKind.KERNEL_LAUNCH or not (table.kinds == kind).any():
            continue
        events, records = table.records(data, kind)
        names = layout.RECORDS[kind].fields or {}

        def place(
            row: int,
            what: str,
            field: str,
            severity: Severity = BLOCKS,
            events: np.ndarray = events,
            names: Mapping[str, tuple[object, ...]] = names,
            kind: OpKind = kind,
        ) -> Fault:
            event = int(events[row])
            at = names[field][1] if field in names else 0
            offset = int(table.offsets[event]) + (at if isinstance(at, int) else 0)
            return Fault(
                f"operation {event}, {kind.name}", what, severity, event, offset, f"{table.field_of(event)}.{field}"
            )  # fmt: skip

        if kind in _PROCESS_LOCAL or kind is OpKind.MEMCPY_D2H:
            why = (
                "is reserved"
                if kind is OpKind.MEMCPY_D2H
                else "needs an object that only its own process had"
            )
            yield from _some(
                np.arange(len(events)),
                lambda row, why=why: place(row, f"{why}; Warp loads no such operation", "op_type"),
            )  # type: ignore[misc]
        if kind is OpKind.MEMCPY_H2D and cpu:
            yield from _some(
                np.arange(len(events)),
                lambda row: place(row, "Warp's replay on the CPU leaves this operation out", "op_type"),
            )
        yield from _library_values(kind, records, place)
        for column in library.columns(kind, records):
            stem = "cond" if column.label == "condition" else "" if "region" in names else column.label
            prefix = f"{stem}_" if stem else ""
            exists, size, _ = sizes.find(column.region)
            absent = column.region < 0
            yield from _some(
                np.flatnonzero(absent & column.required),
                lambda row, c=column, p=prefix: place(row, f"{c.label} names no region", f"{p}region"),  # type: ignore[misc]
            )
            yield from _some(
                np.flatnonzero(~absent & ~exists),
                lambda row, c=column, p=prefix: place(  # type: ignore[misc]
                    row,
                    f"{c.label} is region {int(c.region[row])}, which the file does not hold",
                    f"{p}region",
                ),
            )
            beyond = (
                exists
                & ~absent
                & ((column.offset > size) | (column.nbytes > size - np.minimum(column.offset, size)))
            )
            yield from _some(
                np.flatnonzero(beyond),
                lambda row, c=column, p=prefix, s=size: place(  # type: ignore[misc]
                    row,
                    f"{c.label}: {int(c.nbytes[row])} bytes from byte {int(c.offset[row])} leave region "
                    f"{int(c.region[row])} of {int(s[row])} bytes",
                    f"{p}offset",
                ),
            )


def _library_values(
    kind: OpKind, records: np.ndarray, place: Callable[[int, str, str], Fault]
) -> Iterator[Fault]:
    """Check numbers of library operations that Warp's validator would refuse."""
    types = {
        OpKind.SCAN: (1, 3, 5, 6), OpKind.REDUCTION: (5, 6), OpKind.SEGMENTED_SORT: (1, 5),
        OpKind.RADIX_SORT: (1, 2, 3, 4, 5, 6),
    }  # fmt: skip
    bad: list[tuple[np.ndarray, str]] = []
    if kind in types:
        bad.append((~np.isin(records["dtype"], types[kind]), "dtype"))
    if kind is OpKind.SCAN:
        some = records["length"] > 0
        bad += [(some & (records[name] < 0), name) for name in ("in_stride", "out_stride")]
        bad += [(some & (records["type_len"] <= 0), "type_len"), (records["inclusive"] > 1, "inclusive")]
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
        yield from _some(
            np.flatnonzero(wrong),
            lambda row, name=name: place(
                row, f"{name} is {int(records[name][row])}, which makes no sense", name
            ),  # type: ignore[misc]
        )


class _LaunchChecker:
    """The checks of all launches of one file."""

    def __init__(
        self, data: bytes, document: Document, table: OperationTable, descriptors: Descriptors, sizes: _Sizes
    ) -> None:
        self._data, self._document, self._table, self._found = data, document, table, descriptors
        self._launches, self._sizes = table.launches, sizes

    def _at_launch(self, row: int, what: str, field: str, severity: Severity = BLOCKS) -> Fault:
        event = int(self._launches.events[row])
        fields = layout.LAUNCH.fields or {}
        place = fields[field][1] if field in fields else 80
        if field == "module_hash":
            place = 80 + int(self._launches.records["kernel_key_len"][row])
        offset = int(self._table.offsets[event]) + place
        return Fault(
            f"operation {event}", what, severity, event, offset, f"{self._table.field_of(event)}.{field}"
        )

    def _at_param(self, param: int, what: str, offset: int, field: str, severity: Severity = BLOCKS) -> Fault:
        row = int(self._launches.param_launch[param])
        event, slot = int(self._launches.events[row]), int(self._launches.param_slot[param])
        where = f"operation {event}, argument {slot + 1}"
        return Fault(
            where, what, severity, event, offset, f"{self._table.field_of(event)}.{field.format(slot)}"
        )

    def kernels(self, known: set[tuple[bytes, bytes]]) -> Iterator[Fault]:
        """Every launch must name a kernel of the metadata, with its module."""
        launches = self._launches
        missing = np.array([name not in known for name in launches.names], bool)
        keys = {key for key, _ in known}

        def tell(row: int) -> Fault:
            key, digest = launches.names[launches.name_of[row]]
            name = key.decode("utf-8", "backslashreplace")
            if key in keys:
                text = digest.decode("utf-8", "backslashreplace")
                return self._at_launch(
                    row, f"kernel {name!r} of module {text!r}, which is not listed", "module_hash"
                )
            return self._at_launch(row, f"kernel {name!r}, which the metadata do not list", "kernel_key")

        yield from _some(np.flatnonzero(missing[launches.name_of]), tell)

    def bounds(self) -> Iterator[Fault]:
        """Dimensions, thread counts and blocks."""
        records = self._launches.records
        ndim, threads = records["ndim"].astype(np.int64), records["size"]
        odd = (ndim < 1) | (ndim > layout.MAX_DIMS)
        yield from _some(
            np.flatnonzero(odd),
            lambda row: self._at_launch(
                row, f"a launch of {int(ndim[row])} dimensions, 1 to 4 expected", "ndim"
            ),
        )
        sides = np.where(np.arange(layout.MAX_DIMS) < ndim[:, None], records["shape"], 1).astype(np.float64)
        cells = np.prod(sides, axis=1)
        # Threads may be a multiple of the shape (folded axes); floats are exact far beyond what can run.
        uneven = ~odd & ((threads < cells) | (np.fmod(threads.astype(np.float64), np.maximum(cells, 1)) != 0))
        yield from _some(
            np.flatnonzero(uneven),
            lambda row: self._at_launch(
                row,
                f"{int(threads[row])} threads for a launch of shape {records['shape'][row][: ndim[row]].tolist()}",
                "size",
            ),
        )
        yield from _some(
            np.flatnonzero(records["dim"] != threads),
            lambda row: self._at_launch(
                row, f"{int(records['dim'][row])} threads, but size says {int(threads[row])}", "dim"
            ),
        )
        block = records["block_dim"]
        yield from _some(
            np.flatnonzero((block < 0) | (block > MAX_BLOCK)),
            lambda row: self._at_launch(
                row, f"a block of {int(block[row])} threads, at most {MAX_BLOCK}", "block_dim"
            ),
        )
        yield from self._idle_threads(np.maximum(cells, threads.astype(np.float64)))

    def _idle_threads(self, threads: np.ndarray) -> Iterator[Fault]:
        launch = self._launches.param_launch[self._found.param]
        largest = np.zeros(len(threads))
        np.maximum.at(largest, launch, self._found.cells)
        many = (threads > THREADS_SUSPICIOUS) & (threads > THREADS_PER_CELL * largest)
        yield from _some(
            np.flatnonzero(many),
            lambda row: self._at_launch(
                row,
                f"{int(threads[row])} threads, but its largest array has {int(largest[row])} cells",
                "shape",
            ),
        )

    def arguments(self) -> Iterator[Fault]:
        """Sizes, alignments and numbering; launches of one kernel must agree."""
        launches, params = self._launches, self._launches.params
        if not len(params):
            return
        align = params["value_align"].astype(np.int64)
        odd = (align > 128) | ((align & (align - 1)) != 0)

        def at(param: int, what: str, name: str, place: int, severity: Severity = BLOCKS) -> Fault:
            offset = int(launches.param_base[param]) + place
            return self._at_param(param, what, offset, f"params[{{}}].{name}", severity)

        yield from _some(
            np.flatnonzero(odd),
            lambda param: at(param, f"an alignment of {int(align[param])} bytes", "value_align", 12),
        )
        count = np.maximum(launches.records["num_params"].astype(np.int64), 1)
        expected = launches.param_slot % count[launches.param_launch] + 1
        yield from _some(
            np.flatnonzero(params["param_index"] != expected),
            lambda param: at(
                param, f"numbered {int(params['param_index'][param])}, {int(expected[param])} expected",
                "param_index", 0, NOTE,
            ),
        )  # fmt: skip
        # One kernel has one signature: the size that most of its launches state is taken for the right one.
        code = np.column_stack(
            [
                launches.name_of[launches.param_launch],
                launches.param_slot,
                params["value_size"].astype(np.int64),
            ]
        )
        distinct, inverse, counts = np.unique(code, axis=0, return_inverse=True, return_counts=True)
        if len(np.unique(distinct[:, :2], axis=0)) == len(distinct):
            return
        best: dict[tuple[int, int], tuple[int, int]] = {}
        for (name, slot, size), number in zip(distinct.tolist(), counts.tolist(), strict=True):
            best[name, slot] = max(best.get((name, slot), (0, 0)), (number, size))
        wrong = np.array([best[name, slot][1] != size for name, slot, size in distinct.tolist()], bool)

        def tell(param: int) -> Fault:
            name, slot, size = code[param].tolist()
            what = f"{size} bytes, but {best[name, slot][1]} in other launches of this kernel"
            return at(param, what, "value_size", 8)

        yield from _some(np.flatnonzero(wrong[inverse.reshape(-1)]), tell)

    def _reloc_fault(self, number: int, what: str, place: int, field: str) -> Fault:
        launches = self._launches
        param = int(launches.reloc_param[number])
        launch = int(launches.param_launch[param])
        position = number - int(launches.reloc_start[launches.param_start[launch]])
        offset = int(launches.reloc_base[number]) + place
        return self._at_param(param, what, offset, f"relocs[{position}].{field}")

    def pointers(self) -> Iterator[Fault]:
        """Relocations must lead into regions and to meshes that the file holds."""
        relocs = self._launches.relocs
        pointer = relocs["kind"] == RelocKind.DATA_PTR
        ids, offsets = relocs["region"].astype(np.int64), relocs["region_offset"]
        exists, size, _ = self._sizes.find(ids)
        yield from _some(
            np.flatnonzero(pointer & ~exists),
            lambda n: self._reloc_fault(
                n, f"a pointer to region {int(ids[n])}, which the file does not hold", 4, "region_id"
            ),
        )
        yield from _some(
            np.flatnonzero(pointer & exists & (offsets > size)),
            lambda n: self._reloc_fault(
                n, f"a pointer to byte {int(offsets[n])} of region {int(ids[n])}, which has {int(size[n])} bytes",
                8, "region_offset",
            ),
        )  # fmt: skip
        metadata = self._document.metadata
        handles = np.array(
            [int(mesh.value["original_ptr"]) for mesh in metadata.meshes] if metadata else [], np.uint64
        )
        stray = (relocs["kind"] == RelocKind.HANDLE) & ~np.isin(offsets, handles)
        yield from _some(
            np.flatnonzero(stray),
            lambda n: self._reloc_fault(
                n, f"a handle {int(offsets[n]):#x} to no mesh of the file", 8, "region_offset"
            ),
        )

    def arrays(self) -> Iterator[Fault]:
        """Array descriptors must have a shape that their region can hold."""
        found = self._found
        if not len(found):
            return

        def tell(row: int, what: str, place: int, severity: Severity = BLOCKS) -> Fault:
            names = {16: "shape", 32: "strides", 48: "ndim"}
            return self._at_param(
                int(found.param[row]),
                what,
                int(found.base[row]) + place,
                f"values[{{}}].{names[place]}",
                severity,
            )

        def shape(row: int) -> list[int]:
            return found.shape[row, : min(max(int(found.ndim[row]), 0), 4)].tolist()

        used = found.region >= 0
        odd_rank = used & ((found.ndim < 1) | (found.ndim > layout.MAX_DIMS))
        yield from _some(
            np.flatnonzero(odd_rank),
            lambda row: tell(row, f"an array of {int(found.ndim[row])} dimensions, 1 to 4 expected", 48),
        )
        negative = used & ~odd_rank & ~found.sane
        yield from _some(
            np.flatnonzero(negative), lambda row: tell(row, f"an array of shape {shape(row)}", 16)
        )
        exists, size, element = self._sizes.find(found.region)
        low, high = found.reach
        stride = np.where(found.live & (found.strides != 0), np.abs(found.strides), 1 << 40).min(
            axis=1, initial=1 << 40
        )
        width = np.minimum(element, np.where(stride < 1 << 40, stride, 1))
        start = found.offset.astype(np.float64)
        leaves = (start + low < 0) | (start + high + width > size.astype(np.float64))
        wrong = used & found.sane & exists & (found.cells > 0) & (found.offset <= size) & leaves
        yield from _some(
            np.flatnonzero(wrong),
            lambda row: tell(
                row,
                f"an array of shape {shape(row)} and strides {found.strides[row, : found.ndim[row]].tolist()} reaches "
                f"bytes {int(start[row] + low[row])} to {int(start[row] + high[row] + width[row])} of region "
                f"{int(found.region[row])}, which has {int(size[row])} bytes",
                16,
            ),
        )

    def baked_pointers(self) -> Iterator[Fault]:
        """8-byte values without relocation that look like addresses: they mean nothing in another process."""
        launches, params = self._launches, self._launches.params
        whole = np.flatnonzero((params["value_size"] == 8) & (params["num_relocs"] == 0))
        values = layout.gather(self._data, np.dtype("<u8"), launches.blob_base[whole])
        metadata = self._document.metadata
        handles = np.array(
            [int(mesh.value["original_ptr"]) for mesh in metadata.meshes] if metadata else [], np.uint64
        )
        # Heap and device addresses lie between 4 GiB and 2^47 and are aligned; doubles lie far above.
        address = (values >= 1 << 32) & (values < 1 << 47) & (values % 8 == 0)
        mesh = np.isin(values, handles)
        yield from _some(
            np.flatnonzero(address | mesh),
            lambda row: self._at_param(
                int(whole[row]),
                f"the value {int(values[row]):#x} looks like "
                + (
                    "the mesh handle of the capture"
                    if mesh[row]
                    else "an address of the process that captured"
                )
                + ", baked in as a number: a replay elsewhere may crash; pass meshes as wp.handle",
                int(launches.blob_base[whole[row]]),
                "values[{}]",
                NOTE,
            ),
        )
