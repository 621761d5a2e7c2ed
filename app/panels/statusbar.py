"""The line at the bottom: the last notice while it is new, then what goes on; cell, device and frame rate."""

from __future__ import annotations

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, right_align
from app.state import App

_FLAGS = (
    imgui.WindowFlags_.no_decoration | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_docking
)

_NOTICE_TIME = 8.0
"""Seconds for which a notice is shown."""


class StatusBar:
    """The bar."""

    def __init__(self) -> None:
        self._seen = -1
        self._until = 0.0
        self._place = Kept()
        self._rate = Kept()

    def draw(self, app: App, gui: Gui) -> None:
        """Build the bar at the bottom of the window."""
        scale = gui.scale
        imgui.push_style_color(imgui.Col_.window_bg, gui.colors.background)
        imgui.push_style_var(imgui.StyleVar_.window_padding, imgui.ImVec2(12 * scale, 4 * scale))
        height = imgui.get_text_line_height() + 8 * scale
        shown = imgui.internal.begin_viewport_side_bar(
            "##status", imgui.get_main_viewport(), imgui.Dir.down, height, _FLAGS
        )
        imgui.pop_style_var()
        imgui.pop_style_color()
        if shown:
            imgui.push_style_color(imgui.Col_.text, gui.colors.muted)
            imgui.text_unformatted(self.left_text(app, imgui.get_time()))
            right = self._right_text(app)
            right_align(imgui.calc_text_size(right).x)
            imgui.text_unformatted(right)
            imgui.pop_style_color()
        imgui.end()

    def left_text(self, app: App, now: float) -> str:
        """Return the notice until it is old, and from then on what goes on in the background."""
        if app.notices != self._seen:
            self._seen, self._until = app.notices, now + _NOTICE_TIME
        if app.notice and now < self._until:
            return app.notice
        if app.recapture is not None:
            return f"capturing {app.recapture.request}…"
        if app.lab is not None and app.lab.job is not None:
            return f"{app.lab.job.title}…"
        if app.session.recorder is not None:
            return f"recording {app.session.recorder.path.name}"
        return ""

    def _right_text(self, app: App) -> str:
        parts = []
        scene, cell = app.scene, app.push.cell
        if scene is not None and cell is not None:
            busy = app.lab is not None and app.lab.job is not None  # work in the background has the player
            height = None if busy else scene.height_at(cell)
            column, row = round(cell[0]), round(cell[1])
            millimetres = None if height is None else round(height * 1e3, 1)
            parts.append(
                str(self._place.get((column, row, millimetres), lambda: _place(column, row, millimetres)))
            )
        if scene is not None:
            parts.append(scene.device_text)
        rate = round(app.times.rate)
        parts.append(str(self._rate.get(rate, lambda: f"{rate} fps")))
        return "     ".join(parts)


def _place(column: int, row: int, millimetres: float | None) -> str:
    height = "" if millimetres is None else f"   {millimetres:+.1f} mm"
    return f"cell {column}, {row}{height}"
