"""What a user puts into a basin: walls, depth, sources and probes, with undo, and what must be uploaded.

It holds the truth about these arrays, as the parameter editor does for numbers; the player is told once a
frame, in `upload`, so that a session records it. Only what changed is kept for undo. No window.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from app.editor import Step
from replay.players.base import Player

MAPS = ("walls", "depth")
SOURCE_NAMES = ("source_pos", "source_freq", "source_amp", "source_phase", "source_on")
NAMES = (*MAPS, *SOURCE_NAMES, "probe_pos")
NOWHERE = (-1000.0, -1000.0)
SHALLOWEST = 0.05
FREQUENCIES = (0.1, 20.0)
AMPLITUDES = (0.0, 1.0)

Cell = tuple[float, float]


@dataclass(frozen=True)
class Source:
    """An oscillator: place in cells, frequency in Hz, amplitude in m, phase in rad."""

    at: Cell
    frequency: float = 5.0
    amplitude: float = 0.05
    phase: float = 0.0
    on: bool = True


@dataclass(frozen=True)
class Patch:
    """A changed part of an array, before and after."""

    name: str
    part: tuple[slice, ...]
    before: np.ndarray
    after: np.ndarray


class Furnishing:
    """The furnishing of one basin.

    Args:
        arrays: present values of `NAMES`.
        record: is given each step that undo takes back.

    Attributes:
        arrays: by name; change them through `edit`.
        revision: changes with every change.
        map_revision: changes with walls and depth.
    """

    def __init__(self, arrays: Mapping[str, np.ndarray], record: Callable[[Step], None]) -> None:
        self.arrays = {name: np.array(arrays[name]) for name in NAMES}
        self.revision = self.map_revision = 0
        self._record = record
        self._dirty: set[str] = set()
        self._held: dict[str, np.ndarray] = {}

    @classmethod
    def of_player(cls, player: Player, record: Callable[[Step], None]) -> Furnishing | None:
        """Return the furnishing of what a player replays, None if that is no basin."""
        if not all(name in player.parameters for name in NAMES):
            return None
        return cls({name: player.get(name) for name in NAMES}, record)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.arrays["walls"].shape
        return rows, columns

    # Changes

    def edit(self, name: str) -> np.ndarray:
        """Return an array that the caller changes now, as part of a movement that `settle` ends."""
        array = self.arrays[name]
        if name not in self._held:
            self._held[name] = array.copy()
        self._touch(name)
        return array

    def settle(self) -> None:
        """End a movement: what changed since the last time becomes one step for undo."""
        held, self._held = self._held, {}
        patches = [patch for name, before in held.items() if (patch := self._patch(name, before)) is not None]
        if patches:
            self._record(
                Step(
                    undo=lambda: self._put([(patch, patch.before) for patch in patches]),
                    redo=lambda: self._put([(patch, patch.after) for patch in patches]),
                )
            )

    @property
    def moving(self) -> bool:
        """Whether a movement has not been settled."""
        return bool(self._held)

    def replace(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Give several arrays other contents, as one step."""
        self.settle()
        for name, value in arrays.items():
            if name in self.arrays and self.arrays[name].shape == value.shape:
                self.edit(name)[...] = value
        self.settle()

    def _patch(self, name: str, before: np.ndarray) -> Patch | None:
        now = self.arrays[name]
        changed = np.argwhere(now != before)
        if not len(changed):
            return None
        low, high = changed.min(0), changed.max(0) + 1
        part = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
        return Patch(name, part, before[part].copy(), now[part].copy())

    def _put(self, values: list[tuple[Patch, np.ndarray]]) -> None:
        for patch, value in values:
            self.arrays[patch.name][patch.part] = value
            self._touch(patch.name)

    def _touch(self, name: str) -> None:
        self._dirty.add(name)
        self.revision += 1
        self.map_revision += name in MAPS

    # To and from the player

    def upload(self, player: Player) -> int:
        """Give the player what changed since the last call; return how many arrays that were."""
        names, self._dirty = self._dirty, set()
        for name in names:
            player.set(name, self.arrays[name])
        return len(names)

    def read(self, player: Player) -> None:
        """Take what a player has now, as after it was rewound; that is no step for undo."""
        self._held.clear()
        for name in NAMES:
            value = player.get(name)
            if not np.array_equal(value, self.arrays[name]):
                self.arrays[name][...] = value
                self._touch(name)
        self._dirty.clear()

    def adopt(self, other: Furnishing) -> None:
        """Take what another basin is furnished with, stretched to this grid, as after a new capture."""
        (rows, columns), (old_rows, old_columns) = self.shape, other.shape
        down = np.minimum((np.arange(rows) + 0.5) * old_rows / rows, old_rows - 1).astype(int)
        across = np.minimum((np.arange(columns) + 0.5) * old_columns / columns, old_columns - 1).astype(int)
        for name, value in other.arrays.items():
            if name in MAPS:
                value = value[np.ix_(down, across)]
            elif name in ("source_pos", "probe_pos"):
                value = value.copy()
                there = value[:, 0] > NOWHERE[0] / 2
                value[there] = (value[there] + 0.5) * (columns / old_columns, rows / old_rows) - 0.5
            self.arrays[name][...] = value
            self._touch(name)

    # Sources and probes

    def places(self, name: str) -> list[tuple[int, Cell]]:
        """Return number and place of each source (`source_pos`) or probe (`probe_pos`) there is."""
        return [
            (index, (x, y))
            for index, (x, y) in enumerate(self.arrays[name].tolist())
            if x > NOWHERE[0] / 2 and y > NOWHERE[1] / 2
        ]

    def nearest(self, name: str, cell: Cell, reach: float) -> int | None:
        """Return the number of the source or probe nearest to a cell, None if none is within reach."""
        found = [((x - cell[0]) ** 2 + (y - cell[1]) ** 2, index) for index, (x, y) in self.places(name)]
        return min(found)[1] if found and min(found)[0] <= reach * reach else None

    def free(self, name: str) -> int | None:
        """Return the first number that no source or probe has, None if all are taken."""
        taken = {index for index, _ in self.places(name)}
        return next((index for index in range(len(self.arrays[name])) if index not in taken), None)

    def place(self, name: str, index: int, cell: Cell) -> None:
        """Put a source or a probe somewhere, into the grid at least; `settle` ends the movement."""
        rows, columns = self.shape
        x, y = min(max(cell[0], 0.0), columns - 1.0), min(max(cell[1], 0.0), rows - 1.0)
        if tuple(self.arrays[name][index]) != (np.float32(x), np.float32(y)):
            self.edit(name)[index] = x, y

    def remove(self, name: str, index: int) -> None:
        """Take a source or a probe away, as one step."""
        self.settle()
        self.edit(name)[index] = NOWHERE
        if name == "source_pos":
            self.edit("source_on")[index] = 0
        self.settle()

    def source(self, index: int) -> Source:
        """Return what a source is."""
        x, y = self.arrays["source_pos"][index].tolist()
        return Source(
            (x, y),
            float(self.arrays["source_freq"][index]),
            float(self.arrays["source_amp"][index]),
            float(self.arrays["source_phase"][index]),
            bool(self.arrays["source_on"][index]),
        )

    def set_source(self, index: int, source: Source) -> None:
        """Change a source; `settle` ends the movement."""
        before = self.source(index)
        if source.at != before.at:
            self.place("source_pos", index, source.at)
        for name, new, old in (
            ("source_freq", min(max(source.frequency, FREQUENCIES[0]), FREQUENCIES[1]), before.frequency),
            ("source_amp", min(max(source.amplitude, AMPLITUDES[0]), AMPLITUDES[1]), before.amplitude),
            ("source_phase", source.phase, before.phase),
            ("source_on", int(source.on), int(before.on)),
        ):
            if new != old:
                self.edit(name)[index] = new
