"""The state after an event equals the same operations done one by one, at the top level and in branches."""

from __future__ import annotations

import makers
import numpy as np
import pytest
import toy

from replay.errors import ReplayError, UsageError
from replay.events.replayer import EventReplayer
from replay.graph.model import Capture, OpKind
from replay.graph.open import open_capture
from replay.players import open_player


@pytest.fixture(scope="module")
def conditions(tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """Scale by 1.5; three times count down and scale by 2 (flag) or 3 (no flag); scale by 4."""
    return open_capture(makers.record(makers.conditions, tmp_path_factory.mktemp("conditions")))


@pytest.fixture(scope="module")
def frame_capture(frame_of):
    """A wave frame of 24 x 16 cells whose every substep is a launch: 1 displace, 4 solve."""
    return open_capture(frame_of(solver="reference"))


def test_each_substep_equals_the_eager_loop(frame_capture):
    """After event N of the wave frame, all arrays are those of a tank that stopped there."""
    from app.compare import settings_of
    from capture.device import find_device
    from capture.tank import Tank

    settings = settings_of(frame_capture.manifest)
    with open_player(frame_capture) as player:
        player.set("mouse_pos", [[9.0, 7.0]])
        player.launch()
        player.set("mouse_pos", [[12.0, 8.0]])
        before = {name: player.get(name) for name in player.parameters}
        with EventReplayer.of_player(player) as frame:
            seen = [
                {name: frame.after(event).parameter(name) for name in ("heights", "heights_prev", "clock")}
                for event in range(len(frame_capture.operations))
            ]
            start = frame.start().parameter("heights")
        np.testing.assert_array_equal(start, before["heights"])
        for name, value in before.items():
            np.testing.assert_array_equal(player.get(name), value, err_msg=f"{name} leaked into the player")
    assert settings.solver == "reference"
    tank = Tank(settings, find_device("cpu"))
    expected = _eager_states(tank, before)
    assert len(seen) == len(expected) == 5
    for event, (state, wanted) in enumerate(zip(seen, expected, strict=True)):
        for name, value in state.items():
            np.testing.assert_array_equal(value, wanted[name], err_msg=f"{name} after event {event}")
    assert not np.array_equal(seen[0]["heights"], seen[3]["heights"])


def _eager_states(tank, contents):
    """Run a frame of a tank launch by launch; return the arrays after each."""
    import warp as wp

    for name, value in contents.items():
        if name in tank.arrays:
            tank.set(name, value)
    states, launch = [], wp.launch

    def spy(*args, **kwargs):
        launch(*args, **kwargs)
        states.append(
            {name: tank.arrays[name].numpy().copy() for name in ("heights", "heights_prev", "clock")}
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wp, "launch", spy)
        tank.launch_frame()
    return states


def test_regions_without_a_name_and_carry_pairs(tmp_path):
    """Every region can be read, and the last event comes before the carry pairs."""
    capture = toy.record_toy(tmp_path, "cpu")
    hidden = toy.hidden_region(capture)
    with open_player(capture) as player, EventReplayer.of_player(player) as frame:
        state = frame.after(0)
        assert state.is_last and state.ran and not state.note
        np.testing.assert_array_equal(state.region(hidden), toy.HIDDEN + 1)
        y = toy.Y.copy()
        toy.advance_numpy(toy.X.copy(), y, np.float32([0.25]), np.float32([[1.0, 2.0]]))
        np.testing.assert_array_equal(state.parameter("y"), y)
        np.testing.assert_array_equal(state.parameter("x"), toy.X)
        player.launch()
        np.testing.assert_array_equal(player.get("x"), y)  # carried
        frame.restart(player.snapshot())
        np.testing.assert_array_equal(frame.after(0).region(hidden), toy.HIDDEN + 2)


def _kinds(capture: Capture) -> list[OpKind]:
    return [operation.kind for operation in capture.operations]


def test_inside_a_while_and_an_if(conditions):
    """The first iteration, later ones, the branch that is taken and the one that is not."""
    launch, loop, branch = OpKind.KERNEL_LAUNCH, OpKind.WHILE, OpKind.IF
    assert _kinds(conditions) == [launch, loop, launch, branch, launch, launch, launch]
    with open_player(conditions) as player, EventReplayer.of_player(player) as frame:
        x = player.get("x")

        def seen(event, **iterations):
            state = frame.after(event, {1: iterations["turn"]} if iterations else None)
            factor = state.parameter("x") / x
            np.testing.assert_allclose(factor, factor[0], rtol=1e-6)
            return (
                state,
                int(state.parameter("left")[0]),
                float(state.parameter("total")[0]),
                round(float(factor[0]), 5),
            )

        state, *values = seen(0)
        assert values == [3, 0.0, 1.5] and state.ran and not state.note
        state, *values = seen(2)
        assert values == [2, 0.25, 1.5] and state.note == "in iteration 1 of the WHILE of event 1"
        state, *values = seen(4)
        assert values == [2, 0.25, 3.0] and state.ran
        state, *values = seen(5)
        assert values == [2, 0.25, 1.5] and not state.ran
        assert state.note == (
            "event 5 does not run: the IF of event 3 takes its then branch; the state is that before it"
        )
        assert seen(3)[1:] == (2, 0.25, 3.0)
        assert seen(1)[1:] == (0, 0.75, 12.0)  # all of the loop
        state, *values = seen(6)
        assert values == [0, 0.75, 48.0] and state.is_last
        assert seen(4, turn=3)[1:] == (0, 0.75, 12.0)
        state, *values = seen(2, turn=2)
        assert values == [1, 0.5, 3.0] and state.note == "in iteration 2 of the WHILE of event 1"
        state, *values = seen(2, turn=4)
        assert not state.ran and values == [0, 0.75, 12.0]
        assert state.note.startswith("event 2 does not run: the WHILE of event 1 ends before it")
        before = frame.before(4)
        assert before.ran and float(before.parameter("total")[0]) == 0.25
        np.testing.assert_array_equal(player.get("x"), x)

        player.set("flag", [0])
        frame.restart(player.snapshot())
        assert not seen(4)[0].ran and seen(5)[0].ran and seen(5)[1:] == (2, 0.25, 4.5)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8, 11])
