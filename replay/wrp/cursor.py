"""A cursor over part of a file that never leaves it and says where and in which field it failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from replay.errors import CaptureFileError
from replay.wrp.files import Peek


@dataclass(frozen=True, slots=True)
class Text:
    """A string of the file.

    Attributes:
        value: the text; bytes that are no UTF-8 are shown as `\\xNN`.
        offset, nbytes: of its bytes in the file.
        bad_at: offset of the first byte that is no UTF-8, None if all is.
    """

    value: str
    offset: int
    nbytes: int
    bad_at: int | None

    def raw(self, data: bytes) -> bytes:
        """Return its bytes."""
        return data[self.offset : self.offset + self.nbytes]


class Cursor:
    """Reads fields one after another between `start` and `end` of `data`."""

    def __init__(self, data: bytes | Peek, start: int, end: int, *, path: str, part: str) -> None:
        self.data, self.at, self.end, self._path, self._part = data, start, end, path, part

    @property
    def remaining(self) -> int:
        """Bytes left before the end of the part."""
        return self.end - self.at

    def fail(self, what: str, field: str, offset: int | None = None) -> CaptureFileError:
        """Return the error of a field at the cursor, or at `offset`."""
        return CaptureFileError(
            what, path=self._path, offset=self.at if offset is None else offset, field=field
        )

    def require(self, nbytes: int, field: str) -> None:
        """Raise unless `nbytes` more lie before the end."""
        if nbytes > self.remaining:
            raise self.fail(f"{nbytes} bytes needed, but the {self._part} ends after {self.remaining}", field)

    def u32(self, field: str) -> int:
        """Read an unsigned 32-bit number."""
        return int.from_bytes(self.take(4, field), "little")

    def u8(self, field: str) -> int:
        """Read a byte."""
        return self.take(1, field)[0]

    def take(self, nbytes: int, field: str) -> bytes:
        """Read raw bytes."""
        self.require(nbytes, field)
        found = self.data[self.at : self.at + nbytes]
        if len(found) < nbytes:
            raise self.fail("the file became shorter while it was read", field)
        self.at += nbytes
        return found

    def record(self, dtype: np.dtype[Any], field: str) -> Any:
        """Read one packed record."""
        return np.frombuffer(self.take(dtype.itemsize, field), dtype)[0]

    def count(self, field: str, smallest: int, *, most: int) -> int:
        """Read how many records follow, each of at least `smallest` bytes, and check that they can."""
        at = self.at
        value = self.u32(field)
        self.check_count(value, smallest, field, at, most=most)
        return value

    def check_count(self, value: int, smallest: int, field: str, offset: int, *, most: int) -> None:
        """Raise if so many records of at least `smallest` bytes cannot follow, or are more than `most`."""
        if value * smallest > self.remaining:
            room = self.remaining // smallest
            raise self.fail(
                f"{value} records claimed, but at most {room} fit into the {self._part}", field, offset
            )
        if value > most:
            raise self.fail(f"{value} records, but at most {most} are read here", field, offset)

    def text(self, field: str) -> Text:
        """Read a string: its length in 32 bits, then UTF-8."""
        at = self.at
        length = self.u32(f"{field}.length")
        if length > self.remaining:
            raise self.fail(
                f"a string of {length} bytes runs past the {self._part}, {self.remaining} bytes are left",
                f"{field}.length",
                at,
            )
        return decode(self.take(length, field), at + 4)


def decode(raw: bytes, offset: int) -> Text:
    """Return raw bytes of the file as text."""
    try:
        return Text(raw.decode("utf-8"), offset, len(raw), None)
    except UnicodeDecodeError as error:
        return Text(raw.decode("utf-8", "backslashreplace"), offset, len(raw), offset + error.start)
