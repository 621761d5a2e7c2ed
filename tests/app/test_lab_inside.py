"""Looking into a frame in the running app: iterations and branches, the first value that is not finite."""

from __future__ import annotations

import numpy as np
import pytest
from app_rig import running_app
from lab_captures import FIELD, ZERO_AT, ZERO_IN, record_dividing, record_growing, record_nested

from app.actions import show_after
from app.cli import main
from app.gl_platform import imgui
from app.panels.not_finite import marked_cells
from app.panels.parameters import values_inside
from app.panels.region_table import RegionTable
from app.panels.timeline import _texts
from app.scene import open_scene
from app.trust import remember_recorded
from replay.edit import Edit


@pytest.fixture(scope="module")
def nested(tmp_path_factory):
    """The capture with loops in each other."""
    path = record_nested(tmp_path_factory.mktemp("nested"))
    remember_recorded(path)
    return path


@pytest.fixture
def rig(nested):
    with running_app(open_scene(nested, "cpu").player, size=(1280, 800)) as rig:
        rig.frames(2, launches=0)
        yield rig


def eager(outer: int, inner: int) -> np.ndarray:
    """The field after event 4 in an iteration of both loops, by the loop that was captured."""
    field = FIELD.copy()
    for turn in range(1, outer + 1):
        for step in range(1, 4 - turn + 1):
            field = field * np.float32(2)
            if (turn, step) == (outer, inner):
                return field
        field = field * np.float32(3)
    raise AssertionError("no such iteration")


def test_each_iteration_of_loops_in_each_other_is_that_of_an_eager_loop(rig):
    frame, lab = rig.app.lab.frame, rig.app.lab
    region = rig.app.scene.player.parameters["field"].region
    show_after(rig.app, 4)
    for outer, steps in ((1, 3), (2, 2), (3, 1)):
        frame.choose_iteration(1, outer)
        for inner in range(1, steps + 1):
            frame.choose_iteration(3, inner)
            rig.frames(2)
            values, where = lab.contents(region)
            assert np.array_equal(values, eager(outer, inner)), (outer, inner)
            assert where == f"after event 4, iteration {outer} of event 1, iteration {inner} of event 3"
            assert [(around.event, around.iteration, around.count) for around in frame.around] == [
                (1, outer, 3), (3, inner, steps),
            ]  # fmt: skip
    assert [str(around) for around in frame.around] == [
        "iteration 3 of 3, WHILE of event 1",
        "iteration 1 of 1, WHILE of event 3",
    ]
    assert rig.app.log.text() == ""


def test_an_iteration_beyond_the_last_one_is_the_last_one(rig):
    frame = rig.app.lab.frame
    show_after(rig.app, 4)
    frame.choose_iteration(3, 3)
    frame.choose_iteration(1, 3)  # in which the inner loop runs once only
    region = rig.app.scene.player.parameters["field"].region
    assert np.array_equal(rig.app.lab.contents(region)[0], eager(3, 1))
    frame.choose_iteration(1, 1)  # and what was asked for comes back
    assert np.array_equal(rig.app.lab.contents(region)[0], eager(1, 3))


def test_what_ran_is_said_of_an_if_and_of_a_while_itself(rig):
    frame = rig.app.lab.frame

    def told(event):
        show_after(rig.app, event)
        rig.frames(2)
        return [str(around) for around in frame.around][-1]

    assert told(1) == "WHILE of event 1: its body ran 3 times"
    assert told(6) == "IF of event 6: the then branch runs"
    assert told(7) == "IF of event 6: the then branch runs" and frame.ran
    assert told(8) == "IF of event 6: the then branch runs, not the one of this event" and not frame.ran
    show_after(rig.app, 10)
    assert frame.around == () and frame.place == "after event 10"


