"""Going back is exact, whatever happened in between, and takes bounded memory."""

from __future__ import annotations

import numpy as np
import pytest
import toy

from replay.history import History
from replay.players import open_player


def play(player, frames, seed=3):
    """Launch with moving inputs; return the state before each launch, and that after the last."""
    rng = np.random.default_rng(seed)
    states = [state(player)]
    for frame in range(frames):
        player.set("mouse_pos", [[rng.uniform(0, 23), rng.uniform(0, 15)]])
        if frame % 5 == 1:
            player.set("k_speed", rng.uniform(20, 60))
        player.launch()
        states.append(state(player))
    return states


def state(player):
    return player.get("heights").tobytes() + player.get("heights_prev").tobytes(), player.frames


@pytest.fixture
def player(frame_capture):
    with open_player(frame_capture) as player:
        yield player


def test_every_position_is_reached_exactly(player):
    history = History(player, every=7)
    states = play(player, 30)
    assert (history.begin, history.end, history.position) == (0, 30, 30)
    for position in [*range(30, -1, -1), 3, 29, 30, 8, 7, 6, 15, 30]:
        history.seek(position)
        assert history.position == position and state(player) == states[position]


def test_writes_while_paused_take_the_memory_of_the_last(player):
    history = History(player, every=7)
    play(player, 3)
    before = history.nbytes
    for value in range(50):
        player.set("heights", np.full((16, 24), value / 1000, np.float32))
        player.flush()
    player.launch()
    wanted = state(player)
    assert history.nbytes == before + 16 * 24 * 4
    history.seek(1)
    history.seek(4)
    assert state(player) == wanted


def test_from_an_earlier_position_it_goes_on_and_the_future_is_dropped(player):
    for back in (11, 14, 20):  # within a stretch, at its start, at the start of the next
        player.reset()
        history = History(player, every=7)
        states = play(player, 30)
        history.seek(back)
        branch = play(player, 9, seed=8)
        assert branch[0] == states[back] and branch[-1] != states[back + 9]
        assert history.end == history.position == back + 9
        for position in (back + 9, 2, back + 4, back, back + 1):
            history.seek(position)
            wanted = states[position] if position < back else branch[position - back]
            assert state(player) == wanted
        history.close()


def test_a_reset_can_be_gone_back_before(player):
    history = History(player, every=10)
    first = play(player, 13)
    player.reset()
    player.set("radius", 2.0)
    second = play(player, 13, seed=4)
    history.seek(12)
    assert state(player) == first[12]
    history.seek(20)
    assert state(player) == second[7] and player.get("radius")[0] == 2.0
    history.seek(13)  # the reset is not undone halfway: it is the state that the next launch started from
    third = play(player, 3, seed=5)
    history.seek(15)
    assert state(player) == third[2]
    assert [stretch.joined for stretch in history.recent(1000)] == [False]


def test_a_state_restored_from_elsewhere_is_a_stretch_of_its_own(player):
    start = player.snapshot()
    history = History(player)
    states = play(player, 8)
    player.restore(start)
    again = play(player, 8, seed=9)
    history.seek(5)
    assert state(player) == states[5]
    history.seek(12)
    assert state(player) == again[4]


def test_carried_fields_and_hidden_regions(tmp_path):
    capture = toy.record_toy(tmp_path, "cpu")
    hidden = toy.hidden_region(capture)
    with open_player(capture) as player:
        history = History(player, every=4)
        states = []
        for frame in range(10):
            states.append((player.get("x").tobytes(), player.region_bytes(hidden).tobytes()))
            player.set("gain", 0.1 * frame)
            player.launch()
        for position in (9, 0, 5, 4, 3):
            history.seek(position)
            assert (player.get("x").tobytes(), player.region_bytes(hidden).tobytes()) == states[position]


def test_memory_and_frames_are_bounded(player):
    one = player.snapshot().nbytes
    history = History(player, every=5, max_nbytes=4 * one)
    play(player, 80)
    assert history.nbytes <= 4 * one and history.nbytes == sum(s.nbytes for s in history.stretches)
    assert history.end == 80 and 5 <= history.end - history.begin <= 20
    history.seek(0)
    assert history.position == history.begin
    history.close()
    assert player.observers == []
    history = History(player, every=5, max_frames=12)
    play(player, 80)
    assert 12 <= history.end - history.begin <= 22


def test_other_observers_hear_of_a_restored_state_and_of_no_launch(player):
    heard = []

    class Ear(History):
        def restored(self):
            heard.append("restored")

        def launching(self):
            heard.append("launching")

        def wrote(self, values):
            heard.append("wrote")

        def launched(self):
            pass

    history = History(player)
    play(player, 9)
    Ear(player)
    history.seek(4)
    assert heard == ["restored"]
