"""Places to write to: those a command is asked for, checked before any work, and that of pictures.

Writing is not done here.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from replay.errors import UsageError


def check_output_path(option: str, path: Path) -> None:
    """Refuse a place where no file can be written; one that is there already may be replaced.

    Args:
        option: what the user calls it, such as `--json`.
        path: of the file.

    Raises:
        UsageError: a folder or a device in the way, a path that no file can have, or a folder that is
            missing or not writable.
    """
    where, folder = f"{option} {path}", path.parent
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{where} cannot be written: {reason}", remedy="give another path") from None
    if mode is not None and stat.S_ISDIR(mode):
        raise UsageError(f"{where} is a folder", remedy="name a file")
    if mode is not None and not stat.S_ISREG(mode):
        raise UsageError(f"{where} is not a regular file", remedy="give another path")
    if not folder.is_dir():
        raise UsageError(f"{where}: there is no folder {folder}", remedy="make it first")
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{where}: {folder} is not writable", remedy="give another path")


def screenshot_path() -> Path:
    """Return a file name by date and time in the user's folder for pictures."""
    import platformdirs

    folder = Path(platformdirs.user_pictures_dir()) / "Ripplescope"
    return folder / time.strftime("ripplescope-%Y%m%d-%H%M%S.png")
