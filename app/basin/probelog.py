"""What the probes of a basin have recorded: the last seconds, one value a substep. No window.

The log listens to the player, so that each launch is noted, however many there are in a picture. On the CPU
that is a copy of some hundred bytes. On a GPU it waits for the launch, so it is put off until the next launch
would write over it, or the picture is made: a picture of one launch waits once, behind its other work.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from replay.errors import UsageError
from replay.players.base import Player
from replay.players.observer import Observer

KEPT_SECONDS = 30.0
OUTPUT, PLACES = "probe_out", "probe_pos"


class ProbeLog(Observer):
    """The records of all probes of a player.

    Attributes:
        revision: changes with every launch that was noted.
        count: values a probe that are kept.
    """

    def __init__(self) -> None:
        self.revision = 0
        self.count = 0
        self._player: Player | None = None
        self._view: np.ndarray | None = None
        self._times = np.zeros(0)
        self._values = np.zeros((0, 0), np.float32)
        self._end = 0
        self._time = 0.0
        self._step = 0.0
        self._expected = -1
        self._due = False

    @property
    def player(self) -> Player | None:
        """What it listens to."""
        return self._player

    def follow(self, player: Player | None, step: float) -> None:
        """Listen to a player from now on, or to none; `step` is the time of a substep in s.

        A player without probes, or with none placed, costs nothing.
        """
        if player is not self._player:
            self.close()
            if player is not None and OUTPUT in player.parameters and PLACES in player.parameters:
                self._player = player
                player.observers.append(self)
                probes = player.parameters[OUTPUT].shape[1]
                self._values = np.zeros((0, probes), np.float32)
                on_cpu = player.device.startswith("cpu")
                self._view = np.asarray(player.view(OUTPUT)) if on_cpu else None
        if step != self._step:
            self._step = step
            self.clear()

    def clear(self) -> None:
        """Forget what was recorded."""
        self.count = self._end = 0
        self._time = 0.0
        self._expected = -1
        self._due = False
        self.revision += 1

    def restored(self) -> None:
        """The water is another one now."""
        self.clear()

    def launching(self) -> None:
        """Take over the launch before, whose record this one writes over."""
        self.fetch()

    def launched(self) -> None:
        """Note the launch: now on the CPU, at the next launch or `fetch` on a GPU."""
        player = self._player
        assert player is not None
        if player.frames != self._expected and self._expected >= 0:
            self.clear()
        self._expected = player.frames + 1
        if self._view is not None:
            self._note(self._view)
        else:
            self._due = True

    def fetch(self) -> None:
        """Take over the last launch where that was put off. It waits for that launch."""
        if self._due and self._player is not None:
            self._due = False
            if self._player.frames == self._expected - 1:  # else it was reset since, and its record with it
                self._note(self._player.get(OUTPUT))

    def _note(self, rows: np.ndarray) -> None:
        substeps = len(rows)
        room = int(KEPT_SECONDS / max(self._step, 1e-9)) // substeps * substeps
        room = min(max(room, 4 * substeps), 1 << 17)
        if self._end + substeps > len(self._times):  # twice the room, so that it moves but seldom
            kept = min(self.count, room - substeps)
            times, values = np.zeros(2 * room), np.zeros((2 * room, rows.shape[1]), np.float32)
            times[:kept] = self._times[self._end - kept : self._end]
            values[:kept] = self._values[self._end - kept : self._end]
            self._times, self._values, self._end, self.count = times, values, kept, kept
        end = self._end + substeps
        self._times[self._end : end] = self._time + self._step * np.arange(1, substeps + 1)
        self._values[self._end : end] = rows
        self._time += self._step * substeps
        self._end = end
        self.count = min(self.count + substeps, room)
        self.revision += 1

    @property
    def step(self) -> float:
        """Seconds between two values."""
        return self._step

    def record(self, probe: int, seconds: float = KEPT_SECONDS) -> tuple[np.ndarray, np.ndarray]:
        """Return times in s and heights in m of a probe, the newest last; since it was put where it is.

        The arrays are the log's own: they change with the next launch.
        """
        count = min(self.count, int(seconds / self._step + 0.5)) if self._step else 0
        part = slice(self._end - count, self._end)
        times, values = self._times[part], self._values[part, probe]
        off = np.flatnonzero(np.isnan(values))
        return (times, values) if not len(off) else (times[off[-1] + 1 :], values[off[-1] + 1 :])

    def table(self, probes: list[int]) -> tuple[np.ndarray, np.ndarray]:
        """Return copies of the times, and of the heights of some probes as columns."""
        part = slice(self._end - self.count, self._end)
        return self._times[part].copy(), self._values[part][:, probes].copy()

    def close(self) -> None:
        """Listen no more, and forget all."""
        if self._player is not None and self in self._player.observers:
            self._player.observers.remove(self)
        self._player, self._view, self._due = None, None, False
        self._times, self._values = np.zeros(0), np.zeros((0, 0), np.float32)
        self.clear()


def write_csv(path: Path, log: ProbeLog, probes: list[int], places: list[tuple[float, float]]) -> None:
    """Write times and heights of some probes: a line a substep, NaN left empty.

    Args:
        path: the file, which is replaced.
        log: the records.
        probes: their numbers, from 0.
        places: where they are, for the heading: column and row.

    Raises:
        UsageError: it cannot be written.
    """
    times, heights = log.table(probes)
    names = [f"probe {probe + 1} at ({x:g} {y:g}) (m)" for probe, (x, y) in zip(probes, places, strict=True)]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", encoding="utf-8", newline="\n") as file:
            file.write(",".join(["time (s)", *names]) + "\n")
            for time, row in zip(times.tolist(), heights.tolist(), strict=True):
                cells = ("" if value != value else f"{value:.9g}" for value in row)
                file.write(",".join([f"{time:.9g}", *cells]) + "\n")
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror or error}", remedy="choose another folder"
        ) from None