def test_another_value_makes_other_iterations_and_the_other_branch(rig):
    frame, editor = rig.app.lab.frame, rig.app.scene.editor
    show_after(rig.app, 4)
    editor.apply({"rounds": 2.0, "flag": 0.0})
    rig.frames(3)
    assert [around.count for around in frame.around] == [2, 2]
    show_after(rig.app, 7)
    assert str(frame.around[-1]) == "IF of event 6: the else branch runs, not the one of this event"
    editor.apply({"rounds": 0.0})
    rig.frames(3)
    assert [str(around) for around in frame.around] == [
        "WHILE of event 1: its body does not run in this frame"
    ]


def test_the_arrows_beside_the_timeline_choose_the_iteration(rig):
    frame = rig.app.lab.frame
    show_after(rig.app, 4)
    rig.frames(3)
    left, top, width, height = rig.app.canvas.rect
    before = frame.around
    # The rows lie at the lower end of the bar: the second arrow of the lowest one is the inner loop's.
    bar = min(width - 24, 640)
    x, y = left + (width - bar) / 2 + 48, top + height - 14 - 14 - 4
    rig.click(x, y)
    assert [around.iteration for around in frame.around] == [1, 2] and before[1].iteration == 1


def test_the_graph_shows_whole_what_just_fits_and_fits_again_when_its_panel_is_resized(rig):
    graph = next(panel for panel in rig.desk.panels if panel.name == "Graph")

    def whole(room):
        left, top, right, bottom = graph.camera.seen(room)
        return left <= 0 and top <= 0 and right >= graph.picture.width and bottom >= graph.picture.height

    assert whole(graph._fitted)
    rig.app.lab.selection.select_event(4)
    before = graph._fitted
    rig.window.resize(1280, 860)
    rig.frames(6, launches=0)
    assert graph._fitted != before and whole(graph._fitted)  # a selection is no pan


def test_the_launch_that_writes_the_condition_of_a_while_has_a_line_to_it(rig):
    graph = next(panel for panel in rig.desk.panels if panel.name == "Graph")
    picture = graph.picture
    lines = {
        (picture.boxes[path.source].first, picture.boxes[path.targets[0]].first, path.regions)
        for path in picture.paths
        if path.source >= 0 and path.targets[0] >= 0 and path.source > path.targets[0]
    }
    rounds, left = (rig.app.scene.player.parameters[name].region for name in ("rounds", "left"))
    assert (5, 3, (left,)) in lines and (9, 1, (rounds,)) in lines
    assert not any(target == 6 for _, target, _ in lines)  # an IF has read its condition before


# The first value that is not finite


def run_until_found(rig, most=40):
    for _ in range(most):
        rig.frame(launches=1)
        if rig.app.scene.not_finite:
            break
    if rig.app.lab.job is not None:
        rig.app.lab.job.wait()
    rig.frames(3, launches=1)


def test_a_division_by_zero_pauses_and_is_found_selected_and_marked(tmp_path):
    path = record_dividing(tmp_path)
    remember_recorded(path)
    with running_app(open_scene(path, "cpu").player, size=(1280, 800)) as rig:
        run_until_found(rig)
        app, lab = rig.app, rig.app.lab
        quotient = app.scene.player.parameters["quotient"].region
        assert app.scene.clock.paused and app.scene.player.frames == ZERO_IN + 1
        assert (lab.found.frame, lab.found.first.event) == (ZERO_IN, 2)
        assert lab.selection.event == 2 and lab.selection.region == quotient
        assert lab.frame.looking and lab.frame.event == 2 and lab.frame.which == f"frame {ZERO_IN}"
        assert marked_cells(lab, quotient).tolist() == [list(ZERO_AT)]
        assert lab.shown.active and lab.shown.candidate.region == quotient  # the centre shows what holds it
        values, _ = lab.contents(quotient)
        assert np.argwhere(~np.isfinite(values)).tolist() == [list(ZERO_AT)]
        show_after(app, 1)
        assert len(marked_cells(lab, quotient)) == 0  # it is not there yet
        assert app.log.text() == ""


