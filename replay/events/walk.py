"""A frame operation by operation: each one is loaded alone and launched on the state that the last one left.

The work is in proportion to the number of operations, where a prefix for each event would take the square
of it. An IF or WHILE is one step. Equal records are loaded once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType

from replay.events.streams import capture_of, single
from replay.graph.model import Capture
from replay.players import open_player
from replay.players.base import Player
from replay.players.snapshot import Snapshot

_KEPT_PLAYERS = 32
_KEPT_NBYTES = 512 << 20


@dataclass(frozen=True)
class Step:
    """One operation of the top level: the state before it, and a player that has just run it alone."""

    event: int
    before: Snapshot
    after: Snapshot
    player: Player


class Walk:
    """Walks through one frame of a capture; a context manager.

    Args:
        capture: its code runs, so it must be trusted.
        device: where.
        start: the state at the start of the frame.
    """

    def __init__(self, capture: Capture, device: str, start: Snapshot) -> None:
        self.capture = capture
        self.device = device
        self._start = start
        self._loaded: OrderedDict[bytes, Player] = OrderedDict()
        nbytes = sum(region.nbytes for region in capture.regions.values())
        self._most = max(1, min(_KEPT_PLAYERS, _KEPT_NBYTES // max(nbytes, 1)))

    def steps(self) -> Iterator[Step]:
        """Run the operations of the top level one after another.

        Raises:
            ReplayError: an operation cannot be loaded or launched alone.
        """
        state = self._start
        for event in self.capture.top_level:
            player = self.player_of(event)
            player.restore(state)
            player.launch()
            after = player.snapshot()
            yield Step(event, state, after, player)
            state = after

    def player_of(self, event: int) -> Player:
        """Return a player that runs one operation alone; the walk closes it when others push it out."""
        cut = single(self.capture, event)
        player = self._loaded.get(cut.stream)
        if player is None:
            while len(self._loaded) >= self._most:
                self._loaded.popitem(last=False)[1].close()
            player = open_player(capture_of(self.capture, cut), self.device)
            self._loaded[cut.stream] = player
        self._loaded.move_to_end(cut.stream)
        return player

    def close(self) -> None:
        """Release what is loaded."""
        while self._loaded:
            self._loaded.popitem()[1].close()

    def __enter__(self) -> Walk:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
