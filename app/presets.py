"""Presets: named sets of parameter values, as TOML files that people can read and share.

    label = "Honey"
    description = "Slow waves that die at once"
    [values]
    k_speed = 20.0

They come from `assets/presets` and from the user's configuration folder, where the user's win. Which
values are possible is not decided here but by the parameter editor that applies them.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.settings import write_text
from app.toml_text import to_toml
from replay.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Preset:
    """A preset; `path` is the file that it came from."""

    name: str
    label: str
    description: str
    values: Mapping[str, float]
    path: Path
    built_in: bool


def parse_preset(text: str, path: Path, *, built_in: bool) -> Preset:
    """Return the preset of a TOML text.

    Raises:
        UsageError: no TOML, or an entry of the wrong type; names file and entry.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    for key in ("label", "description"):
        if not isinstance(data.get(key, ""), str):
            raise UsageError(f"{path}: {key!r} is {data[key]!r}, not a text")
    values = data.get("values")
    if not isinstance(values, dict) or not values:
        raise UsageError(f"{path}: no table [values]", remedy="give each parameter as NAME = NUMBER")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise UsageError(f"{path}: values.{name} is {value!r}, not a finite number")
    label = data.get("label") or path.stem.replace("-", " ").capitalize()
    numbers = {name: float(value) for name, value in values.items()}
    return Preset(path.stem, label, data.get("description", ""), numbers, path, built_in)


def load_presets(folders: tuple[tuple[Path, bool], ...]) -> tuple[list[Preset], list[str]]:
    """Read all presets of some folders; return them by name, and a message for each broken file.

    Args:
        folders: (folder, whether built in); a later folder wins over an earlier one.
    """
    found: dict[str, Preset] = {}
    messages = []
    for folder, built_in in folders:
        for path in sorted(folder.glob("*.toml")):
            try:
                preset = parse_preset(path.read_text("utf-8"), path, built_in=built_in)
            except UsageError as error:
                messages.append(str(error))
            except (OSError, UnicodeDecodeError) as error:
                messages.append(f"{path}: cannot be read: {error}")
            else:
                found[preset.name] = preset
    return list(found.values()), messages


def save_preset(label: str, values: Mapping[str, float], folder: Path, description: str = "") -> Preset:
    """Write a preset into a folder under a file name made from its label.

    Raises:
        UsageError: the label holds no letter or digit, there are no values, or the folder cannot be written.
    """
    name = re.sub(r"[^a-z0-9]+", "-", label.lower()).strip("-")
    if not name:
        raise UsageError(f"a preset cannot be called {label!r}", remedy="use letters or digits")
    if not values:
        raise UsageError("this capture has no parameters that a preset could hold")
    numbers = {key: float(value) for key, value in values.items()}
    path = folder / f"{name}.toml"
    write_text(path, to_toml({"label": label.strip(), "description": description, "values": numbers}))
    return Preset(name, label.strip(), description, numbers, path, False)
