"""The graph lab in the running app: selection, search, the state after an event, edits, the first NaN."""

from __future__ import annotations

import shutil
import threading
from contextlib import contextmanager

import numpy as np
import pytest
from app_rig import running_app
from lab_captures import FACTORS, FIELD, record_growing

from app.actions import show_after
from app.lab import lab
from app.lab.contents import Typing, contents_of, facts_of, picture_of, save_csv, save_npy
from app.lab.selection import Kind
from app.opening import Answer
from app.panels.graph_colors import ColorBy, colors_of, legend_of
from app.panels.graph_draw import MOST_BOXES, MOST_PATHS
from app.panels.graph_find import Sort, choose, find
from app.panels.graph_parts import dashes_of, line_of
from app.scene import open_scene
from app.trust import remember_recorded
from app.window import Button, KeyPressed, Modifiers, PointerButton, PointerMoved
from replay.edit import Edit
from replay.elements import ElementType
from replay.errors import UsageError
from replay.events.cost import profile_operations
from replay.events.replayer import EventReplayer
from replay.graph.model import Provenance
from replay.graph.open import open_capture
from replay.wrp.write import repeat_operations


@pytest.fixture(scope="session")
def growing(tmp_path_factory):
    """The capture with the planted fault."""
    path = record_growing(tmp_path_factory.mktemp("growing"))
    remember_recorded(path)
    return path


@contextmanager
def opened(path, **options):
    with running_app(open_scene(path, "cpu").player, **options) as rig:
        rig.frames(2, launches=0)
        yield rig


@pytest.fixture
def rig(frame_path):
    with opened(frame_path, size=(1280, 800)) as rig:
        yield rig


@pytest.fixture
def grown(growing):
    with opened(growing, size=(1280, 800)) as rig:
        yield rig


def panel_of(rig, name):
    return next(panel for panel in rig.desk.panels if panel.name == name)


def place_of(rig, thing):
    """Where a box or pill of the graph lies in the window."""
    graph = panel_of(rig, "Graph")
    x, y = graph.camera.to_window((thing.x + thing.width / 2, thing.y + thing.height / 2))
    return graph.corner[0] + x, graph.corner[1] + y


def finish(rig):
    """Wait for the work in the background."""
    if rig.app.lab.job is not None:
        rig.app.lab.job.wait()
    rig.frames(3, launches=0)
    assert rig.app.lab.job is None


# Selection


def test_a_click_in_the_graph_selects_the_event_everywhere(rig):
    graph, events = panel_of(rig, "Graph"), panel_of(rig, "Events")
    box = graph.picture.boxes[graph.box_of(2)]
    rig.click(*place_of(rig, box))
    assert rig.app.selected == box.first == 1 and rig.app.lab.selection.kind is Kind.EVENT
    assert graph.box_of(1) in graph._marks.chosen and graph.box_of(0) in graph._marks.upstream
    row = events.rows[events._index_of(rig.app.selected)]
    assert row.event <= 1 <= row.last
    assert rig.app.log.text() == ""


def test_an_event_that_is_selected_elsewhere_opens_its_run_in_the_list(rig):
    events = panel_of(rig, "Events")
    assert [row.event for row in events.rows] == [0, 1]
    rig.app.lab.selection.select_event(3)
    rig.frames(3)
    assert [row.event for row in events.rows] == [0, 1, 1, 2, 3, 4]
    assert events.rows[events._index_of(3)].event == 3
    rig.key("left")
    assert rig.app.selected == 2
    rig.key("right")
    rig.key("right")
    assert rig.app.selected == 4


def test_a_named_parameter_leads_to_its_widget(rig):
    graph = panel_of(rig, "Graph")
    pill = next(pill for pill in graph.picture.pills if pill.names[0] == "k_damp")
    parameters = panel_of(rig, "Parameters")
    rig.click(*place_of(rig, pill))
    assert rig.app.lab.selection.region == pill.region
    assert parameters._lit == "k_damp" and rig.app.focused == ""
    assert graph._values._texts["k_damp"][0] == "1000"
    rig.app.scene.editor.apply({"k_damp": 250.0})
    rig.frames(3)
    assert graph._values._texts["k_damp"][0] == "250"


