from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from app_rig import running_app

from app.gl_platform import imgui
from app.panels.outline import rows_of, split_label
from app.panels.slider import place_on_track
from app.panels.widgets import byte_text, unit_text
from app.scene import open_scene
from app.settings import OPTIONAL_PANELS, THEMES, Settings
from app.window import Button, Modifiers, PointerButton, PointerMoved, open_window
from replay.players.fake import FakePlayer


@pytest.fixture
def rig(frame_capture):
    with running_app(FakePlayer(frame_capture)) as rig:
        yield rig


def bare(capture):
    """The same capture as if it had come without a manifest."""
    return dataclasses.replace(capture, manifest=None)


def test_every_panel_draws_without_a_word_in_the_log(rig):
    rig.frames(5)
    assert [entry.text for entry in rig.app.log.entries] == [] and rig.app.message == ""


def test_nothing_open_still_draws():
    with running_app() as rig:
        rig.frames(5)
        rig.key("space")
        rig.key("P")
        rig.key("R")
        assert rig.app.log.text() == "" and rig.app.scene is None


def test_a_capture_without_a_manifest_has_plain_editors(frame_capture):
    with running_app(FakePlayer(bare(frame_capture))) as rig:
        rig.frames(3)
        assert rig.app.log.text() == ""
        editor = rig.app.scene.editor
        assert "k_speed" in editor.names and editor.courant is None
        assert "heights" not in editor.names  # far too many numbers for fields
        assert rig.app.scene.grid is not None


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    ("size", "scale"), [((1280, 800), 1.0), ((1280, 800), 2.0), ((320, 200), 1.0), ((90, 70), 1.0)]
)
def test_any_size_and_scale(frame_capture, theme, size, scale):
    settings = Settings(theme=theme, ui_scale=scale)
    with running_app(FakePlayer(frame_capture), size=size, settings=settings) as rig:
        rig.frames(3)
        assert rig.app.log.text() == ""


def test_dragging_a_slider_is_one_step_for_undo_and_reaches_the_player(rig):
    """The first parameter's slider lies at a known place in the default layout."""
    scene = rig.app.scene
    before = scene.editor.values["k_speed"]
    y = 154.0
    rig.frame(PointerMoved(100.0, y))
    rig.frames(2)
    rig.frame(PointerButton(Button.LEFT, True, Modifiers.NONE, 100.0, y))
    rig.frame()
    for x in (120.0, 140.0, 150.0):
        rig.frame(PointerMoved(x, y))
    rig.frame(PointerButton(Button.LEFT, False, Modifiers.NONE, 150.0, y))
    rig.frames(2)
    moved = scene.editor.values["k_speed"]
    assert moved != before
    assert scene.player.get("k_speed")[0] == np.float32(moved[0])
    rig.key("Z", Modifiers.CONTROL)
    rig.frame()
    assert scene.editor.values["k_speed"] == before and not scene.editor.can_undo
    assert scene.player.get("k_speed")[0] == np.float32(before[0])


def test_typing_a_value_sets_it_and_the_limit_holds(rig):
    from app.window import KeyPressed

    def type_into_field(text: str) -> None:
        rig.click(240.0, 154.0)
        for sign in text:
            name = {".": "period"}.get(sign, sign)
            rig.frame(KeyPressed(name, True, False, Modifiers.NONE))
            rig.frame(KeyPressed(name, False, False, Modifiers.NONE))
        rig.key("enter")
        rig.frames(2)

    editor = rig.app.scene.editor
    type_into_field("42.5")
    assert editor.values["k_speed"] == (42.5,)
    assert not rig.app.scene.clock.paused  # the full stop was typed and did not step
    type_into_field("999999999")
    assert editor.values["k_speed"][0] == pytest.approx(editor.limits("k_speed")[1])
    assert editor.courant <= 0.98 and "nearest possible" in rig.app.notice


