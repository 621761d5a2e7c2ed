"""Opening a capture of very many operations, against what Warp takes to load the same bytes.

The capture is the reference frame with its launches repeated. Opening parses and checks all of it; looking
at every operation makes the object a person sees for each.
"""

from __future__ import annotations

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

READ, OPEN, LOOK = "read the bytes", "open", "open, look at all"
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
        # beside the short one, whose folder of modules the reader checks
        path = plan.folder / "long.wrp"
        (plan.folder / "short_modules").rename(plan.folder / "long_modules")
        path.write_bytes(repeat_operations(short.read_bytes(), plan.operations))

        def read(count: int) -> None:
            for _ in range(count):
                hashlib.sha256(path.read_bytes()).digest()

        def open_all(count: int) -> None:
            for _ in range(count):
                open_capture(path)

        def look(count: int) -> None:
            for _ in range(count):
                for operation in open_capture(path).operations:
                    operation.label  # noqa: B018  # looking is what is timed

        taken = time_rounds([Timed(READ, read), Timed(OPEN, open_all), Timed(LOOK, look)], plan.rounds, 0.0)
        goals = {OPEN: OPEN_GOAL * max(plan.operations / 100_000, 0.1)}
        return compare(
            self.name, case, taken, READ, unit="operations/s", amount=float(plan.operations), goals=goals
        )
