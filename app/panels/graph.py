"""The graph of the capture: operations, repeats folded, the data that flows between them, named arrays.

The geometry is that of `replay.graph.layout`, the same as in an exported SVG. Here are the panel's canvas,
what the pointer does on it, and what is remembered between frames; `graph_draw` makes the drawing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import show_after
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.lab.selection import Kind
from app.panels.graph_camera import GraphCamera
from app.panels.graph_colors import ColorBy, colors_of, notes_of
from app.panels.graph_draw import Painter
from app.panels.graph_kept import Kept
from app.panels.graph_menu import context_menu, results, toolbar
from app.panels.graph_minimap import Minimap
from app.panels.graph_parts import Drawing, Marks, Paint, faded, play
from app.panels.graph_tips import tip_of
from app.panels.graph_values import PillValues
from app.panels.widgets import caption
from app.state import App
from replay.graph.layout import TITLE_SIZE, Box, Picture, Pill, lay_out
from replay.graph.nodes import Opened

_BUTTONS = (
    imgui.ButtonFlags_.mouse_button_left
    | imgui.ButtonFlags_.mouse_button_right
    | imgui.ButtonFlags_.mouse_button_middle
)
_SWEEP_SECONDS = 1.6
_RELAID = 400
"""Pictures of more boxes keep their columns when the panel changes its size."""


class GraphPanel:
    """The panel."""

    name = "Graph"
    icon = fa.ICON_FA_DIAGRAM_PROJECT

    def __init__(self) -> None:
        self.camera = GraphCamera()
        self.color_by = ColorBy.KIND
        self.order = False
        self.search = ""
        self.entered = False
        self.fit_asked = False
        self.corner = (0.0, 0.0)
        self.picture: Picture | None = None
        self.drawing = Drawing()
        self._lab: Lab | None = None
        self._laid: tuple[object, ...] = ()
        self._drawn: tuple[object, ...] = ()
        self._painted: tuple[object, ...] = ()
        self._paint: Paint | None = None
        self._marks = Marks()
        self._marked: tuple[object, ...] = ()
        self._box_of_node = np.zeros(0, np.int64)
        self._followed = -1
        self._moved = False
        self._fitted: tuple[float, float] | None = None
        self._kept: tuple[tuple[int, ...], tuple[float, float]] | None = None
        self._hovered: tuple[str, int] | None = None
        self._asked_at: tuple[float, ...] = ()
        self._map = Minimap()
        self._on_map = False
        self._values = PillValues()
        self._for_next: Kept | None = None
        self._place: tuple[object, ...] = ()
        self._sweep: list[int] = []

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        lab = app.lab
        if lab is None:
            caption(gui, "Open a capture to see its graph.")
            return
        if lab is not self._lab:
            self._lab, self._fitted, self._laid, self._moved = lab, None, (), False
            self.search, self._followed = "", lab.selection.revision
        toolbar(app, gui, self)
        available = imgui.get_content_region_avail()
        room = (available.x, available.y)
        if min(room) < 20:
            return
        if not len(lab.capture.operations):
            caption(gui, "Nothing was recorded in this capture.")
            return
        picture = self._lay(lab, gui, room)
        if self.fit_asked or self._fitted is None or (self._fitted != room and not self._moved):
            whole, self.fit_asked = self.fit_asked, False
            (self.camera.fit_all if whole else self.camera.fit)(
                (picture.width, picture.height), room, gui.scale
            )
            self._fitted, self._moved = room, False
            self._followed = -1  # what is selected stays in view
        self._keep(picture)
        place = imgui.get_cursor_screen_pos()
        self.corner = (place.x, place.y)
        self._canvas(app, gui, lab, picture, self.corner, room)
        results(gui, self, lab)

    # What is shown

    def _lay(self, lab: Lab, gui: Gui, room: tuple[float, float]) -> Picture:
        """Return the picture, laid out anew when something that it depends on changed."""
        flow = lab.flow
        few = self.picture is None or len(self.picture.boxes) < _RELAID
        shape = (round(room[0] / 60), round(room[1] / 60)) if few and not imgui.is_mouse_down(0) else None
        key = (lab, flow, lab.opened, self.order)
        if self._laid[:4] == key and (shape is None or self._laid[4] in (shape, None)):
            assert self.picture is not None
            return self.picture
        ratio = TITLE_SIZE / imgui.get_font_size()
        units = (room[0] / gui.scale, room[1] / gui.scale)
        self.picture = lay_out(
            lab.capture, flow, lab.folded, lab.opened, room=units, order=self.order,
            measure=lambda text: imgui.calc_text_size(text).x * ratio,
        )  # fmt: skip
        self._laid = (*key, shape)
        boxes = self.picture.boxes
        self._box_of_node = np.full(len(self.picture.tree.nodes), -1, np.int64)
        self._box_of_node[[box.node for box in boxes]] = np.arange(len(boxes))
        self._sweep = [index for index, box in enumerate(boxes) if not box.container][:500]
        self._drawn = self._painted = self._marked = ()
        self._for_next = Kept(self.picture)
        return self.picture

    def box_of(self, event: int) -> int:
        """Return the index of the innermost box of an event."""
        assert self.picture is not None
        return int(self._box_of_node[self.picture.tree.node_of[event]])

    def _boxes(self, events: frozenset[int]) -> frozenset[int]:
        if not events or self.picture is None:
            return frozenset()
        nodes = self.picture.tree.node_of[np.fromiter(events, np.int64, len(events))]
        return frozenset(np.unique(self._box_of_node[nodes]).tolist()) - {-1}

    def _mark(self, lab: Lab, picture: Picture) -> Marks:
        frame, selection = lab.frame, lab.selection
        key = (selection.revision, lab.revision, self._hovered, frame.looking, frame.event, picture)
        if key == self._marked:
            return self._marks
        self._marked = key
        reach = selection.reach(lab.flow)
        chosen = self._boxes(reach.chosen)
        upstream, downstream = self._boxes(reach.upstream) - chosen, self._boxes(reach.downstream) - chosen
        pills = {
            index
            for index, pill in enumerate(picture.pills)
            if (
                pill.region == selection.region
                if selection.kind in (Kind.REGION, Kind.EDGE)
                else not (upstream | chosen).isdisjoint(pill.readers)
                or not (downstream | chosen).isdisjoint(pill.writers)
            )
        }
        path = None
        if selection.kind is Kind.EDGE:
            path = next(
                (n for n in range(len(picture.paths)) if self.ends_of(picture, n)[:2] == selection.ends), None
            )
        live = self.box_of(frame.event) if frame.looking and frame.event is not None else None
        self._marks = Marks(
            chosen, upstream, downstream - upstream,
            frozenset(pills) if selection.kind is not Kind.NOTHING else frozenset(),
            path, self._hovered, live, selection.kind is not Kind.NOTHING,
        )  # fmt: skip
        return self._marks

    def ends_of(self, picture: Picture, number: int) -> tuple[tuple[int, int], tuple[int, int], int | None]:
        """Return first and last event of both ends of a path, and the region if it is one."""
        path = picture.paths[number]

        def span(index: int) -> tuple[int, int]:
            if index < 0:
                return -1, -1 - index
            return picture.boxes[index].first, picture.boxes[index].last

        return span(path.source), span(path.targets[0]), path.regions[0] if path.regions else None

    def _colored(self, lab: Lab, gui: Gui, picture: Picture) -> Paint:
        key = (picture, lab.revision, self.color_by, gui.colors)
        if key != self._painted or self._paint is None:
            self._painted = key
            self._paint = Paint(
                gui.colors,
                (gui.regular, gui.bold),
                colors_of(lab, picture, self.color_by, gui.colors),
                notes_of(lab, picture, self.color_by),
                self.color_by is not ColorBy.KIND,
            )
        return self._paint

    # The canvas

    def _canvas(
        self,
        app: App,
        gui: Gui,
        lab: Lab,
        picture: Picture,
        corner: tuple[float, float],
        room: tuple[float, float],
    ) -> None:
        imgui.invisible_button("graph", room, _BUTTONS)
        hovered = imgui.is_item_hovered()
        self._navigate(gui, picture, corner, room, hovered)
        self._follow(lab, gui, picture, room)
        self.camera.slide()
        over = self._under_pointer(picture, corner, hovered, gui.scale)
        if hovered and imgui.is_mouse_released(0) and not _dragged() and not self._on_map:
            self._click(app, lab, gui, picture, over, corner)
        if hovered and imgui.is_mouse_double_clicked(0) and isinstance(over, Box) and over.can_open:
            self.toggle(lab, over)
        if hovered and imgui.is_mouse_released(1) and not _dragged(1):
            self._asked_at = (*self.camera.to_picture(_local(corner)),)
            imgui.open_popup("menu")
        paint, marks = self._colored(lab, gui, picture), self._mark(lab, picture)
        camera = self.camera
        place = (camera.zoom, camera.origin)
        moving, self._place = place != self._place, place
        key = (paint, marks, place, moving, corner, room, gui.scale)
        if key != self._drawn:
            self._drawn = key
            self.drawing = Painter(
                picture, camera, corner, room, paint, marks, gui.scale, self._for_next, moving=moving
            ).draw()
        draw = imgui.get_window_draw_list()
        draw.push_clip_rect(corner, (corner[0] + room[0], corner[1] + room[1]), True)
        play(draw, self.drawing)
        if camera.zoom > 0.5 * gui.scale:
            self._values.draw(app, gui, draw, picture, camera, corner, room)
        self._light(app, gui, lab, picture, draw, corner)
        self._map.draw(draw, gui.colors, picture, camera, corner, room, gui.scale)
        draw.pop_clip_rect()
        if over is not None and not imgui.is_mouse_down(0) and not imgui.is_popup_open("menu"):
            tip_of(app, gui, lab, picture, over)
        if imgui.begin_popup("menu"):
            context_menu(app, self, lab, picture, picture.at(*self._asked_at))
            imgui.end_popup()

    def _navigate(
        self,
        gui: Gui,
        picture: Picture,
        corner: tuple[float, float],
        room: tuple[float, float],
        hovered: bool,
    ) -> None:
        io, camera = imgui.get_io(), self.camera
        if imgui.is_item_active():
            if imgui.is_mouse_clicked(0):
                self._on_map = self._map.takes(io.mouse_pos) is not None
            if self._on_map and imgui.is_mouse_down(0):
                place = self._map.takes(io.mouse_pos)
                if place is not None:
                    camera.centre_on(place, room)
                    self._moved = True
            elif any(imgui.is_mouse_dragging(button, 3.0) for button in range(3)):
                camera.pan(io.mouse_delta.x, io.mouse_delta.y)
                self._moved = True
        if hovered and io.mouse_wheel:
            camera.zoom_at(_local(corner), 1.15**io.mouse_wheel, gui.scale)
            self._moved = True

    def _follow(self, lab: Lab, gui: Gui, picture: Picture, room: tuple[float, float]) -> None:
        """Bring into view what was selected elsewhere."""
        selection = lab.selection
        if selection.revision == self._followed:
            return
        self._followed = selection.revision
        thing: Box | Pill | None = None
        if selection.kind in (Kind.EVENT, Kind.KERNEL) and selection.event is not None:
            thing = picture.boxes[self.box_of(selection.event)]
        elif selection.kind is Kind.REGION:
            thing = next((pill for pill in picture.pills if pill.region == selection.region), None)
        if thing is not None:
            rect = (thing.x, thing.y, thing.x + thing.width, thing.y + min(thing.height, 60.0))
            self.camera.bring(rect, room, gui.scale)

    def _under_pointer(
        self, picture: Picture, corner: tuple[float, float], hovered: bool, scale: float
    ) -> Box | Pill | int | None:
        """Return the box, the pill, or the index of the path under the pointer."""
        self._hovered = None
        mouse = imgui.get_io().mouse_pos
        if not hovered or self._map.takes(mouse) is not None:
            return None
        x, y = self.camera.to_picture((mouse.x - corner[0], mouse.y - corner[1]))
        found = picture.at(x, y)
        if isinstance(found, Pill):
            self._hovered = ("pill", picture.pills.index(found))
            return found
        inside = isinstance(found, Box) and not (found.container and y > found.y + 24)
        if not inside and self.camera.zoom > 0.2 * scale and len(picture.paths) < 3000:
            number = picture.path_at(x, y, 5.0 * scale / self.camera.zoom)
            if number is not None:
                self._hovered = ("path", number)
                return number
        if isinstance(found, Box):
            self._hovered = ("box", int(self._box_of_node[found.node]))
        return found

    def _click(
        self,
        app: App,
        lab: Lab,
        gui: Gui,
        picture: Picture,
        over: Box | Pill | int | None,
        corner: tuple[float, float],
    ) -> None:
        selection = lab.selection
        if over is None:
            selection.clear()
        elif isinstance(over, int):
            selection.select_edge(*self.ends_of(picture, over))
        elif isinstance(over, Pill):
            selection.select_region(over.region)
            name = next((name for name in over.names if name in lab.scene.editor.values), "")
            app.focused = name
        else:
            x, _ = self.camera.to_picture(_local(corner))
            if over.can_open and x > over.x + over.width - 30:
                self.toggle(lab, over)
            if not (
                selection.event is not None and over.first <= selection.event <= over.last and over.badge
            ):
                selection.select_event(over.first)
            else:
                selection.select_event(selection.event)
            if lab.frame.looking:
                app.attempt(lambda: show_after(app, selection.event))
        self._followed = selection.revision  # it is where the user clicked

    def toggle(self, lab: Lab, box: Box) -> None:
        """Open or close a node, which stays where it is, or in a picture that still is fitted as a whole."""
        lab.opened = lab.opened.toggled(box.key, is_open=box.is_open)
        if self._moved:
            self._kept = (box.key, self.camera.to_window((box.x, box.y)))
        else:
            self._fitted = None

    def _keep(self, picture: Picture) -> None:
        """Leave a node that was opened or closed where it was in the window."""
        if self._kept is None:
            return
        (key, (x, y)), self._kept = self._kept, None
        box = next((box for box in picture.boxes if box.key == key), None)
        if box is not None:
            now = self.camera.to_window((box.x, box.y))
            self.camera.pan(x - now[0], y - now[1])

    def unfold_all(self, lab: Lab, *, closed: bool) -> None:
        """Open every run, or close everything."""
        picture = self.picture
        if picture is None:
            return
        keys = frozenset(node.key for node in picture.tree.nodes if node.can_open)
        lab.opened = Opened(closed=keys) if closed else Opened(opened=keys)
        self._moved, self._fitted = False, None

    def _light(
        self, app: App, gui: Gui, lab: Lab, picture: Picture, draw: Any, corner: tuple[float, float]
    ) -> None:
        """While frames run, a light goes through the operations in their order.

        It is white and has no border, which only what is selected or shown has.
        """
        scene = app.scene
        if scene is None or scene.player is None or scene.clock.paused or lab.resting or not self._sweep:
            return
        phase = imgui.get_time() / _SWEEP_SECONDS % 1.0 * len(self._sweep)
        box = picture.boxes[self._sweep[int(phase)]]
        strength = 1.0 - (phase % 1.0)
        x, y = self.camera.to_window((box.x, box.y))
        zoom = self.camera.zoom
        start = (corner[0] + x, corner[1] + y)
        end = (start[0] + box.width * zoom, start[1] + box.height * zoom)
        draw.add_rect_filled(start, end, faded(gui.colors.text, int(0x18 * strength)), 6 * zoom)
        low = end[1] - max(3 * zoom, 2.0)
        color = faded(gui.colors.text, int(0xE0 * strength))
        draw.add_rect_filled((start[0] + 6 * zoom, low), (end[0] - 6 * zoom, end[1]), color, zoom)

    def export(self, app: App, path: Path) -> None:
        """Write the picture as SVG.

        Raises:
            RipplescopeError: it cannot be written.
        """
        from app.settings import write_text
        from replay.graph.export import THEMES, to_svg

        assert self.picture is not None
        write_text(path, to_svg(self.picture, THEMES[app.settings.theme], title=path.stem))
        app.tell(f"saved {path}")


def _local(corner: tuple[float, float]) -> tuple[float, float]:
    mouse = imgui.get_io().mouse_pos
    return mouse.x - corner[0], mouse.y - corner[1]


def _dragged(button: int = 0) -> bool:
    delta = imgui.get_mouse_drag_delta(button, 3.0)
    return bool(delta.x or delta.y)
