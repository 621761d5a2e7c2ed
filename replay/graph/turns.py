"""Lines from what is inside a WHILE to the condition that it asks for again after each turn.

Lines between a container and what is inside of it are otherwise left out: the box says it. But that a launch
decides whether the loop goes on is seen nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from replay.graph import edges as table
from replay.graph.flow import Flow
from replay.graph.model import Capture, OpKind
from replay.graph.nodes import Tree
from replay.graph.uses import PROVENANCES

if TYPE_CHECKING:
    from replay.graph.layout import Box, Path

_INSET = 5.0  # of the line from the right border of the WHILE
_BELOW = 5.0
_HEADER = 20.0
_MOST = 300


def turn_paths(
    capture: Capture, flow: Flow, tree: Tree, boxes: Sequence[Box], box_of: np.ndarray
) -> tuple[Path, ...]:
    """Return a path for each open WHILE and each node in it that writes its condition.

    Args:
        capture: the capture.
        flow: its data flow.
        tree: the nodes.
        boxes: of the nodes.
        box_of: index of the box of each node, -1 for none.
    """
    from replay.graph.layout import Path
    from replay.graph.route import rounded

    edges = flow.edges
    back = (edges["kind"] == table.RAW) & (edges["source"] > edges["target"])
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for edge in edges[back & np.isin(edges["target"], flow.conditional_events)]:
        loop, region = int(edge["target"]), int(edge["region"])
        ends = int(box_of[tree.node_of[edge["source"]]]), int(box_of[tree.node_of[loop]])
        if region != flow.condition(loop) or -1 in ends or ends[0] == ends[1]:
            continue
        if ends not in found and (len(found) == _MOST or capture.operations[loop].kind is not OpKind.WHILE):
            continue
        found[ends] = region, max(int(edge["provenance"]), found.get(ends, (0, 0))[1])
    paths = []
    for (one, other), (region, weak) in found.items():
        source, loop_box = boxes[one], boxes[other]
        lane, right = loop_box.x + loop_box.width - _INSET, source.x + source.width
        middle, end = source.y + source.height / 2, (lane, loop_box.y + _HEADER)
        stands_between = any(
            box.x > right - 1 and box.x < lane and box.y < middle < box.y + box.height
            for box in boxes
            if not box.container
        )
        if stands_between:
            x, below = source.x + source.width * 0.85, source.y + source.height
            start = [(x, below), (x, below + _BELOW), (lane, below + _BELOW)]
        else:
            start = [(right, middle), (lane, middle)]
        paths.append(
            Path(
                (rounded([*start, end]),), ((end, (0.0, -1.0)),), one, (other,),
                (region,), True, True, PROVENANCES[weak],
            )
        )  # fmt: skip
    return tuple(paths)
