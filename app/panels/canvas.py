"""The water's place in the window: the item that takes the pointer where no panel is, and what floats on it.

The item decides by ImGui's hover and active state, so that nothing on a panel or in a popup reaches the
water. What a press does is not decided here: `app.controls` reads what this notes in `app.canvas`.
"""

from __future__ import annotations

from app.basin.tools import Tool
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.array_bar import ArrayBar
from app.panels.caption import draw_caption
from app.panels.legend import Legend
from app.panels.timeline import Timeline
from app.panels.toolbar import Toolbar
from app.panels.tools import ToolBar, bar_width
from app.panels.watching import WatchingStrip
from app.panels.widgets import elided
from app.state import App, Rect
from app.view.options import Mode

_FIRST_HINT = "Drag on the water to push it.  Right drag orbits, wheel zooms, F1 shows all."
HINT_SECONDS, CAPTION_SECONDS = 15.0, 40.0
_LARGEST_MARGIN = 0.2
"""Of the water's place, on each side, that is kept free of the tank for a bar."""
_FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_background
    | imgui.WindowFlags_.no_docking
    | imgui.WindowFlags_.no_bring_to_front_on_focus
    | imgui.WindowFlags_.no_nav_focus
    | imgui.WindowFlags_.no_scroll_with_mouse
)
_BUTTONS = (
    imgui.ButtonFlags_.mouse_button_left
    | imgui.ButtonFlags_.mouse_button_right
    | imgui.ButtonFlags_.mouse_button_middle
)


_PADDING, _NO_PADDING = imgui.StyleVar_.window_padding, imgui.ImVec2(0.0, 0.0)
_MIN_SIZE, _SMALLEST = imgui.StyleVar_.window_min_size, imgui.ImVec2(1.0, 1.0)


class CanvasItem:
    """The invisible item over the water."""

    def __init__(self) -> None:
        self._toolbar = Toolbar()
        self._tools = ToolBar()
        self._legend = Legend()
        self._timeline = Timeline()
        self._watching = WatchingStrip()
        self._array = ArrayBar()
        self._hint = FirstHint()

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build it over a rectangle in window units."""
        x, y, width, height = rect
        app.canvas.rect = rect
        left, line = bar_width(gui, rect), imgui.get_frame_height()
        app.canvas.free = free_part(rect, gui.scale, left, line + 24 * gui.scale)
        imgui.set_next_window_pos((x, y))
        imgui.set_next_window_size((width, height))
        imgui.push_style_var(_PADDING, _NO_PADDING)
        imgui.push_style_var(_MIN_SIZE, _SMALLEST)
        imgui.begin("##canvas", None, _FLAGS)
        imgui.pop_style_var(2)
        imgui.set_next_item_allow_overlap()
        imgui.invisible_button("water", (max(width, 1.0), max(height, 1.0)), _BUTTONS)
        _note(app)
        water = imgui.get_item_id()
        self._array.draw(app, gui, rect)
        if not app.shows_array:
            self._tools.draw(app, gui, rect)
        self._toolbar.draw(app, gui, rect)
        self._watching.draw(app, gui, rect)
        self._legend.draw(app, gui, rect)
        self._timeline.draw(app, gui, rect)
        _tell(app, gui, rect, hint=self._hint.shows(app, imgui.get_time()))
        if imgui.internal.get_hovered_id() == water:
            _note_sudden(app)
        imgui.end()


class FirstHint:
    """Whether it is told what to do, or what there is to see: until the first press, and not for long."""

    def __init__(self) -> None:
        self._until: float | None = None
        self._caption = ""

    def shows(self, app: App, now: float) -> bool:
        """Return whether it shows at a time in seconds."""
        if app.scene is None or app.water is None:
            return False
        if app.scene.caption != self._caption:
            self._caption = app.scene.caption
            self._until = now + CAPTION_SECONDS
        if not self._caption and app.water.options.mode == Mode.DATA:
            return False  # where the legend is, which shows that much was found out already
        if self._until is None:
            self._until = now + HINT_SECONDS
        if any(app.canvas.down):
            self._until = now
        return now < self._until


def free_part(rect: Rect, scale: float, tools: float, bar: float) -> Rect:
    """Return the part of the water's place that no bar lies over, in shares of its size.

    Args:
        rect: the water's place, window units.
        scale: of the user interface.
        tools: width of the bar of tools at the left, 0 without one.
        bar: height of the bar at the top with the room around it.
    """
    width, height = max(rect[2], 1.0), max(rect[3], 1.0)
    left = tools + 20 * scale if tools else 10 * scale
    sides = (left / width, bar / height, 10 * scale / width, 54 * scale / height)
    left, top, right, bottom = (min(side, _LARGEST_MARGIN) for side in sides)
    return left, top, 1.0 - right, 1.0 - bottom


def _note(app: App) -> None:
    canvas, io = app.canvas, imgui.get_io()
    canvas.hovered = imgui.is_item_hovered()
    active = imgui.is_item_active()
    canvas.pointer = (io.mouse_pos.x, io.mouse_pos.y)
    canvas.shift = io.key_shift
    for button in range(3):
        if (canvas.hovered or active) and imgui.is_mouse_clicked(button):
            canvas.down[button] = True
            if button == 0:
                canvas.clicks.append(canvas.pointer)
        elif button == 0 and imgui.is_mouse_clicked(button):
            canvas.clicks.append(None)
        elif canvas.down[button] and not imgui.is_mouse_down(button):
            canvas.down[button] = False
    if canvas.down[1] or canvas.down[2] or (canvas.down[0] and app.shows_array):
        canvas.moved = (canvas.moved[0] + io.mouse_delta.x, canvas.moved[1] + io.mouse_delta.y)
    if canvas.hovered:
        canvas.wheel += io.mouse_wheel


def _note_sudden(app: App) -> None:
    """Take presses that came together with the pointer, once it is known that no bar lies there.

    An item that others may overlap is hovered only in the build after that in which the pointer came.
    """
    canvas = app.canvas
    for button in range(3):
        if imgui.is_mouse_clicked(button) and not canvas.down[button]:
            canvas.down[button] = True
            if button == 0 and canvas.clicks[-1:] == [None]:
                canvas.clicks[-1] = canvas.pointer


def _tell(app: App, gui: Gui, rect: Rect, *, hint: bool) -> None:
    """Say what to do while nobody has done anything."""
    if app.scene is None:
        text, y = "Press Ctrl+O to open a capture, or drop one here", rect[1] + rect[3] / 2
    elif app.scene.player is None:
        text, y = f"Not replayed: {app.scene.blocked}", rect[1] + 14 * gui.scale
    elif app.shows_array or (app.lab is not None and app.lab.frame.looking):
        return
    elif hint and app.watching is None and app.scene.pointer is not None and app.tools.tool is Tool.PUSH:
        if app.scene.caption:
            draw_caption(app, gui, rect, app.scene.caption)
            return
        text, y = _FIRST_HINT, rect[1] + rect[3] - 40 * gui.scale
    else:
        return
    scale = gui.scale
    if rect[2] < 120 * scale:
        return
    text = elided(text, rect[2] - 60 * scale)
    size = imgui.calc_text_size(text)
    x = rect[0] + (rect[2] - size.x) / 2
    draw = imgui.get_window_draw_list()
    corner, end = (x - 14 * scale, y - 6 * scale), (x + size.x + 14 * scale, y + size.y + 6 * scale)
    draw.add_rect_filled(corner, end, gui.colors.overlay, (end[1] - corner[1]) / 2)
    draw.add_text((x, y), gui.colors.text, text)
