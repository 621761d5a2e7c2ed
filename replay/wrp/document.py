"""The parts of a `.wrp` file before its operations: header, sections, metadata and memory regions.

`parse` reads a whole file, operations included, into a `Document` of plain records with the offset of each.
A file whose structure is broken is refused; a file whose statements make no sense (a missing region, an
unknown kernel) is read, and `replay.graph` says what is wrong with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from replay.errors import CaptureFileError
from replay.wrp import layout
from replay.wrp.cursor import Cursor, Text
from replay.wrp.files import Peek
from replay.wrp.layout import DeviceType, Section
from replay.wrp.stream import scan_operations
from replay.wrp.tables import OperationTable

_WORTH_A_LOOK = 16 << 20  # bytes; a smaller file is read before its small parts would be


@dataclass(frozen=True, slots=True)
class SectionEntry:
    """Where a section lies; `entry` is the offset of its record in the table."""

    type: int
    flags: int
    offset: int
    nbytes: int
    entry: int


@dataclass(frozen=True)
class Header:
    """The 64-byte header and the section table, as the file states them."""

    version: int
    flags: int
    device_type: int
    target_arch: int
    reserved_clear: bool
    section_table: int
    sections: tuple[SectionEntry, ...]

    def section(self, kind: Section) -> SectionEntry:
        """Return the section of a kind; `parse_header` made sure that it is there for format 18."""
        return next(entry for entry in self.sections if entry.type == kind)

    def spare_bytes(self, nbytes: int) -> int:
        """Return how many of a file's bytes are neither header nor table nor in a section."""
        parts = [(0, layout.HEADER.itemsize)]
        parts.append((self.section_table, len(self.sections) * layout.SECTION.itemsize))
        parts += [(entry.offset, entry.nbytes) for entry in self.sections]
        covered = at = 0
        for start, size in sorted(parts):
            covered += max(0, start + size - max(start, at))
            at = max(at, start + size)
        return nbytes - covered


@dataclass(frozen=True, slots=True)
class ModuleRecord:
    """A module of the metadata."""

    hash: Text
    name: Text
    file: Text
    arch: int
    binary_digest: Text
    source_file: Text
    source_digest: Text
    binary_kind: int
    fallback_reason: int
    recipe: bytes
    offset: int
    arch_offset: int


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A kernel of the metadata."""

    key: Text
    module_hash: Text
    forward_name: Text
    backward_name: Text
    forward_smem_bytes: int
    backward_smem_bytes: int
    block_dim: int
    offset: int


@dataclass(frozen=True, slots=True)
class BindingRecord:
    """A name for a region; `region_offset` is where the region's id lies."""

    name: Text
    region: int
    offset: int
    region_offset: int


@dataclass(frozen=True, slots=True)
class PlainRecord:
    """A packed record and its offset: a mesh or a handle location."""

    value: Any
    offset: int


@dataclass(frozen=True)
class Metadata:
    """The metadata section."""

    version: int
    producer: Text
    target_arch: int
    arch_offset: int
    modules: tuple[ModuleRecord, ...]
    kernels: tuple[KernelRecord, ...]
    bindings: tuple[BindingRecord, ...]
    meshes: tuple[PlainRecord, ...]
    handle_locations: tuple[PlainRecord, ...]
    offset: int


@dataclass(frozen=True, slots=True)
class RegionRecord:
    """A memory region; `data_offset` is None if the file holds no contents for it."""

    id: int
    element_size: int
    nbytes: int
    data_offset: int | None
    offset: int


@dataclass(frozen=True)
class Document:
    """A parsed file. `metadata` and what follows are None or empty for another format version."""

    header: Header
    metadata: Metadata | None
    regions: tuple[RegionRecord, ...]
    operations: OperationTable | None


def parse(data: bytes, *, path: str = "") -> Document:
    """Read the bytes of a file.

    Time and memory are in proportion to the bytes, whatever they claim: modules, kernels, names, meshes and
    regions, which take more memory here than in the file, are limited to `layout.MAX_RECORDS` of each kind.
    Of a file of another format version only the header and its sections are read.

    Raises:
        CaptureFileError: the structure is broken; names offset and field.
    """
    header = parse_header(data, path=path)
    if header.version != layout.FORMAT_VERSION:
        return Document(header, None, (), None)
    metadata = _parse_metadata(data, header.section(Section.METADATA), path)
    regions = _parse_regions(data, header.section(Section.MEMORY), path)
    stream = header.section(Section.OPERATIONS)
    return Document(header, metadata, regions, scan_operations(data, stream.offset, stream.nbytes, path=path))


