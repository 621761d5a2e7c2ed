from __future__ import annotations

import pytest

from app.actions import HANDLERS
from app.bindings import BINDINGS, MOUSE_BINDINGS, Action, action_for, shown_key
from app.window import Modifiers


def test_no_key_is_bound_twice():
    keys = [(binding.key.lower(), binding.modifiers) for binding in BINDINGS]
    assert len(keys) == len(set(keys))


def test_every_action_has_a_handler_and_a_key():
    assert set(HANDLERS) == set(Action)
    assert {binding.action for binding in BINDINGS} == set(Action)


@pytest.mark.parametrize(
    ("key", "modifiers", "action"),
    [
        ("F", Modifiers.NONE, Action.FRAME_VIEW),
        ("R", Modifiers.NONE, Action.RESET_WATER),
        ("space", Modifiers.NONE, Action.PAUSE),
        ("period", Modifiers.NONE, Action.STEP),
        ("comma", Modifiers.NONE, Action.SLOWER),
        ("semicolon", Modifiers.NONE, Action.FASTER),
        ("H", Modifiers.NONE, Action.TOGGLE_PANELS),
        ("F11", Modifiers.NONE, Action.FULL_SCREEN),
        ("F12", Modifiers.NONE, Action.SCREENSHOT),
        ("O", Modifiers.CONTROL, Action.OPEN),
        ("F1", Modifiers.NONE, Action.HELP),
        ("escape", Modifiers.NONE, Action.QUIT),
        ("Z", Modifiers.CONTROL, Action.UNDO),
        ("Y", Modifiers.CONTROL, Action.REDO),
    ],
)
def test_the_promised_keys(key, modifiers, action):
    assert action_for(key, modifiers) is action


def test_modifiers_must_match_exactly():
    assert action_for("O", Modifiers.NONE) is None
    assert action_for("R", Modifiers.CONTROL) is None


def test_holding_a_key_repeats_only_what_says_so():
    assert action_for("period", Modifiers.NONE, repeat=True) is Action.STEP
    assert action_for("space", Modifiers.NONE, repeat=True) is None


def test_the_help_has_words_for_everything():
    assert all(binding.shown and binding.description and binding.group for binding in BINDINGS)
    assert all(mouse.shown and mouse.description for mouse in MOUSE_BINDINGS)
    assert shown_key(Action.OPEN) == "Ctrl+O"
