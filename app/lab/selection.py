"""What is selected in a capture: an event, a region, an edge, all launches of a kernel; one for all panels.

An event stays selected while one of its regions is looked at, so that both tabs of the inspector have
something to show; `kind` says which of them was chosen last and is highlighted.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from replay.graph.edges import RAW
from replay.graph.flow import Flow
from replay.graph.model import Access

MOST_WALKED = 30_000
"""In captures of more operations only the direct neighbours of an event are highlighted."""


class Kind(enum.Enum):
    """What was selected last."""

    NOTHING = "nothing"
    EVENT = "event"
    REGION = "region"
    EDGE = "edge"
    KERNEL = "kernel"


@dataclass(frozen=True)
class Reach:
    """Events around a selection: the selected ones, what feeds them, what they feed."""

    chosen: frozenset[int]
    upstream: frozenset[int]
    downstream: frozenset[int]


_NOTHING = Reach(frozenset(), frozenset(), frozenset())


class Selection:
    """The selection.

    Attributes:
        kind: what was selected last.
        event, region: the event and the region that are looked at.
        ends: for an edge, a first and last event of its source and of its target.
        kernel: for all of one kernel, its name.
        revision: changes with every selection.
    """

    def __init__(self) -> None:
        self.kind = Kind.NOTHING
        self.event: int | None = None
        self.region: int | None = None
        self.ends: tuple[tuple[int, int], tuple[int, int]] | None = None
        self.kernel = ""
        self.kernel_events: frozenset[int] = frozenset()
        self.revision = 0
        self._reach: tuple[object, Reach] = (None, _NOTHING)

    def select_event(self, event: int | None) -> None:
        """Select an event; None selects nothing."""
        self.event = event
        self._now(Kind.NOTHING if event is None else Kind.EVENT)

    def select_region(self, region: int) -> None:
        """Select a region; the event stays."""
        self.region = region
        self._now(Kind.REGION)

    def select_edge(self, source: tuple[int, int], target: tuple[int, int], region: int | None) -> None:
        """Select an edge between two runs of events, and the region that it goes through."""
        self.ends = (source, target)
        if region is not None:
            self.region = region
        self._now(Kind.EDGE)

    def select_kernel(self, name: str, events: frozenset[int]) -> None:
        """Select all launches of a kernel, and look at the first one."""
        self.kernel, self.kernel_events = name, events
        self.event = min(events, default=None)
        self._now(Kind.KERNEL)

    def clear(self) -> None:
        """Select nothing."""
        self.event = self.region = None
        self._now(Kind.NOTHING)

    def _now(self, kind: Kind) -> None:
        self.kind = kind
        self.revision += 1

    def reach(self, flow: Flow) -> Reach:
        """Return which events are selected, feed the selection, are fed by it."""
        key = (self.revision, id(flow))
        if self._reach[0] != key:
            self._reach = (key, self._find(flow))
        return self._reach[1]

    def _find(self, flow: Flow) -> Reach:
        if self.kind is Kind.EVENT and self.event is not None:
            return Reach(
                frozenset({self.event}), *(_walk(flow, self.event, backward=way) for way in (True, False))
            )
        if self.kind is Kind.REGION and self.region is not None:
            usages = flow.usage(self.region)
            writers = frozenset(use.event for use in usages if use.access & Access.WRITE)
            readers = frozenset(use.event for use in usages if use.access & Access.READ)
            return Reach(frozenset(), writers, readers - writers)
        if self.kind is Kind.KERNEL:
            return Reach(self.kernel_events, frozenset(), frozenset())
        if self.kind is Kind.EDGE and self.ends is not None:
            (a, b), (c, d) = self.ends
            return Reach(frozenset(), frozenset(range(a, b + 1)), frozenset(range(c, d + 1)))
        return _NOTHING


def _walk(flow: Flow, event: int, *, backward: bool) -> frozenset[int]:
    """Return everything that feeds an event, or that it feeds."""
    if len(flow.edges) and int(flow.edges["target"].max()) > MOST_WALKED:
        near, far = ("target", "source") if backward else ("source", "target")
        rows = (flow.edges[near] == event) & (flow.edges["kind"] == RAW)
        return frozenset(np.unique(flow.edges[far][rows]).tolist()) - {event}
    return flow.upstream(event) if backward else flow.downstream(event)
