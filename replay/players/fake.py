"""A player without Warp: regions are NumPy arrays, and a launch calls a Python function.

For tests of everything above a player. It refuses nothing, since it runs nothing native.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from replay.graph.model import Capture
from replay.parameters import ParameterSpec
from replay.players.base import Player

Step = Callable[["FakePlayer"], None]


class FakePlayer(Player):
    """A capture whose launch is a Python function.

    Args:
        capture: regions, names and initial contents; its operations are not run.
        step: called once a launch with the player; it moves `view(name)`. None does nothing.

    Attributes:
        writes: (region, nbytes) of each write so far, initial contents not counted.
    """

    def __init__(self, capture: Capture, step: Step | None = None) -> None:
        super().__init__(capture, "fake")
        self.step = step
        self.writes: list[tuple[int, int]] = []
        self._regions = {region: self._initial(region).copy() for region in capture.regions}

    def _write(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        for region, value in values:
            self._regions[region][:] = value.reshape(-1).view(np.uint8)
            self.writes.append((region, value.nbytes))

    def _read(self, region: int) -> np.ndarray:
        return self._regions[region].copy()

    def _view(self, spec: ParameterSpec) -> np.ndarray:
        memory = self._regions[spec.region] if spec.nbytes else np.empty(0, np.uint8)
        return memory.view(spec.element.scalar).reshape(spec.full_shape)

    def _launch(self) -> None:
        if self.step is not None:
            self.step(self)

    def _copy(self, pairs: Sequence[tuple[int, int]]) -> None:
        contents = [self._regions[source].copy() for source, _ in pairs]
        for (_, target), content in zip(pairs, contents, strict=True):
            self._regions[target][:] = content

    def _synchronize(self) -> None:
        """Nothing to do: a launch returns when it is done."""

    def _close(self) -> None:
        self._regions = {}
