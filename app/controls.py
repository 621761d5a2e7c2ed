"""Input to effect: keys become actions, gestures on the water become pushes and camera moves.

It runs once a frame, before the launch. Panels have decided before what belongs to the water
(`app.canvas`); keys that a text field wants do nothing here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from app.actions import perform
from app.arrays.gestures import use
from app.basin.marks import MANY, Mark, mark_at
from app.basin.projection import project_cells
from app.basin.tools import BRUSHES, GRABBED, Tool
from app.bindings import Action, action_for
from app.state import App
from app.touch import Cell
from app.view.picking import pick_cell
from app.watching import LOCKED
from app.window import (
    Button,
    CloseRequested,
    Event,
    FilesDropped,
    KeyPressed,
    Modifiers,
    PointerButton,
    PointerMoved,
)

ORBIT_SPEED = math.radians(0.35)
"""Radians a window unit of pointer movement."""
ZOOM_STEP = 0.88
"""Factor on the distance for one notch of the wheel."""

Viewport = tuple[float, float, float, float]


def handle_events(app: App, events: Iterable[Event], *, typing: bool) -> None:
    """Do what the events of a frame ask for.

    Args:
        app: the app.
        events: what happened since the last frame.
        typing: whether a text field has the keyboard.
    """
    for event in events:
        if isinstance(event, KeyPressed):
            if event.pressed:
                _press_key(app, event, typing)
        elif isinstance(event, PointerMoved):
            hand = Hand(app)
            app.canvas.trail.move((event.x, event.y))
            if hand.pressed:
                hand.move(cell_under(app, (event.x, event.y)))
        elif isinstance(event, PointerButton):
            if event.button is Button.LEFT and event.pressed:
                app.canvas.trail.press((event.x, event.y))
            elif event.button is Button.LEFT:
                app.canvas.trail.release()
                Hand(app).release()
        elif isinstance(event, FilesDropped):
            for path in event.paths[:1]:
                app.later(lambda path=path: app.open(Path(path)))
        elif isinstance(event, CloseRequested):
            app.quitting = True


def handle_canvas(app: App) -> None:
    """Do what the gestures on the water ask for, as the panels noted them."""
    if app.shows_array:
        _use_array(app)
        return
    canvas, camera, hand = app.canvas, app.camera, Hand(app)
    clicks, canvas.clicks = canvas.clicks, []
    for click in clicks:
        if click is None:
            canvas.trail.drop()
            continue
        (start, *way), ended = canvas.trail.take(click)
        hand.press(cell_under(app, start), mark_under(app, start))
        for where in way:
            hand.move(cell_under(app, where))
        if ended or not canvas.down[0]:
            hand.release()
    if hand.pressed and not canvas.down[0]:
        hand.release()
    (dx, dy), canvas.moved = canvas.moved, (0.0, 0.0)
    wheel, canvas.wheel = canvas.wheel, 0.0
    viewport = water_viewport(app)
    if dx or dy or wheel:
        app.framed = None
    elif app.framed is not None and app.framed != canvas.rect:
        app.frame_view()
    if dx or dy:
        if canvas.down[2] or canvas.shift:
            camera.pan(*app.window.to_framebuffer(dx, dy), viewport)
        elif canvas.down[1]:
            camera.orbit(-dx * ORBIT_SPEED, dy * ORBIT_SPEED)
    if wheel:
        camera.zoom_toward(app.window.to_framebuffer(*canvas.pointer), viewport, ZOOM_STEP**wheel)
    if not hand.pressed:
        cell = cell_under(app, canvas.pointer) if canvas.hovered else None
        hand.move(cell)
        app.push.cell = cell  # shown in the status bar whatever the hand holds
    elif dx or dy or wheel:
        hand.move(cell_under(app, canvas.pointer))


def _use_array(app: App) -> None:
    """Do what the gestures on the array in the centre ask for."""
    canvas = app.canvas
    while canvas.clicks:
        canvas.clicks.pop()
        canvas.trail.drop()
    app.push.cell = None
    moved, canvas.moved = canvas.moved, (0.0, 0.0)
    wheel, canvas.wheel = canvas.wheel, 0.0
    assert app.lab is not None
    left, top, width, height = water_viewport(app)
    x, y = app.window.to_framebuffer(*canvas.pointer)
    buttons = canvas.down[0], canvas.down[1], canvas.down[2] or canvas.shift
    way = app.window.to_framebuffer(*moved)
    use(app.lab.shown, way, wheel, (x - left, y - top), buttons, (width, height))


class Hand:
    """What the left button does on the water: it pushes, or uses the tool that is held."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._tool = app.tools.tool is not Tool.PUSH or app.tools.pressed
        self._furnishing = app.scene.furnishing if app.scene is not None else None

    @property
    def pressed(self) -> bool:
        """Whether it is down on the water."""
        return self._app.tools.pressed if self._tool else self._app.push.pressed

    def press(self, cell: Cell | None, mark: Mark | None = None) -> None:
        """Go down on a cell or beside the tank, and on the mark of a source or a probe that is there."""
        if self._app.watching is not None:
            self._app.notice = LOCKED
        elif mark is not None and self._furnishing is not None and mark[0] in GRABBED[self._app.tools.tool]:
            self._tool = True
            self._app.tools.grab(self._furnishing, mark, cell)
        elif not self._tool:
            self._app.push.press(cell)
        else:
            tools, grid = self._app.tools, self._app.scene.grid if self._app.scene is not None else None
            if grid is not None:
                tools.reach = max(2.0, max(grid.width, grid.height) / 45)
            tools.press(self._furnishing, cell)
            if tools.full:
                tools.full = False
                self._app.notice = "all 16 are in use: take one away first"

    def move(self, cell: Cell | None) -> None:
        """Be over a cell, or beside the tank."""
        if self._tool:
            self._app.tools.move(self._furnishing, cell)
        else:
            self._app.push.move(cell)

    def release(self) -> None:
        """Go up."""
        if self._tool:
            self._app.tools.release(self._furnishing)
        else:
            self._app.push.release()


