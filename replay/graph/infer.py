"""Element types and shapes of memory regions.

The file stores bytes. What the manifest says is known; else the descriptors of array arguments, the
records of library operations, meshes and the contents are weighed, and the result is marked inferred.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from replay.elements import ElementType
from replay.errors import ParameterError
from replay.graph import library
from replay.graph.descriptors import Descriptors
from replay.graph.groups import group
from replay.graph.model import Binding, OpKind, Provenance, Region
from replay.graph.scalars import default_element, guess_element, guess_scalar, other_elements, plausibility
from replay.manifest import Manifest
from replay.wrp.document import Document, RegionRecord
from replay.wrp.layout import ScalarType
from replay.wrp.tables import OperationTable

_SAMPLE = 8192  # bytes looked at in each of three places of a region
_ARRAY_TYPE = re.compile(r"(?:indexed)?array(?:[1-4]d)?\[(\w+)\]$")


@dataclass
class _Evidence:
    """What speaks for the element type and shape of one region."""

    nbytes: int
    element: ElementType | None = None
    shape: tuple[int, ...] | None = None
    provenance: Provenance = Provenance.INFERRED
    step: int = 0  # greatest common divisor of offsets and strides that reach into it
    whole: tuple[int, ...] = ()  # shape of the contiguous view of all of it with the most dimensions
    slots: set[tuple[int, int, int]] = field(default_factory=set)
    candidates: tuple[str, ...] = ()  # other elements that the contents speak for


def array_element(type_name: str) -> ElementType | None:
    """Return the element type of `array2d[float32]` and the like, None for any other type."""
    match = _ARRAY_TYPE.match(type_name)
    try:
        return ElementType.named(match[1]) if match else None
    except ParameterError:
        return None


def infer_regions(
    data: bytes,
    document: Document,
    operations: OperationTable,
    descriptors: Descriptors,
    bindings: Iterable[Binding],
    manifest: Manifest | None,
) -> dict[int, Region]:
    """Return the regions by id, with element type and shape where they can be told."""
    evidence = {record.id: _Evidence(record.nbytes) for record in document.regions}
    names: dict[int, dict[str, None]] = {}  # each name once, in file order
    for binding in bindings:
        names.setdefault(binding.region, {})[binding.name] = None
    if manifest is not None:
        _from_parameters(evidence, names, manifest)
    _from_descriptors(evidence, operations, descriptors, manifest)
    _from_library(data, evidence, operations)
    _from_meshes(evidence, document)
    _from_index_lists(evidence, operations, descriptors)
    for record in document.regions:
        _from_contents(data, evidence[record.id], record)
    _from_slots(evidence)
    _from_neighbours(evidence, operations, descriptors)
    _from_copies(data, evidence, operations)
    _assume(evidence)
    return {
        record.id: _region(record, evidence[record.id], names.get(record.id, ()))
        for record in document.regions
    }


def _from_parameters(
    evidence: Mapping[int, _Evidence], names: Mapping[int, Iterable[str]], manifest: Manifest
) -> None:
    entries = {entry.name: entry for entry in manifest.parameters}
    for region, bound in names.items():
        target = evidence.get(region)
        for name in bound:
            if name in entries and target is not None:
                element, shape = ElementType.named(entries[name].dtype), tuple(entries[name].shape)
                if element.nbytes * math.prod(shape) == target.nbytes:
                    target.element, target.shape, target.provenance = element, shape, Provenance.KNOWN
                    break


def _from_descriptors(
    evidence: Mapping[int, _Evidence],
    operations: OperationTable,
    found: Descriptors,
    manifest: Manifest | None,
) -> None:
    launches = operations.launches
    use = found.sane & (found.region >= 0) & (found.cells > 0) & (found.offset < np.uint64(1 << 62))
    rows = np.flatnonzero(use)
    if not len(rows):
        return
    # Steps of dimensions that have more than one cell, and where the view starts.
    steps = np.where(found.live & (found.shape > 1), np.abs(found.strides), 0)[rows]
    step = np.gcd.reduce(np.column_stack([steps, found.offset[rows].astype(np.int64)]), axis=1)
    last = found.strides[rows, np.clip(found.ndim[rows], 1, 4) - 1]
    step = np.gcd(step, np.abs(last))
    order = np.argsort(found.region[rows], kind="stable")
    regions, starts = np.unique(found.region[rows][order], return_index=True)
    for region, value in zip(regions.tolist(), np.gcd.reduceat(step[order], starts).tolist(), strict=True):
        if region in evidence:
            evidence[region].step = int(value)
    _from_whole_views(evidence, found, rows)
    kind = launches.name_of[launches.param_launch[found.param]]
    slot = launches.param_slot[found.param]
    types = _argument_elements(operations, manifest)
    first, _ = group(found.region[rows], kind[rows], slot[rows], found.at[rows])
    for row in rows[first].tolist():
        entry = evidence.get(int(found.region[row]))
        if entry is None:
            continue
        place = (int(kind[row]), int(slot[row]), int(found.at[row]))
        entry.slots.add(place)
        element = types.get(place[:2])
        if element is not None and place[2] == 0 and entry.element is None:
            entry.element = element


def _from_whole_views(evidence: Mapping[int, _Evidence], found: Descriptors, rows: np.ndarray) -> None:
    """Remember the shape of the contiguous view of all of a region that has the most dimensions.

    The same array is often used flattened as well, which says less. Of equal ranks the first one counts.
    """
    rows = rows[(found.contiguous & (found.offset == 0))[rows]]
    # Clipped: a broken file may claim more than 64 bits hold.
    extents = np.minimum(found.cells[rows] * found.strides[rows, found.ndim[rows] - 1], 2.0**62).astype(
        np.int64
    )
    first, _ = group(found.region[rows], extents, found.ndim[rows])
    for position in np.sort(first).tolist():
        row, extent = int(rows[position]), int(extents[position])
        entry = evidence.get(int(found.region[row]))
        rank = int(found.ndim[row])
        if entry is not None and extent == entry.nbytes and rank > len(entry.whole):
            entry.whole = tuple(found.shape[row, :rank].tolist())


def _argument_elements(
    operations: OperationTable, manifest: Manifest | None
) -> dict[tuple[int, int], ElementType]:
    """Return the element types of array arguments that the manifest states, by kernel name and position."""
    found: dict[tuple[int, int], ElementType] = {}
    kernels = {entry.key: entry for entry in manifest.kernels} if manifest else {}
    for number, (key, _) in enumerate(operations.launches.names):
        entry = kernels.get(key.decode("utf-8", "backslashreplace"))
        for position, argument in enumerate(entry.arguments if entry else ()):
            element = array_element(argument.dtype)
            if element is not None:
                found[number, position] = element
    return found


def _from_library(data: bytes, evidence: Mapping[int, _Evidence], operations: OperationTable) -> None:
    for kind in OpKind:
        if kind is OpKind.KERNEL_LAUNCH or not (operations.kinds == kind).any():
            continue
        _, records = operations.records(data, kind)
        for column in library.columns(kind, records):
            first, _ = group(column.region, column.scalar, column.element_size)
            for row in first.tolist():
                scalar, size = int(column.scalar[row]), int(column.element_size[row])
                entry = evidence.get(int(column.region[row]))
                if entry is None:
                    continue
                if scalar in set(ScalarType) and entry.element is None:
                    entry.element = ElementType.named(ScalarType(scalar).element)
                if size:
                    entry.step = int(np.gcd(entry.step, size))


def _from_meshes(evidence: Mapping[int, _Evidence], document: Document) -> None:
    for mesh in document.metadata.meshes if document.metadata else ():
        for name, element in (
            ("points_region", "vec3f"),
            ("indices_region", "int32"),
            ("velocities_region", "vec3f"),
        ):
            entry = evidence.get(int(mesh.value[name]))
            if entry is not None and entry.element is None:
                entry.element = ElementType.named(element)


def _from_index_lists(
    evidence: Mapping[int, _Evidence], operations: OperationTable, descriptors: Descriptors
) -> None:
    for region in np.unique(operations.launches.relocs["region"][descriptors.index_relocs]).tolist():
        if region in evidence and evidence[region].element is None:
            evidence[region].element = ElementType.named("int32")


def _from_contents(data: bytes, entry: _Evidence, record: RegionRecord) -> None:
    if entry.element is not None or record.data_offset is None:
        return
    if entry.step:
        sample = sample_of(data, record, entry.step)
        entry.element = guess_element(sample, entry.step)
        if entry.element is not None and entry.step == 8:
            entry.candidates = other_elements(sample, entry.element)
    elif record.nbytes % 4 == 0:
        # Nothing says how large an element is: four bytes, if they make sense as such.
        sample = sample_of(data, record, 4)
        scalar = guess_scalar(sample, 4)
        if scalar is not None and (plausibility(sample, scalar) or 0.0) > 0.9:
            entry.element = ElementType.named(scalar)


def sample_of(data: bytes, record: RegionRecord, step: int) -> np.ndarray:
    """Return some whole elements of a region from its start, middle and end, as uint8."""
    if record.data_offset is None or step <= 0:
        return np.zeros(0, np.uint8)
    raw = np.frombuffer(data, np.uint8, record.nbytes, record.data_offset)
    take = max(_SAMPLE // step, 1) * step
    if len(raw) <= 3 * take:
        return raw
    middle, end = (len(raw) // 2) // step * step, (len(raw) - take) // step * step
    return np.concatenate([raw[:take], raw[middle : middle + take], raw[end : end + take]])


def _from_slots(evidence: Mapping[int, _Evidence]) -> None:
    """Give regions whose contents say nothing the type of others that fill the same argument."""
    decided: dict[tuple[int, int, int], ElementType] = {}
    for entry in evidence.values():
        for slot in entry.slots if entry.element is not None else ():
            decided.setdefault(slot, entry.element)  # type: ignore[arg-type]
    for entry in evidence.values():
        if entry.element is None:
            options = [decided[slot] for slot in sorted(entry.slots) if slot in decided]
            entry.element = next((option for option in options if option.nbytes == entry.step), None)


def _from_neighbours(
    evidence: Mapping[int, _Evidence], operations: OperationTable, descriptors: Descriptors
) -> None:
    """Give regions that still say nothing the type of an array of equal shape in the same launch."""
    undecided = [region for region, entry in evidence.items() if entry.element is None and entry.step]
    if not undecided or not len(descriptors):
        return
    launch = operations.launches.param_launch[descriptors.param]
    rows = np.flatnonzero(np.isin(descriptors.region, undecided))
    _, first = np.unique(descriptors.region[rows], return_index=True)
    for row in rows[first].tolist():
        entry = evidence[int(descriptors.region[row])]
        begin, end = np.searchsorted(launch, [launch[row], launch[row] + 1]).tolist()
        for other in range(begin, min(end, begin + 64)):
            near = evidence.get(int(descriptors.region[other]))
            same = bool((descriptors.shape[other] == descriptors.shape[row]).all())
            if near is not None and near.element is not None and same and near.element.nbytes == entry.step:
                entry.element = near.element
                break


def _from_copies(data: bytes, evidence: Mapping[int, _Evidence], operations: OperationTable) -> None:
    """Give regions that still say nothing the type of a region that they are copied from or to."""
    _, records = operations.records(data, OpKind.MEMCPY_D2D)
    first, _ = group(records["src_region"], records["dst_region"])
    pairs = [tuple(records[["src_region", "dst_region"]][row].tolist()) for row in first]
    for source, target in [*pairs, *(pair[::-1] for pair in reversed(pairs))]:
        one, other = evidence.get(source), evidence.get(target)
        if one is not None and other is not None and one.element is not None and other.element is None:
            other.element = one.element


def _assume(evidence: Mapping[int, _Evidence]) -> None:
    """Take the most common type where nothing speaks for any."""
    for entry in evidence.values():
        if entry.element is None:
            size = entry.step or next(size for size in (4, 1) if entry.nbytes % size == 0)
            entry.element, entry.provenance = default_element(size), Provenance.ASSUMED


def _region(record: RegionRecord, entry: _Evidence, names: Iterable[str]) -> Region:
    element, shape = entry.element, entry.shape
    if element is not None and shape is None:
        if entry.whole and math.prod(entry.whole) * element.nbytes == record.nbytes:
            shape = entry.whole
        if shape is None and record.nbytes % element.nbytes == 0:
            shape = (record.nbytes // element.nbytes,)
        if shape is None:
            element = None
    return Region(
        record.id,
        record.nbytes,
        record.element_size,
        record.data_offset,
        element,
        shape,
        entry.provenance,
        tuple(names),
        record.offset,
        entry.candidates if element is not None else (),
    )


def array_type(element: ElementType | None, ndim: int, step: int, indexed: bool) -> str:
    """Return the type name of an array argument, such as `array2d[float32]`."""
    name = element.name if element is not None else f"{step} bytes" if step else "?"
    return f"{'indexed' if indexed else ''}array{f'{ndim}d' if ndim > 1 else ''}[{name}]"
