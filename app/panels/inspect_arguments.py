"""The arguments of a launch: name, type, value, and the region behind each pointer; structs member by member.

Numbers that a launch has baked in can be changed here; the next frame uses them. What an edit is and how it
reaches the player is not decided here: see `replay.edit` and `App.play`.
"""

from __future__ import annotations

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa

from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.lab.members import Member, is_struct, members_of
from app.panels.edit_row import EditRow
from app.panels.graph_tips import WORDS
from app.panels.widgets import caption, elided, icon_button, input_whole, shape_text, tooltip
from app.state import App
from replay.edit import Key
from replay.elements import ElementType
from replay.errors import ParameterError
from replay.graph.access import access_words
from replay.graph.model import Access, Argument, ArrayView, Operation, Provenance

TABLE = imgui.TableFlags_.row_bg | imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.no_borders_in_body
LETTERS = {
    Access.READ: "R", Access.WRITE: "W", Access.READ_WRITE: "RW", Access.NONE: "–",
}  # fmt: skip
_NAME, _TYPE = 92, 96


def show_access(gui: Gui, access: Access, provenance: Provenance) -> None:
    """A letter or two for how something is used, in the colour that the graph has for how that is known."""
    _told(gui, LETTERS[access], provenance)
    tooltip(f"{access_words(access, provenance)}\n{WORDS[provenance]}")


def show_provenance(gui: Gui, provenance: Provenance) -> None:
    """The word for how an access is known, in the colour that the graph has for it."""
    _told(gui, provenance.value, provenance)
    tooltip(WORDS[provenance])


def _told(gui: Gui, text: str, provenance: Provenance) -> None:
    color = {
        Provenance.KNOWN: gui.palette.good, Provenance.OBSERVED: gui.palette.library,
    }.get(provenance, gui.palette.control)  # fmt: skip
    imgui.push_style_color(imgui.Col_.text, color)
    imgui.text_unformatted(text)
    imgui.pop_style_color()


