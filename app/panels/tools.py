"""The tools on the water: a bar of them at its left, how the one in the hand is set, and what it has placed.

What a tool does is in `app.basin.tools`; gestures get there through `app.controls`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform
from app.basin.furnishing import SHALLOWEST
from app.basin.tools import BRUSHES, MAX_BRUSH, Tool, clear
from app.bindings import TOOL_ACTIONS, Action
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.placed import Overlay
from app.panels.slider import slider
from app.panels.sources import wavelength_of
from app.panels.widgets import caption, hint, icon_button, tooltip
from app.recapture import FrameRequest
from app.state import App, Rect

_TOOLS = (
    (Tool.PUSH, fa.ICON_FA_HAND_POINTER, "Push the water"),
    (Tool.WALL, fa.ICON_FA_PAINTBRUSH, "Paint walls"),
    (Tool.ERASE, fa.ICON_FA_ERASER, "Erase walls and shallows"),
    (Tool.LINE, fa.ICON_FA_SLASH, "Wall from here to there"),
    (Tool.RECTANGLE, fa.ICON_FA_SQUARE, "Rectangle of wall"),
    (Tool.DEPTH, fa.ICON_FA_MOUND, "Paint the depth: waves are slower over a shallow"),
    (Tool.SOURCE, fa.ICON_FA_BULLSEYE, "Place and drag sources of waves"),
    (Tool.PROBE, fa.ICON_FA_CHART_LINE, "Place and drag probes, which record the height"),
    (Tool.RULER, fa.ICON_FA_RULER, "Measure a distance, and the wavelength along it"),
)
_BUTTONS = tuple(
    (f"{icon}##{tool.value}", hint(text, action))
    for (tool, icon, text), action in zip(_TOOLS, TOOL_ACTIONS, strict=False)
)
_ASKED = "Walls, sources and probes need the ripple tank, which is another capture."
_UNDO = hint("Undo", Action.UNDO)
_BARE_HEIGHT = 400.0  # a lower place has no room for what is below the tools


class ToolBar:
    """The bar, and what is drawn on the water for it."""

    def __init__(self) -> None:
        self._overlay = Overlay()
        self._height = 0.0

    def draw(self, app: App, gui: Gui, rect: Rect) -> None:
        """Build it at the left of a rectangle in window units."""
        scene, scale = app.scene, gui.scale
        if scene is None or scene.player is None or scene.grid is None:
            return
        self._overlay.draw(app, gui)
        width = bar_width(gui, rect)
        if not width:
            return
        side = width - 8 * scale
        x = rect[0] + 12 * scale
        y = rect[1] + max((rect[3] - self._height) / 2, 50 * scale)
        draw = imgui.get_window_draw_list()
        if self._height:
            draw.add_rect_filled((x, y), (x + width, y + self._height), gui.colors.overlay, width / 3)
        imgui.push_style_var(imgui.StyleVar_.item_spacing, imgui.ImVec2(0.0, 2 * scale))
        imgui.set_cursor_screen_pos((x + 4 * scale, y + 5 * scale))
        imgui.begin_group()
        for (tool, _, _), (button, text) in zip(_TOOLS, _BUTTONS, strict=True):
            held = tool is app.tools.tool
            if held:
                imgui.push_style_color(imgui.Col_.button, gui.colors.accent)
                imgui.push_style_color(imgui.Col_.text, gui.colors.on_accent)
            if icon_button(gui, button, text, quiet=not held, width=side):
                app.tools.hold(tool)
            if held:
                imgui.pop_style_color(2)
        if rect[3] > _BARE_HEIGHT * scale:
            self._below(app, gui, side)
        imgui.end_group()
        imgui.pop_style_var()
        self._height = imgui.get_item_rect_size().y + 10 * scale
        left = x + width + 8 * scale
        if app.tools.needs_basin and scene.furnishing is None:
            self._offer(app, gui, rect, left, y)
        else:
            self._settings(app, gui, left, y)

    @staticmethod
    def _below(app: App, gui: Gui, side: float) -> None:
        scene = app.scene
        assert scene is not None
        scale = gui.scale
        at = imgui.get_cursor_screen_pos()
        imgui.get_window_draw_list().add_line(
            (at.x + 4 * scale, at.y + 2 * scale), (at.x + side - 4 * scale, at.y + 2 * scale),
            gui.colors.line, scale,
        )  # fmt: skip
        imgui.dummy((side, 4 * scale))
        if icon_button(gui, f"{fa.ICON_FA_IMAGES}##gallery", "Gallery of scenes", width=side):
            app.closed_panels ^= {"Gallery"}
            app.save_settings()
        if scene.furnishing is None:
            return
        border = scene.editor.values.get("border")
        if border is not None:
            absorbing = border[0] == 1
            icon = (
                fa.ICON_FA_ARROWS_LEFT_RIGHT_TO_LINE if not absorbing else fa.ICON_FA_ARROW_RIGHT_FROM_BRACKET
            )
            text = (
                "The border lets waves out; press to make it reflect them"
                if absorbing
                else "The border reflects waves; press to let them out"
            )
            if icon_button(gui, f"{icon}##border", text, width=side):
                scene.editor.apply({"border": 0 if absorbing else 1})
                app.notice = "the border reflects waves" if absorbing else "the border lets waves out"
        if icon_button(
            gui, f"{fa.ICON_FA_ROTATE_LEFT}##undo", _UNDO, enabled=scene.editor.can_undo, width=side
        ):
            perform(app, Action.UNDO)
        if icon_button(
            gui, f"{fa.ICON_FA_TRASH}##clear", "Take walls, shallows, sources and probes out", width=side
        ):
            clear(scene.furnishing)
            scene.rain = None
            app.notice = "the basin is empty; undo brings everything back"

    def _offer(self, app: App, gui: Gui, rect: Rect, x: float, y: float) -> None:
        """Offer the capture that the tool needs."""
        scale, scene = gui.scale, app.scene
        assert scene is not None and scene.grid is not None and scene.player is not None
        if app.recapture is not None:
            self._pill(gui, x, y, f"{fa.ICON_FA_HOURGLASS_HALF}  capturing {app.recapture.request}")
            return
        height = 2 * imgui.get_frame_height() + 18 * scale
        width = min(imgui.calc_text_size(_ASKED).x + 28 * scale, rect[0] + rect[2] - x - 12 * scale)
        draw = imgui.get_window_draw_list()
        draw.add_rect_filled((x, y), (x + width, y + height), gui.colors.overlay, 10 * scale)
        draw.push_clip_rect((x, y), (x + width - 6 * scale, y + height), True)
        draw.add_text((x + 14 * scale, y + 9 * scale), gui.colors.text, _ASKED)
        draw.pop_clip_rect()
        imgui.set_cursor_screen_pos((x + 12 * scale, y + imgui.get_frame_height() + 10 * scale))
        if imgui.button(f"{fa.ICON_FA_WATER}  Switch to the ripple tank"):
            request = FrameRequest(
                scene.grid.width, scene.grid.height, scene.substeps or 16, scene.player.device, "basin"
            )
            app.later(lambda: app.start_recapture(request))

    def _settings(self, app: App, gui: Gui, x: float, y: float) -> None:
        """Show how the tool in the hand is set."""
        tools, scale = app.tools, gui.scale
        line = imgui.get_frame_height() + 2 * scale
        y += 5 * scale + [tool for tool, _, _ in _TOOLS].index(tools.tool) * line
        if tools.tool in BRUSHES or tools.tool is Tool.LINE:
            self._card(gui, x, y, 250 * scale, 2 if tools.tool is Tool.DEPTH else 1)
            tools.brush = _row(gui, "Size", "##brush", tools.brush, 0.5, MAX_BRUSH, _cells, logarithmic=True)
            if tools.tool is Tool.DEPTH:
                tools.depth = _row(gui, "Depth", "##depth", tools.depth, SHALLOWEST, 1.0, _percent)
                tooltip("Share of the deepest water; waves run at its root of their full speed")
        elif tools.tool is Tool.SOURCE:
            self._source(app, gui, x, y)
        elif tools.tool is Tool.PROBE:
            self._card(gui, x, y, 150 * scale, 1)
            _opener(app, f"{fa.ICON_FA_CHART_LINE}  Plot them", "Probes", 130 * scale)
        elif tools.tool is Tool.RULER and tools.ruler is not None:
            self._card(gui, x, y, 150 * scale, 1)
            if imgui.button(f"{fa.ICON_FA_XMARK}  Put it away", (130 * scale, 0.0)):
                tools.ruler = None

    def _source(self, app: App, gui: Gui, x: float, y: float) -> None:
        tools, scale = app.tools, gui.scale
        assert app.scene is not None and app.scene.furnishing is not None
        furnishing = app.scene.furnishing
        chosen = tools.source
        if chosen is None or furnishing.source(chosen).at[0] < 0.0:
            self._card(gui, x, y, 150 * scale, 1)
            _opener(app, f"{fa.ICON_FA_BULLSEYE}  All sources", "Sources", 130 * scale)
            return
        self._card(gui, x, y, 250 * scale, 3)
        source = furnishing.source(chosen)
        frequency = _row(gui, "Freq.", "##f", source.frequency, 0.5, 20.0, _hertz, logarithmic=True)
        amplitude = _row(gui, "Height", "##a", source.amplitude, 0.0, 0.5, _metres)
        furnishing.set_source(chosen, dataclasses.replace(source, frequency=frequency, amplitude=amplitude))
        if not tools.pressed and not imgui.is_any_item_active():
            furnishing.settle()
        imgui.set_cursor_screen_pos((x + 10 * scale, imgui.get_cursor_screen_pos().y))
        _opener(app, f"{fa.ICON_FA_BULLSEYE}  All sources", "Sources", 130 * scale)
        imgui.same_line(0.0, 8 * scale)
        imgui.align_text_to_frame_padding()
        imgui.text_unformatted(f"λ {wavelength_of(app.scene, furnishing, source)[0]:.2f} m")

    @staticmethod
    def _card(gui: Gui, x: float, y: float, width: float, rows: int) -> None:
        """Lay a card of some rows, and begin to write on it."""
        scale = gui.scale
        height = rows * (imgui.get_frame_height() + imgui.get_style().item_spacing.y) + 6 * scale
        imgui.get_window_draw_list().add_rect_filled(
            (x, y - 5 * scale), (x + width, y - 5 * scale + height), gui.colors.overlay, 8 * scale
        )
        imgui.set_cursor_screen_pos((x + 10 * scale, y))

    @staticmethod
    def _pill(gui: Gui, x: float, y: float, text: str) -> None:
        scale, size = gui.scale, imgui.calc_text_size(text)
        draw = imgui.get_window_draw_list()
        end = (x + size.x + 28 * scale, y + size.y + 14 * scale)
        draw.add_rect_filled((x, y), end, gui.colors.overlay, (end[1] - y) / 2)
        draw.add_text((x + 14 * scale, y + 7 * scale), gui.colors.text, text)


def bar_width(gui: Gui, rect: Rect) -> float:
    """Return the width of the bar in a rectangle, both in window units; 0 where there is no room for one."""
    side = imgui.get_frame_height() + 6 * gui.scale
    fits = rect[2] >= 260 * gui.scale and rect[3] >= len(_TOOLS) * side + 70 * gui.scale
    return side + 8 * gui.scale if fits else 0.0


def _row(
    gui: Gui,
    text: str,
    label: str,
    value: float,
    low: float,
    high: float,
    shown: Callable[[float], str],
    *,
    logarithmic: bool = False,
) -> float:
    """A name, a slider and its value on a card; returns the value."""
    scale = gui.scale
    corner = imgui.get_cursor_screen_pos()
    imgui.align_text_to_frame_padding()
    caption(gui, text)
    imgui.set_cursor_screen_pos((corner.x + 50 * scale, corner.y))
    imgui.set_next_item_width(112 * scale)
    _, value = slider(gui, label, value, low, high, logarithmic=logarithmic)
    imgui.same_line(0.0, 8 * scale)
    imgui.align_text_to_frame_padding()
    imgui.text_unformatted(shown(value))
    imgui.set_cursor_screen_pos((corner.x, imgui.get_cursor_screen_pos().y))
    return value


def _opener(app: App, text: str, panel: str, width: float) -> None:
    """A button that shows a panel, or closes it."""
    if imgui.button(text, (width, 0.0)):
        app.closed_panels ^= {panel}
        app.save_settings()


def _cells(radius: float) -> str:
    return f"{2 * radius:.0f} cells"


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _hertz(frequency: float) -> str:
    return f"{frequency:.2f} Hz"


def _metres(height: float) -> str:
    return f"{height:.3f} m"
