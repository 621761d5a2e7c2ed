"""What lies over everything: the error, the open-file form, the shortcuts, the banners on the water."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa

from app.bindings import BINDINGS, MOUSE_BINDINGS
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, caption, elided, heading
from app.state import App

_FIXED = (
    imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_move
)
_BANNER = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_docking
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.always_auto_resize
    | imgui.WindowFlags_.no_focus_on_appearing
)
_ERROR, _OPEN, _HELP = "Error###error", "Open a capture###open", "Shortcuts###help"


class Popups:
    """The popups, and the path that is being typed."""

    def __init__(self) -> None:
        self._path = ""
        self._folders: defaultdict[str, Kept] = defaultdict(Kept)

    def draw(self, app: App, gui: Gui) -> None:
        """Build what is open."""
        self._banners(app, gui)
        if app.message:
            imgui.open_popup(_ERROR)
        elif app.open_asked:
            imgui.open_popup(_OPEN)
        elif app.help_asked:
            imgui.open_popup(_HELP)
        app.open_asked = app.help_asked = False
        close, app.close_popups_asked = app.close_popups_asked, False
        shown = [
            self._modal(gui, _ERROR, lambda: self._error(app, gui), close and not app.message),
            self._modal(gui, _OPEN, lambda: self._open(app, gui), close),
            self._modal(gui, _HELP, lambda: self._help(gui), close),
        ]
        app.popup_open = any(shown)

    @staticmethod
    def _modal(gui: Gui, title: str, inside, close: bool) -> bool:
        viewport = imgui.get_main_viewport()
        imgui.set_next_window_pos(viewport.get_center(), imgui.Cond_.always, (0.5, 0.5))
        imgui.push_style_var(imgui.StyleVar_.window_padding, (18 * gui.scale, 16 * gui.scale))
        opened, _ = imgui.begin_popup_modal(title, None, _FIXED | imgui.WindowFlags_.no_title_bar)
        imgui.pop_style_var()
        if not opened:
            return False
        if close:
            imgui.close_current_popup()
        else:
            inside()
        imgui.end_popup()
        return not close

    @staticmethod
    def _error(app: App, gui: Gui) -> None:
        imgui.push_style_color(imgui.Col_.text, gui.palette.danger)
        heading(gui, f"{fa.ICON_FA_TRIANGLE_EXCLAMATION}  That did not work")
        imgui.pop_style_color()
        imgui.dummy((0.0, 2 * gui.scale))
        imgui.push_text_wrap_pos(460 * gui.scale)
        imgui.text_unformatted(app.message)
        imgui.pop_text_wrap_pos()
        imgui.dummy((460 * gui.scale, 4 * gui.scale))
        if imgui.button("Close", (110 * gui.scale, 0.0)) or imgui.is_key_pressed(imgui.Key.enter):
            app.message = ""
            imgui.close_current_popup()
        imgui.same_line()
        if imgui.button("Copy", (90 * gui.scale, 0.0)):
            imgui.set_clipboard_text(app.message)

    def _open(self, app: App, gui: Gui) -> None:
        width = 560 * gui.scale
        heading(gui, f"{fa.ICON_FA_FOLDER_OPEN}  Open a capture")
        if imgui.is_window_appearing():
            imgui.set_keyboard_focus_here()
        imgui.set_next_item_width(width)
        entered, self._path = imgui.input_text_with_hint(
            "##path", "path of a .wrp file", self._path, imgui.InputTextFlags_.enter_returns_true
        )
        chosen = self._path if entered else ""
        if app.settings.recent:
            caption(gui, "Recent")
            for text in app.settings.recent:
                path = Path(text)
                if imgui.selectable(f"{path.name}##{text}", False, 0, (width, 0.0))[0]:
                    chosen = text
                room = width - imgui.calc_text_size(path.name).x - 24 * gui.scale
                folder = str(self._folders[text].get(room, lambda: elided(str(path.parent), room)))  # noqa: B023
                imgui.same_line(imgui.get_cursor_start_pos().x + width - imgui.calc_text_size(folder).x)
                caption(gui, folder)
        caption(gui, "Or drop a file on the window.")
        imgui.dummy((0.0, 2 * gui.scale))
        if imgui.button("Open", (110 * gui.scale, 0.0)):
            chosen = self._path
        imgui.same_line()
        if imgui.button("Cancel", (90 * gui.scale, 0.0)):
            imgui.close_current_popup()
        if chosen.strip():
            path = Path(chosen.strip()).expanduser()
            app.later(lambda: app.open(path))
            imgui.close_current_popup()

    @staticmethod
    def _help(gui: Gui) -> None:
        heading(gui, f"{fa.ICON_FA_KEYBOARD}  Shortcuts")
        imgui.dummy((0.0, 4 * gui.scale))
        key_width, column = 96 * gui.scale, 320 * gui.scale
        imgui.begin_group()
        caption(gui, "Mouse, over the water")
        for mouse in MOUSE_BINDINGS:
            _line(gui, mouse.shown, mouse.description, key_width)
        groups = [(name, list(rows)) for name, rows in groupby(BINDINGS, key=lambda binding: binding.group)]
        for index, (name, rows) in enumerate(groups):
            if index == 1:
                imgui.end_group()
                imgui.same_line(column + 40 * gui.scale)
                imgui.begin_group()
            elif index:
                imgui.dummy((0.0, 6 * gui.scale))
            else:
                imgui.dummy((0.0, 6 * gui.scale))
            caption(gui, name)
            for binding in rows:
                _line(gui, binding.shown, binding.description, key_width)
        imgui.end_group()
        imgui.dummy((0.0, 4 * gui.scale))
        if imgui.button("Close", (110 * gui.scale, 0.0)):
            imgui.close_current_popup()

    @staticmethod
    def _banners(app: App, gui: Gui) -> None:
        scene = app.scene
        if scene is None:
            return
        if scene.not_finite:
            text, button = "The water is not finite any more: a NaN or an infinity spread.", "Reset the water"
        elif scene.changed_on_disk:
            text, button = f"{scene.name} has changed on disk.", "Reload"
        else:
            return
        x, y, width, height = app.canvas.rect
        imgui.set_next_window_pos(
            (x + width / 2, y + height - 18 * gui.scale), imgui.Cond_.always, (0.5, 1.0)
        )
        imgui.push_style_color(imgui.Col_.window_bg, gui.palette.raised)
        imgui.begin("##banner", None, _BANNER)
        imgui.pop_style_color()
        imgui.align_text_to_frame_padding()
        imgui.push_style_color(imgui.Col_.text, gui.palette.warning)
        imgui.text_unformatted(fa.ICON_FA_TRIANGLE_EXCLAMATION)
        imgui.pop_style_color()
        imgui.same_line()
        imgui.text_unformatted(text)
        imgui.same_line()
        if imgui.button(button):
            app.later(scene.reset_water if scene.not_finite else app.reload)
        imgui.end()


def _line(gui: Gui, key: str, text: str, key_width: float) -> None:
    start = imgui.get_cursor_pos_x()
    imgui.push_style_color(imgui.Col_.text, gui.palette.accent_strong)
    imgui.text_unformatted(key)
    imgui.pop_style_color()
    imgui.same_line()
    imgui.set_cursor_pos_x(start + key_width)
    imgui.text_unformatted(text)
