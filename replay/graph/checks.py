"""What is wrong with a file that can be read: header, metadata, regions, names, meshes and memory.

Each check returns faults with the place, the values and the offset. Launches, library operations and
companion files have modules of their own; `check_document` runs them all.
"""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from replay.graph.check_common import bounded
from replay.graph.check_modules import check_modules
from replay.graph.check_operations import check_operations
from replay.graph.descriptors import Descriptors
from replay.graph.machine import available_memory
from replay.graph.model import NO_REGION, Fault, Kernel, Region, Severity
from replay.wrp import layout
from replay.wrp.cursor import Text
from replay.wrp.document import Document, Metadata, PlainRecord
from replay.wrp.layout import DeviceType, Section
from replay.wrp.tables import OperationTable

BLOCKS, NOTE = Severity.BLOCKS_REPLAY, Severity.NOTE
_CONSTRUCTORS = 2  # `BVH_CONSTRUCTOR_LBVH`, the last of Warp's `bvh.h` that fits the record
_LISTED = 4  # module hashes that one fault lists
UNUSED_LIMIT = 1 << 30  # bytes that a region which nothing uses may ask for


@functools.cache
def installed_producer() -> str | None:
    """Return the version of Warp that this installation has, None if it has none. Warp is not imported."""
    try:
        return importlib.metadata.version("warp-lang")
    except importlib.metadata.PackageNotFoundError:
        return None


def check_format(document: Document) -> Fault:
    """Return the fault of a file of another format version."""
    listed = ", ".join(
        f"{Section(entry.type).name.lower() if entry.type in set(Section) else f'type {entry.type}'} "
        f"{entry.nbytes} bytes at {entry.offset}"
        for entry in document.header.sections
    )
    return Fault(
        "header",
        f"format version {document.header.version}, but this installation reads {layout.FORMAT_VERSION} "
        f"(Warp {installed_producer() or 'not installed'}); only header and sections are shown: {listed}",
        BLOCKS,
        offset=4,
        field="header.version",
    )


def check_document(
    data: bytes,
    document: Document,
    descriptors: Descriptors,
    regions: Mapping[int, Region],
    kernels: tuple[Kernel, ...],
    known: set[tuple[bytes, bytes]],
    folder: Path,
) -> list[Fault]:
    """Run all checks.

    Args:
        data, document: the file and its parts, of format 18.
        descriptors, regions, kernels: what was found in it.
        known: (key, module hash) of the kernels as bytes.
        folder: where the modules should lie.

    Returns:
        Faults ordered by offset, those without one at the end.
    """
    metadata, operations = document.metadata, document.operations
    assert metadata is not None and operations is not None
    checks = (
        _header(document, metadata, len(data)),
        _texts(metadata),
        _kernels(metadata),
        _bindings(metadata, regions),
        _meshes(data, metadata, regions),
        _handle_locations(metadata, regions),
        _memory(document, metadata, operations),
        check_modules(metadata, document.header.device_type, folder, operations.launches),
    )
    found = [fault for faults in checks for fault in bounded(faults)]
    found += check_operations(data, document, descriptors, regions, known)
    return sorted(found, key=lambda fault: fault.offset if fault.offset is not None else len(data))


def _header(document: Document, metadata: Metadata, nbytes: int) -> Iterator[Fault]:
    header = document.header
    if spare := header.spare_bytes(nbytes):
        what = f"{spare} of the file's {nbytes} bytes are in none of its sections; nothing reads them"
        yield Fault("file", what, NOTE, offset=16, field="header.section_table_offset")
    cpu = header.device_type == DeviceType.CPU
    device = "CPU" if cpu else "CUDA"
    if metadata.version != header.version:
        what = f"format version {metadata.version}, but the header says {header.version}"
        yield Fault("metadata", what, BLOCKS, offset=metadata.offset, field="metadata.version")
    expected, producer = installed_producer(), metadata.producer
    if expected is None:
        what = f"written by Warp {producer.value}; no Warp is installed here to compare with"
        yield Fault("metadata", what, NOTE, offset=producer.offset, field="metadata.producer")
    elif producer.value != expected:
        what = f"written by Warp {producer.value}, but Warp {expected} is here and loads only its own files"
        yield Fault("metadata", what, BLOCKS, offset=producer.offset, field="metadata.producer")
    cpu_modules = bool(metadata.modules) and all(module.arch == 0 for module in metadata.modules)
    gpu_modules = bool(metadata.modules) and all(module.arch != 0 for module in metadata.modules)
    if (cpu and (gpu_modules or metadata.target_arch)) or (
        not cpu and (cpu_modules or not metadata.target_arch)
    ):
        what = (
            f"the header says {device}, but architecture {metadata.target_arch} in the metadata and the "
            f"modules are those of {'CUDA' if cpu else 'the CPU'}"
        )
        yield Fault("header", what, BLOCKS, offset=24, field="header.device_type")
    if (cpu and header.target_arch) or (not cpu and not header.target_arch):
        what = f"architecture {header.target_arch} for a capture of the {device}"
        yield Fault("header", what, BLOCKS, offset=28, field="header.target_arch")
    if metadata.target_arch != header.target_arch:
        what = f"architecture {header.target_arch}, but the metadata say {metadata.target_arch}"
        yield Fault("header", what, BLOCKS, offset=28, field="header.target_arch")
    if header.flags or not header.reserved_clear:
        yield Fault("header", "reserved bytes are set", NOTE, offset=8, field="header.flags")
    for number, entry in enumerate(header.sections):
        if entry.type not in set(Section):
            what = f"a section of unknown type {entry.type}, which is left out"
            yield Fault(f"section {number}", what, NOTE, offset=entry.entry, field=f"sections[{number}].type")


