"""What a folder holds for someone who looks for a capture: its folders, its `.wrp` files and sessions.

Also what a path that is being typed can become. Only names are looked at; nothing is opened.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

SUFFIXES = (".wrp", ".ripple")
MOST = 500
"""Entries of a listing; a beginning of the name finds the others."""


@dataclass(frozen=True)
class Entry:
    """A folder or a capture in a listing."""

    name: str
    path: Path
    is_folder: bool


@dataclass(frozen=True)
class Listing:
    """What is in a folder.

    Attributes:
        folder: which one, absolute.
        entries: folders first, each by name; at most `MOST`.
        left_out: how many more there are.
        fault: why nothing is listed, empty if it could be read.
    """

    folder: Path
    entries: tuple[Entry, ...]
    left_out: int = 0
    fault: str = ""


def listed(folder: Path, beginning: str = "") -> Listing:
    """Return the folders and captures in a folder whose names begin so, in whatever case.

    What begins with a dot is listed only if the beginning does.
    """
    found: list[Entry] = []
    try:
        folder = folder.resolve()
        with os.scandir(folder) as entries:
            for entry in entries:
                hidden = entry.name.startswith(".") and not beginning.startswith(".")
                if hidden or not entry.name.casefold().startswith(beginning.casefold()):
                    continue
                if _is_folder(entry) or entry.name.lower().endswith(SUFFIXES):
                    found.append(Entry(entry.name, folder / entry.name, _is_folder(entry)))
    except (OSError, ValueError) as error:
        return Listing(
            folder, (), fault=f"{folder} cannot be read: {getattr(error, 'strerror', None) or error}"
        )
    found.sort(key=lambda entry: (not entry.is_folder, entry.name.casefold(), entry.name))
    return Listing(folder, tuple(found[:MOST]), max(0, len(found) - MOST))


def typed_place(text: str) -> tuple[Path, str]:
    """Return the folder that a text that is being typed is in, and the beginning of a name in it."""
    head, tail = os.path.split(text)
    return Path(head or os.curdir).expanduser(), tail


def completed(text: str) -> str:
    """Return a typed path, made as long as what is there leaves no choice; a folder gets its separator."""
    folder, beginning = typed_place(text)
    entries = listed(folder, beginning).entries
    if not entries:
        return text
    common = os.path.commonprefix([entry.name.casefold() for entry in entries])  # noqa: RUF071 - of letters
    name = entries[0].name[: len(common)]
    if len(name) < len(beginning):
        return text
    if len(entries) == 1 and entries[0].is_folder:
        name += os.sep
    return text[: len(text) - len(beginning)] + name


def path_fault(path: Path) -> str:
    """Return why there is no file to open at a path, empty if there is one; `.wrp` may be left out."""
    for candidate in (path, path.with_name(f"{path.name}.wrp") if path.name else path):
        try:
            if candidate.is_file():
                return "" if os.access(candidate, os.R_OK) else f"{candidate} may not be read"
        except OSError as error:
            return f"{path!s:.80} cannot be looked at: {error.strerror}"
    if not path.parent.is_dir():
        return f"There is no folder {path.parent}"
    return f"{path} is no file" if os.path.lexists(path) else f"There is no file {path.name} in {path.parent}"


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
