"""The menu bar: every action, the recent files, the panels, the theme."""

from __future__ import annotations

from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform
from app.bindings import Action, shown_key
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.session import start, stop
from app.panels.widgets import right_align
from app.settings import THEMES
from app.state import App

_SCALES = (0.8, 1.0, 1.25, 1.5, 2.0)


class MenuBar:
    """The bar.

    Args:
        panels: names of the panels that can be shown and hidden.
    """

    def __init__(self, panels: list[str]) -> None:
        self._panels = panels

    def draw(self, app: App, gui: Gui) -> None:
        """Build the bar at the top of the window."""
        if not imgui.begin_main_menu_bar():
            return
        imgui.push_style_color(imgui.Col_.text, gui.colors.accent_strong)
        imgui.push_font(gui.bold, 0.0)
        imgui.text_unformatted(f"{fa.ICON_FA_WATER}  Ripplescope")
        imgui.pop_font()
        imgui.pop_style_color()
        if imgui.begin_menu("File"):
            self._file(app)
            imgui.end_menu()
        if imgui.begin_menu("Edit"):
            editor = app.scene.editor if app.scene is not None else None
            _item(app, "Undo", Action.UNDO, enabled=editor is not None and editor.can_undo)
            _item(app, "Redo", Action.REDO, enabled=editor is not None and editor.can_redo)
            if (
                imgui.menu_item_simple("Reset all parameters", "", False, editor is not None)
                and editor is not None
            ):
                editor.reset()
            imgui.end_menu()
        if imgui.begin_menu("Time"):
            paused = app.scene is not None and app.scene.clock.paused
            _item(app, "Go on" if paused else "Pause", Action.PAUSE)
            _item(app, "Step one frame", Action.STEP)
            _item(app, "Slower", Action.SLOWER)
            _item(app, "Faster", Action.FASTER)
            if imgui.menu_item_simple("Free run: one launch a frame", "", app.free_run):
                app.set_free_run(not app.free_run)
            imgui.separator()
            _item(app, "Reset the water", Action.RESET_WATER)
            imgui.end_menu()
        if imgui.begin_menu("Session"):
            self._session(app)
            imgui.end_menu()
        if imgui.begin_menu("View"):
            self._view(app, gui)
            imgui.end_menu()
        if imgui.begin_menu("Help"):
            _item(app, "Shortcuts", Action.HELP)
            if imgui.menu_item_simple(
                "Capture, explained", "", "Capture, explained" not in app.closed_panels
            ):
                app.closed_panels ^= {"Capture, explained"}
                app.save_settings()
            imgui.end_menu()
        if app.scene is not None:
            name = app.scene.name
            right_align(imgui.calc_text_size(name).x + 12 * gui.scale)
            imgui.text_disabled(name)
            if imgui.is_item_hovered():
                imgui.set_tooltip(str(app.scene.capture.path))
        imgui.end_main_menu_bar()

    @staticmethod
    def _file(app: App) -> None:
        _item(app, "Open…", Action.OPEN)
        if imgui.begin_menu("Open recent", bool(app.settings.recent)):
            for text in app.settings.recent:
                path = Path(text)
                if imgui.menu_item_simple(f"{path.name}##{text}"):
                    app.later(lambda path=path: app.open(path))
                if imgui.is_item_hovered():
                    imgui.set_tooltip(text)
            imgui.end_menu()
        _item(app, "Reload", Action.RELOAD, enabled=app.scene is not None)
        imgui.separator()
        _item(app, "Save a screenshot", Action.SCREENSHOT)
        imgui.separator()
        if imgui.menu_item_simple("Quit", shown_key(Action.QUIT)):
            app.quitting = True

    @staticmethod
    def _session(app: App) -> None:
        session = app.session
        ready = app.scene is not None and app.scene.player is not None
        if session.recorder is not None:
            if imgui.menu_item_simple("Stop recording"):
                app.later(lambda: stop(app))
        elif imgui.menu_item_simple("Record", "", False, ready):
            app.later(lambda: start(app))
        last = session.last if session.recorder is None else None
        if imgui.menu_item_simple("Watch the newest again", "", False, last is not None) and last is not None:
            app.later(lambda: app.open(last))
        _item(app, "Open a session…", Action.OPEN)
        imgui.separator()
        if imgui.menu_item_simple("Rewind and export…", "", "Session" not in app.closed_panels):
            app.closed_panels ^= {"Session"}
            app.save_settings()

    def _view(self, app: App, gui: Gui) -> None:
        for name in self._panels:
            if imgui.menu_item_simple(name, "", name not in app.closed_panels):
                app.closed_panels ^= {name}
                app.save_settings()
        imgui.separator()
        _item(app, "Hide the panels", Action.TOGGLE_PANELS)
        if imgui.menu_item_simple("Reset the layout"):
            app.reset_layout()
        imgui.separator()
        _item(app, "Frame the whole grid", Action.FRAME_VIEW)
        _item(app, "Water or data", Action.NEXT_MODE)
        _item(app, "Full screen", Action.FULL_SCREEN)
        imgui.separator()
        if imgui.begin_menu("Theme"):
            for name in THEMES:
                if imgui.menu_item_simple(name.capitalize(), "", name == app.settings.theme):
                    app.settings.theme = name
                    app.later(lambda: _restyle(app, gui))
            imgui.end_menu()
        if imgui.begin_menu("Scale"):
            for scale in _SCALES:
                if imgui.menu_item_simple(f"{scale:.0%}", "", scale == app.settings.ui_scale):
                    app.settings.ui_scale = scale
                    app.later(lambda: _restyle(app, gui))
            imgui.end_menu()


def _restyle(app: App, gui: Gui) -> None:
    gui.theme_name, gui.user_scale = app.settings.theme, app.settings.ui_scale
    gui.restyle()
    app.save_settings()


def _item(app: App, text: str, action: Action, *, enabled: bool = True) -> None:
    if imgui.menu_item_simple(text, shown_key(action), False, enabled):
        perform(app, action)
