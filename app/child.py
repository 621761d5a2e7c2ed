"""Child processes that run this program: the environment they need, and an end to them.

What a child does, and what becomes of what it says, is known where it is started.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""The folder in which the packages of this program lie."""

_PATIENCE = 5.0  # s for a child to tidy up


def environment(**more: str) -> dict[str, str]:
    """Return this process's variables, with which a child finds the packages from any folder, and more."""
    paths = (str(ROOT), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **more}


def end(child: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """End a child if it still runs: ask it, and after some seconds end it without asking."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