def test_a_value_that_an_iteration_makes_infinite_is_shown_in_that_iteration(rig):
    player = rig.app.scene.player
    player.set("field", np.full((4, 5), 6e37, np.float32))
    run_until_found(rig)
    frame, first = rig.app.lab.frame, rig.app.lab.found.first
    assert first.event == frame.event == 4 and first.iterations == {1: 1, 3: 3}
    assert [around.iteration for around in frame.around] == [1, 3]
    assert np.isinf(rig.app.lab.contents(player.parameters["field"].region)[0]).all()


def test_large_values_whose_sum_overflows_are_finite(rig):
    rig.app.scene.player.set("field", np.full((4, 5), 3e38, np.float32))
    rig.app.scene.editor.apply({"rounds": 0.0})
    rig.app.scene.upload()
    assert not rig.app.scene.check_finite(0)


def test_a_number_that_the_graph_writes_is_shown_as_it_is_and_can_be_set_again(rig, monkeypatch):
    monkeypatch.setattr("app.scene.FOLLOW_INTERVAL", 0.0)
    scene = rig.app.scene
    scene._follow_at = 0.0
    editor = scene.editor
    assert editor.values["rounds"] == (3,)
    rig.frames(2, launches=1)
    assert editor.values["rounds"] == (0,) and editor.values["flag"] == (1,)  # counted down by the graph
    assert "rounds" not in editor.changed() and not editor.can_undo
    before = scene.player.get("field")
    rig.frames(2, launches=1)
    assert scene.player.get("field") == pytest.approx(4 * 4 * before)  # no round: times 4 a launch
    editor.move("rounds", 1)
    editor.settle()
    before = scene.player.get("field")
    rig.frames(1, launches=1)
    assert scene.player.get("field") == pytest.approx(2 * 3 * 4 * before)
    rig.frames(1, launches=0)
    assert editor.values["rounds"] == (0,)
    scene.reset_water()
    rig.frames(1, launches=0)
    assert editor.values["rounds"] == (3,)  # as the file holds it, not as it was before


def test_the_same_number_is_written_again_where_the_graph_has_changed_it_meanwhile(rig, monkeypatch):
    monkeypatch.setattr("app.scene.FOLLOW_INTERVAL", 0.0)
    scene = rig.app.scene
    scene._follow_at = 0.0
    rig.frames(2, launches=1)
    monkeypatch.setattr("app.scene.FOLLOW_INTERVAL", 1e9)
    rig.frame(launches=0)  # looks a last time
    for _ in range(2):  # the second time the editor still holds the 1 of the first
        before = scene.player.get("field")
        scene.editor.apply({"rounds": 1.0})
        rig.frame(launches=1)
        assert scene.player.get("rounds").tolist() == [0]
        assert scene.player.get("field") == pytest.approx(2 * 3 * 4 * before)
    assert scene.editor.undo() and not scene.editor.can_undo  # it was one change


def test_the_timeline_names_the_field_only_where_it_is_shown_as_water(rig):
    show_after(rig.app, 4)
    shown = rig.app.lab.shown
    assert shown.active and "shows" not in _texts(rig.app.lab, 2000.0)[1]
    shown.active = False
    assert "shows field" in _texts(rig.app.lab, 2000.0)[1]


def test_parameters_tell_what_they_hold_after_the_event(rig):
    lab, editor = rig.app.lab, rig.app.scene.editor
    show_after(rig.app, 9)
    lab.frame.choose_iteration(1, 2)
    rig.frames(3)
    assert values_inside(lab, editor)["rounds"].endswith(" 1") and editor.values["rounds"] == (3,)
    assert "flag" not in values_inside(lab, editor)


