"""One region in full: type and shape, who uses it, and its contents as a picture, a table and a histogram."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import select
from app.arrays.layout import value_rows
from app.arrays.ways import Way, choices_of, plane_of, scalars_of, ways_of
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.contents import TYPES, Facts, Typing, facts_of, save_csv, save_npy
from app.lab.lab import Lab
from app.panels.graph_menu import export_folder
from app.panels.inspect_arguments import show_provenance
from app.panels.region_line import RegionLine
from app.panels.region_numbers import digits_of, range_text
from app.panels.region_picture import RegionPicture
from app.panels.region_table import RegionTable
from app.panels.widgets import (
    begin_tabs,
    byte_text,
    caption,
    elided,
    end_tabs,
    heading,
    icon_button,
    right_align,
    tooltip,
)
from app.state import App
from replay.elements import ElementType
from replay.graph.flow import Usage
from replay.graph.model import Access, Provenance

if TYPE_CHECKING:
    from pathlib import Path

_REFRESH = 0.25
_READ_OFTEN = 4 << 20
"""Regions of more bytes are read once a second."""
_MOST_USERS = 8


class RegionTab:
    """The tab; contents are read some times a second while they can change."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._read_at = -1.0
        self.values: np.ndarray | None = None
        self.facts: Facts | None = None
        self._where = ""
        self._shown = -1
        self._typing: Typing | None = None
        self._users_of: tuple[object, ...] = ()
        self._writers: list[tuple[Provenance, list[tuple[str, int]]]] = []
        self._readers: list[tuple[Provenance, list[tuple[str, int]]]] = []
        self._type = self._shape = ""
        self.plane = self.component = 0
        self._picture = RegionPicture()
        self._line = RegionLine()
        self._table = RegionTable()

    def draw(self, app: App, gui: Gui, lab: Lab) -> None:
        """Build the tab."""
        region = lab.selection.region
        if region is None or region not in lab.capture.regions:
            caption(gui, "Select an array in the graph, or follow a link of an operation.")
            return
        if region != self._shown:  # its name and type are at the top
            self._shown = region
            imgui.set_scroll_y(0.0)
        self._look(app, lab, region)
        record = lab.capture.regions[region]
        self._title(app, gui, lab, region)
        self._types(app, gui, lab, region)
        self._numbers(gui, f"region {region}, {byte_text(record.nbytes)}, {self._where}")
        if begin_tabs(gui, "ways"):
            if self.values is not None and self._typing is not None and self.values.size:
                self._ways(app, gui, lab, region)
            if imgui.begin_tab_item("Usage")[0]:
                self._usage(app, gui, lab, region)
                imgui.end_tab_item()
            end_tabs()

    def _ways(self, app: App, gui: Gui, lab: Lab, region: int) -> None:
        """The ways to look at the contents, a tab each."""
        assert self.values is not None
        if imgui.begin_tab_item("Picture")[0]:
            self._look_at(app, gui, lab, region)
            imgui.end_tab_item()
        if imgui.begin_tab_item("Table")[0]:
            self._choices(gui)
            self._table.draw(gui, self.values, self._dimensions, self.plane)
            imgui.end_tab_item()
        if imgui.begin_tab_item("Histogram")[0]:
            self._histogram(gui)
            imgui.end_tab_item()

    @property
    def _way(self) -> Way:
        """The first way of the array that is flat, as a small picture must be."""
        assert self._typing is not None and self.values is not None
        shape = self.values.shape[: self.values.ndim - len(self._typing.element.inner_shape)]
        ways = ways_of(self._typing.element, shape)
        return next((way for way in ways if way in (Way.VALUE, Way.LINE, Way.IMAGE)), Way.LINE)

    def _look_at(self, app: App, gui: Gui, lab: Lab, region: int) -> None:
        """The contents as the picture that suits their type and shape."""
        assert self.values is not None and self._typing is not None
        way, element = self._way, self._typing.element
        if way is Way.VALUE:
            imgui.push_font(gui.bold, 22 * gui.scale)
            for row in value_rows(self.values, element.inner_shape):
                imgui.text_unformatted(row)
            imgui.pop_font()
            return
        numbers = [number for _, number in choices_of(element, way)]
        if numbers and self.component not in numbers:
            self.component = numbers[0]
        self._choices(gui, choices_of(element, way))
        scalars = scalars_of(self.values, self._dimensions, self.component)
        key = (self._key, self.plane, self.component)
        if way is Way.LINE:
            self._line.draw(gui, scalars.reshape(-1), key)
        else:
            self._picture.draw(app, gui, lab, plane_of(scalars, self.plane), key, region)

    @property
    def _dimensions(self) -> int:
        assert self._typing is not None
        return (
            max(self.values.ndim - len(self._typing.element.inner_shape), 1) if self.values is not None else 1
        )

    # Reading

    def _look(self, app: App, lab: Lab, region: int) -> None:
        """Read the contents if they may have changed."""
        users_of = (lab, region, lab.revision)
        if users_of != self._users_of:
            self._users_of = users_of
            usages = lab.flow.usage(region)
            self._writers = _users(lab, usages, Access.WRITE)
            self._readers = _users(lab, usages, Access.READ)
        scene, frame = lab.scene, lab.frame
        if lab.job is not None and self._key[:2] == (lab, region):
            return  # the device is busy
        typing = lab.typings.get(region) or Typing.of_region(lab.capture.regions[region])
        stands = (lab, region, typing, frame.revision)
        revision = scene.player.revision if scene.player is not None else 0
        now = imgui.get_time()
        every = _REFRESH if lab.capture.regions[region].nbytes <= _READ_OFTEN else 1.0
        if self._key[:4] == stands and (
            frame.looking or self._key[4] == revision or now - self._read_at < every
        ):
            return
        if self._key[:2] != (lab, region):
            self.plane = self.component = 0
        if self._key[:3] != stands[:3]:
            self._type, self._shape = typing.element.name, "×".join(map(str, typing.shape))
        self._key, self._read_at, self._typing = (*stands, revision), now, typing
        self.values = self.facts = None
        found = app.attempt(lambda: lab.contents(region))
        if found is not None:
            self.values, self._where = found
        if self.values is not None:
            self.facts = facts_of(self.values)

    def _title(self, app: App, gui: Gui, lab: Lab, region: int) -> None:
        scale = gui.scale
        names = lab.capture.regions[region].names
        button = imgui.get_frame_height() + 20 * scale
        wide = 3 * button + 8 * scale
        imgui.align_text_to_frame_padding()
        title = " = ".join(names) or f"region {region}"
        heading(gui, elided(title, imgui.get_content_region_avail().x - wide - 12 * scale))
        if imgui.is_item_hovered():
            imgui.set_tooltip(title)
        right_align(wide)
        centre = f"{fa.ICON_FA_UP_RIGHT_AND_DOWN_LEFT_FROM_CENTER}##centre"
        if icon_button(gui, centre, "Show it in the centre of the window", quiet=False, width=button):
            lab.shown.pick(region)
        imgui.same_line(0.0, 4 * scale)
        for label, save in (("NPY", save_npy), ("CSV", save_csv)):
            text = f"Write what is shown as .{label.lower()} to {export_folder()}"
            if icon_button(
                gui, f"{label}##{label}", text, enabled=self.values is not None, quiet=False, width=button
            ):
                values = self.values
                path = self._path(lab, region)
                app.attempt(
                    lambda save=save, path=path, values=values: app.tell(f"saved {save(path, values)}")
                )
            imgui.same_line(0.0, 4 * scale)
        imgui.new_line()

    def _path(self, lab: Lab, region: int) -> Path:
        words = re.sub(r"[^\w-]+", "-", f"{lab.capture.path.stem}-{lab.region_name(region)}-{self._where}")
        return export_folder() / words.strip("-")

    def _types(self, app: App, gui: Gui, lab: Lab, region: int) -> None:
        """Type and shape: what the model knows, or what the user says."""
        scale = gui.scale
        record = lab.capture.regions[region]
        given = region in lab.typings
        button = imgui.get_frame_height() if given else 0.0
        room = imgui.get_content_region_avail().x - (button + 4 * scale if given else 0.0)
        imgui.set_next_item_width(room * 0.46)
        if imgui.begin_combo("##type", self._type):
            for name in TYPES:
                if imgui.selectable(name, name == self._type)[0]:
                    self._set(app, lab, region, name, self._shape_for(name))
            imgui.end_combo()
        sign = "chosen by you" if given else record.provenance.value if record.element else "not known"
        tooltip(f"Element type ({sign}); choose another one to read the same bytes differently")
        imgui.same_line(0.0, 4 * scale)
        imgui.set_next_item_width(room * 0.54 - 4 * scale)
        entered, self._shape = imgui.input_text_with_hint(
            "##shape", "shape, such as 128x128", self._shape, imgui.InputTextFlags_.enter_returns_true
        )
        tooltip(f"Shape ({sign}); type another one, -1 for the rest, and press Enter")
        if entered:
            self._set(app, lab, region, self._type, self._shape)
        if given:
            imgui.same_line(0.0, 4 * scale)
            if icon_button(gui, f"{fa.ICON_FA_ROTATE_LEFT}##type", "As the capture says", width=button):
                del lab.typings[region]
        if not given and record.provenance is not Provenance.KNOWN:
            caption(gui, f"type and shape are {record.provenance.value}")

    def _shape_for(self, name: str) -> str:
        """Return the shape that another type begins with: the same for elements of the same size."""
        typing, element = self._typing, ElementType.named(name)
        if typing is None or typing.element.nbytes != element.nbytes:
            return ""
        return "x".join(map(str, typing.shape))

    @staticmethod
    def _set(app: App, lab: Lab, region: int, name: str, shape: str) -> None:
        typing = app.attempt(lambda: Typing.parsed(name, shape, lab.capture.regions[region].nbytes))
        if typing is not None:
            lab.typings[region] = typing

    def _usage(self, app: App, gui: Gui, lab: Lab, region: int) -> None:
        """Who writes and who reads the region, and how that is known, as in the graph."""
        x = 84 * gui.scale
        for label, groups in (("Written by", self._writers), ("Read by", self._readers)):
            caption(gui, label)
            if not groups:
                imgui.same_line(x)
                imgui.text_disabled("nothing")
            for number, (provenance, users) in enumerate(groups):
                if not number:
                    imgui.same_line(x)
                else:
                    imgui.set_cursor_pos_x(x)
                show_provenance(gui, provenance)
                imgui.same_line(0.0, 8 * gui.scale)
                self._links(app, gui, users, x, f"{label}{number}")

    @staticmethod
    def _links(app: App, gui: Gui, users: list[tuple[str, int]], x: float, name: str) -> None:
        right = imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x
        for index, (text, event) in enumerate(users):
            if index:
                imgui.same_line(0.0, 10 * gui.scale)
                if imgui.get_cursor_pos_x() + imgui.calc_text_size(text).x > right:
                    imgui.new_line()
                    imgui.set_cursor_pos_x(x)
            if event < 0:
                caption(gui, text)
            elif imgui.text_link(f"{text}##{name}{index}"):
                select(app, event)

    def _numbers(self, gui: Gui, place: str) -> None:
        """Where the values come from, their range, and what is not finite."""
        facts = self.facts
        text = place
        if facts is not None and facts.low is not None and facts.high is not None:
            text += f",  {range_text(facts.low, facts.high)}"
        caption(gui, elided(text, imgui.get_content_region_avail().x))
        if facts is None:
            return
        if imgui.is_item_hovered() and facts.mean is not None:
            imgui.set_tooltip(f"min {facts.low:.9g}\nmax {facts.high:.9g}\nmean {facts.mean:.9g}")
        if facts.nan or facts.infinite:
            imgui.push_style_color(imgui.Col_.text, gui.palette.danger)
            imgui.text_unformatted(
                f"{fa.ICON_FA_TRIANGLE_EXCLAMATION}  {facts.nan:,} NaN, {facts.infinite:,} infinite "
                f"of {facts.count:,}"
            )
            imgui.pop_style_color()

    def _choices(self, gui: Gui, components: tuple[tuple[str, int], ...] = ()) -> None:
        """Which plane of more dimensions, which scalar of an element."""
        assert self._typing is not None and self.values is not None
        planes = math.prod(self._typing.shape[:-2]) if len(self._typing.shape) > 2 else 1
        width = (imgui.get_content_region_avail().x - 8 * gui.scale) / 2
        shown = False
        if planes > 1:
            imgui.set_next_item_width(width)
            _, self.plane = imgui.slider_int("##plane", self.plane, 0, planes - 1, f"plane %d of {planes}")
            shown = True
        if len(components) > 1:
            if shown:
                imgui.same_line(0.0, 8 * gui.scale)
            imgui.set_next_item_width(width)
            label = next((name for name, number in components if number == self.component), "")
            if imgui.begin_combo("##component", f"component {label}"):
                for name, number in components:
                    if imgui.selectable(name, number == self.component)[0]:
                        self.component = number
                imgui.end_combo()
            tooltip("Which number of each element is shown")

    def _histogram(self, gui: Gui) -> None:
        facts = self.facts
        if facts is None or facts.low is None or facts.high is None:
            caption(gui, "No finite value.")
            return
        scale, counts = gui.scale, facts.counts
        available = imgui.get_content_region_avail()
        width, height = available.x, max(min(available.y - 30 * scale, 180 * scale), 60 * scale)
        corner = imgui.get_cursor_screen_pos()
        imgui.invisible_button("histogram", (width, height))
        draw, most = imgui.get_window_draw_list(), max(int(counts.max()), 1)
        step = width / len(counts)
        mouse = imgui.get_io().mouse_pos
        over = int((mouse.x - corner.x) / step) if imgui.is_item_hovered() else -1
        for index, count in enumerate(counts.tolist()):
            if count:
                # Square roots, so that a few values beside very many can be seen.
                top = corner.y + height * (1 - math.sqrt(count / most))
                color = gui.colors.accent_strong if index == over else gui.colors.accent
                draw.add_rect_filled(
                    (corner.x + index * step + 0.5, min(top, corner.y + height - 2)),
                    (corner.x + (index + 1) * step - 0.5, corner.y + height), color,
                )  # fmt: skip
        if 0 <= over < len(counts):
            span = (facts.high - facts.low) / len(counts)
            low = facts.low + over * span
            digits = digits_of(low, low + span, 3)
            imgui.set_tooltip(f"{counts[over]:,} values\n{low:.{digits}g} to {low + span:.{digits}g}")
        digits = digits_of(facts.low, facts.high, 5)
        caption(gui, f"{facts.low:.{digits}g}")
        text = f"{facts.high:.{digits}g}"
        right_align(imgui.calc_text_size(text).x)
        caption(gui, text)