def test_iterations_are_counted(conditions, count):
    with open_player(conditions) as player, EventReplayer.of_player(player) as frame:
        player.set("left", [count])
        frame.restart(player.snapshot())
        assert frame.iterations_of(1) == count
        assert frame.iterations_of(1, most=4) == min(count, 4)
        with pytest.raises(UsageError, match=r"event 3 of conditions\.wrp is no WHILE"):
            frame.iterations_of(3)


def test_the_player_of_a_state_holds_it(frame_capture):
    with open_player(frame_capture) as player, EventReplayer.of_player(player) as frame:
        state = frame.after(2)
        shown = state.player
        np.testing.assert_array_equal(np.asarray(shown.view("heights")), state.parameter("heights"))
        before = shown.revision
        player.set("mouse_pos", [[9.0, 7.0]])
        frame.restart(player.snapshot())
        with pytest.raises(ReplayError, match="of an earlier frame"):
            state.parameter("heights")
        assert frame.after(2).player is shown and shown.revision > before
        frame.close()
        with pytest.raises(ReplayError, match="the event replayer is closed"):
            frame.after(2).parameter("heights")


def test_events_and_iterations_that_are_none(conditions):
    with open_player(conditions) as player, EventReplayer.of_player(player) as frame:
        with pytest.raises(UsageError, match=r"no event 7; choose 0 to 6"):
            frame.after(7)
        with pytest.raises(UsageError, match="no event -1"):
            frame.after(-1)
        with pytest.raises(UsageError, match="iteration 0 of event 1"):
            frame.after(2, {1: 0})