def test_folding_and_unfolding(rig):
    graph, lab = panel_of(rig, "Graph"), rig.app.lab
    assert len([box for box in graph.picture.boxes if not box.container]) == 2
    graph.unfold_all(lab, closed=False)
    rig.frames(2)
    assert len([box for box in graph.picture.boxes if not box.container]) == 5
    graph.unfold_all(lab, closed=True)
    rig.frames(2)
    assert len(graph.picture.boxes) == 2


def test_a_double_click_and_the_chevron_unfold(rig):
    graph = panel_of(rig, "Graph")
    run = graph.picture.boxes[graph.box_of(2)]
    assert run.badge == "×4"
    x, y = place_of(rig, run)
    rig.frames(2)
    rig.frame(PointerMoved(x, y))
    for pressed in (True, False, True, False):
        rig.frame(PointerButton(Button.LEFT, pressed, Modifiers.NONE, x, y))
    rig.frames(2)
    assert len([box for box in graph.picture.boxes if not box.container]) == 5
    rig.frames(40)  # no third click of a series
    container = next(box for box in graph.picture.boxes if box.container)
    graph.camera.origin, graph.camera.goal = (-200.0, 40.0), None
    rig.frame()
    x, y = graph.camera.to_window((container.x + container.width - 16, container.y + 12))
    rig.click(graph.corner[0] + x, graph.corner[1] + y)
    assert len(graph.picture.boxes) == 2


def test_a_region_knows_who_writes_and_who_reads_it(rig):
    lab = rig.app.lab
    region = rig.app.scene.player.parameters["k_speed"].region
    lab.selection.select_region(region)
    rig.frames(3)
    reach = lab.selection.reach(lab.flow)
    assert reach.upstream == frozenset() and reach.downstream == frozenset({1, 2, 3, 4})
    tab = panel_of(rig, "Inspector").region
    assert tab.values.tolist() == [60.0] and tab._writers == []
    assert [(how, [event for _, event in users]) for how, users in tab._readers] == [(Provenance.KNOWN, [1])]


# Search


def test_find_by_kernel_parameter_region_and_number(rig):
    lab = rig.app.lab
    name = lab.capture.operations[1].label
    kernel = next(item for item in find(lab, name[:4]) if item.sort is Sort.OPERATION)
    choose(lab, kernel)
    assert lab.selection.kernel_events == frozenset({1, 2, 3, 4}) and rig.app.selected == 1
    region = find(lab, "K_DAMP")[0]
    assert (region.sort, region.number) == (Sort.REGION, rig.app.scene.player.parameters["k_damp"].region)
    assert find(lab, "3")[0].sort is Sort.EVENT and find(lab, "3")[0].number == 3
    assert find(lab, "no such thing") == [] and find(lab, " ") == []


def type_text(rig, text):
    for sign in text:
        rig.frame(KeyPressed(sign, True, False, Modifiers.NONE))
        rig.frame(KeyPressed(sign, False, False, Modifiers.NONE))


def test_find_and_go_to_by_keys(rig):
    rig.key("G", Modifiers.CONTROL)
    rig.frames(3)
    type_text(rig, "3")
    rig.key("enter")
    rig.frames(3)
    assert rig.app.selected == 3
    rig.key("F", Modifiers.CONTROL)
    rig.frames(3)
    type_text(rig, "k_damp".replace("_", ""))  # an underscore is no plain key
    assert panel_of(rig, "Graph").search == "kdamp"
    rig.key("escape")
    assert not rig.app.quitting


# The state after an event


def test_the_state_after_each_event_is_that_of_an_eager_loop(grown):
    rig = grown
    region = rig.app.scene.player.parameters["field"].region
    wanted, before = FIELD.copy(), rig.heights().copy()
    for event, factor in enumerate(FACTORS):
        wanted = wanted * np.float32(factor)
        show_after(rig.app, event)
        rig.frames(2)
        values, where = rig.app.lab.contents(region)
        assert np.array_equal(values, wanted) and where == f"after event {event}"
    assert np.array_equal(rig.heights(), before) and rig.app.scene.player.frames == 0
    show_after(rig.app, None)
    assert np.array_equal(rig.app.lab.contents(region)[0], FIELD)


