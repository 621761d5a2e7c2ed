"""The window under a window manager: as an icon, over the whole screen, with a title, closed by its frame."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator

import pytest
from desktop import Desktop, desktop

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later"),
    pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed (Debian: xdotool)"),
]


@pytest.fixture(scope="module")
def managed(managed_display, frame_path, tmp_path_factory) -> Iterator[Desktop]:
    with desktop(managed_display, frame_path, tmp_path_factory.mktemp("managed"), (640, 480)) as user:
        yield user


@pytest.fixture
def user(managed: Desktop) -> Desktop:
    managed.reset()
    return managed


def test_an_icon_draws_nothing_and_the_water_goes_on_in_time(user: Desktop):
    user.do("windowminimize", user.window)
    icon = user.until(lambda now: now.minimized)
    begun, used = time.monotonic(), user.cpu_seconds
    later = user.until(lambda now: now.simulated > icon.simulated + 0.7)
    wall = time.monotonic() - begun
    assert later.swaps == icon.swaps
    assert later.simulated - icon.simulated < wall + 0.3
    # Simulated time follows the wall clock only where the processors are free.
    assert user.cpu_seconds - used < 0.4 * wall
    time.sleep(0.5)
    gone = user.state()

    user.do("windowmap", user.window)
    back = user.until(lambda now: not now.minimized and now.swaps > icon.swaps)
    assert back.simulated - gone.simulated < 5.0  # no catching up at once
    assert not back.message and not back.paused and back.size == icon.size
    user.frames()
    user.click(*user.ask("cell", cell=[12.0, 8.0]))
    assert user.until(lambda now: now.ring).ring == pytest.approx((12.0, 8.0), abs=0.8)


def test_full_screen_covers_the_frame_and_gives_the_place_back(user: Desktop):
    user.over_water()
    place = user.state().place
    user.press("F11")
    full = user.until(lambda now: now.full_screen and now.size == [1024, 768])
    assert user.until(lambda now: now.place == [0, 0]).framebuffer == full.size
    user.frames()
    user.press("F11")
    user.until(lambda now: not now.full_screen and tuple(now.size) == user.size and now.place == place)
    user.frames()
    user.click(*user.ask("cell", cell=[6.0, 5.0]))
    assert user.until(lambda now: now.ring).ring == pytest.approx((6.0, 5.0), abs=0.8)


def test_the_title_tells_grid_device_and_frame_rate(user: Desktop):
    end = time.monotonic() + 40
    while (words := user.title.split(" · "))[1:2] != ["24×16"]:
        assert time.monotonic() < end, words
        time.sleep(0.1)
    name, grid, device, rate, program = words
    assert (name, grid, device, program) == (user.path.name, "24×16", "CPU", "Ripplescope")
    assert rate.endswith(" fps") and int(rate.removesuffix(" fps")) > 0


def test_the_button_of_the_frame_ends_the_program_in_order(user: Desktop):
    user.over_water()
    user.press("alt+F4")
    assert user.wait() == 0
    assert user.errors() == ""
    assert list(user.work.iterdir()) == []
