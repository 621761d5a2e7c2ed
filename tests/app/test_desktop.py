"""A real window under Xvfb, driven with xdotool as a user would: the native input path, end to end."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")

ROOT = Path(__file__).parents[2]


def test_click_orbit_zoom_type_and_keys_in_a_real_window(x_display, frame_path, tmp_path):
    if shutil.which("xdotool") is None:
        pytest.skip("xdotool is not installed (Debian: xdotool)")
    environment = {
        key: value for key, value in os.environ.items() if key not in ("WAYLAND_DISPLAY", "PYOPENGL_PLATFORM")
    }
    environment |= {"DISPLAY": x_display, "PYTHONPATH": str(ROOT), "RIPPLESCOPE_CONFIG_DIR": str(tmp_path)}

    def act(*words: str, wait: float = 0.4) -> None:
        subprocess.run(["xdotool", *words], env=environment, check=True, timeout=20)
        time.sleep(wait)

    app = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("desktop_driver.py")), str(frame_path)],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        ready, x, y = app.stdout.readline().split()
        assert ready == "ready"
        act("mousemove", x, y)
        act("click", "1")
        act("mousedown", "3", wait=0.2)
        act("mousemove_relative", "60", "20", wait=0.2)
        act("mousemove_relative", "40", "10", wait=0.2)
        act("mouseup", "3")
        act("click", "4")
        act("mousemove", "215", "154")
        act("click", "1")
        act("type", "42.5")
        act("key", "Return")
        act("mousemove", x, y)
        act("key", "space")
        act("key", "semicolon")
        act("key", "h")
        act("key", "Escape")
        told = json.loads(app.stdout.readline())
        assert app.wait(20) == 0
    finally:
        app.kill()
        app.wait()
        app.stdout.close()
    column, row = told["ring"]
    assert abs(column - 6) <= 2 and abs(row - 5) <= 2
    assert told["turned"][0] != 0 and told["turned"][1] != 0
    assert told["zoomed"] < 0.95
    assert told["k_speed"] == 42.5
    assert told["paused"] and told["speed"] == 2.0 and not told["panels"] and told["quit"]
    assert told["log"] == ""
    assert list(tmp_path.iterdir()) == []
