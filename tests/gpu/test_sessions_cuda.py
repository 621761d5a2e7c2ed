"""Sessions and going back on a CUDA device: bit for bit, as on the CPU."""

from __future__ import annotations

import numpy as np
import pytest

from replay.graph.open import open_capture
from replay.history import History
from replay.players import open_player
from replay.session.digest import digests_of
from replay.session.format import SessionReader
from replay.session.playback import Playback
from replay.session.recorder import SessionRecorder

pytestmark = pytest.mark.gpu


def test_a_session_with_a_rewind_replays_bit_for_bit(frame_of, tmp_path):
    capture = open_capture(frame_of(device="cuda:0", width=64, height=48))
    path = tmp_path / "a.ripple"
    rng = np.random.default_rng(7)

    def play(player, frames):
        for frame in range(frames):
            player.set("mouse_pos", [[rng.uniform(0, 63), rng.uniform(0, 47)]])
            player.set("k_speed", 30.0 + frame % 9)
            player.launch()

    recorder = SessionRecorder(path)
    with open_player(capture) as player:
        play(player, 10)
        history = History(player, every=7)
        recorder.follow(player)
        play(player, 25)
        then = player.get("heights")
        play(player, 20)
        history.seek(25)
        np.testing.assert_array_equal(player.get("heights"), then)
        play(player, 5)
        player.reset()
        play(player, 5)
        wanted = digests_of(player)
        recorder.close()
    with SessionReader(path) as reader, Playback(reader, lambda *_: open_player(capture)) as playback:
        assert len(list(playback.run())) == 55
        assert playback.exact and playback.difference is None and playback.compared >= 2
        assert digests_of(playback.player) == wanted
