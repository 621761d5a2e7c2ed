"""The event list: the operations of the capture in order, by their stable numbers, repeats folded.

What is selected here is selected in the graph, and the other way round. Once the frame was measured, the
list is also the table of costs.
"""

from __future__ import annotations

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import perform, select, show_after
from app.bindings import Action
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.graph_colors import heat, time_text
from app.panels.outline import Row, rows_of
from app.panels.widgets import byte_text, caption, hint, icon_button, tooltip
from app.state import App

_TABLE = (
    imgui.TableFlags_.row_bg
    | imgui.TableFlags_.scroll_y
    | imgui.TableFlags_.resizable
    | imgui.TableFlags_.sizing_stretch_prop
    | imgui.TableFlags_.no_borders_in_body
)
_ROW = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_double_click
_FIXED, _STRETCH = imgui.TableColumnFlags_.width_fixed, imgui.TableColumnFlags_.width_stretch
_LOOK = hint("Show the state after the selected event, beside the live water", Action.LOOK_INSIDE)
_OPENED_AT_ONCE = 256


class EventsPanel:
    """The panel; only the rows that can be seen are built."""

    name = "Events"
    icon = fa.ICON_FA_LIST_OL

    def __init__(self) -> None:
        self._lab: Lab | None = None
        self._opened: set[tuple[int, ...]] = set()
        self.rows: list[Row] = []
        self._all: list[Row] = []
        self._texts: list[tuple[str, str, str]] = []
        self._costs: list[tuple[str, str, str, float]] = []
        self._costs_of: tuple[object, ...] = ()
        self._filter = ""
        self._followed = -1

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        lab = app.lab
        if lab is None:
            caption(gui, "Open a capture to see its operations.")
            return
        if lab is not self._lab:
            self._lab = lab
            self._opened.clear()
            self._filter = ""
            self._list(lab)
        self._bar(app, gui, lab)
        self._keys(app)
        measured = lab.profile is not None
        if not imgui.begin_table("events", 6 if measured else 3, _TABLE):
            return
        scale = gui.scale
        narrow = imgui.get_content_region_avail().x < 260 * scale
        imgui.table_setup_column("#", _FIXED, (38 if narrow else 52) * scale)
        imgui.table_setup_column("Operation", _STRETCH, 1.0)
        # Beside costs the name of the operation needs the room that these two would take.
        tight = measured and imgui.get_content_region_avail().x < 480 * scale
        less = _FIXED | imgui.TableColumnFlags_.disabled if tight else _FIXED
        imgui.table_setup_column("Size", less, (36 if narrow else 74) * scale)
        if measured:
            imgui.table_setup_column("Time", _FIXED, 66 * scale)
            imgui.table_setup_column("Share", _FIXED, 70 * scale)
            imgui.table_setup_column("Bytes", less, 72 * scale)
            self._tell_costs(lab)
        imgui.table_setup_scroll_freeze(0, 1)
        imgui.table_headers_row()
        self._follow(lab)
        clipper = imgui.ListClipper()
        clipper.begin(len(self.rows))
        asked = None
        while clipper.step():
            for index in range(clipper.display_start, clipper.display_end):
                if self._row(app, gui, lab, index, measured):
                    asked = self.rows[index].key
        clipper.end()
        imgui.end_table()
        if asked is not None:
            self._opened ^= {asked}
            self._list(lab)

    def _bar(self, app: App, gui: Gui, lab: Lab) -> None:
        """The row above the list: filter, state after an event, measuring."""
        scale = gui.scale
        gap = 6 * scale
        label = f"{fa.ICON_FA_STOPWATCH}  Measure"
        if imgui.get_content_region_avail().x < 260 * scale:
            label = f"{fa.ICON_FA_STOPWATCH}##measure"
        wide = imgui.calc_text_size(label, True).x + 16 * scale
        eye = imgui.get_frame_height() + 8 * scale
        job = lab.job
        if job is not None:
            text = f"{job.title}…" if job.share is None else f"{job.title}  {job.share:.0%}"
            width = imgui.get_content_region_avail().x - 70 * scale
            imgui.progress_bar(job.share if job.share is not None else -imgui.get_time(), (width, 0.0), text)
            imgui.same_line(0.0, gap)
            if imgui.button("Cancel", (64 * scale, 0.0)):
                job.cancel()
            return
        imgui.set_next_item_width(max(imgui.get_content_region_avail().x - wide - eye - 2 * gap, 40 * scale))
        changed, self._filter = imgui.input_text_with_hint(
            "##filter", f"{fa.ICON_FA_FILTER}  Filter", self._filter, imgui.InputTextFlags_.escape_clears_all
        )
        if changed:
            self._list(lab)
        imgui.same_line(0.0, gap)
        looking = lab.frame.looking
        if looking:
            imgui.push_style_color(imgui.Col_.text, gui.colors.control)
        pressed = icon_button(
            gui, f"{fa.ICON_FA_EYE}##look", _LOOK, enabled=lab.frame.possible, quiet=False, width=eye
        )
        if looking:
            imgui.pop_style_color()
        if pressed:
            perform(app, Action.LOOK_INSIDE)
        imgui.same_line(0.0, gap)
        imgui.begin_disabled(not lab.frame.possible)
        if imgui.button(label):
            app.attempt(lab.measure)
        imgui.end_disabled()
        tooltip(
            "Time every event of one frame, beside the live player, which rests meanwhile. Each runs "
            "alone on the state that it meets; the median of repeats counts."
        )

    def _keys(self, app: App) -> None:
        """Up and down go through the rows while the list has the keyboard."""
        if not imgui.is_window_focused(imgui.FocusedFlags_.child_windows) or imgui.get_io().want_text_input:
            return
        by = imgui.is_key_pressed(imgui.Key.down_arrow) - imgui.is_key_pressed(imgui.Key.up_arrow)
        if not by or not self.rows:
            return
        index = self._index_of(app.selected) if app.selected is not None else -1
        index = min(max(index + by, 0), len(self.rows) - 1)
        select(app, self.rows[index].event)
        self._followed = -1

    def _list(self, lab: Lab) -> None:
        self._all = rows_of(lab.capture, self._opened)
        wanted = self._filter.strip().casefold()
        self.rows = (
            [row for row in self._all if wanted in row.label.casefold() or wanted == str(row.event)]
            if wanted
            else self._all
        )
        self._texts = [_texts(row, index, row.key in self._opened) for index, row in enumerate(self.rows)]
        self._costs_of = ()

    def _tell_costs(self, lab: Lab) -> None:
        """Make the texts of the costs, sums for rows that stand for several events."""
        key = (lab.revision, id(self.rows))
        if key == self._costs_of or lab.profile is None:
            return
        self._costs_of = key
        count = len(lab.capture.operations)
        seconds = np.zeros(count)
        for cost in lab.profile.events:
            seconds[cost.event] = cost.seconds
        total = max(float(seconds.sum()), 1e-30)
        time_before = np.concatenate(([0.0], np.cumsum(seconds))).tolist()
        bytes_before = np.concatenate(([0.0], np.cumsum(lab.nbytes_of_events))).tolist()
        self._costs = []
        for row in self.rows:
            spent = time_before[row.last + 1] - time_before[row.event]
            moved = bytes_before[row.last + 1] - bytes_before[row.event]
            share = spent / total
            self._costs.append(
                (time_text(spent), f"{share:.1%}", byte_text(moved), share)
                if spent > 0 or row.depth == 0
                else ("", "", byte_text(moved) if moved else "", 0.0)
            )

    def _row(self, app: App, gui: Gui, lab: Lab, index: int, measured: bool) -> bool:
        """Build a row; return whether it is to be opened or closed."""
        row, (number, label, size) = self.rows[index], self._texts[index]
        imgui.table_next_row()
        imgui.table_next_column()
        event = app.selected
        selected = event is not None and row.event <= event <= row.last
        shown = lab.frame.looking and lab.frame.event is not None and row.event <= lab.frame.event <= row.last
        if shown:
            imgui.push_style_color(imgui.Col_.text, gui.colors.control)
        pressed = imgui.selectable(number, selected, _ROW)[0]
        double = pressed and imgui.is_mouse_double_clicked(0)
        if pressed:
            if double:
                app.attempt(lambda: show_after(app, row.last if row.count > 1 else row.event))
            else:
                select(app, row.event)
            self._followed = lab.selection.revision
        imgui.table_next_column()
        if row.depth:
            imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + 14 * gui.scale * row.depth)
        imgui.text_unformatted(label)
        if shown:
            imgui.pop_style_color()
        imgui.table_next_column()
        imgui.text_disabled(size)
        if measured and index < len(self._costs):
            spent, share, moved, part = self._costs[index]
            imgui.table_next_column()
            imgui.text_unformatted(spent)
            imgui.table_next_column()
            if share:
                corner, width = imgui.get_cursor_screen_pos(), imgui.get_content_region_avail().x
                bottom = corner.y + imgui.get_text_line_height() + gui.scale
                imgui.get_window_draw_list().add_rect_filled(  # below the number, not through it
                    (corner.x, bottom - 2.5 * gui.scale),
                    (corner.x + max(width * part, 1.0), bottom),
                    heat(part),
                )
            imgui.text_unformatted(share)
            imgui.table_next_column()
            imgui.text_disabled(moved)
        return pressed and row.count > 1 and not double

    def _index_of(self, event: int | None) -> int:
        """Return the index of the row that shows an event most closely."""
        if event is None:
            return -1
        found = [i for i, row in enumerate(self.rows) if row.event <= event <= row.last]
        return min(found, key=lambda i: (self.rows[i].last - self.rows[i].event, i), default=-1)

    def _follow(self, lab: Lab) -> None:
        """Scroll to an event that was selected elsewhere, and open the run that it lies in."""
        if self._followed == lab.selection.revision:
            return
        self._followed = lab.selection.revision
        event = lab.selection.event
        index = self._index_of(event)
        if event is None or index < 0:
            return
        row = self.rows[index]
        short = row.count > 1 and row.last - row.event < _OPENED_AT_ONCE
        if short and event != row.event and row.key not in self._opened:
            self._opened.add(row.key)
            self._list(lab)
            index = self._index_of(event)
        height = imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y
        y, top, room = index * height, imgui.get_scroll_y(), imgui.get_window_height() - 2 * height
        if not top <= y <= top + room - height:
            imgui.set_scroll_y(max(0.0, y - room / 2))


def _texts(row: Row, index: int, opened: bool) -> tuple[str, str, str]:
    number = f"{row.event}–{row.last}" if row.last > row.event else str(row.event)
    if row.count == 1:
        return f"{number}##{index}", row.label, row.shape
    sign = fa.ICON_FA_CHEVRON_DOWN if opened else fa.ICON_FA_CHEVRON_RIGHT
    return f"{number}##{index}", f"{sign} {row.label}  ×{row.count}", row.shape