def look_over(data: Peek, *, path: str = "") -> None:
    """Refuse a file that is not worth reading whole; only its small parts are read for that.

    Raises:
        CaptureFileError: header, metadata or regions are broken, or much of the file is in none of its
            sections.
    """
    header = parse_header(data, path=path)
    spare = header.spare_bytes(len(data))
    if spare > layout.MAX_SPARE:
        end = max(entry.offset + entry.nbytes for entry in header.sections)
        raise CaptureFileError(
            f"{spare} of its {len(data)} bytes are in none of its sections, which end at {end}",
            path=path,
            remedy=f"cut the file there, or copy it again; at most {layout.MAX_SPARE} such bytes are read",
        )
    if header.version != layout.FORMAT_VERSION or len(data) < _WORTH_A_LOOK:
        return
    stream = header.section(Section.OPERATIONS)
    if stream.nbytes > layout.MAX_STREAM:
        raise CaptureFileError(
            f"operations of {stream.nbytes} bytes, but at most {layout.MAX_STREAM} are read here",
            path=path,
            offset=stream.entry + 16,
            field="operations",
        )
    _parse_metadata(data, header.section(Section.METADATA), path)
    _parse_regions(data, header.section(Section.MEMORY), path)


def parse_header(data: bytes | Peek, *, path: str = "") -> Header:
    """Read the header and the section table.

    Raises:
        CaptureFileError: no `.wrp` file, too short, or a section that does not lie in the file.
    """

    def fail(what: str, offset: int, field: str) -> CaptureFileError:
        return CaptureFileError(what, path=path, offset=offset, field=field)

    if data[:4] != layout.MAGIC and len(data) >= 4:
        raise fail(f"not a .wrp file: it starts with {data[:4]!r}, not {layout.MAGIC!r}", 0, "header.magic")
    cursor = Cursor(data, 0, len(data), path=path, part="file")
    if len(data) < layout.HEADER.itemsize:
        raise fail(
            f"{len(data)} bytes are shorter than the header of {layout.HEADER.itemsize} bytes",
            len(data),
            "header",
        )
    raw = cursor.record(layout.HEADER, "header")
    version, count, table = int(raw["version"]), int(raw["num_sections"]), int(raw["section_table_offset"])
    if not 0 < count <= layout.MAX_SECTIONS:
        raise fail(
            f"{count} sections claimed, 1 to {layout.MAX_SECTIONS} expected", 12, "header.num_sections"
        )
    if table > len(data) or count * layout.SECTION.itemsize > len(data) - table:
        raise fail(
            f"a table of {count} sections at offset {table} runs past the file of {len(data)} bytes",
            16,
            "header.section_table_offset",
        )
    sections: list[SectionEntry] = []
    for index in range(count):
        entry = table + index * layout.SECTION.itemsize
        cursor.at = entry
        record = cursor.record(layout.SECTION, f"sections[{index}]")
        kind, offset, nbytes = int(record["type"]), int(record["offset"]), int(record["size"])
        name = Section(kind).name.lower() if kind in set(Section) else f"type {kind}"
        if offset > len(data):
            raise fail(
                f"the section {name} starts at {offset}, past the end of the file of {len(data)} bytes",
                entry + 8,
                f"sections[{index}].offset",
            )
        if nbytes > len(data) - offset:
            raise fail(
                f"the section {name} of {nbytes} bytes at {offset} runs past the end of the file of "
                f"{len(data)} bytes",
                entry + 16,
                f"sections[{index}].size",
            )
        known_format = version == layout.FORMAT_VERSION
        if known_format and int(record["uncompressed_size"]) != nbytes:
            raise fail(
                f"the section {name} has {nbytes} bytes, {int(record['uncompressed_size'])} uncompressed; "
                "they must be equal",
                entry + 24,
                f"sections[{index}].uncompressed_size",
            )
        if known_format and kind in set(Section) and any(other.type == kind for other in sections):
            raise fail(f"a second section {name}", entry, f"sections[{index}].type")
        sections.append(SectionEntry(kind, int(record["flags"]), offset, nbytes, entry))
    if version == layout.FORMAT_VERSION:
        present = {entry.type for entry in sections if entry.nbytes}
        for wanted in Section:
            if wanted not in present:
                raise fail(f"the section {wanted.name.lower()} is missing or empty", table, "sections")
        if int(raw["device_type"]) not in set(DeviceType):
            raise fail(
                f"device type {int(raw['device_type'])}, 0 (CUDA) or 1 (CPU) expected",
                24,
                "header.device_type",
            )
    return Header(
        version,
        int(raw["flags"]),
        int(raw["device_type"]),
        int(raw["target_arch"]),
        not any(data[25:28]) and not any(data[32:64]),
        table,
        tuple(sections),
    )