def _texts(metadata: Metadata) -> Iterator[Fault]:
    def told(text: Text, where: str, name: str) -> Iterator[Fault]:
        if text.bad_at is not None:
            yield Fault(
                where, f"the {name} {text.value!r} is no UTF-8", BLOCKS, offset=text.bad_at, field=name
            )

    yield from told(metadata.producer, "metadata", "metadata.producer")
    for number, module in enumerate(metadata.modules):
        for name in ("hash", "name", "file", "binary_digest", "source_file", "source_digest"):
            yield from told(getattr(module, name), f"module {number}", f"metadata.modules[{number}].{name}")
    for number, kernel in enumerate(metadata.kernels):
        for name in ("key", "module_hash", "forward_name", "backward_name"):
            yield from told(getattr(kernel, name), f"kernel {number}", f"metadata.kernels[{number}].{name}")
    for number, binding in enumerate(metadata.bindings):
        yield from told(binding.name, f"name {number}", f"metadata.bindings[{number}].name")


def _kernels(metadata: Metadata) -> Iterator[Fault]:
    hashes = {module.hash.value for module in metadata.modules}
    shown = [_short(value) for value in sorted(hashes)[:_LISTED]] + ["..."] * (len(hashes) > _LISTED)
    listed = ", ".join(shown) or "none"
    seen: set[tuple[str, str]] = set()
    for number, kernel in enumerate(metadata.kernels):
        name = (kernel.key.value, kernel.module_hash.value)
        if kernel.module_hash.value not in hashes:
            yield Fault(
                f"kernel {kernel.key.value}",
                f"its module {_short(kernel.module_hash.value)} is not among the modules ({listed})",
                BLOCKS,
                offset=kernel.module_hash.offset,
                field=f"metadata.kernels[{number}].module_hash",
            )
        if name in seen:
            yield Fault(
                f"kernel {kernel.key.value}", "listed twice for one module", BLOCKS, offset=kernel.offset,
                field=f"metadata.kernels[{number}].key",
            )  # fmt: skip
        seen.add(name)


