"""Finds the frame in which something went wrong, among the last ones of a player.

A NaN is often noticed many frames late. From what a `History` keeps, the frames run again in a player of
their own, up to the one in question; what the host wrote through a view is not known and not repeated.
"""

from __future__ import annotations

from dataclasses import dataclass

from replay.events.finite import FirstNotFinite, first_not_finite, not_finite
from replay.history import History, Writes
from replay.players import open_player
from replay.players.base import Player
from replay.players.snapshot import Snapshot

_LINEAR_NBYTES = 2 << 30  # as many bytes may be looked at frame by frame; beyond that, frames are bisected


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


def find_frame(history: History, most: int = 240) -> FoundFrame | None:
    """Find the frame and the event in which values stopped being finite, among the last that are kept.

    The player is not launched: the frames run again in a player of their own. Where more than 2 GiB would
    have to be looked at, they are bisected, which takes values that are not finite to stay so until now.

    Args:
        history: of the player.
        most: frames to look at, give or take a stretch.

    Returns:
        None if all values are finite up to the last launch.

    Raises:
        ReplayError: the capture cannot be loaded once more, or launched.
    """
    stretches = list(history.recent(most))
    if not stretches:
        return None
    capture = history.player.capture
    first = stretches[0].start
    if not_finite(capture, first):
        found = first_not_finite(capture, first)
        return FoundFrame(first.frames, first, found) if found is not None else None
    frames = [writes for stretch in stretches for writes in stretch.frames]
    nbytes = sum(region.nbytes for region in capture.regions.values())
    with open_player(capture, history.player.device) as player:
        if nbytes * len(frames) <= _LINEAR_NBYTES:
            start = _walk(player, first, frames)
        else:
            start = _bisect(player, first, frames)
    if start is None:
        return None
    found = first_not_finite(capture, start)
    return FoundFrame(start.frames, start, found) if found is not None else None


def _run(player: Player, writes: Writes) -> None:
    if writes:
        player.write_regions(writes)
    player.launch()


def _walk(player: Player, first: Snapshot, frames: list[Writes]) -> Snapshot | None:
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


def _bisect(player: Player, first: Snapshot, frames: list[Writes]) -> Snapshot | None:
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
