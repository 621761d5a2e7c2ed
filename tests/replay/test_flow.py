"""Data flow: which operation feeds which, with the right events, regions, byte ranges and provenance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from replay.graph.access import access_words, observed_operation
from replay.graph.edges import Streams, find_edges
from replay.graph.flow import EdgeKind, Flow, Scope, data_flow
from replay.graph.model import Access, Capture, Provenance
from replay.graph.open import open_capture
from replay.graph.uses import PROVENANCES, UseTable, use_table

EdgeFact = tuple[int, int, str, str]


def region(capture: Capture, name: str) -> int:
    return next(one.id for one in capture.regions.values() if name in one.names)


def facts(flow: Flow) -> set[EdgeFact]:
    edges = [flow.edge(number) for number in range(len(flow.edges))]
    return {(edge.source, edge.target, edge.kind.name, edge.scope.name) for edge in edges}


@pytest.fixture(scope="module")
def frame(frame_of: Callable[..., Path]) -> Capture:
    return open_capture(frame_of(substeps=16, solver="reference"))


@pytest.fixture(scope="module")
def flow(frame: Capture) -> Flow:
    return data_flow(frame)


def test_a_substep_reads_what_the_last_two_wrote(frame: Capture, flow: Flow) -> None:
    for event in range(3, 17):
        newest, oldest = flow.producers(event)[::-1]
        assert (oldest.source, newest.source) == (event - 2, event - 1)
        assert {oldest.region, newest.region} == {region(frame, "heights"), region(frame, "heights_prev")}
        assert (newest.start, newest.stop) == (0, 24 * 16 * 4)
        assert newest.provenance is Provenance.KNOWN


def test_the_first_substep_reads_both_fields_from_displace(frame: Capture, flow: Flow) -> None:
    assert {edge.source for edge in flow.producers(1)} == {0}
    assert {edge.region for edge in flow.producers(1)} == {
        region(frame, "heights"),
        region(frame, "heights_prev"),
    }


def test_a_substep_writes_over_what_the_one_before_reads(flow: Flow) -> None:
    after = [edge for edge in flow.incoming(5) if edge.kind is EdgeKind.WAR]
    assert [edge.source for edge in after] == [4]


def test_who_reads_and_writes_a_parameter(frame: Capture, flow: Flow) -> None:
    speed, heights = region(frame, "k_speed"), region(frame, "heights")
    assert flow.readers_of(speed) == tuple(range(1, 17))
    assert flow.writers_of(speed) == ()
    assert flow.first_readers(speed) == tuple(range(1, 17))
    assert flow.last_writers(speed) == ()
    assert flow.first_readers(heights) == (0,)
    assert flow.last_writers(region(frame, "heights_out")) == (16,)
    assert flow.last_writers(region(frame, "heights_prev_out")) == (15,)
    first = flow.usage(region(frame, "clock"))[0]
    assert (first.event, first.start, first.stop, first.access) == (0, 0, 4, Access.READ_WRITE)


def test_up_and_down(frame: Capture, flow: Flow) -> None:
    assert flow.upstream(7) == frozenset(range(7))
    assert flow.downstream(7) == frozenset(range(8, 17))
    assert flow.last_writer_before(7, region(frame, "heights_prev")) in (5, 6)
    assert flow.last_writer_before(0, region(frame, "heights")) is None
    assert flow.last_writer_before(16, region(frame, "k_damp")) is None


@pytest.mark.parametrize("watched", [False, True])
def test_uses_say_the_same_as_the_operations(recorded: dict[str, Path], watched: bool) -> None:
    for path in recorded.values():
        capture = open_capture(path)
        # As if every second event had been watched, and had changed the regions with an even number.
        even = frozenset(number for number in capture.regions if not number % 2)
        observed = dict.fromkeys(range(0, len(capture.operations), 2), even) if watched else None
        table = use_table(capture, observed=observed)
        columns = (table.event, table.region, table.start, table.stop, table.access, table.provenance)
        found = sorted(zip(*(column.tolist() for column in columns), strict=True))
        expected = sorted(
            (
                operation.event,
                use.region,
                use.offset,
                min(use.offset + use.nbytes, capture.regions[use.region].nbytes),
                use.access.value,
                PROVENANCES.index(use.provenance),
            )
            for operation in (observed_operation(one, observed) for one in capture.operations)
            for use in operation.uses
            if use.nbytes and use.access
        )
        assert found == expected, path.name


def test_views_that_do_not_touch_have_no_edge(recorded: dict[str, Path]) -> None:
    # Row 1 is bytes 24 to 48, column 2 spans 8 to 84, every second of row 3 begins at 72; then all of it.
    capture = open_capture(recorded["views"])
    flow = data_flow(capture)
    raw = {(edge[0], edge[1]) for edge in facts(flow) if edge[2] == "RAW"}
    assert raw == {(0, 1), (1, 2), (1, 3), (2, 3), (0, 3)} - {(0, 3)}
    row, column = flow.usages_of(0)[0][1], flow.usages_of(1)[0][1]
    assert ((row.start, row.stop), (column.start, column.stop)) == ((24, 48), (8, 84))
    edge = next(edge for edge in flow.producers(2) if edge.source == 1)
    assert (edge.start, edge.stop) == (72, 84)
    assert flow.writers_of(region(capture, "matrix"), 84, 96) == (2, 3)


def test_disjoint_slices(tmp_path: Path) -> None:
    from makers import Recorded, record, scale

    def slices() -> Recorded:
        whole = wp.zeros(16, dtype=float)
        low, high = whole[:8], whole[8:]

        def body() -> None:
            wp.launch(scale, 8, inputs=[low, 2.0])
            wp.launch(scale, 8, inputs=[high, 2.0])

        return Recorded(body, {"whole": whole})

    flow = data_flow(open_capture(record(slices, tmp_path)))
    assert facts(flow) == set()
    assert flow.first_readers(1) == flow.last_writers(1) == (0, 1)


def test_structs_and_index_lists(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["struct_argument"])
    flow = data_flow(capture)
    names = {name for number, _ in flow.usages_of(0) for name in capture.regions[number].names}
    assert names == {"first", "second", "out"}
    capture = open_capture(recorded["indexed"])
    listed = [number for number, _ in data_flow(capture).usages_of(0) if not capture.regions[number].names]
    assert [capture.regions[number].nbytes for number in listed] == [8]
    usage = data_flow(capture).usage(listed[0])[0]
    assert (usage.access, usage.provenance) == (Access.READ, Provenance.KNOWN)


def test_copies_replace_what_they_cover(recorded: dict[str, Path]) -> None:
    # b = a; 5 of a into b from 4 on; a cleared; vectors filled; b[2:6] filled.
    capture = open_capture(recorded["copies"])
    flow = data_flow(capture)
    assert facts(flow) == {(0, 1, "WAW", "SAME"), (0, 2, "WAR", "SAME"), (1, 2, "WAR", "SAME"),
                           (0, 4, "WAW", "SAME"), (1, 4, "WAW", "SAME")}  # fmt: skip
    over = [edge for edge in flow.incoming(4) if edge.source == 1]
    assert (over[0].start, over[0].stop, over[0].keeps) == (16, 24, False)
    assert flow.upstream(4) == frozenset()
    b = region(capture, "b")
    assert flow.last_writer_before(4, b, 16, 24) == 1
    assert flow.last_writer_before(4, b, 0, 16) == 0
    assert flow.last_writers(b) == (0, 1, 4)


def test_a_scan_reads_its_source_and_writes_its_target(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["library"])
    flow = data_flow(capture)
    assert flow.readers_of(region(capture, "numbers")) == (0, 3)
    assert flow.writers_of(region(capture, "sums")) == (0,)
    assert flow.usage(region(capture, "sums"))[0].provenance is Provenance.KNOWN


def test_conditionals(recorded: dict[str, Path]) -> None:
    # 0 scale; 1 WHILE left: 2 count_down, 3 IF flag: 4 scale, else 5 scale; 6 scale.
    capture = open_capture(recorded["conditions"])
    flow = data_flow(capture)
    assert facts(flow) == {
        (0, 1, "RAW", "SAME"), (1, 6, "RAW", "SAME"),
        (1, 2, "RAW", "ENTRY"), (2, 2, "RAW", "CARRIED"), (2, 1, "RAW", "EXIT"),
        (1, 3, "RAW", "ENTRY"), (3, 3, "RAW", "CARRIED"), (3, 1, "RAW", "EXIT"),
        (3, 4, "RAW", "ENTRY"), (3, 5, "RAW", "ENTRY"), (4, 3, "RAW", "EXIT"), (5, 3, "RAW", "EXIT"),
    }  # fmt: skip
    assert flow.condition(1) == region(capture, "left")
    assert flow.parent(4) == 3 and flow.parent(3) == 1 and flow.parent(1) is None
    assert list(flow.inside(1)) == [2, 3, 4, 5]
    assert flow.upstream(6) == frozenset(range(6))
    # The counter depends on itself and on the loop, never on what is scaled.
    assert flow.upstream(2) == {1}
    assert flow.downstream(2) == {1, 3, 4, 5, 6}
    x = region(capture, "x")
    assert flow.last_writer_before(5, x) == 0  # the other branch does not run
    assert flow.last_writer_before(6, x) == 5


def test_an_event_in_two_branches_of_one_if_feeds_only_what_follows() -> None:
    # 0 writes; 1 IF: then 2 writes, else 3 reads; 4 reads.
    streams = Streams(np.array([0, 0, 1, 2, 0]), np.array([-1, 1, 1]), np.array([False] * 3))
    uses = _uses([(0, 0, 8, 2), (2, 0, 8, 2), (3, 0, 8, 1), (4, 0, 8, 1)])
    found = Flow(uses, find_edges(uses, streams), streams, {1: 99})
    assert {(edge[0], edge[1], edge[3]) for edge in facts(found) if edge[2] == "RAW"} == {
        (0, 1, "SAME"), (1, 4, "SAME"), (2, 1, "EXIT"), (1, 3, "ENTRY")
    }  # fmt: skip
    assert (1, 2, "WAW", "ENTRY") in facts(found)
    assert found.upstream(3) == {0, 1}
    assert found.upstream(4) == {0, 1, 2}


def _uses(rows: list[tuple[int, int, int, int]]) -> UseTable:
    """Return uses of region 7 by (event, start, stop, access), all known."""
    event, start, stop, access = (np.array(column) for column in zip(*rows, strict=True))
    zeros = np.zeros(len(rows), np.int64)
    return UseTable(event, zeros + 7, start, stop, access, zeros, zeros.astype(bool))


def test_bytes_that_a_later_writer_left_still_come_from_the_earlier_one() -> None:
    streams = Streams(np.zeros(3, np.int64), np.array([-1]), np.array([False]))
    uses = _uses([(0, 0, 100, 2), (1, 40, 60, 2), (2, 0, 100, 1)])
    flow = Flow(uses, find_edges(uses, streams), streams, {})
    assert [(edge.source, edge.start, edge.stop) for edge in flow.producers(2)] == [(0, 0, 100), (1, 40, 60)]
    assert flow.upstream(2) == {0, 1}


def test_a_region_cut_too_finely_becomes_one_piece_and_nothing_is_lost() -> None:
    count = 200
    rows = [(event, event, event + 2, 2) for event in range(count)] + [(count, 0, count + 1, 1)]
    streams = Streams(np.zeros(count + 1, np.int64), np.array([-1]), np.array([False]))
    uses = _uses(rows)
    fine = find_edges(uses, streams)
    bounded = find_edges(uses, streams, most_rows=50)
    assert fine.coarse == frozenset() and bounded.coarse == {7}
    assert set(bounded.edges["provenance"].tolist()) == {PROVENANCES.index(Provenance.ASSUMED)}
    for found in (fine, bounded):
        assert Flow(uses, found, streams, {}).upstream(count) == frozenset(range(count))


def test_observation_replaces_assumption_only(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["struct_argument"])
    out = region(capture, "out")
    flow = data_flow(capture, observed={0: {out}})
    told = dict(flow.usages_of(0))
    assert (told[out].access, told[out].provenance) == (Access.READ_WRITE, Provenance.OBSERVED)
    first = told[region(capture, "first")]
    assert (first.access, first.provenance) == (Access.READ, Provenance.OBSERVED)
    assert flow.last_writers(region(capture, "first")) == ()


def test_an_argument_says_what_the_graph_says(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["struct_argument"])
    assumed = capture.operations[0]
    assert observed_operation(assumed, None) is assumed and observed_operation(assumed, {7: ()}) is assumed
    pair, out = observed_operation(
        assumed, {0: {region(capture, "out"), region(capture, "second")}}
    ).arguments
    assert [(view.access, view.access_provenance) for view in pair.arrays] == [
        (Access.READ, Provenance.OBSERVED), (Access.READ_WRITE, Provenance.OBSERVED),
    ]  # fmt: skip
    assert (pair.access, pair.access_provenance) == (Access.READ_WRITE, Provenance.OBSERVED)
    assert access_words(out.access, out.access_provenance) == "read and written, observed"
    view = assumed.arguments[1].arrays[0]
    assert access_words(view.access, view.access_provenance) == "read and written, assumed"


def test_source_says_more_than_nothing(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["launches"])
    kernel = next(one for one in capture.kernels if one.key == "scale2")
    flow = data_flow(capture, source={("scale2", kernel.module_hash): (Access.WRITE, None)})
    usage = flow.usage(region(capture, "plane"))
    assert [(use.event, use.access, use.provenance) for use in usage] == [
        (event, Access.WRITE, Provenance.KNOWN) for event in (1, 2, 3)
    ]
    assert [(edge.source, edge.kind, edge.keeps) for edge in flow.incoming(2)] == [(1, EdgeKind.WAW, True)]
    assert flow.upstream(3) == {1, 2}  # a launch need not write all of its range


def test_an_empty_capture(recorded: dict[str, Path]) -> None:
    flow = data_flow(open_capture(recorded["nothing"]))
    assert len(flow.edges) == len(flow.uses) == 0
    assert flow.usage(1) == ()


def test_carried_edges_are_marked(recorded: dict[str, Path]) -> None:
    flow = data_flow(open_capture(recorded["conditions"]))
    assert {edge.scope for edge in flow.producers(2)} == {Scope.ENTRY, Scope.CARRIED}