def test_looking_inside_pauses_and_shows_the_substeps_and_goes_back(rig):
    app = rig.app
    app.push.press((12.0, 8.0))
    rig.frame(launches=1)
    app.push.release()
    rig.frames(3, launches=1)
    rig.key("space")
    live, frames = rig.heights().copy(), app.scene.player.frames
    app.lab.selection.select_event(2)
    rig.key("E")
    rig.frames(3)
    frame = app.lab.frame
    assert frame.looking and frame.event == 2 and app.scene.clock.paused
    with EventReplayer.of_player(app.scene.player) as eager:
        state = eager.after(2)
        assert np.array_equal(frame.heights(), state.region(frame.field).reshape(16, 24))
        changed = [
            region
            for region in (app.scene.player.parameters[name].region for name in ("heights", "heights_prev"))
            if not np.array_equal(eager.before(2).region_bytes(region), state.region_bytes(region))
        ]
    assert changed == [frame.field]
    assert app.inside_revision == frame.revision  # it is what the water shows
    assert np.array_equal(rig.heights(), live) and app.scene.player.frames == frames
    frame.look(4)
    last = frame.heights().copy()
    rig.key("E")
    assert not frame.looking and app.scene.clock.paused  # as it was before
    rig.frame(launches=1)
    assert np.array_equal(rig.heights(), last)  # the last event leads to the next frame


def test_playing_through_a_frame_ends_at_its_last_event(rig):
    frame, frames = rig.app.lab.frame, rig.app.scene.player.frames
    show_after(rig.app, 0)
    frame.play(rig.now)
    seen = []
    for _ in range(12):
        rig.frame(seconds=0.9)
        seen.append(frame.event)
    assert seen[:5] == [1, 2, 3, 4, 4] and not frame.playing
    assert rig.app.selected == 4 and rig.app.scene.player.frames == frames


def test_a_changed_parameter_changes_the_state_that_is_looked_at(rig):
    app = rig.app
    app.push.press((12.0, 8.0))
    rig.frame(launches=1)
    app.push.release()
    rig.frame(launches=1)
    show_after(app, 4)
    rig.frames(2)
    before = app.lab.frame.heights().copy()
    app.scene.editor.apply({"k_speed": 5.0})
    rig.frames(3)
    after = app.lab.frame.heights()
    assert not np.array_equal(before, after) and np.isfinite(after).all()


# Edits


def test_an_edited_number_is_used_by_the_next_frame_and_can_be_taken_back(grown):
    rig, lab = grown, grown.app.lab
    rig.frame(launches=1)
    assert np.array_equal(rig.heights(), FIELD * np.float32(2.0))
    lab.edits.set(Edit(0, 1, 1.0))
    rig.app.play(lab.edits.capture)
    rig.frame(launches=1)
    assert np.array_equal(rig.heights(), FIELD * np.float32(2.0))  # 1 * 0.5 * 2
    assert lab.operation(0).arguments[1].value == 1.0
    assert lab.capture.operations[0].arguments[1].value == 2.0
    lab.edits.revert_all()
    rig.app.play(lab.edits.capture)
    rig.frame(launches=1)
    assert np.array_equal(rig.heights(), FIELD * np.float32(4.0))
    assert rig.app.message == ""


def test_a_number_is_edited_in_the_inspector(grown):
    rig = grown
    rig.app.lab.selection.select_event(0)
    rig.frames(3, launches=0)
    tab = panel_of(rig, "Inspector")._operation
    argument = rig.app.lab.operation(0).arguments[1]
    tab._edits.set(rig.app, rig.app.lab, 0, argument, None, 3.0)
    rig.frame(launches=1)
    assert np.array_equal(rig.heights(), FIELD * np.float32(3.0))
    assert tab._edits.key_of(rig.app.lab, 0, 1) is not None
    tab._edits.revert(rig.app, rig.app.lab, None)
    assert rig.app.lab.edits.edits == ()


# The first value that is not finite


def test_the_first_nan_is_found_selected_and_marked(grown):
    rig, app = grown, grown.app
    frames = 0
    while app.lab.job is None and frames < 10:
        rig.frame(launches=1)
        frames += 1
    # 0.24 doubles: 0.48, 0.96, 1.92: the third frame is the first one with a root of less than nothing.
    assert frames == 3 and app.scene.not_finite and app.scene.clock.paused
    finish(rig)
    found = app.lab.found
    assert found.frame == 2 and found.first.event == 3
    assert app.selected == 3 and app.lab.frame.looking and app.lab.frame.event == 3
    out = app.scene.player.parameters["root"].region
    wanted = np.argwhere(FIELD * np.float32(8.0) > 1.0)
    assert np.array_equal(app.lab.marked(out), wanted)
    assert int(np.isnan(app.lab.contents(out)[0]).sum()) == len(wanted)
    rig.key("R")
    rig.frames(2, launches=0)
    assert not app.scene.not_finite and app.lab.found is None and not app.lab.frame.looking
    assert np.array_equal(rig.heights(), FIELD)


