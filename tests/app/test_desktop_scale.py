"""Displays with small pixels, in both forms that toolkits know: larger windows, or more pixels a unit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest
from app_rig import Rig, running_app
from desktop import desktop

import app.window
from app.scene import open_scene


@pytest.fixture
def fine_display(x_display: str) -> Iterator[str]:
    """The X display with 192 dots an inch, twice the usual, as desktops tell it; skips without the tools."""
    for tool, package in (("xdotool", "xdotool"), ("xprop", "x11-utils")):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed (Debian: {package})")

    def on_root(*words: str) -> None:
        subprocess.run(["xprop", "-display", x_display, "-root", *words], check=True, timeout=20)

    on_root("-f", "RESOURCE_MANAGER", "8s", "-set", "RESOURCE_MANAGER", "Xft.dpi: 192\n")
    yield x_display
    on_root("-remove", "RESOURCE_MANAGER")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later")
def test_a_click_hits_and_text_is_twice_as_large_at_192_dots_an_inch(fine_display, frame_path, tmp_path):
    """X11 and Windows: the window is made twice as large, a window unit stays a pixel."""
    with desktop(fine_display, frame_path, tmp_path, (500, 370), scale=2) as user:
        now = user.state()
        assert now.scale == 2.0
        assert now.size == now.framebuffer == [1000, 740]
        # The places are of the last build, in which a panel may have been kept.
        now = user.until(lambda now: "k_speed/##field" in now.places)
        _, _, _, height = now.places["k_speed/##field"]
        assert height == pytest.approx(2 * 23, abs=2)
        user.click(*user.ask("cell", cell=[6.0, 5.0]))
        assert user.until(lambda now: now.ring).ring == pytest.approx((6.0, 5.0), abs=0.8)
        user.reset()
        user.click(*user.place("k_speed/##field"))
        user.until(lambda now: now.typing)
        user.do("type", "42.5")
        user.press("Return")
        user.until(lambda now: now.values["k_speed"] == [42.5])
        user.over_water()
        user.press("Escape")
        assert user.wait() == 0


@pytest.fixture
def dense(frame_path, monkeypatch) -> Iterator[Rig]:
    """macOS and Wayland: a window unit is two pixels wide and high."""
    from app.windows.glfw_window import GlfwWindow

    class DenseWindow(GlfwWindow):
        """A window without display that has two by two pixels a unit."""

        content_scale = 2.0

        def __init__(self, size: tuple[int, int], title: str) -> None:
            super().__init__(size, title, vsync=False, null_platform=True)
            self._target.resize(2 * size[0], 2 * size[1])

    monkeypatch.setattr(app.window, "open_window", lambda size, title, **_: DenseWindow(size, title))
    with running_app(open_scene(frame_path, "cpu").player, size=(480, 360)) as rig:
        assert rig.window.size == (480, 360) and rig.window.framebuffer_size == (960, 720)
        yield rig


def place_of(rig: Rig, cell: tuple[float, float]) -> tuple[float, float]:
    from app.controls import water_viewport
    from app.view.picking import project_cell

    u, v = project_cell(rig.app.camera, cell, water_viewport(rig.app), rig.app.scene.grid)
    return u / 2, v / 2


@pytest.mark.parametrize("cell", [(6.0, 5.0), (17.0, 10.0)])
def test_a_click_hits_where_a_unit_is_two_pixels(dense: Rig, cell: tuple[float, float]):
    dense.app.scene.editor.apply({"radius": 1.5})
    dense.app.camera.orbit(0.4, 0.2)
    dense.click(*place_of(dense, cell), launches=0)
    dense.frame(launches=1)
    heights = np.abs(dense.heights())
    rows, columns = np.indices(heights.shape)
    ring = (columns * heights).sum() / heights.sum(), (rows * heights).sum() / heights.sum()
    assert ring == pytest.approx(cell, abs=0.8)


def test_panels_and_water_fill_the_pixels_where_a_unit_is_two(dense: Rig):
    from app.view.screenshot import read_pixels

    dense.frames(3, launches=0)
    assert dense.gui.scale == 1.0  # ImGui's factor on the framebuffer makes text twice as large already
    pixels = read_pixels(dense.window.framebuffer, dense.window.framebuffer_size).astype(int)
    assert pixels.shape == (720, 960, 3)
    x, y, width, height = (round(2 * side) for side in dense.app.canvas.rect)
    u, v = place_of(dense, (12.0, 8.0))
    assert x < 2 * u < x + width and y < 2 * v < y + height
    red, _, blue = pixels[round(2 * v) - 2 : round(2 * v) + 3, round(2 * u) - 2 : round(2 * u) + 3].mean(
        (0, 1)
    )
    assert blue > red + 30  # water
    assert pixels[y + height + 8 :, x:].std() > 3 and pixels[:, : x - 8].std() > 3  # panels
    assert pixels[-30:, -200:].std() > 3  # the status bar lies in the last corner
