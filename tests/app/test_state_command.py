"""`ripplescope state` and `ripplescope profile`: what they print and write, and what they refuse."""

from __future__ import annotations

import json

import numpy as np
import pytest
import warp as wp

from app import nonfinite
from app.cli import main
from app.commands.profile import report
from app.commands.state import describe
from app.trust import remember_recorded
from replay.elements import ElementType
from replay.events.cost import EventCost, Profile, profile_operations
from replay.events.replayer import EventReplayer
from replay.graph.model import Provenance, Region
from replay.graph.open import open_capture
from replay.players import open_player


@wp.kernel(module="state_roots")
def take_one(x: wp.array[float]):
    i = wp.tid()
    x[i] = x[i] - 1.0


@wp.kernel(module="state_roots")
def take_root(x: wp.array[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = wp.sqrt(x[i])


@pytest.fixture(scope="module")
def frame(frame_of):
    """A wave frame of 24 x 16 cells, 5 events, that this installation vouches for."""
    path = frame_of(solver="reference")
    remember_recorded(path)
    return path


def test_a_region_after_an_event(frame, tmp_path, capsys):
    """The array written is the one that the same frames and parameters give in this process."""
    out = tmp_path / "heights.npy"
    arguments = ["--param", "mouse_pos=9,7", "--param", "k_speed=40", "--frames", "2", "--region", "heights"]
    assert main(["state", str(frame), "--after", "2", "--npy", str(out), *arguments]) == 0
    capture = open_capture(frame)
    with open_player(capture) as player:
        player.set("mouse_pos", [[9.0, 7.0]])
        player.set("k_speed", 40.0)
        player.launch()
        player.launch()
        with EventReplayer.of_player(player) as events:
            wanted = events.after(2).parameter("heights")
    saved = np.load(out)
    np.testing.assert_array_equal(saved, wanted)
    assert saved.shape == (16, 24) and saved.dtype == np.float32
    text = capsys.readouterr().out
    assert text.startswith("after event 2, wave_solve, of frame 3\n")
    assert f"min {wanted.min()!s}, max {wanted.max()!s}; all 384 finite" in text
    assert f"saved  {out} (float32 [16, 24])" in text


def test_all_regions_and_the_start(frame, capsys):
    assert main(["state", str(frame), "--after", "-1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "at the start of frame 1" and len(lines) == 1 + len(open_capture(frame).regions)
    assert any("clock" in line and "int32 [1]: min 0, max 0" in line for line in lines)


def test_a_type_that_the_user_says(frame, tmp_path, capsys):
    """1000.0 as float32 is 0x447a0000."""
    out = tmp_path / "bits.npy"
    arguments = ["--after", "0", "--region", "k_damp", "--type", "uint32", "--npy", str(out)]
    assert main(["state", str(frame), *arguments]) == 0
    assert np.load(out).tolist() == [0x447A0000]
    assert "uint32 [1], assumed: min 1148846080" in capsys.readouterr().out
    assert main(["state", str(frame), "--after", "0", "--region", "mouse_pos", "--type", "uint8"]) == 0
    assert "uint8 [8], assumed" in capsys.readouterr().out


def test_carry_pairs_are_told(frame_of, capsys):
    """With 3 substeps the newest heights are copied back after the last event."""
    path = frame_of(substeps=3, solver="reference")
    remember_recorded(path)
    assert main(["state", str(path), "--after", "3", "--region", "heights_out"]) == 0
    note = "note: this is before the carry pairs, heights_out to heights, heights_prev_out to heights_prev"
    assert note in capsys.readouterr().out
    assert main(["state", str(path), "--after", "2", "--region", "heights_out"]) == 0
    assert "carry" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--after", "5"], "--after 5: frame.wrp has the events 0 to 4"),
        (["--after", "-2"], "--after -2"),
        (["--after", "x"], "'x' is not a whole number"),
        (["--after", "1", "--region", "heigth"], "no region 'heigth'; it names heights, heights_prev"),
        (["--after", "1", "--region", "999"], "no region '999'"),
        (["--after", "1", "--npy", "x.npy"], "--npy needs --region"),
        (["--after", "1", "--type", "int32"], "--type needs --region"),
        (["--after", "1", "--type", "int33", "--region", "dt"], "unknown element type 'int33'"),
        (["--after", "1", "--region", "dt", "--npy", "x.txt"], "is no .npy file"),
        (["--after", "1", "--region", "dt", "--npy", "nowhere/x.npy"], "there is no folder nowhere"),
        (["--after", "1", "--frames", "-1"], "--frames is -1"),
        (["--after", "1", "--iteration", "4"], "is not WHILE=K"),
        (["--after", "1", "--param", "speed=3"], "no parameter 'speed'"),
        (["--after", "1", "--device", "tpu"], "unknown device 'tpu'"),
    ],
)
def test_what_state_refuses(frame, arguments, why, capsys):
    assert main(["state", str(frame), *arguments]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


@pytest.fixture(scope="module")
def loops(tmp_path_factory):
    """0 add, WHILE 1 of 3 rounds [2 count, 3 start, WHILE 4 of 2 rounds [5 add, 6 count]]."""
    from loop_captures import record_loops

    path = record_loops(tmp_path_factory.mktemp("loops"))
    remember_recorded(path)
    return path


@pytest.mark.parametrize(
    ("after", "iteration", "why"),
    [
        ("5", "2=1", "--iteration 2=1: event 2 is no WHILE; the WHILEs of loops.wrp are the events 1, 4"),
        ("5", "77=1", "--iteration 77=1: event 77 is no WHILE; the WHILEs of loops.wrp are the events 1, 4"),
        ("5", "1=4", "--iteration 1=4: the WHILE of event 1 has 3 iterations in this frame; choose 1 to 3"),
        ("5", "4=9", "--iteration 4=9: the WHILE of event 4 has 2 iterations in this frame; choose 1 to 2"),
        ("5", "1=1000000000000", "the WHILE of event 1 has 3 iterations"),
        ("5", "1=0", "--iteration 1=0: iterations are counted from 1"),
        ("2", "4=1", "event 2 is not inside the WHILE of event 4; look at one inside it, events 5 to 6"),
        ("1", "1=2", "event 1 is not inside the WHILE of event 1; look at one inside it, events 2 to 6"),
        ("-1", "1=2", "the start of the frame is not inside the WHILE of event 1"),
    ],
)
def test_iterations_that_there_are_not(loops, after, iteration, why, capsys):
    assert main(["state", str(loops), "--after", after, "--iteration", iteration]) == 2
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1


def test_an_iteration_of_an_iteration(loops, tmp_path, capsys):
    """`total` grows in event 0 and in each inner round: 1, then 2 in each of two outer rounds, then 2."""
    out = tmp_path / "total.npy"
    arguments = ["--after", "5", "--iteration", "4=2", "--iteration", "1=3", "--region", "total"]
    assert main(["state", str(loops), *arguments, "--npy", str(out)]) == 0
    assert np.load(out).tolist() == [7.0]
    assert main(["state", str(loops), "--after", "5", "--iteration", "1=3", "--iteration", "4=3"]) == 2
    assert "has 2 iterations in this frame, in iteration 3 of event 1; ch" in capsys.readouterr().err
    assert main(["state", str(loops), "--after", "2", "--iteration", "1=1", "--param", "outer=0"]) == 2
    assert "the WHILE of event 1 has no iteration in this frame" in capsys.readouterr().err


def test_a_capture_without_a_loop_has_no_iterations(frame, capsys):
    assert main(["state", str(frame), "--after", "1", "--iteration", "1=1"]) == 2
    assert "--iteration 1=1: event 1 is no WHILE; frame.wrp has no WHILE" in capsys.readouterr().err


def test_strangers_are_not_replayed_without_trust(frame_of, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr("app.trust._is_terminal", lambda: False)
    path = frame_of(substeps=2, solver="reference")
    for command in (["state", str(path), "--after", "0"], ["profile", str(path)]):
        assert main(command) == 2
        assert "was not recorded here" in capsys.readouterr().err
    assert main(["state", str(path), "--after", "0", "--region", "dt", "--trust"]) == 0


def test_what_a_line_says_of_values_that_are_not_finite():
    region = Region(3, 16, 4, None, ElementType.named("float32"), (4,), Provenance.INFERRED, ("h",), 0)
    row = describe(region, np.float32([1.5, np.nan, np.inf, -2.0]))
    assert row.endswith("float32 [4], inferred: min -2.0, max 1.5; finite 2 of 4 (1 NaN, 1 infinite)")
    assert describe(region, np.float32([np.nan] * 4)).endswith("inferred; finite 0 of 4 (4 NaN, 0 infinite)")
    assert describe(region, np.zeros(0, np.float32)).endswith(": empty")


def test_profile(frame, capsys):
    assert main(["profile", str(frame), "--repeats", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "wave_displace [384]" in lines[1] and "wave_solve [384] x4" in lines[2] and "1-4" in lines[2]
    assert main(["profile", str(frame), "--repeats", "2", "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [event["label"] for event in value["events"]] == ["wave_displace", *["wave_solve"] * 4]
    assert sum(event["share"] for event in value["events"]) == pytest.approx(1.0)
    assert value["repeats"] == 2 and value["frame_us"] > 0
    assert main(["profile", str(frame), "--repeats", "0"]) == 2


def test_the_table_of_a_profile(frame):
    """Sums of a run, bytes a second, and the marks of what is not known or not measured."""
    capture = open_capture(frame)
    known, assumed = Provenance.KNOWN, Provenance.ASSUMED
    costs = [EventCost(0, 2e-6, 0.2, 8000, known, True)]
    costs += [EventCost(event, 2e-6, 0.2, 1000, assumed, event < 3) for event in range(1, 5)]
    lines = report(capture, Profile("cpu", "a CPU", 7, 1.1e-5, 1e-6, tuple(costs))).splitlines()
    assert lines[1].split() == ["0", "wave_displace", "[384]", "2.00", "2.00", "20.0%", "8,000", "4.0"]
    assert lines[2].split() == ["1-4", "wave_solve", "[384]", "x4", "8.00*", "2.00", "80.0%", "~4,000", "0.5"]
    assert lines[3].split()[-1] == "10.00" and lines[4].split()[-1] == "11.00"
    assert lines[-2] == (
        "~ at most so many bytes: whether the kernel reads an array, writes it or both is not known, "
        "so both are counted."
    )
    assert lines[-1].startswith("* not measured")


def test_a_profile_goes_into_loops(loops, capsys):
    """Event 1 is a WHILE of [2 count, 3 start, WHILE 4 of [5 add, 6 count]]; without rounds nothing runs."""
    assert main(["profile", str(loops), "--repeats", "2"]) == 0
    text = capsys.readouterr().out
    rows = [line.split()[:2] for line in text.splitlines()[1:8]]
    assert rows == [
        ["0", "add"], ["1", "WHILE"], ["2", "count"], ["3", "start"], ["4", "WHILE"], ["5", "add"],
        ["6", "count"],
    ]  # fmt: skip
    assert "The rows below it are one launch each, in the first iteration" in text
    assert main(["profile", str(loops), "--repeats", "2", "--json", "--param", "outer=0"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [event["event"] for event in value["events"]] == [0, 1]
    assert [(item["event"], item["parent"], item["us"]) for item in value["nested"]] == [
        (2, 1, None), (3, 1, None), (4, 1, None), (5, 4, None), (6, 4, None)
    ]  # fmt: skip
    assert value["nested"][0]["note"] == "does not run: the WHILE of event 1 ends before it"


def test_what_runs_in_a_loop_is_measured_on_the_state_that_it_meets(loops):
    """Event 6 counts the inner rounds down; it meets the 2 that event 3 has written in the first round."""
    capture = open_capture(loops)
    with open_player(capture) as player:
        profile = profile_operations(capture, player.snapshot(), 2)
        assert player.get("outer").tolist() == [3]
    assert [item.event for item in profile.nested] == [2, 3, 4, 5, 6]
    assert all(item.seconds is not None and not item.note for item in profile.nested)
    assert [item.nbytes for item in profile.nested] == [8, 8, None, 8, 8]


@pytest.fixture(scope="module")
def roots(tmp_path_factory):
    """Each cell less 1, then its root: NaN in cell 2 in frame 2, in cell 5 in frame 3."""
    path = tmp_path_factory.mktemp("roots") / "roots.wrp"
    x = wp.array(np.float32([9, 9, 1.5, 9, 9, 2.5]), device="cpu")
    out = wp.zeros(6, dtype=float, device="cpu")
    none = wp.zeros(0, dtype=float, device="cpu")
    wp.load_module("state_roots", device="cpu")
    with wp.ScopedDevice("cpu"):
        with wp.ScopedCapture(apic=True) as recorded:
            wp.launch(take_one, 6, inputs=[x])
            wp.launch(take_root, 6, inputs=[x, out])
        wp.capture_save(recorded.graph, str(path), inputs={"x": x, "none": none}, outputs={"out": out})
    remember_recorded(path)
    return path


def test_the_first_value_that_is_not_finite(roots, capsys):
    """1.5 - 1 - 1 < 0: the root is NaN in the second frame, in event 1."""
    assert main(["state", str(roots), "--first-nonfinite"]) == 0
    assert capsys.readouterr().out == "all values are finite, up to the end of frame 1\n"
    assert main(["state", str(roots), "--first-nonfinite", "--frames", "5"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "first not finite after event 1, take_root, of frame 2",
        "  region 2 out: 1 cell of 6 (1 NaN, 0 infinite, its type inferred): 2",
    ]
    assert main(["state", str(roots), "--first-nonfinite", "--frames", "5", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["finite"], told["frame"], told["event"], told["label"]) == (False, 2, 1, "take_root")
    (made,) = told["made"]
    assert (made["names"], made["cells"], made["nan"], made["first_cells"]) == (["out"], 1, 1, [[2]])
    assert told["exact"] and told["before"] == [] and told["iterations"] == {}


def test_what_is_not_finite_from_the_start_is_told_apart(roots):
    capture = open_capture(roots)
    with open_player(capture) as player:
        player.launch()
        player.launch()
        newly, kept = nonfinite.search(player, 1), "  region 2 out: 1 cell of 6 (1 NaN, 0 infinite"
        player.launch()
        none = nonfinite.search(player, 1)
    lines = nonfinite.report(capture, newly).splitlines()
    assert lines[0] == "first not finite after event 1, take_root, of frame 1" and lines[1].endswith(": 5")
    assert lines[2] == "not finite before it, at the start of the frame:" and lines[3].endswith(": 2")
    assert lines[1].startswith(kept) and lines[3].startswith(kept)
    lines = nonfinite.report(capture, none).splitlines()
    assert lines[0] == "no event of frame 1 makes a value that is not finite" and lines[2].endswith(": 2, 5")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--first-nonfinite", "--region", "x"], "--region has no meaning with --first-nonfinite"),
        (["--after", "0", "--first-nonfinite"], "not allowed with argument"),
        (["--after", "0", "--json"], "--json needs --first-nonfinite"),
        (["--after", "0", "--region", "none"], "is an array without elements: it has no memory to look at"),
    ],
)
def test_what_a_search_refuses(roots, arguments, why, capsys):
    assert main(["state", str(roots), *arguments]) == 2
    assert why in capsys.readouterr().err


def test_a_sum_of_one_event(frame):
    capture = open_capture(frame)
    one = EventCost(0, 1e-6, 1.0, 4, Provenance.KNOWN, True)
    assert "sum  1 event " in report(capture, Profile("cpu", "cpu", 1, 1e-6, 0.0, (one,), ()))
