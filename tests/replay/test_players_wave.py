"""Real players on the wave frame: what is loaded is the loop that was recorded, without its source."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.compare import compare_frame, compare_replays, scripted_inputs, settings_of
from capture.settings import FrameSettings
from capture.tank import Tank
from replay.graph.open import open_capture
from replay.native import import_warp
from replay.players import open_player

ROOT = Path(__file__).parents[2]
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
FrameOf = Callable[..., Path]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("substeps", [1, 2, 3, 4, 16])
def test_loaded_and_live_equal_the_loop(substeps: int, device: str, frame_of: FrameOf) -> None:
    capture = open_capture(frame_of(substeps=substeps, device=device))
    result = compare_frame(capture, frames=60)
    assert [(item.pair, item.largest) for item in result.differences] == [
        (("eager", "live"), 0.0),
        (("eager", "loaded"), 0.0),
        (("live", "loaded"), 0.0),
    ]
    assert result.frames == 60 and result.agrees


def test_the_comparison_finds_a_parameter_that_only_the_loop_received(
    frame_of: FrameOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Tank.set
    first: list[Tank] = []

    def meddle(self: Tank, name: str, value: object) -> None:
        first[:] = first or [self]
        original(self, name, 0.31 if name == "magnitude" and self is first[0] else value)

    monkeypatch.setattr(Tank, "set", meddle)
    result = compare_frame(open_capture(frame_of()), frames=5)
    largest = {item.pair: item.largest for item in result.differences}
    assert largest["live", "loaded"] == 0.0
    assert largest["eager", "loaded"] > 1e-3
    assert not result.agrees


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("substeps", [3, 4])
def test_outputs_name_the_newest_fields_between_launches(
    substeps: int, device: str, frame_of: FrameOf
) -> None:
    capture = open_capture(frame_of(substeps=substeps, device=device))
    assert capture.manifest is not None
    with open_player(capture) as player:
        tank = Tank(settings_of(capture.manifest), player.device)
        for frame in range(3):
            for name, value in scripted_inputs(capture.manifest, frame).items():
                tank.set(name, value)
                player.set(name, value)
            tank.step()
            player.launch()
            newest, previous = tank.arrays["heights"].numpy(), tank.arrays["heights_prev"].numpy()
            assert not np.array_equal(newest, previous)
            for name, expected in (
                ("heights", newest),
                ("heights_out", newest),
                ("heights_prev", previous),
                ("heights_prev_out", previous),
            ):
                np.testing.assert_array_equal(player.get(name), expected, err_msg=f"{name}, frame {frame}")


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("substeps", [3, 4])
def test_two_loads_of_a_capture_are_equal(substeps: int, device: str, frame_of: FrameOf) -> None:
    result = compare_replays(open_capture(frame_of(substeps=substeps, device=device)), frames=10)
    assert result.agrees and result.differences[0].largest == 0.0


@pytest.mark.parametrize("device", DEVICES)
def test_a_parameter_acts_on_the_very_next_frame(device: str, frame_of: FrameOf) -> None:
    with open_player(open_capture(frame_of(device=device))) as player:
        player.set("mouse_pos", (12.0, 8.0))
        player.launch()
        player.set("mouse_pos", (-1000.0, -1000.0))
        player.launch()
        before = player.get("heights"), player.get("heights_prev")
        player.launch()
        kept = player.get("heights")
        assert np.ptp(kept) > 0.01
        # the same frame again, with water that does not move: the heights stay as they are
        player.set("heights", before[0])
        player.set("heights_prev", before[0])
        player.set("k_speed", 0.0)
        player.launch()
        np.testing.assert_array_equal(player.get("heights"), before[0])
        player.set("k_speed", 60.0)
        player.set("heights", before[0])
        player.set("heights_prev", before[1])
        player.launch()
        np.testing.assert_array_equal(player.get("heights"), kept)
        assert player.get("clock").tolist() == [5]


@pytest.mark.parametrize("device", DEVICES)
def test_the_pointer_at_rest_is_not_written_each_frame(device: str, frame_of: FrameOf) -> None:
    with open_player(open_capture(frame_of(device=device))) as player:
        written = []
        for _ in range(3):
            player.set("mouse_pos", (-1000.0, -1000.0))
            player.set("k_speed", 50.0)
            written.append(player.flush())
            player.launch()
        assert written == [2, 0, 0]


@pytest.mark.parametrize("device", DEVICES)
def test_reset_brings_back_the_water_at_rest(device: str, frame_of: FrameOf) -> None:
    with open_player(open_capture(frame_of(substeps=3, device=device))) as player:
        states = []
        for _ in range(2):
            player.set("mouse_pos", (5.0, 5.0))
            for _ in range(4):
                player.launch()
            states.append(player.get("heights"))
            player.reset()
            assert not player.get("heights").any() and player.get("clock").tolist() == [0]
        np.testing.assert_array_equal(states[0], states[1])
        assert states[0].any()


def test_the_script_moves_the_pointer_and_stays_stable(frame_of: FrameOf) -> None:
    manifest = open_capture(frame_of()).manifest
    rule = manifest.stability
    seen = [scripted_inputs(manifest, frame) for frame in range(100)]
    for values in seen:
        assert rule.allows(values["k_speed"], values["k_damp"], values["dt"])
    places = {values["mouse_pos"] for values in seen}
    assert (-1000.0, -1000.0) in places and len(places) > 50
    assert all(now["pointer_from"] == before["mouse_pos"] for before, now in itertools.pairwise(seen))
    for name in ("k_speed", "k_damp", "radius", "magnitude", "dt"):
        assert len({values[name] for values in seen}) > 50


def test_settings_come_back_from_the_manifest(frame_of: FrameOf) -> None:
    settings = settings_of(open_capture(frame_of(substeps=3, magnitude=0.2)).manifest)
    assert (settings.width, settings.height, settings.substeps) == (24, 16, 3)
    assert (settings.magnitude, settings.k_speed, settings.solver) == (0.2, 60.0, FrameSettings().solver)


def test_the_replay_works_in_a_process_that_cannot_import_capture_or_app(frame_path: Path) -> None:
    code = f"""
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("capture", "app"):
            raise ImportError("blocked: " + name)