def _bindings(metadata: Metadata, regions: Mapping[int, Region]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for number, binding in enumerate(metadata.bindings):
        where, name = f"name {binding.name.value!r}", binding.name.value
        field = f"metadata.bindings[{number}].region_id"
        if binding.region not in regions and binding.region != NO_REGION:
            what = f"stands for region {binding.region}, which the file does not hold"
            yield Fault(where, what, BLOCKS, offset=binding.region_offset, field=field)
        if first.setdefault(name, binding.region) != binding.region:
            what = (
                f"stands for {_region(first[name])} and for {_region(binding.region)}; Warp uses the last one"
            )
            yield Fault(where, what, NOTE, offset=binding.region_offset, field=field)
        if not name:
            yield Fault(
                where, "an empty name", NOTE, offset=binding.offset, field=f"metadata.bindings[{number}].name"
            )


def _meshes(data: bytes, metadata: Metadata, regions: Mapping[int, Region]) -> Iterator[Fault]:
    reached: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for number, mesh in enumerate(metadata.meshes):
        where, prefix, value = f"mesh {number}", f"metadata.meshes[{number}]", mesh.value
        points, triangles = int(value["num_points"]), int(value["num_tris"])
        if points < 0 or triangles < 0:
            what = f"{points} points and {triangles} triangles"
            yield Fault(where, what, BLOCKS, offset=mesh.offset, field=f"{prefix}.num_points")
            continue
        leaf, constructor = int(value["bvh_leaf_size"]), int(value["bvh_constructor"])
        if not leaf:
            what = "leaves of 0 triangles in its tree, with which Warp would build it for ever"
            yield Fault(where, what, BLOCKS, offset=mesh.offset + 10, field=f"{prefix}.bvh_leaf_size")
        if constructor > _CONSTRUCTORS:
            what = f"a tree of kind {constructor}, 0 to {_CONSTRUCTORS} expected"
            yield Fault(where, what, BLOCKS, offset=mesh.offset + 9, field=f"{prefix}.bvh_constructor")
        needs = [("points", 12 * points, 12), ("indices", 12 * triangles, 16)]
        if int(value["velocities_region"]):
            needs.append(("velocities", 12 * points, 20))
        for name, nbytes, place in needs:
            ident = int(value[f"{name}_region"])
            region, at = regions.get(ident), mesh.offset + place
            if region is None:
                what = f"its {name} are region {ident}, which the file does not hold"
                yield Fault(where, what, BLOCKS, offset=at, field=f"{prefix}.{name}_region")
            elif region.nbytes < nbytes:
                what = f"its {name} need {nbytes} bytes, but region {ident} has {region.nbytes}"
                yield Fault(where, what, BLOCKS, offset=at, field=f"{prefix}.{name}_region")
            elif name == "indices" and region.data_offset is not None and triangles:
                indices = np.frombuffer(data, "<i4", region.nbytes // 4, region.data_offset)
                if ident not in reached:  # once a region, however many meshes share it
                    reached[ident] = np.minimum.accumulate(indices), np.maximum.accumulate(indices)
                least, most = reached[ident]
                if least[3 * triangles - 1] < 0 or most[3 * triangles - 1] >= points:
                    bad = int(np.flatnonzero((least < 0) | (most >= points))[0])
                    what = f"its vertex {bad} has index {int(indices[bad])}, but there are {points} points"
                    offset = region.data_offset + 4 * bad
                    yield Fault(where, what, BLOCKS, offset=offset, field=f"region {ident}")


def _handle_locations(metadata: Metadata, regions: Mapping[int, Region]) -> Iterator[Fault]:
    for number, record in enumerate(metadata.handle_locations):
        fault = _handle_location(record, regions)
        if fault:
            yield Fault(
                f"handle location {number}", fault, BLOCKS, offset=record.offset,
                field=f"metadata.handle_locations[{number}]",
            )  # fmt: skip


def _handle_location(record: PlainRecord, regions: Mapping[int, Region]) -> str:
    ident, offset, stride, count = (
        int(record.value[name]) for name in ("region", "offset", "stride", "count")
    )
    region = regions.get(ident)
    if not count:
        return ""
    if region is None:
        return f"in region {ident}, which the file does not hold"
    last = offset + (count - 1) * stride + 8
    if last > region.nbytes or (stride < 8 and count != 1):
        return f"{count} handles from byte {offset}, every {stride} bytes, leave region {ident}"
    return ""


def _memory(document: Document, metadata: Metadata, operations: OperationTable) -> Iterator[Fault]:
    total = sum(region.nbytes for region in document.regions)
    free = available_memory() if document.header.device_type == DeviceType.CPU else None
    used = {binding.region for binding in metadata.bindings}
    used |= {
        int(mesh.value[f"{name}_region"])
        for mesh in metadata.meshes
        for name in ("points", "indices", "velocities")
    }
    used |= set(np.unique(operations.launches.relocs["region"]).tolist())
    for number, region in enumerate(document.regions):
        field, where = f"memory.regions[{number}].size", f"region {region.id}"
        if free is not None and region.nbytes > free:
            what = f"{region.nbytes} bytes are more than the {free} bytes of memory available here"
            yield Fault(where, what, BLOCKS, offset=region.offset + 8, field=field)
        elif region.data_offset is None and region.id not in used and region.nbytes > UNUSED_LIMIT:
            what = f"{region.nbytes} bytes without contents, which no name, launch or mesh uses"
            yield Fault(where, what, BLOCKS, offset=region.offset + 8, field=field)
    if (
        free is not None
        and document.regions
        and total > free >= max(region.nbytes for region in document.regions)
    ):
        what = f"all regions together take {total} bytes, more than the {free} bytes of memory available here"
        yield Fault("memory", what, BLOCKS, offset=document.regions[0].offset, field="memory")


def _region(ident: int) -> str:
    return "no memory" if ident == NO_REGION else f"region {ident}"


def _short(digest: str) -> str:
    return digest if len(digest) <= 12 else f"{digest[:12]}..."
