"""Arguments in the running app: structs member by member, editing them, how access is known."""

from __future__ import annotations

import numpy as np
import pytest
from app_rig import running_app
from lab_captures import FIELD, record_blend

from app.gl_platform import imgui
from app.lab.members import members_of
from app.panels.edit_row import EditRow
from app.panels.inspect_arguments import _shortest
from app.panels.inspect_region import _span
from app.scene import open_scene
from app.trust import remember_recorded
from replay.edit import save_edited
from replay.graph.model import Access, Provenance
from replay.graph.open import open_capture
from replay.players import open_player


@pytest.fixture(scope="module")
def blended(tmp_path_factory):
    path = record_blend(tmp_path_factory.mktemp("blend"))
    remember_recorded(path)
    return path


@pytest.fixture
def rig(blended):
    with running_app(open_scene(blended, "cpu").player, size=(1280, 800)) as rig:
        rig.frames(2, launches=0)
        yield rig


def wanted(gain=2.5, steps=4, shift=0.1, small=0.25):
    moved = np.float32(shift) * np.float32(steps)
    return FIELD * np.float32(gain) + moved + np.float32(small)


def test_the_members_of_a_struct_are_told_by_place_type_and_value(blended):
    argument = open_capture(blended).operations[0].arguments[0]
    members = members_of(argument)
    assert [(m.offset, m.type, m.value) for m in members[:5]] == [
        (0, "", None), (56, "float32", 2.5), (60, "int32", 4), (64, "float64", 0.1), (72, "float32", 0.25),
    ]  # fmt: skip
    assert members[0].view.region == 1 and "float64" in members[3].choices
    assert all(m.value == 0 for m in members[5:])  # padding
    read = members_of(argument, {64: "int32", 56: "float64"})
    assert [(m.offset, m.type) for m in read[1:5]] == [
        (56, "float64"), (64, "int32"), (68, "float32"), (72, "float32"),
    ]  # fmt: skip
    assert read[1].value == np.frombuffer(argument.raw[56:64], "<f8")[0]


def test_members_are_edited_live_reverted_one_by_one_and_saved(rig, tmp_path):
    app, lab, row = rig.app, rig.app.lab, EditRow()

    def edit(offset, value):
        argument = lab.operation(0).arguments[0]
        member = next(m for m in members_of(argument) if m.offset == offset)
        row.set(app, lab, 0, argument, None, value, member)
        rig.frames(2, launches=1)

    def out():
        return app.scene.player.get("out")

    rig.frames(2, launches=1)
    assert np.allclose(out(), wanted(), rtol=1e-6)
    edit(64, -0.5)
    assert np.allclose(out(), wanted(shift=-0.5), rtol=1e-6)
    edit(60, 7)
    edit(56, 0.5)
    assert np.allclose(out(), wanted(0.5, 7, -0.5), rtol=1e-6)
    assert app.notice == "event 0: argument 1, byte 56, is now 0.5"
    saved = save_edited(lab.edits.capture, tmp_path / "again")
    with open_player(open_capture(saved), "cpu") as player:
        player.launch()
        assert np.allclose(player.get("out"), wanted(0.5, 7, -0.5), rtol=1e-6)
    row.revert(app, lab, row.key_of(lab, 0, 0, 60))
    rig.frames(2, launches=1)
    assert np.allclose(out(), wanted(0.5, 4, -0.5), rtol=1e-6)
    assert row.key_of(lab, 0, 0, 60) is None and row.key_of(lab, 0, 0, 64) is not None
    row.revert(app, lab, None)
    rig.frames(2, launches=1)
    assert np.allclose(out(), wanted(), rtol=1e-6)


def test_a_struct_is_drawn_and_a_number_in_it_typed(rig):
    from app.window import KeyPressed, Modifiers

    app, lab = rig.app, rig.app.lab
    lab.selection.select_event(0)
    rig.frames(4, launches=1)
    inspector = next(panel for panel in rig.desk.panels if panel.name == "Inspector")
    table = inspector._operation._table
    assert [member.offset for member in table._members[0][:3]] == [0, 56, 60]
    x, y = table.places[0, 56]
    rig.click(x, y)
    rig.key("A", Modifiers.CONTROL)
    for sign in "3":
        rig.frame(KeyPressed(sign, True, False, Modifiers.NONE))
        rig.frame(KeyPressed(sign, False, False, Modifiers.NONE))
    rig.key("enter")
    rig.frames(3, launches=1)
    assert np.allclose(app.scene.player.get("out"), wanted(gain=3), rtol=1e-6)


