"""The log that the window shows: a bounded list of lines with their time and weight.

Also takes what Python's `logging` and `warnings` say, so that one place holds all messages.
"""

from __future__ import annotations

import enum
import logging
import time
from collections import deque
from dataclasses import dataclass

from replay.text import printable

MAX_ENTRIES = 500


class Level(enum.IntEnum):
    """How much a line matters."""

    INFO = 0
    WARNING = 1
    ERROR = 2


@dataclass
class Entry:
    """One line; `count` says how often it came in a row."""

    level: Level
    text: str
    clock: str
    count: int = 1


class AppLog:
    """A bounded list of entries; `revision` changes with every entry."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self.revision = 0

    def add(self, text: str, level: Level = Level.INFO) -> Entry:
        """Add a line; the same line again only counts."""
        self.revision += 1
        text = "\n".join(map(printable, text.splitlines()))  # it may be copied into a terminal
        last = self.entries[-1] if self.entries else None
        if last is not None and last.text == text and last.level == level:
            last.count += 1
            return last
        entry = Entry(level, text, time.strftime("%H:%M:%S"))
        self.entries.append(entry)
        return entry

    def clear(self) -> None:
        """Forget all entries."""
        self.entries.clear()
        self.revision += 1

    def text(self) -> str:
        """Return all lines as plain text."""
        return "\n".join(f"{entry.clock} {entry.level.name:7} {entry.text}" for entry in self.entries)


class LogHandler(logging.Handler):
    """Sends Python's log records of warnings and errors to an `AppLog`."""

    def __init__(self, log: AppLog) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Add the record's message."""
        level = Level.ERROR if record.levelno >= logging.ERROR else Level.WARNING
        self._log.add(" ".join(record.getMessage().split()), level)
