"""Events count from 0, arguments from 1, one file is one file, and names stay readable."""

from __future__ import annotations

import dataclasses

import pytest
from app_rig import running_app

from app.gl_platform import imgui
from app.panels.edit_row import EditRow
from app.panels.inspect_arguments import ArgumentTable
from app.panels.timeline import _texts
from app.scene import Scene, open_scene
from replay.text import counted


@pytest.fixture
def rig(frame_path):
    with running_app(open_scene(frame_path, "cpu").player, size=(1280, 800)) as rig:
        rig.frames(2, launches=0)
        yield rig


@pytest.fixture
def told(monkeypatch) -> list[str]:
    """All texts that the panels show."""
    told: list[str] = []
    show = imgui.text_unformatted
    monkeypatch.setattr(imgui, "text_unformatted", lambda text, *rest: (told.append(text), show(text, *rest)))
    return told


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [(0, "file", "0 files"), (1, "file", "1 file"),
     (1024, "frame", "1,024 frames"), (2, "launch", "2 launches"),
     (2, "body", "2 bodies")],
)  # fmt: skip
def test_counts_agree_with_their_noun(number, noun, text):
    assert counted(number, noun) == text


def test_an_event_is_told_with_the_numbers_there_are(rig, told):
    rig.app.lab.selection.select_event(2)
    rig.app.lab.frame.look(2)
    rig.frames(2)
    assert any(text.startswith("event 2 of 0–4, ") for text in told)  # a push and four substeps
    assert _texts(rig.app.lab, 600.0)[0] == "After event 2 of 0–4"


def test_an_argument_without_a_name_counts_from_1_as_in_inspect(rig, told):
    capture = rig.app.lab.capture
    operation = capture.operations[0]
    bare = tuple(dataclasses.replace(argument, name="") for argument in operation.arguments)
    panel = next(panel for panel in rig.desk.panels if panel.name == "Inspector")
    shown = dataclasses.replace(operation, arguments=bare)
    table = ArgumentTable(EditRow())
    panel.draw = lambda app, gui: table.draw(app, gui, app.lab, shown)
    rig.frames(2)
    assert rig.app.log.text() == "" and "argument 1" in told and "#0" not in told


def test_costs_leave_the_names_of_operations_room(rig, monkeypatch):
    from replay.events.cost import profile_operations

    lab = rig.app.lab
    events = next(panel for panel in rig.desk.panels if panel.name == "Events")
    widths: list[float] = []
    show = imgui.text_unformatted

    def noted(text, *rest):
        if text == lab.capture.operations[0].label and imgui.table_get_column_index() == 1:
            widths.append(imgui.get_content_region_avail().x)
        return show(text, *rest)

    lab.profile = profile_operations(lab.capture, rig.app.scene.player.snapshot(), 2)
    monkeypatch.setattr(imgui, "text_unformatted", noted)
    rig.frames(4)
    assert events.rows and widths and min(widths) > 100


def test_what_is_not_replayed_is_told_so_in_each_panel(rig, told):
    rig.app.show(Scene.of_capture(rig.app.lab.capture, "it is not trusted yet"))
    panels = {panel.name: panel.draw for panel in rig.desk.panels}
    shown = next(panel for panel in rig.desk.panels if panel.name == "Inspector")

    def draw(app, gui):
        for name in ("Session", "Parameters", "Performance"):
            panels[name](app, gui)

    performance = next(panel for panel in rig.desk.panels if panel.name == "Performance")
    performance._read_at = -1.0  # what was read before is kept for a quarter of a second
    shown.draw = draw
    rig.frames(2)
    assert rig.app.log.text() == ""
    assert "No rewind: not replayed, it is not trusted yet" in told
    assert "Not replayed: nothing to move." in told
    assert ("Launches", "not replayed") in performance._facts
    assert not any(
        word in text for text in told for word in ("names no small", "too much memory", "of 60 a second")
    )