sys.meta_path.insert(0, Blocker())
import replay.players
from replay.graph.open import open_capture
capture = open_capture({str(frame_path)!r})
assert "warp" not in sys.modules, "warp was imported before a player was opened"
with replay.players.open_player(capture) as player:
    player.set("mouse_pos", (12.0, 8.0))
    for _ in range(10):
        player.launch()
    print(player.get("heights").tobytes().hex())
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=ROOT
    )
    assert result.stderr == ""
    with open_player(open_capture(frame_path)) as player:
        player.set("mouse_pos", (12.0, 8.0))
        for _ in range(10):
            player.launch()
        assert result.stdout.strip() == player.get("heights").tobytes().hex()


@pytest.mark.gpu
def test_the_frame_is_one_graph_of_17_nodes(frame_of: FrameOf) -> None:
    with open_player(open_capture(frame_of(substeps=16, device="cuda"))) as player:
        assert player.node_count() == 17
        names = player.kernel_names()
        assert len(names) == 17 and len(set(names)) == 2
        assert names[0].startswith("wave_displace_") or "displace" in names[0]


@pytest.mark.gpu
def test_cuda_and_cpu_agree(frame_of: FrameOf) -> None:
    fields = []
    for device in ("cpu", "cuda"):
        with open_player(open_capture(frame_of(device=device))) as player:
            for frame in range(60):
                for name, value in scripted_inputs(player.capture.manifest, frame).items():
                    player.set(name, value)
                player.launch()
            fields.append(player.get("heights"))
    np.testing.assert_allclose(fields[0], fields[1], rtol=0, atol=1e-5)


@pytest.mark.gpu
def test_a_view_on_the_device_is_the_graphs_memory(frame_of: FrameOf) -> None:
    wp = import_warp()
    with open_player(open_capture(frame_of(device="cuda"))) as player:
        view = player.view("heights")
        assert (view.shape, view.dtype, view.device.alias) == ((16, 24), wp.float32, "cuda:0")
        player.set("mouse_pos", (12.0, 8.0))
        player.launch()
        player.synchronize()
        np.testing.assert_array_equal(view.numpy(), player.get("heights"))
        assert view.numpy().any()
