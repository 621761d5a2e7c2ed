from __future__ import annotations

import itertools
import math

import pytest

from app.touch import MAX_WAITING, NOWHERE, PressTrail, PushPath


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


def pushed(path: PushPath, launches: int, frames: int = 10) -> list:
    """Return what is pushed in some frames of so many launches each."""
    return [segment for _ in range(frames) for segment in path.segments(launches) if segment is not None]


@pytest.mark.parametrize("launches", [1, 2, 3, 7])
def test_the_whole_way_is_pushed_once_however_many_launches(launches):
    path = PushPath()
    path.press((0.0, 0.0))
    path.segments(1)
    corners = [(0.0, 0.0), (10.0, 0.0), (10.0, 10.0), (20.0, 10.0)]
    for cell in corners[1:]:
        path.move(cell)
    path.release()
    segments = pushed(path, launches)
    assert segments[0][0] == corners[0] and segments[-1][1] == corners[-1]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(segments))
    assert length(segments) == pytest.approx(30.0)
    assert {end for _, end in segments} >= set(corners[1:])


def test_a_way_with_more_corners_than_launches_goes_on_with_the_next_ones():
    path = PushPath()
    path.press((0.0, 0.0))
    path.segments(1)
    path.move((10.0, 0.0))
    path.move((10.0, 10.0))
    assert path.segments(1) == [((0.0, 0.0), (10.0, 0.0))]
    path.move((10.0, 20.0))
    assert path.segments(2) == [((10.0, 0.0), (10.0, 10.0)), ((10.0, 10.0), (10.0, 20.0))]
    assert path.segments(1) == [(NOWHERE, (10.0, 20.0))]


def test_a_curve_is_followed_within_half_a_cell():
    path = PushPath()
    circle = [(50 + 20 * math.cos(turn / 50), 50 + 20 * math.sin(turn / 50)) for turn in range(315)]
    path.press(circle[0])
    for cell in circle[1:]:
        path.move(cell)
    path.release()
    segments = pushed(path, 20)
    for cell in circle:
        assert min(distance(cell, *segment) for segment in segments) <= 0.5
    assert len(segments) == 20


def distance(cell, start, end) -> float:
    return min(
        math.dist(
            cell, (start[0] + share / 50 * (end[0] - start[0]), start[1] + share / 50 * (end[1] - start[1]))
        )
        for share in range(51)
    )


def test_a_pointer_that_moves_faster_than_launches_come_is_never_far_behind():
    path = PushPath()
    path.press((0.0, 0.0))
    for frame in range(200):
        for step in range(5):  # five corners a launch
            path.move((10.0 * (step % 2), 5.0 * frame + step))
        path.segments(1)
    path.release()
    late = pushed(path, 1, frames=200)
    assert len(late) <= MAX_WAITING and late[-1][1] == (0.0, 999.0)


def test_a_long_way_while_nothing_is_launched_is_kept_within_bounds():
    path = PushPath()
    path.press((0.0, 0.0))
    for step in range(20_000):
        path.move((step % 97, step % 89))
    assert sum(map(len, path._lines)) <= 513
    assert path.segments(1)[0][0] == (0.0, 0.0)


def test_two_clicks_between_two_launches_are_both_pushed():
    path = PushPath()
    for cell in ((3.0, 4.0), (9.0, 4.0)):
        path.press(cell)
        path.release()
    assert path.segments(3) == [(NOWHERE, (3.0, 4.0)), (NOWHERE, (9.0, 4.0)), None]


def test_a_way_that_leaves_the_tank_and_comes_back_is_not_joined():
    path = PushPath()
    path.press((0.0, 0.0))
    path.segments(1)
    for cell in ((0.0, 9.0), None, (9.0, 9.0), (9.0, 5.0)):
        path.move(cell)
    assert path.segments(2) == [((0.0, 0.0), (0.0, 9.0)), ((9.0, 9.0), (9.0, 5.0))]


def test_a_trail_gives_back_the_stroke_that_began_where_the_press_is_known_to_be():
    trail = PressTrail()
    trail.move((1.0, 1.0))
    trail.press((7.0, 7.0))  # where the pointer was when the toolkit was asked
    trail.move((2.0, 2.0))
    trail.release()
    trail.move((5.0, 5.0))
    trail.press((5.0, 5.0))
    trail.move((6.0, 5.0))
    assert trail.take((1.0, 1.0)) == ([(1.0, 1.0), (2.0, 2.0)], True)
    assert trail.take((5.0, 5.0)) == ([(5.0, 5.0), (6.0, 5.0)], False)
    assert trail.take((8.0, 8.0)) == ([(8.0, 8.0)], False)


def test_a_trail_forgets_presses_for_something_else():
    trail = PressTrail()
    for place in ((1.0, 1.0), (3.0, 3.0), (3.0, 3.0)):
        trail.move(place)
        trail.press(place)
        trail.move((place[0] + 1, place[1]))
        trail.release()
    trail.drop()
    assert trail.take((3.0, 3.0)) == ([(3.0, 3.0), (4.0, 3.0)], True)


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
