"""The state right after an event, shown beside a live player that is not touched.

An `EventReplayer` loads the operations up to an event as a capture of their own, gives that player the
state at the start of the frame, launches it once and reads regions. It knows no names of a scene and draws
nothing. Carry pairs are no part of a launch: the state after the last event is that before they are applied.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

import numpy as np

from replay.errors import ReplayError, UsageError
from replay.events.streams import Cut, Iterations, capture_of, cut_after, cut_before
from replay.events.values import typed
from replay.graph.model import Capture
from replay.players.base import Player
from replay.players.snapshot import Snapshot

_KEPT_PLAYERS = 64
_KEPT_NBYTES = 512 << 20

Opener = Callable[[Capture, str], Player]


@dataclass(frozen=True)
class EventState:
    """Contents of the regions right after an event.

    Attributes:
        event: its number; None for the start of the frame.
        ran: whether the event runs in this frame at all; if not, the state is that before the IF or WHILE
            around it which decides so.
        note: what is special about it, in one sentence; empty if nothing is.
        is_last: whether it is the last event of the frame, after which only the carry pairs follow.
    """

    event: int | None
    ran: bool
    note: str
    is_last: bool
    _replayer: EventReplayer = field(repr=False)
    _frame: int = field(repr=False)
    _cut: Cut = field(repr=False)

    @property
    def player(self) -> Player:
        """A player whose regions hold this state, to be looked at and not launched, set or kept.

        It is the replayer's: another event may close it, and another frame fills it anew.

        Raises:
            ReplayError: the replayer has gone on to another frame, or was closed.
        """
        if self._frame != self._replayer.start_state.number:
            raise ReplayError("this state is of an earlier frame", remedy="ask for the event again")
        return self._replayer._run(self._cut)

    def region_bytes(self, region: int) -> np.ndarray:
        """Return a copy of a region's contents as uint8.

        Raises:
            ReplayError: no such region, or as for `player`.
        """
        return self.player.region_bytes(region)

    def region(self, region: int) -> np.ndarray:
        """Return a copy of a region's contents in its element type and shape, as far as these are known."""
        raw = self.region_bytes(region)
        return typed(self._replayer.capture.regions[region], raw)

    def parameter(self, name: str) -> np.ndarray:
        """Return a copy of a named array's contents, as `Player.get` does.

        Raises:
            ParameterError: unknown name.
        """
        return self.player.get(name)

    def snapshot(self) -> Snapshot:
        """Return the contents of all regions."""
        return self.player.snapshot()


@dataclass
class _Loaded:
    player: Player
    frame: int = 0  # number of the snapshot that it last ran on


