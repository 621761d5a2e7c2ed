"""The last frames of a player, to go back to: states now and then, and what the host wrote in between.

A launch cannot be undone, but it can be repeated: a frame is reached from the nearest state before it by
running the launches since with the same inputs, which gives the same bytes. Memory is bounded. What the host
writes through a view is not known and not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from replay.errors import ReplayError
from replay.players.base import Player
from replay.players.observer import Observer
from replay.players.snapshot import Snapshot

Writes = list[tuple[int, np.ndarray]]
MAX_NBYTES = 256 << 20
MAX_FRAMES = 1800
_NO_WRITES: Writes = []  # one for all frames without any, which are most


@dataclass(eq=False)
class Stretch:
    """A state, and what was written before each launch that followed it.

    Attributes:
        start: the state, after the writes of its first frame.
        joined: whether the stretch before leads to it.
        frames: writes of each launch.
        nbytes: memory that it takes.
    """

    start: Snapshot
    joined: bool
    frames: list[Writes] = field(default_factory=list)
    nbytes: int = 0


class History(Observer):
    """Keeps the last frames of a player, which it observes from now on.

    Positions count launches since it began: position p is the state before launch p, so that `end` is the
    newest state. A launch after a `seek` drops what came later.

    Args:
        player: what is played.
        every: frames between two states, which bounds how many launches a `seek` repeats.
        max_nbytes: memory at most; two states are kept all the same.
        max_frames: frames at most, give or take `every`.

    Attributes:
        max_nbytes, max_frames: as above.
        stretches: what is kept, the oldest first.
        nbytes: memory that is taken.
        begin, end: the oldest and the newest position.
        position: where the player is.
    """

    def __init__(
        self, player: Player, every: int = 30, max_nbytes: int = MAX_NBYTES, max_frames: int = MAX_FRAMES
    ) -> None:
        self._player = player
        self._every, self.max_nbytes, self.max_frames = every, max_nbytes, max_frames
        self.stretches: list[Stretch] = []
        self.nbytes = self.begin = self.end = self.position = 0
        self._writes: dict[int, np.ndarray] = {}
        self._expected = -1
        self._newest: Snapshot | None = None
        player.observers.append(self)

    def close(self) -> None:
        """Observe no more, and forget all."""
        if self in self._player.observers:
            self._player.observers.remove(self)
        self.stretches.clear()
        self._newest = None

    def wrote(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """Keep what was written until the next launch: the last of each region, as a pause may be long."""
        for region, value in values:
            self._writes.pop(region, None)
            self._writes[region] = value

    def restored(self) -> None:
        """Begin a new stretch: what led to this state is not known."""
        self._writes.clear()
        self._expected = -1

    def launching(self) -> None:
        """Keep what the launch starts from."""
        if self.position < self.end:
            self._drop_future()
        player, last = self._player, self.stretches[-1] if self.stretches else None
        known = last is not None and player.frames == self._expected  # not after a reset
        if last is None or not known or len(last.frames) >= self._every:
            last = Stretch(player.snapshot(), joined=known)
            last.nbytes = last.start.nbytes
            self.nbytes += last.nbytes
            self.stretches.append(last)
        last.frames.append(list(self._writes.items()) or _NO_WRITES)
        added = sum(int(value.nbytes) for value in self._writes.values())
        last.nbytes += added
        self.nbytes += added
        self._writes.clear()
        self._trim()

    def launched(self) -> None:
        """Count the launch."""
        self.position = self.end = self.end + 1
        self._expected = self._player.frames
        self._newest = None

    def seek(self, position: int) -> None:
        """Bring the player to an earlier or a later position; nothing is dropped yet.

        Args:
            position: clamped to `begin` and `end`.

        Raises:
            ReplayError: a launch failed.
        """
        position = min(max(position, self.begin), self.end)
        if position == self.position or not self.stretches:
            return
        player = self._player
        if self._newest is None:
            self._newest = player.snapshot()
        others, player.observers = player.observers, []
        try:
            if position == self.end:
                player.restore(self._newest)
            else:
                index, stretch = self._at(position)
                player.restore(stretch.start)
                for writes in stretch.frames[: position - index]:
                    if writes:
                        player.write_regions(writes)
                    player.launch()
        finally:
            player.observers = others
            for observer in others:
                observer.restored()
        self.position, self._expected = position, player.frames

    def recent(self, frames: int) -> Iterator[Stretch]:
        """Yield the last stretches that lead into each other, of so many frames or a little more."""
        kept: list[Stretch] = []
        count = 0
        for stretch in reversed(self.stretches):
            kept.append(stretch)
            count += len(stretch.frames)
            if count >= frames or not stretch.joined:
                break
        yield from reversed(kept)

    @property
    def player(self) -> Player:
        """What is observed."""
        return self._player

    def _at(self, position: int) -> tuple[int, Stretch]:
        """Return the stretch that leads to a position, and the position of its start."""
        index = self.begin
        for stretch in self.stretches:
            if position < index + len(stretch.frames):
                return index, stretch
            index += len(stretch.frames)
        raise ReplayError(f"frame {position} is not kept")

    def _drop_future(self) -> None:
        index, stretch = self._at(self.position)
        kept = self.position - index
        del stretch.frames[kept:]
        del self.stretches[self.stretches.index(stretch) + (kept > 0) :]
        if not kept:  # the stretch before may lead elsewhere, as where the player was reset
            self._expected = -1
        self.end = self.position
        for stretch in self.stretches:
            written = sum(int(value.nbytes) for writes in stretch.frames for _, value in writes)
            stretch.nbytes = stretch.start.nbytes + written
        self.nbytes = sum(stretch.nbytes for stretch in self.stretches)

    def _trim(self) -> None:
        while len(self.stretches) > 2 and (
            self.nbytes > self.max_nbytes
            or self.end - self.begin - len(self.stretches[0].frames) >= self.max_frames
        ):
            oldest = self.stretches.pop(0)
            self.nbytes -= oldest.nbytes
            self.begin += len(oldest.frames)
            self.stretches[0].joined = False