# Cost


def test_measuring_does_not_disturb_the_live_player_and_fills_the_list(rig, monkeypatch):
    app = rig.app
    rig.frame(launches=1)
    live, frames = rig.heights().copy(), app.scene.player.frames
    looked = threading.Event()  # the measurement goes on until the frames beside it were looked at

    def held(*arguments, **options):
        assert looked.wait(60)
        return profile_operations(*arguments, **options)

    monkeypatch.setattr(lab, "profile_operations", held)
    app.lab.measure()
    rig.frames(2, launches=1)
    looked.set()
    finish(rig)
    assert np.array_equal(rig.heights(), live) and app.scene.player.frames == frames
    profile = app.lab.profile
    assert [cost.event for cost in profile.events] == [0, 1, 2, 3, 4]
    assert sum(cost.share for cost in profile.events) == pytest.approx(1.0)
    events = panel_of(rig, "Events")
    rig.frames(2, launches=0)
    assert len(events._costs) == len(events.rows)
    assert sum(part for _, _, _, part in events._costs[:2]) == pytest.approx(1.0)
    assert panel_of(rig, "Graph")._paint.notes.keys() == {0, 1}


# Captures that are only looked at


def test_a_capture_with_a_fault_opens_without_a_player(frame_path, tmp_path):
    path = tmp_path / "broken.wrp"
    shutil.copy(frame_path, path)  # its folder of modules is missing
    with running_app(size=(1280, 800)) as rig:
        rig.app.asks = True
        rig.app.open(path)
        rig.frames(3)
        assert rig.app.scene.player is None and "broken_modules" in rig.app.scene.blocked
        rig.app.lab.selection.select_event(3)
        rig.frames(5)
        for name in ("space", "period", "E", "R", "right"):
            rig.key(name)
        assert rig.app.message == "" and "inside Ripplescope" not in rig.app.log.text()
        region = next(iter(rig.app.lab.capture.regions))
        rig.app.lab.selection.select_region(region)
        rig.frames(3)
        assert panel_of(rig, "Inspector").region._where == "as the file holds it"
        assert len(panel_of(rig, "Graph").picture.boxes) == 2


