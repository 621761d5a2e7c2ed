"""Frames a second of a loaded capture, against the Python loop that it was recorded from.

Both run the same kernels on the same grid, device and pointer; the difference is what Python costs for each
launch. The live graph (recorded, never saved) shows what loading adds or saves.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from app.bench.parts import Measurement, Part, Plan, Timed, compare, time_rounds

EAGER, LIVE, LOADED, MOVED = "eager loop", "live graph", "loaded graph", "loaded, pointer moved"


class ReplayPart(Part):
    """Replays of the reference frame on square grids."""

    name = "replay"

    def measure(self, plan: Plan) -> list[Measurement]:
        """Measure each grid; the reference is the eager loop."""
        measured: list[Measurement] = []
        for side in plan.grids:
            case = f"{side}x{side}"
            plan.say(f"{self.name} {case}")
            with _frames_of(side, plan) as things:
                taken = time_rounds(things, plan.rounds, plan.seconds)
            measured += compare(self.name, case, taken, EAGER, unit="frames/s")
        return measured


@contextlib.contextmanager
def _frames_of(side: int, plan: Plan) -> Iterator[list[Timed]]:
    import warp as wp

    from capture.device import find_device
    from capture.frame import FrameSettings, record_frame, record_graph
    from capture.tank import Tank
    from replay.graph.open import open_capture
    from replay.players import open_player

    device = find_device(plan.device)
    settings = FrameSettings(width=side, height=side)
    middle = (side / 2.0, side / 2.0)
    path = record_frame(settings, plan.folder / f"bench-{side}", plan.device)
    tank, live = Tank(settings, device), record_graph(Tank(settings, device))

    def eager(count: int) -> None:
        for _ in range(count):
            tank.step()
        wp.synchronize_device(device)

    def launch_live(count: int) -> None:
        for _ in range(count):
            live.launch()
        wp.synchronize_device(device)

    with open_player(open_capture(path), str(device)) as player:

        def loaded(count: int) -> None:
            for _ in range(count):
                player.launch()
            player.synchronize()

        def moved(count: int) -> None:
            for index in range(count):
                player.set("mouse_pos", [(middle[0] + index % 7, middle[1])])
                player.launch()
            player.synchronize()

        yield [Timed(EAGER, eager), Timed(LIVE, launch_live), Timed(LOADED, loaded), Timed(MOVED, moved)]
