"""What the pointer does on the water's place in the window, as the panels note it and the loop reads it.

No more than notes: what a press or a drag means is decided in `app.controls`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.touch import PressTrail
from app.view.camera import WHOLE

Rect = tuple[float, float, float, float]


@dataclass
class Canvas:
    """The part of the window that shows the water.

    Attributes:
        rect: x, y, width, height in window units.
        free: the part of it that no bar lies over, in shares of its size: left, top, right, bottom.
        bars: height that bars take at its top, in window units.
        banner: height that the banner takes below them, 0 without one.
        hovered: whether the pointer is over the water and not over a panel.
        pointer: where the pointer is, in window units.
        down: which buttons went down on the water and are still down: left, right, middle.
        clicks: where the left button went down since the loop looked last; None for elsewhere than on water.
        trail: where the pointer went since presses that are not among the clicks yet.
        moved: how far the pointer went while a button was down, since the loop looked last.
        wheel: notches turned over the water since the loop looked last.
        shift: whether Shift is held.
    """

    rect: Rect = (0.0, 0.0, 1.0, 1.0)
    free: Rect = WHOLE
    bars: float = 0.0
    banner: float = 0.0
    hovered: bool = False
    pointer: tuple[float, float] = (-1.0, -1.0)
    down: list[bool] = field(default_factory=lambda: [False, False, False])
    clicks: list[tuple[float, float] | None] = field(default_factory=list)
    trail: PressTrail = field(default_factory=PressTrail)
    moved: tuple[float, float] = (0.0, 0.0)
    wheel: float = 0.0
    shift: bool = False
