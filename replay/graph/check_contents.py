"""Whether regions hold addresses of the process that recorded them, which mean nothing in any other.

Warp patches pointers in the values of launches, not in memory: an array of structs that hold arrays is saved
with descriptors (`array_t`) that still point into the recording process, and a kernel that follows them reads
whatever lies there now. Only regions that launches take as arrays of elements so large are searched, and
those that are copied into such: others may hold leftovers of anything. Mesh handles in regions are another
matter: Warp lists and replaces them.

The rule for a replay: such contents are harmless if nobody reads what the region held before the frame,
because copies and fills replace all of it first, or because the manifest or packaged source says that kernels
only write it. Then they are worth a note. Otherwise a replay is refused. Which members of a struct a compiled
kernel follows cannot be told, so a kernel that takes only a number out of each struct is refused too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

import numpy as np

from replay.graph.baked import HIGHEST, near_pointers, recorded_pointers
from replay.graph.check_common import MORE, some
from replay.graph.descriptors import Descriptors, find_descriptors
from replay.graph.flow import data_flow
from replay.graph.groups import group
from replay.graph.model import Capture, Fault, OpKind, Region, Severity
from replay.graph.operations import LazyOperations
from replay.wrp import layout
from replay.wrp.tables import OperationTable

_CHUNK = 1 << 20  # words looked at at once, so that a search takes little memory
_WORDS = layout.ARRAY.itemsize // 8
_LOWEST = 1 << 40  # from here up, systems map memory for position-independent programs
_LARGEST_ELEMENT = 1 << 16
_STALE = "Warp cannot save structs with arrays inside an array"


def check_contents(
    data: bytes, table: OperationTable, found: Descriptors, regions: Mapping[int, Region]
) -> Iterator[Fault]:
    """Return the regions whose contents hold array descriptors of the recording process."""
    hits: list[tuple[Region, int, int, int]] = []
    for ident, places in stale_arrays(data, table, found, regions).items():
        region = regions[ident]
        at = (region.data_offset or 0) + int(places[0])
        (address,) = np.frombuffer(data, "<u8", 1, at).tolist()
        hits.append((region, int(places[0]), len(places), address))

    def tell(number: int) -> Fault:
        region, place, count, address = hits[number]
        return Fault(
            f"region {region.id}",
            f"its contents hold what look like {count} arrays of the process that recorded, the first at "
            f"{address:#x}: {_STALE}",
            Severity.BLOCKS_REPLAY,
            offset=(region.data_offset or 0) + place,
            field=f"region {region.id}",
        )

    yield from some(np.arange(len(hits)), tell)


def stale_arrays(
    data: bytes, table: OperationTable, found: Descriptors, regions: Mapping[int, Region]
) -> dict[int, np.ndarray]:
    """Return where in the initial contents descriptors of the recording process lie, by region, ascending."""
    pointers = recorded_pointers(data, table.launches)
    hits: dict[int, np.ndarray] = {}
    for ident, stride, first in _struct_arrays(data, table, found) if len(pointers) else ():
        region = regions.get(ident)
        if region is None or region.data_offset is None or region.nbytes < layout.ARRAY.itemsize:
            continue
        places = _descriptors_in(data, region.data_offset, region.nbytes, pointers)
        places = places[(places - first) % stride + layout.ARRAY.itemsize <= stride]
        if len(places):
            hits[ident] = places
    return hits


def harmless_where_overwritten(capture: Capture) -> Capture:
    """Return the capture with a note in the place of each refusal that its data flow takes back."""
    if not any(_STALE in fault.what for fault in capture.faults):
        return capture
    assert isinstance(capture.operations, LazyOperations)
    table = capture.operations.table
    flow = data_flow(capture)
    read = {
        region
        for region in stale_arrays(
            capture.data, table, find_descriptors(capture.data, table.launches), capture.regions
        )
        if flow.first_readers(region)
    }

    def judged(fault: Fault) -> Fault:
        # The last one that is told stands for those that are not.
        concerned = read if fault.what.endswith(MORE) else read & {int(fault.where.rpartition(" ")[2])}
        if concerned:
            return fault
        what = f"{fault.what}; it is overwritten before anything reads it"
        return dataclasses.replace(fault, what=what, severity=Severity.NOTE)

    faults = tuple(judged(fault) if _STALE in fault.what else fault for fault in capture.faults)
    return dataclasses.replace(capture, faults=faults)


def _struct_arrays(data: bytes, table: OperationTable, found: Descriptors) -> list[tuple[int, int, int]]:
    """Return region, element size and first byte of arrays whose elements have room for an array each.

    What is copied into such an array holds the same elements, as far as the first copy tells.
    """
    stride = found.strides[np.arange(len(found)), np.clip(found.ndim, 1, layout.MAX_DIMS) - 1]
    large = (found.region >= 0) & found.sane & (stride >= layout.ARRAY.itemsize)
    rows = np.flatnonzero(large & (found.offset < np.uint64(1 << 62)))
    first, _ = group(found.region[rows])
    known = {
        int(found.region[row]): (int(stride[row]), int(found.offset[row])) for row in rows[first].tolist()
    }
    _, copies = table.records(data, OpKind.MEMCPY_D2D)
    pending = list(known)
    sources: dict[int, list[tuple[int, int]]] = {}
    first, _ = group(copies["src_region"], copies["dst_region"])
    for copy in copies[first] if known else ():
        shift = int(copy["src_offset"]) - int(copy["dst_offset"])
        sources.setdefault(int(copy["dst_region"]), []).append((int(copy["src_region"]), shift))
    while pending:
        target = pending.pop()
        size, begin = known[target]
        for source, shift in sources.get(target, ()):
            if source not in known:
                known[source] = size, (begin + shift) % size
                pending.append(source)
    return [(ident, *place) for ident, place in known.items()]


def _descriptors_in(data: bytes, start: int, nbytes: int, stale: np.ndarray) -> np.ndarray:
    """Return the bytes of a region at which an `array_t` with elements and a likely address begins."""
    words = np.frombuffer(data, "<u8", nbytes // 8, start)
    last = len(words) - _WORDS
    places: list[np.ndarray] = []
    for begin in range(0, last + 1, _CHUNK):
        chunk = words[begin : min(begin + _CHUNK, last + 1)]
        rows = np.flatnonzero(_likely_address(chunk, stale))
        # The number of dimensions ends a descriptor, and is the rarest thing to see by chance.
        rank = words[rows + begin + _WORDS - 1]
        rows = rows[(rank & np.uint64(0xFFFF)) - np.uint64(1) < np.uint64(layout.MAX_DIMS)] + begin
        places.append(8 * rows[_is_array(layout.gather(data, layout.ARRAY, start + 8 * rows))])
    return np.concatenate(places) if places else np.zeros(0, np.int64)


def _likely_address(values: np.ndarray, stale: np.ndarray) -> np.ndarray:
    near = np.zeros(len(values), bool)
    plausible = np.flatnonzero((values > 0) & (values < HIGHEST) & (values % np.uint64(4) == 0))
    # Small arrays and large ones lie in different parts of a process.
    candidates = values[plausible]
    near[plausible] = near_pointers(candidates, stale) | (candidates >= np.uint64(_LOWEST))
    return near


def _is_array(records: np.ndarray) -> np.ndarray:
    """Whether bytes make sense as a descriptor of an array with elements, as Warp fills it in."""
    ndim = records["ndim"].astype(np.int64)
    live = np.arange(layout.MAX_DIMS) < ndim[:, None]
    shape, strides = records["shape"].astype(np.int64), records["strides"].astype(np.int64)
    element = np.abs(strides[np.arange(len(records)), np.clip(ndim, 1, layout.MAX_DIMS) - 1])
    padding = np.frombuffer(np.ascontiguousarray(records["pad"]).tobytes(), "<u4")
    gradient = records["grad"]
    result: np.ndarray = (
        (ndim >= 1)
        & (ndim <= layout.MAX_DIMS)
        & (records["flags"] < 16)
        & (padding == 0)
        & np.where(live, (shape > 0) & (strides != 0), (shape == 0) & (strides == 0)).all(axis=1)
        & (element <= _LARGEST_ELEMENT)
        & ((gradient == 0) | ((gradient < HIGHEST) & (gradient % np.uint64(4) == 0)))
    )
    return result
