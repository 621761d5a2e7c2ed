"""Keys and mouse: one table that dispatches and that the help shows.

No key is named anywhere else. What an action does is in `app.actions`; how the mouse moves the camera
and the water is in `app.touch`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from app.window import Modifiers


class Action(enum.Enum):
    """What a user can ask for by a key, a menu or a button."""

    PAUSE = "pause"
    STEP = "step"
    SLOWER = "slower"
    FASTER = "faster"
    RESET_WATER = "reset water"
    FRAME_VIEW = "frame view"
    NEXT_MODE = "next mode"
    NEXT_PRESET = "next preset"
    UNDO = "undo"
    REDO = "redo"
    FIND = "find"
    GO_TO_EVENT = "go to event"
    LOOK_INSIDE = "look inside"
    PREVIOUS_EVENT = "previous event"
    NEXT_EVENT = "next event"
    OPEN = "open"
    RELOAD = "reload"
    TOGGLE_PANELS = "toggle panels"
    FULL_SCREEN = "full screen"
    SCREENSHOT = "screenshot"
    HELP = "help"
    QUIT = "quit"
    PUSH_TOOL = "push tool"
    WALL_TOOL = "wall tool"
    ERASE_TOOL = "erase tool"
    LINE_TOOL = "line tool"
    RECTANGLE_TOOL = "rectangle tool"
    DEPTH_TOOL = "depth tool"
    SOURCE_TOOL = "source tool"
    PROBE_TOOL = "probe tool"
    RULER_TOOL = "ruler tool"


TOOL_ACTIONS = (
    Action.PUSH_TOOL, Action.WALL_TOOL, Action.ERASE_TOOL, Action.LINE_TOOL, Action.RECTANGLE_TOOL,
    Action.DEPTH_TOOL, Action.SOURCE_TOOL, Action.PROBE_TOOL, Action.RULER_TOOL,
)  # fmt: skip
"""In the order of the bar and of `app.basin.tools.Tool`."""


@dataclass(frozen=True)
class Binding:
    """A key for an action.

    Attributes:
        key: the window's name for the key.
        modifiers: exactly these are held.
        action: what it asks for.
        shown: the key as people read it.
        description: what it does.
        group: heading in the help.
        repeats: whether holding the key down repeats the action.
    """

    key: str
    modifiers: Modifiers
    action: Action
    shown: str
    description: str
    group: str
    repeats: bool = False


@dataclass(frozen=True)
class MouseBinding:
    """What a mouse button or the wheel does over the water, for the help."""

    shown: str
    description: str


_NONE, _CONTROL = Modifiers.NONE, Modifiers.CONTROL

BINDINGS = (
    Binding("space", _NONE, Action.PAUSE, "Space", "Pause or go on", "Time"),
    Binding("period", _NONE, Action.STEP, ".", "Pause and step one frame", "Time", repeats=True),
    Binding("comma", _NONE, Action.SLOWER, ",", "Slower", "Time"),
    Binding("semicolon", _NONE, Action.FASTER, ";", "Faster", "Time"),
    Binding("R", _NONE, Action.RESET_WATER, "R", "Reset the water", "Time"),
    Binding("F", _NONE, Action.FRAME_VIEW, "F", "Frame the whole grid", "View"),
    Binding("M", _NONE, Action.NEXT_MODE, "M", "Water or data colours", "View"),
    Binding("H", _NONE, Action.TOGGLE_PANELS, "H", "Hide or show the panels", "View"),
    Binding("F11", _NONE, Action.FULL_SCREEN, "F11", "Full screen", "View"),
    Binding("F12", _NONE, Action.SCREENSHOT, "F12", "Save a screenshot", "View"),
    Binding("P", _NONE, Action.NEXT_PRESET, "P", "Next preset", "Parameters"),
    Binding("Z", _CONTROL, Action.UNDO, "Ctrl+Z", "Undo what was set or painted", "Parameters", repeats=True),
    Binding("Y", _CONTROL, Action.REDO, "Ctrl+Y", "Redo it", "Parameters", repeats=True),
    Binding("1", _NONE, Action.PUSH_TOOL, "1", "Push the water", "Tools"),
    Binding("2", _NONE, Action.WALL_TOOL, "2", "Paint walls", "Tools"),
    Binding("3", _NONE, Action.ERASE_TOOL, "3", "Erase walls and shallows", "Tools"),
    Binding("4", _NONE, Action.LINE_TOOL, "4", "Wall from here to there", "Tools"),
    Binding("5", _NONE, Action.RECTANGLE_TOOL, "5", "Rectangle of wall", "Tools"),
    Binding("6", _NONE, Action.DEPTH_TOOL, "6", "Paint the depth", "Tools"),
    Binding("7", _NONE, Action.SOURCE_TOOL, "7", "Place and drag sources", "Tools"),
    Binding("8", _NONE, Action.PROBE_TOOL, "8", "Place and drag probes", "Tools"),
    Binding("9", _NONE, Action.RULER_TOOL, "9", "Measure", "Tools"),
    Binding("F", _CONTROL, Action.FIND, "Ctrl+F", "Find in the graph", "Graph"),
    Binding("G", _CONTROL, Action.GO_TO_EVENT, "Ctrl+G", "Go to an event", "Graph"),
    Binding("E", _NONE, Action.LOOK_INSIDE, "E", "State after the event, or back to live", "Graph"),
    Binding("left", _NONE, Action.PREVIOUS_EVENT, "←", "Previous event", "Graph", repeats=True),
    Binding("right", _NONE, Action.NEXT_EVENT, "→", "Next event", "Graph", repeats=True),
    Binding("O", _CONTROL, Action.OPEN, "Ctrl+O", "Open a capture or a session", "Files and help"),
    Binding("F5", _NONE, Action.RELOAD, "F5", "Reload the capture", "Files and help"),
    Binding("F1", _NONE, Action.HELP, "F1", "All shortcuts", "Files and help"),
    Binding(
        "escape",
        _NONE,
        Action.QUIT,
        "Esc",
        "Close what is open, put the tool down, or quit",
        "Files and help",
    ),
)

MOUSE_BINDINGS = (
    MouseBinding("Left drag", "Push the water under the cursor, or use the tool in the hand"),
    MouseBinding("Right drag", "Orbit the camera"),
    MouseBinding("Middle drag", "Pan the camera (also Shift + right drag)"),
    MouseBinding("Wheel", "Zoom to the cursor"),
)

_BY_KEY = {(binding.key.lower(), binding.modifiers): binding for binding in BINDINGS}
_BY_ACTION = {binding.action: binding for binding in reversed(BINDINGS)}


def action_for(key: str, modifiers: Modifiers, *, repeat: bool = False) -> Action | None:
    """Return what a key asks for, None if it asks for nothing."""
    binding = _BY_KEY.get((key.lower(), modifiers))
    if binding is None or (repeat and not binding.repeats):
        return None
    return binding.action


def shown_key(action: Action) -> str:
    """Return the key of an action as people read it, empty if it has none."""
    binding = _BY_ACTION.get(action)
    return binding.shown if binding else ""
