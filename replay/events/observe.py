"""Which regions an event is seen to write: those that differ before and after it.

What is seen holds for one frame from one state. A region that did not change may still be written with
what it held already, and reading leaves no trace: nothing here ever says that a region is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from replay.events.replayer import EventReplayer
from replay.events.walk import Walk
from replay.graph.model import Capture
from replay.players.base import Player
from replay.players.snapshot import Snapshot


def observe_access(
    capture: Capture, player: Player, start: Snapshot | None = None
) -> Mapping[int, frozenset[int]]:
    """Return the regions that each event changes, by event, in the frame that the player would launch next.

    An event inside an IF or WHILE appears if it runs, as it ran in the first iteration; the IF or WHILE
    itself with all that changed while it ran. The player is not launched.

    Args:
        capture: what the player plays.
        player: gives the device, and the state unless `start` does.
        start: the state at the start of the frame.

    Raises:
        ReplayError: an operation cannot be loaded or launched alone.
    """
    state = player.snapshot() if start is None else start
    changed: dict[int, frozenset[int]] = {}
    with Walk(capture, player.device, state) as walk:
        for step in walk.steps():
            changed[step.event] = _differing(capture, step.before, step.after)
    nested = [event for event in range(len(capture.operations)) if event not in changed]
    if nested:
        with EventReplayer(capture, player.device, state) as frame:
            for event in nested:
                after = frame.after(event)
                if after.ran:
                    changed[event] = _differing(capture, frame.before(event).snapshot(), after.snapshot())
    return dict(sorted(changed.items()))


def _differing(capture: Capture, before: Snapshot, after: Snapshot) -> frozenset[int]:
    return frozenset(
        region
        for region in capture.regions
        if not np.array_equal(before.region_bytes(region), after.region_bytes(region))
    )
