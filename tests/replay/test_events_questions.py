"""Questions about one frame: which regions an event writes, which one makes a NaN, what each costs."""

from __future__ import annotations

import dataclasses

import makers
import numpy as np
import pytest
import toy
import warp as wp

from replay.edit import edit_scalar
from replay.errors import UsageError
from replay.events import cost, finite
from replay.events.cost import bytes_moved, profile_operations
from replay.events.finite import first_not_finite, not_finite
from replay.events.observe import observe_access
from replay.graph.model import OpKind, Provenance
from replay.graph.open import open_capture
from replay.players import open_player
from replay.players.snapshot import Snapshot


@wp.kernel(module="events_questions")
def logarithm(x: wp.array[float], out: wp.array[float]):
    i = wp.tid()
    out[i] = wp.log(x[i])


@wp.kernel(module="events_questions")
def add(out: wp.array[float], amount: float):
    i = wp.tid()
    out[i] = out[i] + amount


@wp.kernel(module="events_questions")
def shrink(left: wp.array[wp.int32], x: wp.array[float]):
    i = wp.tid()
    x[i] = x[i] - 1.0
    if i == 0:
        left[0] = left[0] - 1


def chain():
    """Add 1; a logarithm of x, negative in cell 2; add 2; clear that; add 2; the logarithm into `out`."""
    x, scratch, out = (
        wp.array([1.0, 2.0, -3.0, 4.0], dtype=float),
        wp.zeros(4, dtype=float),
        wp.zeros(4, dtype=float),
    )

    def body():
        wp.launch(add, 4, inputs=[out, 1.0])
        wp.launch(logarithm, 4, inputs=[x, scratch])
        wp.launch(add, 4, inputs=[scratch, 2.0])
        scratch.zero_()
        wp.launch(add, 4, inputs=[out, 2.0])
        wp.launch(logarithm, 4, inputs=[x, out])

    return makers.Recorded(body, {"x": x}, {"scratch": scratch, "out": out})


def loop():
    """Five times: x - 1, then its logarithm, which is NaN from the third time on in cell 0."""
    left, x, out = wp.array([5], dtype=wp.int32), wp.array([2.5, 9.0], dtype=float), wp.zeros(2, dtype=float)

    def step():
        wp.launch(shrink, 2, inputs=[left, x])
        wp.launch(logarithm, 2, inputs=[x, out])

    return makers.Recorded(lambda: wp.capture_while(left, step), {"left": left, "x": x}, {"out": out})


def mended():
    """Three times: the logarithm of x, NaN in cell 2, then 1 less left, then cleared."""
    left, x, out = (
        wp.array([3], dtype=wp.int32),
        wp.array([1.0, 2.0, -1.0], dtype=float),
        wp.zeros(3, dtype=float),
    )
    spare = wp.zeros(3, dtype=float)

    def step():
        wp.launch(logarithm, 3, inputs=[x, out])
        wp.launch(shrink, 3, inputs=[left, spare])
        out.zero_()

    return makers.Recorded(lambda: wp.capture_while(left, step), {"left": left, "x": x}, {"out": out})


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("questions")
    wp.load_module("events_questions", device="cpu")
    return {maker.__name__: open_capture(makers.record(maker, folder)) for maker in (chain, loop, mended)}


@pytest.fixture(scope="module")
def frame_capture(frame_of):
    """A wave frame of 24 x 16 cells whose every substep is a launch: 1 displace, 4 solve."""
    return open_capture(frame_of(solver="reference"))


def region(capture, name):
    return next(binding.region for binding in capture.bindings if binding.name == name)


@pytest.mark.parametrize("walked", [512, 0])
def test_the_first_nan_is_the_true_one(recorded, walked, monkeypatch):
    """Event 1 makes one, which event 3 clears away; a bisection cannot be sure that it is the first one."""
    monkeypatch.setattr(finite, "WALKED", walked)
    capture = recorded["chain"]
    with open_player(capture) as player:
        found = first_not_finite(capture, player.snapshot())
        assert found is not None and found.before == ()
        (made,) = found.made
        assert (made.nan, made.infinite, made.cells().tolist()) == (1, 0, [[2]])
        assert (found.event, found.exact) == (1, walked > 0) and made.region == region(capture, "scratch")
        player.set("x", np.float32([1, 2, 3, 4]))
        assert first_not_finite(capture, player.snapshot()) is None
        player.set("x", np.float32([1, 2, 0, 4]))
        (made,) = first_not_finite(capture, player.snapshot()).made
        assert (made.nan, made.infinite) == (0, 1)
        assert player.frames == 0 and np.isfinite(player.get("out")).all()


