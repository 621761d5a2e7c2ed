"""Windows of each kind, their events, and the one line when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.window import (
    KeyPressed,
    Modifiers,
    PointerButton,
    PointerMoved,
    Resized,
    Window,
    open_window,
)
from replay.errors import DisplayError

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")

ROOT = Path(__file__).resolve().parents[2]

DRAW = """
import sys
import numpy as np
from app.window import open_window
with open_window((320, 240), "test", headless=sys.argv[1] == "headless", vsync=False) as window:
    from app.view.camera import OrbitCamera
    from app.view.grid import Grid
    from app.view.screenshot import read_pixels, save_png
    from app.view.transfer import ArrayTransfer
    from app.view.water import WaterView
    grid = Grid(48, 32)
    j, i = np.mgrid[:32, :48]
    with ArrayTransfer(grid) as transfer:
        transfer.upload(0.1 * np.cos(0.4 * i) * np.cos(0.5 * j))
        view, camera = WaterView(48, 32, 0.1), OrbitCamera()
        camera.frame_grid(grid)
        window.bind()
        view.draw(transfer.texture, camera, (0, 0, 320, 240), (10, 10))
        save_png(sys.argv[2], read_pixels(window.framebuffer, window.framebuffer_size))
        view.close()
    print(window.kind)
"""


def run(code: str, *arguments: str, display: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "PYOPENGL_PLATFORM")
    }
    if display:
        environment["DISPLAY"] = display
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_without_display_one_line_names_headless():
    code = "from app.window import open_window; open_window((64, 64), 'test')"
    done = run(code)
    last = done.stderr.strip().splitlines()[-1]
    if "could not be loaded" in last:
        pytest.skip(last)
    assert last.endswith("no display: neither DISPLAY nor WAYLAND_DISPLAY is set; use --headless")


def test_a_display_that_does_not_answer_is_one_line_too():
    code = "from app.window import open_window; open_window((64, 64), 'test')"
    last = run(code, display=":4711").stderr.strip().splitlines()[-1]
    if "could not be loaded" in last:
        pytest.skip(last)
    assert last.startswith("replay.errors.DisplayError: GLFW cannot start: ")
    assert last.endswith("; use --headless")


@pytest.mark.parametrize("size", [(0, 10), (10, -1), (20000, 10)])
def test_impossible_sizes_are_refused(size: tuple[int, int]):
    with pytest.raises(DisplayError, match="is not possible"):
        open_window(size, "test", headless=True)


def test_headless_has_opengl_3_3_and_a_framebuffer_of_the_size(gl: Window):
    from app.gl_platform import GL

    assert gl.headless and gl.framebuffer > 0
    assert gl.size == gl.framebuffer_size == (320, 240)
    assert tuple(map(int, gl.gl_version.split()[0].split(".")[:2])) >= (3, 3)
    gl.bind()
    assert GL.glCheckFramebufferStatus(GL.GL_FRAMEBUFFER) == GL.GL_FRAMEBUFFER_COMPLETE


def test_headless_draws_where_it_says(gl: Window):
    from app.gl_platform import GL
    from app.view.screenshot import read_pixels

    gl.bind()
    GL.glClearColor(0, 0, 1, 1)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glEnable(GL.GL_SCISSOR_TEST)
    GL.glScissor(0, 200, 40, 40)  # OpenGL counts from below: the top left corner
    GL.glClearColor(1, 0, 0, 1)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glDisable(GL.GL_SCISSOR_TEST)
    pixels = read_pixels(gl.framebuffer, gl.framebuffer_size)
    assert pixels.shape == (240, 320, 3)
    assert pixels[39, 39].tolist() == [255, 0, 0]
    assert pixels[40, 39].tolist() == pixels[39, 40].tolist() == [0, 0, 255]


def test_headless_resizes(gl: Window):
    gl.resize(100, 77)
    assert Resized(100, 77) in gl.poll()
    assert gl.size == gl.framebuffer_size == (100, 77)


def test_posted_events_come_back_once_in_order(gl: Window):
    gl.post(PointerMoved(1, 2), PointerMoved(3, 4))
    assert gl.poll() == [PointerMoved(1, 2), PointerMoved(3, 4)]
    assert gl.poll() == []


def test_window_units_become_framebuffer_pixels(gl: Window, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(type(gl), "framebuffer_size", property(lambda self: (640, 480)))
    assert gl.to_framebuffer(10, 20) == (20, 40)


def test_keys_have_the_names_of_the_layout(headless_window: Window):
    from app.gl_platform import glfw
    from app.windows.glfw_window import key_name

    assert key_name(glfw.KEY_O, "o") == "O"
    assert key_name(glfw.KEY_Z, "y") == "Y"  # a German keyboard
    assert key_name(glfw.KEY_SEMICOLON, "ö") == "semicolon"
    assert key_name(glfw.KEY_COMMA, ",") == "comma"
    assert key_name(glfw.KEY_F12, None) == "F12"
    assert key_name(glfw.KEY_SPACE, None) == "space"
    assert key_name(glfw.KEY_ESCAPE, None) == "escape"
    assert key_name(glfw.KEY_PAGE_UP, None) == "page_up"
    assert key_name(glfw.KEY_UNKNOWN, None) == "unknown"


def test_callbacks_translate(headless_window: Window):
    """What GLFW reports becomes a neutral event; called through GLFW as ImGui's backend would chain it."""
    from app.gl_platform import glfw

    if headless_window.handle is None:
        pytest.skip("this headless window has no GLFW")
    headless_window.poll()
    handle = headless_window.handle
    callbacks = {
        name: getattr(glfw, f"set_{name}_callback")(handle, None)
        for name in ("key", "mouse_button", "cursor_pos")
    }
    try:
        callbacks["key"](handle, glfw.KEY_F1, 0, glfw.PRESS, glfw.MOD_SHIFT | glfw.MOD_CONTROL)
        callbacks["mouse_button"](handle, glfw.MOUSE_BUTTON_LEFT, glfw.RELEASE, 0)
        callbacks["cursor_pos"](handle, 3.5, 4.5)
    finally:
        for name, callback in callbacks.items():
            getattr(glfw, f"set_{name}_callback")(handle, callback)
    key, button, moved = headless_window.poll()
    assert key == KeyPressed("F1", True, False, Modifiers.SHIFT | Modifiers.CONTROL)
    assert isinstance(button, PointerButton) and not button.pressed
    assert moved == PointerMoved(3.5, 4.5)


