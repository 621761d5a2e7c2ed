"""Which bytes of which regions each operation reads and writes, for all operations at once.

The same statements as `Operation.uses`, as parallel arrays, with better knowledge of access where there is
any: from packaged source (`source_access`) and from observation. A backward launch or a pointer in a struct
stays "assumed both" unless it was observed. Ranges are conservative: a strided view counts as the smallest
range of bytes that holds all of its elements, gaps included.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from replay.graph import library
from replay.graph.arguments import mesh_parts
from replay.graph.descriptors import find_descriptors
from replay.graph.model import Access, Capture, OpKind, Provenance
from replay.graph.operations import LazyOperations
from replay.wrp import layout
from replay.wrp.layout import RelocKind
from replay.wrp.tables import LaunchTable

PROVENANCES = (Provenance.KNOWN, Provenance.OBSERVED, Provenance.INFERRED, Provenance.ASSUMED)
"""From the strongest to the weakest; tables hold positions in it."""

KNOWN, OBSERVED, ASSUMED = 0, 1, 3
READ, WRITE, BOTH = Access.READ.value, Access.WRITE.value, Access.READ_WRITE.value
_NAMED_ACCESS = {"read": READ, "write": WRITE, "read_write": BOTH}
_FULL = (OpKind.MEMCPY_H2D, OpKind.MEMCPY_D2D, OpKind.MEMSET, OpKind.MEMTILE)

KernelAccess = Mapping[tuple[str, str], tuple[Access | None, ...]]
"""Access of each argument of a kernel by (key, module hash), None where nothing is known."""

Columns = tuple[np.ndarray, ...]
"""The columns of a `UseTable`, in order."""

Observed = Mapping[int, Collection[int]]
"""Regions whose bytes an event was seen to change, by event; an event that is not in it was not watched."""


@dataclass(frozen=True)
class UseTable:
    """Uses in event order, as parallel arrays.

    Attributes:
        event, region: who uses what.
        start, stop: byte range within the region, `start < stop <= size`.
        access: value of `Access`, 1 to 3.
        provenance: position in `PROVENANCES`.
        full: writes that certainly replace every byte of the range (copies and fills).
    """

    event: np.ndarray
    region: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    access: np.ndarray
    provenance: np.ndarray
    full: np.ndarray

    def __len__(self) -> int:
        return len(self.event)

    def take(self, rows: np.ndarray) -> UseTable:
        """Return some rows."""
        return UseTable(
            self.event[rows], self.region[rows], self.start[rows], self.stop[rows], self.access[rows],
            self.provenance[rows], self.full[rows],
        )  # fmt: skip


def use_table(
    capture: Capture, *, source: KernelAccess | None = None, observed: Observed | None = None
) -> UseTable:
    """Return all uses of regions that exist, clipped to them.

    Args:
        capture: the capture.
        source: access of kernel arguments; by default what packaged source says.
        observed: what was seen when prefixes were replayed. Writing the same bytes again is not seen, so a
            region that did not change counts as read only: that is why these stay "observed".
    """
    operations = capture.operations
    parts: list[Columns] = []
    if isinstance(operations, LazyOperations) and len(operations):
        known = operations.source_access if source is None else source
        parts += _launch_uses(capture, operations, known)
        parts += _library_uses(capture, operations)
    empty: Columns = (np.zeros(0, np.int64),) * 7
    event, region, start, stop, access, provenance, full = (
        np.concatenate(column) for column in zip(empty, *parts, strict=True)
    )
    table = UseTable(event, region, start, stop, access, provenance, full.astype(bool))
    return _observe(_clip(table, capture), observed or {})


def _clip(table: UseTable, capture: Capture) -> UseTable:
    """Keep what lies in a region, in event order."""
    ids = np.array(sorted(capture.regions), np.int64)
    if not len(ids) or not len(table):
        return table.take(np.zeros(0, np.int64))
    sizes = np.array([min(capture.regions[number].nbytes, 1 << 62) for number in ids.tolist()], np.int64)
    place = np.minimum(np.searchsorted(ids, table.region), len(ids) - 1)
    start = np.maximum(table.start, 0)
    stop = np.minimum(table.stop, sizes[place])
    keep = np.flatnonzero((ids[place] == table.region) & (stop > start) & (table.access > 0))
    keep = keep[np.argsort(table.event[keep], kind="stable")]
    clipped = UseTable(
        table.event, table.region, start, stop, table.access, table.provenance, table.full
    )  # fmt: skip
    return clipped.take(keep)


def _observe(table: UseTable, observed: Observed) -> UseTable:
    if not observed:
        return table
    access, provenance = table.access.copy(), table.provenance.copy()
    assumed = np.flatnonzero((table.provenance == ASSUMED) & np.isin(table.event, list(observed)))
    for row in assumed.tolist():
        written = int(table.region[row]) in observed[int(table.event[row])]
        access[row] = BOTH if written else READ
        provenance[row] = OBSERVED
    return UseTable(
        table.event, table.region, table.start, table.stop, access, provenance, table.full
    )  # fmt: skip


def _launch_uses(capture: Capture, operations: LazyOperations, source: KernelAccess) -> list[Columns]:
    launches = operations.table.launches
    relocs, owner = launches.relocs, launches.reloc_param
    if not len(relocs):
        return []
    access, provenance = _slot_access(capture, launches, source)
    pointers = relocs["kind"] == RelocKind.DATA_PTR
    start, stop, harmless, index = _extents(capture, launches)
    # Only a backward launch touches gradients; it also reads and writes what the forward signature denies.
    backward = launches.records["is_forward"][launches.param_launch[owner]] == 0
    rows = np.flatnonzero(pointers & ~(harmless & ~backward))
    param, listed = owner[rows], index[rows]
    reverse = backward[rows] & ~listed
    found: list[Columns] = [
        (
            launches.events[launches.param_launch[param]],
            relocs["region"][rows].astype(np.int64),
            start[rows],
            stop[rows],
            np.where(listed, READ, np.where(reverse, BOTH, access[param])),
            np.where(listed, KNOWN, np.where(reverse, ASSUMED, provenance[param])),
            np.zeros(len(rows), np.int64),
        )
    ]
    meshes = {mesh.handle: mesh_parts(mesh) for mesh in capture.meshes}
    for row in np.flatnonzero(relocs["kind"] == RelocKind.HANDLE).tolist() if meshes else ():
        event = int(launches.events[launches.param_launch[owner[row]]])
        for _, region, nbytes in meshes.get(int(relocs["region_offset"][row]), ()):
            one = (event, region, 0, nbytes, READ, ASSUMED, 0)
            found.append(tuple(np.array([value], np.int64) for value in one))
    return found


def _slot_access(
    capture: Capture, launches: LaunchTable, source: KernelAccess
) -> tuple[np.ndarray, np.ndarray]:
    """Return access and provenance of each argument of all launches."""
    kernels = {entry.key: entry.arguments for entry in capture.manifest.kernels} if capture.manifest else {}
    width = int(launches.param_slot.max(initial=0)) + 1
    access = np.full((len(launches.names), width), BOTH, np.int64)
    provenance = np.full((len(launches.names), width), ASSUMED, np.int64)
    forward = np.zeros(len(launches.names), np.int64)
    forward[launches.name_of] = launches.records["num_params"]
    for number, (key, module) in enumerate(launches.names):
        name = key.decode("utf-8", "backslashreplace"), module.decode("utf-8", "backslashreplace")
        shown = source.get(name, ())
        told = [None if one is None else one.value for one in shown] or [None] * int(forward[number])
        entries = kernels.get(name[0], ())
        if len(told) != forward[number]:
            told = [None] * int(forward[number])
        if len(entries) == forward[number]:  # the manifest counts first
            stated = [_NAMED_ACCESS.get(entry.access) for entry in entries]
            told = [own if own is not None else one for own, one in zip(stated, told, strict=True)]
        for slot, one in enumerate(told):
            if one is not None:
                access[number, slot], provenance[number, slot] = one, KNOWN
    names, slots = launches.name_of[launches.param_launch], launches.param_slot
    return access[names, slots], provenance[names, slots]


def _extents(capture: Capture, launches: LaunchTable) -> tuple[np.ndarray, ...]:
    """Return for each relocation first byte, end, whether it is a gradient, whether an index list."""
    relocs, found = launches.relocs, find_descriptors(capture.data, launches)
    start = np.minimum(relocs["region_offset"], np.uint64(1 << 62)).astype(np.int64)
    stop = np.full(len(relocs), 1 << 62, np.int64)
    gradient = np.zeros(len(relocs), bool)
    if len(found):
        low, high = (np.clip(side, -(2.0**61), 2.0**61).astype(np.int64) for side in found.reach)
        steps = np.where(found.live & (found.strides != 0), np.abs(found.strides), 1 << 62)
        size = np.where((steps < 1 << 62).any(axis=1), steps.min(axis=1), 1)
        numbers, which = np.unique(found.region, return_inverse=True)
        regions = [capture.regions.get(number) for number in numbers.tolist()]
        sizes = [one.element.nbytes if one and one.element else 0 for one in regions]
        element = np.array(sizes, np.int64)[which.reshape(-1)]
        size = np.where((element > 0) & (element <= size), element, size)
        origin = start[found.reloc]
        start[found.reloc] = origin + low
        empty = ((found.shape <= 0) & found.live).any(axis=1)
        stop[found.reloc] = np.where(empty, start[found.reloc], origin + high + size)
        # `find_descriptors` accepts an array only if its gradient's relocation follows.
        gradient[found.reloc + 1] = True
        _index_lists(capture, launches, found.reloc, found.at, found.index_relocs, start, stop)
    return start, stop, gradient, found.index_relocs


def _index_lists(
    capture: Capture,
    launches: LaunchTable,
    array: np.ndarray,
    at: np.ndarray,
    lists: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
) -> None:
    rows = np.flatnonzero(lists)
    before = np.searchsorted(array, rows) - 1
    place = launches.relocs["value_byte_offset"][rows].astype(np.int64) - at[before]
    base = launches.blob_base[launches.reloc_param[rows]] + at[before]
    # The sides after indexing follow the four pointers; a pointer without a list has kind NULL.
    counts = layout.gather(capture.data, np.dtype("<i4"), base + 88 + (place - 56) // 2)
    stop[rows] = start[rows] + 4 * np.maximum(counts.astype(np.int64), 0)


def _library_uses(capture: Capture, operations: LazyOperations) -> list[Columns]:
    found: list[Columns] = []
    table = operations.table
    for kind in OpKind:
        if kind is OpKind.KERNEL_LAUNCH or not (table.kinds == kind).any():
            continue
        events, records = table.records(capture.data, kind)
        for column in library.columns(kind, records):
            start = np.minimum(column.offset, np.uint64(1 << 61)).astype(np.int64)
            nbytes = np.minimum(column.nbytes, np.uint64(1 << 61)).astype(np.int64)
            constant = np.ones(len(events), np.int64)
            found.append(
                (
                    events, column.region, start, start + nbytes, column.access.value * constant,
                    KNOWN * constant, (kind in _FULL and column.access is Access.WRITE) * constant,
                )
            )  # fmt: skip
    return found