class ArgumentTable:
    """The table. It keeps what is being typed, and the members of the structs of one operation.

    Attributes:
        places: where the fields of numbers in structs are in the window, by argument and first byte.
    """

    def __init__(self, edits: EditRow) -> None:
        self._edits = edits
        self._typed: dict[tuple[int, int, int], float] = {}
        self._operation: Operation | None = None
        self._members: dict[int, tuple[Member, ...]] = {}
        self.places: dict[tuple[int, int], tuple[float, float]] = {}

    def forget(self) -> None:
        """Forget what was being typed: it is another operation, or another value."""
        self._typed.clear()

    def draw(self, app: App, gui: Gui, lab: Lab, operation: Operation) -> None:
        """Build the table."""
        if operation is not self._operation:
            self._operation, self._members = operation, {}
        scale = gui.scale
        style = imgui.StyleVar_  # low rows, so that all arguments of most launches are seen at once
        imgui.push_style_var(style.frame_padding, (6 * scale, 1.5 * scale))
        imgui.push_style_var(style.cell_padding, (4 * scale, 1 * scale))
        if imgui.begin_table("arguments", 3, TABLE):
            self._rows(app, gui, lab, operation)
            imgui.end_table()
        imgui.pop_style_var(2)

    def _rows(self, app: App, gui: Gui, lab: Lab, operation: Operation) -> None:
        scale = gui.scale
        imgui.table_setup_column("Argument", imgui.TableColumnFlags_.width_fixed, _NAME * scale)
        imgui.table_setup_column("Type", imgui.TableColumnFlags_.width_fixed, _TYPE * scale)
        imgui.table_setup_column("Value", imgui.TableColumnFlags_.width_stretch)
        for argument in operation.arguments:
            imgui.push_id(argument.index)
            self._row(app, gui, lab, operation, argument)
            imgui.pop_id()

    def _row(self, app: App, gui: Gui, lab: Lab, operation: Operation, argument: Argument) -> None:
        scale = gui.scale
        imgui.table_next_row()
        imgui.table_next_column()
        imgui.align_text_to_frame_padding()
        name = argument.name or f"argument {argument.index + 1}"
        imgui.text_unformatted(elided(name, (_NAME - 4) * scale))
        tooltip(name)
        imgui.table_next_column()
        imgui.align_text_to_frame_padding()
        struct = is_struct(argument)
        caption(gui, "struct" if struct else elided(_short(argument.type), (_TYPE - 4) * scale))
        tooltip(f"{argument.type}\n{WORDS[argument.provenance]}")
        imgui.table_next_column()
        if struct:
            imgui.align_text_to_frame_padding()
            caption(gui, f"{len(argument.raw)} bytes")
            tooltip("The file holds neither names nor types of its members: each is told by its first byte")
            self._struct(app, gui, lab, operation, argument)
            return
        if argument.value is not None:
            self._scalar(app, gui, lab, operation, argument)
        for view in argument.arrays:
            self._array(gui, lab, view)
        if argument.handles:
            imgui.text_unformatted("mesh " + ", ".join(map(hex, argument.handles)))
        if argument.value is None and not argument.arrays and not argument.handles:
            raw = argument.raw[:8].hex(" ") + (" …" if len(argument.raw) > 8 else "")
            caption(gui, f"{len(argument.raw)} bytes: {raw}")

    # Structs

    def _struct(self, app: App, gui: Gui, lab: Lab, operation: Operation, argument: Argument) -> None:
        members = self._members.get(argument.index)
        if members is None:
            chosen = {
                offset: name
                for (event, index, offset), name in lab.member_types.items()
                if (event, index) == (operation.event, argument.index)
            }
            members = self._members[argument.index] = members_of(argument, chosen)
        for number, member in enumerate(members):
            imgui.push_id(number)
            imgui.table_next_row()
            imgui.table_next_column()
            imgui.align_text_to_frame_padding()
            caption(gui, f"   byte {member.offset}")
            imgui.table_next_column()
            if member.view is not None:
                imgui.align_text_to_frame_padding()
                shape = f" {shape_text(member.view.shape)}" if member.view.shape else ""
                caption(gui, elided(f"array{shape}" if shape else "pointer", (_TYPE - 4) * gui.scale))
                imgui.table_next_column()
                self._array(gui, lab, member.view)
            else:
                self._member_type(gui, lab, operation, argument, member)
                imgui.table_next_column()
                self._number(app, gui, lab, operation, argument, member)
            imgui.pop_id()

    def _member_type(
        self, gui: Gui, lab: Lab, operation: Operation, argument: Argument, member: Member
    ) -> None:
        imgui.set_next_item_width(_TYPE * gui.scale)
        if imgui.begin_combo("##type", member.type, imgui.ComboFlags_.no_arrow_button):
            for name in member.choices:
                if imgui.selectable(name, name == member.type)[0]:
                    lab.member_types[operation.event, argument.index, member.offset] = name
                    self._members.pop(argument.index, None)
                    self._typed.clear()
            imgui.end_combo()
        given = (operation.event, argument.index, member.offset) in lab.member_types
        tooltip("Type: " + ("chosen by you" if given else "inferred from the value; choose another one here"))

    def _number(
        self, app: App, gui: Gui, lab: Lab, operation: Operation, argument: Argument, member: Member
    ) -> None:
        """A field for a number in a struct; what is typed becomes an edit."""
        assert member.value is not None
        revert = self._edits.key_of(lab, operation.event, argument.index, member.offset)
        button = imgui.get_frame_height() if revert is not None else 0.0
        gap = 4 * gui.scale
        imgui.begin_disabled(lab.scene.player is None or lab.job is not None)
        imgui.set_next_item_width(imgui.get_content_region_avail().x - (button + gap if button else 0))
        element = ElementType.named(member.type)
        self._field(app, lab, operation, argument, element, None, member.value, member)
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        self.places[argument.index, member.offset] = ((low.x + high.x) / 2, (low.y + high.y) / 2)
        imgui.end_disabled()
        if revert is not None:
            imgui.same_line(0.0, gap)
            self._revert(app, gui, lab, revert, button)

    # Arrays

    @staticmethod
    def _array(gui: Gui, lab: Lab, view: ArrayView) -> None:
        imgui.align_text_to_frame_padding()
        if view.region is None:
            caption(gui, "null")
            return
        show_access(gui, view.access, view.access_provenance)
        imgui.same_line(0.0, 6 * gui.scale)
        member = view.path.startswith("+") or view.path in ("", "data")
        path = "" if member and not view.path.endswith("grad") else f"{view.path}: "
        if imgui.text_link(f"{path}{lab.region_name(view.region)}##{view.path}"):
            lab.selection.select_region(view.region)
        if imgui.is_item_hovered():
            place = f", from byte {view.offset}" if view.offset else ""
            strides = ", ".join(map(str, view.strides)) or "not told"
            imgui.set_tooltip(
                f"region {view.region}{place}: {lab.described(view.region)}\n"
                f"shape {shape_text(view.shape) or 'not told'}, strides {strides}"
            )
        how = view.access_provenance.value
        imgui.same_line(0.0, 8 * gui.scale)
        if imgui.get_content_region_avail().x >= imgui.calc_text_size(how).x:
            show_provenance(gui, view.access_provenance)
        else:
            imgui.new_line()

    # Numbers

    def _scalar(self, app: App, gui: Gui, lab: Lab, operation: Operation, argument: Argument) -> None:
        """Fields for a number or a few of them; what is typed becomes an edit."""
        value = argument.value if isinstance(argument.value, tuple) else (argument.value,)
        try:
            element = ElementType.named(argument.type)
        except ParameterError:
            imgui.text_unformatted(str(argument.value))
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
            self._revert(app, gui, lab, revert, button)

    def _revert(self, app: App, gui: Gui, lab: Lab, key: Key, width: float) -> None:
        """The button that takes an edit back."""
        label = f"{fa.ICON_FA_ROTATE_LEFT}##revert"
        if icon_button(gui, label, "Back to what the file holds", width=width):
            app.attempt(lambda: self._edits.revert(app, lab, key))

    def _field(
        self, app: App, lab: Lab, operation: Operation, argument: Argument, element: ElementType,
        component: int | None, number: float, member: Member | None = None,
    ) -> None:  # fmt: skip
        def change(value: float | bool) -> None:
            app.attempt(
                lambda: self._edits.set(app, lab, operation.event, argument, component, value, member)
            )

        slot = (argument.index, member.offset if member is not None else 0, component or 0)
        shown = self._typed.get(slot, number)
        if element.scalar.kind == "f":
            form = _shortest(float(shown), element.scalar)
            changed, typed = imgui.input_double("##value", float(shown), 0.0, 0.0, form)
        elif element.scalar.kind == "b":
            changed, ticked = imgui.checkbox("##value", bool(shown))
            if changed:
                change(ticked)
            return
        else:
            changed, typed = input_whole("##value", int(shown), element.scalar)
        if changed:
            self._typed[slot] = typed
        if imgui.is_item_deactivated_after_edit() and slot in self._typed:
            wanted = self._typed.pop(slot)
            cancelled = imgui.is_key_pressed(imgui.Key.escape)
            if not cancelled and not _same(wanted, number, element.scalar):
                change(wanted)


def _same(first: float, second: float, scalar: np.dtype) -> bool:
    """Whether a launch holds two numbers as the same bytes: -0.0 is not 0.0.

    The text of a field has fewer digits than the number in it.
    """
    if scalar.kind != "f":
        return first == second
    with np.errstate(over="ignore"):
        return bool(scalar.type(first).tobytes() == scalar.type(second).tobytes())


def _shortest(value: float, scalar: np.dtype) -> str:
    """Return the format with the fewest digits that give the same number of a type, as `inspect` does."""
    kept = scalar.type(value)
    whole = len(f"{abs(value):.0f}") if abs(value) < 1e7 else 1  # with fewer, 1200 would be 1.2e+03
    digits = (n for n in range(whole, 17) if scalar.type(float(f"{value:.{n}g}")) == kept)
    return f"%.{next(digits, 17)}g"


def _short(type_name: str) -> str:
    """Return a type without what every reader knows: `array2d[float32]` stays, `float32` too."""
    return type_name.replace("array1d[", "array[")
