"""What is told of everything that enters a player: a log, a recorder, a history. Does nothing itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Observer:
    """Listens to a player, once it is in the player's `observers`. Its methods must not launch or write.

    What somebody writes through a zero-copy view is not told.
    """

    def wrote(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """The host wrote (region, bytes) pairs, in this order; the arrays do not change afterwards."""

    def restored(self) -> None:
        """The contents of all regions were replaced."""

    def launching(self) -> None:
        """The graph is about to be launched once; all values have been written."""

    def launched(self) -> None:
        """It was launched, and the carry pairs were applied."""
