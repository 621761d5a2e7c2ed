"""Capturing a frame with another grid in a child process, so that the window never waits.

The child is `ripplescope capture`; what it says is kept, and its last line is the reason if it fails. The
files go into the cache folder under a name of their own and replace nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app import child
from replay.errors import RecordingError


@dataclass(frozen=True)
class FrameRequest:
    """The frame that is asked for: cells, substeps a frame, the device to record for, and the solver.

    Without a solver the command's default is taken.
    """

    width: int
    height: int
    substeps: int
    device: str
    solver: str = ""

    def __str__(self) -> str:
        return f"{self.width}×{self.height}, {self.substeps} substeps"


class Recapture:
    """A capture that is being made.

    Args:
        request: the frame.
        folder: where the files go; made if it is missing.

    Raises:
        RecordingError: the child could not be started.
    """

    def __init__(self, request: FrameRequest, folder: Path) -> None:
        self.request = request
        frame = f"{request.width}x{request.height}x{request.substeps}{request.solver}"
        self.output = folder / f"panel-{frame}-{request.device.replace(':', '-')}.wrp"
        self.started = time.monotonic()
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._child = subprocess.Popen(
                [
                    sys.executable, "-m", "app", "capture",
                    "--width", str(request.width), "--height", str(request.height),
                    "--substeps", str(request.substeps), "--device", request.device,
                    "--output", str(self.output),
                    *(("--solver", request.solver) if request.solver else ()),
                ],
                stdin=subprocess.DEVNULL, stdout=self._said, stderr=subprocess.STDOUT, cwd=folder,
                env=child.environment(),
            )  # fmt: skip
        except OSError as error:
            self._said.close()
            raise RecordingError(f"the capture cannot be started: {error.strerror or error}") from None

    def poll(self) -> Path | None:
        """Return the new file once it is complete, None while the child is at work.

        Raises:
            RecordingError: the child failed; holds its last line.
        """
        code = self._child.poll()
        if code is None:
            return None
        self._said.seek(0)
        lines = self._said.read().decode("utf-8", "replace").strip().splitlines()
        self._said.close()
        if code != 0:
            reason = lines[-1].removeprefix("ripplescope: ") if lines else f"exit code {code}"
            raise RecordingError(f"no new capture of {self.request}: {reason}")
        return self.output

    def cancel(self) -> None:
        """End the child if it still runs."""
        child.end(self._child)
        self._said.close()
