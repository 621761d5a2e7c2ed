"""New files from old ones: the same capture with another operation stream.

Used to load a prefix of the operations ("the state after event N"), to change a value of a launch, and to
make long streams for measurements. Everything but the operations section is copied as it is; results are
checked by reading them again.
"""

from __future__ import annotations

import struct

from replay.errors import CaptureFileError, UsageError
from replay.wrp import layout
from replay.wrp.document import SectionEntry, parse_header
from replay.wrp.layout import Section
from replay.wrp.stream import scan_operations
from replay.wrp.tables import OperationTable


def with_operations(data: bytes, stream: bytes, count: int) -> bytes:
    """Return a file with another operation stream.

    Args:
        data: a file of format 18.
        stream: operation records, one after another.
        count: number of operations at the top level of `stream`.

    Raises:
        CaptureFileError: `data` is no capture of this format, or `stream` is no stream of `count` operations.
    """
    section, index, table = _operations_section(data)
    contents = struct.pack("<I", count) + stream
    end = section.offset + section.nbytes
    grown = len(contents) - section.nbytes
    result = bytearray(data[: section.offset])
    result += contents
    result += data[end:]
    if table >= end:
        table += grown
        struct.pack_into("<Q", result, 16, table)
    entry = table + index * layout.SECTION.itemsize
    struct.pack_into("<QQ", result, entry + 16, len(contents), len(contents))
    for number, other in enumerate(parse_header(data).sections):
        if number != index and other.offset >= end:
            at = table + number * layout.SECTION.itemsize
            struct.pack_into("<Q", result, at + 8, other.offset + grown)
    made = bytes(result)
    written, _, _ = _operations_section(made)
    read = scan_operations(made, written.offset, written.nbytes)
    if int((read.frame_of == 0).sum()) != count or read.trailing:
        raise CaptureFileError(f"the stream of {len(stream)} bytes does not hold exactly {count} operations")
    return made


def prefix(data: bytes, k: int) -> bytes:
    """Return a file with the first `k` operations of the top level.

    Raises:
        UsageError: the file has fewer.
        CaptureFileError: `data` is no capture of this format.
    """
    operations = _scan(data)
    tops = (operations.frame_of == 0).nonzero()[0]
    if not 0 <= k <= len(tops):
        raise UsageError(f"the first {k} operations of {len(tops)}")
    start = operations.stream_offset
    end = start if k == 0 else int(operations.offsets[tops[k - 1]] + operations.sizes[tops[k - 1]])
    return with_operations(data, data[start:end], k)


def repeat_operations(data: bytes, times: int) -> bytes:
    """Return a file with the whole stream `times` times.

    Raises:
        UsageError: `times` is negative, or the result would hold more operations than the format can count.
        CaptureFileError: `data` is no capture of this format.
    """
    operations = _scan(data)
    tops = (operations.frame_of == 0).nonzero()[0]
    if times < 0 or len(tops) * times >= 1 << 32:
        raise UsageError(f"a stream of {len(tops)} operations, {times} times")
    start = operations.stream_offset
    end = int(operations.offsets[tops[-1]] + operations.sizes[tops[-1]]) if len(tops) else start
    return with_operations(data, data[start:end] * times, len(tops) * times)


def with_bytes(data: bytes, offset: int, value: bytes) -> bytes:
    """Return a file with some bytes replaced, such as the value of an argument at `Argument.offset`.

    Raises:
        UsageError: the bytes do not lie in the file.
    """
    if offset < 0 or offset + len(value) > len(data):
        raise UsageError(f"{len(value)} bytes at {offset} of a file of {len(data)} bytes")
    return data[:offset] + value + data[offset + len(value) :]


def _operations_section(data: bytes) -> tuple[SectionEntry, int, int]:
    """Return the operations section, its number in the table, and the offset of the table."""
    header = parse_header(data)
    if header.version != layout.FORMAT_VERSION:
        raise CaptureFileError(
            f"format version {header.version}, {layout.FORMAT_VERSION} expected",
            offset=4,
            field="header.version",
        )
    for index, entry in enumerate(header.sections):
        if entry.type == Section.OPERATIONS:
            return entry, index, header.section_table
    raise CaptureFileError("the section operations is missing", offset=header.section_table, field="sections")


def _scan(data: bytes) -> OperationTable:
    section, _, _ = _operations_section(data)
    return scan_operations(data, section.offset, section.nbytes)
