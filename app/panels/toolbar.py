"""The bar that floats over the water: pause, step, speed, reset, and how simulated time goes."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform
from app.bindings import Action
from app.clocktext import elapsed_text, shortfall_text, speed_text
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, hint, icon_button
from app.state import App, Rect

_PAUSE = hint("Pause", Action.PAUSE)
_PLAY = hint("Go on", Action.PAUSE)
_STEP = hint("Pause and step one frame", Action.STEP)
_SLOWER = hint("Slower", Action.SLOWER)
_FASTER = hint("Faster", Action.FASTER)
_RESET = hint("Reset the water", Action.RESET_WATER)
_LOOK = hint("Look into a frame, event by event", Action.LOOK_INSIDE)
_FRAME = hint("Frame the whole grid", Action.FRAME_VIEW)


class Toolbar:
    """The bar; remembers its width of the last frame to be centred."""

    def __init__(self) -> None:
        self._width = 0.0
        self._time = Kept()
        self._speed = Kept()
        self._factor = Kept()

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build the bar at the top of a rectangle in window units."""
        if app.scene is None or app.scene.player is None or rect[2] < 60:
            return
        scale, clock = gui.scale, app.scene.clock
        height = imgui.get_frame_height() + 8 * scale
        x = rect[0] + max(8 * scale, (rect[2] - self._width) / 2)
        y = rect[1] + 10 * scale
        draw_list = imgui.get_window_draw_list()
        if self._width:
            draw_list.add_rect_filled((x, y), (x + self._width, y + height), gui.colors.overlay, height / 2)
        imgui.set_cursor_screen_pos((x + 10 * scale, y + 4 * scale))
        imgui.begin_group()
        imgui.push_style_var(imgui.StyleVar_.item_spacing, imgui.ImVec2(2 * scale, 0.0))
        paused = clock.paused
        if icon_button(gui, _play_label(paused), _PLAY if paused else _PAUSE):
            perform(app, Action.PAUSE)
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_FORWARD_STEP}##step", _STEP):
            perform(app, Action.STEP)
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_ROTATE_LEFT}##reset", _RESET):
            perform(app, Action.RESET_WATER)
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_EXPAND}##frame", _FRAME):
            perform(app, Action.FRAME_VIEW)
        imgui.same_line()
        looking = app.lab is not None and app.lab.frame.looking
        if looking:
            imgui.push_style_color(imgui.Col_.text, gui.colors.control)
        if icon_button(gui, f"{fa.ICON_FA_EYE}##look", _LOOK):
            perform(app, Action.LOOK_INSIDE)
        if looking:
            imgui.pop_style_color()
        self._separator(gui, y, height)
        if icon_button(gui, f"{fa.ICON_FA_MINUS}##slower", _SLOWER):
            perform(app, Action.SLOWER)
        imgui.same_line()
        imgui.align_text_to_frame_padding()
        # A free run has no speed that is asked for: this is what it was, told twice a second.
        key = ("free", int(imgui.get_time() * 2)) if clock.free_run else (clock.speed, clock.timed)
        imgui.text_unformatted(str(self._speed.get(key, lambda: speed_text(clock).ljust(5))))
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_PLUS}##faster", _FASTER):
            perform(app, Action.FASTER)
        self._separator(gui, y, height)
        imgui.align_text_to_frame_padding()
        key = round(clock.simulated * 10) if clock.timed else clock.launches
        imgui.text_unformatted(str(self._time.get((key, clock.timed), lambda: elapsed_text(clock))))
        imgui.pop_style_var()
        imgui.end_group()
        self._width = imgui.get_item_rect_size().x + 24 * scale
        self._warn(app, gui, rect, y + height + 6 * scale)

    def _warn(self, app: App, gui: Gui, rect: Rect, y: float) -> None:
        """Say that the machine is too slow, in a pill of its own so that the bar stays where it is."""
        clock = app.scene.clock if app.scene is not None else None
        if clock is None or not clock.behind:
            return
        now = imgui.get_time()
        text = str(self._factor.get(int(now * 2), lambda: shortfall_text(clock)))
        scale, size = gui.scale, imgui.calc_text_size(text)
        x = rect[0] + (rect[2] - size.x) / 2
        draw_list = imgui.get_window_draw_list()
        corner, end = (x - 12 * scale, y), (x + size.x + 12 * scale, y + size.y + 8 * scale)
        draw_list.add_rect_filled(corner, end, gui.colors.overlay, (end[1] - y) / 2)
        draw_list.add_text((x, y + 4 * scale), gui.colors.warning, text)

    @staticmethod
    def _separator(gui: Gui, y: float, height: float) -> None:
        imgui.same_line(0.0, 8 * gui.scale)
        x = imgui.get_cursor_screen_pos().x
        margin = 9 * gui.scale
        imgui.get_window_draw_list().add_line(
            (x, y + margin), (x, y + height - margin), gui.colors.line, gui.scale
        )
        imgui.set_cursor_screen_pos((x + 8 * gui.scale, y + 4 * gui.scale))


def _play_label(paused: bool) -> str:
    return f"{fa.ICON_FA_PLAY}##pause" if paused else f"{fa.ICON_FA_PAUSE}##pause"
