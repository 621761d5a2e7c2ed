"""What the centre shows and how: water, data or an array, colours, range, quality.

It changes nothing that is computed.
"""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.array_options import draw_array_options
from app.panels.slider import slider
from app.panels.widgets import Kept, caption, label_before, tooltip
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

    name = "Picture"
    icon = fa.ICON_FA_IMAGE

    def __init__(self) -> None:
        self._maps = colormaps.names()
        self._range = Kept()
        self._factor = Kept()

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if app.lab is None:
            caption(gui, "Nothing is open.")
            return
        if app.water is not None:
            self._ways(app, gui)
        if app.lab.shown.active or app.water is None:
            draw_array_options(app, gui)
            return
        options = app.water.options
        imgui.dummy((0.0, 2 * gui.scale))
        label_before(gui, "Height shown")
        imgui.set_next_item_width(imgui.get_content_region_avail().x - 40 * gui.scale)
        _, options.exaggeration = slider(gui, "##exaggeration", options.exaggeration, 0.5, 5.0, home=1.5)
        tooltip("Factor on the heights in the picture; the simulation is not touched")
        imgui.same_line()
        tenths = round(options.exaggeration * 10)
        imgui.text_unformatted(str(self._factor.get(tenths, lambda: f"×{tenths / 10:.1f}")))
        label_before(gui, "Quality")
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

    @staticmethod
    def _ways(app: App, gui: Gui) -> None:
        """Water, data, or an array."""
        assert app.water is not None and app.lab is not None
        options, shown = app.water.options, app.lab.shown
        width = (imgui.get_content_region_avail().x - 12 * gui.scale) / 3
        for mode, label in (
            (Mode.WATER, f"{fa.ICON_FA_WATER}  Water"),
            (Mode.DATA, f"{fa.ICON_FA_CHART_AREA}  Data"),
        ):
            if _choice(gui, label, not shown.active and options.mode == mode, width):
                options.mode, shown.active = mode, False
            imgui.same_line(0.0, 6 * gui.scale)
        if _choice(gui, f"{fa.ICON_FA_TABLE_CELLS}  Array", shown.active, width):
            shown.active = True
        tooltip("Any array of the capture, as an image, a line or points")

    def _data(self, app: App, gui: Gui) -> None:
        water = app.water
        assert water is not None
        options = water.options
        imgui.separator_text("Data")
        label_before(gui, "Colour map")
        if imgui.begin_combo("##map", options.colour_map):
            for name in self._maps:
                if imgui.selectable(name, name == options.colour_map)[0]:
                    options.colour_map = name
            imgui.end_combo()
        changed, fitted = imgui.checkbox("Fit the range", options.fixed_range is None)
        if changed:
            options.fixed_range = None if fitted else water.range
        if options.fixed_range is not None:
            label_before(gui, "Range, m")
            changed, (low, high) = imgui.input_float2("##range", list(options.fixed_range), "%.4g")
            if changed and low < high:
                options.fixed_range = (low, high)
        _, options.contours = imgui.checkbox("Contour lines", options.contours)
        if options.contours:
            imgui.same_line()
            text = self._range.get(water.contour_interval, lambda: f"every {water.contour_interval:.3g} m")
            caption(gui, str(text))
        _, options.wireframe = imgui.checkbox("Cell borders", options.wireframe)


def _choice(gui: Gui, label: str, chosen: bool, width: float) -> bool:
    if chosen:
        imgui.push_style_color(imgui.Col_.button, gui.palette.accent)
        imgui.push_style_color(imgui.Col_.button_hovered, gui.palette.accent)
        imgui.push_style_color(imgui.Col_.text, gui.palette.on_accent)
    pressed = imgui.button(label, (width, 0.0))
    if chosen:
        imgui.pop_style_color(3)
    return pressed