def test_the_banner_covers_nothing_of_the_array_and_its_bar(tmp_path):
    path = record_dividing(tmp_path)
    remember_recorded(path)
    with running_app(open_scene(path, "cpu").player, size=(1280, 800)) as rig:
        app, shown = rig.app, rig.app.lab.shown
        before = shown.covered[0]
        assert before == app.canvas.bars and app.canvas.banner == 0.0
        run_until_found(rig)
        banner = imgui.internal.find_window_by_name("##banner")
        top = app.canvas.rect[1]
        assert banner.pos.y >= top + before  # below tool bar and array bar
        assert shown.covered[0] >= banner.pos.y + banner.size.y - top  # and the array below it
        app.scene.reset_water()
        rig.frames(3, launches=0)
        assert shown.covered[0] == before and app.canvas.banner == 0.0


def test_the_end_of_a_table_of_a_million_rows_is_gone_to(rig, monkeypatch):
    inspector = next(panel for panel in rig.desk.panels if panel.name == "Inspector")
    table, values, seen = RegionTable(), np.arange(1_000_000, dtype=np.float32), []
    monkeypatch.setattr(inspector, "draw", lambda app, gui: table.draw(gui, values, 1, 0))
    monkeypatch.setattr(table, "_cell", lambda gui, cell: seen.append(cell))
    rig.frames(3, launches=0)
    assert seen[0] == [0.0]
    table.go_to("-1", 1_000_000, 1)
    rig.frames(4, launches=0)
    assert seen[-1] == [999_999.0] and rig.app.log.text() == ""
    table.go_to("3", 1_000_000, 1)
    rig.frames(4, launches=0)
    assert [3.0] in seen[-20:] and rig.app.log.text() == ""


def test_each_picture_without_anybody_watching_is_of_its_own_launch(rig):
    rig.app.unattended = True
    lab = rig.app.lab
    assert lab.shown.active
    lab.shown.pick(rig.app.scene.player.parameters["field"].region)
    for _ in range(4):  # in much less than the time between two reads for a display
        rig.frames(1, launches=1)
        np.testing.assert_array_equal(lab.shown.scalars, rig.app.scene.player.get("field"))


@pytest.mark.parametrize("way", ["--ui", "--top-view"])
def test_without_a_display_what_is_not_finite_is_told(way, tmp_path, capsys):
    path = record_dividing(tmp_path)
    remember_recorded(path)
    words = ["--headless", str(path), "--size", "320x200", "--device", "cpu", way]
    assert main([*words, "--frames", str(ZERO_IN)]) == 0
    assert "NaN" not in capsys.readouterr().err
    assert main([*words, "--frames", str(ZERO_IN + 1)]) == 0
    told = capsys.readouterr()
    assert "NaN or infinite values in quotient" in told.err
    assert f"replayed  {ZERO_IN + 1} frames" in told.out


def test_an_argument_edited_in_a_kept_frame_shows_that_frame_and_no_marks_of_before(tmp_path):
    path = record_growing(tmp_path)
    remember_recorded(path)
    with running_app(open_scene(path, "cpu").player, size=(1280, 800)) as rig:
        run_until_found(rig)
        app, lab = rig.app, rig.app.lab
        number, event = lab.found.frame, lab.found.first.event
        field, out = (app.scene.player.parameters[name].region for name in ("field", "root"))
        assert lab.marked(out) is not None and lab.frame.which == f"frame {number}"
        app.play(lab.edits.set(Edit(0, 1, 4.0)))
        rig.frames(2)
        assert lab.frame.looking and lab.frame.event == event and lab.frame.which == f"frame {number}"
        # FACTORS make 2 a frame, and 4 once their first one is 4.
        assert lab.contents(field)[0] == pytest.approx(FIELD * 2.0**number * 4.0)
        assert lab.marked(out) is None
        app.play(lab.edits.revert_all())
        assert lab.contents(field)[0] == pytest.approx(FIELD * 2.0**number * 2.0)
        lab.frame.leave()
        show_after(app, 0)
        assert lab.frame.which == "the next frame"
        assert lab.contents(field)[0] == pytest.approx(app.scene.player.get("field") * 2.0)
