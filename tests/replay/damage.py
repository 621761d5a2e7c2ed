"""Captures whose bytes are changed at the places of their own records."""

from __future__ import annotations

import struct
from pathlib import Path

from replay.graph.model import Capture
from replay.graph.open import capture_from_bytes, open_capture
from replay.wrp import layout


class Damage:
    """A capture whose bytes can be changed at the places of its own records."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.data = bytearray(path.read_bytes())
        self.capture = open_capture(path)

    def launch(self, event: int, field: str) -> int:
        fields = layout.LAUNCH.fields
        assert fields is not None
        return self.capture.operations[event].offset + fields[field][1]

    def put(self, offset: int, format: str, *values: int) -> Capture:
        struct.pack_into("<" + format, self.data, offset, *values)
        return capture_from_bytes(bytes(self.data), self.path)


def only(capture: Capture, words: str) -> tuple[str, int | None, str]:
    """Return place, offset and field of the fault that blocks the replay and holds the words."""
    (fault,) = [fault for fault in capture.blocking_faults if words in fault.what]
    return fault.where, fault.offset, fault.field