def test_the_layout_can_be_reset_and_panels_closed(rig):
    app = rig.app
    rect = app.canvas.rect
    app.closed_panels |= {"Graph", "Events", "Inspector"}
    rig.frames(3)
    assert app.canvas.rect[2] > rect[2]  # the water takes their place
    app.reset_layout()
    rig.frames(3)
    assert app.closed_panels == OPTIONAL_PANELS and app.canvas.rect == pytest.approx(rect)


def desk_drawn(window, config, builds=8):
    """Build the panels some times, with the layout of `config`; return the names of those in front."""
    from app.gui import Gui
    from app.panels.desk import Desk
    from app.state import App

    app = App(window, Settings(), device="cpu", config=config)
    gui = Gui(window, theme_name="dark", layout_file=config / "layout.ini")
    desk = Desk(app, gui)
    for frame in range(builds):
        gui.build(frame * 0.1, desk.draw, force=True)
    find = imgui.internal.find_window_by_name
    places = {panel.name: place for panel in desk.panels if (place := find(desk._titles[panel.name]))}
    shown = {name for name, place in places.items() if place.dock_node.selected_tab_id == place.tab_id}
    gui.close()
    app.close()
    return shown


def test_the_layout_is_remembered_in_the_config_folder_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = tmp_path / "config"
    with open_window((800, 600), "test", headless=True) as window:
        desk_drawn(window, config)
    assert "[Docking]" in (config / "layout.ini").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["config"]


def test_the_tabs_in_front_are_the_same_at_the_next_start(tmp_path):
    with open_window((800, 600), "test", headless=True) as window:
        first, second = (desk_drawn(window, tmp_path / "config") for _ in range(2))
    assert first == {"Parameters", "Graph", "Events", "Inspector", "Performance"}
    assert second == first


def test_presets_are_saved_applied_and_cycled(frame_path, tmp_path):
    from app.presets import save_preset

    save_preset("Mine", {"k_speed": 33.0}, tmp_path / "presets")
    with running_app(open_scene(frame_path, "cpu").player, config=tmp_path) as rig:
        names = [preset.name for preset in rig.app.presets]
        assert "mine" in names and "water" in names
        seen = []
        for _ in names:
            rig.key("P")
            seen.append(rig.app.preset)
        assert sorted(seen) == sorted(names)
        rig.app.apply_preset(next(preset for preset in rig.app.presets if preset.name == "mine"))
        rig.frame()
        assert rig.app.scene.player.get("k_speed").tolist() == [33.0]


def test_the_event_list_folds_and_opens(frame_capture):
    closed = rows_of(frame_capture, set())
    kernels = [(row.label.partition(" ")[0], row.count) for row in closed]
    assert kernels == [("displace_box", 1), ("solve_strips", 4)]
    assert (closed[1].event, closed[1].last) == (1, 4)
    opened = rows_of(frame_capture, {closed[1].key})
    assert [row.event for row in opened] == [0, 1, 1, 2, 3, 4]
    assert len({row.key for row in opened}) == len(opened)


def test_selecting_an_event_marks_it_in_all_panels(rig):
    rig.app.selected = 3
    rig.frames(3)
    assert rig.app.selected == 3 and rig.app.log.text() == ""


def test_texts():
    assert split_label("solve [128, 64]") == ("solve", "128×64")
    assert split_label("MEMCPY_D2D") == ("MEMCPY_D2D", "")
    assert unit_text("m^2/s^2") == "m²/s²"
    assert byte_text(1536) == "1.5 KiB" and byte_text(12) == "12 B"


@pytest.mark.parametrize(("value", "place"), [(1.0, 0.0), (10.0, 0.5), (100.0, 1.0), (1e9, 1.0), (0.0, 0.0)])
def test_a_logarithmic_track_moves_in_ratios(value, place):
    assert place_on_track(value, 1.0, 100.0, logarithmic=True) == pytest.approx(place)


def test_a_linear_track():
    assert place_on_track(3.0, 1.0, 5.0, logarithmic=False) == pytest.approx(0.5)
    assert place_on_track(3.0, 5.0, 5.0, logarithmic=False) == 0.0
