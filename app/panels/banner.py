"""The banner below the bars of the centre: a value that is not finite, or a file that has changed.

It covers nothing but water: an array in the centre is laid out below it.
"""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform, show_after
from app.bindings import Action
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.tools import bar_width
from app.state import App

_FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_docking
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.always_auto_resize
    | imgui.WindowFlags_.no_focus_on_appearing
)


class Banner:
    """The banner."""

    def draw(self, app: App, gui: Gui) -> None:
        """Build it if there is something to say, and note in `app.canvas.banner` how much room it takes."""
        room, app.canvas.banner = app.canvas.banner, 0.0
        scene, lab = app.scene, app.lab
        if scene is None or lab is None:
            return
        event: int | None = None
        if scene.not_finite:
            text, event = _not_finite(lab)
            button, work = "Reset", lambda: perform(app, Action.RESET_WATER)
        elif scene.changed_on_disk:
            text, button, work = f"{scene.name} has changed on disk.", "Reload", app.reload
        else:
            return
        scale, (x, y, width, _) = gui.scale, app.canvas.rect
        left = 0.0 if app.shows_array else bar_width(gui, app.canvas.rect)
        place = (x + (left + width) / 2, y + app.canvas.bars + 6 * scale)
        imgui.set_next_window_pos(place, imgui.Cond_.always, (0.5, 0.0))
        imgui.push_style_color(imgui.Col_.window_bg, gui.colors.raised)
        imgui.begin("##banner", None, _FLAGS)
        imgui.pop_style_color()
        imgui.align_text_to_frame_padding()
        imgui.push_style_color(imgui.Col_.text, gui.colors.warning)
        imgui.text_unformatted(fa.ICON_FA_TRIANGLE_EXCLAMATION)
        imgui.pop_style_color()
        imgui.same_line()
        imgui.push_text_wrap_pos(max(width - left - 60 * scale, 160 * scale))
        imgui.text_unformatted(text)
        imgui.pop_text_wrap_pos()
        if event is not None and not (lab.frame.looking and lab.frame.event == event):
            if imgui.button(f"Show event {event}"):
                app.attempt(lambda: show_after(app, event))
            imgui.same_line()
        if imgui.button(button):
            app.later(work)
        # The first build of a window that sizes itself is not its size yet.
        app.canvas.banner = room if imgui.is_window_appearing() else imgui.get_window_height() + 6 * scale
        imgui.end()


def _not_finite(lab: Lab) -> tuple[str, int | None]:
    """Return what the banner says of values that are not finite, and the event that made the first one."""
    if lab.job is not None:
        return f"A value is not finite any more. {lab.job.title}…", None
    found = lab.found
    if found is None:
        return "A value is not finite any more: a NaN or an infinity spread.", None
    event, made = found.first.event, found.first.made
    if event is None:
        return f"Values were not finite before frame {found.frame}, the oldest that is kept.", None
    words = [f"{one.count:,} in {lab.region_name(one.region)}" for one in made[:3]]
    label = lab.capture.operations[event].label
    exact = "" if found.first.exact else " or one before it"
    text = f"Event {event}, {label}{exact}, made values that are not finite in frame {found.frame}"
    return f"{text}: {', '.join(words)}.", event