def _parse_metadata(data: bytes | Peek, section: SectionEntry, path: str) -> Metadata:
    cursor = Cursor(data, section.offset, section.offset + section.nbytes, path=path, part="metadata section")
    version = cursor.u32("metadata.version")
    producer = cursor.text("metadata.producer")
    arch_offset = cursor.at
    arch = cursor.u32("metadata.target_arch")
    # Smallest sizes: 6 strings, architecture, two bytes and the recipe; 4 strings and 3 numbers; and so on.
    kinds = (("modules", 46), ("kernels", 28), ("bindings", 8), ("meshes", layout.MESH.itemsize),
             ("handle_locations", layout.HANDLE_LOCATION.itemsize))  # fmt: skip
    places = [
        (f"metadata.num_{name}", cursor.at + 4 * index, smallest)
        for index, (name, smallest) in enumerate(kinds)
    ]
    counts = [cursor.u32(field) for field, _, _ in places]
    for value, (field, offset, smallest) in zip(counts, places, strict=True):
        cursor.check_count(value, smallest, field, offset, most=layout.MAX_RECORDS)
    metadata = Metadata(
        version,
        producer,
        arch,
        arch_offset,
        tuple(_module(cursor, f"metadata.modules[{i}]") for i in range(counts[0])),
        tuple(_kernel(cursor, f"metadata.kernels[{i}]") for i in range(counts[1])),
        tuple(_binding(cursor, f"metadata.bindings[{i}]") for i in range(counts[2])),
        tuple(_plain(cursor, layout.MESH, f"metadata.meshes[{i}]") for i in range(counts[3])),
        tuple(
            _plain(cursor, layout.HANDLE_LOCATION, f"metadata.handle_locations[{i}]")
            for i in range(counts[4])
        ),
        section.offset,
    )
    if cursor.remaining:
        raise cursor.fail(f"{cursor.remaining} bytes follow the last record of the metadata", "metadata")
    return metadata


def _module(cursor: Cursor, field: str) -> ModuleRecord:
    offset = cursor.at
    digest, name, file = (cursor.text(f"{field}.{part}") for part in ("hash", "name", "file"))
    arch_offset = cursor.at
    arch = cursor.u32(f"{field}.target_arch")
    binary, source, source_digest = (
        cursor.text(f"{field}.{part}") for part in ("binary_digest", "source_filename", "source_digest")
    )
    kind, reason = cursor.u8(f"{field}.binary_kind"), cursor.u8(f"{field}.fallback_reason")
    recipe = cursor.take(16, f"{field}.compile_recipe")
    return ModuleRecord(
        digest, name, file, arch, binary, source, source_digest, kind, reason, recipe, offset, arch_offset
    )


def _kernel(cursor: Cursor, field: str) -> KernelRecord:
    offset = cursor.at
    key, module, forward, backward = (
        cursor.text(f"{field}.{part}") for part in ("key", "module_hash", "forward_name", "backward_name")
    )
    sizes = [
        cursor.u32(f"{field}.{part}") for part in ("forward_smem_bytes", "backward_smem_bytes", "block_dim")
    ]
    return KernelRecord(key, module, forward, backward, sizes[0], sizes[1], sizes[2], offset)


def _binding(cursor: Cursor, field: str) -> BindingRecord:
    offset = cursor.at
    name = cursor.text(f"{field}.name")
    region_offset = cursor.at
    return BindingRecord(name, cursor.u32(f"{field}.region_id"), offset, region_offset)


def _plain(cursor: Cursor, dtype: Any, field: str) -> PlainRecord:
    offset = cursor.at
    return PlainRecord(cursor.record(dtype, field), offset)


def _parse_regions(data: bytes | Peek, section: SectionEntry, path: str) -> tuple[RegionRecord, ...]:
    cursor = Cursor(data, section.offset, section.offset + section.nbytes, path=path, part="memory section")
    regions: dict[int, RegionRecord] = {}
    count = cursor.count("memory.region_count", layout.REGION.itemsize, most=layout.MAX_RECORDS)
    for index in range(count):
        offset, field = cursor.at, f"memory.regions[{index}]"
        raw = cursor.record(layout.REGION, field)
        ident, nbytes, flag = int(raw["region"]), int(raw["size"]), int(raw["has_initial_data"])
        if flag > 1:
            raise cursor.fail(
                f"the flag is {flag}, 0 or 1 expected", f"{field}.has_initial_data", offset + 16
            )
        if ident in regions:
            raise cursor.fail(f"a second region {ident}", f"{field}.region_id", offset)
        if flag and nbytes > cursor.remaining:
            raise cursor.fail(
                f"the contents of region {ident}, {nbytes} bytes, run past the memory section, of which "
                f"{cursor.remaining} bytes are left",
                f"{field}.size",
                offset + 8,
            )
        regions[ident] = RegionRecord(
            ident, int(raw["element_size"]), nbytes, cursor.at if flag else None, offset
        )
        cursor.at += nbytes if flag else 0
    if cursor.remaining:
        raise cursor.fail(f"{cursor.remaining} bytes follow the last region", "memory")
    return tuple(regions.values())
