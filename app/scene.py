"""An opened capture, ready to replay: its player, its grid, its parameters as a user edits them.

What a capture without a manifest means is worked out here once: which array is the height field and which
one the pointer. No window and no OpenGL.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np

from app.basin.probelog import ProbeLog
from app.editor import ParameterEditor
from app.simclock import SimulationClock
from app.touch import NOWHERE, Segment
from app.view.grid import Grid
from replay.errors import DeviceError
from replay.graph.model import Capture
from replay.parameters import ParameterSpec
from replay.players.base import Player

if TYPE_CHECKING:
    from app.basin.furnishing import Furnishing
    from app.basin.scenes import Rain

DEFAULT_FRAME_RATE = 60.0
_WATER_NAMES = ("heights_out", "heights")
_FINITE_CHECK_CELLS = 1 << 18
"""Grids up to this size are checked for numbers that are not finite with every frame."""
FOLLOW_INTERVAL = 0.25
"""Seconds between two looks at the values of a capture without a manifest; on a GPU each look waits."""
_COPIED_NBYTES = 4096
"""Arrays up to this size are copied to be checked; larger ones on the CPU are looked at in place."""


@dataclass
class Scene:
    """What is replayed.

    Attributes:
        capture: the opened file.
        player: what replays it; None where it is only looked at.
        blocked: why there is no player, empty if there is one.
        grid: the height field's cells, None if the capture has none.
        heights, pointer, pointer_from: names of arrays, None where there is no such array.
        editor: the parameters.
        clock: simulated time.
        stamp: modification time and size of the file when it was opened.
        changed_on_disk: whether the file is another one by now.
        not_finite: whether the heights are known to hold a NaN or an infinity.
        resets: how often the water was reset.
        rain: drops that fall where nobody pushes, None for none.
        watched: names of arrays that held only finite values when it was loaded, and are checked for others.
        probes: what the probes have recorded.
        furnishing: walls, depth, sources and probes, None where the capture is no basin.
        caption: what there is to see, told over the water; empty for nothing.
        seen_from: yaw and pitch in radians from which its whole grid is looked at; None for the usual ones.
    """

    capture: Capture
    player: Player | None
    grid: Grid | None
    heights: str | None
    pointer: str | None
    pointer_from: str | None
    editor: ParameterEditor
    clock: SimulationClock
    stamp: tuple[int, int]
    changed_on_disk: bool = False
    not_finite: bool = False
    resets: int = 0
    blocked: str = ""
    watched: tuple[str, ...] = ()
    rain: Rain | None = None
    furnishing: Furnishing | None = None
    caption: str = ""
    seen_from: tuple[float, float] | None = None
    probes: ProbeLog = field(default_factory=ProbeLog)
    _pushes: int = 0
    _follow_at: float = 0.0

    @classmethod
    def of_capture(cls, capture: Capture, blocked: str) -> Scene:
        """Return the scene of a capture that is not replayed, for the reason given: nothing of it runs."""
        return cls(
            capture=capture,
            player=None,
            grid=None,
            heights=None,
            pointer=None,
            pointer_from=None,
            editor=ParameterEditor({}, {}),
            clock=SimulationClock(1.0 / DEFAULT_FRAME_RATE, timed=capture.manifest is not None),
            stamp=file_stamp(capture.path),
            blocked=blocked,
        )

    @classmethod
    def of_player(cls, player: Player) -> Scene:
        """Return the scene of a loaded capture; owns the player from then on."""
        from app.basin.furnishing import Furnishing

        editor = ParameterEditor.of_player(player)
        capture = player.capture
        manifest = capture.manifest
        heights, dx, pointer, rate = _find_heights(player.parameters), 0.1, "mouse_pos", DEFAULT_FRAME_RATE
        if manifest is not None:
            heights, dx, pointer = manifest.grid.heights, manifest.grid.dx, manifest.grid.pointer
            rate = manifest.frame_rate
        grid = None
        if heights in player.parameters and _is_field(player.parameters[heights]):
            rows, columns = player.parameters[heights].shape
            grid = Grid(columns, rows, dx)
        return cls(
            capture=capture,
            player=player,
            grid=grid,
            heights=heights if grid is not None else None,
            pointer=_if_place(player.parameters, pointer),
            pointer_from=_if_place(player.parameters, "pointer_from"),
            editor=editor,
            clock=SimulationClock(1.0 / rate, timed=manifest is not None),
            stamp=file_stamp(capture.path),
            watched=_watched(player, heights if grid is not None else None),
            furnishing=Furnishing.of_player(player, editor.record) if grid is not None else None,
        )

    @property
    def device_text(self) -> str:
        """Where it is replayed, for people."""
        return device_text(self.player.device, self.player.device_name) if self.player else "not replayed"

    @property
    def is_water(self) -> bool:
        """Whether there is a height field for sure: the manifest says so, or the names of the wave frame."""
        if self.grid is None:
            return False
        return self.capture.manifest is not None or self.heights in _WATER_NAMES

    @property
    def name(self) -> str:
        """The file's name."""
        return self.capture.path.name

    @property
    def substeps(self) -> int | None:
        """Substeps a frame, None if the capture does not say."""
        return self.capture.manifest.substeps if self.capture.manifest is not None else None

    def push(self, segment: Segment | None) -> None:
        """Say what the next launch pushes; to be called once a launch."""
        if self.pointer is None or self.player is None:
            return
        if segment is None and self.rain is not None and self.grid is not None:
            drop = self.rain.drop(self._pushes, self.grid.width, self.grid.height)
            segment = (NOWHERE, drop) if drop is not None else None
        self._pushes += 1
        before, here = segment if segment is not None else (NOWHERE, NOWHERE)
        self._point(self.pointer, here)
        if self.pointer_from is not None:
            self._point(self.pointer_from, before)

    def upload(self) -> None:
        """Give the player what the user changed."""
        if self.player is not None:
            self.editor.upload(self.player)
            if self.capture.manifest is None and (now := time.perf_counter()) >= self._follow_at:
                # Nothing says which of its arrays the graph writes itself.
                self._follow_at = now + FOLLOW_INTERVAL
                self.editor.follow(self.player)
            if self.furnishing is not None:
                self.furnishing.upload(self.player)
                placed = len(self.furnishing.places("probe_pos")) > 0
                step = self.editor.values.get("dt", (0.0,))[0]
                self.probes.follow(self.player if placed else None, step)
                self.probes.fetch()

    def adopt(self, old: Scene) -> list[str]:
        """Take over what the user set in the scene before; return what could not be set as it was."""
        self.clock.speed, self.clock.paused = old.clock.speed, old.clock.paused
        if self.furnishing is not None and old.furnishing is not None:
            self.furnishing.adopt(old.furnishing)
            self.rain = old.rain
        messages = self.editor.adopt(old.editor)
        self.editor.forget()  # nothing was done here yet that undo could take back
        return messages

    def _point(self, name: str, place: tuple[float, float]) -> None:
        assert self.player is not None
        value = np.array([place], np.float32)
        if not self.player.holds(name, value):  # as in most frames; a check of the value costs more
            self.player.set(name, value)

    def reset_water(self) -> None:
        """Rewrite what the file holds, but keep what the user set."""
        if self.player is None:
            return
        furniture = {name: self.player.get(name) for name in self._furniture()}
        self.player.reset()
        for name, value in furniture.items():
            self.player.set(name, value)
        self.editor.touch_all()
        self._pushes = 0
        self.clock.restart()
        self.not_finite = False
        self.resets += 1

    def _furniture(self) -> list[str]:
        """Return the arrays that only the user writes and the editor does not hold: walls, sources."""
        manifest = self.capture.manifest
        pointers = (self.pointer, self.pointer_from)
        return [
            entry.name
            for entry in (manifest.parameters if manifest is not None else ())
            if entry.role == "input"
            and not entry.editable
            and entry.name not in pointers
            and self.player is not None
            and entry.name in self.player.parameters
        ]

    def height_at(self, cell: tuple[float, float]) -> float | None:
        """Return the height of a cell in m where reading it costs nothing: on the CPU."""
        player = self.player
        if self.heights is None or self.grid is None or player is None or not player.device.startswith("cpu"):
            return None
        column = min(max(round(cell[0]), 0), self.grid.width - 1)
        row = min(max(round(cell[1]), 0), self.grid.height - 1)
        return float(player.view(self.heights)[row, column])

    def check_finite(self, frame: int) -> bool:
        """Return whether a watched array holds a value that is not finite; looks as often as is cheap."""
        if self.player is None or self.not_finite:
            return self.not_finite
        on_cpu = self.player.device.startswith("cpu")
        if not on_cpu and self.heights is not None:
            return False  # nothing is fetched from a GPU for this: the view looks, there
        cells = sum(self.player.parameters[name].nbytes // 4 for name in self.watched)
        every = 1 if on_cpu and cells <= _FINITE_CHECK_CELLS else 120
        if frame % every == 0:
            self.not_finite = not all(_is_finite(self.player, name) for name in self.watched)
        return self.not_finite

    def not_finite_names(self) -> list[str]:
        """Return the watched arrays that hold a NaN or an infinity now; fetches them all from a GPU."""
        player = self.player
        return [] if player is None else [name for name in self.watched if not _is_finite(player, name)]

    def look_at_disk(self) -> None:
        """Notice whether the file on disk is another one by now."""
        stamp = file_stamp(self.capture.path)
        self.changed_on_disk = stamp != self.stamp and stamp != (0, 0)

    def close(self) -> None:
        """Release the player."""
        self.probes.close()
        if self.player is not None:
            self.player.close()

    def __enter__(self) -> Scene:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_scene(path: Path, device: str, drawing: Callable[[], str | None] | None = None) -> Scene:
    """Open and load a capture; arguments and errors as for `load_scene`, and CaptureFileError."""
    from replay.graph.open import open_capture

    return load_scene(open_capture(path), device, drawing)


def load_scene(capture: Capture, device: str, drawing: Callable[[], str | None] | None = None) -> Scene:
    """Load an opened capture.

    Args:
        capture: its code runs, so it must be trusted.
        device: as for `open_player`.
        drawing: tells the CUDA device that draws, None for none; it is taken where the user leaves the
            choice, for heights need not leave it then. Asked only for a capture for CUDA.

    Raises:
        ReplayError, DeviceError: it cannot be replayed here.
    """
    from replay.players import open_player

    player = None
    if capture.device_kind == "cuda" and device in ("auto", "cuda") and drawing is not None:
        preferred = drawing()
        if preferred is not None:
            with contextlib.suppress(DeviceError):  # of another architecture, say: then as without it
                player = open_player(capture, preferred)
    if player is None:
        player = open_player(capture, device)
    try:
        return Scene.of_player(player)
    except BaseException:
        player.close()
        raise


def device_text(device: str, name: str) -> str:
    """Return a device for people: `CPU`, or its name."""
    return "CPU" if name == "cpu" else name if name != device else device.upper()


def file_stamp(path: Path) -> tuple[int, int]:
    """Return modification time in ns and size of a file, zeros if it is not there."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _find_heights(specs: Mapping[str, ParameterSpec]) -> str | None:
    """Return the array that is most likely a height field: 2-D float32, well named, else the largest."""
    fields = [spec for spec in specs.values() if _is_field(spec)]
    for name in _WATER_NAMES:
        if any(spec.name == name for spec in fields):
            return name
    return max(fields, key=lambda spec: spec.nbytes).name if fields else None


def _watched(player: Player, heights: str | None) -> tuple[str, ...]:
    """Return the named arrays of floats that are finite now, one name a region; the height field first.

    What only the user writes is left out where the manifest says so: the editor keeps it finite.
    """
    names: dict[int, str] = {}
    for name in ([heights] if heights is not None else []) + list(player.parameters):
        spec = player.parameters[name]
        if spec.element.scalar.kind == "f" and not spec.editable:
            names.setdefault(spec.region, name)
    return tuple(name for name in names.values() if _is_finite(player, name))


def _is_finite(player: Player, name: str) -> bool:
    # A view is written anew with every value; so small arrays, such as the pointer, are copied.
    large = player.parameters[name].nbytes > _COPIED_NBYTES
    values = player.view(name) if large and player.device.startswith("cpu") else player.get(name)
    # A sum is finite only if all its terms are, and is taken fast; that of large values overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.sum(values)) or np.isfinite(values).all())


def _is_field(spec: ParameterSpec) -> bool:
    is_float = spec.element.scalar == np.float32 and not spec.element.inner_shape
    return is_float and len(spec.shape) == 2 and min(spec.shape) >= 3


def _if_place(specs: Mapping[str, ParameterSpec], name: str) -> str | None:
    spec = specs.get(name)
    fits = spec is not None and spec.full_shape == (1, 2) and spec.element.scalar == np.float32
    return name if fits else None
