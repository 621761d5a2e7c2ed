"""Small pieces that several panels share: texts kept between frames, buttons, captions.

Panels are rebuilt up to 60 times a second, so texts made from numbers are made when the numbers change and
not when they are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Protocol

import numpy as np

from app.bindings import Action, shown_key
from app.gl_platform import imgui
from app.gui import Gui
from app.state import App

_WHOLE = re.compile("[+-]?[0-9]{1,30}")

# Joining flags takes longer than the call that they are for, and even an attribute of an enum takes as long.
# A pair given for a vector, or four numbers for a colour, take ten times as long as what ImGui itself knows,
# for they are tried only after all other ways to call it.
_RESTED = imgui.HoveredFlags_.for_tooltip | imgui.HoveredFlags_.allow_when_disabled
_FRAME_PADDING = imgui.StyleVar_.frame_padding
_TEXT, _BUTTON = imgui.Col_.text, imgui.Col_.button
_FITTING = imgui.ImVec2(0.0, 0.0)


class Panel(Protocol):
    """What the desk expects of a panel.

    Attributes:
        name: how it is called in menus and remembered.
        icon: its sign from the icon font.
    """

    name: str
    icon: str

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""


class Kept:
    """A value that is made anew only when its key changes."""

    def __init__(self) -> None:
        self._key: Hashable = object()
        self._value: object = None

    def get(self, key: Hashable, make: Callable[[], object]) -> object:
        """Return the value for a key."""
        if key != self._key:
            self._key, self._value = key, make()
        return self._value


def caption(gui: Gui, text: str) -> None:
    """A muted text."""
    imgui.push_style_color(_TEXT, gui.colors.muted)
    imgui.text_unformatted(text)
    imgui.pop_style_color()


def label_before(gui: Gui, text: str) -> None:
    """A muted text before a widget, which takes the rest of the line."""
    imgui.align_text_to_frame_padding()
    caption(gui, text)
    imgui.same_line(110 * gui.scale)
    imgui.set_next_item_width(-1.0)


def heading(gui: Gui, text: str) -> None:
    """A bold text on a line of its own."""
    imgui.push_font(gui.bold, 0.0)
    imgui.text_unformatted(text)
    imgui.pop_font()


def tooltip(text: str) -> None:
    """Explain the last item when the pointer rests on it, also if it is disabled."""
    if imgui.is_item_hovered(_RESTED):
        imgui.begin_tooltip()
        imgui.push_text_wrap_pos(imgui.get_font_size() * 22)
        imgui.text_unformatted(text)
        imgui.pop_text_wrap_pos()
        imgui.end_tooltip()


def hint(text: str, action: Action) -> str:
    """Return a tooltip's text with the key of the action that it explains."""
    key = shown_key(action)
    return f"{text}  ({key})" if key else text


def icon_button(
    gui: Gui, label: str, text: str, *, enabled: bool = True, quiet: bool = True, width: float = 0.0
) -> bool:
    """A button with an icon; returns whether it was pressed.

    Args:
        label: icon and ImGui id, as `icon##id`.
        text: the tooltip.
        enabled: greyed out if not.
        quiet: without a background until the pointer is over it.
        width: 0 for what the icon needs.
    """
    if not enabled:
        imgui.begin_disabled()
    if quiet:
        imgui.push_style_color(_BUTTON, 0)
    if width:  # the padding of a button leaves too little of a narrow one for its icon
        imgui.push_style_var(_FRAME_PADDING, imgui.ImVec2(0.0, imgui.get_style().frame_padding.y))
    pressed = imgui.button(label, imgui.ImVec2(width, 0.0) if width else _FITTING)
    if width:
        imgui.pop_style_var()
    if quiet:
        imgui.pop_style_color()
    if not enabled:
        imgui.end_disabled()
    tooltip(text)
    return pressed and enabled


def begin_tabs(gui: Gui, label: str) -> bool:
    """Begin tabs within a panel, quieter than the panels' own; `end_tabs` ends them if this is true."""
    for color, value in (
        (imgui.Col_.tab, (0.0, 0.0, 0.0, 0.0)),
        (imgui.Col_.tab_dimmed, (0.0, 0.0, 0.0, 0.0)),
        (imgui.Col_.tab_selected, gui.palette.field_hovered),
        (imgui.Col_.tab_dimmed_selected, gui.palette.field_hovered),
    ):
        imgui.push_style_color(color, value)
    opened = imgui.begin_tab_bar(label)
    if not opened:
        imgui.pop_style_color(4)
    return opened


def end_tabs() -> None:
    """End a row of tabs."""
    imgui.end_tab_bar()
    imgui.pop_style_color(4)


def right_align(width: float) -> None:
    """Go on in the same line so that an item of a width ends at the right edge."""
    imgui.same_line()
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(0.0, imgui.get_content_region_avail().x - width))


def byte_text(nbytes: float) -> str:
    """Return a size for people, in binary units."""
    for unit in ("B", "KiB", "MiB"):
        if nbytes < 1024:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1024
    return f"{nbytes:.1f} GiB"


def shape_text(shape: tuple[int, ...]) -> str:
    """Return a shape for people: `128×128`."""
    return "×".join(map(str, shape))


_RAISED = {"^2": "²", "^3": "³"}


@lru_cache(maxsize=256)
def unit_text(unit: str) -> str:
    """Return a unit as people write it: `m^2/s^2` is `m²/s²`."""
    for plain, raised in _RAISED.items():
        unit = unit.replace(plain, raised)
    return unit


def input_whole(label: str, value: int, scalar: np.dtype) -> tuple[bool, int]:
    """A field for a whole number; return whether it was changed, and the number, maybe beyond its type.

    ImGui's field for integers holds 32 bits with a sign; wider types get one for text.
    """
    if scalar.kind == "b" or np.can_cast(scalar, np.int32):
        return imgui.input_int(label, value, 0, 0)
    changed, text = imgui.input_text(label, str(value), imgui.InputTextFlags_.chars_decimal)
    if not changed or not _WHOLE.fullmatch(text):  # not yet, as a sign alone
        return False, value
    return True, int(text)


def elided(text: str, width: float) -> str:
    """Return a text cut to a width in window units, with dots where it was cut."""
    if imgui.calc_text_size(text).x <= width:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if imgui.calc_text_size(text[:middle].rstrip() + "…").x <= width:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…"
