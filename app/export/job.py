"""An export that goes on beside the window, in a child process: how far it is, and an end to it.

The child is `ripplescope export`; its last line is the reason if it fails.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from app import child
from app.view.options import Quality
from replay.errors import RecordingError

_PROGRESS = re.compile(r"frame (\d+)/(\d+)$")


@dataclass(frozen=True)
class ExportChoice:
    """What of a session is exported and how; the options of `ripplescope export`.

    Attributes:
        size: width and height of pictures in pixels.
        frames: the first frame, counted from 0, and the one after the last; None for the end.
        quality: how much work goes into a picture.
        rate: pictures a second of simulated time; None for one a frame.
        mode: `water` or `data`; None as it was recorded.
    """

    size: tuple[int, int] = (1280, 720)
    frames: tuple[int, int | None] = (0, None)
    quality: Quality = Quality.HIGH
    rate: int | None = None
    mode: str | None = None

    def words(self, kind: str) -> list[str]:
        """Return the options on the command line of an export of a kind."""
        first, stop = self.frames
        words = ["--frames", f"{first}:{'' if stop is None else stop}"]
        if self.rate is not None:
            words += ["--fps", str(self.rate)]
        if kind != "npz":
            words += ["--size", f"{self.size[0]}x{self.size[1]}", "--quality", self.quality.value]
            words += ["--mode", self.mode] if self.mode is not None else []
        return words


class ExportJob:
    """An export that is being made.

    Args:
        session: the file to export.
        kind: `mp4`, `png-dir` or `npz`.
        target: the file or folder; its folder is made.
        choice: what of it, and how.

    Attributes:
        target: as above.
        share: how much is done, 0 to 1.

    Raises:
        RecordingError: the child could not be started.
    """

    def __init__(self, session: Path, kind: str, target: Path, choice: ExportChoice) -> None:
        self.target = target
        self.share = 0.0
        self._last = ""
        words = ["export", str(session), f"--{kind}", str(target), *choice.words(kind)]
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._child = subprocess.Popen(
                [sys.executable, "-m", "app", *words],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, encoding="utf-8", errors="replace",
                env=child.environment(PYTHONUTF8="1"),
            )  # fmt: skip
        except OSError as error:
            raise RecordingError(f"the export cannot be started: {error.strerror or error}") from None
        self._listener = threading.Thread(target=self._listen, name="export", daemon=True)
        self._listener.start()

    def poll(self) -> bool:
        """Return whether it is complete.

        Raises:
            RecordingError: the child failed; holds its last line.
        """
        if self._child.poll() is None:
            return False
        self._listener.join()
        if self._child.returncode != 0:
            reason = self._last.removeprefix("ripplescope: ") or f"exit code {self._child.returncode}"
            raise RecordingError(f"{self.target.name} was not exported: {reason}")
        return True

    def cancel(self) -> None:
        """End the child, which leaves no half file."""
        child.end(self._child)
        self._listener.join()
        with contextlib.suppress(OSError):  # a child that was not asked could not tidy up
            self.target.with_name(f".{self.target.name}.{self._child.pid}.part").unlink()

    def _listen(self) -> None:
        assert self._child.stdout is not None
        with self._child.stdout as said:
            for line in said:
                found = _PROGRESS.search(line.rstrip())
                if found:
                    self.share = int(found[1]) / max(int(found[2]), 1)
                elif line.strip():
                    self._last = line.strip()