def test_a_stranger_is_looked_at_asked_about_tried_and_then_replayed(growing, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    path = folder / "growing.wrp"
    data = bytearray(growing.read_bytes())
    at = data.find(np.float32(FACTORS[1]).tobytes())
    data[at : at + 4] = np.float32(0.25).tobytes()
    path.write_bytes(data)
    shutil.copytree(growing.with_name("growing_modules"), folder / "growing_modules")
    with running_app(size=(1000, 640)) as rig:
        app = rig.app
        app.asks = True
        app.open(path)
        rig.frames(3)
        assert app.scene.player is None and app.question is not None and app.popup_open
        app.answer(Answer.NO)
        rig.frames(3)
        assert app.question is None and app.scene.player is None and not app.popup_open
        app.ask_again()
        rig.frames(2)
        app.answer(Answer.ONCE)
        assert app.question.trying
        app.question._trial.wait()
        rig.frames(3)
        assert app.message == "" and app.scene.player is not None and app.question is None
        rig.frame(launches=1)
        assert np.array_equal(rig.heights(), FIELD)  # 2 * 0.25 * 2


# Large captures


@pytest.fixture(scope="session")
def long_path(growing, tmp_path_factory):
    """10,000 operations."""
    folder = tmp_path_factory.mktemp("long")
    shutil.copytree(growing.with_name("growing_modules"), folder / "long_modules")
    path = folder / "long.wrp"
    path.write_bytes(repeat_operations(growing.read_bytes(), 2500))
    return path


def test_ten_thousand_operations_draw_a_bounded_picture(long_path):
    with opened(long_path, size=(1280, 800)) as rig:
        graph, lab = panel_of(rig, "Graph"), rig.app.lab
        assert len(lab.capture.operations) == 10_000
        assert len(graph.picture.boxes) < 12
        first = graph.picture.tree.nodes[0]
        lab.opened = lab.opened.toggled(first.key, is_open=False)
        lab.selection.select_event(7001)
        rig.frames(4, launches=0)
        sizes = []
        for _ in range(3):
            graph.fit_asked = True
            rig.frame(launches=0)
            sizes.append((graph.drawing.boxes, graph.drawing.blocks, len(graph.drawing.calls)))
            graph.unfold_all(lab, closed=False)
            rig.frame(launches=0)
        for boxes, blocks, calls in sizes:
            assert boxes <= MOST_BOXES and blocks <= 500
            assert calls < 10 * MOST_BOXES + 12 * MOST_PATHS
        assert rig.app.log.text() == ""


def test_dashes_cover_a_line_and_stop_where_nothing_is_seen():
    line = line_of(((0.0, 0.0), (30.0, 0.0), (60.0, 0.0), (90.0, 0.0)))
    dashes = dashes_of(line, 6.0, 4.0)
    assert [dash[0] for dash in dashes] == pytest.approx([0, 10, 20, 30, 40, 50, 60, 70, 80])
    assert all(dash[2] - dash[0] == pytest.approx(6.0) for dash in dashes)
    assert len(dashes_of(line, 6.0, 4.0, (25.0, -1.0, 45.0, 1.0))) == 3


# Contents


def test_the_contents_of_a_region_as_numbers(tmp_path):
    values = np.array([[1.0, np.nan, 3.0], [np.inf, -2.0, 0.0]], np.float32)
    facts = facts_of(values)
    assert (facts.low, facts.high, facts.nan, facts.infinite, facts.count) == (-2.0, 3.0, 1, 1, 6)
    assert facts.mean == pytest.approx(0.5) and facts.counts.sum() == 4
    table = np.stack([np.arange(256)] * 3, axis=1).astype(np.uint8)
    picture = picture_of(values, table, (-2.0, 3.0))
    assert picture[0, 1].tolist() == [255, 0, 255, 255] == picture[1, 0].tolist()
    assert picture[0, 2].tolist() == [255, 255, 255, 255] and picture[1, 1].tolist() == [0, 0, 0, 255]
    assert np.array_equal(np.load(save_npy(tmp_path / "a", values)), values, equal_nan=True)
    assert save_csv(tmp_path / "a", values).read_text().splitlines() == ["1,nan,3", "inf,-2,0"]


def test_a_large_plane_keeps_its_nan_when_it_is_made_smaller():
    plane = np.zeros((2000, 3000), np.float32)
    plane[1234, 2345] = np.nan
    picture = picture_of(plane, np.zeros((2, 3), np.uint8), (0.0, 1.0))
    assert max(picture.shape[:2]) <= 512 and (picture == (255, 0, 255, 255)).all(axis=2).sum() == 1


def test_a_type_and_a_shape_that_the_user_gives():
    raw = np.arange(24, dtype=np.float32).view(np.uint8)
    typing = Typing.parsed("vec2f", "3x-1", raw.size)
    assert typing.shape == (3, 4) and contents_of(raw, typing).shape == (3, 4, 2)
    assert contents_of(raw, Typing(ElementType.named("int32"))).tolist()[1] == 0x3F800000
    for wrong in ("5x5", "a", "0x3"):
        with pytest.raises(UsageError):
            Typing.parsed("float32", wrong, raw.size)


def test_values_of_the_open_capture_are_those_of_the_player(rig):
    rig.app.push.press((12.0, 8.0))
    rig.frame(launches=1)
    region = rig.app.scene.player.parameters["heights"].region
    values, where = rig.app.lab.contents(region)
    assert where == "now" and np.array_equal(values, rig.app.scene.player.get("heights"))
    assert open_capture(rig.app.scene.capture.path).regions[region].shape == values.shape


def test_the_legend_holds_the_colours_of_the_boxes(rig):
    graph = next(panel for panel in rig.desk.panels if panel.name == "Graph")
    colors = rig.gui.colors
    for by in (ColorBy.KIND, ColorBy.ACCESS):
        told = {color for color, _ in legend_of(by, colors)} | {colors.muted}
        assert set(colors_of(rig.app.lab, graph.picture, by, colors)) <= told
    (most, _), _, _ = legend_of(ColorBy.BYTES, colors)
    assert most in colors_of(rig.app.lab, graph.picture, ColorBy.BYTES, colors)
