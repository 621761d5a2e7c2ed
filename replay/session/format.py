"""The bytes of a session file: magic, version, then records that a cut at any byte leaves readable.

A record is 16 bytes of head (kind, length of the payload, CRC-32 of the payload, CRC-32 of the 12 bytes
before) and a payload: the length of a JSON object, the object, and binary blobs whose lengths it lists under
`blobs`. All integers are little-endian. What the objects mean is told in `replay.session.records`.
"""

from __future__ import annotations

import enum
import json
import os
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from replay.errors import SessionError

MAGIC = b"\x89RIPL\r\n\x1a"  # no text, and none that passed through a text conversion
VERSION = 1
_FILE_HEAD = struct.Struct("<8sI")
_HEAD = struct.Struct("<BxxxII")
_CRC = struct.Struct("<I")
_LENGTH = struct.Struct("<I")
MAX_PAYLOAD = (1 << 32) - 1
_MAX_JSON = 64 << 20


class Kind(enum.IntEnum):
    """What a record is."""

    HEADER = 1
    FILE = 2
    CAPTURE = 3
    STATE = 4
    FRAME = 5
    CHECKPOINT = 6
    END = 7


@dataclass(frozen=True)
class Record:
    """A record: its object, its blobs, and the byte offset where it begins."""

    kind: Kind
    value: Mapping[str, object]
    blobs: tuple[bytes, ...] = ()
    offset: int = 0


class Cause(enum.Enum):
    """Why a session ends where it does."""

    CLOSED = "closed"  # it was stopped in order
    CUT = "cut"  # the file ends without that: the process was killed, or the file was cut
    DAMAGED = "damaged"  # bytes are not what was written


@dataclass(frozen=True)
class Ending:
    """Where and why the readable part ends, in words that follow "the session"."""

    cause: Cause
    offset: int
    text: str


def file_head() -> bytes:
    """Return the first bytes of a session file."""
    return _FILE_HEAD.pack(MAGIC, VERSION)


def encode(kind: Kind, value: Mapping[str, object], blobs: Sequence[bytes] = ()) -> bytes:
    """Return a record's bytes.

    Raises:
        SessionError: it is larger than 4 GiB.
    """
    listed = {**value, "blobs": [len(blob) for blob in blobs]} if blobs else value
    text = json.dumps(listed, separators=(",", ":"), allow_nan=False).encode()
    payload = b"".join((_LENGTH.pack(len(text)), text, *blobs))
    if len(payload) > MAX_PAYLOAD:
        raise SessionError(f"{len(payload)} bytes of one frame are more than a session can hold")
    head = _HEAD.pack(kind, len(payload), zlib.crc32(payload))
    return head + _CRC.pack(zlib.crc32(head)) + payload


def is_session(path: Path) -> bool:
    """Return whether a file begins as a session does; false where it cannot be read."""
    try:
        with _open(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except SessionError:
        return False


class SessionReader:
    """Reads records one after the other, as far as they are whole. Use as a context manager.

    Args:
        path: the file.

    Attributes:
        path, nbytes: the file and its size when it was opened.
        ending: why reading ended; None before that.

    Raises:
        SessionError: it cannot be opened, is no session, or is of another version.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ending: Ending | None = None
        self._file = _open(path)
        try:
            self.nbytes = os.fstat(self._file.fileno()).st_size
            _check_head(self._file.read(_FILE_HEAD.size), path)
        except BaseException:
            self._file.close()
            raise

    def records(self) -> Iterator[Record]:
        """Yield the records; `ending` tells afterwards why there are no more."""
        self._file.seek(_FILE_HEAD.size)
        offset, last = _FILE_HEAD.size, None
        while True:
            found = self._next(offset, last)
            if isinstance(found, Ending):
                self.ending = found
                return
            record, offset = found
            last = record.kind
            yield record

    def _next(self, offset: int, last: Kind | None) -> tuple[Record, int] | Ending:
        head = self._file.read(_HEAD.size + _CRC.size)
        if not head:
            if last is Kind.END:
                return Ending(Cause.CLOSED, offset, "was closed in order")
            return Ending(Cause.CUT, offset, f"was not closed: the file ends at byte {offset}")
        if len(head) < _HEAD.size + _CRC.size:
            return Ending(Cause.CUT, offset, f"is cut in the record at byte {offset}")
        number, length, crc = _HEAD.unpack_from(head)
        if _CRC.unpack_from(head, _HEAD.size)[0] != zlib.crc32(head[: _HEAD.size]):
            return _damaged(offset, "the head of the record does not have its checksum")
        if length > self.nbytes - offset - len(head):
            return Ending(Cause.CUT, offset, f"is cut in the record at byte {offset}")
        payload = self._file.read(length)
        if len(payload) < length:
            return Ending(Cause.CUT, offset, f"is cut in the record at byte {offset}")
        if zlib.crc32(payload) != crc:
            return _damaged(offset, "the record does not have its checksum")
        try:
            return _decode(number, payload, offset), offset + len(head) + length
        except ValueError as error:
            return _damaged(offset, f"the record has no meaning: {error}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> SessionReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _damaged(offset: int, text: str) -> Ending:
    return Ending(Cause.DAMAGED, offset, f"is damaged at byte {offset}: {text}")


def _decode(number: int, payload: bytes, offset: int) -> Record:
    kind = Kind(number)
    if len(payload) < _LENGTH.size:
        raise ValueError("it holds no object")
    length = _LENGTH.unpack_from(payload)[0]
    at = _LENGTH.size + length
    if length > _MAX_JSON or at > len(payload):
        raise ValueError("its object is longer than it")
    try:
        value = json.loads(payload[_LENGTH.size : at])
    except RecursionError:
        raise ValueError("its object is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it holds no object")
    sizes = value.pop("blobs", [])
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError("the sizes of its blobs are no list of counts")
    if at + sum(sizes) != len(payload):
        raise ValueError("its blobs do not fill it")
    blobs = []
    for size in sizes:
        blobs.append(payload[at : at + size])
        at += size
    return Record(kind, value, tuple(blobs), offset)


def _open(path: Path) -> BinaryIO:
    try:
        # Non-blocking, so that a FIFO in the place of a file is an error and not a wait.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SessionError(f"{path}: cannot be opened: {reason}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SessionError(f"{path}: not a regular file", remedy="name a session file")
    return os.fdopen(handle, "rb")


def _check_head(head: bytes, path: Path) -> None:
    if len(head) < _FILE_HEAD.size and MAGIC.startswith(head[: len(MAGIC)]):
        raise SessionError(
            f"{path}: is cut in its first {_FILE_HEAD.size} bytes, so there is no session in it"
        )
    if not head.startswith(MAGIC):
        raise SessionError(
            f"{path}: is no session of Ripplescope", remedy="record one with --record-session FILE"
        )
    version = _FILE_HEAD.unpack(head)[1]
    if version != VERSION:
        raise SessionError(
            f"{path}: a session of format {version}, this program reads {VERSION}",
            remedy="replay it with the program version that wrote it",
        )
