"""The picture of a capture: nothing overlaps, no line crosses a box, every event shows once, and quickly."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from replay.graph.flow import data_flow
from replay.graph.fold import Folded, fold_capture
from replay.graph.layout import Picture, fitted, lay_out, plain_width
from replay.graph.links import links_of
from replay.graph.model import Capture, Provenance
from replay.graph.nodes import NodeKind, Opened, tree_of
from replay.graph.open import capture_from_bytes, open_capture
from replay.graph.operations import LazyOperations
from replay.graph.route import samples
from replay.wrp.write import repeat_operations, with_operations

NARROW, WIDE = (300.0, 350.0), (1400.0, 800.0)


def picture_of(capture: Capture, opened: Opened | None = None, room: tuple[float, float] = NARROW) -> Picture:
    return lay_out(capture, data_flow(capture), fold_capture(capture), opened, room=room)


def all_open(capture: Capture) -> Opened:
    """Everything that can be opened, groups unrolled."""
    opened = Opened()
    for _ in range(4):
        keys = {node.key for node in tree_of(capture, fold_capture(capture), opened).nodes if node.can_open}
        opened = Opened(opened.opened | keys)
    return opened


def check(picture: Picture) -> None:
    """Whatever is drawn: boxes lie in the picture and in their container, side by side; lines cross none."""
    nodes = picture.tree.nodes
    for box in picture.boxes:
        assert box.x >= 0 and box.y >= 0, box
        assert box.x + box.width <= picture.width + 0.01 and box.y + box.height <= picture.height + 0.01, box
        parent = nodes[box.node].parent
        if parent >= 0:
            around = picture.boxes[parent]
            assert around.x <= box.x and around.y <= box.y
            assert box.x + box.width <= around.x + around.width + 0.01
            assert box.y + box.height <= around.y + around.height + 0.01
    leaves = np.array([not box.container for box in picture.boxes], bool)
    flat = np.concatenate([picture.box_bounds[leaves], picture.pill_bounds])
    for number, (left, top, right, bottom) in enumerate(flat.tolist()):
        rest = flat[number + 1 :]
        hit = (rest[:, 0] < right) & (rest[:, 2] > left) & (rest[:, 1] < bottom) & (rest[:, 3] > top)
        assert not hit.any(), (number, flat[number], rest[hit])
    for path in picture.paths:
        for stroke in path.strokes:
            points = np.array(list(samples(stroke, 12)))
            for left, top, right, bottom in flat.tolist():
                inside = (
                    (points[:, 0] > left + 0.6) & (points[:, 0] < right - 0.6)
                    & (points[:, 1] > top + 0.6) & (points[:, 1] < bottom - 0.6)
                )  # fmt: skip
                assert not inside.any(), (path, (left, top, right, bottom), points[inside])
    node_of = picture.tree.node_of
    assert node_of.min(initial=0) >= 0
    for event, node in enumerate(node_of.tolist()):
        assert nodes[node].first <= event <= nodes[node].last


@pytest.mark.parametrize("room", [NARROW, WIDE])
@pytest.mark.parametrize("open_all", [False, True])
def test_every_recorded_capture(recorded: dict[str, Path], room: tuple[float, float], open_all: bool) -> None:
    for path in recorded.values():
        capture = open_capture(path)
        check(picture_of(capture, all_open(capture) if open_all else None, room))


@pytest.mark.parametrize("seed", range(4))
def test_tangled_captures(tmp_path: Path, seed: int) -> None:
    from makers import Recorded, record, scale

    def tangled() -> Recorded:
        random = np.random.default_rng(seed)
        arrays = [wp.zeros(8, dtype=float) for _ in range(9)]

        def body() -> None:
            for _ in range(60):
                one, other = random.choice(9, 2, replace=False).tolist()
                if random.random() < 0.5:
                    wp.copy(arrays[one], arrays[other])
                else:
                    wp.launch(scale, 8, inputs=[arrays[one], float(other)])

        return Recorded(body, {f"array_{number}": one for number, one in enumerate(arrays[:6])})

    capture = open_capture(record(tangled, tmp_path))
    for room in (NARROW, WIDE):
        for opened in (None, all_open(capture)):
            check(picture_of(capture, opened, room))


def test_the_frame_folded(frame_of: Callable[..., Path]) -> None:
    picture = picture_of(open_capture(frame_of(substeps=16, solver="reference")))
    displace, solve = picture.boxes
    assert (displace.title, displace.badge, solve.title, solve.badge) == (
        "wave_displace",
        "",
        "wave_solve",
        "×16",
    )
    assert (solve.first, solve.last, solve.can_open, solve.loops) == (1, 16, True, True)
    assert displace.y + displace.height < solve.y
    assert picture.box_of(0) == 0 and {picture.box_of(event) for event in range(1, 17)} == {1}
    by_name = {pill.names[0]: pill for pill in picture.pills if not (pill.writers and not pill.readers)}
    assert by_name["k_speed"].readers == by_name["dt"].readers == (1,)
    assert by_name["mouse_pos"].readers == (0,)
    assert by_name["clock"].readers == by_name["clock"].writers == (0,)
    outputs = {pill.names for pill in picture.pills if pill.writers == (1,)}
    assert outputs == {("heights", "heights_out"), ("heights_prev", "heights_prev_out")}
    assert picture.width < 360 and picture.height < 400  # fits a panel at the side, near a zoom of 1
    assert all(path.provenance is Provenance.KNOWN for path in picture.paths)


def test_the_frame_opened(frame_of: Callable[..., Path]) -> None:
    capture = open_capture(frame_of(substeps=16, solver="reference"))
    key = picture_of(capture).boxes[1].key
    opened = Opened().toggled(key, is_open=False)
    picture = picture_of(capture, opened)
    check(picture)
    assert len(picture.boxes) == 1 + 1 + 16
    assert [picture.boxes[picture.box_of(event)].first for event in range(17)] == list(range(17))
    links = {(picture.boxes[link.source].first, picture.boxes[link.target].first) for link in picture.links}
    assert {(4, 5), (3, 5)} <= links and (2, 5) not in links
    assert len(picture_of(capture, opened.toggled(key, is_open=True)).boxes) == 2


def test_repeated_groups_show_one_repeat_then_all(frame_of: Callable[..., Path]) -> None:
    data = repeat_operations(frame_of(substeps=4, solver="reference").read_bytes(), 8)
    capture = capture_from_bytes(data, Path("none/x.wrp"))
    picture = picture_of(capture)
    check(picture)
    group, displace, solve = picture.boxes
    assert (group.kind, group.badge, group.first, group.last) == (NodeKind.GROUP, "×8", 0, 39)
    assert picture.box_of(5) == displace.node and picture.box_of(39) == solve.node
    back = [link for link in picture.links if link.carried and link.source != link.target]
    assert [(link.source, link.target) for link in back] == [(solve.node, displace.node)]
    unrolled = picture_of(capture, Opened(frozenset({group.key})))
    check(unrolled)
    assert len(unrolled.boxes) == 1 + 8 * 3
    assert unrolled.boxes[unrolled.box_of(39)].first == 36
    closed = picture_of(capture, Opened().toggled(group.key, is_open=True))
    assert [box.full_title for box in closed.boxes] == ["wave_displace, wave_solve"]
    assert {closed.box_of(event) for event in range(40)} == {0}


def test_conditionals_are_boxes_around_their_branches(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["conditions"])
    picture = picture_of(capture)
    inside = {
        box.title: [picture.boxes[n].title for n in picture.tree.nodes[box.node].children]
        for box in picture.boxes
    }
    assert inside["WHILE left"] == ["body"] and inside["body"] == ["count_down", "IF flag"]
    assert inside["IF flag"] == ["then", "else"]
    box = picture.boxes[picture.box_of(4)]
    assert picture.at(box.x + 5, box.y + 5) is box
    closed = picture_of(capture, Opened(closed=frozenset({picture.boxes[picture.box_of(1)].key})))
    assert {closed.box_of(event) for event in (1, 2, 3, 4, 5)} == {closed.box_of(1)}


def test_the_same_input_gives_the_same_picture(frame_path: Path) -> None:
    one, other = (picture_of(open_capture(frame_path), room=WIDE) for _ in range(2))
    assert one.boxes == other.boxes and one.paths == other.paths and one.pills == other.pills


def test_parts_that_show_and_lines_under_the_pointer(frame_of: Callable[..., Path]) -> None:
    picture = picture_of(open_capture(frame_of(substeps=16, solver="reference")))
    displace, solve = picture.boxes
    boxes, _, _ = picture.visible(displace.x, displace.y, displace.x + 1, displace.y + 1)
    assert boxes.tolist() == [0]
    middle = (displace.x + displace.width / 2, (displace.y + displace.height + solve.y) / 2)
    number = picture.path_at(*middle, 3.0)
    assert number is not None
    assert (picture.paths[number].source, picture.paths[number].targets) == (0, (1,))
    assert picture.path_at(middle[0] + 30, middle[1], 3.0) is None
    assert picture.at(*middle) is None


def unfolded(frame_path: Path, repeats: int) -> tuple[Capture, tuple[Folded, ...]]:
    """A long capture in which nothing folds."""
    capture = capture_from_bytes(repeat_operations(frame_path.read_bytes(), repeats), Path("none/x.wrp"))
    operations = capture.operations
    assert isinstance(operations, LazyOperations)
    labels = [operations.labels[code] for code in operations.label_of.tolist()]
    return capture, tuple(Folded(event, label, 1) for event, label in enumerate(labels))


def test_ten_thousand_operations(frame_of: Callable[..., Path]) -> None:
    capture, folded = unfolded(frame_of(substeps=4, solver="reference"), 2000)
    flow = data_flow(capture)
    start = time.process_time()
    picture = lay_out(capture, flow, folded, room=WIDE)
    taken = time.process_time() - start
    assert len(picture.tree.node_of) == 10_000
    assert [box.first for box in picture.boxes] == list(range(0, 10_000, 1000))
    assert taken < 2.0  # 0.05 s where nothing else runs
    section = picture.boxes[3]
    opened = lay_out(capture, flow, folded, Opened(frozenset({section.key})), room=WIDE)
    assert len(opened.boxes) == 10 + 1000
    assert opened.boxes[opened.box_of(3500)].first == 3500
    ratio = opened.width / opened.height / (WIDE[0] / WIDE[1])
    assert 0.4 < ratio < 2.5  # a chain of a thousand is wrapped to the room
    assert lay_out(capture, flow, fold_capture(capture)).boxes[0].badge == "×2000"


def test_texts_are_cut_to_their_boxes() -> None:
    assert fitted("wave", 100.0, plain_width) == "wave"
    cut = fitted("w" * 100, 100.0, plain_width)
    assert cut.endswith("…") and plain_width(cut) <= 100.0 and plain_width("w" + cut) > 100.0


def test_order_can_be_shown(frame_path: Path) -> None:
    capture = open_capture(frame_path)
    flow, folded = data_flow(capture), fold_capture(capture)
    tree = tree_of(capture, folded)
    assert all(link.data for link in links_of(tree, flow))
    shown = lay_out(capture, flow, folded, order=True)
    assert len(shown.links) >= len(links_of(tree, flow))


def test_lines_end_at_what_they_join(frame_of: Callable[..., Path]) -> None:
    capture = open_capture(frame_of(substeps=16, solver="reference"))
    picture = picture_of(capture, Opened(frozenset({picture_of(capture).boxes[1].key})), WIDE)
    for path in picture.paths:
        for (x, y), (dx, dy) in path.arrows:
            assert abs(dx * dx + dy * dy - 1) < 0.02
            ends = [
                picture.boxes[n] if n >= 0 else picture.pills[-1 - n] for n in (*path.targets, path.source)
            ]
            assert ends and any(
                one.x - 0.1 <= x <= one.x + one.width + 0.1 and one.y - 0.1 <= y <= one.y + one.height + 0.1
                for one in ends
            )
        for stroke in path.strokes:
            assert len(stroke) % 3 == 1
            points = list(samples(stroke))
            assert max(abs(a[0] - b[0]) + abs(a[1] - b[1]) for a, b in pairwise(points)) < 400


@pytest.mark.parametrize("depth", [20, 200, 1000])
def test_conditionals_nested_very_deep(recorded: dict[str, Path], depth: int) -> None:
    capture = open_capture(recorded["conditions"])
    operations = capture.operations
    assert isinstance(operations, LazyOperations)
    flag = next(one.id for one in capture.regions.values() if "flag" in one.names)
    body = capture.data[int(operations.table.offsets[0]) :][: int(operations.table.sizes[0])]
    for _ in range(depth):
        body = struct.pack("<IIiIQIIII", 7, 40 + len(body), flag, 0, 0, len(body), 1, 0, 0) + body
    deep = capture_from_bytes(with_operations(capture.data, body, 1), capture.path)
    picture = picture_of(deep)
    check(picture)
    assert len(picture.tree.node_of) == depth + 1
    assert data_flow(deep).upstream(depth) == frozenset(range(depth))