def test_observing_says_what_was_found_and_all_panels_agree(rig):
    app, lab = rig.app, rig.app.lab
    told = [view for argument in lab.operation(0).arguments for view in argument.arrays]
    assert {view.access_provenance for view in told} == {Provenance.ASSUMED}
    lab.observe(app.tell)
    lab.job.wait()
    rig.frames(3, launches=0)
    assert "observed 2 uses of regions: 1 changed what the region holds, 1 did not" in app.log.text()
    field, out = (app.scene.player.parameters[name].region for name in ("field", "out"))
    for argument in lab.operation(0).arguments:
        for view in argument.arrays:
            assert view.access_provenance is Provenance.OBSERVED
            assert view.access is (Access.READ_WRITE if view.region == out else Access.READ)
    usage = lab.flow.usage(field)
    assert [(use.access, use.provenance) for use in usage] == [(Access.READ, Provenance.OBSERVED)]
    inspector = next(panel for panel in rig.desk.panels if panel.name == "Inspector")
    lab.selection.select_region(field)
    rig.frames(3, launches=0)
    assert inspector.region._writers == []
    assert inspector.region._readers == [(Provenance.OBSERVED, [("blend 0", 0)])]


def test_events_that_are_not_all_between_two_are_counted():
    assert (_span(3, 3, 1), _span(1, 4, 4), _span(2, 8, 4)) == ("3", "1–4", "2…8 (4 of them)")


@pytest.mark.parametrize(
    ("value", "type_name", "text"),
    [
        (np.float32(0.2), "float32", "0.2"), (np.float32(1 / 3), "float32", "0.33333334"),
        (2.5, "float32", "2.5"), (1200.0, "float32", "1200"), (0.1, "float64", "0.1"),
        (0.1 + 0.2, "float64", "0.30000000000000004"), (0.0, "float32", "0"),
    ],
)  # fmt: skip
def test_a_number_is_shown_with_the_fewest_digits_that_give_it_again(value, type_name, text):
    assert _shortest(float(value), np.dtype(type_name)) % value == text


def test_esc_in_a_field_of_a_number_edits_nothing(rig):
    lab = rig.app.lab
    lab.selection.select_event(0)
    argument = lab.operation(0).arguments[0]
    member = next(m for m in members_of(argument) if m.offset == 56)
    EditRow().set(rig.app, lab, 0, argument, None, 0.2, member)
    before = lab.revision
    rig.frames(3)
    inspector = next(panel for panel in rig.desk.panels if panel.name == "Inspector")
    table = next(
        inside
        for part in vars(inspector).values()
        for inside in [part, *getattr(part, "__dict__", {}).values()]
        if hasattr(inside, "places")
    )  # fmt: skip
    rig.click(*table.places[0, 56])
    rig.frames(2)
    if not rig.gui.takes_keys:
        rig.click(*table.places[0, 56])
        rig.frames(2)
    assert rig.gui.takes_keys
    imgui.get_io().add_input_character(ord("7"))
    rig.frames(2)
    rig.key("escape")
    rig.frames(3)
    assert not rig.gui.takes_keys and lab.revision == before and not rig.app.quitting


def test_what_is_typed_into_save_as_acts_on_nothing_behind_it(rig, monkeypatch):
    app, lab = rig.app, rig.app.lab
    lab.selection.select_event(0)
    argument = lab.operation(0).arguments[0]
    member = next(m for m in members_of(argument) if m.offset == 56)
    EditRow().set(app, lab, 0, argument, None, 0.5, member)
    press = imgui.button
    with monkeypatch.context() as pressed:
        pressed.setattr(
            imgui, "button", lambda label, *rest: press(label, *rest) or label.endswith("Save as…")
        )
        rig.frames(1)
    rig.frames(3)
    assert app.popup_open and rig.gui.takes_keys
    rig.key("space")
    assert not app.scene.clock.paused
    rig.key("escape")
    rig.frames(2)
    rig.key("F1")  # a popup without a field
    rig.frames(2)
    assert app.popup_open and not rig.gui.takes_keys
    rig.key("space")
    assert not app.scene.clock.paused
