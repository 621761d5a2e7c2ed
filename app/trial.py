"""A trial run of a capture in a child process: a crash, a hang or a huge allocation there is a message here.

It protects against accidents, not against malice: the child has the rights of the user. Time is limited
everywhere; memory where the system says how much a process has, which is not so on Windows. What the code
of the capture starts is ended with the child, as far as `app.offspring` finds it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from app import child, offspring
from replay.errors import TrustError
from replay.graph.model import Capture, OpKind

_READ = 64 * 1024
_POLL_SECONDS = 0.05
_NO_MEMORY = ("out of memory", "memoryerror", "bad_alloc", "failed to allocate", "cannot allocate memory")


@dataclass(frozen=True)
class TrialLimits:
    """What a trial may take.

    Attributes:
        seconds: wall time, with the start of Python and Warp.
        memory: bytes beside what Python and Warp take; None works it out from the capture.
    """

    seconds: float = 30.0
    memory: int | None = None

    def memory_of(self, capture: Capture) -> int:
        """Return the bytes that a capture may take: some copies of its regions and of its file, and 1 GiB."""
        if self.memory is not None:
            return self.memory
        regions = sum(region.nbytes for region in capture.regions.values())
        return 6 * regions + 4 * len(capture.data) + (1 << 30)


@dataclass(frozen=True)
class TrialResult:
    """How a trial ended; `reason` is a clause that says where and at what if it went badly."""

    good: bool
    reason: str = ""


class Trial:
    """A trial that runs; a window asks `poll` every frame, a command waits with `wait`.

    Args:
        capture: what to try; nothing of it runs in this process.
        digest: of `capture`; the child refuses another one.
        device: as for `open_player`.
        command: what to run instead of the child, for tests.

    Raises:
        TrustError: the child cannot be started.
    """

    def __init__(
        self,
        capture: Capture,
        digest: str,
        device: str = "auto",
        limits: TrialLimits = TrialLimits(),
        command: Sequence[str] | None = None,
    ) -> None:
        self.capture = capture
        self.limits = limits
        self.memory = limits.memory_of(capture)
        self._result: TrialResult | None = None
        self._said: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        self._told: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        seconds = max(1, int(limits.seconds) + 1) * (os.cpu_count() or 1)  # all threads of Warp count
        if command is None:
            command = [
                sys.executable, "-m", "app.trust_child", str(capture.path.absolute()),
                "--device", device, "--digest", digest,
                "--memory", str(self.memory), "--seconds", str(seconds),
            ]  # fmt: skip
        self._began = time.monotonic()
        try:
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=self._said, stderr=self._told,
                env=child.environment(),
                start_new_session=True,  # what its code starts is in its group, and no Ctrl+C reaches it
            )  # fmt: skip
        except OSError as error:
            self._said.close()
            self._told.close()
            raise TrustError(f"the trial run cannot be started: {error.strerror or error}") from None

    def poll(self) -> TrialResult | None:
        """Return the result once the trial has ended, None while it runs; ends it where it passes a limit."""
        if self._result is not None:
            return self._result
        code = self._child.poll()
        if code is None:
            taken = _memory_of(self._child.pid)
            if time.monotonic() - self._began > self.limits.seconds:
                return self._end(f"it did not end within {self.limits.seconds:g} s", loops=True)
            # what Python and Warp take comes on top, as for the limit inside the child
            if taken is not None and taken > self.memory + (1 << 30):
                return self._end(f"it took {taken >> 20} MiB of memory, {self.memory >> 20} MiB are allowed")
            return None
        left = offspring.end_group(self._child.pid)
        if code == 0 and self._step() == "done":
            reason = "it left processes behind, which were ended" if left else ""
            return self._finish(TrialResult(not left, reason))
        return self._finish(TrialResult(False, self._failure(code)))

    def wait(self) -> TrialResult:
        """Wait for the end and return the result; an interruption ends the child."""
        try:
            while (result := self.poll()) is None:
                time.sleep(_POLL_SECONDS)
            return result
        finally:
            self.cancel()

    def cancel(self) -> None:
        """End the child if it still runs."""
        if self._result is None:
            self._end("it was cancelled")

    def _end(self, reason: str, *, loops: bool = False) -> TrialResult:
        step = self._step()
        offspring.end_tree(self._child.pid)
        self._child.kill()
        self._child.wait()
        if loops and self._may_loop(step):
            reason += ", so its loop may never end"
        return self._finish(TrialResult(False, f"{reason}{self._place(step)}"))

    def _finish(self, result: TrialResult) -> TrialResult:
        self._result = result
        self._said.close()
        self._told.close()
        return result

    def _failure(self, code: int) -> str:
        step, lines = self._step(), _text(self._told).strip().splitlines()
        last = lines[-1].strip() if lines else ""
        text = "\n".join(lines)
        if "exceeded guard limit" in text:
            return f"a WHILE loop does not end{self._place(step)}"
        if any(sign in text.lower() for sign in _NO_MEMORY):
            return f"it asks for more than {self.memory >> 20} MiB of memory{self._place(step)}"
        if code < 0:
            try:
                name = signal.Signals(-code).name
            except ValueError:
                name = f"signal {-code}"
            if name in ("SIGXCPU", "SIGKILL"):
                why = "as it does at a limit of time or memory"
                return f"the system ended it ({name}), {why}{self._place(step)}"
            return f"it crashed with {name}{self._place(step)}"
        return f"{last or f'exit code {code}'}{self._place(step)}"

    def _step(self) -> str:
        lines = _text(self._said).strip().splitlines()
        return lines[-1] if lines else ""

    def _event(self, step: str) -> int | None:
        name, _, number = step.partition(" ")
        known = name == "event" and number.isdecimal() and int(number) < len(self.capture.operations)
        return int(number) if known else None

    def _place(self, step: str) -> str:
        event = self._event(step)
        if event is not None:
            return f", in event {event}, {self.capture.operations[event].label}"
        return {"load": ", while it was loaded", "launch": ", in a launch of the whole graph"}.get(step, "")

    def _may_loop(self, step: str) -> bool:
        event = self._event(step)
        if event is not None:
            return self.capture.operations[event].kind is OpKind.WHILE
        return step == "launch" and any(
            self.capture.operations[event].kind is OpKind.WHILE for event in self.capture.top_level[:10_000]
        )


def _text(file: IO[bytes]) -> str:
    # The child writes at the position of the same open file: look without moving it.
    size = os.fstat(file.fileno()).st_size
    start = max(0, size - _READ)
    if hasattr(os, "pread"):
        raw = os.pread(file.fileno(), _READ, start)
    else:
        file.seek(start)
        raw = file.read(_READ)
        file.seek(0, os.SEEK_END)
    return raw.decode("utf-8", "replace")


def _memory_of(pid: int) -> int | None:
    """Return the bytes of memory that a process has in use, None where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None
