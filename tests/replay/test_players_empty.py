"""Names of arrays without elements: the file gives them no region, and a player offers them all the same."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from replay.errors import ParameterError
from replay.graph.model import NO_REGION
from replay.graph.open import open_capture
from replay.graph.tell import tell
from replay.graph.tell_json import write_json
from replay.players import Player, open_player
from replay.players.fake import FakePlayer


def test_the_names_are_told_without_a_fault(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["no_elements"])
    assert capture.faults == ()
    assert [(binding.name, binding.region in capture.regions) for binding in capture.bindings] == [
        ("empty", False), ("line", True), ("empty_out", False),
    ]  # fmt: skip
    assert capture.bindings[0].region == NO_REGION
    assert [line.split() for line in tell(capture).splitlines() if line.startswith("  empty")] == [
        ["empty", "?", "[0]", "0", "bytes", "no", "memory"],
        ["empty_out", "?", "[0]", "0", "bytes", "no", "memory"],
    ]
    write_json(capture, file := io.StringIO())
    assert json.loads(file.getvalue())["bindings"][0]["region"] == NO_REGION


@pytest.mark.parametrize("backend", ["fake", "cpu"])
def test_a_player_offers_them_with_no_element(recorded: dict[str, Path], backend: str) -> None:
    capture = open_capture(recorded["no_elements"])
    player: Player = FakePlayer(capture) if backend == "fake" else open_player(capture)
    with player:
        before = player.get("line")
        assert [(name, spec.shape) for name, spec in player.parameters.items()] == [
            ("empty", (0,)), ("line", (4,)), ("empty_out", (0,)),
        ]  # fmt: skip
        assert player.get("empty").shape == (0,) and player.view("empty").shape == (0,)
        player.set("empty", np.empty(0, np.uint8))
        with pytest.raises(ParameterError, match="shape"):
            player.set("empty", np.zeros(1, np.uint8))
        assert player.flush() == 0
        player.launch()
        player.reset(["empty"])
        state = player.snapshot()
        player.launch()
        player.restore(state)
        np.testing.assert_array_equal(player.get("line"), before * (2 if backend == "cpu" else 1))
        player.reset()
        np.testing.assert_array_equal(player.get("line"), before)
