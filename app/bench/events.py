"""Looking into a frame: what a person waits for after choosing an event, against launching the frame once.

The capture is the reference frame at its own size. Choosing an event for the first time loads the operations
up to it; from the next frame on they are loaded already.
"""

from __future__ import annotations

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

FRAME, FIRST, NEXT = "launch the frame", "state after an event", "state after it, next frame"
SELECT_GOAL = 0.05  # s


class EventsPart(Part):
    """The state after the middle event, with all of the height field read."""

    name = "events"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure one capture; the reference is one launch of it."""
        from capture.frame import FrameSettings, record_frame
        from replay.events.replayer import EventReplayer
        from replay.graph.open import open_capture
        from replay.players import open_player

        settings = FrameSettings(solver="reference")  # every substep is an event
        case = f"{settings.width}x{settings.height}"
        plan.say(f"{self.name} {case}")
        capture = open_capture(record_frame(settings, plan.folder / "events", plan.device))
        event = len(capture.top_level) // 2
        with open_player(capture, plan.device) as player, EventReplayer.of_player(player) as kept:

            def launch(count: int) -> None:
                for _ in range(count):
                    player.launch()
                player.synchronize()

            def first(count: int) -> None:
                for _ in range(count):
                    with EventReplayer.of_player(player) as fresh:
                        fresh.after(event).parameter("heights")

            def following(count: int) -> None:
                for _ in range(count):
                    kept.restart(player.snapshot())
                    kept.after(event).parameter("heights")

            things = [Timed(FRAME, launch), Timed(FIRST, first), Timed(NEXT, following)]
            taken = time_rounds(things, plan.rounds, plan.seconds)
        goals = {FIRST: SELECT_GOAL, NEXT: SELECT_GOAL}
        return compare(self.name, case, taken, FRAME, unit="times/s", goals=goals)
