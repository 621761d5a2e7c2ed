"""Opening a capture of very many operations, against reading and hashing the same bytes.

The capture is the reference frame with its launches repeated. Opening parses and checks all of it; looking
at an operation makes the object that a person sees.
"""

from __future__ import annotations

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

READ, OPEN, LOOK = "read the bytes", "open", "open, look at 1,000"
LOOKED_AT = 1000
OPEN_GOAL = 1.0  # s for 100,000 operations


class ReaderPart(Part):
    """The reader on a long stream; the reference is reading the file and hashing its bytes."""

    name = "reader"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure one capture of `plan.operations` operations."""
        import hashlib

        from capture.frame import FrameSettings, record_frame
        from replay.graph.open import open_capture
        from replay.wrp.write import repeat_operations

        case = f"{plan.operations:,} operations"
        plan.say(f"{self.name} {case}")
        short = record_frame(FrameSettings(), plan.folder / "short", "cpu")
        path = plan.folder / "long.wrp"
        launches = len(open_capture(short).top_level)
        path.write_bytes(repeat_operations(short.read_bytes(), -(-plan.operations // launches)))
        # the reader checks the modules beside the file, so the long one needs them too
        (plan.folder / "short_modules").rename(plan.folder / "long_modules")

        def read(count: int) -> None:
            for _ in range(count):
                hashlib.sha256(path.read_bytes()).digest()

        def open_all(count: int) -> None:
            for _ in range(count):
                open_capture(path)

        def look(count: int) -> None:
            for _ in range(count):
                operations = open_capture(path).operations
                for event in range(min(LOOKED_AT, len(operations))):
                    operations[event]

        taken = time_rounds([Timed(READ, read), Timed(OPEN, open_all), Timed(LOOK, look)], plan.rounds, 0.0)
        goals = {OPEN: OPEN_GOAL * max(plan.operations / 100_000, 0.1)}
        return compare(
            self.name, case, taken, READ, unit="operations/s", amount=float(plan.operations), goals=goals
        )
