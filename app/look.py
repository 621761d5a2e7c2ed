"""How the heights are shown, as plain values: kept in sessions, written in scenes, given on the command line.

Names and values are those of `WaterOptions`, without what belongs to the machine (quality) or to the moment
(the pointer's mark). No window and no OpenGL.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.view import colormaps
from app.view.options import Mode, WaterOptions

Look = dict[str, Any]
FACTORS = (0.1, 100.0)
"""Smallest and largest factor on the heights that are shown."""


def look_of(options: WaterOptions) -> Look:
    """Return how the heights are shown, in values that JSON knows."""
    look = {name: getattr(options, name) for name in _CHECKS}
    look["mode"] = Mode(options.mode).value
    look["fixed_range"] = list(options.fixed_range) if options.fixed_range is not None else None
    return look


def give_look(options: WaterOptions, look: Mapping[str, Any]) -> list[str]:
    """Show the heights so; what the look does not say stays.

    Returns:
        The names that were not taken: those that this program does not know, or whose values it cannot show,
        as in a session of another version.
    """
    left = []
    for name, value in look.items():
        check = _CHECKS.get(name)
        if check is None or not check(value):
            left.append(name)
        elif name == "mode":
            options.mode = Mode(value)
        elif name == "fixed_range":
            options.fixed_range = (float(value[0]), float(value[1])) if value is not None else None
        else:
            setattr(options, name, float(value) if name in _NUMBERS else value)
    return left


def _is_number(value: object, low: float, high: float) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and low <= value <= high  # type: ignore[arg-type,operator]


def _is_range(value: object) -> bool:
    if value is None:
        return True
    pair = isinstance(value, (list, tuple)) and len(value) == 2
    return pair and all(_is_number(item, -1e6, 1e6) for item in value) and value[0] < value[1]  # type: ignore[index,union-attr]


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


_NUMBERS = ("exaggeration", "contour_interval")
_CHECKS = {
    "mode": lambda value: value in [mode.value for mode in Mode],
    "exaggeration": lambda value: _is_number(value, *FACTORS),
    "colour_map": lambda value: value in colormaps.names(),
    "fixed_range": _is_range,
    "contours": _is_flag,
    "contour_interval": lambda value: _is_number(value, 0.0, 1e6),
    "wireframe": _is_flag,
    "axes": _is_flag,
}
"""By name, what tells whether a value can be shown."""
