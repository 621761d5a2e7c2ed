"""The log: what happened, newest last, coloured by weight."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.applog import Level
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import icon_button
from app.state import App


class LogPanel:
    """The panel; follows the end until the user scrolls up."""

    name = "Log"
    icon = fa.ICON_FA_LIST

    def __init__(self) -> None:
        self._revision = -1
        self._lines: list[tuple[Level, str, str]] = []

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        log = app.log
        if log.revision != self._revision:
            self._lines = [
                (entry.level, entry.clock, entry.text + (f"  (×{entry.count})" if entry.count > 1 else ""))
                for entry in log.entries
            ]
        colors = {
            Level.INFO: gui.palette.text,
            Level.WARNING: gui.palette.warning,
            Level.ERROR: gui.palette.danger,
        }
        imgui.begin_child("lines", (0.0, -imgui.get_frame_height_with_spacing()))
        at_end = imgui.get_scroll_y() >= imgui.get_scroll_max_y()
        imgui.push_text_wrap_pos(0.0)
        for level, clock, text in self._lines[-100:]:
            imgui.text_disabled(clock)
            imgui.same_line()
            imgui.push_style_color(imgui.Col_.text, colors[level])
            imgui.text_unformatted(text)
            imgui.pop_style_color()
        imgui.pop_text_wrap_pos()
        if log.revision != self._revision and at_end:
            imgui.set_scroll_here_y(1.0)
        self._revision = log.revision
        imgui.end_child()
        if icon_button(gui, f"{fa.ICON_FA_COPY}  Copy", "Copy the whole log"):
            imgui.set_clipboard_text(log.text())
        imgui.same_line()
        if icon_button(gui, f"{fa.ICON_FA_TRASH_CAN}  Clear", "Forget the log"):
            log.clear()
