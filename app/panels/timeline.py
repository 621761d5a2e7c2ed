"""The bar over the water while a frame is looked into: which event, the way through the frame, back to live.

Below it a row for each IF and WHILE around the event: which branch runs, and which iteration is looked at.
"""

from __future__ import annotations

import time

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform, show_after
from app.bindings import Action
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.around import MOST_ITERATIONS, Around
from app.lab.lab import Lab
from app.panels.not_finite import draw_marks
from app.panels.widgets import Kept, elided, hint, icon_button, tooltip
from app.state import App, Rect

_BACK = hint("Back to live", Action.LOOK_INSIDE)
_PREVIOUS = hint("Previous event", Action.PREVIOUS_EVENT)
_NEXT = hint("Next event", Action.NEXT_EVENT)
_MOST_TICKS = 64
_MOST_ROWS = 3
"""So many IFs and WHILEs around an event have a row, the innermost ones."""
_CLAMPED = imgui.SliderFlags_.always_clamp


def timeline_height(lab: Lab, scale: float) -> float:
    """Return how much of the centre's lower end the bar takes with the room around it; 0 without it."""
    if not lab.frame.looking:
        return 0.0
    return _height(lab, scale) + 22 * scale


def _height(lab: Lab, scale: float) -> float:
    line, rows = imgui.get_frame_height(), min(len(lab.frame.around), _MOST_ROWS)
    return 2 * line + 22 * scale + rows * (line + 4 * scale)


