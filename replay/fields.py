"""Checked access to decoded JSON: every value is asked for by name and type, and a fault names its path.

It knows JSON and nothing of what the values mean; the manifest is read with it.
"""

from __future__ import annotations

import json
import math
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from replay.errors import ManifestError


def read_json(path: Path, max_bytes: int) -> object:
    """Return the JSON value in a regular file of limited size.

    Raises:
        ManifestError: the file cannot be read, is not regular, is too large, or holds no JSON.
    """
    try:
        # Non-blocking, so that a FIFO in the place of a file is an error and not a wait.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise ManifestError(
            f"{path}: cannot be opened: {getattr(error, 'strerror', None) or error}"
        ) from None
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise ManifestError(f"{path}: not a regular file")
    with os.fdopen(handle, "rb") as file:
        if status.st_size > max_bytes:
            raise ManifestError(f"{path}: {status.st_size} bytes, more than the {max_bytes} allowed")
        raw = file.read(max_bytes + 1)
    if len(raw) > max_bytes:
        raise ManifestError(f"{path}: more than the {max_bytes} bytes allowed")
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_no_constant, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        where = f"{path}: line {error.lineno}, column {error.colno}"
        raise ManifestError(f"{where}: not valid JSON: {error.msg}") from None
    except RecursionError:
        raise ManifestError(f"{path}: not valid JSON: nested too deeply") from None
    except ValueError as error:
        raise ManifestError(f"{path}: not valid JSON: {error}") from None


def _no_constant(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON number")


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value: dict[str, object] = {}
    for name, member in pairs:
        if name in value:
            raise ValueError(f"the name {name!r} appears twice in one object")
        value[name] = member
    return value


class Field:
    """A JSON value and the path that leads to it, such as `parameters[2].shape`."""

    def __init__(self, value: object, where: str, path: str = "") -> None:
        self.value, self.where, self.path = value, where, path

    def fail(self, what: str, *, remedy: str = "") -> NoReturn:
        """Raise ManifestError for this place."""
        place = f"{self.where}: {self.path}" if self.path else self.where
        raise ManifestError(f"{place}: {what}", remedy=remedy)

    def members(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, Field]:
        """Return the members of an object that has these names and no others."""
        if not isinstance(self.value, dict):
            self.fail(f"expected an object, found {_kind(self.value)}")
        found = {
            name: self._below(value, f".{name}" if self.path else name) for name, value in self.value.items()
        }
        for name in required:
            if name not in found:
                self.fail(f"the field {name!r} is missing")
        for name, member in found.items():
            if name not in required and name not in optional:
                member.fail("unknown field")
        return found

    def items(self, *, most: int) -> Iterator[Field]:
        """Return the items of a list of at most `most` items."""
        if not isinstance(self.value, list):
            self.fail(f"expected a list, found {_kind(self.value)}")
        if len(self.value) > most:
            self.fail(f"{len(self.value)} items, more than the {most} allowed")
        return (self._below(value, f"[{index}]") for index, value in enumerate(self.value))

    def text(self, *, empty: bool = True, choices: tuple[str, ...] = ()) -> str:
        """Return a printable string."""
        if not isinstance(self.value, str):
            self.fail(f"expected a string, found {_kind(self.value)}")
        if not self.value.isprintable() or len(self.value) > 500:
            self.fail("expected at most 500 printable characters")
        if choices and self.value not in choices:
            self.fail(f"{self.value!r} is none of {', '.join(map(repr, choices))}")
        if not self.value and not empty:
            self.fail("must not be empty")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            self.fail(f"expected true or false, found {_kind(self.value)}")
        return self.value

    def whole(self, low: int, high: int) -> int:
        """Return a whole number from low to high."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            self.fail(f"expected a whole number, found {_kind(self.value)}")
        if not low <= self.value <= high:
            self.fail(f"{self.value} is not from {low} to {high}")
        return self.value

    def number(self, *, positive: bool = False) -> float:
        """Return a finite number."""
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool):
            self.fail(f"expected a number, found {_kind(self.value)}")
        try:
            number = float(self.value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail("not a finite number")
        if positive and number <= 0.0:
            self.fail(f"{number:g} is not greater than 0")
        return number

    def optional_number(self) -> float | None:
        """Return a finite number, or None for null."""
        return None if self.value is None else self.number()

    def _below(self, value: object, step: str) -> Field:
        return Field(value, self.where, self.path + step)


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "true or false", dict: "an object", list: "a list", str: "a string"}
    return names.get(type(value), f"the number {value!r:.40}")
