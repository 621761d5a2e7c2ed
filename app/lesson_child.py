"""The child that records the lesson about capture, so that the window never records: see `app.lesson`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from replay.errors import RipplescopeError


def main(folder: Path) -> int:
    """Record into a folder, which is there only once it is complete; return the exit code."""
    from app.trust import remember_recorded
    from capture.lesson import record_lesson

    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        paths = record_lesson(made)
        if folder.exists():
            shutil.rmtree(folder)
        made.replace(folder)
        for path in paths:
            remember_recorded(folder / path.name)
    except (RipplescopeError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