def test_without_glfw_an_egl_device_draws_the_same(tmp_path: Path):
    code = """
from app.windows import glfw_window
from replay.errors import DisplayError
class NoGlfw:
    def __init__(self, *_, **__):
        raise DisplayError("not here")
glfw_window.GlfwWindow = NoGlfw
"""
    code = "import os; os.environ['PYOPENGL_PLATFORM'] = 'egl'" + code
    devices = run(code + DRAW, "headless", str(tmp_path / "device.png"))
    if "DisplayError" in devices.stderr:
        pytest.skip(devices.stderr.strip().splitlines()[-1])
    assert devices.stdout.split() == ["egl"], devices.stderr
    assert_alike(tmp_path / "device.png", headless_picture(tmp_path))


def test_of_two_egl_windows_one_may_close_before_the_other():
    code = """
import os; os.environ['PYOPENGL_PLATFORM'] = 'egl'
import app.gl_platform
from app.view.screenshot import read_pixels
from app.windows.egl_window import EglWindow
first, second = EglWindow((32, 32), "first"), EglWindow((32, 32), "second")
second.close()
from OpenGL import EGL, GL
EGL.eglMakeCurrent(first._display, EGL.EGL_NO_SURFACE, EGL.EGL_NO_SURFACE, first._context)
first.bind()
GL.glClearColor(1, 0, 0, 1)
GL.glClear(GL.GL_COLOR_BUFFER_BIT)
print(*read_pixels(first.framebuffer, first.framebuffer_size)[0, 0])
first.close()
"""
    done = run(code)
    if "DisplayError" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.stdout.split() == ["255", "0", "0"], done.stderr


def test_a_glfw_window_that_fails_half_way_is_destroyed_and_gives_the_context_back(
    headless_window: Window, monkeypatch: pytest.MonkeyPatch
):
    from app.gl_platform import glfw
    from app.windows.glfw_window import GlfwWindow

    if headless_window.kind != "null":
        pytest.skip("the headless window is not GLFW's")
    headless_window.bind()
    destroyed, destroy, count = [], glfw.destroy_window, GlfwWindow._open
    monkeypatch.setattr(glfw, "destroy_window", lambda handle: (destroyed.append(handle), destroy(handle)))

    def fails(self: GlfwWindow) -> None:
        raise RuntimeError("half way")

    monkeypatch.setattr(GlfwWindow, "_measure", fails)
    with pytest.raises(RuntimeError, match="half way"):
        GlfwWindow((32, 32), "test", null_platform=True)
    assert len(destroyed) == 1 and GlfwWindow._open == count
    assert repr(glfw.get_current_context()) != repr(destroyed[0])
    assert glfw.get_window_size(headless_window.handle) == headless_window.size
    assert glfw.get_current_context()


def test_a_window_on_a_display_draws_the_same(tmp_path: Path, x_display: str):
    done = run(DRAW, "window", str(tmp_path / "window.png"), display=x_display)
    assert done.stdout.split() == ["glfw"], done.stderr
    assert_alike(tmp_path / "window.png", headless_picture(tmp_path))


def test_when_every_way_fails_the_reason_of_each_is_told():
    code = """
import app.window as w
from replay.errors import DisplayError
import app.windows.glfw_window as g, app.windows.egl_window as e
def fail(reason):
    def opened(*_, **__):
        raise DisplayError(reason, remedy="x")
    return opened
g.GlfwWindow, e.EglWindow = fail("first"), fail("second")
w.open_window((64, 64), "test", headless=True)
"""
    last = run(code).stderr.strip().splitlines()[-1]
    if "could not be loaded" in last:
        pytest.skip(last)
    assert "without a display (GLFW null platform: first; EGL device: second); install an EGL" in last


def headless_picture(folder: Path) -> Path:
    done = run(DRAW, "headless", str(folder / "headless.png"))
    if "DisplayError" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    return folder / "headless.png"


def assert_alike(first: Path, second: Path) -> None:
    from PIL import Image

    a, b = (np.asarray(Image.open(path), int) for path in (first, second))
    assert a.shape == b.shape == (240, 320, 3)
    assert np.abs(a - b).mean() < 1
    assert a.std() > 20
