"""Cutting the operation stream of a capture: everything up to an event, or one operation alone.

A cut stream is put into a small file of its own, which a player loads like any capture. What "after event
N" means inside an IF or a WHILE is decided here, and said in words: see `Cut`. Nothing here executes.
"""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from replay.errors import UsageError
from replay.graph.model import Capture, Operation, OpKind
from replay.wrp import layout
from replay.wrp.document import SectionEntry, parse_header
from replay.wrp.layout import Section

_HEAD = struct.Struct("<II")  # type, bytes
_SIZES = struct.Struct("<IIII")  # bytes and operations of both branches
_SIZES_AT = layout.CONDITION.itemsize - _SIZES.size
_STREAM_LIMIT = 256 << 20

Iterations = Mapping[int, int]
"""Which iteration of a WHILE is meant, by the event of the WHILE and counted from 1; 1 where it is absent."""


@dataclass(frozen=True)
class Condition:
    """A branch that a cut stream must take for its last event to run.

    Attributes:
        event: the IF or WHILE.
        branch: `then`, `else` or `body`.
        region, offset: where the int32 lies that decides.
        before: the stream up to the decision, as it is when the branch is entered.
    """

    event: int
    branch: str
    region: int
    offset: int
    before: Cut


@dataclass(frozen=True)
class Cut:
    """Operations of a capture up to an event.

    At the top level that is the first operations of the stream. Inside an IF, what comes before the IF and
    then the branch, cut after the event; the other branch is left out. Inside a WHILE, the loop is unrolled
    into IFs, of which the last one is cut, so that exactly one iteration is looked into.

    Attributes:
        stream: the records.
        count: number of operations at the top level of `stream`.
        conditions: the branches around the event, outermost first.
        note: what is special about the state, in one sentence; empty at the top level.
    """

    stream: bytes
    count: int
    conditions: tuple[Condition, ...] = ()
    note: str = ""


def cut_after(capture: Capture, event: int, iterations: Iterations | None = None) -> Cut:
    """Return the operations up to and including an event.

    Raises:
        UsageError: no such event, or an iteration that is no count or makes the stream too long.
    """
    return _cut(capture, _operation(capture, event), iterations or {}, inclusive=True)


def cut_before(capture: Capture, event: int, iterations: Iterations | None = None) -> Cut:
    """Return the operations before an event; arguments and errors as for `cut_after`."""
    return _cut(capture, _operation(capture, event), iterations or {}, inclusive=False)


def single(capture: Capture, event: int, times: int = 1) -> Cut:
    """Return one operation alone, with all of its branches, so many times in a row.

    Raises:
        UsageError: no such event.
    """
    return Cut(_record(capture, _operation(capture, event)) * times, times)


def capture_of(capture: Capture, cut: Cut) -> Capture:
    """Return a capture that runs a cut stream on the regions of another one.

    Regions, names and modules are those of `capture`. There are no carry pairs, since there is no manifest:
    they are applied after the last event only. Where there is no mesh, the initial contents are left out,
    which keeps the file small: whoever loads it writes a state into all regions anyway.
    """
    header = parse_header(capture.data)
    entries = {entry.type: entry for entry in reversed(header.sections)}
    regions = dict(capture.regions)
    if not capture.meshes:
        regions = {key: dataclasses.replace(region, data_offset=None) for key, region in regions.items()}
    parts = {
        Section.METADATA: _section(capture, entries[Section.METADATA]),
        Section.MEMORY: _section(capture, entries[Section.MEMORY]) if capture.meshes else _memory(capture),
        Section.OPERATIONS: struct.pack("<I", cut.count) + cut.stream,
    }
    wanted = (Section.METADATA, Section.MEMORY, Section.OPERATIONS)
    table = layout.HEADER.itemsize
    at = table + len(wanted) * layout.SECTION.itemsize
    data = bytearray(capture.data[: layout.HEADER.itemsize])
    struct.pack_into("<IQ", data, 12, len(wanted), table)
    starts = {}
    for kind in wanted:
        data += struct.pack("<IIQQQ", kind, 0, at, len(parts[kind]), len(parts[kind]))
        starts[kind] = at
        at += len(parts[kind])
    for kind in wanted:
        data += parts[kind]
    if capture.meshes:
        moved = starts[Section.MEMORY] - entries[Section.MEMORY].offset
        regions = {
            key: dataclasses.replace(region, data_offset=region.data_offset + moved)
            if region.data_offset is not None
            else region
            for key, region in regions.items()
        }
    return dataclasses.replace(
        capture, data=bytes(data), regions=regions, operations=(), top_level=(), manifest=None
    )


