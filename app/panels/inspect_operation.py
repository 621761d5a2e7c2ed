"""One operation in full: kernel, shape, arguments and the regions behind them, where its data come from.

Numbers that a launch has baked in can be changed here; the next frame uses them. What an edit is and how it
reaches the player is not decided here: see `replay.edit` and `App.play`.
"""

from __future__ import annotations

import math

from imgui_bundle import icons_fontawesome_6 as fa

from app.actions import select, show_after
from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.edit_row import EditRow
from app.panels.inspect_arguments import TABLE, ArgumentTable, show_access
from app.panels.widgets import (
    byte_text,
    caption,
    elided,
    heading,
    icon_button,
    right_align,
    shape_text,
    tooltip,
)
from app.state import App
from replay.graph.flow import Edge
from replay.graph.model import Operation, OpKind

_MOST_LINKS = 6
_MOST_USES = 40


class OperationTab:
    """The tab; decodes an operation when another one is selected."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._operation: Operation | None = None
        self._facts: list[tuple[str, str]] = []
        self._from: list[tuple[str, int | None]] = []
        self._to: list[tuple[str, int | None]] = []
        self._about = ""
        self._edits = EditRow()
        self._table = ArgumentTable(self._edits)

    def draw(self, app: App, gui: Gui, lab: Lab) -> None:
        """Build the tab."""
        event = lab.selection.event
        if event is None or event >= len(lab.capture.operations):
            imgui.push_text_wrap_pos(0.0)
            caption(gui, "Select an operation in the graph or in the event list.")
            imgui.pop_text_wrap_pos()
            self._edits.draw(app, gui, lab)
            return
        key = (lab, event, lab.revision, lab.edits.capture)
        if key != self._key:
            self._key = key
            self._read(lab, event)
        operation = self._operation
        assert operation is not None
        self._title(app, gui, lab, operation)
        if operation.arguments:
            self._table.draw(app, gui, lab, operation)
        elif operation.uses:
            self._uses(gui, lab, operation)
        self._edits.draw(app, gui, lab)
        imgui.dummy((0.0, 3 * gui.scale))
        for label, text in self._facts:
            _fact(gui, label, text)
        for label, links in (("Comes from", self._from), ("Goes to", self._to)):
            if links:
                imgui.dummy((0.0, 3 * gui.scale))
                caption(gui, label)
                for number, (text, other) in enumerate(links):
                    imgui.bullet()
                    if other is None:
                        imgui.text_unformatted(text)
                    elif imgui.text_link(f"{text}##{label}{number}"):
                        select(app, other)

    def _read(self, lab: Lab, event: int) -> None:
        operation = self._operation = lab.operation(event)
        self._table.forget()
        facts: list[tuple[str, str]] = []
        last = len(lab.capture.operations) - 1
        self._about = f"event {event} of 0–{last}" if last else "event 0, the only one"
        if operation.kind is OpKind.KERNEL_LAUNCH:
            threads = math.prod(operation.shape)
            words = f"{threads:,} {'thread' if threads == 1 else 'threads'}"
            shape = f"{shape_text(operation.shape)}, {words}" if len(operation.shape) > 1 else words
            self._about += f", {shape}"
            kernel = operation.kernel
            if kernel is not None:
                module = next((m for m in lab.capture.modules if m.hash == kernel.module_hash), None)
                if module is not None:
                    facts.append(("Module", f"{module.name}  ({module.file})"))
            else:
                facts.append(("Module", "the file has no such kernel"))
            block = operation.block_dim or (kernel.block_dim if kernel is not None else 0)
            way = "forward" if operation.is_forward else "backward"
            facts.append(("Block", f"{block}, {way}"))
        facts += [
            (name.replace("_", " ").capitalize(), _plain(value)) for name, value in operation.details.items()
        ]
        if operation.parent is not None:
            facts.append(("Inside", f"{operation.branch} of event {operation.parent}"))
        cost = lab.cost(event)
        if cost is not None:
            self._about += f", {cost.seconds * 1e6:.2f} µs"
            moved = byte_text(float(lab.nbytes_of_events[event]))
            told = f"{cost.seconds * 1e6:.2f} µs, {cost.share:.1%} of the frame, at most {moved} moved"
            facts.append(("Cost", told))
        self._facts = facts
        self._from = _links(lab, lab.flow.producers(event), source=True)
        self._to = _links(lab, lab.flow.consumers(event), source=False)

    def _title(self, app: App, gui: Gui, lab: Lab, operation: Operation) -> None:
        event, scale = operation.event, gui.scale
        button = imgui.get_frame_height() + 4 * scale
        room = imgui.get_content_region_avail().x - 2 * button - 14 * scale
        imgui.align_text_to_frame_padding()
        heading(gui, elided(operation.label, room))
        if imgui.is_item_hovered():
            imgui.set_tooltip(operation.label)
        right_align(2 * button + 4 * scale)
        if icon_button(
            gui, f"{fa.ICON_FA_EYE}##after", "Show the state after this event",
            enabled=lab.frame.possible and lab.job is None, quiet=False, width=button,
        ):  # fmt: skip
            app.attempt(lambda: show_after(app, event))
        imgui.same_line(0.0, 4 * scale)
        if icon_button(
            gui, f"{fa.ICON_FA_LAYER_GROUP}##same", "Select all of this kernel", quiet=False, width=button
        ):
            names, of = lab.labels
            if len(names):
                name = names[int(of[event])]
                lab.selection.select_kernel(name, lab.events_named(name))
        caption(gui, elided(self._about, imgui.get_content_region_avail().x))

    @staticmethod
    def _uses(gui: Gui, lab: Lab, operation: Operation) -> None:
        """The regions that an operation without arguments uses."""
        if not imgui.begin_table("uses", 3, TABLE):
            return
        imgui.table_setup_column("Use", imgui.TableColumnFlags_.width_fixed, 92 * gui.scale)
        imgui.table_setup_column("Access", imgui.TableColumnFlags_.width_fixed, 52 * gui.scale)
        imgui.table_setup_column("Region", imgui.TableColumnFlags_.width_stretch)
        imgui.table_headers_row()
        for number, use in enumerate(operation.uses[:_MOST_USES]):
            imgui.table_next_row()
            imgui.table_next_column()
            imgui.text_unformatted(use.label or "data")
            imgui.table_next_column()
            show_access(gui, use.access, use.provenance)
            imgui.table_next_column()
            if imgui.text_link(f"{lab.region_name(use.region)}##{number}"):
                lab.selection.select_region(use.region)
            tooltip(f"region {use.region}, bytes {use.offset} to {use.offset + use.nbytes}")
        imgui.end_table()


def _fact(gui: Gui, label: str, text: str) -> None:
    caption(gui, label)
    imgui.same_line(92 * gui.scale)
    room = imgui.get_content_region_avail().x
    imgui.text_unformatted(elided(text, room))
    if imgui.is_item_hovered():
        imgui.set_tooltip(text)


def _links(lab: Lab, edges: tuple[Edge, ...], *, source: bool) -> list[tuple[str, int | None]]:
    """Return texts and events for the other ends of edges, each once."""
    found: dict[int, list[str]] = {}
    for edge in edges:
        other = edge.source if source else edge.target
        names = found.setdefault(other, [])
        name = lab.region_name(edge.region)
        if name not in names:
            names.append(name)
    links: list[tuple[str, int | None]] = [
        (f"event {other}, {lab.capture.operations[other].label}: {', '.join(names[:3])}", other)
        for other, names in list(found.items())[:_MOST_LINKS]
    ]
    if len(found) > _MOST_LINKS:
        links.append((f"and {len(found) - _MOST_LINKS} more", None))
    return links


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, (tuple, list)):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, bytes):
        return value.hex(" ")
    return str(value)
