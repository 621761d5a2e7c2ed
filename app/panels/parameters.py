"""The parameters of the open capture: one row each, the stability gauge, presets, undo and redo.

What can be set and what cannot is `app.editor`'s business; here are widgets only.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform
from app.bindings import Action
from app.editor import ParameterEditor
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.frame_form import FrameForm
from app.panels.preset_row import PresetRow
from app.panels.slider import slider
from app.panels.widgets import (
    Kept,
    caption,
    hint,
    icon_button,
    input_whole,
    right_align,
    shape_text,
    tooltip,
    unit_text,
)
from app.state import App
from replay.errors import ParameterError
from replay.parameters import ParameterSpec

_UNDO = hint("Undo", Action.UNDO)
_REDO = hint("Redo", Action.REDO)
_LIT_SECONDS = 1.6


class ParametersPanel:
    """The panel."""

    name = "Parameters"
    icon = fa.ICON_FA_SLIDERS

    def __init__(self) -> None:
        self._frame = FrameForm()
        self._presets = PresetRow()
        self._gauge = Kept()
        self._inside = Kept()
        self._typed: dict[str, tuple[float, ...]] = {}
        self._lit = ""
        self._lit_until = 0.0

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if app.scene is None:
            caption(gui, "Open a capture to see its parameters.")
            return
        editor = app.scene.editor
        self._buttons(app, gui, editor)
        self._presets.draw(app, gui)
        imgui.dummy((0.0, 2 * gui.scale))
        if not editor.names:
            replayed = app.scene.player is not None
            none = "This capture names no small arrays to move."
            caption(gui, none if replayed else "Not replayed: nothing to move.")
        for name in editor.names:
            imgui.push_id(name)
            if name == app.focused:
                self._show(app)
            lit = name == self._lit and imgui.get_time() < self._lit_until
            if lit:
                imgui.push_style_color(imgui.Col_.text, gui.colors.accent_strong)
            self._row(app, gui, editor, name)
            if lit:
                imgui.pop_style_color()
            imgui.pop_id()
        self._stability(gui, editor)
        self._frame.draw(app, gui)

    def _show(self, app: App) -> None:
        """Bring a parameter into view that was chosen elsewhere, and light it up for a moment."""
        self._lit, app.focused = app.focused, ""
        self._lit_until = imgui.get_time() + _LIT_SECONDS
        imgui.set_scroll_here_y(0.3)
        imgui.set_window_focus()

    def _buttons(self, app: App, gui: Gui, editor: ParameterEditor) -> None:
        if icon_button(gui, f"{fa.ICON_FA_ROTATE_LEFT}##undo", _UNDO, enabled=editor.can_undo, quiet=False):
            perform(app, Action.UNDO)
        imgui.same_line(0.0, 4 * gui.scale)
        if icon_button(gui, f"{fa.ICON_FA_ROTATE_RIGHT}##redo", _REDO, enabled=editor.can_redo, quiet=False):
            perform(app, Action.REDO)
        imgui.same_line(0.0, 4 * gui.scale)
        if icon_button(gui, f"{fa.ICON_FA_COPY}##copy", "Copy as a command line", quiet=False):
            imgui.set_clipboard_text(editor.command_line(str(app.scene.capture.path)))  # type: ignore[union-attr]
            app.tell("copied the command line to the clipboard")
        label = f"{fa.ICON_FA_ERASER}  Reset all"
        if imgui.get_content_region_avail().x < 212 * gui.scale:
            label = f"{fa.ICON_FA_ERASER}##reset all"
        right_align(imgui.calc_text_size(label, True).x + 16 * gui.scale)
        if imgui.button(label):
            _tell(app, editor.reset())
        tooltip("Give every parameter its default")

    def _row(self, app: App, gui: Gui, editor: ParameterEditor, name: str) -> None:
        spec, value = editor.specs[name], editor.values[name]
        imgui.text_unformatted(spec.label or name)
        if imgui.is_item_hovered():
            tooltip(about(spec))
        if spec.unit:
            imgui.same_line(0.0, 6 * gui.scale)
            caption(gui, unit_text(spec.unit))
        inside = self._values_inside(app, editor).get(name, "")
        if inside:
            imgui.same_line(0.0, 6 * gui.scale)
            imgui.push_style_color(imgui.Col_.text, gui.colors.control)
            imgui.text_unformatted(inside)
            imgui.pop_style_color()
            tooltip("What it holds in the state that is looked at; the field is what a frame begins with")
        if not editor.is_default(name):
            side = imgui.get_text_line_height()
            right_align(side + 6 * gui.scale)
            imgui.push_style_var(imgui.StyleVar_.frame_padding, imgui.ImVec2(3 * gui.scale, 0.0))
            if icon_button(gui, f"{fa.ICON_FA_ROTATE_LEFT}##default", "Back to the default"):
                _tell(app, editor.reset([name]))
            imgui.pop_style_var()
        if len(value) == 1 and spec.element.scalar.kind == "f":
            self._number(app, gui, editor, name, spec, float(value[0]))
        else:
            self._numbers(app, editor, name, spec, value)
        imgui.dummy((0.0, 3 * gui.scale))

    def _values_inside(self, app: App, editor: ParameterEditor) -> dict[str, str]:
        """Return the values, as texts, that are others in the state after an event that is looked at."""
        lab = app.lab
        if lab is None or not lab.frame.looking:
            return {}
        key = (lab, lab.frame.revision, editor.revision)
        return self._inside.get(key, lambda: values_inside(lab, editor))  # type: ignore[return-value]

    def _number(
        self, app: App, gui: Gui, editor: ParameterEditor, name: str, spec: ParameterSpec, value: float
    ) -> None:
        width = imgui.get_content_region_avail().x
        if spec.minimum is not None and spec.maximum is not None:
            field = 84 * gui.scale
            imgui.set_next_item_width(max(width - field - 8 * gui.scale, 40.0))
            self._slider(gui, editor, name, spec, value)
            imgui.same_line(0.0, 8 * gui.scale)
            imgui.set_next_item_width(field)
        else:
            imgui.set_next_item_width(width)
        changed, typed = imgui.input_float("##field", value, 0.0, 0.0, _number_format(value))
        if changed:
            self._typed[name] = (typed,)
        self._finish(app, editor, name, (value,))

    def _finish(self, app: App, editor: ParameterEditor, name: str, value: tuple[float, ...]) -> None:
        """Set what was typed; Enter sets also what was shown already, for the graph may have changed it."""
        entered = imgui.is_key_pressed(imgui.Key.enter) or imgui.is_key_pressed(imgui.Key.keypad_enter)
        if imgui.is_item_deactivated() and (name in self._typed or entered):
            self._set(app, editor, name, self._typed.pop(name, value))

    @staticmethod
    def _slider(gui: Gui, editor: ParameterEditor, name: str, spec: ParameterSpec, value: float) -> None:
        low, high = float(spec.minimum or 0.0), float(spec.maximum or 0.0)
        changed, moved = slider(
            gui,
            "##slider",
            value,
            low,
            high,
            logarithmic=spec.logarithmic and low > 0,
            limit=editor.limits(name)[1],
            home=editor.defaults[name][0],
        )
        if changed:
            editor.move(name, moved)
        if imgui.is_item_deactivated_after_edit():
            editor.settle()

    def _numbers(
        self, app: App, editor: ParameterEditor, name: str, spec: ParameterSpec, value: tuple[float, ...]
    ) -> None:
        """Fields for an array: floats or whole numbers, four in a row."""
        whole = spec.element.scalar.kind in "iub"
        columns = min(len(value), 4)
        width = imgui.get_content_region_avail().x
        spacing = imgui.get_style().item_inner_spacing.x
        typed = list(self._typed.get(name, value))
        for index, number in enumerate(value):
            if index % columns:
                imgui.same_line(0.0, spacing)
            imgui.set_next_item_width((width - spacing * (columns - 1)) / columns)
            imgui.push_id(index)
            if whole:
                changed, new = input_whole("##n", int(number), spec.element.scalar)
            else:
                changed, new = imgui.input_float("##n", float(number), 0.0, 0.0, _number_format(number))
            if changed:
                typed[index] = new
                self._typed[name] = tuple(typed)
            self._finish(app, editor, name, value)
            imgui.pop_id()

    @staticmethod
    def _set(app: App, editor: ParameterEditor, name: str, value: tuple[float, ...]) -> None:
        try:
            messages = editor.apply({name: value})
        except ParameterError as error:
            # The Enter that ended the typing would close the message at once.
            app.later(partial(app.fail, error))
            return
        _tell(app, messages)

    def _stability(self, gui: Gui, editor: ParameterEditor) -> None:
        share = editor.courant
        if share is None:
            return
        colors, scale = gui.colors, gui.scale
        color = colors.good if share < 0.8 else colors.warning if share < 0.95 else colors.danger
        imgui.text_unformatted("Stability")
        text = str(self._gauge.get(share, lambda: f"{share:.0%} of the limit"))
        right_align(imgui.calc_text_size(text).x)
        imgui.text_unformatted(text)
        width, height = imgui.get_content_region_avail().x, 6 * scale
        corner = imgui.get_cursor_screen_pos()
        draw = imgui.get_window_draw_list()
        end = corner.x + width
        draw.add_rect_filled((corner.x, corner.y), (end, corner.y + height), colors.field_hovered, height / 2)
        filled = corner.x + max(min(share, 1.0) * width, height)
        draw.add_rect_filled((corner.x, corner.y), (filled, corner.y + height), color, height / 2)
        imgui.dummy((width, height))
        tooltip(
            "How far the scheme is toward the point where waves grow without end. Sliders stop just before; "
            "the red part of a slider lies beyond."
        )
        imgui.dummy((0.0, 4 * scale))


def _tell(app: App, messages: list[str]) -> None:
    """Say what could not be set as it was asked."""
    for message in messages:
        app.tell(message)


def values_inside(lab: Lab, editor: ParameterEditor) -> dict[str, str]:
    """Return for the state that is looked at the values that are not those of the editor, as texts."""
    found = {}
    for name in editor.names:
        value = lab.frame.parameter(name)
        numbers = value.reshape(-1).tolist() if value is not None else []
        if value is not None and not np.array_equal(numbers, editor.values[name]):
            found[name] = f"{fa.ICON_FA_EYE} " + ", ".join(f"{number:.5g}" for number in numbers[:4])
    return found


def _number_format(value: float) -> str:
    """Return a format that shows what a person reads of a number, without useless zeros or exponents."""
    return "%.5g" if abs(value) < 1e5 else "%.7g"


@lru_cache(maxsize=256)
def about(spec: ParameterSpec) -> str:
    """Return what a parameter is, for the tooltip."""
    text = f"{spec.name}: {spec.element.name}[{shape_text(spec.shape)}]"
    if spec.minimum is not None and spec.maximum is not None:
        text += f", {spec.minimum:g} to {spec.maximum:g} {unit_text(spec.unit)}".rstrip()
    return text if spec.known else f"{text}\ntype and shape are inferred from the file"
