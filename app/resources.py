"""Where the data files are: shaders, fonts, presets, icons.

In a checkout they lie beside `app`, in an installed wheel inside it; nobody else needs to know. It reads
nothing and caches nothing.
"""

from __future__ import annotations

from pathlib import Path

from replay.errors import RipplescopeError

_APP = Path(__file__).resolve().parent


def resource(name: str) -> Path:
    """Return the path of a data file or folder.

    Args:
        name: relative to the data folders' parent, with forward slashes, such as `shaders/water.vert`.

    Raises:
        RipplescopeError: there is none, so the installation is damaged.
    """
    for root in (_APP.parent, _APP):
        path = root / name
        if path.exists():
            return path
    raise RipplescopeError(f"the installation lacks {name}", remedy="install ripplescope again")
