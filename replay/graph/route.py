"""Lines of a picture: from operation to operation, from parameter to operation, without crossing a box.

Neighbouring rows are joined by a curve in the gap between them. Everything else leaves its row into the free
space at the right of the column, runs there in a lane, and comes back; edges of one source share a lane. A
parameter that is read in many rows has one trunk at the left. Only strokes are made here, `place` left room.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from replay.graph.layout import Box, Path, Pill, Point
from replay.graph.levels import GAP_X, GAP_Y, LANE, MOST_LANES, STRIP_GAP, Level, Row
from replay.graph.links import Link
from replay.graph.model import Provenance
from replay.graph.uses import PROVENANCES

if TYPE_CHECKING:
    from replay.graph.place import Placer

_RADIUS = 7.0
_TRUNKS = 3
Stroke = tuple[Point, ...]
DOWN, LEFT, RIGHT = (0.0, 1.0), (-1.0, 0.0), (1.0, 0.0)


def rounded(points: Sequence[Point], radius: float = _RADIUS) -> Stroke:
    """Return a line of horizontal and vertical pieces as Bezier segments with round corners."""
    kept = [points[0]]
    for point in points[1:]:
        if point != kept[-1]:
            kept.append(point)
    stroke = [kept[0]]
    for number in range(1, len(kept)):
        before, corner = kept[number - 1], kept[number]
        if number == len(kept) - 1:
            _straight(stroke, corner)
            break
        after = kept[number + 1]
        first, second = math.dist(before, corner), math.dist(corner, after)
        cut = min(radius, first / 2, second / 2)
        start, end = _toward(corner, before, cut / first), _toward(corner, after, cut / second)
        _straight(stroke, start)
        stroke += [_toward(start, corner, 0.55), _toward(end, corner, 0.55), end]
    return tuple(stroke)


def _straight(stroke: list[Point], end: Point) -> None:
    start = stroke[-1]
    stroke += [_toward(start, end, 1 / 3), _toward(start, end, 2 / 3), end]


def _toward(start: Point, end: Point, share: float) -> Point:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def samples(stroke: Stroke, steps: int = 8) -> Iterable[Point]:
    """Yield points along a stroke."""
    yield stroke[0]
    for at in range(0, len(stroke) - 1, 3):
        (x0, y0), (x1, y1), (x2, y2), (x3, y3) = stroke[at : at + 4]
        for step in range(1, steps + 1):
            t = step / steps
            s = 1 - t
            a, b, c, d = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
            yield a * x0 + b * x1 + c * x2 + d * x3, a * y0 + b * y1 + c * y2 + d * y3


def distance(path: Path, point: Point) -> float:
    """Return how far a point is from a path."""
    best = math.inf
    for stroke in path.strokes:
        before: Point | None = None
        for place in samples(stroke):
            if before is not None:
                best = min(best, _from_segment(point, before, place))
            before = place
    return best


def _from_segment(point: Point, start: Point, end: Point) -> float:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    share = ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / length if length else 0.0
    return math.dist(point, _toward(start, end, min(max(share, 0.0), 1.0)))


class Router:
    """Makes the paths of one picture."""

    def __init__(self, placer: Placer, boxes: Sequence[Box], pills: Sequence[Pill]) -> None:
        self._placer, self._boxes, self._pills = placer, boxes, pills
        self._lane_of: dict[tuple[int, int, bool], int] = {}
        self._weak = _weak_ports(placer)

    def paths(self, links: Sequence[Link]) -> tuple[Path, ...]:
        """Return the paths of pills, then of links."""
        found = [self._pill_path(number) for number in range(len(self._pills))]
        lifted = {
            id(link): place for link, place in zip(self._placer.links, self._placer.lifted, strict=True)
        }
        # What lies in containers is joined from container to container, and once.
        shared: dict[tuple[int, int, bool, bool], dict[int, list[Link]]] = {}
        for link in links:
            owner, one, other = lifted[id(link)]
            if owner == -2:
                found.append(self._loop(link))
            else:
                ends = shared.setdefault((owner, one, one > other, link.data), {})
                ends.setdefault(other, []).append(link)
        for (owner, one, carried, data), ends in shared.items():
            drawn = [self._between(self._placer.levels[owner], one, other) for other in ends]
            parts = [link for joined in ends.values() for link in joined]
            regions, weak = parts[0].regions, parts[0].provenance
            if len(parts) > 1:
                regions = tuple(sorted({region for link in parts for region in link.regions}))
                weak = max((link.provenance for link in parts), key=PROVENANCES.index)
            strokes, arrows = zip(*drawn, strict=True)
            found.append(Path(strokes, arrows, one, tuple(ends), regions, data, carried, weak))
        return tuple(found)

    def _loop(self, link: Link) -> Path:
        box = self._boxes[link.source]
        right, middle = box.x + box.width, box.y + box.height / 2
        out, half = right + 13.0, min(6.0, box.height / 4)
        stroke = (
            (right, middle - half),
            (out, middle - half - 4),
            (out, middle + half + 4),
            (right, middle + half),
        )
        arrow = ((right, middle + half), (-0.94, -0.34))
        return Path(
            (stroke,), (arrow,), link.source, (link.source,), link.regions, link.data, True, link.provenance
        )  # fmt: skip

    def _between(self, level: Level, one: int, other: int) -> tuple[Stroke, tuple[Point, Point]]:
        """Return a stroke from one member of a level to another, and its arrow."""
        source, target = self._boxes[one], self._boxes[other]
        at, to = level.row_of[one], level.row_of[other]
        from_row, to_row = level.rows[at], level.rows[to]
        if from_row.column == to_row.column and to == at + 1:
            x, goal_x = source.x + source.width / 2, target.x + target.width / 2
            # A wide container is met where the other end is.
            if target.container:
                goal_x = min(max(x, target.x + 20.0), target.x + target.width - 20.0)
            elif source.container:
                x = min(max(goal_x, source.x + 20.0), source.x + source.width - 20.0)
            start, end = (x, source.y + source.height), (goal_x, target.y)
            # The curve bends in the gap only: a row may hold lower boxes beside higher ones.
            leave, arrive = from_row.y + from_row.height, to_row.y
            bend = (leave + arrive) / 2
            stroke: list[Point] = [start]
            if leave > start[1]:
                _straight(stroke, (start[0], leave))
            stroke += [(start[0], bend), (end[0], bend), (end[0], arrive)]
            if end[1] > arrive:
                _straight(stroke, end)
            return tuple(stroke), (end, DOWN)
        column, goal = level.columns[from_row.column], level.columns[to_row.column]
        lane = self._lane(level, one, one > other, from_row.column)
        lane_x = column.right + LANE * (1 + lane)
        shift = GAP_Y * 0.22 + (lane % 4) * 1.6
        points: list[Point]
        if from_row.members[-1] == one:
            y = source.y + source.height / 2 + (4.0 if other > one else -4.0)
            points = [(source.x + source.width, y), (lane_x, y)]
        else:
            x = source.x + source.width * 0.75
            below = from_row.y + from_row.height + shift
            points = [(x, source.y + source.height), (x, below), (lane_x, below)]
        if from_row.column == to_row.column and to_row.members[-1] == other:
            y = target.y + target.height / 2 + (-4.0 if other > one else 4.0)
            end = (target.x + target.width, y)
            return rounded([*points, (lane_x, y), end]), (end, LEFT)
        x, above = target.x + target.width * 0.75, to_row.y - shift
        if to_row.column not in (from_row.column, from_row.column + 1):
            # Over the top of the columns between, and down beside the goal.
            over = (
                min(row.y for row in (level.rows[column.rows[0]] for column in level.columns)) - shift - 4.0
            )
            beside = goal.nodes_x - 4.0 - (lane % 3) * 2
            points += [(lane_x, over), (beside, over), (beside, above)]
        else:
            points.append((lane_x, above))
        end = (x, target.y)
        return rounded([*points, (x, above), end]), (end, DOWN)

    def _lane(self, level: Level, source: int, back: bool, column: int) -> int:
        """Return the lane of a source: nested ones further out, as long as there is room."""
        key = (level.owner, source, back)
        if key not in self._lane_of:
            row = level.row_of[source] - level.columns[column].rows[0]
            lanes = min(max(level.columns[column].lanes, 1), MOST_LANES)
            self._lane_of[key] = (row + (1 if back else 0)) % lanes
        return self._lane_of[key]

    def _pill_path(self, number: int) -> Path:
        """Return the lines of a pill: to what reads it, from what writes it."""
        pill, placer = self._pills[number], self._placer
        level = placer.levels[-1]
        strokes, arrows = [], []
        ends = tuple(dict.fromkeys((*pill.readers, *pill.writers)))
        for index, node in enumerate(ends):
            top = placer.ancestor_in(node, -1)
            row = level.rows[level.row_of[top]]
            stroke = self._from_pill(pill, number, node, top, row, direct=index == 0)
            strokes.append(stroke)
            if node in pill.readers:
                end, last = stroke[-1], stroke[-2]
                length = math.dist(end, last) or 1.0
                arrows.append((end, ((end[0] - last[0]) / length, (end[1] - last[1]) / length)))
            if node in pill.writers:
                arrows.append((stroke[0], LEFT))
        weak = max(
            (self._weak.get((pill.region, is_output), Provenance.KNOWN)
             for is_output, tied in ((False, pill.readers), (True, pill.writers)) if tied),
            key=PROVENANCES.index,
        )  # fmt: skip
        source, targets = (-1 - number, ends) if pill.readers else (ends[0], (-1 - number,))
        return Path(tuple(strokes), tuple(arrows), source, targets, (pill.region,), True, False, weak)

    def _from_pill(self, pill: Pill, number: int, node: int, top: int, row: Row, *, direct: bool) -> Stroke:
        start = (pill.x + pill.width, pill.y + pill.height / 2)
        level = self._placer.levels[-1]
        column = level.columns[row.column]
        trunk = column.nodes_x - STRIP_GAP + 7.0 + (number % _TRUNKS) * 5.0
        if row.members[0] != top:
            # Something stands between: come from above.
            box = self._boxes[top]
            above = row.y - GAP_Y * 0.3 - (number % _TRUNKS) * 2.0
            x = box.x + box.width * 0.25
            return rounded([start, (trunk, start[1]), (trunk, above), (x, above), (x, box.y)])
        box = self._boxes[node if self._is_left(node) else top]
        end = (box.x, self._port(pill, number, box))
        if direct and box.node == top:
            half = (end[0] - start[0]) / 2
            reach = min(half, STRIP_GAP)
            near = (start[0] + (end[0] - start[0]) - 2 * reach, end[1])
            if near[0] > start[0] + 1 and abs(start[1] - end[1]) > 1:
                # First to the height of the port, then straight to the box.
                turn = start[0] + 2 * reach
                return (start, (start[0] + reach, start[1]), (turn - reach, end[1]), (turn, end[1]),
                        *_line((turn, end[1]), end))  # fmt: skip
            return start, (start[0] + half, start[1]), (end[0] - half, end[1]), end
        return rounded([start, (trunk, start[1]), (trunk, end[1]), end])

    def _port(self, pill: Pill, number: int, box: Box) -> float:
        """Return where at the left side of a box a pill's line ends: those of one row side by side."""
        mates = [
            other
            for other in range(max(number - 24, 0), min(number + 25, len(self._pills)))
            if self._pills[other].x + self._pills[other].width == pill.x + pill.width
            and box.node in (*self._pills[other].readers, *self._pills[other].writers)
        ]
        if box.container:
            low, high = box.y + 12.0, box.y + box.height - 12.0
            return min(max(pill.y + pill.height / 2, low), high)
        step = min(7.0, (box.height - 10.0) / max(len(mates), 1))
        place = mates.index(number) if number in mates else 0
        return box.y + box.height / 2 + (place - (len(mates) - 1) / 2) * step

    def _is_left(self, node: int) -> bool:
        """Whether nothing stands between a node and the left border of the picture's column."""
        nodes, levels = self._placer.tree.nodes, self._placer.levels
        while nodes[node].parent >= 0:
            level = levels[nodes[node].parent]
            row = level.rows[level.row_of[node]]
            if row.members[0] != node or row.column:
                return False
            node = nodes[node].parent
        return True


def _line(start: Point, end: Point) -> Stroke:
    return _toward(start, end, 1 / 3), _toward(start, end, 2 / 3), end


def _weak_ports(placer: Placer) -> dict[tuple[int, bool], Provenance]:
    found: dict[tuple[int, bool], Provenance] = {}
    for ports, is_output in ((placer.flow.sources, False), (placer.flow.sinks, True)):
        weakest: dict[int, int] = {}
        for region, code in zip(ports["region"].tolist(), ports["provenance"].tolist(), strict=True):
            weakest[region] = max(weakest.get(region, 0), code)
        found |= {(region, is_output): PROVENANCES[code] for region, code in weakest.items()}
    return found


MARGIN = GAP_X
"""Free space that a viewer should leave around a picture."""
