"""Panels that are kept as a picture look as if they were drawn anew."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from app_rig import running_app

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")


def pixels(rig) -> np.ndarray:
    from app.view.screenshot import read_pixels

    return read_pixels(rig.window.framebuffer, rig.window.framebuffer_size).astype(int)


def test_kept_panels_equal_those_that_are_drawn(monkeypatch: pytest.MonkeyPatch):
    from app import gui as module

    drawn = []
    draw = module.backends.opengl3_render_draw_data
    monkeypatch.setattr(module, "backends", type("Backends", (), {**vars(module.backends)}))
    module.backends.opengl3_render_draw_data = staticmethod(lambda data: (drawn.append(1), draw(data)))
    with running_app(size=(640, 400)) as rig:
        rig.frames(4)
        rig.frame(seconds=1e-4)  # what was late is built now, and nothing after it for a while
        drawn.clear()
        rig.frame()
        builds, direct = rig.gui._builds, pixels(rig)
        assert len(drawn) == 1
        for _ in range(3):  # no new build: drawn once into the picture, then only laid over
            rig.frame(seconds=1e-5)
            assert np.abs(pixels(rig) - direct).max() <= 2  # rounded twice where panels let through
        assert len(drawn) == 2 and rig.gui._builds == builds
        assert direct.std() > 10

        rig.frame()  # the next build goes into the picture at once
        rig.frame(seconds=1e-5)
        assert len(drawn) == 3


def test_kept_panels_follow_the_windows_size():
    with running_app(size=(640, 400)) as rig:
        rig.frames(3)
        rig.frame(seconds=1e-5)
        rig.window.resize(500, 300)
        rig.frames(3)
        rig.frame()
        fresh = pixels(rig)
        rig.frame(seconds=1e-5)
        assert pixels(rig).shape == (300, 500, 3)
        assert np.abs(pixels(rig) - fresh).max() <= 2


def test_panels_that_are_built_with_every_frame_need_no_picture():
    with running_app(size=(320, 240)) as rig:
        rig.frames(5)
        assert rig.gui._overlay is None
