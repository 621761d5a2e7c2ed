"""What each event costs: time, bytes moved, share of the frame.

Each operation is loaded alone and launched on the state that it meets in the frame, restored before every
launch; what launching nothing takes is subtracted. The live player is not used and must rest meanwhile: two
at once measure each other. Bytes are those that the arguments reach, an upper bound.
"""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from replay.errors import UsageError
from replay.events.replayer import EventReplayer
from replay.events.streams import Cut, capture_of, cut_after
from replay.events.walk import Walk
from replay.graph.model import Access, Capture, Operation, OpKind, Provenance
from replay.graph.operations import LazyOperations
from replay.players import open_player
from replay.players.base import Player
from replay.players.snapshot import Snapshot

_MOST_NESTED = 200
_LEAST_EMPTY = 50

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class EventCost:
    """The cost of one operation of the top level.

    Attributes:
        event: its number.
        seconds: median time of one launch.
        share: part of the sum over all events, 0 to 1.
        nbytes: bytes read and written at most; None for an IF or WHILE, whose branches decide.
        provenance: of `nbytes`: known only if shape and access of every use are.
        measured: False if the time was taken from an equal operation, see `profile_operations`.
    """

    event: int
    seconds: float
    share: float
    nbytes: int | None
    provenance: Provenance
    measured: bool

    @property
    def bytes_per_second(self) -> float | None:
        """Bytes moved a second, None if bytes are not known or the time is too short to tell."""
        return self.nbytes / self.seconds if self.nbytes and self.seconds > 0 else None


@dataclass(frozen=True)
class NestedCost:
    """The cost of one operation inside an IF or WHILE, as it ran first: in iteration 1 of each WHILE around.

    Attributes:
        event: its number; parent: the IF or WHILE around it.
        seconds: median time of one launch alone, None if it was not measured.
        nbytes, provenance: as in `EventCost`.
        note: why it was not measured, in one sentence; empty if it was.
    """

    event: int
    parent: int
    seconds: float | None
    nbytes: int | None
    provenance: Provenance
    note: str = ""


@dataclass(frozen=True)
class Profile:
    """The cost of a frame.

    Attributes:
        device, device_name: where it was measured.
        repeats: launches of each operation; the median counts.
        frame_seconds: median time of the whole frame in one launch.
        launch_seconds: shortest time to launch nothing, subtracted from each operation.
        events: those of the top level; an IF or WHILE with all that ran inside of it.
        nested: those inside an IF or WHILE, by event. Their times are parts of those in `events`.
    """

    device: str
    device_name: str
    repeats: int
    frame_seconds: float
    launch_seconds: float
    events: tuple[EventCost, ...]
    nested: tuple[NestedCost, ...] = ()


def profile_operations(
    capture: Capture,
    start: Snapshot,
    repeats: int = 20,
    *,
    most: int = 2000,
    progress: Progress | None = None,
) -> Profile:
    """Measure what each operation costs in the frame that starts from a state.

    Args:
        capture: its code runs, so it must be trusted.
        start: the state at the start of the frame.
        repeats: launches of each operation.
        most: so many operations are measured at most; each of the rest takes the time and bytes of the last
            one of its kernel and shape that was measured, or, if none was, the mean time. Inside of IF and
            WHILE, 200 at most are measured.
        progress: called with the number of operations done and of all.

    Raises:
        UsageError: `repeats` is less than 1.
        ReplayError: an operation cannot be loaded or launched alone.
    """
    if repeats < 1:
        raise UsageError(f"{repeats} repeats", remedy="take 1 or more")
    whole = cut_after(capture, capture.top_level[-1]) if capture.top_level else Cut(b"", 0)
    with open_player(capture_of(capture, whole), start.device) as all_of_it:
        frame = _median(all_of_it, start, repeats)
    with open_player(capture_of(capture, Cut(b"", 0)), start.device) as nothing:
        # The shortest one, of many and of both ends of the measurement: on a busy machine a median, or one
        # that was taken while others worked, may exceed what a small operation takes.
        name, many = nothing.device_name, max(repeats, _LEAST_EMPTY)
        empty = min(_samples(nothing, start, many))
        costs = _measure(capture, start, repeats, most, progress)
        empty = min(empty, *_samples(nothing, start, many))
    costs = [dataclasses.replace(item, seconds=max(item.seconds - empty, 0.0)) for item in costs]
    total = sum(item.seconds for item in costs)
    if total > 0:
        costs = [dataclasses.replace(item, share=item.seconds / total) for item in costs]
    nested = _nested(capture, start, repeats, empty)
    return Profile(start.device, name, repeats, frame, empty, tuple(costs), tuple(nested))