def test_what_is_not_finite_before_the_frame_is_told_apart(recorded):
    capture = recorded["chain"]
    with open_player(capture) as player:
        player.set("x", np.float32([1, 2, 3, 4]))
        player.view("out")[1] = np.nan
        found = first_not_finite(capture, player.snapshot())
        assert (
            found.event is None
            and found.made == ()
            and [item.region for item in found.before] == [region(capture, "out")]
        )
        assert found.before[0].cells().tolist() == [[1]]
        player.set("x", np.float32([1, -2, 3, 4]))
        found = first_not_finite(capture, player.snapshot())
        assert found.event == 1 and found.made[0].region == region(capture, "scratch")


def test_the_first_nan_in_a_loop(recorded):
    """x is 2.5, so its logarithm is NaN in iteration 3."""
    capture = recorded["loop"]
    assert [op.kind for op in capture.operations] == [
        OpKind.WHILE,
        OpKind.KERNEL_LAUNCH,
        OpKind.KERNEL_LAUNCH,
    ]
    with open_player(capture) as player:
        found = first_not_finite(capture, player.snapshot())
        assert (found.event, found.iterations) == (2, {0: 3})
        assert [(item.region, item.cells().tolist()) for item in found.made] == [
            (region(capture, "out"), [[0]])
        ]
        player.set("left", np.int32([2]))
        assert first_not_finite(capture, player.snapshot()) is None


def test_a_nan_that_the_body_of_a_loop_overwrites(recorded, monkeypatch):
    """The logarithm of -1 is taken in every iteration, and a later event of the body clears it."""
    capture = recorded["mended"]
    with open_player(capture) as player:
        found = first_not_finite(capture, player.snapshot())
        assert (found.event, found.iterations, found.exact) == (1, {0: 1}, True)
        assert [(item.region, item.cells().tolist()) for item in found.made] == [
            (region(capture, "out"), [[2]])
        ]
        player.launch()
        assert np.isfinite(player.get("out")).all()
        player.reset()
        monkeypatch.setattr(finite, "LOOKED_INSIDE", 0)  # from outside the loop there is nothing to see
        assert first_not_finite(capture, player.snapshot()) is None


def test_integers_that_look_like_nan(recorded):
    """-1 in a region whose type is a guess is no NaN; one that a processor makes is, or an infinity."""
    capture = recorded["chain"]
    ident = region(capture, "scratch")
    assert capture.regions[ident].provenance is not Provenance.KNOWN
    values = np.zeros(4, np.float32)
    values.view(np.int32)[:] = -1, -77, 0x7FFFFFFF, 3
    contents = {key: np.zeros(item.nbytes, np.uint8) for key, item in capture.regions.items()}
    contents[ident] = values.view(np.uint8)
    assert not_finite(capture, Snapshot("cpu", 0, contents)) == ()
    cuda = dataclasses.replace(capture, device_kind="cuda")
    assert [item.cells().tolist() for item in not_finite(cuda, Snapshot("cuda:0", 0, contents))] == [[[2]]]
    with np.errstate(invalid="ignore"):
        values[:] = np.float32(np.inf) - np.float32(np.inf), np.nan, -np.inf, 1
    (found,) = not_finite(capture, Snapshot("cpu", 0, contents))
    assert (found.nan, found.infinite, found.provenance) == (2, 1, capture.regions[ident].provenance)


def test_too_fast_water_names_the_substep(frame_capture):
    """With a wave speed of 1e30 the push is finite, and so is the first substep."""
    with open_player(frame_capture) as player:
        player.set("mouse_pos", [[9.0, 7.0]])
        assert first_not_finite(frame_capture, player.snapshot()) is None
        player.set("k_speed", 1e30)
        found = first_not_finite(frame_capture, player.snapshot())
        assert found.event == 2 and found.exact
        (made,) = found.made
        rows, columns = made.cells().T
        assert made.mask.shape == (16, 24) and made.count == len(rows) > 0
        # the push reaches 5 cells from (9, 7), two substeps two more
        assert (np.hypot(columns - 9, rows - 7) < 5 + 2).all()
        assert not_finite(frame_capture, player.snapshot()) == ()


