"""How the water is shown: water or data, colours, range, quality. It changes nothing that is computed."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.slider import slider
from app.panels.widgets import Kept, caption, tooltip
from app.state import App
from app.view import colormaps
from app.view.options import Mode, Quality
from app.view.water import WaterView

_CHOSEN = "How much work goes into a picture. In software, auto takes the best that gives 30 frames/s"


def next_mode(water: WaterView) -> None:
    """Show the other mode."""
    modes = list(Mode)
    water.options.mode = modes[(modes.index(Mode(water.options.mode)) + 1) % len(modes)]


class WaterPanel:
    """The panel."""

    name = "Water"
    icon = fa.ICON_FA_WATER

    def __init__(self) -> None:
        self._maps = colormaps.names()
        self._range = Kept()
        self._factor = Kept()

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if app.water is None:
            caption(gui, "This capture has no height field to show.")
            return
        options = app.water.options
        half = (imgui.get_content_region_avail().x - 8 * gui.scale) / 2
        for index, (mode, label) in enumerate(
            ((Mode.WATER, f"{fa.ICON_FA_WATER}  Water"), (Mode.DATA, f"{fa.ICON_FA_CHART_AREA}  Data"))
        ):
            if index:
                imgui.same_line(0.0, 8 * gui.scale)
            if _choice(gui, label, options.mode == mode, half):
                options.mode = mode
        imgui.dummy((0.0, 2 * gui.scale))
        _label(gui, "Height shown")
        imgui.set_next_item_width(imgui.get_content_region_avail().x - 40 * gui.scale)
        _, options.exaggeration = slider(gui, "##exaggeration", options.exaggeration, 0.5, 5.0, home=1.5)
        tooltip("Factor on the heights in the picture; the simulation is not touched")
        imgui.same_line()
        tenths = round(options.exaggeration * 10)
        imgui.text_unformatted(str(self._factor.get(tenths, lambda: f"×{tenths / 10:.1f}")))
        _label(gui, "Quality")
        automatic = options.quality == Quality.AUTO
        shown = f"auto ({app.water.quality.value})" if automatic else Quality(options.quality).value
        if imgui.begin_combo("##quality", shown):
            for quality in Quality:
                if imgui.selectable(quality.value, quality == options.quality)[0]:
                    options.quality = quality
            imgui.end_combo()
        tooltip(f"{app.water.quality.value}: {app.water.auto.reason}" if automatic else _CHOSEN)
        _, options.axes = imgui.checkbox("Axes and scale bar", options.axes)
        if options.mode == Mode.DATA:
            self._data(app, gui)

    def _data(self, app: App, gui: Gui) -> None:
        water = app.water
        assert water is not None
        options = water.options
        imgui.separator_text("Data")
        _label(gui, "Colour map")
        if imgui.begin_combo("##map", options.colour_map):
            for name in self._maps:
                if imgui.selectable(name, name == options.colour_map)[0]:
                    options.colour_map = name
            imgui.end_combo()
        changed, fitted = imgui.checkbox("Fit the range", options.fixed_range is None)
        if changed:
            options.fixed_range = None if fitted else water.range
        if options.fixed_range is not None:
            _label(gui, "Range, m")
            changed, (low, high) = imgui.input_float2("##range", list(options.fixed_range), "%.4g")
            if changed and low < high:
                options.fixed_range = (low, high)
        _, options.contours = imgui.checkbox("Contour lines", options.contours)
        if options.contours:
            imgui.same_line()
            text = self._range.get(water.contour_interval, lambda: f"every {water.contour_interval:.3g} m")
            caption(gui, str(text))
        _, options.wireframe = imgui.checkbox("Cell borders", options.wireframe)


def _label(gui: Gui, text: str) -> None:
    imgui.align_text_to_frame_padding()
    caption(gui, text)
    imgui.same_line(110 * gui.scale)
    imgui.set_next_item_width(-1.0)


def _choice(gui: Gui, label: str, chosen: bool, width: float) -> bool:
    if chosen:
        imgui.push_style_color(imgui.Col_.button, gui.palette.accent)
        imgui.push_style_color(imgui.Col_.button_hovered, gui.palette.accent)
        imgui.push_style_color(imgui.Col_.text, gui.palette.on_accent)
    pressed = imgui.button(label, (width, 0.0))
    if chosen:
        imgui.pop_style_color(3)
    return pressed
