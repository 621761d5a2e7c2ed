"""Edits of baked numbers: making them, taking them back, saving the capture with them."""

from __future__ import annotations

from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.lab.members import Member
from app.panels.widgets import caption, tooltip
from app.state import App
from replay.edit import Edit, Key, save_edited
from replay.errors import RipplescopeError
from replay.graph.model import Argument, Provenance


class EditRow:
    """The row below the arguments that tells how much is edited, while something is."""

    def __init__(self) -> None:
        self._path = ""
        self._lab: Lab | None = None

    def set(
        self, app: App, lab: Lab, event: int, argument: Argument, component: int | None,
        value: float | bool, member: Member | None = None,
    ) -> None:  # fmt: skip
        """Change a number of a launch, or of a member of a struct in it; the next frame uses it.

        Raises:
            RipplescopeError: the value does not fit, or the capture cannot be loaded with it.
        """
        # A type that was inferred is written down, so that it cannot change with the value.
        type_name = argument.type if argument.provenance is not Provenance.KNOWN else ""
        edit = Edit(event, argument.index, value, component, type_name)
        if member is not None:
            edit = Edit(event, argument.index, value, type=member.type, offset=member.offset)
        before = {one.key: one for one in lab.edits.edits}
        lab.edits.set(edit)
        try:
            app.play(lab.edits.capture)
        except RipplescopeError:
            lab.edits.revert(edit.key)
            if edit.key in before:
                lab.edits.set(before[edit.key])
            raise
        lab.revision += 1
        name = argument.name or f"argument {argument.index + 1}"
        name += f", byte {member.offset}," if member is not None else ""
        app.notice = (
            f"event {event}: {name} is now {value:g}"
            if isinstance(value, float)
            else f"event {event}: {name} is now {int(value)}"
        )

    def revert(self, app: App, lab: Lab, key: Key | None) -> None:
        """Take back one edit, or all with None."""
        if key is None:
            lab.edits.revert_all()
        else:
            for edit in lab.edits.edits:
                if _place(edit.key) == _place(key):
                    lab.edits.revert(edit.key)
        app.play(lab.edits.capture)
        lab.revision += 1

    @staticmethod
    def key_of(lab: Lab, event: int, argument: int, offset: int = 0) -> Key | None:
        """Return the key of an edit of an argument or of a member at a byte, None if it is as in the file."""
        wanted = (event, argument, offset)
        return next((edit.key for edit in lab.edits.edits if _place(edit.key) == wanted), None)

    def draw(self, app: App, gui: Gui, lab: Lab) -> None:
        """Build the row; nothing while nothing is edited."""
        count = len(lab.edits.edits)
        if not count:
            return
        if lab is not self._lab:
            path = lab.capture.path
            self._lab, self._path = lab, str(path.with_name(f"{path.stem}-edited.wrp"))
        scale = gui.scale
        imgui.dummy((0.0, 2 * scale))
        imgui.push_style_color(imgui.Col_.text, gui.palette.control)
        imgui.text_unformatted(f"{fa.ICON_FA_PEN}  {count} {'number' if count == 1 else 'numbers'} changed")
        imgui.pop_style_color()
        save, back = f"{fa.ICON_FA_FLOPPY_DISK}  Save", f"{fa.ICON_FA_ROTATE_LEFT}  Revert all"
        if imgui.button(back):
            app.attempt(lambda: self.revert(app, lab, None))
        imgui.same_line(0.0, 6 * scale)
        if imgui.button(f"{save} as…"):
            imgui.open_popup("save")
        tooltip("Write a new .wrp with the changed numbers; the one that is open stays as it is")
        if imgui.begin_popup("save"):
            caption(gui, "Path of the new capture")
            if imgui.is_window_appearing():
                imgui.set_keyboard_focus_here()
            imgui.set_next_item_width(420 * scale)
            entered, self._path = imgui.input_text(
                "##path", self._path, imgui.InputTextFlags_.enter_returns_true
            )
            if imgui.button(save, (110 * scale, 0.0)) or entered:
                app.later(lambda: self._save(app, lab))  # Enter would close a message at once
                imgui.close_current_popup()
            imgui.end_popup()

    def _save(self, app: App, lab: Lab) -> None:
        from app.trust import remember_recorded

        path = save_edited(lab.edits.capture, Path(self._path.strip()).expanduser())
        remember_recorded(path)
        app.tell(f"saved {path}")


def _place(key: Key) -> tuple[int, int, int]:
    """Return event, argument and first byte of an edit, whichever component it is of."""
    return key[0], key[1], key[3]