class EventReplayer:
    """Looks into one frame of a capture.

    Args:
        capture: what the live player plays; its code runs, so it must be trusted.
        device: the live player's device.
        start: the state at the start of the frame that is looked into.
        opener: loads a capture on a device; tests give their own.

    Memory: up to 64 loaded prefixes or 512 MiB of regions are kept, the oldest ones go first.
    """

    def __init__(self, capture: Capture, device: str, start: Snapshot, opener: Opener | None = None) -> None:
        if opener is None:
            from replay.players import open_player

            opener = open_player
        self.capture = capture
        self.device = device
        self._start = start
        self._opener = opener
        self._closed = False
        self._loaded: OrderedDict[tuple[bytes, int], _Loaded] = OrderedDict()
        self._conditions: dict[tuple[bytes, int, int, int], int] = {}
        self._nbytes = sum(region.nbytes for region in capture.regions.values())

    @classmethod
    def of_player(cls, player: Player) -> EventReplayer:
        """Look into the frame that the next launch of a player would be; the player is not launched."""
        return cls(player.capture, player.device, player.snapshot())

    @property
    def start_state(self) -> Snapshot:
        """The state at the start of the frame."""
        return self._start

    def restart(self, start: Snapshot) -> None:
        """Look into another frame from now on; loaded prefixes are used again."""
        self._start = start
        self._conditions.clear()

    def start(self) -> EventState:
        """Return the state at the start of the frame."""
        return EventState(
            None, True, "", len(self.capture.operations) == 0, self, self._start.number, Cut(b"", 0)
        )

    def after(self, event: int, iterations: Iterations | None = None) -> EventState:
        """Return the state right after an event.

        Inside an IF, the state after the event within the branch, if that is taken. Inside a WHILE, in its
        first iteration, or in the one that `iterations` gives for the WHILE's event. After an IF or WHILE
        itself, all of it has run.

        Raises:
            UsageError: no such event, or no such iteration.
            ReplayError: the operations up to it cannot be loaded or launched.
        """
        return self._state(event, cut_after(self.capture, event, iterations))

    def before(self, event: int, iterations: Iterations | None = None) -> EventState:
        """Return the state right before an event, which is that after the one before; see `after`."""
        return self._state(event, cut_before(self.capture, event, iterations))

    def iterations_of(self, loop: int, iterations: Iterations | None = None, most: int = 4096) -> int:
        """Return how many iterations of a WHILE run in this frame; `most` means so many or more.

        Args:
            loop: the event of the WHILE.
            iterations: for loops around it, see `after`.
            most: where counting ends.

        Raises:
            UsageError: no such event, or it is no WHILE.
            ReplayError: the operations up to it cannot be loaded or launched.
        """
        children = self.capture.operations[loop].children if 0 <= loop < len(self.capture.operations) else ()
        if not children or self.capture.operations[children[0]].branch != "body":
            raise UsageError(f"event {loop} of {self.capture.path.name} is no WHILE with a body")

        def runs(turn: int) -> bool:
            return self.after(children[0], {**(iterations or {}), loop: turn}).ran

        low, high = 0, 1  # iteration `low` runs, iteration `high` does not
        while high <= most and runs(high):
            low, high = high, 2 * high
        high = min(high, most + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if runs(middle) else (low, middle)
        return low

    def _state(self, event: int, cut: Cut) -> EventState:
        last = bool(self.capture.top_level) and event == self.capture.top_level[-1]
        for condition in cut.conditions:
            value = self._condition(condition.before, condition.region, condition.offset)
            taken = value == 0 if condition.branch == "else" else value != 0
            if taken:
                continue
            if condition.branch == "body":
                note = f"event {event} does not run: the WHILE of event {condition.event} ends before it"
            else:
                other = "then" if condition.branch == "else" else "else"
                note = (
                    f"event {event} does not run: the IF of event {condition.event} takes its {other} branch"
                )
            return EventState(
                event,
                False,
                f"{note}; the state is that before it",
                False,
                self,
                self._start.number,
                condition.before,
            )
        return EventState(event, True, cut.note, last, self, self._start.number, cut)

    def _condition(self, before: Cut, region: int, offset: int) -> int:
        key = (before.stream, before.count, region, offset)
        if key not in self._conditions:
            raw = self._run(before).region_bytes(region)
            self._conditions[key] = int(raw[offset : offset + 4].view(np.int32)[0])
        return self._conditions[key]

    def _run(self, cut: Cut) -> Player:
        """Return a player whose regions hold the state after a cut stream."""
        if self._closed:
            raise ReplayError("the event replayer is closed", remedy="make another one")
        key = (cut.stream, cut.count)
        loaded = self._loaded.get(key)
        if loaded is None:
            loaded = self._loaded[key] = _Loaded(self._opener(capture_of(self.capture, cut), self.device))
            self._forget(key)
        self._loaded.move_to_end(key)
        if loaded.frame != self._start.number:
            loaded.frame = 0
            loaded.player.restore(self._start)
            loaded.player.launch()
            loaded.frame = self._start.number
        return loaded.player

    def _forget(self, newest: tuple[bytes, int]) -> None:
        most = max(2, min(_KEPT_PLAYERS, _KEPT_NBYTES // max(self._nbytes, 1)))
        while len(self._loaded) > most:
            key, loaded = next(iter(self._loaded.items()))
            if key == newest:
                break
            del self._loaded[key]
            loaded.player.close()

    def close(self) -> None:
        """Release all loaded prefixes. A second call does nothing."""
        self._closed = True
        while self._loaded:
            _, loaded = self._loaded.popitem()
            loaded.player.close()

    def __enter__(self) -> EventReplayer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
