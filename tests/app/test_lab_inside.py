"""Looking into IFs and WHILEs in the running app: iterations, branches, and what is said about them."""

from __future__ import annotations

import numpy as np
import pytest
from app_rig import running_app
from lab_captures import FIELD, record_nested

from app.actions import show_after
from app.scene import open_scene
from app.trust import remember_recorded


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    """The capture with loops in each other."""
    path = record_nested(tmp_path_factory.mktemp("nested"))
    remember_recorded(path)
    return path


@pytest.fixture
def rig(nested):
    with running_app(open_scene(nested, "cpu").player, size=(1280, 800)) as rig:
        rig.frames(2, launches=0)
        yield rig


def eager(outer: int, inner: int) -> np.ndarray:
    """The field after event 4 in an iteration of both loops, by the loop that was captured."""
    field = FIELD.copy()
    for turn in range(1, outer + 1):
        for step in range(1, 4 - turn + 1):
            field = field * np.float32(2)
            if (turn, step) == (outer, inner):
                return field
        field = field * np.float32(3)
    raise AssertionError("no such iteration")


def test_each_iteration_of_loops_in_each_other_is_that_of_an_eager_loop(rig):
    frame, lab = rig.app.lab.frame, rig.app.lab
    region = rig.app.scene.player.parameters["field"].region
    show_after(rig.app, 4)
    for outer, steps in ((1, 3), (2, 2), (3, 1)):
        frame.choose_iteration(1, outer)
        for inner in range(1, steps + 1):
            frame.choose_iteration(3, inner)
            rig.frames(2)
            values, where = lab.contents(region)
            assert np.array_equal(values, eager(outer, inner)), (outer, inner)
            assert where == f"after event 4, iteration {outer} of event 1, iteration {inner} of event 3"
            assert [(around.event, around.iteration, around.count) for around in frame.around] == [
                (1, outer, 3), (3, inner, steps),
            ]  # fmt: skip
    assert [str(around) for around in frame.around] == [
        "iteration 3 of 3, WHILE of event 1",
        "iteration 1 of 1, WHILE of event 3",
    ]
    assert rig.app.log.text() == ""


def test_an_iteration_beyond_the_last_one_is_the_last_one(rig):
    frame = rig.app.lab.frame
    show_after(rig.app, 4)
    frame.choose_iteration(3, 3)
    frame.choose_iteration(1, 3)  # in which the inner loop runs once only
    region = rig.app.scene.player.parameters["field"].region
    assert np.array_equal(rig.app.lab.contents(region)[0], eager(3, 1))
    frame.choose_iteration(1, 1)  # and what was asked for comes back
    assert np.array_equal(rig.app.lab.contents(region)[0], eager(1, 3))


def test_what_ran_is_said_of_an_if_and_of_a_while_itself(rig):
    frame = rig.app.lab.frame

    def told(event):
        show_after(rig.app, event)
        rig.frames(2)
        return [str(around) for around in frame.around][-1]

    assert told(1) == "WHILE of event 1: its body ran 3 times"
    assert told(6) == "IF of event 6: the then branch runs"
    assert told(7) == "IF of event 6: the then branch runs" and frame.ran
    assert told(8) == "IF of event 6: the then branch runs, not the one of this event" and not frame.ran
    show_after(rig.app, 10)
    assert frame.around == () and frame.place == "after event 10"


def test_another_value_makes_other_iterations_and_the_other_branch(rig):
    frame, editor = rig.app.lab.frame, rig.app.scene.editor
    show_after(rig.app, 4)
    editor.apply({"rounds": 2.0, "flag": 0.0})
    rig.frames(3)
    assert [around.count for around in frame.around] == [2, 2]
    show_after(rig.app, 7)
    assert str(frame.around[-1]) == "IF of event 6: the else branch runs, not the one of this event"
    editor.apply({"rounds": 0.0})
    rig.frames(3)
    assert [str(around) for around in frame.around] == [
        "WHILE of event 1: its body does not run in this frame"
    ]


def test_the_arrows_beside_the_timeline_choose_the_iteration(rig):
    frame = rig.app.lab.frame
    show_after(rig.app, 4)
    rig.frames(3)
    left, top, width, height = rig.app.canvas.rect
    before = frame.around
    # The rows lie at the lower end of the bar: the second arrow of the lowest one is the inner loop's.
    bar = min(width - 24, 640)
    x, y = left + (width - bar) / 2 + 48, top + height - 14 - 14 - 4
    rig.click(x, y)
    assert [around.iteration for around in frame.around] == [1, 2] and before[1].iteration == 1