class Timeline:
    """The bar."""

    def __init__(self) -> None:
        self._text = Kept()

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build it at the bottom of a rectangle in window units; nothing while no frame is looked into."""
        lab = app.lab
        if lab is None or not lab.frame.looking or rect[2] < 200 * gui.scale:
            return
        draw_marks(app, gui, lab)
        scale = gui.scale
        width = min(rect[2] - 24 * scale, 640 * scale)
        line = imgui.get_frame_height()
        height = _height(lab, scale)
        x, y = rect[0] + (rect[2] - width) / 2, rect[1] + rect[3] - height - 14 * scale
        draw = imgui.get_window_draw_list()
        draw.add_rect_filled((x, y), (x + width, y + height), gui.colors.overlay, 10 * scale)
        draw.add_rect((x, y), (x + width, y + height), gui.colors.control, 10 * scale, max(1.2 * scale, 1.0))
        self._words(app, gui, lab, x, y, width)
        self._track(app, gui, lab, x, y + line + 12 * scale, width)
        for row, around in enumerate(lab.frame.around[-_MOST_ROWS:]):
            top = y + 2 * line + 18 * scale + row * (line + 4 * scale)
            if around.loop and around.inside and around.count > 1:
                self._iterations(app, gui, lab, around, x, top, width)
            else:
                place = (x + 14 * scale, top + imgui.get_style().frame_padding.y)
                draw.add_text(place, gui.colors.muted, elided(str(around), width - 28 * scale))

    def _words(self, app: App, gui: Gui, lab: Lab, x: float, y: float, width: float) -> None:
        scale, frame = gui.scale, lab.frame
        label = f"{fa.ICON_FA_TOWER_BROADCAST}  Back to live"
        wide = imgui.calc_text_size(label).x + 20 * scale
        room = width - wide - 34 * scale
        key = (frame.event, frame.revision, frame.which, room, lab.found, lab.shown.active)
        title, about = self._text.get(key, lambda: _texts(lab, room))  # type: ignore[misc]
        draw = imgui.get_window_draw_list()
        top = y + 8 * scale + imgui.get_style().frame_padding.y
        draw.add_text((x + 14 * scale, top), gui.colors.control, title)
        draw.add_text((x + 22 * scale + imgui.calc_text_size(title).x, top), gui.colors.muted, about)
        imgui.set_cursor_screen_pos((x + width - wide - 8 * scale, y + 7 * scale))
        if imgui.button(label, (wide, 0.0)):
            perform(app, Action.LOOK_INSIDE)
        if imgui.is_item_hovered():
            imgui.set_tooltip(_BACK)

    def _track(self, app: App, gui: Gui, lab: Lab, x: float, y: float, width: float) -> None:
        scale, frame = gui.scale, lab.frame
        count = len(lab.capture.operations)
        imgui.set_cursor_screen_pos((x + 8 * scale, y))
        imgui.push_style_var(imgui.StyleVar_.item_spacing, (2 * scale, 0.0))
        if icon_button(gui, f"{fa.ICON_FA_BACKWARD_STEP}##previous", _PREVIOUS):
            perform(app, Action.PREVIOUS_EVENT)
        imgui.same_line()
        sign = fa.ICON_FA_PAUSE if frame.playing else fa.ICON_FA_PLAY
        about = "Stay at this event" if frame.playing else "Play through the frame, event by event"
        if icon_button(gui, f"{sign}##play", about):
            app.attempt(lambda: frame.play(time.perf_counter()))
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_FORWARD_STEP}##next", _NEXT):
            perform(app, Action.NEXT_EVENT)
        imgui.pop_style_var()
        imgui.same_line(0.0, 8 * scale)
        place = imgui.get_cursor_screen_pos()
        room = x + width - 16 * scale - place.x
        imgui.set_next_item_width(room)
        for color in (imgui.Col_.frame_bg, imgui.Col_.frame_bg_hovered, imgui.Col_.frame_bg_active):
            imgui.push_style_color(color, (0.0, 0.0, 0.0, 0.0))
        for color in (imgui.Col_.slider_grab, imgui.Col_.slider_grab_active):
            imgui.push_style_color(color, (0.0, 0.0, 0.0, 0.0))
        at = -1 if frame.event is None else frame.event
        changed, wanted = imgui.slider_int("##event", at, -1, count - 1, "")
        imgui.pop_style_color(5)
        self._rail(gui, place.x, place.y + imgui.get_frame_height() / 2, room, at, count)
        if changed and wanted != at:
            frame.playing = False
            app.attempt(lambda: show_after(app, None if wanted < 0 else wanted))

    @staticmethod
    def _iterations(app: App, gui: Gui, lab: Lab, around: Around, x: float, y: float, width: float) -> None:
        """Which iteration of a WHILE is looked at: one back, one on, and a slider."""
        scale, wanted, last = gui.scale, around.iteration, around.count
        imgui.push_id(around.event)
        imgui.set_cursor_screen_pos((x + 8 * scale, y))
        imgui.push_style_var(imgui.StyleVar_.item_spacing, (2 * scale, 0.0))
        if icon_button(gui, f"{fa.ICON_FA_CHEVRON_LEFT}##less", "Previous iteration", enabled=wanted > 1):
            wanted -= 1
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_CHEVRON_RIGHT}##more", "Next iteration", enabled=wanted < last):
            wanted += 1
        imgui.pop_style_var()
        imgui.same_line(0.0, 8 * scale)
        text, place = str(around), imgui.get_cursor_screen_pos()
        room = x + width - 16 * scale - place.x
        words = min(imgui.calc_text_size(text).x + 12 * scale, room / 2)
        imgui.set_next_item_width(room - words)
        changed, picked = imgui.slider_int("##iteration", wanted, 1, last, "", _CLAMPED)
        more = f"; counting ends at {MOST_ITERATIONS}" if last >= MOST_ITERATIONS else ""
        tooltip(
            f"Which iteration of the WHILE of event {around.event} is looked at{more}. Ctrl+click types it"
        )
        imgui.get_window_draw_list().add_text(
            (place.x + room - words + 12 * scale, place.y + imgui.get_style().frame_padding.y),
            gui.colors.text, elided(text, words - 12 * scale),
        )  # fmt: skip
        imgui.pop_id()
        if changed:
            wanted = picked
        if wanted != around.iteration:
            lab.frame.playing = False
            app.attempt(lambda: lab.frame.choose_iteration(around.event, wanted))

    @staticmethod
    def _rail(gui: Gui, x: float, y: float, width: float, at: int, count: int) -> None:
        scale, draw, colors = gui.scale, imgui.get_window_draw_list(), gui.colors
        inset = imgui.get_style().grab_min_size / 2 + 2
        start, span = x + inset, width - 2 * inset
        here = start + span * (at + 1) / max(count, 1)
        draw.add_rect_filled((start, y - 2 * scale), (start + span, y + 2 * scale), colors.line, 2 * scale)
        draw.add_rect_filled((start, y - 2 * scale), (here, y + 2 * scale), colors.control, 2 * scale)
        if count <= _MOST_TICKS:
            for event in range(count + 1):
                tick = start + span * event / count
                color = colors.control if event <= at + 1 else colors.muted
                draw.add_circle_filled((tick, y), 2.6 * scale, color)
        draw.add_circle_filled((here, y), 7 * scale, colors.control)
        draw.add_circle_filled((here, y), 3.5 * scale, colors.background)


def _texts(lab: Lab, room: float) -> tuple[str, str]:
    frame, count = lab.frame, len(lab.capture.operations)
    if frame.event is None:
        return f"Start of {frame.which}", ""
    title = f"After event {frame.event} of 0–{count - 1}"
    words = [lab.capture.operations[frame.event].label]
    if not frame.ran:
        words = ["does not run in this frame", *words]
    if frame.field is not None and not lab.shown.active:  # an array has its name over it
        words.append(f"shows {lab.region_name(frame.field)}")
    words.append(f"in {frame.which}")
    about = "  ·  ".join(words)
    return title, elided(about, max(room - imgui.calc_text_size(title).x - 8, 10.0))
