"""The graph's toolbar with its search, and the menu under the right mouse button."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import show_after
from app.bindings import Action
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.graph_colors import ColorBy, legend_of
from app.panels.graph_find import Find, Sort, choose, find
from app.panels.widgets import Kept, caption, hint, icon_button, tooltip
from app.state import App
from replay.graph.layout import Box, Picture, Pill

if TYPE_CHECKING:
    from app.panels.graph import GraphPanel

_FIELD = imgui.InputTextFlags_.enter_returns_true | imgui.InputTextFlags_.escape_clears_all
_FIND = hint("Find a kernel, a parameter, a region, or an event by its number", Action.FIND)
_SIGNS = {
    Sort.OPERATION: fa.ICON_FA_CUBE,
    Sort.REGION: fa.ICON_FA_DATABASE,
    Sort.EVENT: fa.ICON_FA_HASHTAG,
}
_ROWS = 7
_PADDED = imgui.ChildFlags_.always_use_window_padding | imgui.ChildFlags_.borders
_finds = Kept()


def toolbar(app: App, gui: Gui, panel: GraphPanel) -> None:
    """Build the row above the graph: search, fit, colours, more; what was found lies over the graph."""
    lab, scale = app.lab, gui.scale
    assert lab is not None
    button = imgui.get_frame_height() + 6 * scale
    gap = 4 * scale
    width = imgui.get_content_region_avail().x - 3 * (button + gap)
    imgui.set_next_item_width(max(width, 60 * scale))
    if app.find_asked:
        app.find_asked = False
        imgui.set_window_focus()
        imgui.set_keyboard_focus_here()
    entered, panel.search = imgui.input_text_with_hint(
        "##find", f"{fa.ICON_FA_MAGNIFYING_GLASS}  Find  (Ctrl+F)", panel.search,
        _FIELD,
    )  # fmt: skip
    if not panel.search:  # or it would cover what was found
        tooltip(_FIND)
    imgui.same_line(0.0, gap)
    if icon_button(gui, f"{fa.ICON_FA_EXPAND}##fit", "Fit the whole graph", width=button):
        panel.fit_asked = True
    imgui.same_line(0.0, gap)
    if icon_button(
        gui, f"{fa.ICON_FA_PALETTE}##colour", f"Colour by {panel.color_by.value.lower()}", width=button
    ):
        imgui.open_popup("colour")
    imgui.same_line(0.0, gap)
    if icon_button(gui, f"{fa.ICON_FA_ELLIPSIS}##more", "More", width=button):
        imgui.open_popup("more")
    if imgui.begin_popup("colour"):
        _colours(app, gui, panel, lab)
        imgui.end_popup()
    if imgui.begin_popup("more"):
        _more(app, panel, lab)
        imgui.end_popup()
    panel.entered = entered


def results(gui: Gui, panel: GraphPanel, lab: Lab) -> None:
    """Build what the search found over the upper part of the graph, which stays as it is; nothing without."""
    if not panel.search:
        return
    found: list[Find] = _finds.get((id(lab), panel.search), lambda: find(lab, panel.search))  # type: ignore[assignment]
    entered, panel.entered = panel.entered, False
    chosen = found[0] if entered and found else None
    padding, line = imgui.get_style().window_padding, imgui.get_text_line_height_with_spacing()
    height = min(max(len(found), 1), _ROWS) * line + 2 * padding.y
    imgui.set_cursor_screen_pos(panel.corner)
    imgui.push_style_color(imgui.Col_.child_bg, gui.palette.raised)
    imgui.begin_child("found", (0.0, height), _PADDED)
    imgui.pop_style_color()
    if not found:
        caption(gui, "Nothing has such a name.")
    width = imgui.get_content_region_avail().x
    for index, item in enumerate(found):
        if imgui.selectable(f"{_SIGNS[item.sort]}  {item.name}##{index}", False)[0]:
            chosen = item
        room = width - imgui.calc_text_size(item.name).x - 44 * gui.scale
        wide = imgui.calc_text_size(item.about).x
        if wide < room:
            imgui.same_line(width - wide)
            caption(gui, item.about)
    imgui.end_child()
    if chosen is not None:
        choose(lab, chosen)
        if entered:
            panel.search = ""


def _colours(app: App, gui: Gui, panel: GraphPanel, lab: Lab) -> None:
    for choice in ColorBy:
        measured = choice is not ColorBy.TIME or lab.profile is not None
        if imgui.menu_item_simple(choice.value, "", choice is panel.color_by, measured):
            panel.color_by = choice
        if not measured:
            tooltip("Measure first: the stopwatch in the Events panel")
    imgui.separator()
    for color, text in legend_of(panel.color_by, gui.colors):
        corner = imgui.get_cursor_screen_pos()
        y = corner.y + imgui.get_text_line_height() / 2
        imgui.get_window_draw_list().add_circle_filled((corner.x + 5 * gui.scale, y), 4 * gui.scale, color)
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 16 * gui.scale)
        caption(gui, text)


def _more(app: App, panel: GraphPanel, lab: Lab) -> None:
    if imgui.menu_item_simple("Unfold all", "", False, len(lab.capture.operations) <= 20_000):
        panel.unfold_all(lab, closed=False)
    if imgui.menu_item_simple("Fold all"):
        panel.unfold_all(lab, closed=True)
    _, panel.order = imgui.menu_item("Show order-only edges", "", panel.order, True)
    imgui.separator()
    able = lab.scene.player is not None and lab.job is None
    if imgui.menu_item_simple("Observe access", "", False, able):
        app.attempt(lambda: lab.observe(app.tell))
    tooltip("Replay the frame event by event beside the live one, and see which regions each event changes")
    if imgui.menu_item_simple("Go to event…", "Ctrl+G"):
        app.go_to_asked = True
    imgui.separator()
    if imgui.menu_item_simple("Export as SVG"):
        path = export_folder() / f"{lab.capture.path.stem}.svg"
        app.attempt(lambda: panel.export(app, path))


def export_folder() -> Path:
    """Return the user's folder for what is exported; it may not exist yet."""
    import platformdirs

    return Path(platformdirs.user_documents_dir()) / "Ripplescope"


def context_menu(app: App, panel: GraphPanel, lab: Lab, picture: Picture, thing: Box | Pill | None) -> None:
    """Build the menu for a box, a pill, or the empty canvas."""
    if isinstance(thing, Pill):
        imgui.text_disabled(" = ".join(thing.names))
        if imgui.menu_item_simple("Look at its contents"):
            lab.selection.select_region(thing.region)
        name = next((name for name in thing.names if name in lab.scene.editor.values), "")
        if name and imgui.menu_item_simple("Change its value"):
            app.focused = name
        return
    if isinstance(thing, Box):
        imgui.text_disabled(thing.full_title)
        event = thing.first
        able = lab.frame.possible and lab.job is None
        if imgui.menu_item_simple("Show the state after it", "E", False, able):
            app.attempt(lambda: show_after(app, thing.last if thing.badge else event))
        names, of = lab.labels
        name = names[int(of[event])] if len(names) else ""
        if name and imgui.menu_item_simple(f"Select all of {name}"):
            lab.selection.select_kernel(name, lab.events_named(name))
        if thing.can_open and imgui.menu_item_simple("Fold" if thing.is_open else "Unfold"):
            panel.toggle(lab, thing)
        if imgui.menu_item_simple("Copy its name"):
            imgui.set_clipboard_text(thing.full_title)
        return
    if imgui.menu_item_simple("Fit the whole graph"):
        panel.fit_asked = True
    _more(app, panel, lab)
