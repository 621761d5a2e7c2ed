"""The lab of one open capture: what panels ask about it, and what they have done to it.

It holds the selection, the data flow, what was measured and observed, the edits, the frame that is looked
into, and the search for the first value that is not finite. The live player rests while `resting`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Protocol

import numpy as np

from app.arrays.shown import ShownArray
from app.lab.contents import Typing, contents_of
from app.lab.frame import FrameView
from app.lab.job import Job
from app.lab.selection import Selection
from app.scene import Scene
from replay.edit import EditList
from replay.events.cost import EventCost, Profile, profile_operations
from replay.events.flight import FoundFrame, find_frame
from replay.events.observe import observe_access
from replay.graph.access import observed_operation
from replay.graph.flow import Flow, data_flow
from replay.graph.fold import Folded, fold_capture
from replay.graph.model import Access, Capture, Operation, Provenance
from replay.graph.nodes import Opened
from replay.graph.operations import LazyOperations
from replay.graph.uses import ASSUMED, OBSERVED
from replay.history import MAX_NBYTES, History

_KEPT_NBYTES = {"cpu": MAX_NBYTES, "cuda": 1 << 30}
"""Memory for the last frames, by kind of device, and on it; captures with more than a quarter have none."""


class Closable(Protocol):
    """Something with a `close`."""

    def close(self) -> None:
        """Release it."""


class Lab:
    """The lab of a scene.

    Attributes:
        scene, capture: what is open; `capture` is as it was opened, without edits.
        selection: what is selected.
        opened: which nodes of the graph are open.
        edits: changed arguments.
        frame: the frame that is looked into.
        profile: what each event costs, None before it is measured.
        observed: regions that events were seen to change, None before it is tried.
        found: where values stopped being finite, None if they did not or it is not known.
        history: the last frames, None where they take too much memory.
        job: work in the background, None if there is none.
        typings: types that the user gave to regions.
        member_types: types that the user gave to members of structs, by event, argument and first byte.
        shown: the array that the centre of the window shows, or would show.
        closables: what panels made for this capture and what is closed with it, such as textures.
        revision: changes with the flow, the profile and the edits.
    """

    def __init__(self, scene: Scene) -> None:
        self.scene, self.capture = scene, scene.capture
        self.selection = Selection()
        self.opened = Opened()
        self.edits = EditList(scene.capture)
        self.frame = FrameView(scene)
        self.profile: Profile | None = None
        self.observed: dict[int, frozenset[int]] | None = None
        self.found: FoundFrame | None = None
        self.job: Job | None = None
        self.typings: dict[int, Typing] = {}
        self.member_types: dict[tuple[int, int, int], str] = {}
        self.revision = 0
        self.closables: list[Closable] = []
        self._flow: Flow | None = None
        self.history: History | None = None
        self._costs: dict[int, EventCost] = {}
        self._found_in: Capture | None = None
        self.shown = ShownArray(self, active=not scene.is_water)
        self.attach()

    def attach(self) -> None:
        """Follow the scene's player, also after it was exchanged."""
        if self.history is not None:
            self.history.close()
            self.history = None
        player = self.scene.player
        if player is None:
            return
        most = _KEPT_NBYTES.get(player.device.partition(":")[0], MAX_NBYTES)
        if sum(region.nbytes for region in self.capture.regions.values()) <= most // 4:
            self.history = History(player, max_nbytes=most)

    @property
    def resting(self) -> bool:
        """Whether the live player must not be launched just now."""
        return self.frame.looking or self.job is not None

    # What the capture says

    @cached_property
    def folded(self) -> tuple[Folded, ...]:
        """The operations, repeats folded."""
        return fold_capture(self.capture)

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], np.ndarray]:
        """Names of operations, and for each event the index of its own."""
        operations = self.capture.operations
        if not isinstance(operations, LazyOperations) or not len(operations):
            return (), np.zeros(len(operations), np.int64)
        names = [label.rpartition(" [")[0] or label for label in operations.labels]
        distinct = list(dict.fromkeys(names))
        index = {name: number for number, name in enumerate(distinct)}
        table = np.array([index[name] for name in names], np.int64)
        return tuple(distinct), table[operations.label_of]

    def events_named(self, name: str) -> frozenset[int]:
        """Return the events of all operations of a name, such as a kernel's."""
        names, of = self.labels
        return frozenset(np.flatnonzero(of == names.index(name)).tolist()) if name in names else frozenset()

    @property
    def flow(self) -> Flow:
        """The data flow, by the best knowledge there is."""
        if self._flow is None:
            self._flow = data_flow(self.capture, observed=self.observed)
        return self._flow

    @property
    def assumed(self) -> bool:
        """Whether some access is only assumed, so that observing would help."""
        return self.observed is None and bool((self.flow.uses.provenance >= ASSUMED).any())

    @cached_property
    def nbytes_of_events(self) -> np.ndarray:
        """Bytes that each event reads and writes at most; what is inside a conditional not included."""
        uses = self.flow.uses
        weights = (uses.stop - uses.start) * ((uses.access & 1) + (uses.access >> 1 & 1))
        return np.bincount(uses.event, weights=weights, minlength=len(self.capture.operations))

    def operation(self, event: int) -> Operation:
        """Return an operation as it is now, with the edits and with what was observed."""
        return observed_operation(self.edits.capture.operations[event], self.observed)

    def cost(self, event: int) -> EventCost | None:
        """Return what an event costs, None if it was not measured."""
        return self._costs.get(event)

    def region_name(self, region: int) -> str:
        """Return the first name of a region, or its number."""
        found = self.capture.regions.get(region)
        return found.names[0] if found is not None and found.names else f"region {region}"

    def contents(self, region: int) -> tuple[np.ndarray | None, str]:
        """Return a region's values and where they come from, for people: now, after an event, in the file.

        The values are None if there is nothing to show: no player and no contents in the file.
        """
        raw, where = self._bytes(region)
        return (None if raw is None else contents_of(raw, self.typing(region))), where

    def typing(self, region: int) -> Typing:
        """Return how a region is read: as the user says, or as the model knows."""
        return self.typings.get(region) or Typing.of_region(self.capture.regions[region])

    def _bytes(self, region: int) -> tuple[np.ndarray | None, str]:
        if self.frame.looking:
            return self.frame.region_bytes(region), self.frame.place
        if self.scene.player is not None:
            return self.scene.player.region_bytes(region), "now"
        record = self.capture.regions[region]
        if record.data_offset is None:
            return None, "the file holds no contents"
        end = record.data_offset + record.nbytes
        return np.frombuffer(self.capture.data[record.data_offset : end], np.uint8), "as the file holds it"

    # Work in the background

    def poll(self) -> None:
        """Take over what the work in the background has found.

        Raises:
            RipplescopeError: it failed.
        """
        if self.job is None:
            return
        job = self.job
        try:
            if job.poll():
                self.job = None
        except BaseException:
            self.job = None
            raise

    def measure(self) -> None:
        """Measure what each event costs, from the present state; `profile` is set when that is done."""
        player = self.scene.player
        if player is None or self.job is not None:
            return
        capture, start = player.capture, player.snapshot()
        repeats = 20 if len(capture.top_level) <= 200 else 5

        def keep(profile: Profile) -> None:
            self.profile = profile
            self._costs = {cost.event: cost for cost in profile.events}
            self.revision += 1

        self.job = Job(
            "Measuring", lambda progress: profile_operations(capture, start, repeats, progress=progress), keep
        )

    def observe(self, tell: Callable[[str], None] | None = None) -> None:
        """Watch which regions each event changes; edges are observed afterwards and no longer assumed.

        Args:
            tell: is told in one sentence what was found.
        """
        player = self.scene.player
        if player is None or self.job is not None:
            return
        capture, start = self.capture, player.snapshot()

        def keep(observed: dict[int, frozenset[int]]) -> None:
            self.observed = observed
            self._flow = None
            self.__dict__.pop("nbytes_of_events", None)
            self.revision += 1
            if tell is not None:
                tell(self.told_access())

        self.job = Job("Observing", lambda _: dict(observe_access(capture, player, start)), keep)

    def told_access(self) -> str:
        """Return in one sentence how the uses of regions are known, and what observing found."""
        uses = self.flow.uses
        seen = uses.provenance == OBSERVED
        written = int(np.count_nonzero(seen & ((uses.access & Access.WRITE.value) != 0)))
        told = int(np.count_nonzero(seen))
        assumed = int(np.count_nonzero(uses.provenance >= ASSUMED))
        known = len(uses.event) - told - assumed
        if not told and not assumed:
            return f"all {known:,} uses of regions are known: there was nothing to observe"
        text = f"observed {told:,} uses of regions: {written:,} changed what the region holds, "
        text += f"{told - written:,} did not" + (f"; {known:,} were known" if known else "")
        return text + (f"; {assumed:,} stay assumed, since their events did not run" if assumed else "")

    def find_not_finite(self) -> None:
        """Search for the event that first made a value not finite; then look at the state after it."""
        history = self.history
        if history is None or self.job is not None:
            return
        self.job = Job("Searching for the first NaN", lambda _: find_frame(history), self._show_found)

    def _show_found(self, found: FoundFrame | None) -> None:
        self.found = found
        self._found_in = self.scene.player.capture if self.scene.player is not None else None
        if found is None or found.first.event is None:
            return
        first = found.first
        self.selection.select_event(first.event)
        if first.made:
            self.selection.region = first.made[0].region
        # The frame is kept under a name, so that a changed parameter does not replace it.
        self.frame.iterations = dict(first.iterations)
        self.frame.look(first.event, found.start, f"frame {found.frame}")
        seen = self.shown.candidate.region if self.shown.candidate is not None else None
        if first.made and (seen if self.shown.active else self.frame.field) not in {
            made.region for made in first.made
        }:
            self.shown.pick(first.made[0].region)
        self.revision += 1

    def forget_found(self) -> None:
        """Forget where values stopped being finite, as after a reset."""
        self.found = None
        self.frame.leave()

    def marked(self, region: int) -> np.ndarray | None:
        """Return the cells of a region that the first event made not finite, (n, dimensions).

        None also once an argument was edited: it may make other cells so, or none.
        """
        if self.found is None or self.frame.event != self.found.first.event:
            return None
        if self.scene.player is None or self.scene.player.capture is not self._found_in:
            return None
        return next((made.cells(400) for made in self.found.first.made if made.region == region), None)

    def described(self, region: int) -> str:
        """Return type and shape of a region for people, and whether they are inferred."""
        record = self.capture.regions[region]
        if record.element is None:
            return f"{record.nbytes} bytes"
        shape = "×".join(map(str, record.shape or ()))
        sign = "" if record.provenance is Provenance.KNOWN else f" ({record.provenance.value})"
        return f"{record.element.name}[{shape}]{sign}"

    def close(self) -> None:
        """End the work in the background and release what is loaded."""
        if self.job is not None:
            self.job.cancel()
            self.job.wait()
            self.job = None
        self.frame.close()
        while self.closables:
            self.closables.pop().close()
        if self.history is not None:
            self.history.close()
            self.history = None
