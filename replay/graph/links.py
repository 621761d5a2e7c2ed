"""Edges between the nodes of a picture: all edges between the operations that two nodes stand for, as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from replay.graph import edges as table
from replay.graph.flow import Flow
from replay.graph.model import Provenance
from replay.graph.nodes import Node, Tree
from replay.graph.uses import PROVENANCES


@dataclass(frozen=True)
class Link:
    """All edges from one node to another.

    Attributes:
        source, target: numbers of nodes; equal for a node whose repeats feed each other.
        data: whether data flows; else only the order matters.
        carried: from a repeat, or a turn of a WHILE, to a later one: it goes against the reading direction.
        regions: ids of the regions involved, ascending.
        provenance: the weakest of its edges.
        edges: how many edges between events it stands for.
    """

    source: int
    target: int
    data: bool
    carried: bool
    regions: tuple[int, ...]
    provenance: Provenance
    edges: int


def links_of(tree: Tree, flow: Flow, *, order: bool = False) -> tuple[Link, ...]:
    """Return the edges between nodes, sorted by source and target.

    Edges between a container and what is inside of it are left out: the box says it.

    Args:
        tree: the nodes.
        flow: the data flow of the same capture.
        order: whether pairs that are only ordered (write after read, write after write) count too.
    """
    edges = flow.edges
    follow = edges["kind"] == table.RAW
    if not order:
        edges = edges[follow]
    if not len(edges):
        return ()
    source, target = tree.node_of[edges["source"]], tree.node_of[edges["target"]]
    count = len(tree.nodes)
    key = source * count + target
    rank = np.argsort(key, kind="stable")
    pairs, begin = np.unique(key[rank], return_index=True)
    data = np.logical_or.reduceat(edges["kind"][rank] == table.RAW, begin)
    provenance = np.maximum.reduceat(edges["provenance"][rank], begin)
    region = edges["region"][rank].tolist()
    ends = np.append(begin[1:], len(rank))
    ancestors = [frozenset(_above(tree.nodes, number)) for number in range(count)] if _nested(tree) else []
    links = []
    for pair, low, high, flows, weak in zip(
        pairs.tolist(), begin.tolist(), ends.tolist(), data.tolist(), provenance.tolist(), strict=True
    ):
        one, other = divmod(pair, count)
        if ancestors and (one in ancestors[other] or other in ancestors[one]):
            continue
        regions = tuple(sorted(set(region[low:high])))
        links.append(Link(one, other, flows, other <= one, regions, PROVENANCES[weak], high - low))
    return tuple(links)


def _nested(tree: Tree) -> bool:
    return any(node.children for node in tree.nodes)


def _above(nodes: Sequence[Node], number: int) -> list[int]:
    found = []
    while (number := nodes[number].parent) >= 0:
        found.append(number)
    return found
