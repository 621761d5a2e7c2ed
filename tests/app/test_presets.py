from __future__ import annotations

import pytest

from app.presets import load_presets, parse_preset, save_preset
from app.resources import resource
from replay.errors import UsageError


def test_the_built_in_presets_are_sound():
    presets, messages = load_presets(((resource("assets/presets"), True),))
    assert messages == [] and len(presets) >= 4
    assert all(preset.label and preset.description and preset.built_in for preset in presets)
    water = next(preset for preset in presets if preset.name == "water")
    assert water.values == {"k_speed": 60.0, "k_damp": 1000.0, "radius": 5.0, "magnitude": 0.3}


def test_save_and_load(tmp_path):
    saved = save_preset("  My Pond, 2nd! ", {"k_speed": 12.5, "odd name": 3}, tmp_path)
    assert saved.path == tmp_path / "my-pond-2nd.toml"
    presets, messages = load_presets(((tmp_path, False),))
    assert messages == []
    assert presets[0].label == "My Pond, 2nd!"
    assert presets[0].values == {"k_speed": 12.5, "odd name": 3.0}


def test_the_users_preset_wins_over_a_built_in_one(tmp_path):
    for folder, value in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        save_preset("Same", {"x": value}, tmp_path / folder)
    presets, _ = load_presets(((tmp_path / "a", True), (tmp_path / "b", False)))
    assert [(preset.values["x"], preset.built_in) for preset in presets] == [(2.0, False)]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("label = ", "not TOML"),
        ("label = 3\n[values]\nx = 1", "'label'"),
        ("", "[values]"),
        ("values = 3", "[values]"),
        ("[values]\n", "[values]"),
        ("[values]\nk_speed = 'fast'", "values.k_speed"),
        ("[values]\nk_speed = true", "values.k_speed"),
        ("[values]\nk_speed = nan", "values.k_speed"),
        ("[values]\nk_speed = inf", "values.k_speed"),
    ],
)
def test_broken_presets_name_file_and_entry(tmp_path, text, word):
    path = tmp_path / "bad.toml"
    with pytest.raises(UsageError) as error:
        parse_preset(text, path, built_in=False)
    assert word in str(error.value) and "bad.toml" in str(error.value)


def test_a_broken_file_does_not_hide_the_others(tmp_path):
    (tmp_path / "bad.toml").write_text("label = ")
    (tmp_path / "binary.toml").write_bytes(b"\xff")
    save_preset("Good", {"x": 1}, tmp_path)
    presets, messages = load_presets(((tmp_path, False), (tmp_path / "missing", False)))
    assert [preset.label for preset in presets] == ["Good"] and len(messages) == 2


@pytest.mark.parametrize(("label", "values"), [("../..", {"x": 1.0}), ("", {"x": 1.0}), ("fine", {})])
def test_a_preset_without_name_or_values_is_refused(tmp_path, label, values):
    with pytest.raises(UsageError):
        save_preset(label, values, tmp_path)
    assert list(tmp_path.iterdir()) == []
