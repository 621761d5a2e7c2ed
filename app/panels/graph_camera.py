"""Where the graph's picture lies in its panel: pan, zoom, fit. Values only.

Picture units are those of `replay.graph.layout`; window units are relative to the panel's corner.
"""

from __future__ import annotations

from dataclasses import dataclass

MARGIN = 12.0
READABLE = 0.94
"""At this zoom the titles of a picture are 12 pixels high; smaller text is never drawn smaller than that."""
_ZOOM = (0.01, 3.0)
_NEARLY = 0.42  # a smaller one is well if then all can be seen
_SLIDE = 0.25  # share of the way that is left after each frame of a slide

Point = tuple[float, float]
Rect = tuple[float, float, float, float]


@dataclass
class GraphCamera:
    """Pan and zoom.

    Attributes:
        zoom: window units a picture unit.
        origin: where the picture's (0, 0) lies, in window units.
        goal: where the origin is sliding to, None at rest.
    """

    zoom: float = 1.0
    origin: Point = (0.0, 0.0)
    goal: Point | None = None

    def fit(self, size: Point, room: Point, scale: float) -> None:
        """Show the whole picture, or its top at a zoom at which texts can be read."""
        width, height = max(size[0], 1.0), max(size[1], 1.0)
        margin = MARGIN * scale
        fit = min((room[0] - 2 * margin) / width, (room[1] - 2 * margin) / height)
        zoom = fit if fit >= _NEARLY * scale else READABLE * scale
        self.show(size, room, min(zoom, 1.35 * scale), scale)

    def fit_all(self, size: Point, room: Point, scale: float) -> None:
        """Show the whole picture, however small it becomes."""
        margin = MARGIN * scale
        fit = min((room[0] - 2 * margin) / max(size[0], 1.0), (room[1] - 2 * margin) / max(size[1], 1.0))
        self.show(size, room, min(max(fit, _ZOOM[0]), 1.35 * scale), scale)

    def show(self, size: Point, room: Point, zoom: float, scale: float) -> None:
        """Show the picture's top at a zoom, centred where it is narrower than the panel."""
        self.zoom, self.goal = zoom, None
        margin = MARGIN * scale
        width, height = size[0] * zoom, size[1] * zoom
        if width + 2 * margin <= room[0]:
            x = (room[0] - width) / 2
        else:  # one column shows its operations, which are at the right; several begin at the left
            x = room[0] - margin - width if width < 1.4 * room[0] else margin
        y = (room[1] - height) / 2 if height + 2 * margin <= room[1] else margin
        self.origin = (x, y)

    def pan(self, dx: float, dy: float) -> None:
        """Move the picture by window units."""
        self.origin, self.goal = (self.origin[0] + dx, self.origin[1] + dy), None

    def zoom_at(self, place: Point, factor: float, scale: float) -> None:
        """Zoom so that what lies under a place in window units stays there."""
        before = self.zoom
        self.zoom = min(max(before * factor, _ZOOM[0]), _ZOOM[1] * scale)
        ratio = self.zoom / before
        self.origin = (
            place[0] - (place[0] - self.origin[0]) * ratio,
            place[1] - (place[1] - self.origin[1]) * ratio,
        )
        self.goal = None

    def bring(self, rect: Rect, room: Point, scale: float, *, slide: bool = True) -> None:
        """Move so that a rectangle of the picture can be seen, if it cannot be yet.

        Args:
            rect: left, top, right, bottom in picture units.
            room: size of the panel.
            scale: of the user interface.
            slide: go there over some frames.
        """
        if self.zoom < _NEARLY * scale:
            centre = self.to_window(((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2))
            self.zoom_at(centre, READABLE * scale / self.zoom, scale)
        (left, top), (right, bottom) = self.to_window(rect[:2]), self.to_window(rect[2:])
        near = MARGIN * scale / 2
        if left >= near and top >= near and right <= room[0] - near and bottom <= room[1] - near:
            return
        margin = 1.5 * MARGIN * scale
        x = _into(left, right, margin, room[0] - margin)
        y = _into(top, bottom, margin, room[1] - margin)
        if x or y:
            goal = (self.origin[0] + x, self.origin[1] + y)
            if slide:
                self.goal = goal
            else:
                self.origin, self.goal = goal, None

    def centre_on(self, place: Point, room: Point) -> None:
        """Put a place of the picture into the middle of the panel."""
        self.origin = (room[0] / 2 - place[0] * self.zoom, room[1] / 2 - place[1] * self.zoom)
        self.goal = None

    def slide(self) -> None:
        """Go on with a slide; call it once a frame."""
        if self.goal is None:
            return
        dx, dy = self.goal[0] - self.origin[0], self.goal[1] - self.origin[1]
        if abs(dx) + abs(dy) < 1.0:
            self.origin, self.goal = self.goal, None
        else:
            self.origin = (self.origin[0] + dx * (1 - _SLIDE), self.origin[1] + dy * (1 - _SLIDE))

    def to_window(self, place: Point) -> Point:
        """Return where a place of the picture lies in the panel."""
        return self.origin[0] + place[0] * self.zoom, self.origin[1] + place[1] * self.zoom

    def to_picture(self, place: Point) -> Point:
        """Return what lies under a place in the panel."""
        return (place[0] - self.origin[0]) / self.zoom, (place[1] - self.origin[1]) / self.zoom

    def seen(self, room: Point) -> Rect:
        """Return the part of the picture that the panel shows: left, top, right, bottom."""
        return (*self.to_picture((0.0, 0.0)), *self.to_picture(room))


def _into(low: float, high: float, first: float, last: float) -> float:
    """Return how far to move so that `low` to `high` lies between `first` and `last`, or at least `low`."""
    if low >= first and high <= last:
        return 0.0
    if high - low > last - first:
        return first - low
    # Not just to the border: what comes next should be seen too.
    beyond = min((last - first - (high - low)) / 2, 2 * (high - low))
    return first + beyond - low if low < first else last - beyond - high
