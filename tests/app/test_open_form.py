"""Finding a capture by its path: what a folder holds, what Tab and the arrow keys do, what is told."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from app_rig import running_app

from app.actions import perform
from app.bindings import Action
from app.folder import completed, listed, path_fault
from app.gl_platform import imgui
from app.window import KeyPressed, Modifiers
from replay.players.fake import FakePlayer


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with captures, folders and things that are neither."""
    for name in ("pond.wrp", "Pool.wrp", "notes.txt", ".hidden.wrp", "tank/deep.wrp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    return tmp_path


def names(listing) -> list[str]:
    return [entry.name for entry in listing.entries]


def test_a_folder_lists_its_folders_first_and_then_its_captures(place):
    assert names(listed(place)) == ["tank", "pond.wrp", "Pool.wrp"]
    assert names(listed(place, "po")) == ["pond.wrp", "Pool.wrp"]
    assert names(listed(place, ".")) == [".hidden.wrp"]
    assert "cannot be read" in listed(place / "nowhere").fault


def test_a_long_folder_is_cut_and_says_so(tmp_path):
    for number in range(503):
        (tmp_path / f"{number:03}.wrp").touch()
    listing = listed(tmp_path)
    assert len(listing.entries) == 500 and listing.left_out == 3


def test_completion_goes_as_far_as_there_is_no_choice(place):
    assert completed(f"{place}/t") == f"{place}/tank{os.sep}"
    assert completed(f"{place}/tank/") == f"{place}/tank/deep.wrp"
    assert completed(f"{place}/p") == f"{place}/po"
    assert completed(f"{place}/pon") == f"{place}/pond.wrp"
    assert completed(f"{place}/q") == f"{place}/q"


def test_what_is_wrong_with_a_path(place):
    assert path_fault(place / "pond.wrp") == path_fault(place / "pond") == ""
    assert path_fault(place / "lake.wrp") == f"There is no file lake.wrp in {place}"
    assert path_fault(place / "lake" / "pond.wrp") == f"There is no folder {place / 'lake'}"
    assert path_fault(place / "tank") == f"{place / 'tank'} is no file"
    assert "cannot be looked at: File name too long" in path_fault(place / ("a" * 300))


@pytest.fixture
def rig(frame_capture, place, monkeypatch):
    monkeypatch.chdir(place)
    with running_app(FakePlayer(frame_capture)) as rig:
        opened = []
        monkeypatch.setattr(rig.app, "open", lambda path: opened.append(path))
        rig.opened = opened
        perform(rig.app, Action.OPEN)
        rig.frames(3)
        yield rig


def type_text(rig, text: str) -> None:
    for letter in text:
        rig.frame()
        imgui.get_io().add_input_character(ord(letter))
        rig.frame()


def press(rig, name: str) -> None:
    rig.frame(KeyPressed(name, True, False, Modifiers.NONE))
    rig.frame(KeyPressed(name, False, False, Modifiers.NONE))
    rig.frames(3)


def form(rig):
    return rig.desk._popups._form


def test_tab_completes_and_enter_opens(rig, place):
    type_text(rig, "tan")
    press(rig, "tab")
    assert form(rig)._text == f"tank{os.sep}"
    press(rig, "tab")
    assert form(rig)._text == f"tank{os.sep}deep.wrp"
    press(rig, "enter")
    assert rig.opened == [Path("tank/deep.wrp")] and not rig.app.popup_open


def test_arrow_keys_go_through_the_list_and_into_folders(rig, place):
    press(rig, "down")  # tank
    press(rig, "enter")
    assert form(rig)._text == f"{place.resolve()}{os.sep}tank{os.sep}" and rig.app.popup_open
    assert names(form(rig)._listing) == ["deep.wrp"]
    press(rig, "down")
    press(rig, "enter")
    assert rig.opened == [place.resolve() / "tank" / "deep.wrp"]


def test_a_path_without_a_file_is_told_in_the_form_which_stays(rig, place):
    type_text(rig, "lake.wrp")
    press(rig, "enter")
    assert form(rig)._fault == "There is no file lake.wrp in ."
    assert rig.app.popup_open and rig.app.message == "" and rig.opened == []
    assert rig.gui.takes_keys  # to mend it at once
    press(rig, "escape")
    assert not rig.app.popup_open and not rig.app.quitting


def test_typing_replaces_the_path_of_the_last_time(rig, place):
    type_text(rig, "pond.wrp")
    press(rig, "enter")
    perform(rig.app, Action.OPEN)
    rig.frames(3)
    assert form(rig)._text == "pond.wrp" and rig.app.popup_open
    type_text(rig, "Pool.wrp")
    press(rig, "enter")
    assert rig.opened == [Path("pond.wrp"), Path("Pool.wrp")]


def test_a_double_click_goes_into_a_folder(rig, place):
    spots: dict[str, tuple[float, float]] = {}
    show = imgui.selectable

    def noted(label, *rest):
        result = show(label, *rest)
        low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
        spots[label] = ((low.x + high.x) / 2, (low.y + high.y) / 2)
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(imgui, "selectable", noted)
        rig.frame()
        row = next(spot for label, spot in spots.items() if "tank##" in label)
    rig.click(*row)
    assert form(rig)._text == str(place.resolve() / "tank") and len(form(rig)._listing.entries) == 3
    rig.click(*row)
    rig.frames(3)
    assert names(form(rig)._listing) == ["deep.wrp"] and rig.app.popup_open