def water_viewport(app: App) -> Viewport:
    """Return where the water is drawn, in framebuffer pixels, y down."""
    x, y, width, height = app.canvas.rect
    left, top = app.window.to_framebuffer(x, y)
    right, bottom = app.window.to_framebuffer(x + width, y + height)
    return round(left), round(top), max(round(right) - round(left), 1), max(round(bottom) - round(top), 1)


def cell_under(app: App, where: tuple[float, float]) -> tuple[float, float] | None:
    """Return the cell under a place in window units, None beside the tank."""
    if app.scene is None or app.scene.grid is None:
        return None
    cursor = app.window.to_framebuffer(*where)
    return pick_cell(app.camera, cursor, water_viewport(app), app.scene.grid)


def mark_under(app: App, where: tuple[float, float]) -> Mark | None:
    """Return the mark of a source or a probe under a place in window units that the hand can take there."""
    scene, ratio = app.scene, app.window.pixel_ratio
    if scene is None or scene.grid is None or scene.furnishing is None or not GRABBED[app.tools.tool]:
        return None
    sources, probes = scene.furnishing.places("source_pos"), scene.furnishing.places("probe_pos")
    cells = [cell for _, cell in (*sources, *probes)]
    if not cells:
        return None
    places = project_cells(app.camera, np.array(cells), water_viewport(app), scene.grid, ratio)
    numbered = [(index, place) for (index, _), place in zip((*sources, *probes), places, strict=True)]
    count = len(sources)
    dots = count > MANY and app.tools.tool is not Tool.SOURCE
    scale = app.window.content_scale / ratio
    return mark_at(numbered[:count], numbered[count:], where, scale, dots=dots)


def mark_pointer(app: App) -> Cell | None:
    """Give the mark under the pointer the size of what is in the hand; return where it shows, if it does."""
    if app.water is None or app.scene is None:
        return None
    tools = app.tools
    if tools.tool is Tool.PUSH:
        radius = app.scene.editor.values.get("radius")
        if radius is not None:
            app.water.options.marker_radius = float(radius[0])
        return app.push.cell
    if tools.tool not in BRUSHES or app.scene.furnishing is None:
        return None
    app.water.options.marker_radius = max(tools.brush, 0.7)
    return tools.here if tools.pressed else app.push.cell


def _press_key(app: App, event: KeyPressed, typing: bool) -> None:
    modifiers = event.modifiers
    if modifiers & Modifiers.SUPER:  # Command on a Mac
        modifiers = (modifiers & ~Modifiers.SUPER) | Modifiers.CONTROL
    action = action_for(event.key, modifiers, repeat=event.repeat)
    if action is None or (app.message and action is not Action.QUIT):
        return
    if app.popup_open and action is not Action.QUIT:
        return  # what is typed there must not act on what lies behind it
    if typing and not app.popup_open:
        return  # but a form closes at once, though its text field has the keyboard
    perform(app, action)
