"""Which event first makes a value that is not finite, and in which cells.

Only regions whose elements are floats, as far as the model knows, can be looked at. Where that is a guess, a
small negative integer would look like a NaN, so only the NaNs that processors make count there. A cell that
is not finite before the frame has no event in it that made it so; it is told apart and not counted again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from replay.events.replayer import EventReplayer
from replay.events.streams import Iterations
from replay.events.values import typed
from replay.events.walk import Walk
from replay.graph.model import Capture, OpKind, Provenance
from replay.players.snapshot import Snapshot

WALKED = 512
"""Captures of up to so many operations at the top level are walked through, longer ones bisected."""
LOOKED_INSIDE = 400
"""So many states inside IF and WHILE bodies are looked at; beyond, bodies are seen from outside only."""
_MOST_ITERATIONS = 4096


@dataclass(frozen=True, eq=False)
class NotFinite:
    """Values of one region that are not finite.

    Attributes:
        region: its id.
        nan, infinite: how many values are NaN, and how many infinite.
        provenance: of the region's type: if it is not known, these may be no floats at all.
        mask: which elements hold one, of the array's shape (flat where it is not known).
    """

    region: int
    nan: int
    infinite: int
    provenance: Provenance
    mask: np.ndarray

    @property
    def count(self) -> int:
        """Number of values that are not finite."""
        return self.nan + self.infinite

    def cells(self, limit: int = 1000) -> np.ndarray:
        """Return the indices of the first elements that hold one, (n, dimensions)."""
        flat = np.flatnonzero(self.mask)[:limit]
        return np.stack(np.unravel_index(flat, self.mask.shape), axis=1)


@dataclass(frozen=True, eq=False)
class FirstNotFinite:
    """Where values stop being finite within one frame.

    Attributes:
        event: the first event that makes one: before it no cell is newly not finite, after it some are;
            None if no event does, and all there are were there before the frame.
        iterations: in which iteration of the WHILE around it, by the event of the WHILE.
        made: what `event` made, by region in the order of their ids.
        before: what is not finite at the start of the frame.
        exact: whether every event before was looked at. If not, `event` is a first one all the same, but
            one whose values were overwritten before the end of the frame may lie before it.
    """

    event: int | None
    iterations: Iterations
    made: tuple[NotFinite, ...]
    before: tuple[NotFinite, ...]
    exact: bool


_Masks = dict[int, np.ndarray]


def not_finite(capture: Capture, state: Snapshot) -> tuple[NotFinite, ...]:
    """Return what is not finite in a state, by region."""
    return _found(capture, state, {})


def first_not_finite(capture: Capture, start: Snapshot) -> FirstNotFinite | None:
    """Find the first event of a frame that makes a value not finite.

    Args:
        capture: its code runs, so it must be trusted.
        start: the state at the start of the frame.

    Returns:
        None if all values are finite before the frame and, as far as was looked, after each event.

    Raises:
        ReplayError: the operations cannot be loaded or launched.
    """
    before = not_finite(capture, start)
    known = {item.region: _value_mask(capture, start, item.region) for item in before}

    def made(state: Snapshot) -> tuple[NotFinite, ...]:
        return _found(capture, state, known)

    with EventReplayer(capture, start.device, start) as frame:
        looks = _Looks(capture, frame, made)
        found, exact = _first_at_top(looks)
        if found is None:
            return FirstNotFinite(None, {}, (), before, exact) if before else None
        event, iterations = found
        return FirstNotFinite(
            event, iterations, made(frame.after(event, iterations).snapshot()), before, exact
        )


_Made = Callable[[Snapshot], tuple[NotFinite, ...]]
_Place = tuple[int, dict[int, int]]  # an event, and in which iterations of the WHILEs around it


class _Looks:
    """Looks inside IF and WHILE bodies one event after the other, as long as that is bearable.

    Attributes:
        left: how many more states may be looked at; each runs the frame up to its event.
    """

    def __init__(self, capture: Capture, frame: EventReplayer, made: _Made) -> None:
        self.capture, self.frame, self.made = capture, frame, made
        self.left = LOOKED_INSIDE

    def first_inside(self, event: int, iterations: dict[int, int]) -> _Place | None:
        """Return the first event inside a conditional that makes a value, None if none was seen to."""
        operation = self.capture.operations[event]
        if operation.kind is not OpKind.WHILE:
            return self._first_of(operation.children, iterations)[0]
        for turn in range(1, _MOST_ITERATIONS):
            place, ran = self._first_of(operation.children, {**iterations, event: turn})
            if place is not None or not ran:
                return place
        return None

    def _first_of(self, events: Sequence[int], iterations: dict[int, int]) -> tuple[_Place | None, bool]:
        ran = False
        for event in events:
            if self.left <= 0:
                return None, False
            self.left -= 1
            state = self.frame.after(event, iterations)
            if not state.ran:
                continue
            ran = True
            made = bool(self.made(state.snapshot()))  # first: looking further in takes the state away
            if self.capture.operations[event].children:
                inside = self.first_inside(event, iterations)
                if inside is not None:
                    return inside, True
            if made:
                return (event, iterations), True
        return None, ran


def _first_at_top(looks: _Looks) -> tuple[_Place | None, bool]:
    """Return the first event that makes a value, and whether all before it were looked at."""
    capture, frame, made = looks.capture, looks.frame, looks.made
    top = capture.top_level
    if len(top) <= WALKED:
        with Walk(capture, frame.device, frame.start_state) as walk:
            for step in walk.steps():
                if capture.operations[step.event].children:
                    inside = looks.first_inside(step.event, {})
                    if inside is not None:
                        return inside, looks.left > 0
                if made(step.after):
                    return _descend(capture, frame, made, step.event, {}), looks.left > 0
        return None, looks.left > 0
    if not made(frame.after(top[-1]).snapshot()):
        return None, False
    low, high = -1, len(top) - 1  # finite after `low`, not finite after `high`
    while high - low > 1:
        middle = (low + high) // 2
        if made(frame.after(top[middle]).snapshot()):
            high = middle
        else:
            low = middle
    return _descend(capture, frame, made, top[high], {}), False


def _descend(
    capture: Capture, frame: EventReplayer, made: _Made, event: int, iterations: dict[int, int]
) -> tuple[int, dict[int, int]]:
    """Return the event inside an IF or WHILE that does it; the operation itself if none can be told."""
    operation = capture.operations[event]
    if operation.kind is OpKind.WHILE and operation.children:
        turn = _first_turn(frame, made, operation.children[-1], event, iterations)
        if turn is None:
            return event, iterations
        iterations = {**iterations, event: turn}
    for child in operation.children:
        state = frame.after(child, iterations)
        if state.ran and made(state.snapshot()):
            return _descend(capture, frame, made, child, iterations)
    return event, {key: value for key, value in iterations.items() if key != event}


def _first_turn(
    frame: EventReplayer, made: _Made, last_child: int, loop: int, iterations: dict[int, int]
) -> int | None:
    """Return the first iteration after which a value is not finite, None if it cannot be told."""

    def reached(turn: int) -> bool:
        state = frame.after(last_child, {**iterations, loop: turn})
        return not state.ran or bool(made(state.snapshot()))

    low, high = 0, 1
    while not reached(high):
        low, high = high, 2 * high
        if high > _MOST_ITERATIONS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high if frame.after(last_child, {**iterations, loop: high}).ran else None


def _found(capture: Capture, state: Snapshot, known: _Masks) -> tuple[NotFinite, ...]:
    found = []
    for ident in sorted(capture.regions):
        values = _floats(capture, state, ident)
        if values is None:
            continue
        wrong = _wrong(capture, ident, values)
        if ident in known:
            wrong &= ~known[ident]
        count = int(np.count_nonzero(wrong))
        if count:
            nan = int(np.count_nonzero(np.isnan(values) & wrong))
            provenance = capture.regions[ident].provenance
            mask = _by_element(capture, ident, wrong)
            found.append(NotFinite(ident, nan, count - nan, provenance, mask))
    return tuple(found)


def _floats(capture: Capture, state: Snapshot, ident: int) -> np.ndarray | None:
    region = capture.regions[ident]
    if region.element is None or region.element.scalar.kind != "f":
        return None
    return typed(region, state.region_bytes(ident))


def _value_mask(capture: Capture, state: Snapshot, ident: int) -> np.ndarray:
    values = _floats(capture, state, ident)
    assert values is not None
    return _wrong(capture, ident, values)


def _wrong(capture: Capture, ident: int, values: np.ndarray) -> np.ndarray:
    """Return which scalars are not finite."""
    wrong: np.ndarray = ~np.isfinite(values)
    if capture.regions[ident].provenance is Provenance.KNOWN or not wrong.any():
        return wrong
    bits = values.view(f"u{values.dtype.itemsize}")
    magnitude = bits & bits.dtype.type(np.iinfo(bits.dtype).max >> 1)  # without the sign
    made = magnitude == np.array(np.nan, values.dtype).view(bits.dtype)  # x86, Arm: quiet, no payload
    if capture.device_kind == "cuda":
        made |= bits == np.iinfo(bits.dtype).max >> 1  # NVIDIA: all bits but the sign
    return np.asarray(np.isinf(values) | made)


def _by_element(capture: Capture, ident: int, wrong: np.ndarray) -> np.ndarray:
    """Return a mask of elements of a mask of scalars."""
    element = capture.regions[ident].element
    inner = len(element.inner_shape) if element is not None else 0
    return np.asarray(wrong.any(axis=tuple(range(wrong.ndim - inner, wrong.ndim)))) if inner else wrong