@pytest.mark.parametrize(
    "maker", [makers.copies, makers.library, makers.struct_argument, makers.indexed, makers.views]
)
def test_the_last_event_is_the_whole_frame(maker, tmp_path):
    """What a live launch leaves in every region is what the state after the last event says."""
    capture = open_capture(makers.record(maker, tmp_path))
    with open_player(capture) as player, EventReplayer.of_player(player) as frame:
        state = frame.after(capture.top_level[-1])
        player.launch()
        for region in capture.regions:
            np.testing.assert_array_equal(state.region_bytes(region), player.region_bytes(region))


def test_mesh_handles_stay_those_of_each_player(tmp_path):
    """A snapshot moves no handle: the prefix asks its own mesh, as the live player does."""
    capture = open_capture(makers.record(makers.mesh_handle, tmp_path))
    with open_player(capture) as player, EventReplayer.of_player(player) as frame:
        first, last = (frame.after(event).parameter("distance") for event in (0, capture.top_level[-1]))
        # the triangle of the unit vectors lies in x + y + z = 1; the first point is right over it
        ask = player.get("ask")[0].astype(np.float64)
        assert first[0] == pytest.approx(abs(ask.sum() - 1.0) / np.sqrt(3.0), rel=1e-5)
        player.launch()
        np.testing.assert_array_equal(last, player.get("distance"))


def test_few_prefixes_are_kept(frame_capture, monkeypatch):
    monkeypatch.setattr("replay.events.replayer._KEPT_PLAYERS", 2)
    opened = []

    def opener(capture, device):
        opened.append(open_player(capture, device))
        return opened[-1]

    with open_player(frame_capture) as player:
        frame = EventReplayer(player.capture, player.device, player.snapshot(), opener)
        values = [frame.after(event).parameter("heights") for event in (0, 1, 2, 0)]
        assert len(opened) == 4 and sum(not one._closed for one in opened) == 2
        np.testing.assert_array_equal(values[0], values[3])
        frame.close()
        assert all(one._closed for one in opened)


@pytest.mark.gpu
def test_on_cuda_each_event_equals_the_eager_loop(frame_of):
    """The same on CUDA, where snapshots stay on the device."""
    capture = open_capture(frame_of(device="cuda", solver="reference"))
    with open_player(capture) as player, EventReplayer.of_player(player) as frame:
        player.set("mouse_pos", [[9.0, 7.0]])
        start = player.snapshot()
        frame.restart(start)
        heights = [frame.after(event).parameter("heights") for event in range(len(capture.operations))]
        np.testing.assert_array_equal(player.get("heights"), frame.start().parameter("heights"))
        player.launch()
        np.testing.assert_array_equal(player.get("heights"), heights[-1])
        assert not np.array_equal(heights[0], heights[2])  # event 1 writes the other field
        player.restore(start)
        player.launch()
        np.testing.assert_array_equal(player.get("heights"), heights[-1])


@pytest.mark.gpu
def test_inside_a_while_and_an_if_on_cuda(tmp_path):
    """Conditional nodes of CUDA: the same numbers as on the CPU, in the loop and in its branches."""
    capture = open_capture(makers.record(makers.conditions, tmp_path, "cuda"))
    kinds = _kinds(capture)
    loop, branch = kinds.index(OpKind.WHILE), kinds.index(OpKind.IF)
    count_down, _ = capture.operations[loop].children
    then, otherwise = capture.operations[branch].children
    with open_player(capture) as player, EventReplayer.of_player(player) as frame:
        x = player.get("x")
        state = frame.after(count_down)
        assert state.ran and state.parameter("left").item() == 2 and state.parameter("total").item() == 0.25
        np.testing.assert_allclose(frame.after(then).parameter("x"), 3.0 * x, rtol=1e-6)
        assert not frame.after(otherwise).ran
        np.testing.assert_allclose(frame.after(then, {loop: 3}).parameter("x"), 12.0 * x, rtol=1e-6)
        assert not frame.after(then, {loop: 4}).ran
        np.testing.assert_allclose(frame.after(len(kinds) - 1).parameter("x"), 48.0 * x, rtol=1e-6)
        np.testing.assert_array_equal(player.get("x"), x)
