"""Furnishing a basin by hand: strokes, shapes, sources and probes, undo together with the parameters."""

from __future__ import annotations

import numpy as np
import pytest

from app.basin import shapes
from app.basin.furnishing import NAMES, NOWHERE, Furnishing, Source
from app.basin.tools import Tool, ToolBox, clear, stroke_part
from app.editor import ParameterEditor


def empty(rows: int = 20, columns: int = 30) -> dict[str, np.ndarray]:
    return {
        "walls": np.zeros((rows, columns), np.uint8),
        "depth": np.ones((rows, columns), np.float32),
        "source_pos": np.full((16, 2), NOWHERE[0], np.float32),
        "source_freq": np.full(16, 5.0, np.float32),
        "source_amp": np.full(16, 0.05, np.float32),
        "source_phase": np.zeros(16, np.float32),
        "source_on": np.zeros(16, np.int32),
        "probe_pos": np.full((16, 2), NOWHERE[0], np.float32),
    }


@pytest.fixture
def editor() -> ParameterEditor:
    return ParameterEditor({}, {})


@pytest.fixture
def furnishing(editor: ParameterEditor) -> Furnishing:
    return Furnishing(empty(), editor.record)


def draw(tools: ToolBox, furnishing: Furnishing, *cells) -> None:
    tools.press(furnishing, cells[0])
    for cell in cells[1:]:
        tools.move(furnishing, cell)
    tools.release(furnishing)


def test_a_stroke_paints_what_the_shape_covers(furnishing):
    tools = ToolBox()
    tools.hold(Tool.WALL)
    tools.brush = 1.5
    draw(tools, furnishing, (5.0, 5.0), (12.0, 8.0), (20.0, 8.0))
    wanted = shapes.stroke((20, 30), (5.0, 5.0), (12.0, 8.0), 1.5)
    wanted |= shapes.stroke((20, 30), (12.0, 8.0), (20.0, 8.0), 1.5)
    assert np.array_equal(furnishing.arrays["walls"] == 1, wanted)


@pytest.mark.parametrize(
    "start, end", [((-3.0, 4.0), (40.0, 9.0)), ((0.0, 0.0), (0.0, 0.0)), ((29, 19), (2, 1))]
)
def test_a_part_of_a_stroke_is_the_whole_stroke(start, end):
    whole = np.zeros((20, 30), bool)
    part, mask = stroke_part((20, 30), start, end, 2.5)
    whole[part] = mask
    assert np.array_equal(whole, shapes.stroke((20, 30), start, end, 2.5))


def test_a_stroke_breaks_off_beside_the_tank(furnishing):
    tools = ToolBox()
    tools.hold(Tool.WALL)
    tools.brush = 0.5
    draw(tools, furnishing, (2.0, 5.0), None, (25.0, 5.0))
    columns = np.flatnonzero(furnishing.arrays["walls"][5])
    assert columns.tolist() == [2, 25]


def test_erasing_takes_walls_and_shallows_away(furnishing):
    tools = ToolBox()
    for tool in (Tool.WALL, Tool.DEPTH, Tool.ERASE):
        tools.hold(tool)
        draw(tools, furnishing, (10.0, 10.0))
    assert not furnishing.arrays["walls"].any() and (furnishing.arrays["depth"] == 1.0).all()


def test_lines_and_rectangles_are_drawn_on_release(furnishing):
    tools = ToolBox()
    tools.hold(Tool.LINE)
    tools.brush = 0.5
    tools.press(furnishing, (3.0, 3.0))
    tools.move(furnishing, (9.0, 6.0))
    assert not furnishing.arrays["walls"].any()
    tools.release(furnishing)
    assert np.array_equal(furnishing.arrays["walls"] == 1, shapes.line((20, 30), (3, 3), (9, 6), 1.0))
    tools.hold(Tool.RECTANGLE)
    draw(tools, furnishing, (20.0, 12.0), (15.0, 10.0))
    assert furnishing.arrays["walls"][10:13, 15:21].all() and furnishing.arrays["walls"][13].sum() == 0


