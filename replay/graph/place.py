"""Places for the nodes of a picture: layers, rows, columns, containers within each other.

Each container is laid out by itself, innermost first, then its box is one of the boxes of what is around it.
Layers come from the longest path over all edges that go forward; a layer that is too wide becomes several
rows; rows fill columns. Space between rows and between columns is kept free for the lines of `route`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from replay.graph.flow import Flow
from replay.graph.layout import HEADER, PILL_HEIGHT, Box, Picture, Pill, Size, Sizes
from replay.graph.levels import (
    GAP_X,
    GAP_Y,
    LANE,
    LOOP,
    MOST_LANES,
    PAD,
    PILL_GAP,
    STRIP_GAP,
    Column,
    Level,
    Row,
)
from replay.graph.links import Link
from replay.graph.model import Capture
from replay.graph.nodes import Node, Tree

_PER_ROW = 6
_MOST_COLUMNS = 400


class Placer:
    """Lays out one picture; `x` and `y` of each node end up absolute."""

    def __init__(
        self,
        capture: Capture,
        flow: Flow,
        tree: Tree,
        links: Sequence[Link],
        sizes: Sizes,
        room: tuple[float, float],
    ) -> None:
        self.capture, self.flow, self.tree, self.links = capture, flow, tree, links
        self.sizes, self.room = sizes, room
        count = len(tree.nodes)
        self.size: list[Size] = [Size(0.0, 0.0, "", "", "")] * count
        self.x, self.y = [0.0] * count, [0.0] * count
        self.levels: dict[int, Level] = {}
        self.lifted: list[tuple[int, int, int]] = []  # level and its two members for each link
        self.loops: set[int] = set()
        self.inputs: dict[int, list[int]] = {}  # nodes by region, in reading order
        self.outputs: dict[int, list[int]] = {}

    def place(self) -> None:
        """Give every node its size and its place."""
        self._make_levels()
        self._find_ports()
        for owner in sorted(self.levels, reverse=True):
            self._lay_level(self.levels[owner])
        self._settle(self.levels[-1], 0.0, 0.0)

    def picture(self, links: Sequence[Link]) -> Picture:
        """Return the picture with the lines of some links."""
        from replay.graph.route import Router

        nodes = self.tree.nodes
        boxes = tuple(self._box(number, node) for number, node in enumerate(nodes))
        pills = self._pills()
        router = Router(self, boxes, pills)
        paths = router.paths(links)
        width, height = self.levels[-1].width, self.levels[-1].height
        return Picture(self.tree, tuple(links), boxes, pills, paths, width, height)

    def ancestor_in(self, number: int, owner: int) -> int:
        """Return the member of a level that a node is, or lies in."""
        nodes = self.tree.nodes
        while nodes[number].parent != owner:
            number = nodes[number].parent
        return number

    def _box(self, number: int, node: Node) -> Box:
        size = self.size[number]
        return Box(
            number, node.key, node.kind, self.x[number], self.y[number], size.width, size.height, size.title,
            size.subtitle, size.badge, node.title, node.first, node.last, node.can_open, node.is_open,
            bool(node.children), number in self.loops,
        )  # fmt: skip

    def _make_levels(self) -> None:
        nodes = self.tree.nodes
        self.levels[-1] = Level(-1, self.tree.roots)
        for number, node in enumerate(nodes):
            if node.children:
                self.levels[number] = Level(number, node.children)
        depth = [0] * len(nodes)
        for number, node in enumerate(nodes):
            depth[number] = depth[node.parent] + 1 if node.parent >= 0 else 0
        for index, link in enumerate(self.links):
            one, other = link.source, link.target
            if one == other:
                if link.data:
                    self.loops.add(one)
                self.lifted.append((-2, one, other))
                continue
            while depth[one] > depth[other]:
                one = nodes[one].parent
            while depth[other] > depth[one]:
                other = nodes[other].parent
            while nodes[one].parent != nodes[other].parent:
                one, other = nodes[one].parent, nodes[other].parent
            self.lifted.append((nodes[one].parent, one, other))
            self.levels[nodes[one].parent].links.append((one, other, index))

    def _find_ports(self) -> None:
        """Find the nodes that named regions enter and leave at."""
        named = {region.id for region in self.capture.regions.values() if region.names}
        node_of = self.tree.node_of
        for ports, found in ((self.flow.sources, self.inputs), (self.flow.sinks, self.outputs)):
            for region, node in zip(ports["region"].tolist(), node_of[ports["event"]].tolist(), strict=True):
                if region in named:
                    members = found.setdefault(region, [])
                    if not members or members[-1] != node:
                        members.append(node)
            for region, members in found.items():
                found[region] = sorted(set(members))

    def _lay_level(self, level: Level) -> None:
        for number in level.members:
            if number not in self.levels:
                node = self.tree.nodes[number]
                badge = f"×{node.count}" if node.count > 1 else ""
                self.size[number] = self.sizes.leaf(node.title, node.subtitle, badge, can_open=node.can_open)
        self._even_widths(level)
        self._make_rows(level)
        self._make_columns(level)
        if level.owner >= 0:
            self._close_container(level)

    def _even_widths(self, level: Level) -> None:
        """Leaves of a level are all as wide as the widest, so that a chain looks like one."""
        leaves = [number for number in level.members if number not in self.levels]
        if leaves:
            widest = max(self.size[number].width for number in leaves)
            made: dict[Size, Size] = {}
            for number in leaves:
                old = self.size[number]
                if old not in made:
                    made[old] = replace(old, width=widest)
                self.size[number] = made[old]

    def _make_rows(self, level: Level) -> None:
        layer = dict.fromkeys(level.members, 0)
        before: dict[int, list[int]] = {}
        for one, other, _ in sorted(level.links, key=lambda link: link[1]):
            if one < other:
                before.setdefault(other, []).append(one)
        for number in level.members:
            for one in before.get(number, ()):
                layer[number] = max(layer[number], layer[one] + 1)
        layers: list[list[int]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
        for number in level.members:
            layers[layer[number]].append(number)
        across: dict[int, float] = {}
        for members in layers:
            if len(members) > 1:
                # Barycentre of what they depend on; those that depend on nothing keep the order of events.
                ranks = {
                    number: sum(across[one] for one in before[number]) / len(before[number])
                    for number in members
                    if number in before
                }
                middle = sum(ranks.values()) / len(ranks) if ranks else 0.0
                members.sort(key=lambda number: (ranks.get(number, middle), number))
            for part in self._split(members):
                width = sum(self.size[number].width for number in part) + GAP_X * (len(part) - 1)
                height = max(self.size[number].height for number in part)
                for place, number in enumerate(part):
                    across[number] = place - (len(part) - 1) / 2
                    level.row_of[number] = len(level.rows)
                level.rows.append(Row(part, width, height))

    def _split(self, members: list[int]) -> list[list[int]]:
        """Split a layer into rows that are not much wider than the room."""
        limit = max(self.room[0] * 1.5, 420.0)
        parts: list[list[int]] = []
        width = 0.0
        for number in members:
            step = self.size[number].width + GAP_X
            if not parts or len(parts[-1]) == _PER_ROW or width + step > limit:
                parts.append([])
                width = 0.0
            parts[-1].append(number)
            width += step
        return parts

    def _make_columns(self, level: Level) -> None:
        rows, top = level.rows, level.owner < 0
        pills = top and bool(self.inputs or self.outputs)
        strip = self._strip_width() if pills else 0.0
        if top:
            self._pills_of_rows(level, {0: range(len(rows))})
        for row in rows:
            row.height = max(row.height, row.stack)
        total = sum(row.height + GAP_Y for row in rows)
        widest = max((row.width for row in rows), default=0.0)
        count = self._column_count(total, widest + strip + LANE * 4) if rows else 1
        groups = _fill([row.height + GAP_Y for row in rows], total / count)
        if top and len(groups) > 1:
            # In several columns an input comes again in each of them.
            self._pills_of_rows(level, dict(enumerate(groups)))
            for row in rows:
                inner = max(self.size[number].height for number in row.members)
                row.height = max(inner, row.stack)
        x = 0.0
        lanes = self._lanes(level, groups)
        for number, group in enumerate(groups):
            column = Column(list(group), x)
            y = GAP_Y if len(groups) > 1 else 0.0
            used = pills and any(rows[at].inputs or rows[at].outputs for at in group)
            column.nodes_x = x + (strip if used else 0.0)
            column.width = max(rows[at].width for at in group)
            for at in group:
                rows[at].y, rows[at].column = y, number
                y += rows[at].height + GAP_Y
            level.columns.append(column)
            level.height = max(level.height, y - GAP_Y)
            column.lanes = lanes[number]
            x = column.right + (LANE * (column.lanes + 1) if column.lanes else 0.0)
            if any(member in self.loops for at in group for member in rows[at].members):
                x = max(x, column.right + LOOP)
            x += GAP_X if number + 1 < len(groups) else 0.0
        level.width = x
        for row in rows:
            column = level.columns[row.column]
            # Rows with pills stand close to these.
            at_x = column.nodes_x + (0.0 if row.regions else (column.width - row.width) / 2)
            for number in row.members:
                self.x[number] = at_x
                self.y[number] = row.y + (row.height - self.size[number].height) / 2
                at_x += self.size[number].width + GAP_X

    def _strip_width(self) -> float:
        regions = self.capture.regions
        widths = [self.sizes.pill(regions[region].names)[0] for region in {*self.inputs, *self.outputs}]
        return max(widths, default=0.0) + STRIP_GAP

    def _pills_of_rows(self, level: Level, columns: dict[int, range]) -> None:
        """Say beside which row a named region stands: the first reader in a column, the last writer."""
        for row in level.rows:
            row.inputs, row.outputs = [], []
        column_of = {at: number for number, group in columns.items() for at in group}
        for ports, name in ((self.inputs, "inputs"), (self.outputs, "outputs")):
            for region in sorted(ports):
                places = sorted({level.row_of[self.ancestor_in(node, -1)] for node in ports[region]})
                first: dict[int, int] = {}
                for at in places if name == "inputs" else reversed(places):
                    first.setdefault(column_of[at], at)
                for at in first.values():
                    getattr(level.rows[at], name).append(region)

    def _column_count(self, total: float, width: float) -> int:
        """Return how many columns let the picture be shown largest."""
        best, count = 0.0, 1
        for columns in range(1, _MOST_COLUMNS):
            scale = min(self.room[0] / (columns * width), self.room[1] / (total / columns + GAP_Y))
            if scale <= best * 1.02:
                if columns * width / self.room[0] > (total / columns) / self.room[1]:
                    break
                continue
            best, count = scale, columns
            if scale >= 0.85 and columns == 1:
                break
        return count

    def _lanes(self, level: Level, groups: Sequence[range]) -> list[int]:
        """Return how many vertical lines the space at the right of each column must hold."""
        column_of = [number for number, group in enumerate(groups) for _ in group]
        spans: dict[tuple[int, bool], tuple[int, int]] = {}
        leaving = [0] * len(groups)
        for one, other, index in level.links:
            low, high = level.row_of[one], level.row_of[other]
            beside = high == low + 1 and column_of[low] == column_of[high]
            if beside or not self.links[index].data:
                continue
            if column_of[low] != column_of[high]:
                leaving[column_of[low]] = min(3, len(groups))
                continue
            least, most = spans.get((one, one > other), (low, low))
            spans[one, one > other] = min(least, high), max(most, high)
        change = [0] * (len(column_of) + 1)
        for least, most in spans.values():
            change[least] += 1
            change[most + 1] -= 1
        busy = list(itertools.accumulate(change))
        return [
            min(max(busy[group.start : group.stop]) + extra, MOST_LANES)
            for group, extra in zip(groups, leaving, strict=True)
        ]

    def _close_container(self, level: Level) -> None:
        node = self.tree.nodes[level.owner]
        badge = f"×{node.count}" if node.count > 1 else ""
        header = self.sizes.leaf(node.title, "", badge, can_open=node.can_open)
        width = max(level.width + 2 * PAD, header.width)
        self.size[level.owner] = Size(width, level.height + HEADER + 2 * PAD, header.title, "", badge)

    def _settle(self, level: Level, x: float, y: float) -> None:
        """Move a level to its place, and what is inside of its members with it."""
        for column in level.columns:
            column.x += x
            column.nodes_x += x
        for row in level.rows:
            row.y += y
        for number in level.members:
            self.x[number] += x
            self.y[number] += y
            inner = self.levels.get(number)
            if inner is not None:
                slack = (self.size[number].width - 2 * PAD - inner.width) / 2
                self._settle(inner, self.x[number] + PAD + slack, self.y[number] + HEADER + PAD)

    def _pills(self) -> tuple[Pill, ...]:
        level, regions = self.levels[-1], self.capture.regions
        pills: list[Pill] = []
        strip = self._strip_width() - STRIP_GAP
        seen: set[int] = set()
        for row in level.rows:
            column = level.columns[row.column]
            y = row.y + (row.height - row.stack) / 2
            for region in row.regions:
                reads, writes = region in row.inputs, region in row.outputs
                names = regions[region].names
                width, text = self.sizes.pill(names)
                readers = self._ends(self.inputs[region], row, whole=False) if reads else ()
                writers = self._ends(self.outputs[region], row, whole=True) if writes else ()
                again = reads and region in seen
                seen.update((region,) if reads else ())
                x = column.x + strip - width
                pills.append(Pill(region, names, text, again, x, y, width, PILL_HEIGHT, readers, writers))
                y += PILL_HEIGHT + PILL_GAP
        return tuple(pills)

    def _ends(self, nodes: list[int], row: Row, *, whole: bool) -> tuple[int, ...]:
        """Return what a pill is tied to: a container instead of several nodes in it.

        Args:
            nodes: all readers or writers.
            row: the row that the pill stands beside.
            whole: whether only this row counts, else its whole column.
        """
        level = self.levels[-1]
        tops = [self.ancestor_in(node, -1) for node in nodes]
        ends = [node if tops.count(top) == 1 else top for node, top in zip(nodes, tops, strict=True)]
        rows = [level.rows[level.row_of[top]] for top in tops]
        return tuple(
            dict.fromkeys(
                end
                for end, at in zip(ends, rows, strict=True)
                if at is row or (not whole and at.column == row.column)
            )
        )


def _fill(heights: list[float], target: float) -> list[range]:
    """Return ranges of rows for columns of about the same height."""
    bounds, column, height = [0], 0, 0.0
    for at, one in enumerate(heights):
        if (height + one / 2) // target > column and at > bounds[-1]:
            column = int((height + one / 2) // target)
            bounds.append(at)
        height += one
    return [
        range(begin, end)
        for begin, end in zip(bounds, [*bounds[1:], len(heights)], strict=True)
        if end > begin
    ]
