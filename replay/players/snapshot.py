"""The contents of all regions of a player at one moment, to go back to or to give to another player.

On CUDA they stay on the device. A snapshot knows nothing of names: whoever restores it needs the same
regions, as a player of the same capture with another operation stream has.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from replay.graph.model import Capture
from replay.wrp.document import parse

_numbers = itertools.count(1)


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The contents of all regions.

    Attributes:
        device: where it was taken: `cpu`, `cuda:0`, ...
        frames: launches of that player until then.
        contents: by region, uint8 arrays on the host or whatever the backend keeps.
        ready: what the backend must wait for before it reads `contents`; None if nothing.
        number: tells snapshots apart.
    """

    device: str
    frames: int
    contents: Mapping[int, Any]
    ready: Any = None
    number: int = field(default_factory=lambda: next(_numbers))

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(int(content.size) for content in self.contents.values())

    def region_bytes(self, region: int) -> np.ndarray:
        """Return a copy of a region's contents on the host, as uint8."""
        content = self.contents[region]
        return content.copy() if isinstance(content, np.ndarray) else np.array(content.numpy())


def handle_slots(capture: Capture) -> dict[int, np.ndarray]:
    """Return the bytes of each region that hold mesh handles, which mean something to one player only."""
    metadata = parse(capture.data).metadata
    slots: dict[int, list[np.ndarray]] = {}
    for record in metadata.handle_locations if metadata is not None else ():
        first, stride, count = (int(record.value[name]) for name in ("offset", "stride", "count"))
        starts = first + stride * np.arange(count)
        slots.setdefault(int(record.value["region"]), []).append((starts[:, None] + np.arange(8)).reshape(-1))
    return {region: np.concatenate(places) for region, places in slots.items()}
