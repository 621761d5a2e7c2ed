"""The probes' log keeps every launch, on a device whose memory is seen at once and on one that is read."""

from __future__ import annotations

import numpy as np
import pytest

from app.basin.probelog import ProbeLog
from replay.graph.open import open_capture
from replay.players import open_player
from replay.players.fake import FakePlayer

SUBSTEPS, STEP = 4, 0.001


@pytest.fixture(scope="module")
def capture(frame_of):
    return open_capture(frame_of(width=40, height=30, substeps=SUBSTEPS, solver="basin"))


def count_up(player):
    """Stands for a launch: the record of probe p at substep s of launch n is 100 n + 10 s + p."""
    rows = np.arange(SUBSTEPS)[:, None] * 10.0 + np.arange(16)
    player.view("probe_out")[:] = 100.0 * player.frames + rows


def test_launches_that_nobody_fetched_in_between_are_all_kept(capture):
    """Five launches, of which pictures are made after the second and the fifth."""
    player, log = FakePlayer(capture, count_up), ProbeLog()
    log.follow(player, STEP)
    for launch in range(5):
        player.launch()
        if launch in (1, 4):
            log.fetch()
    times, heights = log.record(3)
    wanted = [100.0 * launch + 10.0 * substep + 3.0 for launch in range(5) for substep in range(SUBSTEPS)]
    assert heights.tolist() == wanted
    np.testing.assert_allclose(times, STEP * np.arange(1, 5 * SUBSTEPS + 1))


def test_what_was_put_off_is_dropped_when_the_water_is_another_one(capture):
    player, log = FakePlayer(capture, count_up), ProbeLog()
    log.follow(player, STEP)
    player.launch()
    player.reset()
    log.fetch()
    assert log.count == 0
    player.launch()
    log.fetch()
    assert log.record(0)[1].tolist() == [0.0, 10.0, 20.0, 30.0]


def test_both_ways_note_the_same_heights(capture):
    records = []
    for as_gpu in (False, True):
        with open_player(capture) as player:
            player.set("probe_pos", [[20.0, 15.0]] + [[-1000.0, -1000.0]] * 15)
            player.set("mouse_pos", [[18.0, 15.0]])
            log = ProbeLog()
            log.follow(player, STEP)
            if as_gpu:
                log._view = None
            for _ in range(6):
                player.launch()
            log.fetch()
            records.append([part.copy() for part in log.record(0)])
            log.close()
    assert np.array_equal(records[0][0], records[1][0]) and np.array_equal(records[0][1], records[1][1])
    assert np.abs(records[0][1]).max() > 0.01
