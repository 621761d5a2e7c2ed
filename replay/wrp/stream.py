"""The operation stream: one pass over the record headers, then every fixed part gathered at once.

`scan_operations` checks what a reader must rely on (sizes, counts, nesting, the tables of a launch) and
refuses a broken stream with offset and field; what operations mean, and whether they make sense, is not
judged here. 100,000 launches take some tenths of a second: only the header loop is Python.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable

import numpy as np

from replay.errors import CaptureFileError
from replay.wrp import layout
from replay.wrp.launches import check_sizes, gather_launches
from replay.wrp.tables import Frame, OperationTable

_HEADER = struct.Struct("<II").unpack_from
_CONDITION = struct.Struct("<iIQIIII").unpack_from
_SMALLEST = {kind: record.itemsize for kind, record in layout.RECORDS.items()}
_IF, _WHILE, _LAUNCH = 7, 8, 1


def scan_operations(data: bytes, start: int, nbytes: int, *, path: str = "") -> OperationTable:
    """Read the operations section that takes `nbytes` from `start`.

    Raises:
        CaptureFileError: a record does not fit where it is, is of no known type, or its tables disagree.
    """

    def fail(what: str, offset: int, name: str) -> CaptureFileError:
        return CaptureFileError(what, path=path, offset=offset, field=name)

    if nbytes < 4:
        raise fail(
            f"the operations section has {nbytes} bytes, no room for its count", start, "operations.count"
        )
    end = start + nbytes
    (count,) = struct.unpack_from("<I", data, start)
    if count * 8 > nbytes - 4:
        most = (nbytes - 4) // 8
        raise fail(
            f"{count} operations claimed, but at most {most} fit into the section", start, "operations.count"
        )
    kinds, offsets, sizes, frame_of = array("B"), array("Q"), array("I"), array("I")
    frames = [Frame(-1, 0, "")]
    trailing: list[tuple[int, int, int]] = []
    waiting: list[tuple[int, int, int, int]] = []  # streams to go on with: position, end, left, frame
    at, left, frame = start + 4, count, 0
    totals = [count]

    def here() -> str:
        """Return the field path of the operation at hand."""
        steps, current, position = [], frame, totals[frame] - left
        while True:
            steps.append(f"{frames[current].branch or 'operations'}[{position}]")
            parent = frames[current].parent
            if parent < 0:
                return ".".join(reversed(steps))
            current = frame_of[parent]
            position = sum(1 for event in range(parent) if frame_of[event] == current)

    while True:
        if not left:
            if at != end:
                trailing.append((at, end - at, frame))
            if not waiting:
                break
            at, end, left, frame = waiting.pop()
            continue
        if end - at < 8:
            raise fail(f"the stream ends after {end - at} bytes, {left} operations are missing", at, here())
        kind, size = _HEADER(data, at)
        smallest = _SMALLEST.get(kind)
        if smallest is None:
            raise fail(f"unknown operation type {kind}, 1 to 19 expected", at, f"{here()}.op_type")
        if size < smallest or size > end - at:
            raise fail(
                f"a size of {size} bytes, but a record of type {kind} has at least {smallest} and the stream "
                f"has {end - at} left",
                at + 4,
                f"{here()}.total_size",
            )
        kinds.append(kind)
        offsets.append(at)
        sizes.append(size)
        frame_of.append(frame)
        if kind not in (_IF, _WHILE):
            left -= 1
            at += size
            continue
        branches = _branches(data, at, size, kind, frames[frame].depth, fail, here)
        event = len(kinds) - 1
        left -= 1
        waiting.append((at + size, end, left, frame))
        inner = []
        for branch, position, branch_bytes, branch_count in branches:
            inner.append((position, position + branch_bytes, branch_count, len(frames)))
            frames.append(Frame(event, frames[frame].depth + 1, branch))
            totals.append(branch_count)
        waiting += reversed(inner)
        at, end, left, frame = waiting.pop()

    table = OperationTable(
        kinds=np.frombuffer(kinds, np.uint8),
        offsets=np.frombuffer(offsets, np.uint64).astype(np.int64),
        sizes=np.frombuffer(sizes, np.uint32).astype(np.int64),
        frames=tuple(frames),
        frame_of=np.frombuffer(frame_of, np.uint32).astype(np.int64),
        count_offset=start,
        stream_offset=start + 4,
        stream_end=start + nbytes,
        trailing=tuple(trailing),
    )
    check_sizes(data, table, path)
    table.launches = gather_launches(data, table, np.flatnonzero(table.kinds == _LAUNCH), path)
    return table


def _branches(
    data: bytes,
    at: int,
    size: int,
    kind: int,
    depth: int,
    fail: Callable[[str, int, str], CaptureFileError],
    here: Callable[[], str],
) -> list[tuple[str, int, int, int]]:
    """Return name, position, bytes and operation count of the branches of a conditional record."""
    _region, _pad, _offset, a_size, a_count, b_size, b_count = _CONDITION(data, at + 8)
    fixed = layout.CONDITION.itemsize
    if fixed + a_size + b_size > size:
        raise fail(
            f"branches of {a_size} and {b_size} bytes do not fit into a record of {size}",
            at + 24,
            f"{here()}.branch_a_size",
        )
    if depth >= layout.MAX_NESTING:
        raise fail(f"conditionals are nested deeper than {layout.MAX_NESTING} levels", at, here())
    if kind == _WHILE and b_size:
        raise fail("a WHILE with a second branch", at + 32, f"{here()}.branch_b_size")
    names = ("then", "else") if kind == _IF else ("body", "else")
    found = []
    for letter, name, position, branch_bytes, branch_count, place in (
        ("a", names[0], at + fixed, a_size, a_count, at + 28),
        ("b", names[1], at + fixed + a_size, b_size, b_count, at + 36),
    ):
        if (branch_bytes == 0) != (branch_count == 0) or branch_count * 8 > branch_bytes:
            raise fail(
                f"{branch_count} operations claimed in {branch_bytes} bytes",
                place,
                f"{here()}.branch_{letter}_op_count",
            )
        if branch_bytes:
            found.append((name, position, branch_bytes, branch_count))
    return found
