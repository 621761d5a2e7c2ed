"""Which panels are built anew in a build, and which keep what ImGui drew of them in an earlier one.

Nearly all of a panel's time goes into calls of ImGui, and most of what they draw was there before. So while
nobody's hand is on the panels and nothing that they show has changed, panels that only tell readings take
turns. The one under the pointer is always built, and so are panels that are not named here.
"""

from __future__ import annotations

from app.gl_platform import imgui
from app.gui import Gui
from app.lab.selection import Kind
from app.state import App

_internal = imgui.internal
_KEEP = _internal.WindowRefreshFlags_.try_to_avoid_refresh | _internal.WindowRefreshFlags_.refresh_on_hover
_CHILD = imgui.WindowFlags_.child_window.value
_SETTLING = 4
"""Whole builds after a change: ImGui shows some effects of one only in the build after it."""
INTERVALS = {
    "menu": 0.25, "status bar": 0.1, "Parameters": 0.25, "Inspector": 0.25, "Events": 0.25,
    "Performance": 0.1,
}  # fmt: skip
"""Seconds between two builds of what may be kept. The others move with every frame."""


class Keeping:
    """Decides, once a build, what is kept in it."""

    def __init__(self) -> None:
        self._built = dict.fromkeys(INTERVALS, -1.0)
        self._whole = _SETTLING
        self._state: tuple[object, ...] = ()
        self._over_water = False
        self._turn = ""
        self._live = ""
        self._scrolled: set[str] = set()

    def begin(self, app: App, gui: Gui) -> None:
        """Look at what happened since the last build, at the beginning of the next one."""
        state, now = _state_of(app, gui), imgui.get_time()
        over_water, self._over_water = self._over_water, app.canvas.hovered
        used = gui.keys_used or (gui.pointer_used and not (over_water and app.canvas.hovered))
        held = app.widget_held and True not in app.canvas.down
        if used or held or app.popup_open or state != self._state or _is_busy(app) or gui.whole:
            self._state, self._whole = state, _SETTLING
        elif self._whole:
            self._whole -= 1
        # What is selected may have contents that move with every frame.
        inspects = app.lab is not None and app.lab.selection.kind is not Kind.NOTHING
        self._live = "Inspector" if inspects else ""
        if self._whole:
            self._built = dict.fromkeys(INTERVALS, now)
            return
        # One at a time, so that no build costs much more than the others.
        built = self._built
        self._turn = min(INTERVALS, key=lambda name: built[name] + INTERVALS[name])
        if now < built[self._turn] + INTERVALS[self._turn]:
            self._turn = ""
        else:
            built[self._turn] = now

    def before(self, name: str) -> bool:
        """Let ImGui keep the window that begins next, if it may; return whether it may.

        Whether it does is known when the window has begun: not if it is hovered, or was hidden until now.
        """
        if self._whole or name not in INTERVALS or name in (self._turn, self._live) or name in self._scrolled:
            return False
        _internal.set_next_window_refresh_policy(_KEEP)
        return True

    def built(self, name: str) -> None:
        """Note a panel whose window has been begun and is built.

        ImGui draws the scroll bar of a docked window, though not of a child in it, with the dock.
        """
        if imgui.get_scroll_max_y() > 0.0:
            self._scrolled.add(name)
        else:
            self._scrolled.discard(name)

    @staticmethod
    def attach() -> None:
        """Leave a docked window that is kept, and has just begun, among the children of what it is docked in.

        ImGui draws a docked window as a child of its dock, and notes only those children that are built.
        """
        window = _internal.get_current_window()
        if window.skip_refresh and window.flags & _CHILD:
            window.parent_window.dc.child_windows.push_back(window)


def _is_busy(app: App) -> bool:
    """Whether something goes on that panels follow closely."""
    lab = app.lab
    return lab is not None and (lab.job is not None or lab.frame.looking)


def _state_of(app: App, gui: Gui) -> tuple[object, ...]:
    """Return what the panels depend on, readings of the running water excepted."""
    scene, lab = app.scene, app.lab
    size, atlas = imgui.get_io().display_size, imgui.get_io().fonts.tex_data
    # A larger atlas has its letters elsewhere, so what was drawn with the old one cannot be kept.
    look = (size.x, size.y, atlas.unique_id, gui.colors, gui.scale)
    asked = (
        app.focused, app.find_asked, app.go_to_asked, app.layout_reset_asked, len(app.closed_panels),
        app.message, app.question is None, app.notices, app.preset, len(app.presets), app.recapture is None,
        app.watching is None, app.session.recorder is None, app.free_run,
    )  # fmt: skip
    if scene is None or lab is None:
        return look, asked
    editor, selection, clock = scene.editor, lab.selection, scene.clock
    revisions = (editor.revision, lab.revision, selection.revision, lab.frame.revision)
    return (
        look, asked, revisions, lab, lab.opened, editor.can_undo, editor.can_redo, clock.paused,
        clock.speed, clock.timed, scene.not_finite,
    )  # fmt: skip
