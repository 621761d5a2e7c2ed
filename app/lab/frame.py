"""Looking inside one frame: the state right after an event, beside the live player, which rests meanwhile.

The frame is the one that would be launched next, or one that was kept because something went wrong in it.
Which region is shown as water is worked out here: the height field that the event, or one before it, wrote.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from app.lab.around import Around, Surroundings
from app.scene import Scene
from replay.errors import RipplescopeError
from replay.events.replayer import EventReplayer, EventState
from replay.events.values import typed
from replay.graph.model import Access, Provenance
from replay.players.base import Player
from replay.players.snapshot import Snapshot

_LOOKED_BACK = 64
"""So many events before one are asked which height field they wrote."""
_PLAY_SECONDS = 4.0
_FASTEST = 8.0  # events a second at most


class FrameView:
    """The state after a chosen event.

    Attributes:
        looking: whether a frame is looked into.
        event: the event whose state is shown; None for the start of the frame.
        playing: whether it goes on to the next event by itself.
        revision: changes whenever another state is shown.
        field: region that is shown as water, None if there is none.
        which: the frame in words.
        around: the IFs and WHILEs that the event lies in, outermost first, and itself if it is one.
        iterations: which iteration of a WHILE is looked at, by its event; the first one where it is absent.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.looking = self.playing = False
        self.event: int | None = None
        self.revision = 0
        self.field: int | None = None
        self.which = ""
        self.around: tuple[Around, ...] = ()
        self.iterations: dict[int, int] = {}
        self._turns: dict[int, int] = {}
        self._surroundings: Surroundings | None = None
        self._replayer: EventReplayer | None = None
        self._state: EventState | None = None
        self._start: Snapshot | None = None
        self._was_paused = False
        self._next_at: float | None = None
        self._values = -1

    @property
    def possible(self) -> bool:
        """Whether there is something to look into."""
        return self._scene.player is not None and len(self._scene.capture.operations) > 0

    @property
    def note(self) -> str:
        """What is special about the state, empty if nothing is."""
        return self._state.note if self._state is not None else ""

    @property
    def ran(self) -> bool:
        """Whether the event runs in this frame at all."""
        return self._state is None or self._state.ran

    @property
    def place(self) -> str:
        """Where in the frame the state is, such as `after event 4, iteration 2`."""
        if self.event is None:
            return "at the start of the frame"
        turns = [f", iteration {turn}" + (f" of event {loop}" if len(self._turns) > 1 else "")
                 for loop, turn in self._turns.items()]  # fmt: skip
        return f"after event {self.event}" + "".join(turns)

    def choose_iteration(self, loop: int, iteration: int) -> None:
        """Look at another iteration of a WHILE around the event; beyond the last one it is the last one.

        Raises:
            RipplescopeError: see `look`.
        """
        if self.looking and self._replayer is not None:
            self.iterations[loop] = max(iteration, 1)
            self._show(self.event)

    def look(self, event: int | None, start: Snapshot | None = None, which: str = "the next frame") -> None:
        """Show the state after an event.

        Args:
            event: None for the start of the frame.
            start: the state at the start of the frame; None stays in the frame that is looked into, or takes
                the next one.
            which: the frame in words, if it is another one now.

        Raises:
            RipplescopeError: the operations up to it cannot be loaded or launched.
        """
        player = self._scene.player
        if player is None:
            return
        if not self.looking:
            self._was_paused = self._scene.clock.paused
            self._scene.clock.paused = True
        fresh = not self.looking or start is not None
        if fresh:
            self._start = start  # a kept frame stays that frame also in an edited capture
        start = self._start
        if self._replayer is None or self._replayer.capture is not player.capture:
            self._close_replayer()
            self._replayer = EventReplayer(player.capture, player.device, start or player.snapshot())
            self._surroundings = Surroundings(self._replayer)
        elif fresh:
            self._restart(start or player.snapshot())
        if fresh:
            self.which, self._values = which, self._scene.editor.revision
        self.looking = True
        self._show(event)

    def _restart(self, start: Snapshot) -> None:
        assert self._replayer is not None and self._surroundings is not None
        self._replayer.restart(start)
        self._surroundings.forget()

    def _show(self, event: int | None) -> None:
        assert self._replayer is not None and self._surroundings is not None
        if event is None:
            self._state, self.around, self._turns = self._replayer.start(), (), {}
        else:
            around, turns = self._surroundings.of(event, self.iterations)
            self._state = self._replayer.after(event, turns)
            self.around, self._turns = around, turns
        self.event = event
        self.field = self._find_field(event)
        self.revision += 1

    def step(self, by: int) -> None:
        """Go to an event before or after; the start of the frame comes before the first one."""
        count = len(self._scene.capture.operations)
        at = (-1 if self.event is None else self.event) + by
        at = min(max(at, -1), count - 1)
        self.look(None if at < 0 else at)

    def leave(self) -> None:
        """Go back to live replay, which goes on where it was."""
        if not self.looking:
            return
        self.looking = self.playing = False
        self._state, self._start, self.around = None, None, ()
        self._scene.clock.paused = self._was_paused
        self.revision += 1

    def play(self, now: float) -> None:
        """Begin to go on by itself, from the start if the end is reached; a second call stops."""
        self.playing = not self.playing
        if self.playing and self.event == len(self._scene.capture.operations) - 1:
            self.look(None)
        self._next_at = now

    def advance(self, now: float) -> bool:
        """Go on if it is playing and time; return whether another state is shown."""
        if not (self.looking and self.playing) or self._next_at is None or now < self._next_at:
            return False
        count = len(self._scene.capture.operations)
        each = max(1 / _FASTEST, _PLAY_SECONDS / max(count, 1))
        skip = max(1, round(1 / 30 / each)) if each < 1 / 30 else 1
        self._next_at = max(self._next_at + each * skip, now)
        if self.event == count - 1:
            self.playing = False
            return False
        self.step(skip)
        return True

    def refresh(self) -> bool:
        """Look again if the user changed a parameter meanwhile; return whether another state is shown."""
        if not self.looking or self._values == self._scene.editor.revision or self.which != "the next frame":
            return False
        self._values = self._scene.editor.revision
        player = self._scene.player
        if player is None or self._replayer is None:
            return False
        self._restart(player.snapshot())
        self._show(self.event)
        return True

    def region_bytes(self, region: int) -> np.ndarray | None:
        """Return what a region holds in the state that is shown, uint8; None if nothing is looked at."""
        return self._state.region_bytes(region) if self._state is not None else None

    def parameter(self, name: str) -> np.ndarray | None:
        """Return what a named array holds in the state that is shown."""
        return self._state.parameter(name) if self._state is not None else None

    def heights(self) -> np.ndarray | None:
        """Return the height field that is shown as water, float32 (rows, columns)."""
        if self._state is None or self.field is None:
            return None
        values = typed(self._scene.capture.regions[self.field], self._state.region_bytes(self.field))
        grid = self._scene.grid
        return values.reshape(grid.height, grid.width) if grid is not None else None

    def _find_field(self, event: int | None) -> int | None:
        """Return the height field that was written last up to an event, as far as it is known."""
        scene = self._scene
        if scene.heights is None or scene.player is None:
            return None
        own = scene.player.parameters[scene.heights].region
        fields = _fields_like(scene, own)
        if event is None or len(fields) == 1:
            return own
        for earlier in range(event, max(event - _LOOKED_BACK, -1), -1):
            written, known = _written(scene.player, earlier, fields)
            if len(written) > 1 and not known:
                written = self._changed(earlier, written)
            if written:
                return own if own in written else written[0]
        return own

    def _changed(self, event: int, regions: Sequence[int]) -> list[int]:
        assert self._replayer is not None
        try:
            before, after = (
                self._replayer.before(event, self._turns),
                self._replayer.after(event, self._turns),
            )
            return [
                region
                for region in regions
                if not np.array_equal(before.region_bytes(region), after.region_bytes(region))
            ]
        except RipplescopeError:
            return []

    def _close_replayer(self) -> None:
        if self._replayer is not None:
            self._replayer.close()
            self._replayer = self._surroundings = None

    def close(self) -> None:
        """Release what is loaded."""
        self.leave()
        self._close_replayer()


def _fields_like(scene: Scene, own: int) -> frozenset[int]:
    """Return the regions that may hold the height field at some event: those like the one that is shown."""
    regions = scene.capture.regions
    like = regions[own]
    return frozenset(
        region.id
        for region in regions.values()
        if region.nbytes == like.nbytes and region.element == like.element and region.shape == like.shape
    )


def _written(player: Player, event: int, fields: frozenset[int]) -> tuple[list[int], bool]:
    """Return the height fields that an event may write, and whether that is known."""
    uses = [use for use in player.capture.operations[event].uses if use.region in fields]
    written = list(dict.fromkeys(use.region for use in uses if Access.WRITE in use.access))
    return written, all(use.provenance is Provenance.KNOWN for use in uses)
