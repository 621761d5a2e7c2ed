"""From a file to the picture of its graph, for captures of very many operations, against opening alone.

The captures are the reference frame with its launches repeated, as in the reader's part. Folded is what a
person sees first; of the unfolded picture the first thousand operations are opened.
"""

from __future__ import annotations

from collections.abc import Callable

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

OPEN, FLOW, FOLDED, OPENED, ALL = (
    "open", "find the data flow", "lay out folded", "lay out 1,000 open", "open to picture",
)  # fmt: skip
COUNTS = (10_000, 100_000)
ALL_GOAL = 1.0  # s for 10,000 operations


class GraphPart(Part):
    """Data flow, folding and layout of long captures."""

    name = "graph"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure captures of 10,000 operations and, unless the run is a quick one, of 100,000."""
        measured = []
        for count in COUNTS:
            if count <= plan.operations:
                measured += self._measure(plan, count)
        return measured

    def _measure(self, plan: Plan, count: int) -> list[Measurement]:
        from capture.frame import FrameSettings, record_frame
        from replay.graph.flow import data_flow
        from replay.graph.fold import Folded, fold_capture
        from replay.graph.layout import lay_out
        from replay.graph.nodes import Opened
        from replay.graph.open import open_capture
        from replay.graph.operations import LazyOperations
        from replay.wrp.write import repeat_operations

        case = f"{count:,} operations"
        plan.say(f"{self.name} {case}")
        settings = FrameSettings(solver="reference")
        short = record_frame(settings, plan.folder / f"graph{count}", "cpu")
        launches = len(open_capture(short).top_level)
        short.write_bytes(repeat_operations(short.read_bytes(), -(-count // launches)))
        capture = open_capture(short)
        flow, folded = data_flow(capture), fold_capture(capture)
        operations = capture.operations
        assert isinstance(operations, LazyOperations)
        labels = [operations.labels[code] for code in operations.label_of.tolist()]
        flat = tuple(Folded(event, label, 1) for event, label in enumerate(labels))
        sections = lay_out(capture, flow, flat)
        opened = Opened(frozenset({sections.boxes[0].key}))

        def everything() -> None:
            fresh = open_capture(short)
            lay_out(fresh, data_flow(fresh), fold_capture(fresh))

        things = {
            OPEN: lambda: open_capture(short),
            FLOW: lambda: data_flow(capture),
            FOLDED: lambda: lay_out(capture, flow, folded),
            OPENED: lambda: lay_out(capture, flow, flat, opened),
            ALL: everything,
        }
        timed = [Timed(name, _repeated(thing)) for name, thing in things.items()]
        taken = time_rounds(timed, plan.rounds, 0.0)
        goals = {ALL: ALL_GOAL} if count == COUNTS[0] else {}
        return compare(self.name, case, taken, OPEN, unit="times/s", goals=goals)


def _repeated(thing: Callable[[], object]) -> Callable[[int], None]:
    def run(count: int) -> None:
        for _ in range(count):
            thing()

    return run
