"""Putting another capture of the same regions in place of the one that is played, with the present state."""

from __future__ import annotations

from replay.graph.model import Capture
from replay.players import open_player
from replay.players.base import Player


def swap_player(old: Player, capture: Capture) -> Player:
    """Load a capture, give it the state of a player, and close that player.

    Views of the old player show nothing new afterwards: take them again from the new one.

    Args:
        old: stays as it was if anything fails.
        capture: with the regions of the old one, such as an edited copy of it.

    Raises:
        ReplayError, DeviceError: the capture cannot be loaded, or has other regions.
    """
    new = open_player(capture, old.device)
    try:
        new.restore(old.snapshot())
        new.synchronize()
    except BaseException:
        new.close()
        raise
    old.close()
    return new
