"""The array in the centre of the window, as panels see it: the bar that chooses it, what is written around
it, and the value under the pointer."""

from __future__ import annotations

from itertools import pairwise

from imgui_bundle import icons_fontawesome_6 as fa

from app.arrays.gestures import read_at
from app.arrays.ink import Fill, Item, Ramp, Rgba, Stroke, Text
from app.arrays.shown import ShownArray
from app.arrays.ways import Way, choices_of
from app.controls import water_viewport
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.legend import packed
from app.panels.timeline import timeline_height
from app.panels.widgets import elided, icon_button, tooltip
from app.state import App, Rect

_WAYS = {
    Way.VALUE: "Value",
    Way.LINE: "Line",
    Way.IMAGE: "Image",
    Way.COLOUR: "Colours",
    Way.POINTS: "Points",
}
_ABOUT = {
    Way.VALUE: "its one element",
    Way.LINE: "numbers along their index; up to 64 as bars",
    Way.IMAGE: "rows and columns, each number in the colour of its value",
    Way.COLOUR: "rows and columns, each vector as a colour",
    Way.POINTS: "places in space; drag turns, the middle button moves, the wheel zooms",
}


class ArrayBar:
    """The bar, and what lies over the array."""

    def __init__(self) -> None:
        self._width = 0.0

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build it over the top of a rectangle in window units, below the tool bar; nothing over water."""
        lab = app.lab
        top = _below_toolbar(app, gui)
        app.canvas.bars = top
        if lab is None or not lab.shown.active or rect[2] < 60:
            return
        shown, scale = lab.shown, gui.scale
        self._paint(app, gui, shown, rect)
        height = imgui.get_frame_height() + 8 * scale
        if shown.candidates:
            app.canvas.bars = top + height
        shown.covered = (app.canvas.bars + app.canvas.banner, timeline_height(lab, scale))
        if not shown.candidates:
            return
        self._bar(app, gui, shown, rect, rect[1] + top, height)
        self._readout(app, gui, shown)

    def _bar(self, app: App, gui: Gui, shown: ShownArray, rect: Rect, y: float, height: float) -> None:
        scale = gui.scale
        x = rect[0] + max(8 * scale, (rect[2] - self._width) / 2)
        draw = imgui.get_window_draw_list()
        if self._width:
            draw.add_rect_filled((x, y), (x + self._width, y + height), gui.colors.overlay, height / 2)
        imgui.set_cursor_screen_pos((x + 12 * scale, y + 4 * scale))
        imgui.begin_group()
        imgui.push_style_var(imgui.StyleVar_.item_spacing, (6 * scale, 0.0))
        if app.water is not None:
            if icon_button(gui, f"{fa.ICON_FA_WATER}##water", "Show the heights as water"):
                shown.active = False
            imgui.same_line()
        choices = choices_of(shown.typing.element, shown.way) if shown.typing is not None else ()
        others = (96 if len(shown.ways) > 1 else 0) + (92 if len(choices) > 1 else 0)
        others += 130 if shown.planes > 1 else 0
        wide = min(220 * scale, rect[2] - (others + 90) * scale)
        self._arrays(gui, shown, max(wide, 60 * scale))
        self._ways(gui, shown)
        self._components(gui, shown, choices)
        if shown.planes > 1:
            imgui.same_line()
            imgui.set_next_item_width(124 * scale)
            changed, plane = imgui.slider_int("##plane", shown.plane, 0, shown.planes - 1, "plane %d")
            if changed:
                shown.show_plane(plane)
        imgui.pop_style_var()
        imgui.end_group()
        self._width = imgui.get_item_rect_size().x + 24 * scale

    @staticmethod
    def _arrays(gui: Gui, shown: ShownArray, width: float) -> None:
        candidate = shown.candidate
        imgui.set_next_item_width(width)
        label = candidate.label if candidate is not None else "no array"
        if imgui.begin_combo("##array", elided(label, width - 40 * gui.scale)):
            for item in shown.candidates:
                shape = "×".join(map(str, item.typing.shape)) or "?"
                text = f"{item.label}   {item.typing.element.name} [{shape}]##{item.region}"
                if imgui.selectable(text, item is candidate)[0]:
                    shown.pick(item.region)
            imgui.end_combo()
        tooltip("The array that is shown here")

    @staticmethod
    def _ways(gui: Gui, shown: ShownArray) -> None:
        if len(shown.ways) < 2:
            return
        imgui.same_line()
        imgui.set_next_item_width(90 * gui.scale)
        if imgui.begin_combo("##way", _WAYS[shown.way]):
            for way in shown.ways:
                if imgui.selectable(_WAYS[way], way is shown.way)[0]:
                    shown.draw_as(way)
                tooltip(_ABOUT[way])
            imgui.end_combo()
        tooltip(f"How it is drawn: {_ABOUT[shown.way]}")

    @staticmethod
    def _components(gui: Gui, shown: ShownArray, choices: tuple[tuple[str, int], ...]) -> None:
        if len(choices) < 2:
            return
        imgui.same_line()
        imgui.set_next_item_width(86 * gui.scale)
        label = next((name for name, number in choices if number == shown.component), "")
        if imgui.begin_combo("##component", label):
            for name, number in choices:
                if imgui.selectable(name, number == shown.component)[0]:
                    shown.show_component(number)
            imgui.end_combo()
        points = shown.way is Way.POINTS
        tooltip("What colours the points" if points else "Which number of each element is shown")

    @staticmethod
    def _paint(app: App, gui: Gui, shown: ShownArray, rect: Rect) -> None:
        """Paint what is written around the array, as it was laid out for the last picture."""
        if shown.layout is None:
            return
        ratio = app.window.size[0] / max(app.window.framebuffer_size[0], 1)
        draw = imgui.get_window_draw_list()
        draw.push_clip_rect((rect[0], rect[1]), (rect[0] + rect[2], rect[1] + rect[3]), True)
        for item in shown.layout.items:
            _paint_item(draw, gui, item, (rect[0], rect[1]), ratio)
        draw.pop_clip_rect()

    @staticmethod
    def _readout(app: App, gui: Gui, shown: ShownArray) -> None:
        """Tell index and value under the pointer."""
        canvas = app.canvas
        if not canvas.hovered or any(canvas.down):
            return
        left, top, width, height = water_viewport(app)
        x, y = app.window.to_framebuffer(*canvas.pointer)
        ratio = app.window.pixel_ratio
        text = read_at(shown, (x - left, y - top), (width, height), gui.scale * ratio)
        if text:
            imgui.set_tooltip(text)


def _below_toolbar(app: App, gui: Gui) -> float:
    """Return how far below the top of the centre the tool bar ends, or the words that stand in its place."""
    scale, line = gui.scale, imgui.get_frame_height()
    replayed = app.scene is not None and app.scene.player is not None
    top = 44 * scale if app.panels_shown and not replayed else line + 24 * scale
    behind = app.scene is not None and app.scene.clock.behind
    return top + (line + 4 * scale) * behind


def _paint_item(
    draw: imgui.ImDrawList, gui: Gui, item: Item, corner: tuple[float, float], ratio: float
) -> None:
    x, y = corner
    if isinstance(item, Text):
        size = item.size * ratio
        extent, share = imgui.calc_text_size(item.text), size / imgui.get_font_size()
        left = x + item.at[0] * ratio - item.align * extent.x * share
        at = (left, y + item.at[1] * ratio - extent.y * share / 2)
        draw.add_text(gui.regular, size, at, _color(item.colour), item.text)
    elif isinstance(item, Stroke):
        places = [imgui.ImVec2(x + left * ratio, y + top * ratio) for left, top in item.places]
        draw.add_polyline(places, _color(item.colour), max(item.width * ratio, 1.0), 0)
    elif isinstance(item, Fill):
        left, top, right, bottom = (side * ratio for side in item.box)
        draw.add_rect_filled((x + left, y + top), (x + right, y + bottom), _color(item.colour))
    else:
        _paint_ramp(draw, item, corner, ratio)


def _paint_ramp(draw: imgui.ImDrawList, ramp: Ramp, corner: tuple[float, float], ratio: float) -> None:
    colors = packed(ramp.colour_map)
    left, top, right, bottom = (side * ratio for side in ramp.box)
    step = (right - left) / (len(colors) - 1)
    for number, (first, second) in enumerate(pairwise(colors)):
        start = corner[0] + left + number * step
        draw.add_rect_filled_multi_color(
            (start, corner[1] + top), (start + step, corner[1] + bottom), first, second, second, first
        )


def _color(colour: Rgba) -> int:
    red, green, blue, alpha = (round(channel * 255) for channel in colour)
    return alpha << 24 | blue << 16 | green << 8 | red
