"""How the panels look: two palettes, and the shapes and spacing that they share.

Colours are named by their use, not by their value, and panels take them from here. Sizes are for a scale
of 1; `apply` scales them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from app.gl_platform import imgui

FONT_SIZE = 15.0

Rgba = tuple[float, float, float, float]


def _rgb(code: int, alpha: float = 1.0) -> Rgba:
    return ((code >> 16 & 255) / 255, (code >> 8 & 255) / 255, (code & 255) / 255, alpha)


@dataclass(frozen=True)
class Palette:
    """The colours of a theme, by use."""

    background: Rgba  # behind the panels: gaps, menu bar, status bar
    panel: Rgba
    raised: Rgba  # popups, cards
    field: Rgba  # inputs and sliders
    field_hovered: Rgba
    line: Rgba
    text: Rgba
    muted: Rgba
    accent: Rgba
    accent_strong: Rgba
    on_accent: Rgba
    good: Rgba
    warning: Rgba
    danger: Rgba
    overlay: Rgba  # behind controls that float over the water
    launch: Rgba  # graph nodes by kind
    memory: Rgba
    control: Rgba
    library: Rgba
    deck: float  # brightness of the surroundings of the water


DARK = Palette(
    background=_rgb(0x0E1217),
    panel=_rgb(0x161B22),
    raised=_rgb(0x1E252E),
    field=_rgb(0x232C37),
    field_hovered=_rgb(0x2D3946),
    line=_rgb(0x2A333E),
    text=_rgb(0xE4EAF0),
    muted=_rgb(0x8B99A8),
    accent=_rgb(0x2BA9C6),
    accent_strong=_rgb(0x4CC9E4),
    on_accent=_rgb(0x06212A),
    good=_rgb(0x4FC38A),
    warning=_rgb(0xE8B04B),
    danger=_rgb(0xF07167),
    overlay=_rgb(0x11161C, 0.82),
    launch=_rgb(0x2BA9C6),
    memory=_rgb(0x9B8CF2),
    control=_rgb(0xE8B04B),
    library=_rgb(0x6C98F2),
    deck=0.6,
)
LIGHT = Palette(
    background=_rgb(0xDDE4EA),
    panel=_rgb(0xF6F8FA),
    raised=_rgb(0xFFFFFF),
    field=_rgb(0xE6ECF1),
    field_hovered=_rgb(0xD9E2E9),
    line=_rgb(0xCFD8E0),
    text=_rgb(0x17212B),
    muted=_rgb(0x5D6B79),
    accent=_rgb(0x0F86A3),
    accent_strong=_rgb(0x0A6C85),
    on_accent=_rgb(0xFFFFFF),
    good=_rgb(0x1E8E58),
    warning=_rgb(0xA86C00),
    danger=_rgb(0xC23B33),
    overlay=_rgb(0xFFFFFF, 0.86),
    launch=_rgb(0x0F86A3),
    memory=_rgb(0x6A55D6),
    control=_rgb(0xA86C00),
    library=_rgb(0x2F62C9),
    deck=1.0,
)
PALETTES = {"dark": DARK, "light": LIGHT}


@dataclass(frozen=True)
class Packed:
    """A palette's colours packed for draw lists; same names."""

    background: int
    panel: int
    raised: int
    field: int
    field_hovered: int
    line: int
    text: int
    muted: int
    accent: int
    accent_strong: int
    on_accent: int
    good: int
    warning: int
    danger: int
    overlay: int
    launch: int
    memory: int
    control: int
    library: int


def packed(palette: Palette) -> Packed:
    """Return a palette for draw lists."""
    return Packed(**{item.name: _pack(getattr(palette, item.name)) for item in fields(Packed)})


def _pack(color: Rgba) -> int:
    red, green, blue, alpha = (round(channel * 255) for channel in color)
    return alpha << 24 | blue << 16 | green << 8 | red


def with_alpha(color: Rgba, alpha: float) -> Rgba:
    """Return a colour with another opacity."""
    return (*color[:3], alpha)


def apply(name: str, scale: float) -> Palette:
    """Give ImGui's style a theme at a scale; return its palette."""
    palette = PALETTES[name]
    style = imgui.get_style()
    fresh = imgui.Style()
    _shape(fresh)
    fresh.scale_all_sizes(scale)
    for field in _SIZES:
        setattr(style, field, getattr(fresh, field))
    style.font_size_base = FONT_SIZE
    style.font_scale_dpi = scale
    for color, value in _colors(palette).items():
        style.set_color_(color, imgui.ImVec4(*value))
    return palette