def test_written_regions_are_observed(recorded, frame_capture, tmp_path):
    capture = recorded["loop"]
    left, x, out = (region(capture, name) for name in ("left", "x", "out"))
    with open_player(capture) as player:
        assert observe_access(capture, player) == {0: {left, x, out}, 1: {left, x}, 2: {out}}
        player.set("left", np.int32([0]))
        assert observe_access(capture, player) == {0: frozenset()}
        assert player.frames == 0
    toys = toy.record_toy(tmp_path, "cpu")
    with open_player(toys) as player:
        names = {"y", "count"}
        assert observe_access(toys, player)[0] == {region(toys, name) for name in names} | {
            toy.hidden_region(toys)
        }
    with open_player(frame_capture) as player:
        player.set("mouse_pos", [[9.0, 7.0]])
        seen = observe_access(frame_capture, player)
        fields = {region(frame_capture, name) for name in ("heights", "heights_prev")}
        assert all(seen[event] <= fields and seen[event] for event in range(1, 5))


def test_costs(frame_capture):
    with open_player(frame_capture) as player:
        player.set("mouse_pos", [[9.0, 7.0]])
        heights = player.get("heights")
        done = []
        profile = profile_operations(
            frame_capture, player.snapshot(), 3, progress=lambda n, of: done.append((n, of))
        )
        np.testing.assert_array_equal(player.get("heights"), heights)
    assert [item.event for item in profile.events] == list(range(5)) and done == [
        (n + 1, 5) for n in range(5)
    ]
    assert profile.frame_seconds > 0 and all(item.measured for item in profile.events)
    assert sum(item.share for item in profile.events) == pytest.approx(1.0)
    # a substep reads one field and reads and writes the other, and reads k_speed, k_damp and dt
    solve = profile.events[1]
    assert (solve.nbytes, solve.provenance) == (3 * 24 * 16 * 4 + 3 * 4, Provenance.KNOWN)
    assert solve.bytes_per_second == pytest.approx(solve.nbytes / solve.seconds)


def test_costs_of_a_loop_and_of_many(recorded, tmp_path, monkeypatch):
    """Each launch of a WHILE starts from the state that it meets, or the second one would find it done."""
    capture = recorded["loop"]
    restored = []
    monkeypatch.setattr(cost, "_median", lambda player, state, repeats: restored.append(state.number) or 1e-3)
    with open_player(capture) as player:
        profile = profile_operations(capture, player.snapshot(), 2)
        frame, loop, *inside = restored
        assert frame == loop and profile.events[0].nbytes is None
        assert len(inside) == len(set(inside)) == len(profile.nested) == 2
        with pytest.raises(UsageError, match="0 repeats"):
            profile_operations(capture, player.snapshot(), 0)
    many = open_capture(makers.record(makers.launches, tmp_path))
    with open_player(many) as player:
        profile = profile_operations(many, player.snapshot(), 1, most=2)
    assert [item.measured for item in profile.events] == [True, True] + 4 * [False]
    assert bytes_moved(many.operations[0]) == (2 * 7 * 4, Provenance.ASSUMED)


def test_an_edit_that_makes_a_nan_is_found(recorded):
    capture = edit_scalar(recorded["chain"], 4, 1, float("nan"))
    with open_player(capture) as player:
        player.set("x", np.float32([1, 2, 3, 4]))
        found = first_not_finite(capture, player.snapshot())
        assert (found.event, found.made[0].nan) == (4, 4)


@pytest.mark.gpu
def test_questions_on_cuda(frame_of):
    capture = open_capture(frame_of(device="cuda", solver="reference"))
    with open_player(capture) as player:
        player.set("mouse_pos", [[9.0, 7.0]])
        profile = profile_operations(capture, player.snapshot(), 5)
        assert all(item.seconds > 0 for item in profile.events)
        assert observe_access(capture, player)[1]
        player.set("k_speed", 1e30)
        assert first_not_finite(capture, player.snapshot()).event == 2
