"""A frame that went wrong is found again from what was kept, with the inputs that it had."""

from __future__ import annotations

import numpy as np
import pytest
import toy

from replay.events import flight
from replay.events.flight import find_frame
from replay.graph.open import open_capture
from replay.history import History
from replay.players import open_player


@pytest.fixture(scope="module")
def frame_capture(frame_of):
    """A wave frame of 24 x 16 cells whose every substep is a launch: 1 displace, 4 solve."""
    return open_capture(frame_of(solver="reference"))


def _play(player, frames):
    for frame in range(frames):
        player.set("mouse_pos", [[4.0 + frame % 15, 7.0]])
        if frame == 17:
            player.set("k_speed", 1e30)
        if frame % 5 == 0:
            player.get("heights")  # writes what is pending: it must be kept all the same
        player.launch()


@pytest.mark.parametrize("limit", [2 << 30, 0])
@pytest.mark.parametrize("every", [4, 10, 100])
def test_the_frame_and_the_event_are_found(frame_capture, monkeypatch, limit, every):
    """From frame 17 on the wave speed is far too large; the first substep is finite, the second is not."""
    monkeypatch.setattr(flight, "_LINEAR_NBYTES", limit)
    with open_player(frame_capture) as player:
        log = History(player, every)
        _play(player, 17)
        assert find_frame(log) is None
        player.reset()
        _play(player, 20)
        heights = player.get("heights")
        found = find_frame(log)
        np.testing.assert_array_equal(player.get("heights"), heights)
        assert found is not None and (found.frame, found.first.event) == (17, 2)
        assert found.start.frames == 17
        with open_player(frame_capture) as fresh:
            _play(fresh, 17)
            region = fresh.parameters["heights"].region
            np.testing.assert_array_equal(found.start.region_bytes(region), fresh.region_bytes(region))


def test_what_went_wrong_before_all_that_is_kept(frame_capture):
    with open_player(frame_capture) as player:
        log = History(player, every=2, max_frames=4)
        _play(player, 40)
        found = find_frame(log)
        assert found is not None and found.first.event is None and found.first.before
        log.close()
        assert player.observers == [] and find_frame(log) is None


def test_carried_state_is_repeated(tmp_path):
    """The toy swaps two fields by its carry pairs; an infinite gain shows in the frame where it was set."""
    capture = toy.record_toy(tmp_path, "cpu")
    with open_player(capture) as player:
        log = History(player)
        for frame in range(6):
            if frame == 4:
                player.set("place", [[0.0, 3e38]])
                player.set("gain", 100.0)
            player.launch()
        found = find_frame(log)
        assert (found.frame, found.first.event) == (4, 0)


def test_a_restored_state_starts_a_new_log(frame_capture):
    with open_player(frame_capture) as player:
        log = History(player)
        start = player.snapshot()
        _play(player, 19)
        player.restore(start)
        player.launch()
        (stretch,) = log.recent(100)
        assert not stretch.start.frames and len(stretch.frames) == 1
        assert find_frame(log) is None
