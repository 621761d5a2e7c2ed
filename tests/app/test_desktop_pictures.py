"""What the app shows, against stored pictures: water and data, dark and light panels.

After a change that is meant to be seen, look at the new pictures and keep them:

    RIPPLESCOPE_RENEW_REFERENCES=1 python -m pytest tests/app/test_desktop_pictures.py

The references are drawn by llvmpipe, 320 x 240; panels at 960 x 720 and shrunk to a third, so that their text
is a grey and their layout what counts.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from app_rig import running_app
from pictures import compare, shrunk
from PIL import Image

from app.scene import open_scene
from app.settings import Settings

REFERENCES = Path(__file__).with_name("references")
RENEW = "RIPPLESCOPE_RENEW_REFERENCES"
NAMES = ("water", "data", "panels-dark", "panels-light")
PUSHES = {0: (20.0, 16.0), 6: (46.0, 30.0)}
LAUNCHES = 14


def picture_of(name: str, path: Path, *, pushed: bool = True, turned: float = 0.0) -> np.ndarray:
    """Draw what a reference shows, with two rings on the water; (240, 320, 3)."""
    from app.loop import run_frame
    from app.view.options import Mode, Quality
    from app.view.screenshot import read_pixels

    panels = name.startswith("panels")
    settings = Settings(theme="light" if name.endswith("light") else "dark")
    size = (960, 720) if panels else (320, 240)
    with running_app(open_scene(path, "cpu").player, size=size, settings=settings) as rig:
        app = rig.app
        app.panels_shown = panels
        app.water.options.quality = Quality.MEDIUM  # on every renderer
        app.water.options.mode = Mode.DATA if name == "data" else Mode.WATER
        rig.frames(3, launches=0)
        app.camera.orbit(turned, 0.0)
        gui, desk = (rig.gui, rig.desk) if panels else (None, None)
        for launch in range(LAUNCHES):
            if pushed and launch in PUSHES:
                app.push.press(PUSHES[launch])
            run_frame(app, gui, desk, lambda: rig.now, launches=1)
            app.push.release()
        assert app.log.text() == ""
        pixels = read_pixels(app.window.framebuffer, app.window.framebuffer_size)
    return shrunk(pixels, 3) if panels else pixels


@pytest.fixture(scope="module")
def pictures(frame_of) -> dict[str, np.ndarray]:
    """All pictures as they are drawn now."""
    path = frame_of(width=64, height=48, substeps=8)
    return {name: picture_of(name, path) for name in NAMES}


def reference(name: str) -> np.ndarray:
    return np.asarray(Image.open(REFERENCES / f"{name}.png").convert("RGB"))


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_the_stored_one(pictures: dict[str, np.ndarray], name: str, tmp_path: Path):
    picture = pictures[name]
    if os.environ.get(RENEW):
        Image.fromarray(picture).save(REFERENCES / f"{name}.png", optimize=True)
    likeness = compare(picture, reference(name))
    Image.fromarray(picture).save(tmp_path / f"{name}.png")
    assert likeness.alike, (
        f"{likeness}; drawn now: {tmp_path / name}.png; if it is meant so: {RENEW}=1 (see the module)"
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_picture_is_black_or_empty(pictures: dict[str, np.ndarray], name: str):
    picture = pictures[name].astype(float)
    assert (picture.max(axis=2) < 8).mean() < 0.02
    assert picture.mean() > 25 and picture.std() > 15


@pytest.mark.parametrize("name", NAMES)
def test_what_an_eye_does_not_see_is_forgiven(name: str):
    kept = reference(name)
    noise = np.random.default_rng(1).normal(0, 8, kept.shape)
    assert compare(np.clip(kept + noise, 0, 255).astype(np.uint8), kept).alike
    assert compare(np.roll(kept, 1, axis=1), kept).alike
    assert compare(np.rint(kept * 0.99).astype(np.uint8), kept).alike


@pytest.mark.parametrize("name", NAMES)
def test_what_an_eye_sees_is_not_forgiven(frame_of, name: str):
    kept, path = reference(name), frame_of(width=64, height=48, substeps=8)
    assert not compare(picture_of(name, path, pushed=False), kept).alike
    assert not compare(picture_of(name, path, turned=0.05), kept).alike
    assert not compare(np.roll(kept, 3, axis=1), kept).alike
    assert not compare(np.rint(kept * 0.85).astype(np.uint8), kept).alike
    assert not compare(kept[::-1], kept).alike
    assert not compare(np.zeros_like(kept), kept).alike
    assert not any(compare(reference(other), kept).alike for other in NAMES if other != name)
