"""What tests with OpenGL share: one headless window, and a real display of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.window import Window, open_window
from replay.errors import DisplayError


@pytest.fixture(scope="module")
def headless_window() -> Iterator[Window]:
    """Yield a headless window of 320 x 240 with a current context; skips without OpenGL, with the reason.

    GLFW keeps to one platform while a window is open, so no module's window may outlive it.
    """
    try:
        window = open_window((320, 240), "test", headless=True)
    except DisplayError as error:
        pytest.skip(str(error))
    with window:
        yield window


@pytest.fixture
def gl(headless_window: Window) -> Window:
    """Return the headless window at 320 x 240, and hold that the test leaves no GL error and no object."""
    from app.view.gl_objects import alive

    headless_window.resize(320, 240)
    headless_window.poll()
    before = +alive
    yield headless_window
    from app.gl_platform import check_errors

    check_errors("running the test")
    assert +alive == before


@contextmanager
def serving_xvfb() -> Iterator[str]:
    """Start an Xvfb and yield the name of its display; skips without Xvfb."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed (Debian: xvfb)")
    reader, writer = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=(writer,),
        stderr=subprocess.DEVNULL,
    )
    os.close(writer)
    try:
        with os.fdopen(reader) as answer:
            number = answer.readline().strip()
        if not number:
            pytest.skip("Xvfb does not start here")
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture(scope="session")
def x_display() -> Iterator[str]:
    """Yield the name of an X display without a window manager that Xvfb, started here, serves."""
    with serving_xvfb() as display:
        yield display


@pytest.fixture(scope="module")
def managed_display() -> Iterator[str]:
    """Yield the name of an X display of its own with a window manager; skips without openbox."""
    if shutil.which("openbox") is None:
        pytest.skip("openbox is not installed (Debian: openbox)")
    with serving_xvfb() as display, tempfile.TemporaryDirectory() as home:
        folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), home)
        manager = subprocess.Popen(
            ["openbox", "--sm-disable"],
            env=os.environ | folders | {"DISPLAY": display},
            stderr=subprocess.DEVNULL,
        )
        try:
            yield display
        finally:
            manager.terminate()
            manager.wait(10)
