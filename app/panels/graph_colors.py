"""What the colours of the graph's boxes mean: kind, kernel, time, bytes moved, how access is known."""

from __future__ import annotations

import colorsys
import enum
import itertools

import numpy as np

from app.lab.lab import Lab
from app.panels.graph_parts import kind_color
from app.panels.widgets import byte_text
from app.theme import Packed
from replay.graph.layout import Picture
from replay.graph.nodes import CONTAINERS


class ColorBy(enum.Enum):
    """What a box's colour says."""

    KIND = "Kind"
    KERNEL = "Kernel"
    TIME = "Time"
    BYTES = "Bytes moved"
    ACCESS = "Access"


_HOT = ((0.0, (0x3B, 0x6E, 0x8F)), (0.5, (0xE8, 0xB0, 0x4B)), (1.0, (0xF0, 0x61, 0x57)))


def heat(share: float) -> int:
    """Return a packed colour from cold (0) to hot (1)."""
    share = min(max(share, 0.0), 1.0)
    for (low, first), (high, second) in itertools.pairwise(_HOT):
        if share <= high:
            part = (share - low) / (high - low)
            red, green, blue = (round(a + (b - a) * part) for a, b in zip(first, second, strict=True))
            return 0xFF000000 | blue << 16 | green << 8 | red
    return 0xFF5761F0


def hue_of(name: str) -> int:
    """Return a packed colour that always belongs to a name."""
    code = 0
    for letter in name.encode("utf-8", "replace"):
        code = (code * 31 + letter) & 0xFFFFFF
    red, green, blue = colorsys.hls_to_rgb(code * 0.618034 % 1.0, 0.62, 0.62)
    return 0xFF000000 | round(blue * 255) << 16 | round(green * 255) << 8 | round(red * 255)


def colors_of(lab: Lab, picture: Picture, by: ColorBy, colors: Packed) -> list[int]:
    """Return a packed colour for each box of a picture."""
    boxes = picture.boxes
    if by is ColorBy.KERNEL:
        return [colors.muted if box.kind in CONTAINERS else hue_of(box.full_title) for box in boxes]
    if by is ColorBy.ACCESS:
        worst = _worst_access(lab, picture)
        palette = (colors.good, colors.library, colors.library, colors.control)
        return [colors.muted if box.container else palette[worst[index]] for index, box in enumerate(boxes)]
    amounts = None
    if by is ColorBy.TIME:
        amounts = seconds_of(lab, picture)
    elif by is ColorBy.BYTES:
        amounts = _sums(lab, picture, lab.nbytes_of_events)
    if amounts is None:
        return [kind_color(box.kind, colors) for box in boxes]
    most = max(float(amounts.max(initial=0.0)), 1e-30)
    return [
        colors.muted if box.container else heat(float(amounts[index]) / most)
        for index, box in enumerate(boxes)
    ]


def legend_of(by: ColorBy, colors: Packed) -> list[tuple[int, str]]:
    """Return packed colours of boxes and what they mean."""
    if by is ColorBy.KIND:
        return [
            (colors.launch, "launch"),
            (colors.good, "copy or fill"),
            (colors.library, "library call"),
            (colors.control, "IF or WHILE"),
        ]
    if by is ColorBy.KERNEL:
        return [(colors.muted, "a colour for each kernel")]
    if by is ColorBy.ACCESS:
        return [
            (colors.good, "access known"),
            (colors.library, "observed"),
            (colors.control, "assumed (dashed lines)"),
        ]
    most = "the slowest" if by is ColorBy.TIME else "moves most"
    return [(heat(1.0), most), (heat(0.5), "half of that"), (heat(0.0), "next to nothing")]


def notes_of(lab: Lab, picture: Picture, by: ColorBy) -> dict[int, str]:
    """Return a short text for each box that has one: its time if it was measured, else its bytes if asked."""
    if by is ColorBy.BYTES:
        amounts = _sums(lab, picture, lab.nbytes_of_events)
        return {
            index: byte_text(float(amounts[index]))
            for index, box in enumerate(picture.boxes)
            if amounts[index]
        }
    amounts = seconds_of(lab, picture)
    if amounts is None or lab.profile is None:
        return {}
    measured = np.zeros(len(lab.capture.operations))
    measured[[cost.event for cost in lab.profile.events]] = 1.0  # also what was too fast to tell from nothing
    told = np.flatnonzero(_sums(lab, picture, measured)).tolist()
    return {index: time_text(float(amounts[index])) for index in told}


def time_text(seconds: float) -> str:
    """Return a time for people."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs" if seconds < 1e-4 else f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.2f} ms"


def seconds_of(lab: Lab, picture: Picture) -> np.ndarray | None:
    """Return the measured time of each box, None if nothing was measured."""
    if lab.profile is None:
        return None
    seconds = np.zeros(len(lab.capture.operations))
    for cost in lab.profile.events:
        seconds[cost.event] = cost.seconds
    return _sums(lab, picture, seconds)


def _sums(lab: Lab, picture: Picture, amounts: np.ndarray) -> np.ndarray:
    """Return the sum over the events of each box, by box."""
    nodes = np.bincount(picture.tree.node_of, weights=amounts, minlength=len(picture.tree.nodes))
    return nodes[[box.node for box in picture.boxes]] if picture.boxes else np.zeros(0)


def _worst_access(lab: Lab, picture: Picture) -> list[int]:
    """Return for each box the weakest provenance of its uses."""
    uses = lab.flow.uses
    worst = np.zeros(len(picture.tree.nodes), np.int64)
    np.maximum.at(worst, picture.tree.node_of[uses.event], uses.provenance)
    return [int(worst[box.node]) for box in picture.boxes]
