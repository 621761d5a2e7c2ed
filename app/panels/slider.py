"""A slider that looks like ours and behaves like ImGui's: dragging, keys, Ctrl+click to type."""

from __future__ import annotations

import math

from app.gl_platform import imgui
from app.gui import Gui

_CLAMP = imgui.SliderFlags_.always_clamp | imgui.SliderFlags_.no_round_to_format
_LOGARITHMIC = _CLAMP | imgui.SliderFlags_.logarithmic
_HIDDEN = (
    imgui.Col_.frame_bg,
    imgui.Col_.frame_bg_hovered,
    imgui.Col_.frame_bg_active,
    imgui.Col_.slider_grab,
    imgui.Col_.slider_grab_active,
)


def place_on_track(value: float, low: float, high: float, *, logarithmic: bool) -> float:
    """Return where a value lies between `low` (0) and `high` (1)."""
    if high <= low:
        return 0.0
    value = min(max(value, low), high)
    if logarithmic:
        return math.log(value / low) / math.log(high / low)
    return (value - low) / (high - low)


def slider(
    gui: Gui,
    label: str,
    value: float,
    low: float,
    high: float,
    *,
    logarithmic: bool = False,
    limit: float | None = None,
    home: float | None = None,
) -> tuple[bool, float]:
    """Build a slider; return whether it was moved, and its value.

    Args:
        gui: fonts and colours.
        label: ImGui id.
        value, low, high: the value and the ends of the track.
        logarithmic: move in ratios; `low` is positive.
        limit: the largest value that can be set; the track beyond is red.
        home: the default, marked below the track.
    """
    for color in _HIDDEN:
        imgui.push_style_color(color, 0)
    changed, moved = imgui.slider_float(label, value, low, high, "", _LOGARITHMIC if logarithmic else _CLAMP)
    imgui.pop_style_color(len(_HIDDEN))
    active = imgui.is_item_active()
    if active and imgui.get_io().want_text_input:
        return changed, moved  # Ctrl+click made it a text field
    if changed:
        value = moved if limit is None else min(moved, limit)
    corner, size, colors = imgui.get_item_rect_min(), imgui.get_item_rect_size(), gui.colors
    scale = gui.scale
    radius = 6.5 * scale
    start, span = corner.x + radius, size.x - 2 * radius
    y, half = corner.y + size.y / 2, 2 * scale
    x = start + span * place_on_track(value, low, high, logarithmic=logarithmic)
    draw = imgui.get_window_draw_list()
    draw.add_rect_filled((start, y - half), (start + span, y + half), colors.field_hovered, half)
    if limit is not None and limit < high:
        edge = start + span * place_on_track(limit, low, high, logarithmic=logarithmic)
        draw.add_rect_filled((edge, y - half), (start + span, y + half), colors.danger, half)
    draw.add_rect_filled((start, y - half), (x, y + half), colors.accent, half)
    if home is not None:
        tick = start + span * place_on_track(home, low, high, logarithmic=logarithmic)
        draw.add_line((tick, y + 7 * scale), (tick, y + 10 * scale), colors.muted, scale)
    hovered = active or imgui.is_item_hovered()
    draw.add_circle_filled((x, y), radius, colors.accent_strong if hovered else colors.accent)
    draw.add_circle_filled((x, y), radius - 3 * scale, colors.panel)
    return changed, moved
