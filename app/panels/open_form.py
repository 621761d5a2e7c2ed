"""The form that finds a capture: a path to type, the folder that it is in, and the files opened before.

Enter, a double click and the button open; Tab completes, the arrow keys go through the list. A path with no
file is told here; what is wrong inside a file is told as for any other way to open one.
"""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa

from app.folder import Listing, completed, listed, path_fault, typed_place
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, caption, elided, heading
from app.state import App
from replay.text import printable

_FIELD = (
    imgui.InputTextFlags_.enter_returns_true
    | imgui.InputTextFlags_.auto_select_all
    | imgui.InputTextFlags_.callback_completion
    | imgui.InputTextFlags_.callback_history
    | imgui.InputTextFlags_.callback_always
)
_TWICE = imgui.SelectableFlags_.allow_double_click | imgui.SelectableFlags_.no_auto_close_popups
_RECENT = 5


class OpenForm:
    """The form; remembers the path of the last time."""

    def __init__(self) -> None:
        self._text = self._fault = ""
        self._listing = Listing(Path(), ())
        self._selected = -1
        self._focus = self._to_end = self._moved = False
        self._cut: defaultdict[str, Kept] = defaultdict(Kept)

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the popup."""
        scale = gui.scale
        room = imgui.get_main_viewport().work_size
        width = min(620 * scale, max(room.x - 60 * scale, 120 * scale))
        if imgui.is_window_appearing():
            self._focus, self._to_end, self._fault = True, False, ""
            self._look(*typed_place(self._text))
        heading(gui, f"{fa.ICON_FA_FOLDER_OPEN}  Open a capture")
        chosen = self._field(width)
        self._told(gui, width)
        chosen = self._list(gui, width, min(230 * scale, max(room.y - 330 * scale, 70 * scale))) or chosen
        chosen = self._recent(app, gui, width) or chosen
        caption(gui, "Tab completes, ↑ ↓ choose. Or drop a file on the window.")
        imgui.dummy((0.0, 2 * scale))
        if imgui.button("Open", (110 * scale, 0.0)):
            chosen = self._wanted()
        imgui.same_line()
        if imgui.button("Cancel", (90 * scale, 0.0)):
            imgui.close_current_popup()
        if chosen is not None:
            self._choose(app, chosen)

    def _field(self, width: float) -> Path | None:
        """The path; returns what Enter chooses."""
        if self._focus:
            self._focus = False
            imgui.set_keyboard_focus_here()
        imgui.set_next_item_width(width)
        # The path of the last time stands there, chosen whole: typing replaces it.
        entered, text = imgui.input_text_with_hint(
            "##path", "path of a .wrp file or a session", self._text, _FIELD, self._keys
        )
        if text != self._text:
            self._text, self._fault = text, ""
            self._look(*typed_place(text))
        return self._wanted() if entered else None

    def _keys(self, data: imgui.InputTextCallbackData) -> int:
        """Complete, go through the list, or put the cursor behind what was put into the field."""
        if data.event_flag == imgui.InputTextFlags_.callback_completion:
            text = completed(data.buf)
            if text != data.buf:
                data.delete_chars(0, data.buf_text_len)
                data.insert_chars(0, text)
        elif data.event_flag == imgui.InputTextFlags_.callback_history:
            step = -1 if data.event_key == imgui.Key.up_arrow else 1
            count = len(self._listing.entries)
            self._selected = min(max(self._selected + step, 0), count - 1)
            self._moved = True
        elif self._to_end:
            self._to_end = False
            data.cursor_pos = data.selection_start = data.selection_end = data.buf_text_len
        return 0

    def _told(self, gui: Gui, width: float) -> None:
        """What is wrong with the path, or which folder is listed."""
        fault = self._fault or self._listing.fault
        text = fault or str(self._listing.folder)
        shown = str(self._cut["told"].get((text, width), lambda: elided(printable(text), width)))
        imgui.push_style_color(imgui.Col_.text, gui.palette.danger if fault else gui.palette.muted)
        imgui.text_unformatted(shown)
        imgui.pop_style_color()
        if shown != text and imgui.is_item_hovered():
            imgui.set_tooltip(printable(text))

    def _list(self, gui: Gui, width: float, height: float) -> Path | None:
        """The folder's folders and captures; returns what a double click chooses."""
        chosen = None
        imgui.push_style_color(imgui.Col_.child_bg, gui.palette.field)
        imgui.begin_child("folder", (width, height), imgui.ChildFlags_.always_use_window_padding)
        parent = self._listing.folder.parent
        if (
            parent != self._listing.folder
            and imgui.selectable(f"{fa.ICON_FA_ARROW_UP}  ..", False, _TWICE)[0]
        ):
            chosen = parent
        for index, entry in enumerate(self._listing.entries):
            icon = fa.ICON_FA_FOLDER if entry.is_folder else fa.ICON_FA_FILE
            here = index == self._selected
            if imgui.selectable(f"{icon}  {printable(entry.name)}##{index}", here, _TWICE)[0]:
                self._selected, self._text, self._fault = index, str(entry.path), ""
                if imgui.is_mouse_double_clicked(0):
                    chosen = entry.path
            if here and self._moved:
                imgui.set_scroll_here_y()
                self._moved = False
        if self._listing.left_out:
            caption(gui, f"and {self._listing.left_out:,} more: type how the name begins")
        elif not self._listing.entries and not self._listing.fault:
            caption(gui, "No folder and no .wrp file and no session here is called so.")
        imgui.end_child()
        imgui.pop_style_color()
        return chosen

    def _recent(self, app: App, gui: Gui, width: float) -> Path | None:
        """The files that were opened last; returns the one that is clicked."""
        chosen = None
        for index, text in enumerate(app.settings.recent[:_RECENT]):
            if not index:
                caption(gui, "Recent")
            path = Path(text)
            name = printable(path.name)
            label = f"{fa.ICON_FA_CLOCK_ROTATE_LEFT}  {name}"
            if imgui.selectable(f"{label}##{text}", False, 0, (width, 0.0))[0]:
                chosen = path
            left = imgui.calc_text_size(label).x + 24 * gui.scale
            room = max(width - left, 1.0)
            folder = str(
                self._cut[text].get(
                    room, lambda path=path, room=room: elided(printable(str(path.parent)), room)
                )
            )
            imgui.same_line(imgui.get_cursor_start_pos().x + width - imgui.calc_text_size(folder).x)
            caption(gui, folder)
        return chosen

    def _wanted(self) -> Path | None:
        """Return what is marked in the list, or else what is typed."""
        if 0 <= self._selected < len(self._listing.entries):
            return self._listing.entries[self._selected].path
        return Path(self._text.strip()).expanduser() if self._text.strip() else None

    def _choose(self, app: App, path: Path) -> None:
        """Go into a folder, open a file, or say why neither is possible."""
        self._focus = self._to_end = True
        if path.is_dir():
            self._text = f"{path.resolve()}{os.sep}".replace(2 * os.sep, os.sep)
            self._fault = ""
            self._look(*typed_place(self._text))
            return
        self._fault = path_fault(path)
        if not self._fault:
            app.later(lambda: app.open(path))
            imgui.close_current_popup()

    def _look(self, folder: Path, beginning: str) -> None:
        """List a folder; nothing in it is marked."""
        self._listing, self._selected = listed(folder, beginning), -1
