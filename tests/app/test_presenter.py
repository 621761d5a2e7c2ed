"""Pictures that a thread shows: each one, in order, in the window's present size, and an orderly end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")

ROOT = Path(__file__).resolve().parents[2]

# Every picture is of one colour, told apart by its red; `seen` is what is in the window before each swap.
BEGIN = """
import time
from app.window import load_libraries
load_libraries(headless=False)
from app.gl_platform import GL, glfw, check_errors
from app.windows.glfw_window import GlfwWindow
from app.windows.presenter import Presenter
from app.view.gl_objects import alive
from app.view.screenshot import read_pixels
from replay.errors import DisplayError

seen, plain_copy = [], Presenter._copy

def copy(self, slot, framebuffer):
    plain_copy(self, slot, framebuffer)
    pixels = read_pixels(0, self._size)
    seen.append((int(pixels[0, 0, 0]), int(pixels[-1, -1, 0]), pixels.shape[1], pixels.shape[0]))
    GL.glReadBuffer(GL.GL_BACK)

Presenter._copy = copy

def show(window, red):
    window.poll()
    window.bind()
    GL.glClearColor(red / 255, 0, 0, 1)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    window.swap()

window = GlfwWindow((160, 120), "test", vsync=False, threaded_swap=True)
"""
END = """
thread = window._presenter._thread
window.close()
assert not thread.is_alive() and not +alive, alive
print("closed")
"""


def run(code: str, display: str) -> list[str]:
    environment = {k: v for k, v in os.environ.items() if k not in ("WAYLAND_DISPLAY", "PYOPENGL_PLATFORM")}
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code + END],
        cwd=ROOT,
        env={**environment, "DISPLAY": display},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.endswith("closed\n"), done.stderr
    return done.stdout.splitlines()[:-1]


def test_every_picture_is_shown_once_and_in_order(x_display: str):
    code = """
assert window.threaded_swap and window.framebuffer > 0
for red in range(100):
    show(window, red)
assert 96 <= window.swaps <= 100  # four at most are on their way
window.finish()
assert window.swaps == 100
print([red for red, *_ in seen] == list(range(100)), {(w, h) for _, _, w, h in seen})
"""
    assert run(code, x_display) == ["True {(160, 120)}"]


def test_what_is_drawn_can_be_read_before_it_is_shown(x_display: str):
    code = """
window.bind()
GL.glClearColor(0, 1, 0, 1)
GL.glClear(GL.GL_COLOR_BUFFER_BIT)
print(read_pixels(window.framebuffer, window.framebuffer_size)[60, 80].tolist())
check_errors("drawing")
"""
    assert run(code, x_display) == ["[0, 255, 0]"]


def test_a_resized_window_is_filled_from_the_next_picture_on(x_display: str):
    code = """
for red in range(5):
    show(window, 50 + red)
window.resize(200, 90)
end = time.monotonic() + 20
while window.framebuffer_size != (200, 90) and time.monotonic() < end:
    time.sleep(0.01)
    window.poll()
for red in range(5):
    show(window, 100 + red)
window.finish()
check_errors("resizing")
print(window.framebuffer_size, window.size, seen[-1])
"""
    assert run(code, x_display) == ["(200, 90) (200, 90) (104, 104, 200, 90)"]


def test_vsync_can_be_changed_while_pictures_are_on_their_way(x_display: str):
    code = """
for red in range(30):
    window.set_vsync(red % 3 == 0)
    show(window, red)
window.finish()
print(len(seen), window.swaps)
"""
    assert run(code, x_display) == ["30 30"]


def test_a_thread_that_fails_is_told_with_the_next_picture_and_the_window_closes(x_display: str):
    code = """
show(window, 1)
window.finish()
def broken(self, slot, framebuffer):
    raise RuntimeError("context lost")
Presenter._copy = broken
try:
    for red in range(5):
        show(window, red)
except DisplayError as error:
    print(error)
"""
    (line,) = run(code, x_display)
    assert line.startswith(
        "the window cannot be drawn to any more: context lost; set RIPPLESCOPE_THREADED_SWAP=0"
    )


def test_the_variable_decides_and_software_is_left_alone(x_display: str):
    code = """
import os
for value in (None, "0", "1"):
    os.environ.pop("RIPPLESCOPE_THREADED_SWAP", None)
    if value is not None:
        os.environ["RIPPLESCOPE_THREADED_SWAP"] = value
    other = GlfwWindow((64, 64), "other", vsync=False)
    print(value, other.threaded_swap == (not other.software if value is None else value == "1"))
    other.bind()
    other.swap()
    other.finish()
    print(other.swaps)
    other.close()
"""
    assert run(code, x_display) == ["None True", "1", "0 True", "1", "1 True", "1"]


PANELS = """
from app.gl_platform import imgui
from app.gui import Gui
from app.window import PointerMoved

gui, words, place = Gui(window, theme_name="dark"), ["words"], (60, 10, 90, 100)

def panels():
    imgui.set_next_window_pos((0, 0))
    imgui.set_next_window_size((60, 120))
    imgui.begin("left")
    imgui.text(words[0])
    imgui.end()

def frame(red, now):
    window.poll()
    gui.begin_picture(place)
    GL.glEnable(GL.GL_SCISSOR_TEST)
    GL.glScissor(60, 10, 90, 100)
    GL.glClearColor(red / 255, 0, 0, 1)
    GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    GL.glDisable(GL.GL_SCISSOR_TEST)
    built = gui.build(now, panels)
    gui.draw()
    pixels = read_pixels(window.framebuffer, window.framebuffer_size)
    window.swap()
    return pixels, built
"""


def test_panels_stay_in_the_pictures_until_they_are_built_anew(x_display: str):
    code = """
for red in range(12):
    first, _ = frame(red, 100.0)
blend, whole = gui._overlay.blend, []
gui._overlay.blend = lambda: (whole.append(not GL.glIsEnabled(GL.GL_SCISSOR_TEST)), blend())
for red in range(20, 32):
    pixels, built = frame(red, 100.0)
    inside = pixels[10:110, 60:150].copy()
    pixels[10:110, 60:150] = first[10:110, 60:150]
    print(built, (pixels == first).all(), (inside == [red, 0, 0]).all(), end=" ")
print(any(whole))
words[0] = "other words"
new = [frame(40, 101.0)[0] for _ in range(12)]
print((new[0] == first).all(), all((pixels == new[0]).all() for pixels in new))
gui._holds.clear()
print((frame(40, 101.0)[0] == new[0]).all())
gui.close()
"""
    assert run(PANELS + code, x_display) == [
        "True ".join(["False True "] * 12) + "True False",
        "False True",
        "True",
    ]


def test_panels_that_nobody_uses_are_built_half_as_often(x_display: str):
    code = """
def builds(begin, used):
    count = 0
    for step in range(150):  # 4 ms each
        if used and step % 5 == 0:
            gui.feed([PointerMoved(1, 1)])
        count += frame(0, begin + 0.004 * step)[1]
    return count

builds(100.0, False)
print(17 <= builds(101.0, False) <= 20, 35 <= builds(102.0, True) <= 38)
builds(103.0, False)
print(17 <= builds(105.0, False) <= 20)
gui.close()
"""
    assert run(PANELS + code, x_display) == ["True True", "True"]
