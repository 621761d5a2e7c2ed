"""What the tests on a GPU share: a context of OpenGL on it, and the ways heights may take."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from app.window import Window, open_window
from replay.errors import DisplayError


@pytest.fixture(scope="session")
def nvidia_window() -> Iterator[Window]:
    """Yield a window whose OpenGL runs on the CUDA device; skips where it does not, with the reason."""
    from app.view.cuda_gl.device import cuda_device_of_gl

    reasons = []
    for headless in (False, True) if os.environ.get("DISPLAY") else (True,):
        try:
            window = open_window((400, 300), "test", headless=headless, vsync=False)
        except DisplayError as error:
            reasons.append(str(error))
            continue
        with window:
            if cuda_device_of_gl() is not None:
                yield window
                return
            reasons.append(f"OpenGL runs on {window.gl_renderer}, which is no CUDA device")
    pytest.skip("; ".join(reasons))


@pytest.fixture
def gl(nvidia_window: Window) -> Iterator[Window]:
    """Yield the window, and hold that the test leaves no error of OpenGL and no object of ours."""
    from app.gl_platform import check_errors
    from app.view.gl_objects import alive

    before = +alive
    yield nvidia_window
    check_errors("running the test")
    assert +alive == before
