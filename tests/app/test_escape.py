"""Esc leaves what is open and only that; with nothing open it quits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from app_rig import running_app

from app.actions import perform
from app.basin.tools import Tool
from app.bindings import Action
from app.gl_platform import imgui
from app.opening import TrustQuestion
from app.window import Button, Modifiers, PointerButton, PointerMoved
from replay.players.fake import FakePlayer


@pytest.fixture
def rig(frame_capture):
    with running_app(FakePlayer(frame_capture), size=(1280, 800)) as rig:
        yield rig


def popups() -> int:
    """How many popups lie on each other."""
    return imgui.get_current_context().open_popup_stack.size()


@pytest.mark.parametrize(
    "x", [127, 164, 205, 259, 312, 354], ids=["File", "Edit", "Time", "Session", "View", "Help"]
)
def test_esc_closes_a_menu_and_the_next_one_quits(rig, x):
    rig.click(x, 12)
    assert popups() == 1 and rig.app.popup_open
    rig.key("escape")
    rig.frame()
    assert popups() == 0 and not rig.app.quitting
    rig.key("escape")
    assert rig.app.quitting


def test_esc_closes_a_menu_with_the_one_within_it(rig):
    rig.click(127, 12)  # File; a capture in the list of recent ones makes its second entry a menu
    rig.app.settings.recent.append("/nowhere/tank.wrp")
    rig.frame(PointerMoved(150.0, 65.0))
    rig.frames(30)
    assert popups() == 2
    rig.key("escape")
    rig.frames(30)
    assert popups() == 0 and not rig.app.quitting


def test_esc_closes_a_list_of_choices(rig):
    rig.click(60.0, 86.0)  # the presets
    assert popups() == 1
    rig.key("escape")
    assert popups() == 0 and not rig.app.quitting


def test_esc_takes_back_the_movement_of_a_slider_and_leaves_the_window_open(rig):
    editor = rig.app.scene.editor
    before = editor.values["k_speed"]
    rig.frame(PointerMoved(100.0, 154.0))
    rig.frames(2)
    rig.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, 100.0, 154.0))
    rig.frames(2)
    assert rig.app.widget_held and editor.values["k_speed"] != before
    rig.key("escape")
    rig.frame(PointerMoved(160.0, 154.0))
    rig.frame()
    assert not rig.app.quitting and editor.values["k_speed"] == before
    rig.frame(PointerButton(Button.LEFT, False, Modifiers.NONE, 160.0, 154.0))
    rig.frames(2)
    assert not editor.can_undo and not rig.app.widget_held


def test_esc_leaves_a_text_field_and_leaves_the_window_open(rig):
    perform(rig.app, Action.FIND)
    rig.frames(3)
    assert rig.gui.takes_keys
    rig.key("escape")
    rig.frames(2)
    assert not rig.gui.takes_keys and not rig.app.quitting
    rig.key("escape")
    assert rig.app.quitting


@pytest.mark.parametrize("action", [Action.HELP, Action.OPEN, Action.GO_TO_EVENT])
def test_esc_closes_a_form_though_its_field_has_the_keyboard(rig, action):
    perform(rig.app, action)
    rig.frames(3)
    assert popups() == 1
    rig.key("escape")
    rig.frame()
    assert popups() == 0 and not rig.app.quitting


def test_esc_answers_the_question_of_trust_with_no(rig):
    rig.app.question = TrustQuestion(rig.app.scene.capture, keep_view=True, text="Not recorded here.")
    rig.frames(3)
    assert popups() == 1
    rig.key("escape")
    rig.frames(2)
    assert popups() == 0 and rig.app.question is None and not rig.app.quitting


def test_esc_puts_the_tool_down_then_the_ruler_away_then_quits(rig):
    tools = rig.app.tools
    rig.key("9")
    assert tools.tool is Tool.RULER
    tools.ruler = ((2.0, 2.0), (9.0, 9.0))
    rig.key("escape")
    assert tools.tool is Tool.PUSH and tools.ruler is not None and not rig.app.quitting
    rig.key("escape")
    assert tools.ruler is None and not rig.app.quitting
    rig.key("escape")
    assert rig.app.quitting


def test_a_digit_takes_each_tool_in_the_order_of_the_bar(rig):
    from app.panels.tools import _TOOLS

    for number, (tool, _, _) in enumerate(_TOOLS, 1):
        rig.key(str(number))
        assert rig.app.tools.tool is tool


def test_esc_warns_once_while_an_export_is_made(rig):
    rig.app.session.job = job = SimpleNamespace(poll=lambda: False)
    try:
        rig.key("escape")
        assert not rig.app.quitting and "export" in rig.app.notice
        rig.key("escape")
        assert rig.app.quitting
    finally:
        assert rig.app.session.job is job
        rig.app.session.job = None
