"""Which captures may run: those that this installation recorded, and those that the user accepted.

A capture is known by a digest of its `.wrp` and of its module files, which are native code. The record is a
file of JSON lines that is only ever appended to, so that two processes can write at once; a line that is no
entry is left out. Where the file lies, and how a user is asked, is not known here.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from replay.errors import TrustError
from replay.graph.model import Capture, Fault, Severity
from replay.players.source import module_files

_LIMIT = 16 << 20  # bytes of the record that are read, the newest ones


class Event(enum.Enum):
    """What is known of a capture."""

    RECORDED = "recorded"  # by this installation
    ACCEPTED = "accepted"  # by the user
    TRIED_WELL = "tried well"  # a trial run on a device came to its end
    TRIED_BADLY = "tried badly"  # a trial run did not


@dataclass(frozen=True)
class TrustEntry:
    """One line of the record.

    Attributes:
        digest: of the capture, see `capture_digest`.
        event: what happened.
        name: the file's name then.
        when: time in UTC, ISO 8601.
        device: kind of device of a trial; else empty.
        reason: why a trial failed; else empty.
    """

    digest: str
    event: Event
    name: str = ""
    when: str = ""
    device: str = ""
    reason: str = ""


class TrustRecord:
    """The record in a file, which need not exist.

    Args:
        path: the file; its folder is made when something is added.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self, digest: str) -> tuple[TrustEntry, ...]:
        """Return what is known of a capture, the oldest first.

        Raises:
            TrustError: the record exists and cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LIMIT))
                lines = file.read().splitlines()
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise TrustError(f"cannot read {self.path}: {error.strerror or error}") from None
        wanted = digest.encode()
        found = (_entry(line) for line in lines if wanted in line)
        return tuple(entry for entry in found if entry is not None and entry.digest == digest)

    def add(self, entry: TrustEntry) -> None:
        """Append an entry.

        Raises:
            TrustError: it cannot be written.
        """
        line = json.dumps({**dataclasses.asdict(entry), "event": entry.event.value}) + "\n"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            try:
                os.write(descriptor, line.encode())  # one call: lines of two processes do not mix
            finally:
                os.close(descriptor)
        except OSError as error:
            raise TrustError(
                f"cannot remember this capture in {self.path}: {error.strerror or error}",
                remedy="make the folder writable",
            ) from None

    def is_trusted(self, digest: str) -> bool:
        """Return whether a capture was recorded here or accepted by the user."""
        return any(entry.event in (Event.RECORDED, Event.ACCEPTED) for entry in self.entries(digest))

    def last_trial(self, digest: str, device: str) -> TrustEntry | None:
        """Return the newest trial of a capture on a kind of device."""
        trials = [
            entry
            for entry in self.entries(digest)
            if entry.event in (Event.TRIED_WELL, Event.TRIED_BADLY) and entry.device == device
        ]
        return trials[-1] if trials else None


def _entry(line: bytes) -> TrustEntry | None:
    try:
        value = json.loads(line)
        texts = {field.name: value.get(field.name, "") for field in dataclasses.fields(TrustEntry)}
        if not all(isinstance(text, str) for text in texts.values()):
            return None
        return TrustEntry(**{**texts, "event": Event(texts["event"])})
    except (ValueError, AttributeError):
        return None


def capture_digest(capture: Capture) -> str:
    """Return the SHA-256 digest, in hexadecimal, of what a replay of a capture would run.

    Raises:
        ReplayError: a module file is missing or no regular file.
    """
    digest = hashlib.sha256(hashlib.sha256(capture.data).digest())
    for name, content in module_files(capture).items():
        digest.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
    return digest.hexdigest()


def replay_warnings(capture: Capture) -> tuple[Fault, ...]:
    """Return the notes about launches that may crash elsewhere, such as addresses baked in as numbers."""
    return tuple(
        fault
        for fault in capture.faults
        if fault.severity is Severity.NOTE and fault.event is not None and ".values[" in fault.field
    )