def _section(capture: Capture, entry: SectionEntry) -> bytes:
    return capture.data[entry.offset : entry.offset + entry.nbytes]


def _memory(capture: Capture) -> bytes:
    """Return a memory section with all regions and none of their contents."""
    records = [
        struct.pack("<IIQB7x", region.id, region.element_size, region.nbytes, 0)
        for region in capture.regions.values()
    ]
    return struct.pack("<I", len(records)) + b"".join(records)


def _operation(capture: Capture, event: int) -> Operation:
    if not 0 <= event < len(capture.operations):
        last = len(capture.operations) - 1
        raise UsageError(
            f"{capture.path.name} has no event {event}",
            remedy=f"choose 0 to {last}" if last >= 0 else "it recorded no operation",
        )
    return capture.operations[event]


def _record(capture: Capture, operation: Operation) -> bytes:
    return capture.data[operation.offset : operation.offset + operation.nbytes]


def _cut(capture: Capture, operation: Operation, iterations: Iterations, *, inclusive: bool) -> Cut:
    start = _stream_start(capture, operation)
    end = operation.offset + (operation.nbytes if inclusive else 0)
    inner = Cut(capture.data[start:end], operation.index + (1 if inclusive else 0))
    return _around(capture, operation, inner, iterations)


def _around(capture: Capture, operation: Operation, inner: Cut, iterations: Iterations) -> Cut:
    """Put a cut branch into the operations around it, out to the top level."""
    if operation.parent is None:
        return inner
    parent = capture.operations[operation.parent]
    whole = capture.data[parent.offset : parent.offset + layout.CONDITION.itemsize]
    times = iterations.get(parent.event, 1) if parent.kind is OpKind.WHILE else 1
    if times < 1:
        raise UsageError(f"iteration {times} of event {parent.event}", remedy="count from 1")
    start = _stream_start(capture, parent)
    before = capture.data[start : parent.offset]
    body_bytes, body_count = _first_branch(whole)
    if (times - 1) * (len(whole) + body_bytes) > _STREAM_LIMIT:
        raise UsageError(
            f"iteration {times} of event {parent.event} takes over {_STREAM_LIMIT >> 20} MiB of operations",
            remedy="choose an earlier one",
        )
    body = capture.data[parent.offset + len(whole) : parent.offset + len(whole) + body_bytes]
    earlier = _if_record(whole, body, body_count, b"", 0) * (times - 1)
    entered = Cut(before + earlier, parent.index + times - 1)
    branch = (inner.stream, inner.count)
    nothing = (b"", 0)
    if not inner.count:
        record, added = b"", 0
    else:
        sides = (nothing, branch) if operation.branch == "else" else (branch, nothing)
        record, added = _if_record(whole, *sides[0], *sides[1]), 1
    region, offset = struct.unpack_from("<i4xQ", whole, 8)
    outer = _around(capture, parent, Cut(before + earlier + record, entered.count + added), iterations)
    decision = _around(capture, parent, entered, iterations)
    condition = Condition(parent.event, operation.branch, region, offset, decision)
    note = outer.note
    if parent.kind is OpKind.WHILE:
        note = f"in iteration {times} of the WHILE of event {parent.event}" + (f", {note}" if note else "")
    return dataclasses.replace(outer, conditions=(*outer.conditions, condition), note=note)


def _first_branch(record: bytes) -> tuple[int, int]:
    nbytes, count, _, _ = _SIZES.unpack_from(record, _SIZES_AT)
    return nbytes, count


def _if_record(whole: bytes, a: bytes, a_count: int, b: bytes, b_count: int) -> bytes:
    """Return an IF with the condition of another record and these branches."""
    record = bytearray(whole)
    _HEAD.pack_into(record, 0, OpKind.IF, len(whole) + len(a) + len(b))
    _SIZES.pack_into(record, _SIZES_AT, len(a), a_count, len(b), b_count)
    return bytes(record) + a + b


def _stream_start(capture: Capture, operation: Operation) -> int:
    """Return where the stream begins in which an operation lies."""
    if operation.parent is None:
        return capture.operations[capture.top_level[0]].offset
    parent = capture.operations[operation.parent]
    at = parent.offset + layout.CONDITION.itemsize
    if operation.branch == "else":
        at += _first_branch(capture.data[parent.offset : at])[0]
    return at
