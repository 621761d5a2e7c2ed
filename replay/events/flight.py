"""The last frames of a player, kept so that one in which something went wrong can be looked into.

A launch cannot be undone, and a NaN is often noticed many frames late. A `FlightLog` keeps a snapshot from
some frames ago and what the host wrote since; it runs those frames again, in a player of its own, up to the
one in question. What the host wrote through a view is not known and not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from replay.events.finite import FirstNotFinite, first_not_finite, not_finite
from replay.players import open_player
from replay.players.base import Player
from replay.players.observer import Observer
from replay.players.snapshot import Snapshot

_LINEAR_NBYTES = 2 << 30  # as many bytes may be looked at frame by frame; beyond that, frames are bisected

_Writes = list[tuple[int, np.ndarray]]
_NO_WRITES: _Writes = []  # one for all frames without any, which are most


@dataclass
class _Stretch:
    """A snapshot, and what was written before each launch that followed it."""

    start: Snapshot
    frames: list[_Writes] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class FoundFrame:
    """The frame in which values stopped being finite.

    Attributes:
        frame: launches before it, so that 0 is the first frame of the player.
        start: the state at its start, to look into it with an `EventReplayer`.
        first: the event in it. Its `event` is None where the values were not finite before all that is kept.
    """

    frame: int
    start: Snapshot
    first: FirstNotFinite


class FlightLog(Observer):
    """Keeps the last frames of a player. Call `before_launch` right before each launch.

    Args:
        player: what is played; the log observes it.
        every: frames between two snapshots; between `every` and twice as many are kept.
    """

    def __init__(self, player: Player, every: int = 120) -> None:
        self._player = player
        self._every = every
        self._stretches: list[_Stretch] = []
        self._writes: _Writes = []
        self._expected = -1
        player.observers.append(self)

    def close(self) -> None:
        """Listen no more."""
        if self in self._player.observers:
            self._player.observers.remove(self)
        self._stretches.clear()

    def wrote(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """Keep what was written until the next launch."""
        self._writes += values

    def restored(self) -> None:
        """Begin anew: what led to this state is not known."""
        self._stretches.clear()
        self._writes = []

    def before_launch(self) -> None:
        """Note what the next launch starts from."""
        player = self._player
        player.flush()
        if player.frames != self._expected:  # it was reset, or launched without us
            self._stretches.clear()
        if not self._stretches or len(self._stretches[-1].frames) >= self._every:
            if not self._stretches:
                self._writes = []  # they are in the snapshot, and no older one needs them
            self._stretches = [*self._stretches[-1:], _Stretch(player.snapshot())]
        self._stretches[-1].frames.append(self._writes or _NO_WRITES)
        self._writes = []
        self._expected = player.frames + 1

    def first_not_finite(self) -> FoundFrame | None:
        """Find the frame and the event in which values stopped being finite, among the frames that are kept.

        The player is not launched. Where more than 2 GiB would have to be looked at, the frames are bisected,
        which takes values that are not finite to stay so until now.

        Returns:
            None if all values are finite up to the last launch.

        Raises:
            ReplayError: the capture cannot be loaded once more, or launched.
        """
        if not self._stretches:
            return None
        capture = self._player.capture
        first = self._stretches[0].start
        if not_finite(capture, first):
            found = first_not_finite(capture, first)
            return FoundFrame(first.frames, first, found) if found is not None else None
        frames = [writes for stretch in self._stretches for writes in stretch.frames]
        nbytes = sum(region.nbytes for region in capture.regions.values())
        with open_player(capture, self._player.device) as player:
            if nbytes * len(frames) <= _LINEAR_NBYTES:
                start = _walk(player, first, frames)
            else:
                start = _bisect(player, first, frames)
        if start is None:
            return None
        found = first_not_finite(capture, start)
        return FoundFrame(start.frames, start, found) if found is not None else None


def _run(player: Player, writes: _Writes) -> None:
    if writes:
        player.write_regions(writes)
    player.launch()


def _walk(player: Player, first: Snapshot, frames: list[_Writes]) -> Snapshot | None:
    """Return the state at the start of the first frame after which not all is finite."""
    player.restore(first)
    for writes in frames:
        if writes:
            player.write_regions(writes)
        start = player.snapshot()
        player.launch()
        if not_finite(player.capture, player.snapshot()):
            return start
    return None


def _bisect(player: Player, first: Snapshot, frames: list[_Writes]) -> Snapshot | None:
    def fails(count: int) -> bool:
        player.restore(first)
        for writes in frames[:count]:
            _run(player, writes)
        return bool(not_finite(player.capture, player.snapshot()))

    if not fails(len(frames)):
        return None
    low, high = 0, len(frames)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fails(middle) else (middle, high)
    player.restore(first)
    for writes in frames[:low]:
        _run(player, writes)
    if frames[low]:
        player.write_regions(frames[low])
    return player.snapshot()
