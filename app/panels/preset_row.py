"""The row of presets in the parameter panel: choose, cycle, save."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform
from app.bindings import Action
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import hint, icon_button, tooltip
from app.presets import save_preset
from app.state import App

_NEXT = hint("Next preset", Action.NEXT_PRESET)


class PresetRow:
    """The row, and the name that is being typed for a new preset."""

    def __init__(self) -> None:
        self._label = ""

    def draw(self, app: App, gui: Gui) -> None:
        """Build the row."""
        side = imgui.get_frame_height()
        gap = 4 * gui.scale
        imgui.set_next_item_width(imgui.get_content_region_avail().x - 2 * (side * 1.3 + gap))
        shown = next((preset.label for preset in app.presets if preset.name == app.preset), "Presets")
        if imgui.begin_combo("##presets", shown):
            for preset in app.presets:
                if imgui.selectable(preset.label, preset.name == app.preset)[0]:
                    app.attempt(lambda preset=preset: app.apply_preset(preset))
                if preset.description:
                    tooltip(preset.description)
            imgui.end_combo()
        imgui.same_line(0.0, gap)
        if icon_button(gui, f"{fa.ICON_FA_CARET_RIGHT}##next", _NEXT, quiet=False, width=side * 1.3):
            perform(app, Action.NEXT_PRESET)
        imgui.same_line(0.0, gap)
        can_save = app.config is not None
        if icon_button(
            gui, f"{fa.ICON_FA_FLOPPY_DISK}##save", "Save as a preset", enabled=can_save, quiet=False
        ):
            imgui.open_popup("save preset")
        if imgui.begin_popup("save preset"):
            self._form(app, gui)
            imgui.end_popup()

    def _form(self, app: App, gui: Gui) -> None:
        imgui.text_unformatted("Save the present values as")
        if imgui.is_window_appearing():
            imgui.set_keyboard_focus_here()
        imgui.set_next_item_width(220 * gui.scale)
        entered, self._label = imgui.input_text_with_hint(
            "##label", "name", self._label, imgui.InputTextFlags_.enter_returns_true
        )
        imgui.same_line()
        if (imgui.button("Save") or entered) and self._label.strip():
            app.later(lambda: self._save(app))  # Enter would close a message at once
            imgui.close_current_popup()

    def _save(self, app: App) -> None:
        if app.scene is None or app.config is None:
            return
        preset = save_preset(self._label, app.scene.editor.scalars(), app.config / "presets")
        app.reload_presets()
        app.preset = preset.name
        app.tell(f"saved preset {preset.path}")
        self._label = ""
