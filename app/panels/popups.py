"""What lies over everything: the error, the open-file form, the shortcuts, the banner on the water."""

from __future__ import annotations

from itertools import groupby

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import select
from app.bindings import BINDINGS, MOUSE_BINDINGS
from app.gl_platform import imgui
from app.gui import Gui
from app.opening import Answer
from app.panels.banner import Banner
from app.panels.open_form import OpenForm
from app.panels.widgets import caption, heading
from app.state import App

_FIXED = (
    imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_saved_settings | imgui.WindowFlags_.no_move
)
_MODAL = _FIXED | imgui.WindowFlags_.no_title_bar
_ERROR, _OPEN, _HELP = "Error###error", "Open a capture###open", "Shortcuts###help"
_TRUST, _GO_TO = "Trust###trust", "Go to event###goto"
_WARNINGS = 4
_ANY = imgui.PopupFlags_.any_popup


class Popups:
    """The popups, and what is being typed into them."""

    def __init__(self) -> None:
        self._event = ""
        self._form = OpenForm()
        self._banner = Banner()

    def draw(self, app: App, gui: Gui) -> None:
        """Build what is open."""
        self._banner.draw(app, gui)
        if app.message:
            imgui.open_popup(_ERROR)
        elif app.open_asked:
            imgui.open_popup(_OPEN)
        elif app.question is not None and not imgui.is_popup_open("", _ANY):
            imgui.open_popup(_TRUST)
        elif app.go_to_asked:
            imgui.open_popup(_GO_TO)
        elif app.help_asked:
            imgui.open_popup(_HELP)
        app.open_asked = app.help_asked = app.go_to_asked = False
        self._escape(app)
        if imgui.is_popup_open("", _ANY):
            self._modal(gui, _ERROR, lambda: self._error(app, gui))
            self._modal(gui, _OPEN, lambda: self._form.draw(app, gui))
            self._modal(gui, _HELP, lambda: self._help(gui))
            self._modal(gui, _TRUST, lambda: self._trust(app, gui))
            self._modal(gui, _GO_TO, lambda: self._go_to(app, gui))
        app.popup_open = imgui.is_popup_open("", _ANY)
        app.widget_held = imgui.is_any_item_active()

    @staticmethod
    def _escape(app: App) -> None:
        """Close what lies on top, be it a form, a menu or a list, or let go of the widget that is held."""
        close, app.close_popups_asked = app.close_popups_asked, False
        let_go, app.let_go_asked = app.let_go_asked, False
        if let_go:
            imgui.internal.clear_active_id()
        if not close:
            return
        if app.question is not None and imgui.is_popup_open(_TRUST):
            if app.question.trying:
                app.forget_question()
            else:
                app.attempt(lambda: app.answer(Answer.NO))
        stack = imgui.get_current_context().open_popup_stack
        level = len(stack) - 1
        # A menu goes with the one that it belongs to, over which the pointer would open it again.
        while level > 0 and not any(_is_modal(stack[index]) for index in (level, level - 1)):
            level -= 1
        if level >= 0:
            imgui.internal.close_popup_to_level(level, True)

    @staticmethod
    def _modal(gui: Gui, title: str, inside) -> None:
        viewport = imgui.get_main_viewport()
        imgui.set_next_window_pos(viewport.get_center(), imgui.Cond_.always, (0.5, 0.5))
        imgui.push_style_var(imgui.StyleVar_.window_padding, imgui.ImVec2(18 * gui.scale, 16 * gui.scale))
        opened, _ = imgui.begin_popup_modal(title, None, _MODAL)
        imgui.pop_style_var()
        if opened:
            inside()
            imgui.end_popup()

    @staticmethod
    def _error(app: App, gui: Gui) -> None:
        imgui.push_style_color(imgui.Col_.text, gui.colors.danger)
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

    @staticmethod
    def _trust(app: App, gui: Gui) -> None:
        """Ask whether the capture may run; then tell that it is being tried."""
        question = app.question
        if question is None:
            imgui.close_current_popup()
            return
        width = 520 * gui.scale
        imgui.push_style_color(imgui.Col_.text, gui.colors.warning)
        heading(gui, f"{fa.ICON_FA_SHIELD_HALVED}  Replay {question.capture.path.name}?")
        imgui.pop_style_color()
        imgui.dummy((0.0, 2 * gui.scale))
        imgui.push_text_wrap_pos(width)
        imgui.text_unformatted(question.text)
        for fault in question.warnings[:_WARNINGS]:
            imgui.push_style_color(imgui.Col_.text, gui.colors.warning)
            imgui.text_unformatted(f"{fa.ICON_FA_TRIANGLE_EXCLAMATION}  {fault}")
            imgui.pop_style_color()
        if len(question.warnings) > _WARNINGS:
            caption(gui, f"and {len(question.warnings) - _WARNINGS} more, in the Problems panel")
        if not question.trying:
            caption(gui, "Without a replay you can still look at the graph, the arguments and the contents.")
        imgui.pop_text_wrap_pos()
        imgui.dummy((width, 4 * gui.scale))
        if question.trying:
            imgui.progress_bar(
                -imgui.get_time(), (width - 100 * gui.scale, 0.0), "Trying it in a child process…"
            )
            imgui.same_line()
            if imgui.button("Cancel", (92 * gui.scale, 0.0)):
                app.forget_question()
            return
        half = (width - 16 * gui.scale) / 3
        for answer, label in (
            (Answer.NO, "Only look"), (Answer.ONCE, "Replay this time"), (Answer.ALWAYS, "Always replay it"),
        ):  # fmt: skip
            if answer is not Answer.NO:
                imgui.same_line(0.0, 8 * gui.scale)
            if imgui.button(label, (half, 0.0)):
                app.attempt(lambda answer=answer: app.answer(answer))

    def _go_to(self, app: App, gui: Gui) -> None:
        lab = app.lab
        count = len(lab.capture.operations) if lab is not None else 0
        heading(gui, f"{fa.ICON_FA_HASHTAG}  Go to event")
        if imgui.is_window_appearing():
            self._event = ""
            imgui.set_keyboard_focus_here()
        imgui.set_next_item_width(220 * gui.scale)
        entered, self._event = imgui.input_text_with_hint(
            "##event", f"0 to {count - 1}" if count else "no event", self._event,
            imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.chars_decimal,
        )  # fmt: skip
        if entered and self._event.strip().isdecimal() and int(self._event) < count:
            select(app, int(self._event))
            imgui.close_current_popup()

    @staticmethod
    def _help(gui: Gui) -> None:
        imgui.align_text_to_frame_padding()
        heading(gui, f"{fa.ICON_FA_KEYBOARD}  Shortcuts")
        imgui.same_line(0.0, 24 * gui.scale)
        if imgui.button("Close", (110 * gui.scale, 0.0)):  # up here, where no window is too low for it
            imgui.close_current_popup()
        imgui.dummy((0.0, 4 * gui.scale))
        groups = [(name, list(rows)) for name, rows in groupby(BINDINGS, key=lambda binding: binding.group)]
        lines = [(name, [(row.shown, row.description) for row in rows]) for name, rows in groups]
        mouse = ("Mouse, over the water", [(row.shown, row.description) for row in MOUSE_BINDINGS])
        columns = ([mouse, *lines[:2]], lines[2:])
        x = imgui.get_cursor_pos_x()
        for number, column in enumerate(columns):
            if number:
                imgui.same_line()
                imgui.set_cursor_pos_x(x)
            imgui.begin_group()
            x += _column(gui, x, column) + 36 * gui.scale
            imgui.end_group()


def _is_modal(popup: imgui.internal.PopupData) -> bool:
    return popup.window is not None and bool(popup.window.flags & imgui.WindowFlags_.modal)


def _column(gui: Gui, x: float, groups: list[tuple[str, list[tuple[str, str]]]]) -> float:
    """Build groups of keys and what they do below each other; return how wide that is."""
    keys = max(imgui.calc_text_size(key).x for _, rows in groups for key, _ in rows) + 18 * gui.scale
    words = max(imgui.calc_text_size(text).x for _, rows in groups for _, text in rows)
    for index, (title, rows) in enumerate(groups):
        if index:
            imgui.dummy((0.0, 6 * gui.scale))
        caption(gui, title)
        for key, text in rows:
            imgui.push_style_color(imgui.Col_.text, gui.colors.accent_strong)
            imgui.text_unformatted(key)
            imgui.pop_style_color()
            imgui.same_line()
            imgui.set_cursor_pos_x(x + keys)
            imgui.text_unformatted(text)
    return keys + words
