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
from app.panels.graph_tips import WORDS
from app.panels.widgets import caption, elided, heading, icon_button, right_align, shape_text, tooltip
from app.state import App
from replay.elements import ElementType
from replay.errors import ParameterError
from replay.graph.flow import Edge
from replay.graph.model import Access, Argument, ArrayView, Operation, OpKind, Provenance

_TABLE = imgui.TableFlags_.row_bg | imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.no_borders_in_body
_MOST_LINKS = 6
_MOST_USES = 40
_LETTERS = {
    Access.READ: "R", Access.WRITE: "W", Access.READ_WRITE: "RW", Access.NONE: "–",
}  # fmt: skip


class OperationTab:
    """The tab; decodes an operation when another one is selected."""

    def __init__(self) -> None:
        self._key: tuple[object, ...] = ()
        self._operation: Operation | None = None
        self._facts: list[tuple[str, str]] = []
        self._from: list[tuple[str, int | None]] = []
        self._to: list[tuple[str, int | None]] = []
        self._typed: dict[tuple[int, int], float] = {}
        self._edits = EditRow()

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
        for label, text in self._facts:
            _fact(gui, label, text)
        if operation.arguments:
            imgui.dummy((0.0, 3 * gui.scale))
            self._arguments(app, gui, lab, operation)
        elif operation.uses:
            imgui.dummy((0.0, 3 * gui.scale))
            self._uses(gui, lab, operation)
        self._edits.draw(app, gui, lab)
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
        self._typed.clear()
        facts: list[tuple[str, str]] = []
        if operation.kind is OpKind.KERNEL_LAUNCH:
            threads = math.prod(operation.shape)
            words = f"{threads:,} {'thread' if threads == 1 else 'threads'}"
            shape = f"{shape_text(operation.shape)}, {words}" if len(operation.shape) > 1 else words
            facts.append(("Shape", shape))
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
            facts.append(("Cost", f"{cost.seconds * 1e6:.2f} µs, {cost.share:.1%} of the frame"))
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
        kind = "launch" if operation.kind is OpKind.KERNEL_LAUNCH else "operation"
        caption(gui, f"event {event} of 0–{len(lab.capture.operations) - 1}, {kind}")

    # Arguments

    def _arguments(self, app: App, gui: Gui, lab: Lab, operation: Operation) -> None:
        if not imgui.begin_table("arguments", 3, _TABLE):
            return
        scale = gui.scale
        imgui.table_setup_column("Argument", imgui.TableColumnFlags_.width_fixed, 92 * scale)
        imgui.table_setup_column("Type", imgui.TableColumnFlags_.width_fixed, 96 * scale)
        imgui.table_setup_column("Value", imgui.TableColumnFlags_.width_stretch)
        imgui.table_headers_row()
        for argument in operation.arguments:
            imgui.push_id(argument.index)
            imgui.table_next_row()
            imgui.table_next_column()
            imgui.align_text_to_frame_padding()
            name = argument.name or f"argument {argument.index + 1}"
            imgui.text_unformatted(elided(name, 88 * scale))
            if imgui.is_item_hovered():
                imgui.set_tooltip(name)
            imgui.table_next_column()
            imgui.align_text_to_frame_padding()
            caption(gui, elided(_short(argument.type), 92 * scale))
            if imgui.is_item_hovered():
                imgui.set_tooltip(f"{argument.type}\n{WORDS[argument.provenance]}")
            imgui.table_next_column()
            if argument.value is not None:
                self._scalar(app, gui, lab, operation, argument)
            for view in argument.arrays:
                self._array(app, gui, lab, argument, view)
            if argument.handles:
                imgui.text_unformatted("mesh " + ", ".join(map(hex, argument.handles)))
            if argument.value is None and not argument.arrays and not argument.handles:
                raw = argument.raw[:8].hex(" ") + (" …" if len(argument.raw) > 8 else "")
                caption(gui, f"{len(argument.raw)} bytes: {raw}")
            imgui.pop_id()
        imgui.end_table()

    @staticmethod
    def _uses(gui: Gui, lab: Lab, operation: Operation) -> None:
        """The regions that an operation without arguments uses."""
        if not imgui.begin_table("uses", 3, _TABLE):
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
            caption(gui, _LETTERS[use.access])
            imgui.table_next_column()
            if imgui.text_link(f"{lab.region_name(use.region)}##{number}"):
                lab.selection.select_region(use.region)
            tooltip(f"region {use.region}, bytes {use.offset} to {use.offset + use.nbytes}")
        imgui.end_table()

    @staticmethod
    def _array(app: App, gui: Gui, lab: Lab, argument: Argument, view: ArrayView) -> None:
        imgui.align_text_to_frame_padding()
        if view.region is None:
            caption(gui, "null")
            return
        color = {
            Provenance.KNOWN: gui.palette.good, Provenance.OBSERVED: gui.palette.library,
        }.get(argument.access_provenance, gui.palette.control)  # fmt: skip
        imgui.push_style_color(imgui.Col_.text, color)
        imgui.text_unformatted(_LETTERS[argument.access])
        imgui.pop_style_color()
        tooltip(
            f"{argument.access.name or 'unused'}; {WORDS[argument.access_provenance]}".replace(
                "_", " "
            ).lower()
        )
        imgui.same_line(0.0, 6 * gui.scale)
        path = f"{view.path}: " if view.path and view.path != "data" else ""
        if imgui.text_link(f"{path}{lab.region_name(view.region)}##{view.path}"):
            lab.selection.select_region(view.region)
        if imgui.is_item_hovered():
            place = f", from byte {view.offset}" if view.offset else ""
            strides = ", ".join(map(str, view.strides)) or "not told"
            imgui.set_tooltip(
                f"region {view.region}{place}: {lab.described(view.region)}\n"
                f"shape {shape_text(view.shape) or 'not told'}, strides {strides}"
            )

    def _scalar(self, app: App, gui: Gui, lab: Lab, operation: Operation, argument: Argument) -> None:
        """Fields for a number or a few of them; what is typed becomes an edit."""
        value = argument.value if isinstance(argument.value, tuple) else (argument.value,)
        try:
            element = ElementType.named(argument.type)
        except ParameterError:
            imgui.text_unformatted(_plain(argument.value))
            return
        able = lab.scene.player is not None and lab.job is None
        revert = self._edits.key_of(lab, operation.event, argument.index)
        button = imgui.get_frame_height() if revert is not None else 0.0
        columns = 1 if len(value) == 1 else 2 if len(value) in (2, 4) else 3
        gap = 4 * gui.scale
        width = (
            imgui.get_content_region_avail().x - (button + gap if button else 0) - gap * (columns - 1)
        ) / columns
        imgui.begin_disabled(not able)
        for index, number in enumerate(value):
            if index % columns:
                imgui.same_line(0.0, gap)
            imgui.push_id(index)
            imgui.set_next_item_width(max(width, 30 * gui.scale))
            self._field(app, lab, operation, argument, element, index if len(value) > 1 else None, number)
            imgui.pop_id()
        imgui.end_disabled()
        if revert is not None:
            imgui.same_line(0.0, gap)
            if icon_button(
                gui, f"{fa.ICON_FA_ROTATE_LEFT}##revert", "Back to what the file holds", width=button
            ):
                app.attempt(lambda: self._edits.revert(app, lab, revert))

    def _field(
        self, app: App, lab: Lab, operation: Operation, argument: Argument, element: ElementType,
        component: int | None, number: float,
    ) -> None:  # fmt: skip
        slot = (argument.index, component or 0)
        shown = self._typed.get(slot, number)
        if element.scalar.kind == "f":
            form = "%.9g" if element.scalar.itemsize <= 4 else "%.15g"
            changed, typed = imgui.input_double("##value", float(shown), 0.0, 0.0, form)
        elif element.scalar.kind == "b":
            changed, ticked = imgui.checkbox("##value", bool(shown))
            if changed:
                app.attempt(lambda: self._edits.set(app, lab, operation.event, argument, component, ticked))
            return
        else:
            bounded = max(min(int(shown), 2**31 - 1), -(2**31))
            if bounded != int(shown):
                imgui.text_unformatted(str(int(shown)))
                return
            changed, typed = imgui.input_int("##value", bounded, 0, 0)
        if changed:
            self._typed[slot] = typed
        if imgui.is_item_deactivated_after_edit() and slot in self._typed:
            wanted = self._typed.pop(slot)
            if wanted != number:
                app.attempt(lambda: self._edits.set(app, lab, operation.event, argument, component, wanted))


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


def _short(type_name: str) -> str:
    """Return a type without what every reader knows: `array2d[float32]` stays, `float32` too."""
    return type_name.replace("array1d[", "array[")


def _plain(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.9g}"
    if isinstance(value, (tuple, list)):
        return ", ".join(_plain(item) for item in value)
    if isinstance(value, bytes):
        return value.hex(" ")
    return str(value)
