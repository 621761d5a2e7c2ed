"""The IFs and WHILEs around an event in one frame: which branch runs, how many iterations, which is meant.

Asked of an `EventReplayer`: what happens in that frame, not what the file allows. Nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from replay.events.replayer import EventReplayer
from replay.graph.model import OpKind

MOST_ITERATIONS = 1024
"""Counting ends here: the iterations before the one that is looked at are written out one by one."""

Turns = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Around:
    """An IF or WHILE that the event lies in, or that it is.

    Attributes:
        event: of the IF or WHILE.
        inside: whether the event lies in it; else it is the event itself.
        loop: whether it is a WHILE.
        count: for a WHILE, how many iterations run in this frame; `MOST_ITERATIONS` means so many or more.
        iteration: for a WHILE, the one that is looked at, from 1; 0 if none runs.
        taken: for an IF, the branch that runs, `then` or `else`; empty if it cannot be told.
        wanted: the branch that the event lies in.
    """

    event: int
    inside: bool
    loop: bool
    count: int = 0
    iteration: int = 0
    taken: str = ""
    wanted: str = ""

    def __str__(self) -> str:
        if not self.loop:
            if not self.taken:
                return f"IF of event {self.event}: neither branch holds an event that would tell which ran"
            return f"IF of event {self.event}: the {self.taken} branch runs" + (
                ", not the one of this event" if self.wanted not in ("", self.taken) else ""
            )
        more = " or more" if self.count >= MOST_ITERATIONS else ""
        if not self.count:
            return f"WHILE of event {self.event}: its body does not run in this frame"
        if not self.inside:
            times = "once" if self.count == 1 else f"{self.count}{more} times"
            return f"WHILE of event {self.event}: its body ran {times}"
        return f"iteration {self.iteration} of {self.count}{more}, WHILE of event {self.event}"


class Surroundings:
    """What is around events, asked once a frame: counting iterations launches the loop some times.

    Args:
        replayer: of the frame; `forget` when it goes on to another one.
    """

    def __init__(self, replayer: EventReplayer) -> None:
        self._replayer = replayer
        self._counts: dict[tuple[int, Turns], int] = {}

    def forget(self) -> None:
        """Ask anew: it is another frame."""
        self._counts.clear()

    def of(self, event: int, wanted: Mapping[int, int]) -> tuple[tuple[Around, ...], dict[int, int]]:
        """Return what is around an event, outermost first, and the iterations that are looked at.

        Args:
            event: the event.
            wanted: iterations by the event of their WHILE; one that does not run becomes the last that does.

        Raises:
            RipplescopeError: the operations up to it cannot be loaded or launched.
        """
        capture = self._replayer.capture
        found: list[Around] = []
        turns: dict[int, int] = {}
        path = [*capture.enclosing(event), event]
        for number, other in enumerate(path):
            operation = capture.operations[other]
            inside = other != event
            if operation.kind is OpKind.WHILE:
                count = self._count(other, turns)
                turn = min(max(wanted.get(other, 1), 1), count) if inside else 0
                found.append(Around(other, inside, True, count, turn))
                if not count and inside:
                    break  # what lies deeper does not run
                if inside:
                    turns[other] = turn
            elif operation.kind is OpKind.IF:
                branch = capture.operations[path[number + 1]].branch if inside else ""
                taken = self._taken(other, turns)
                found.append(Around(other, inside, False, taken=taken, wanted=branch))
                if inside and taken != branch:
                    break
        return tuple(found), turns

    def _count(self, loop: int, turns: Mapping[int, int]) -> int:
        key = (loop, tuple(sorted(turns.items())))
        if key not in self._counts:
            holds = bool(self._replayer.capture.operations[loop].children)
            self._counts[key] = self._replayer.iterations_of(loop, turns, MOST_ITERATIONS) if holds else 0
        return self._counts[key]

    def _taken(self, event: int, turns: Mapping[int, int]) -> str:
        operations = self._replayer.capture.operations
        for child in operations[event].children:
            branch = operations[child].branch
            if self._replayer.after(child, turns).ran:
                return branch
            return "else" if branch == "then" else "then"
        return ""
