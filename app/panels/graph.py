"""The graph of the capture: its operations as a chain, repeats folded, and the named arrays that they use.

Drawn with ImGui's draw list on a canvas that can be dragged and zoomed. What is where is worked out once
per capture.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.outline import Node, nodes_of
from app.panels.widgets import caption, shape_text
from app.state import App
from replay.graph.model import Access, Capture

_NODE = (150.0, 44.0)
_ARRAY = (128.0, 24.0)
_GAP_X, _GAP_Y, _ARRAY_GAP = 70.0, 26.0, 7.0
_ZOOM = (0.15, 2.5)


@dataclass(frozen=True)
class Placed:
    """A box: its corner in graph units, its texts, and for a node of the chain its run."""

    x: float
    y: float
    title: str
    subtitle: str
    about: str


@dataclass(frozen=True)
class Picture:
    """What is drawn: arrays at the left, the chain at the right, an edge for each use."""

    nodes: tuple[Node, ...]
    chain: tuple[Placed, ...]
    arrays: dict[int, Placed]
    size: tuple[float, float]


def picture_of(capture: Capture) -> Picture:
    """Return where everything lies, in units of a pixel at a zoom of 1."""
    nodes = tuple(nodes_of(capture))
    used = {region for node in nodes for region, _ in node.uses}
    arrays = {}
    named = [region for region in capture.regions.values() if region.id in used]
    rows_height = len(nodes) * (_NODE[1] + _GAP_Y) - _GAP_Y
    arrays_height = len(named) * (_ARRAY[1] + _ARRAY_GAP) - _ARRAY_GAP
    height = max(rows_height, arrays_height, 1.0)
    for index, region in enumerate(named):
        kind = f"{region.element.name}[{shape_text(region.shape)}]" if region.element and region.shape else ""
        about = f"{' = '.join(region.names)}\n{kind or f'{region.nbytes} bytes'}, {region.provenance.value}"
        y = (height - arrays_height) / 2 + index * (_ARRAY[1] + _ARRAY_GAP)
        title = region.names[0] + (f" +{len(region.names) - 1}" if len(region.names) > 1 else "")
        arrays[region.id] = Placed(0.0, y, title, "", about)
    chain = []
    left = _ARRAY[0] + _GAP_X if named else 0.0
    for index, node in enumerate(nodes):
        y = (height - rows_height) / 2 + index * (_NODE[1] + _GAP_Y)
        count = f"  ×{node.count}" if node.count > 1 else ""
        about = f"events {node.event} to {node.last}" if node.count > 1 else f"event {node.event}"
        chain.append(Placed(left, y, node.label + count, node.shape, f"{node.label}\n{about}"))
    return Picture(nodes, tuple(chain), arrays, (left + _NODE[0], height))


class GraphPanel:
    """The panel; remembers where the user dragged and zoomed to."""

    name = "Graph"
    icon = fa.ICON_FA_DIAGRAM_PROJECT

    def __init__(self) -> None:
        self._capture: object = None
        self._picture: Picture | None = None
        self._zoom = 1.0
        self._origin = (0.0, 0.0)
        self._fitted: tuple[float, float] | None = None
        self._moved = False

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if app.scene is None:
            caption(gui, "Open a capture to see its graph.")
            return
        if app.scene.capture is not self._capture:
            self._capture = app.scene.capture
            self._picture = picture_of(app.scene.capture)
            self._fitted = None
        picture = self._picture
        assert picture is not None
        available = imgui.get_content_region_avail()
        if available.x < 20 or available.y < 20:
            return
        corner = imgui.get_cursor_screen_pos()
        size = (available.x, available.y)
        if self._fitted != size and (self._fitted is None or not self._moved):
            self._fit(picture, size, gui.scale)
        imgui.invisible_button("graph", size)
        hovered = imgui.is_item_hovered()
        self._navigate(picture, size, (corner.x, corner.y), hovered, gui.scale)
        draw = imgui.get_window_draw_list()
        draw.push_clip_rect((corner.x, corner.y), (corner.x + size[0], corner.y + size[1]), True)
        self._paint(app, gui, picture, (corner.x, corner.y), size, hovered)
        draw.pop_clip_rect()

    def _fit(self, picture: Picture, size: tuple[float, float], scale: float) -> None:
        fit = min(size[0] / max(picture.size[0], 1.0), size[1] / max(picture.size[1], 1.0))
        self._zoom = min(max(fit, 0.3 * scale), 1.1 * scale)
        width, height = picture.size[0] * self._zoom, picture.size[1] * self._zoom
        self._origin = ((size[0] - width) / 2, max((size[1] - height) / 2, 0.0))
        self._fitted, self._moved = size, False

    def _navigate(
        self,
        picture: Picture,
        size: tuple[float, float],
        corner: tuple[float, float],
        hovered: bool,
        scale: float,
    ) -> None:
        io = imgui.get_io()
        if imgui.is_item_active() and imgui.is_mouse_dragging(0, 3.0):
            self._origin = (self._origin[0] + io.mouse_delta.x, self._origin[1] + io.mouse_delta.y)
            self._moved = True
        if hovered and io.mouse_wheel:
            before = self._zoom
            self._zoom = min(max(before * 1.15**io.mouse_wheel, _ZOOM[0] * scale), _ZOOM[1] * scale)
            x, y = io.mouse_pos.x - corner[0], io.mouse_pos.y - corner[1]
            ratio = self._zoom / before
            self._origin = (x - (x - self._origin[0]) * ratio, y - (y - self._origin[1]) * ratio)
            self._moved = True
        if hovered and imgui.is_mouse_double_clicked(0):
            self._fit(picture, size, scale)

    def _paint(
        self,
        app: App,
        gui: Gui,
        picture: Picture,
        corner: tuple[float, float],
        size: tuple[float, float],
        hovered: bool,
    ) -> None:
        zoom = self._zoom
        left, top = corner[0] + self._origin[0], corner[1] + self._origin[1]
        tops = [box.y for box in picture.chain]
        first = max(bisect_left(tops, (corner[1] - top) / zoom - _NODE[1]), 0)
        last = bisect_right(tops, (corner[1] + size[1] - top) / zoom)
        colors, draw = gui.colors, imgui.get_window_draw_list()
        mouse = imgui.get_io().mouse_pos
        width, height = _NODE[0] * zoom, _NODE[1] * zoom
        over = None
        thickness = max(1.2 * gui.scale, 1.0)
        for index in range(first, last):
            box, node = picture.chain[index], picture.nodes[index]
            x, y = left + box.x * zoom, top + box.y * zoom
            if index + 1 < len(picture.chain):
                middle, below = x + width / 2, top + picture.chain[index + 1].y * zoom
                draw.add_line((middle, y + height), (middle, below), colors.muted, thickness)
                tip = 5 * zoom
                draw.add_triangle_filled(
                    (middle - tip, below - 1.6 * tip),
                    (middle + tip, below - 1.6 * tip),
                    (middle, below),
                    colors.muted,
                )
            chosen = app.selected is not None and node.event <= app.selected <= node.last
            for region, access in node.uses:
                self._edge(gui, picture, region, access, (x, y + height / 2), (left, top), chosen)
            if hovered and x <= mouse.x <= x + width and y <= mouse.y <= y + height:
                over = box
                if imgui.is_mouse_released(0) and not imgui.is_mouse_dragging(0, 3.0):
                    app.selected = node.event
            self._box(
                gui, box, (x, y), _NODE, colors.accent_strong if chosen else colors.launch, filled=chosen
            )
        for box in picture.arrays.values():
            x, y = left + box.x * zoom, top + box.y * zoom
            if hovered and x <= mouse.x <= x + _ARRAY[0] * zoom and y <= mouse.y <= y + _ARRAY[1] * zoom:
                over = box
            self._box(gui, box, (x, y), _ARRAY, colors.memory, filled=False)
        if over is not None and not imgui.is_mouse_down(0):
            imgui.set_tooltip(over.about)

    def _edge(
        self,
        gui: Gui,
        picture: Picture,
        region: int,
        access: Access,
        end: tuple[float, float],
        origin: tuple[float, float],
        chosen: bool,
    ) -> None:
        zoom, box, colors = self._zoom, picture.arrays[region], gui.colors
        start = (origin[0] + (box.x + _ARRAY[0]) * zoom, origin[1] + (box.y + _ARRAY[1] / 2) * zoom)
        color = colors.control if access & Access.WRITE else colors.memory
        if not chosen:
            color = color & 0xFFFFFF | 0x70000000
        bend = _GAP_X * 0.6 * zoom
        imgui.get_window_draw_list().add_bezier_cubic(
            start, (start[0] + bend, start[1]), (end[0] - bend, end[1]), end, color, max(1.3 * gui.scale, 1.0)
        )

    def _box(
        self,
        gui: Gui,
        box: Placed,
        place: tuple[float, float],
        size: tuple[float, float],
        color: int,
        *,
        filled: bool,
    ) -> None:
        zoom, colors, draw = self._zoom, gui.colors, imgui.get_window_draw_list()
        end = (place[0] + size[0] * zoom, place[1] + size[1] * zoom)
        rounding = 6 * zoom if box.subtitle else size[1] / 2 * zoom
        draw.add_rect_filled(place, end, colors.field_hovered if filled else colors.raised, rounding)
        draw.add_rect(place, end, color, rounding, max(1.2 * gui.scale, 1.0))
        if zoom < 0.28:
            return
        text = 13.0 * zoom
        draw.push_clip_rect(place, end, True)
        y = place[1] + (6 * zoom if box.subtitle else (size[1] * zoom - text) / 2)
        draw.add_text(gui.regular, text, (place[0] + 11 * zoom, y), colors.text, box.title)
        if box.subtitle:
            draw.add_text(
                gui.regular, text * 0.88, (place[0] + 11 * zoom, y + 17 * zoom), colors.muted, box.subtitle
            )
        draw.pop_clip_rect()