def _users(
    lab: Lab, usages: tuple[Usage, ...], access: Access
) -> list[tuple[Provenance, list[tuple[str, int]]]]:
    """Return texts and first events of who uses a region, by how that is known; runs as one.

    An event below zero stands for those that are too many to be told.
    """
    groups: dict[Provenance, list[tuple[str, int, int, int]]] = {}
    names, of = lab.labels
    for usage in usages:
        if not usage.access & access:
            continue
        name = names[int(of[usage.event])] if len(names) else str(usage.event)
        found = groups.setdefault(usage.provenance, [])
        if found and found[-1][0] == name and found[-1][2] >= usage.event - 2:
            found[-1] = (name, found[-1][1], usage.event, found[-1][3] + (usage.event > found[-1][2]))
        elif not found or found[-1][2] != usage.event:
            found.append((name, usage.event, usage.event, 1))
    return [(provenance, _texts(found)) for provenance, found in groups.items()]


def _texts(found: list[tuple[str, int, int, int]]) -> list[tuple[str, int]]:
    texts = [
        (f"{name} {_span(first, last, count)}", first) for name, first, last, count in found[:_MOST_USERS]
    ]
    if len(found) > _MOST_USERS:
        texts.append((f"and {len(found) - _MOST_USERS} more", -1))
    return texts


def _span(first: int, last: int, count: int) -> str:
    """Return events for people: `1–4` if all between belong to them, else `2…8 (4 of them)`."""
    if first == last:
        return str(first)
    return f"{first}–{last}" if count == last - first + 1 else f"{first}…{last} ({count} of them)"