def test_undo_takes_back_one_stroke_in_the_order_of_all_changes(furnishing, editor):
    tools = ToolBox()
    tools.hold(Tool.WALL)
    draw(tools, furnishing, (5.0, 5.0), (9.0, 5.0))
    first = furnishing.arrays["walls"].copy()
    draw(tools, furnishing, (5.0, 15.0), (9.0, 15.0))
    both = furnishing.arrays["walls"].copy()
    assert editor.undo() and np.array_equal(furnishing.arrays["walls"], first)
    assert editor.undo() and not furnishing.arrays["walls"].any()
    assert not editor.undo()
    assert editor.redo() and editor.redo() and np.array_equal(furnishing.arrays["walls"], both)


def test_a_stroke_that_changes_nothing_is_no_step(furnishing, editor):
    tools = ToolBox()
    tools.hold(Tool.ERASE)
    draw(tools, furnishing, (5.0, 5.0), (9.0, 5.0))
    assert not editor.can_undo


def test_sources_are_placed_dragged_and_taken_away(furnishing, editor):
    tools = ToolBox()
    tools.hold(Tool.SOURCE)
    draw(tools, furnishing, (4.0, 4.0))
    assert furnishing.source(0) == Source((4.0, 4.0), 5.0, pytest.approx(0.05), 0.0, True)
    furnishing.set_source(0, Source((4.0, 4.0), 8.0, 0.25))
    furnishing.settle()
    draw(tools, furnishing, (20.0, 10.0))  # the next is like the one before
    assert furnishing.source(1).frequency == 8.0 and furnishing.source(1).amplitude == 0.25
    draw(tools, furnishing, (4.5, 4.5), (12.0, 9.0))  # near the first: dragged, not another
    assert furnishing.places("source_pos") == [(0, (12.0, 9.0)), (1, (20.0, 10.0))]
    editor.undo()
    assert furnishing.places("source_pos")[0] == (0, (4.0, 4.0))
    furnishing.remove("source_pos", 0)
    assert furnishing.places("source_pos") == [(1, (20.0, 10.0))]
    assert furnishing.arrays["source_on"].tolist()[:2] == [0, 1]
    editor.undo()
    assert furnishing.source(0).on


def test_a_source_is_kept_within_the_tank_and_its_range(furnishing):
    furnishing.set_source(3, Source((90.0, -7.0), 500.0, -1.0))
    assert furnishing.source(3) == Source((29.0, 0.0), 20.0, 0.0, 0.0, True)


def test_the_seventeenth_source_is_refused(furnishing):
    tools = ToolBox()
    tools.hold(Tool.SOURCE)
    tools.reach = 0.1
    for number in range(17):
        draw(tools, furnishing, (1.0 + number, 3.0))
    assert tools.full and len(furnishing.places("source_pos")) == 16


def test_clearing_is_one_step(furnishing, editor):
    tools = ToolBox()
    for tool in (Tool.WALL, Tool.DEPTH, Tool.SOURCE, Tool.PROBE):
        tools.hold(tool)
        draw(tools, furnishing, (8.0, 8.0))
    before = {name: furnishing.arrays[name].copy() for name in NAMES}
    clear(furnishing)
    assert not furnishing.arrays["walls"].any() and not furnishing.places("source_pos")
    assert not furnishing.places("probe_pos") and (furnishing.arrays["depth"] == 1).all()
    editor.undo()
    for name in NAMES:
        assert np.array_equal(furnishing.arrays[name], before[name])


def test_another_grid_takes_the_furnishing_stretched(furnishing, editor):
    furnishing.edit("walls")[:, 10] = 1
    furnishing.place("probe_pos", 2, (10.0, 5.0))
    wide = Furnishing(empty(40, 60), editor.record)
    wide.adopt(furnishing)
    assert np.flatnonzero(wide.arrays["walls"].all(0)).tolist() == [20, 21]
    assert wide.places("probe_pos") == [(2, (20.5, 10.5))]


def test_the_ruler_takes_the_nearer_end():
    tools = ToolBox()
    tools.hold(Tool.RULER)
    draw(tools, None, (2.0, 2.0), (10.0, 2.0))
    assert tools.ruler == ((2.0, 2.0), (10.0, 2.0))
    draw(tools, None, (2.5, 2.0), (4.0, 8.0))
    assert tools.ruler == ((4.0, 8.0), (10.0, 2.0))
    draw(tools, None, (20.0, 15.0), (25.0, 15.0))
    assert tools.ruler == ((20.0, 15.0), (25.0, 15.0))
