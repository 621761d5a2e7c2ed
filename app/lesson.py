"""The lesson about capture as the window replays it: four small graphs, and what a count has come to in each.

They are recorded once, by a child process, and kept in the cache. Nothing is recorded here, and nothing
drawn. A graph is replayed by the same player as any capture.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO, Any

import numpy as np

from app import child
from app.cache import cache_folder
from app.child import ROOT
from replay.errors import RecordingError, RipplescopeError
from replay.players.base import Player

_SUMMARY = "lesson.json"
_SOURCES = ("lesson.py", "classic.py", "audit.py", "kernels/classic.py")


@dataclass(frozen=True)
class Finding:
    """What the audit found, as it tells it, with the line of the code or None."""

    kind: str
    attribute: str
    before: str
    after: str
    why: str
    remedies: tuple[str, ...]
    line: int | None


@dataclass
class Case:
    """One recorded loop, and its replays.

    Attributes:
        substeps: of a frame.
        copies_back: whether the result is copied to where the next frame starts.
        sim_tick: what the counter in Python held when the recording had ended.
        swapped: whether the two states had changed places then.
        findings: of the audit.
        player: replays it.
        clock: what the counter on the device holds.
        result: how many substeps acted on the result.
    """

    substeps: int
    copies_back: bool
    sim_tick: int
    swapped: bool
    findings: tuple[Finding, ...]
    player: Player
    clock: int = 0
    result: int = 0

    @property
    def replays(self) -> int:
        """Launches so far."""
        return self.player.frames

    @property
    def expected(self) -> int:
        """What the loop would have counted, run as Python as often."""
        return self.substeps * self.replays

    @property
    def lost(self) -> int:
        """Substeps that are missing from the result."""
        return self.expected - self.result

    def replay(self) -> None:
        """Launch the graph once and look at its counters."""
        self.player.launch()
        self.look()

    def look(self) -> None:
        """Read the counters; the files have no manifest, so their types are told here."""
        self.clock = int(self._bytes("clock").view(np.int32)[0])
        self.result = round(float(self._bytes("result").view(np.float32)[0]))

    def _bytes(self, name: str) -> np.ndarray:
        return self.player.region_bytes(self.player.parameters[name].region)


class Lesson:
    """The four cases, once they are there.

    Attributes:
        cases: empty while they are being recorded.
        code: the lines of the recorded loop.
        failed: why there are none, empty if nothing went wrong.
    """

    def __init__(self) -> None:
        self.cases: list[Case] = []
        self.code: list[str] = []
        self.failed = ""
        self._folder = cache_folder() / f"lesson-{_digest()}"
        self._said: IO[bytes] | None = None
        self._child: subprocess.Popen[bytes] | None = None
        if not self._load():
            self._record()

    def poll(self) -> bool:
        """Return whether the cases are there; takes them over when the child has ended."""
        if self.cases:
            return True
        if self._child is None or self._child.poll() is None:
            return False
        said = self._said_by_child()
        code, self._child = self._child.returncode, None
        if code or not self._load():
            self.failed = said[-1] if said else f"the child ended with code {code}"
        return bool(self.cases)

    def replay(self) -> None:
        """Launch each graph once."""
        for case in self.cases:
            case.replay()

    def reset(self) -> None:
        """Begin again with no replay."""
        for case in self.cases:
            case.player.reset()
            case.look()

    def close(self) -> None:
        """Release the graphs, and end the child."""
        for case in self.cases:
            case.player.close()
        self.cases = []
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            self._child = None
        if self._said is not None:
            self._said.close()
            self._said = None

    def _record(self) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
        try:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "app.lesson_child", str(self._folder)],
                stdin=subprocess.DEVNULL, stdout=self._said, stderr=subprocess.STDOUT,
                env=child.environment(),
            )  # fmt: skip
        except OSError as error:
            raise RecordingError(f"the lesson cannot be recorded: {error.strerror or error}") from None

    def _said_by_child(self) -> list[str]:
        if self._said is None:
            return []
        self._said.seek(0)
        text = self._said.read().decode("utf-8", "replace")
        self._said.close()
        self._said = None
        return text.strip().splitlines()

    def _load(self) -> bool:
        """Open what is in the folder; what is damaged is removed, to be recorded again."""
        from app.trust import require_trust
        from replay.graph.open import open_capture
        from replay.players import open_player

        if not (self._folder / _SUMMARY).is_file():
            return False
        cases: list[Case] = []
        try:
            told = json.loads((self._folder / _SUMMARY).read_text("utf-8"))
            first = told["code"]["first"]
            for item in told["cases"]:
                capture = open_capture(self._folder / item["file"])
                require_trust(capture, False, "cpu", ask=lambda _: False)  # recorded again instead
                player = open_player(capture, "cpu")
                findings = tuple(_finding(found, first) for found in item["findings"])
                cases.append(
                    Case(
                        item["substeps"], item["copies_back"], item["sim_tick"], item["swapped"], findings,
                        player,
                    )
                )  # fmt: skip
        except (RipplescopeError, OSError, ValueError, KeyError, TypeError):
            for case in cases:
                case.player.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            return False
        self.cases, self.code = cases, told["code"]["lines"]
        return True


def _finding(found: dict[str, Any], first: int) -> Finding:
    number = found["source"].rpartition(":")[2]
    line = int(number) - first if number.isdigit() else None
    return Finding(
        found["kind"], found["attribute"], found["before"], found["after"], found["why"],
        tuple(found["remedies"]), line,
    )  # fmt: skip


def _digest() -> str:
    """Return what the recording depends on, as a short text."""
    from importlib import metadata

    digest = hashlib.sha256(metadata.version("warp-lang").encode())
    for name in _SOURCES:
        digest.update((ROOT / "capture" / name).read_bytes())
    return digest.hexdigest()[:12]
