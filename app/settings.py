"""What Ripplescope remembers between runs: theme, window, recent files, hidden panels.

A TOML file in the user's configuration folder, never in the working directory. A broken file is put
aside under another name and told, not lost; keys that this version does not know are kept.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from app.toml_text import to_toml
from replay.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER_VARIABLE = "RIPPLESCOPE_CONFIG_DIR"
MAX_RECENT = 10
THEMES = ("dark", "light")
OPTIONAL_PANELS = frozenset({"Sources", "Probes", "Gallery", "Capture, explained"})
"""Panels that are closed until the user opens them."""
_NOT_REOPENED = "Capture, explained"
"""A lesson that records its graphs when it opens: it does so when asked, not with each start."""


def config_folder() -> Path:
    """Return the folder of settings, layout and user presets; it may not exist yet."""
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    import platformdirs

    return Path(platformdirs.user_config_dir("ripplescope", appauthor=False))


@dataclass
class Settings:
    """The remembered choices; every field has a default and a checked type."""

    theme: str = "dark"
    ui_scale: float = 1.0
    welcome: bool = True
    window_width: int = 1280
    window_height: int = 800
    recent: list[str] = field(default_factory=list)
    hidden_panels: list[str] = field(default_factory=list)
    opened_panels: list[str] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)

    def remember(self, path: Path) -> None:
        """Put a file first in the list of recent files."""
        text = str(path.resolve())
        self.recent = [text, *(name for name in self.recent if name != text)][:MAX_RECENT]

    def closed_panels(self) -> set[str]:
        """Return the panels that are not shown."""
        return set(self.hidden_panels) | (OPTIONAL_PANELS - set(self.opened_panels)) | {_NOT_REOPENED}

    def remember_panels(self, closed: set[str]) -> None:
        """Keep which panels are not shown."""
        self.hidden_panels = sorted(closed - OPTIONAL_PANELS)
        self.opened_panels = sorted(OPTIONAL_PANELS - closed - {_NOT_REOPENED})


def parse_settings(text: str) -> Settings:
    """Return the settings of a TOML text.

    Raises:
        UsageError: no TOML, or a field of the wrong type or out of range; names the field.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the settings are not TOML: {error}") from None
    settings = Settings()
    for item in fields(Settings):
        if item.name == "others" or item.name not in values:
            continue
        setattr(settings, item.name, _checked(item.name, values.pop(item.name)))
    settings.others = values
    return settings


def _checked(name: str, value: Any) -> Any:
    if name in ("recent", "hidden_panels", "opened_panels"):
        good = isinstance(value, list) and all(isinstance(text, str) for text in value)
        wanted = "a list of texts"
    elif name == "theme":
        good, wanted = value in THEMES, " or ".join(THEMES)
    elif name == "welcome":
        good, wanted = isinstance(value, bool), "true or false"
    elif name == "ui_scale":
        good = isinstance(value, (int, float)) and not isinstance(value, bool) and 0.5 <= value <= 4.0
        wanted = "a number from 0.5 to 4"
    else:
        good = isinstance(value, int) and not isinstance(value, bool) and 64 <= value <= 32768
        wanted = "a whole number from 64 to 32768"
    if not good:
        raise UsageError(f"setting {name!r} is {value!r}, not {wanted}")
    return float(value) if name == "ui_scale" else value


def load_settings(folder: Path) -> tuple[Settings, str]:
    """Read the settings; return them and a message, empty if all is well.

    A file that cannot be used is renamed to `settings.broken.toml`, and the defaults are returned.
    """
    path = folder / "settings.toml"
    try:
        return parse_settings(path.read_text("utf-8")), ""
    except FileNotFoundError:
        return Settings(), ""
    except (UsageError, OSError, UnicodeDecodeError) as error:
        reason = str(error)
    kept = _free_name(folder)
    try:
        path.replace(kept)
    except OSError:
        return Settings(), f"{path}: {reason}; the defaults are used"
    return Settings(), f"{path}: {reason}; the defaults are used, and the old file is kept as {kept.name}"


def _free_name(folder: Path) -> Path:
    kept = folder / "settings.broken.toml"
    number = 2
    while kept.exists():
        kept = folder / f"settings.broken-{number}.toml"
        number += 1
    return kept


def save_settings(settings: Settings, folder: Path) -> None:
    """Write the settings; the old file is replaced only by a complete new one.

    Raises:
        UsageError: the folder cannot be written.
    """
    values = {item.name: getattr(settings, item.name) for item in fields(Settings) if item.name != "others"}
    write_text(folder / "settings.toml", to_toml({**values, **settings.others}))


def write_text(path: Path, text: str) -> None:
    """Write a text file through a temporary one beside it.

    Raises:
        UsageError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, "utf-8")
        part.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            part.unlink()
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