_SIZES = (
    "window_padding", "window_rounding", "window_border_size", "window_min_size", "child_rounding",
    "child_border_size", "popup_rounding", "popup_border_size", "frame_padding", "frame_rounding",
    "frame_border_size", "item_spacing", "item_inner_spacing", "cell_padding", "indent_spacing",
    "scrollbar_size", "scrollbar_rounding", "grab_min_size", "grab_rounding", "tab_rounding",
    "tab_border_size", "tab_bar_border_size", "tab_bar_overline_size",
    "tab_close_button_min_width_selected", "tab_close_button_min_width_unselected",
    "docking_node_has_close_button", "docking_separator_size", "window_menu_button_position",
    "separator_text_border_size", "separator_text_padding", "disabled_alpha",
)  # fmt: skip
"""What `_shape` sets."""


def _shape(style: imgui.Style) -> None:
    style.window_padding = imgui.ImVec2(12, 10)
    style.window_rounding = 8
    style.window_border_size = 0
    style.window_min_size = imgui.ImVec2(60, 40)
    style.child_rounding = 6
    style.child_border_size = 0
    style.popup_rounding = 8
    style.popup_border_size = 1
    style.frame_padding = imgui.ImVec2(8, 4)
    style.frame_rounding = 5
    style.frame_border_size = 0
    style.item_spacing = imgui.ImVec2(8, 6)
    style.item_inner_spacing = imgui.ImVec2(6, 4)
    style.cell_padding = imgui.ImVec2(6, 3)
    style.indent_spacing = 16
    style.scrollbar_size = 10
    style.scrollbar_rounding = 5
    style.grab_min_size = 12
    style.grab_rounding = 5
    style.tab_rounding = 5
    style.tab_border_size = 0
    style.tab_bar_border_size = 1
    style.tab_bar_overline_size = 2
    style.tab_close_button_min_width_selected = 0  # shown while the pointer is over the tab
    style.tab_close_button_min_width_unselected = 0
    style.docking_node_has_close_button = False
    style.docking_separator_size = 3
    style.window_menu_button_position = imgui.Dir.none
    style.separator_text_border_size = 1
    style.separator_text_padding = imgui.ImVec2(0, 4)
    style.disabled_alpha = 0.45


def _colors(p: Palette) -> dict[int, Rgba]:
    col = imgui.Col_
    clear = (0.0, 0.0, 0.0, 0.0)
    soft, softer = with_alpha(p.accent, 0.30), with_alpha(p.accent, 0.16)
    return {
        col.text: p.text,
        col.text_disabled: p.muted,
        col.window_bg: p.panel,
        col.child_bg: clear,
        col.popup_bg: p.raised,
        col.border: p.line,
        col.border_shadow: clear,
        col.frame_bg: p.field,
        col.frame_bg_hovered: p.field_hovered,
        col.frame_bg_active: p.field_hovered,
        col.title_bg: p.background,
        col.title_bg_active: p.background,
        col.title_bg_collapsed: p.background,
        col.menu_bar_bg: p.background,
        col.scrollbar_bg: clear,
        col.scrollbar_grab: p.field_hovered,
        col.scrollbar_grab_hovered: p.muted,
        col.scrollbar_grab_active: p.muted,
        col.check_mark: p.on_accent,
        col.checkbox_selected_bg: p.accent,
        col.slider_grab: p.accent,
        col.slider_grab_active: p.accent_strong,
        col.button: p.field,
        col.button_hovered: p.field_hovered,
        col.button_active: soft,
        col.header: softer,
        col.header_hovered: soft,
        col.header_active: soft,
        col.separator: p.line,
        col.separator_hovered: p.accent,
        col.separator_active: p.accent_strong,
        col.resize_grip: clear,
        col.resize_grip_hovered: soft,
        col.resize_grip_active: p.accent,
        col.input_text_cursor: p.accent_strong,
        col.tab_hovered: p.field_hovered,
        col.tab: p.background,
        col.tab_selected: p.panel,
        col.tab_selected_overline: p.accent,
        col.tab_dimmed: p.background,
        col.tab_dimmed_selected: p.panel,
        col.tab_dimmed_selected_overline: p.line,
        col.docking_preview: soft,
        col.docking_empty_bg: p.background,
        col.plot_lines: p.accent,
        col.plot_lines_hovered: p.accent_strong,
        col.plot_histogram: p.accent,
        col.plot_histogram_hovered: p.accent_strong,
        col.table_header_bg: p.background,
        col.table_border_strong: p.line,
        col.table_border_light: p.line,
        col.table_row_bg: clear,
        col.table_row_bg_alt: with_alpha(p.text, 0.025),
        col.text_link: p.accent_strong,
        col.text_selected_bg: soft,
        col.drag_drop_target: p.accent_strong,
        col.nav_cursor: p.accent,
        col.modal_window_dim_bg: (0.0, 0.0, 0.0, 0.45),
    }