def bytes_moved(operation: Operation) -> tuple[int | None, Provenance]:
    """Return the bytes that an operation reads and writes at most, and how far that is known.

    A use that is read and written counts twice. Where a view has gaps, they count too.
    """
    if operation.kind in (OpKind.IF, OpKind.WHILE):
        return None, Provenance.ASSUMED
    nbytes = sum(
        use.nbytes * ((Access.READ in use.access) + (Access.WRITE in use.access)) for use in operation.uses
    )
    ranks = (Provenance.KNOWN, Provenance.OBSERVED, Provenance.INFERRED, Provenance.ASSUMED)
    worst = max((ranks.index(use.provenance) for use in operation.uses), default=0)
    return nbytes, ranks[worst]


def _measure(
    capture: Capture, start: Snapshot, repeats: int, most: int, progress: Progress | None
) -> list[EventCost]:
    """Measure the operations of the top level; their times include what launching nothing takes."""
    costs: list[EventCost] = []
    count = len(capture.top_level)
    with Walk(capture, start.device, start) as walk:
        for step in walk.steps():
            seconds = _median(step.player, step.before, repeats)
            nbytes, provenance = bytes_moved(capture.operations[step.event])
            costs.append(EventCost(step.event, seconds, 0.0, nbytes, provenance, True))
            if progress is not None:
                progress(len(costs), min(count, most))
            if len(costs) >= most:
                break
    if len(costs) == count:
        return costs
    assert isinstance(capture.operations, LazyOperations)
    sort_of = capture.operations.label_of
    known = {int(sort_of[item.event]): item for item in costs}
    mean = statistics.fmean(item.seconds for item in costs) if costs else 0.0
    for event in capture.top_level[len(costs) :]:
        like = known.get(int(sort_of[event]))
        if like is None:
            costs.append(EventCost(event, mean, 0.0, None, Provenance.ASSUMED, False))
        else:
            costs.append(EventCost(event, like.seconds, 0.0, like.nbytes, like.provenance, False))
    return costs


def _nested(capture: Capture, start: Snapshot, repeats: int, empty: float) -> list[NestedCost]:
    """Measure what lies inside of IF and WHILE, each operation alone on the state that it meets first."""
    if len(capture.top_level) == len(capture.operations):
        return []
    top, costs, measured = frozenset(capture.top_level), [], 0
    with EventReplayer(capture, start.device, start) as frame, Walk(capture, start.device, start) as walk:
        for event in range(len(capture.operations)):
            if event in top:
                continue
            operation = capture.operations[event]
            assert operation.parent is not None
            nbytes, provenance = bytes_moved(operation)
            seconds, note = None, f"only the first {_MOST_NESTED} inside of IF and WHILE are measured"
            if measured < _MOST_NESTED:
                before = frame.before(event)
                reason = before.note.partition(": ")[2].partition(";")[0]
                note = "" if before.ran else f"does not run: {reason}"
                if before.ran:
                    measured += 1
                    alone = _median(walk.player_of(event), before.snapshot(), repeats)
                    seconds = max(alone - empty, 0.0)
            costs.append(NestedCost(event, operation.parent, seconds, nbytes, provenance, note))
    return costs


def _median(player: Player, state: Snapshot, repeats: int) -> float:
    """Return the median time in s of one launch that starts from a state."""
    return statistics.median(_samples(player, state, repeats))


def _samples(player: Player, state: Snapshot, repeats: int) -> list[float]:
    """Return the times in s of single launches that start from a state."""
    timed = _cuda_timer(player) if player.device.startswith("cuda") else _host_timer(player)
    samples = []
    for number in range(repeats + 1):
        player.restore(state)
        seconds = timed()
        if number:  # the first launch also warms up
            samples.append(seconds)
    return samples


def _host_timer(player: Player) -> Callable[[], float]:
    def timed() -> float:
        began = time.perf_counter()
        player.launch()
        return time.perf_counter() - began

    return timed


def _cuda_timer(player: Any) -> Callable[[], float]:
    """Return a timer of the device: two events on the player's stream around a launch."""
    from replay.native import import_warp

    wp = import_warp()
    first, last = (wp.Event(device=player.device, enable_timing=True) for _ in range(2))

    def timed() -> float:
        player.synchronize()
        player.stream.record_event(first)
        player.launch()
        player.stream.record_event(last)
        return float(wp.get_event_elapsed_time(first, last)) / 1e3

    return timed
