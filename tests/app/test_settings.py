from __future__ import annotations

import pytest

from app.settings import MAX_RECENT, Settings, load_settings, parse_settings, save_settings
from replay.errors import UsageError


def test_round_trip(tmp_path):
    settings = Settings(
        theme="light", ui_scale=1.25, welcome=False, window_width=900, recent=['/a "b"\\c.wrp', "/ü.wrp"]
    )
    settings.others = {"later": {"key": "value", "list": [1, 2.5, True]}, "flag": False}
    save_settings(settings, tmp_path / "deep" / "config")
    assert load_settings(tmp_path / "deep" / "config") == (settings, "")


def test_no_file_means_defaults_and_no_message(tmp_path):
    assert load_settings(tmp_path) == (Settings(), "")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("theme = ", "TOML"),
        ('theme = "pink"', "dark or light"),
        ("ui_scale = 100.0", "0.5 to 4"),
        ("welcome = 1", "true or false"),
        ("window_width = true", "whole number"),
        ("recent = [1]", "list of texts"),
    ],
)
def test_a_broken_file_is_told_kept_and_replaced_by_defaults(tmp_path, text, word):
    (tmp_path / "settings.toml").write_text(text)
    settings, message = load_settings(tmp_path)
    assert settings == Settings()
    assert word in message and "settings.toml" in message and "settings.broken.toml" in message
    assert (tmp_path / "settings.broken.toml").read_text() == text
    assert not (tmp_path / "settings.toml").exists()


def test_a_second_broken_file_does_not_replace_the_first(tmp_path):
    for text in ("first = ", "second = "):
        (tmp_path / "settings.toml").write_text(text)
        load_settings(tmp_path)
    assert (tmp_path / "settings.broken.toml").read_text() == "first = "
    assert (tmp_path / "settings.broken-2.toml").read_text() == "second = "


def test_bytes_that_are_no_text_are_told(tmp_path):
    (tmp_path / "settings.toml").write_bytes(b"\xff\xfe\x00")
    settings, message = load_settings(tmp_path)
    assert settings == Settings() and message


def test_keys_of_another_version_are_kept():
    settings = parse_settings('theme = "light"\nfuture = 3\n')
    assert settings.theme == "light" and settings.others == {"future": 3}


def test_recent_files_are_in_order_once_each_and_few(tmp_path):
    settings = Settings()
    for number in range(MAX_RECENT + 3):
        settings.remember(tmp_path / f"{number}.wrp")
    settings.remember(tmp_path / "5.wrp")
    assert settings.recent[0].endswith("5.wrp")
    assert len(settings.recent) == len(set(settings.recent)) == MAX_RECENT


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be written"):
        save_settings(Settings(), tmp_path / "file" / "config")


def test_panels_are_as_they_were_left_but_the_lesson_starts_closed():
    settings = Settings()
    settings.remember_panels({"Log", "Gallery", "Probes"})
    assert settings.hidden_panels == ["Log"] and settings.opened_panels == ["Sources"]
    settings.opened_panels.append("Capture, explained")  # by an older version
    assert settings.closed_panels() == {"Log", "Gallery", "Probes", "Capture, explained"}
