"""Where the panels are at first, as widths and shares. Pure numbers; `app.panels.desk` docks by them.

Parameters are left of the water, the graph over the event list and the inspector right of it, and what is
looked at now and then below it. A small window takes from the panels before it takes from the water.
"""

from __future__ import annotations

from dataclasses import dataclass

USUAL_WIDTH = 1280.0
"""Width of a window, in units, in which the columns have their usual widths."""
_LEFT, _RIGHT, _BOTTOM = 296.0, 396.0, 216.0
_EVENTS = 148.0  # room for the rows of the wave demo


@dataclass(frozen=True)
class Layout:
    """The default layout of a window.

    Attributes:
        left, right: widths of the columns beside the water, window units.
        bottom: height of the row below the water, window units.
        graph, events, inspector: shares of the right column's height; they add up to 1.
    """

    left: float
    right: float
    bottom: float
    graph: float
    events: float
    inspector: float


def default_layout(width: float, height: float, scale: float) -> Layout:
    """Return the layout for a desk without menu and status bar.

    Args:
        width, height: of the desk, window units.
        scale: of the user interface; units are divided by it.
    """
    units = width / scale
    less, more = max(USUAL_WIDTH - units, 0.0), max(units - USUAL_WIDTH, 0.0)
    left = min(max(_LEFT - 0.48 * max(1000.0 - units, 0.0), 196.0), 0.30 * units)
    right = min(max(_RIGHT - 0.36 * less, 210.0), 0.32 * units) + min(0.20 * more, 160.0)
    bottom = min(_BOTTOM, 0.285 * height / scale)
    events = min(max(_EVENTS * scale / height, 0.15), 0.30)
    graph = 0.6 * (1.0 - events)
    return Layout(left * scale, right * scale, bottom * scale, graph, events, 1.0 - graph - events)
