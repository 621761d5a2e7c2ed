"""Which arrays of a capture can be shown, and which of them to begin with: a large one that changes.

Values and a player's reads; nothing here draws.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

from app.arrays.ways import Way, ways_of
from app.lab.contents import Typing
from app.scene import Scene
from replay.errors import ReplayError
from replay.graph.model import NO_REGION, Capture, OpKind, Region

_MOST_COMPARED = 64 << 20
"""Bytes that are compared at most to see what changes."""
_OPERATIONS_ASKED = 256
_SPOKEN = re.compile(
    r"(^|_)(pos|position|positions|points|particle_q|body_q|q|x|out|output|image|pixels|frame)(_|$)"
)
"""Names that people give to what they want to see."""


@dataclass(frozen=True)
class Candidate:
    """An array that can be shown: its region, its names or `region N`, and what is known of it."""

    region: int
    label: str
    typing: Typing
    named: bool


def candidates_of(scene: Scene) -> list[Candidate]:
    """Return the arrays that have contents to show: named ones in the file's order, then the others."""
    named: list[Candidate] = []
    others: list[Candidate] = []
    capture = scene.capture
    order = {binding.region: place for place, binding in enumerate(reversed(capture.bindings))}
    for region in capture.regions.values():
        if not region.nbytes or region.id == NO_REGION:
            continue
        if scene.player is None and region.data_offset is None:
            continue  # looked at only: the file is all there is
        typing = Typing.of_region(region)
        label = " = ".join(region.names) or f"region {region.id}"
        (named if region.names else others).append(Candidate(region.id, label, typing, bool(region.names)))
    named.sort(key=lambda item: -order.get(item.region, -1))
    return named + others


def first_choice(scene: Scene, candidates: list[Candidate], changed: frozenset[int]) -> Candidate | None:
    """Return the array that is most likely meant: one that changes, is named, and has much to see.

    Args:
        scene: what is open.
        candidates: what there is to choose from.
        changed: regions that are seen to change, empty if none is known to.
    """
    written = _outputs(scene.capture)

    def rank(candidate: Candidate) -> tuple[float, ...]:
        typing = candidate.typing
        cells = math.prod(typing.shape) if typing.shape else scene.capture.regions[candidate.region].nbytes
        inner = math.prod(typing.element.inner_shape)
        # Counters and lists of neighbours are often the largest arrays, and tell the least.
        weight = {"f": 1.0, "u": 1.0 if typing.element.nbytes == 1 else 1 / 16}.get(
            typing.element.scalar.kind, 1 / 16
        )
        spoken = any(_SPOKEN.search(name.lower()) for name in scene.capture.regions[candidate.region].names)
        seen = cells > 1
        return (
            seen,
            2 * (candidate.region in changed) + (candidate.region in written),
            candidate.named,
            cells * min(inner, 4) * weight * (2.0 if spoken else 1.0),
        )

    return max(candidates, key=rank, default=None)


def none_sentence(capture: Capture, candidates: list[Candidate]) -> str:
    """Return why a capture has no array to show, empty if it has one."""
    if candidates:
        return ""
    if not capture.regions:
        return "This capture holds no memory, so there is no array to show."
    return "No array of this capture has contents that could be shown."


def check_something_to_show(scene: Scene) -> None:
    """Refuse a picture of a capture in which there is nothing to see, before anything is replayed.

    Raises:
        ReplayError: it has no height field and no array.
    """
    sentence = none_sentence(scene.capture, candidates_of(scene))
    if sentence and not scene.is_water:
        raise ReplayError(
            f"{scene.capture.path} cannot be pictured: {sentence.rstrip('.')}",
            remedy="'ripplescope inspect' shows what it holds",
        )


def changed_regions(scene: Scene, candidates: list[Candidate]) -> frozenset[int]:
    """Return which arrays no longer hold what the file does; looks at so many bytes at most."""
    player = scene.player
    if player is None or not player.frames:
        return frozenset()
    found, left = set(), _MOST_COMPARED
    for candidate in candidates:
        nbytes = scene.capture.regions[candidate.region].nbytes
        if nbytes > left:
            continue
        left -= nbytes
        now, first = player.region_bytes(candidate.region), player.initial_bytes(candidate.region)
        if not np.array_equal(now, first):
            found.add(candidate.region)
    return frozenset(found)


def known_shape(capture: Capture, region: Region, typing: Typing) -> tuple[int, int] | None:
    """Return rows and columns of a one-dimensional array, where a launch over as many cells tells them."""
    count = math.prod(typing.shape) if typing.shape else 0
    if len(typing.shape) != 1 or count < 64:
        return None
    grid = capture.manifest.grid if capture.manifest is not None else None
    if grid is not None and grid.width * grid.height == count and min(grid.width, grid.height) > 1:
        return grid.height, grid.width
    for event in range(min(len(capture.operations), _OPERATIONS_ASKED)):
        operation = capture.operations[event]
        if operation.kind is not OpKind.KERNEL_LAUNCH or len(operation.shape) != 2:
            continue
        rows, columns = operation.shape
        fits = rows * columns == count and min(rows, columns) > 1
        if fits and any(use.region == region.id for use in operation.uses):
            return rows, columns
    return None


def ways_for(typing: Typing, nbytes: int, known: tuple[int, int] | None) -> tuple[Way, ...]:
    """Return how a region of a size can be drawn under a typing."""
    return ways_of(typing.element, shape_for(typing, nbytes), known)


def shape_for(typing: Typing, nbytes: int) -> tuple[int, ...]:
    """Return the shape of what `contents_of` gives for a region of so many bytes."""
    count = nbytes // typing.element.nbytes
    return typing.shape if typing.shape and math.prod(typing.shape) <= count else (count,)


def _outputs(capture: Capture) -> frozenset[int]:
    """Return the regions that are outputs: as the manifest says, else what operations are known to write."""
    manifest = capture.manifest
    if manifest is None:
        return frozenset()
    roles = {entry.name: entry.role for entry in manifest.parameters}
    return frozenset(
        region.id
        for region in capture.regions.values()
        if any(roles.get(name) in ("output", "both") for name in region.names)
    )
