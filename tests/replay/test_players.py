"""One suite for all players, on the toy capture; then what only real players do, on the wave frame."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import toy

from replay.errors import DeviceError, ParameterError, ReplayError
from replay.graph.model import Capture, Fault, Severity
from replay.players import Player, open_player
from replay.players.fake import FakePlayer

BACKENDS = ["fake", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
DEVICES = BACKENDS[1:]


@pytest.fixture(scope="session")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Capture]:
    made: dict[str, Capture] = {}

    def record(device: str) -> Capture:
        if device not in made:
            made[device] = toy.record_toy(tmp_path_factory.mktemp(f"toy-{device}"), device)
        return made[device]

    return record


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def capture(backend: str, toys: Callable[[str], Capture]) -> Capture:
    return toys("cpu" if backend == "fake" else backend)


@pytest.fixture
def player(backend: str, capture: Capture) -> Iterator[Player]:
    with FakePlayer(capture, toy.fake_step) if backend == "fake" else open_player(capture, backend) as player:
        yield player


class Expected:
    """The toy in NumPy, carried as the loop would swap its references."""

    def __init__(self) -> None:
        self.x, self.y = toy.X.copy(), toy.Y.copy()
        self.gain, self.place = np.float32([0.25]), np.float32([[1, 2]])

    def frame(self) -> None:
        toy.advance_numpy(self.x, self.y, self.gain, self.place)
        self.x, self.y = self.y, self.x


def test_names_come_in_file_order_with_types_of_the_manifest(player: Player) -> None:
    assert list(player.parameters) == ["x", "y", "gain", "place", "count", "x_out", "y_out"]
    assert all(spec.known for spec in player.parameters.values())
    assert player.parameters["place"].full_shape == (1, 2)
    # between launches an output is where it was carried to
    assert player.parameters["x"].region == player.parameters["x_out"].region
    assert player.parameters["gain"].maximum == 1.0 and player.parameters["gain"].editable


def test_contents_are_those_of_the_file_until_a_launch(player: Player) -> None:
    np.testing.assert_array_equal(player.get("x"), toy.X)
    np.testing.assert_array_equal(player.get("place"), [[1.0, 2.0]])
    assert player.get("count").dtype == np.int32
    assert player.get("count").tolist() == [0]
    assert player.frames == 0


def test_frames_equal_the_loop_bit_for_bit_though_the_number_of_substeps_is_odd(player: Player) -> None:
    expected = Expected()
    for _ in range(7):
        expected.frame()
        player.launch()
        np.testing.assert_array_equal(player.get("x"), expected.x)
        np.testing.assert_array_equal(player.get("y"), expected.y)
    assert player.frames == 7
    assert player.get("count").tolist() == [7]
    assert player.region_bytes(toy.hidden_region(player.capture)).view(np.float32).tolist() == [12.0] * 6


def test_without_carry_pairs_the_newest_state_stays_where_it_was_recorded(
    backend: str, capture: Capture
) -> None:
    bare = dataclasses.replace(capture, manifest=dataclasses.replace(capture.manifest, carry=()))
    expected = Expected()
    with FakePlayer(bare, toy.fake_step) if backend == "fake" else open_player(bare, backend) as player:
        player.launch()
        toy.advance_numpy(expected.x, expected.y, expected.gain, expected.place)
        np.testing.assert_array_equal(player.get("x_out"), expected.y)
        np.testing.assert_array_equal(player.get("y_out"), toy.X)


def test_a_value_set_between_launches_acts_on_the_very_next_frame(player: Player) -> None:
    expected = Expected()
    for frame in range(5):
        gain = 0.125 * frame
        player.set("gain", gain)
        expected.gain[:] = gain
        if frame == 3:
            player.set("place", [(0.0, -1.0)])
            expected.place[:] = (0.0, -1.0)
        player.launch()
        expected.frame()
        np.testing.assert_array_equal(player.get("x"), expected.x)


def test_get_and_view_show_pending_values(player: Player) -> None:
    player.set("gain", 0.75)
    assert player.get("gain").tolist() == [0.75]
    player.set("gain", 0.5)
    view = player.view("gain")
    player.synchronize()
    assert np.asarray(view.numpy() if hasattr(view, "numpy") else view).tolist() == [0.5]


def test_set_takes_a_copy_of_the_value(player: Player) -> None:
    value = np.ones(toy.SIZE, np.float32)
    player.set("x", value)
    value[:] = 9.0
    np.testing.assert_array_equal(player.get("x"), np.ones(toy.SIZE))


def test_get_returns_a_copy(player: Player) -> None:
    player.get("x")[:] = 9.0
    np.testing.assert_array_equal(player.get("x"), toy.X)


def test_of_two_names_for_one_region_the_one_set_last_wins(player: Player) -> None:
    ones, twos, threes = (np.full(toy.SIZE, value) for value in (1.0, 2.0, 3.0))
    player.set("x", ones)
    player.set("x_out", twos)
    assert player.flush() == 1
    np.testing.assert_array_equal(player.get("x"), twos)
    player.set("x", ones)
    player.set("x_out", twos)
    player.set("x", threes)
    np.testing.assert_array_equal(player.get("x_out"), threes)


def test_only_changed_values_are_written(player: Player) -> None:
    assert player.flush() == 0
    player.set("gain", 0.5)
    player.set("gain", 0.625)
    player.set("place", [(3, 4)])
    assert player.flush() == 2
    assert player.flush() == 0
    player.set("gain", 0.625)  # nothing can have changed it since
    assert player.flush() == 0
    player.launch()
    player.set("gain", 0.5)
    assert player.flush() == 1


def test_an_equal_value_is_written_again_where_a_launch_or_a_view_may_have_changed_it(player: Player) -> None:
    for _ in range(2):
        player.set("count", [3])
        assert player.flush() == 1
        player.launch()
        assert player.get("count").tolist() == [4]
    player.set("place", [(3, 4)])
    assert player.flush() == 1
    player.view("place")
    player.set("place", [(3, 4)])
    assert player.flush() == 1


def test_an_equal_value_is_written_again_after_its_region_was_written_directly(player: Player) -> None:
    player.set("gain", 0.5)
    assert player.flush() == 1
    region = player.parameters["gain"].region
    player.write_regions([(region, np.array([0.25], np.float32))])
    player.set("gain", 0.5)
    assert player.flush() == 1
    assert player.get("gain").tolist() == [0.5]


def test_reset_rewrites_every_region_in_place(player: Player) -> None:
    view = player.view("x")
    for _ in range(3):
        player.set("gain", 0.875)
        player.launch()
    player.set("gain", 0.0)
    player.reset()
    assert player.frames == 0
    assert player.get("gain").tolist() == [0.25]
    assert player.get("count").tolist() == [0]
    np.testing.assert_array_equal(player.get("x"), toy.X)
    np.testing.assert_array_equal(player.get("y"), toy.Y)
    assert player.region_bytes(toy.hidden_region(player.capture)).view(np.float32).tolist() == [5.0] * 6
    expected = Expected()
    expected.frame()
    player.launch()
    player.synchronize()
    np.testing.assert_array_equal(view.numpy() if hasattr(view, "numpy") else view, expected.x)


def test_reset_of_one_name_leaves_the_others(player: Player) -> None:
    player.launch()
    player.set("gain", 0.5)
    player.set("y_out", np.zeros(toy.SIZE))  # the same region as x
    player.reset(["x"])
    np.testing.assert_array_equal(player.get("x"), toy.X)
    assert player.get("gain").tolist() == [0.5]
    assert player.get("count").tolist() == [1]
    assert player.frames == 1


def test_an_equal_value_is_written_after_a_reset(player: Player) -> None:
    player.set("gain", 0.5)
    player.flush()
    player.reset()
    player.set("gain", 0.5)
    assert player.flush() == 1
    assert player.get("gain").tolist() == [0.5]


def test_wrong_values_are_refused_and_change_nothing(player: Player) -> None:
    for name, value in [("gain", "much"), ("x", [1.0]), ("count", 1.5), ("gain", np.nan), ("nothing", 1)]:
        with pytest.raises(ParameterError):
            player.set(name, value)
    assert player.flush() == 0
    for name in ("gian", ""):
        with pytest.raises(ParameterError, match="the capture names: x, y, gain"):
            player.get(name)
    with pytest.raises(ParameterError, match="did you mean 'gain'"):
        player.view("gian")
    with pytest.raises(ReplayError, match="no region 999"):
        player.region_bytes(999)


def test_a_closed_player_refuses_everything_but_close(player: Player) -> None:
    player.close()
    player.close()
    for use in (
        player.launch,
        player.reset,
        player.synchronize,
        lambda: player.get("x"),
        lambda: player.view("x"),
        lambda: player.set("gain", 1.0),
        lambda: player.region_bytes(1),
    ):
        with pytest.raises(ReplayError, match="closed"):
            use()


def test_a_view_outlives_close(player: Player) -> None:
    player.launch()
    view = player.view("x")
    expected = player.get("x")
    player.close()
    gc.collect()
    np.testing.assert_array_equal(view.numpy() if hasattr(view, "numpy") else view, expected)


def test_two_players_of_one_capture_do_not_share_memory(
    backend: str, capture: Capture, player: Player
) -> None:
    other = FakePlayer(capture, toy.fake_step) if backend == "fake" else open_player(capture, backend)
    with other:
        player.launch()
        player.launch()
        np.testing.assert_array_equal(other.get("x"), toy.X)
        other.launch()
        assert (player.get("count")[0], other.get("count")[0]) == (2, 1)
    player.launch()
    assert player.get("count")[0] == 3


def test_a_carry_pair_that_does_not_fit_is_refused(backend: str, capture: Capture) -> None:
    for pair, text in ((("x_out", "gain"), "24 bytes"), (("x_out", "z"), "'z'")):
        bad = dataclasses.replace(capture, manifest=dataclasses.replace(capture.manifest, carry=(pair,)))
        with pytest.raises(ReplayError, match=text):
            FakePlayer(bad) if backend == "fake" else open_player(bad, backend)


# What only players with Warp do.


@pytest.mark.parametrize("device", DEVICES)
def test_a_blocking_fault_is_refused_with_its_place(device: str, toys: Callable[[str], Capture]) -> None:
    fault = Fault("operation 0, argument 1", "region 777 does not exist", Severity.BLOCKS_REPLAY)
    broken = dataclasses.replace(toys(device), faults=(fault,))
    with pytest.raises(ReplayError, match="operation 0, argument 1: region 777 does not exist"):
        open_player(broken, device)


@pytest.mark.parametrize("device", DEVICES)
def test_another_producer_is_refused_with_both_versions(device: str, toys: Callable[[str], Capture]) -> None:
    with pytest.raises(ReplayError, match=r"Warp 1\.18\.0, installed is Warp 1\.19\.0"):
        open_player(dataclasses.replace(toys(device), producer="1.18.0"), device)


def test_another_device_is_refused_with_both_kinds(toys: Callable[[str], Capture]) -> None:
    with pytest.raises(DeviceError, match="recorded for cpu, asked for is cuda:0"):
        open_player(toys("cpu"), "cuda:0")
    with pytest.raises(DeviceError, match="recorded for cuda, asked for is cpu"):
        open_player(dataclasses.replace(toys("cpu"), device_kind="cuda"), "cpu")


@pytest.mark.parametrize("device", ["gpu", "cpu:0", "cuda:", "cuda:-1", "cuda:x", "", "auto:1", "cuda:²"])
def test_an_unknown_device_is_refused(device: str, toys: Callable[[str], Capture]) -> None:
    with pytest.raises(DeviceError, match="use auto, cpu, cuda or cuda:N"):
        open_player(toys("cpu"), device)


def test_a_missing_device_is_refused_with_its_name(toys: Callable[[str], Capture]) -> None:
    with pytest.raises(DeviceError, match="cuda:77"):
        open_player(dataclasses.replace(toys("cpu"), device_kind="cuda", arch=90), "cuda:77")


@pytest.mark.gpu
def test_another_architecture_is_refused_with_both(toys: Callable[[str], Capture]) -> None:
    capture = toys("cuda")
    modules = tuple(dataclasses.replace(module, arch=75) for module in capture.modules)
    with pytest.raises(DeviceError, match=r"compiled for sm_75, cuda:0 \(.*\) is sm_\d+"):
        open_player(dataclasses.replace(capture, modules=modules, arch=75))


@pytest.mark.parametrize("name", ["../toy.o", "a/b.o", "a\\b.o", "C:x.o", "", ".."])
def test_a_module_name_that_leaves_the_folder_is_refused(name: str, toys: Callable[[str], Capture]) -> None:
    capture = toys("cpu")
    modules = tuple(dataclasses.replace(module, file=name) for module in capture.modules)
    with pytest.raises(ReplayError, match="no plain file name"):
        open_player(dataclasses.replace(capture, modules=modules))


def test_a_missing_module_is_refused_with_its_path(toys: Callable[[str], Capture], tmp_path: Path) -> None:
    with pytest.raises(ReplayError, match="is missing; keep the modules folder"):
        open_player(dataclasses.replace(toys("cpu"), modules_folder=tmp_path))


def test_what_warp_refuses_arrives_with_its_reason(
    toys: Callable[[str], Capture], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    capture = toys("cpu")
    for module in capture.modules:
        (tmp_path / module.file).write_text("no object file")
    with pytest.raises(ReplayError, match=r"cannot load toy\.wrp on the CPU: .*; .*not.*object file"):
        open_player(dataclasses.replace(capture, modules_folder=tmp_path))
    assert capfd.readouterr() == ("", "")


def test_a_failed_load_leaves_nothing_behind(toys: Callable[[str], Capture]) -> None:
    import warp as wp

    capture = toys("cpu")
    folder = capture.modules_folder
    graphs: list[weakref.ref] = []
    original = wp.Graph.__init__

    def noted(self, *args, **kwargs):
        original(self, *args, **kwargs)
        graphs.append(weakref.ref(self))

    broken = dataclasses.replace(
        capture, manifest=dataclasses.replace(capture.manifest, carry=(("x_out", "gain"),))
    )
    wp.Graph.__init__ = noted
    try:
        for _ in range(3):
            with pytest.raises(ReplayError):
                open_player(broken)
        with pytest.raises(RuntimeError, match="mine"), open_player(capture) as player:
            player.launch()
            raise RuntimeError("mine")
        del player
    finally:
        wp.Graph.__init__ = original
    gc.collect()
    assert [graph for graph in graphs if graph() is not None] == []
    assert folder.is_dir()


@pytest.mark.gpu
def test_the_driver_holds_one_node_for_each_operation(toys: Callable[[str], Capture]) -> None:
    with open_player(toys("cuda")) as player:
        assert player.node_count() == 1
        assert [name.startswith("advance_") for name in player.kernel_names()] == [True]


@pytest.mark.gpu
def test_pinned_memory_is_not_overwritten_while_a_copy_from_it_is_pending(
    toys: Callable[[str], Capture],
) -> None:
    with open_player(toys("cuda")) as player:
        for value in range(500):
            player.set("place", [(0.0, float(value))])
            player.set("gain", 1.0)
            player.set("x", np.zeros(toy.SIZE))
            player.set("y", np.zeros(toy.SIZE))
            player.launch()
        np.testing.assert_array_equal(player.get("x"), np.full(toy.SIZE, 499.0))


def test_a_player_knows_what_it_need_not_be_given_again(player: Player) -> None:
    value = np.array([[3.0, 4.0]], np.float32)
    assert not player.holds("place", value)  # never set here, whatever the file says
    player.set("place", value)
    assert not player.holds("place", value)  # not written yet
    player.flush()
    assert player.holds("place", value) and not player.holds("place", value + 1)
    player.set("place", value + 1)
    assert not player.holds("place", value)
    player.flush()
    state = player.snapshot()
    player.restore(state)
    assert not player.holds("place", value + 1)
