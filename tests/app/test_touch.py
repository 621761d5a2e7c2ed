from __future__ import annotations

import itertools
import math

import pytest

from app.touch import NOWHERE, PushPath


def length(segments) -> float:
    return sum(math.dist(a, b) for a, b in (pair for pair in segments if pair) if a != NOWHERE)


def test_nothing_is_pushed_without_a_press():
    path = PushPath()
    path.move((3.0, 4.0))
    assert path.segments(2) == [None, None]


def test_a_click_between_two_launches_is_pushed_once():
    path = PushPath()
    path.press((3.0, 4.0))
    path.release()
    assert path.segments(0) == []
    assert path.segments(2) == [(NOWHERE, (3.0, 4.0)), None]
    assert path.segments(1) == [None]


def test_a_pointer_that_is_held_pushes_with_every_launch():
    path = PushPath()
    path.press((3.0, 4.0))
    assert path.segments(2) == [(NOWHERE, (3.0, 4.0))] * 2
    assert path.segments(1) == [(NOWHERE, (3.0, 4.0))]


@pytest.mark.parametrize("launches", [1, 2, 3, 7])
def test_the_whole_way_is_pushed_once_however_many_launches(launches):
    path = PushPath()
    path.press((0.0, 0.0))
    path.segments(1)
    for cell in ((10.0, 0.0), (10.0, 10.0), (20.0, 10.0)):
        path.move(cell)
    segments = path.segments(launches)
    assert segments[0][0] == (0.0, 0.0) and segments[-1][1] == (20.0, 10.0)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(segments))
    if launches == 3:
        assert length(segments) == pytest.approx(30.0)


def test_the_next_way_begins_where_the_last_one_ended():
    path = PushPath()
    path.press((0.0, 0.0))
    path.move((5.0, 0.0))
    path.segments(1)
    path.move((9.0, 0.0))
    assert path.segments(1) == [((5.0, 0.0), (9.0, 0.0))]


def test_leaving_the_tank_breaks_the_way():
    path = PushPath()
    path.press((0.0, 0.0))
    path.segments(1)
    path.move(None)
    assert path.segments(1) == [None]
    path.move((50.0, 50.0))
    assert path.segments(1) == [(NOWHERE, (50.0, 50.0))]


def test_moves_after_the_release_are_not_pushed():
    path = PushPath()
    path.press((0.0, 0.0))
    path.move((5.0, 0.0))
    path.release()
    path.move((90.0, 90.0))
    assert path.segments(1) == [((0.0, 0.0), (5.0, 0.0))]
