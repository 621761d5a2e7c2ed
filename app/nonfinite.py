"""The first event after which a value is not finite, as text and as JSON. `replay.events.finite` finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replay.text import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from replay.events.finite import FirstNotFinite, NotFinite
    from replay.graph.model import Capture
    from replay.players.base import Player

_CELLS = 8  # of a region that are named


@dataclass(frozen=True)
class Search:
    """What a search found.

    Attributes:
        frame: the frame looked at event by event, from 1: that of the first value, else the last one.
        found: None if all values are finite.
    """

    frame: int
    found: FirstNotFinite | None


def search(player: Player, frames: int) -> Search:
    """Replay frames until a value is not finite at the end of one, and look at that one event by event.

    The last frame is looked at event by event in any case; of those before, a value that is overwritten
    within its frame goes unnoticed.

    Args:
        player: launched up to the start of the first frame.
        frames: how many to look at, 1 or more.

    Raises:
        ReplayError: the operations cannot be loaded or launched.
    """
    from replay.events.finite import first_not_finite, not_finite

    start = player.snapshot()
    for frame in range(1, frames + 1):
        if frame == frames or not_finite(player.capture, start):
            break
        player.launch()
        after = player.snapshot()
        if not_finite(player.capture, after):
            break
        start = after
    return Search(frame, first_not_finite(player.capture, start))


def report(capture: Capture, result: Search) -> str:
    """Return the account for people."""
    found, lines = result.found, []
    if found is None:
        lines.append(f"all values are finite, up to the end of frame {result.frame}")
    elif found.event is None:
        lines.append(f"no event of frame {result.frame} makes a value that is not finite")
    else:
        turns = "".join(
            f", in iteration {turn} of the WHILE of event {loop}" for loop, turn in found.iterations.items()
        )
        label = printable(capture.operations[found.event].label)
        lines.append(f"first not finite after event {found.event}, {label}{turns}, of frame {result.frame}")
        lines += [_line(capture, item) for item in found.made]
    if found is not None and found.before:
        lines.append("not finite before it, at the start of the frame:")
        lines += [_line(capture, item) for item in found.before]
    if found is not None and not found.exact:
        lines.append("note: not every event was looked at; a value that was overwritten may lie before")
    if unknown := _unknown(capture):
        lines.append(f"note: {counted(len(unknown), 'region')} of unknown type could not be looked at")
    return "\n".join(lines)


def to_json(capture: Capture, result: Search, device: str) -> dict[str, Any]:
    """Return the account as a JSON object."""
    found = result.found
    event = None if found is None else found.event
    return {
        "path": str(capture.path),
        "device": device,
        "finite": found is None,
        "frame": result.frame,
        "event": event,
        "label": None if event is None else capture.operations[event].label,
        "iterations": {} if found is None else {str(loop): turn for loop, turn in found.iterations.items()},
        "exact": found is None or found.exact,
        "made": [] if found is None else [_item(capture, item) for item in found.made],
        "before": [] if found is None else [_item(capture, item) for item in found.before],
        "not_looked_at": _unknown(capture),
    }


def _line(capture: Capture, item: NotFinite) -> str:
    region = capture.regions[item.region]
    name = printable(", ".join(region.names)) or "(no name)"
    cells = [tuple(cell) if len(cell) != 1 else cell[0] for cell in item.cells(_CELLS).tolist()]
    more = ", ..." if int(item.mask.sum()) > len(cells) else ""
    guess = "" if item.provenance.value == "known" else f", its type {item.provenance.value}"
    return (
        f"  region {item.region} {name}: {counted(int(item.mask.sum()), 'cell')} of {item.mask.size:,} "
        f"({item.nan} NaN, {item.infinite} infinite{guess}): {', '.join(map(str, cells))}{more}"
    )


def _item(capture: Capture, item: NotFinite) -> dict[str, Any]:
    return {
        "region": item.region,
        "names": list(capture.regions[item.region].names),
        "cells": int(item.mask.sum()),
        "of": int(item.mask.size),
        "nan": item.nan,
        "infinite": item.infinite,
        "type_provenance": item.provenance.value,
        "first_cells": item.cells(_CELLS).tolist(),
    }


def _unknown(capture: Capture) -> Sequence[int]:
    return [ident for ident, region in sorted(capture.regions.items()) if region.element is None]
