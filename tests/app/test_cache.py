"""What the program records for itself runs without a question, whatever became of the record of trust."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app import trust
from app.cache import demo_capture
from app.trust import is_trusted, require_trust
from capture.settings import FrameSettings
from replay.graph.open import open_capture

SETTINGS = FrameSettings(width=24, height=16, substeps=2)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the record; the cache lies beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv(trust.FOLDER_VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr(trust, "_recorded_now", set())
    monkeypatch.setattr(trust, "_is_terminal", lambda: False)
    return tmp_path / "data"


def forget(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take the record away, and what this process remembers by itself, as a new start would find it."""
    shutil.rmtree(data)
    monkeypatch.setattr(trust, "_recorded_now", set())


def test_what_is_kept_is_not_recorded_again(capsys):
    first = demo_capture(SETTINGS, "cpu")
    written = first.stat().st_mtime_ns
    assert "recording 24x16" in capsys.readouterr().err
    assert demo_capture(SETTINGS, "cpu") == first
    assert first.stat().st_mtime_ns == written and capsys.readouterr().err == ""


def test_a_lost_record_of_trust_means_a_new_recording_and_no_question(data, monkeypatch, capsys):
    kept = demo_capture(SETTINGS, "cpu")
    forget(data, monkeypatch)
    assert not is_trusted(open_capture(kept))
    capsys.readouterr()
    again = open_capture(demo_capture(SETTINGS, "cpu"))
    assert "recording 24x16" in capsys.readouterr().err
    require_trust(again, False)
    monkeypatch.setattr(trust, "_recorded_now", set())
    assert is_trusted(again)  # and the next start knows it as well


def test_foreign_code_in_the_cache_does_not_run(data, monkeypatch):
    kept = open_capture(demo_capture(SETTINGS, "cpu"))
    module = kept.modules_folder / kept.modules[0].file
    code = module.read_bytes()
    module.write_bytes(code + b"\0")
    monkeypatch.setattr(trust, "_recorded_now", set())
    assert not is_trusted(open_capture(kept.path))
    again = open_capture(demo_capture(SETTINGS, "cpu"))
    assert (again.modules_folder / again.modules[0].file).read_bytes() == code
    require_trust(again, False)


def test_where_nothing_can_be_remembered_the_demo_runs_all_the_same(tmp_path, monkeypatch, capsys):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv(trust.FOLDER_VARIABLE, str(blocked / "data"))
    capture = open_capture(demo_capture(SETTINGS, "cpu"))
    assert "cannot remember this capture" in capsys.readouterr().err
    require_trust(capture, False)
