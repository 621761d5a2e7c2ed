"""What an operation is, apart from the run that recorded it: numbers that are equal for equal operations.

The bytes of a capture differ from run to run: Warp leaves addresses of the recording process where pointers
belong. Here these are masked, regions are known by their names, and handles by the mesh that they stand for.
Used to compare captures.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import numpy as np

from replay.graph.baked import HIGHEST, NEAR, free_words, near_pointers, recorded_pointers
from replay.graph.check_contents import stale_arrays
from replay.graph.descriptors import Descriptors, find_descriptors
from replay.graph.model import Capture, OpKind
from replay.graph.operations import LazyOperations
from replay.wrp import layout
from replay.wrp.document import parse
from replay.wrp.layout import RelocKind
from replay.wrp.tables import LaunchTable

_PLACEHOLDER = b"\0unnamed"
_PROCESS_LOCAL = ("bvh_id", "grid_id")


class Signatures:
    """Signatures of all operations of a capture.

    Attributes:
        exact: equal for operations that are equal, regions without a name counted as equal.
        coarse: equal for operations of one kind: a kernel, or an operation type, at the same nesting.
        unnamed: per operation, the regions without a name that it uses, in the order of its fields.
    """

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self._region = {number: _region_key(region.names) for number, region in capture.regions.items()}
        self._mesh = {mesh.handle: str(number).encode() for number, mesh in enumerate(capture.meshes)}
        operations = capture.operations
        count = len(operations)
        self.exact: list[int] = [0] * count
        self.coarse: list[int] = [0] * count
        self.unnamed: list[tuple[int, ...]] = [()] * count
        if isinstance(operations, LazyOperations):
            self._launches(operations)
            self._others(operations)

    def _launches(self, operations: LazyOperations) -> None:
        table = operations.table
        launches, data = table.launches, masked_values(self.capture)
        fields = launches.records[["shape", "ndim", "block_dim", "is_forward"]]
        plain = np.zeros(len(fields), [("shape", "<u4", 4), ("ndim", "<i4"), ("block", "<i4"), ("way", "u1")])
        for old, new in zip(fields.dtype.names or (), plain.dtype.names or (), strict=True):
            plain[new] = fields[old]
        ndim = np.clip(plain["ndim"], 0, layout.MAX_DIMS)
        plain["shape"][np.arange(layout.MAX_DIMS) >= ndim[:, None]] = 0
        sizes = launches.params["value_size"].astype("<u4")
        base, nbytes = launches.blob_base.tolist(), launches.params["value_size"].tolist()
        first, relocs_from = launches.param_start.tolist(), launches.reloc_start.tolist()
        kind, region = launches.relocs["kind"].tolist(), launches.relocs["region"].tolist()
        offset, where = (
            launches.relocs["region_offset"].tolist(),
            launches.relocs["value_byte_offset"].tolist(),
        )
        names = launches.name_of.tolist()
        for row, event in enumerate(launches.events.tolist()):
            key = launches.names[names[row]][0]
            low, high = first[row], first[row + 1]
            parts = [key, b"\0", plain[row].tobytes(), sizes[low:high].tobytes()]
            parts += [data[base[param] : base[param] + nbytes[param]] for param in range(low, high)]
            unnamed = []
            for number in range(relocs_from[low], relocs_from[high]):
                target = self._target(kind[number], region[number], offset[number])
                if target == _PLACEHOLDER:
                    unnamed.append(region[number])
                # Of a handle the offset is the address that it had.
                shift = offset[number] if kind[number] == RelocKind.DATA_PTR else 0
                parts.append(b"%d %d %s %d\0" % (where[number], kind[number], target, shift))
            self._set(operations, event, key, b"".join(parts), unnamed)

    def _target(self, kind: int, region: int, offset: int) -> bytes:
        if kind == RelocKind.DATA_PTR:
            return self._region.get(region, b"\0missing")
        return self._mesh.get(offset, b"?") if kind == RelocKind.HANDLE else b""

    def _others(self, operations: LazyOperations) -> None:
        table, data = operations.table, self.capture.data
        for kind in OpKind:
            if kind is OpKind.KERNEL_LAUNCH or not (table.kinds == kind).any():
                continue
            events, records = table.records(data, kind)
            records = records.copy()
            names = [name for name in records.dtype.names or () if name != "total_size"]
            regions = [name for name in names if name == "region" or name.endswith("_region")]
            kept = [
                name
                for name in names
                if name not in regions
                and name not in _PROCESS_LOCAL
                and not name.startswith(("pad", "branch_"))
            ]
            inline = (table.sizes[events] - records.dtype.itemsize).tolist()
            for row, event in enumerate(events.tolist()):
                record, start = records[row], int(table.offsets[event]) + records.dtype.itemsize
                parts = [record[name].tobytes() for name in kept]
                unnamed = []
                for name in regions:
                    number = int(record[name])
                    target = self._region.get(number, b"\0none")
                    parts.append(target + b"\0")
                    if target == _PLACEHOLDER:
                        unnamed.append(number)
                if kind not in (OpKind.IF, OpKind.WHILE) and inline[row] > 0:
                    parts.append(data[start : start + inline[row]])
                self._set(operations, event, kind.name.encode(), b"".join(parts), unnamed)

    def _set(
        self, operations: LazyOperations, event: int, key: bytes, exact: bytes, unnamed: list[int]
    ) -> None:
        frame = operations.table.frames[operations.table.frame_of[event]]
        place = b"%d %s\0" % (frame.depth, frame.branch.encode())
        self.exact[event] = _number(place + exact)
        self.coarse[event] = _number(place + key)
        self.unnamed[event] = tuple(dict.fromkeys(unnamed))


def _number(text: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _region_key(names: tuple[str, ...]) -> bytes:
    return "\0".join(sorted(names)).encode("utf-8", "backslashreplace") or _PLACEHOLDER


def masked_values(capture: Capture) -> bytes:
    """Return the file with zeros where arguments hold pointers of the process that recorded them."""
    operations = capture.operations
    if not isinstance(operations, LazyOperations):
        return capture.data
    launches = operations.table.launches
    if not len(launches.relocs):
        return capture.data
    masked = np.frombuffer(capture.data, np.uint8).copy()
    slots = launches.blob_base[launches.reloc_param] + launches.relocs["value_byte_offset"].astype(np.int64)
    masked[(slots[:, None] + np.arange(8)).reshape(-1)] = 0
    found = find_descriptors(capture.data, launches)
    # Flags, the padding that ends a descriptor, and sides that no dimension uses may hold anything.
    if len(found):
        tail = layout.ARRAY.itemsize - 6
        masked[(found.base[:, None] + np.arange(tail, tail + 6)).reshape(-1)] = 0
        for axis in range(layout.MAX_DIMS):
            unused = found.base[found.ndim <= axis]
            for start in (16, 32):
                masked[(unused[:, None] + start + 4 * axis + np.arange(4)).reshape(-1)] = 0
    _mask_baked(masked, capture, launches, found)
    result: bytes = masked.tobytes()
    return result


def _mask_baked(masked: np.ndarray, capture: Capture, launches: LaunchTable, found: Descriptors) -> None:
    """Put the number of the mesh in the place of its address, and nothing in that of another object.

    Such ids are passed as numbers. Only what is a handle of the capture, or lies where the memory of the
    recording process lay, is taken for one: a large number that is meant stays.
    """
    owners, places, values = free_words(capture.data, launches, found)
    inside = (values > np.uint64(NEAR)) & (values < np.uint64(HIGHEST)) & (values % np.uint64(8) == 0)
    rows = np.flatnonzero(inside)
    near = near_pointers(values[rows], recorded_pointers(capture.data, launches))
    numbers = {mesh.handle: number for number, mesh in enumerate(capture.meshes, 1)}
    for row, close in zip(rows.tolist(), near.tolist(), strict=True):
        number = numbers.get(int(values[row]), 0)
        if number or close:
            at = int(launches.blob_base[owners[row]]) + int(places[row])
            masked[at : at + 8] = np.frombuffer(number.to_bytes(8, "little"), np.uint8)


def stale_places(capture: Capture) -> dict[int, np.ndarray]:
    """Return where regions hold arrays of the recording process, see `check_contents.stale_arrays`."""
    operations = capture.operations
    if not isinstance(operations, LazyOperations):
        return {}
    found = find_descriptors(capture.data, operations.table.launches)
    return stale_arrays(capture.data, operations.table, found, capture.regions)


def stable_contents(capture: Capture, region: int, stale: Mapping[int, np.ndarray]) -> np.ndarray | None:
    """Return the initial bytes of a region as uint8, recorded addresses as zeros; None if there are none.

    Args:
        capture, region: what is asked for.
        stale: as `stale_places` returns it.
    """
    stated = capture.regions[region]
    if stated.data_offset is None:
        return None
    contents = np.frombuffer(capture.data, np.uint8, stated.nbytes, stated.data_offset)
    places = stale.get(region)
    if places is not None:
        contents = contents.copy()
        # The pointers to data and gradient, and what nobody sets at the end of a descriptor.
        for first, count in ((0, 16), (layout.ARRAY.itemsize - 6, 6)):
            contents[(places[:, None] + first + np.arange(count)).reshape(-1)] = 0
    if not capture.meshes:
        return contents
    metadata = parse(capture.data).metadata
    for place in metadata.handle_locations if metadata is not None else ():
        if int(place.value["region"]) != region:
            continue
        contents = contents.copy()
        start, step, count = (int(place.value[name]) for name in ("offset", "stride", "count"))
        slots = start + np.arange(min(count, len(contents)), dtype=np.int64) * min(step, len(contents))
        slots = slots[(slots >= 0) & (slots + 8 <= len(contents))]
        contents[(slots[:, None] + np.arange(8)).reshape(-1)] = 0
    return contents
