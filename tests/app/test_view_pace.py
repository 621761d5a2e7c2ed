"""The quality that `auto` stands for follows how long frames take, without going to and fro."""

from __future__ import annotations

from itertools import pairwise

import pytest

from app.view.options import Quality
from app.view.pace import LADDER, PATIENCE, REACTION, AutoQuality

PIXELS = 120_000


class Frames:
    """Frames of a machine whose time a frame the test holds, by level or for all of them."""

    def __init__(self, software: bool = True) -> None:
        self.auto = AutoQuality(software)
        self.now = 50.0
        self.pixels = PIXELS
        self.auto.note(self.now, self.pixels, moving=True)
        self.changes: list[tuple[float, Quality]] = []

    def run(self, seconds: float, taken, *, moving: bool = True, elsewhere: float = 0.0) -> None:
        until = self.now + seconds
        while self.now < until:
            each = taken[self.auto.quality] if isinstance(taken, dict) else taken
            self.now += each
            if self.auto.note(self.now, self.pixels, moving=moving, elsewhere=elsewhere * each):
                self.changes.append((self.now, self.auto.quality))


def test_a_gpu_keeps_the_best_however_slow_it_is():
    frames = Frames(software=False)
    frames.run(5, 0.2)
    frames.run(20, 0.001)
    assert frames.auto.quality is Quality.HIGH and not frames.changes


def test_software_begins_in_the_middle_and_stays_there_at_30_frames_a_second():
    frames = Frames()
    frames.run(60, 1 / 30)
    assert frames.auto.quality is Quality.LOW and not frames.changes


def test_slow_frames_take_the_cheaper_level_within_a_second_and_say_why():
    frames = Frames()
    frames.run(10, 0.033)
    begun = frames.now
    frames.run(3, {Quality.LOW: 0.045, Quality.DRAFT: 0.030})
    ((at, quality),) = frames.changes
    assert quality is Quality.DRAFT and REACTION / 2 < at - begun < 1.0
    assert frames.auto.reason == "low gave 22 frames/s"


def test_the_cheapest_level_is_the_end():
    frames = Frames()
    frames.run(20, 0.3)
    assert [quality for _, quality in frames.changes] == [Quality.DRAFT]


def test_a_few_slow_frames_change_nothing():
    frames = Frames()
    for _ in range(10):
        frames.run(1.0, 0.02)
        frames.run(0.25, 0.08)
    assert not frames.changes


def test_a_stall_is_no_slow_frame():
    frames = Frames()
    for _ in range(20):
        frames.run(0.2, 0.03)
        frames.now += 3.0
    assert not frames.changes


def test_fast_frames_take_the_better_level_after_a_while():
    frames = Frames()
    begun = frames.now
    frames.run(30, {Quality.LOW: 1 / 60, Quality.MEDIUM: 0.025})
    ((at, quality),) = frames.changes
    assert quality is Quality.MEDIUM and at - begun >= PATIENCE
    assert frames.auto.reason == "low gave 60 frames/s"


def test_resting_water_is_no_reason_for_a_better_level():
    frames = Frames()
    frames.run(30, 0.005, moving=False)
    assert not frames.changes


def test_a_better_level_that_failed_is_tried_ever_more_seldom():
    frames = Frames()
    frames.run(1000, {Quality.DRAFT: 0.015, Quality.LOW: 0.016, Quality.MEDIUM: 0.05})
    tried = [at for at, quality in frames.changes if quality is Quality.MEDIUM]
    waits = [second - first for first, second in pairwise(tried)]
    assert 3 <= len(tried) <= 7
    assert all(second > 1.7 * first for first, second in pairwise(waits))


def test_a_smaller_window_is_another_matter():
    frames = Frames()
    frames.run(20, {Quality.LOW: 0.016, Quality.MEDIUM: 0.05, Quality.DRAFT: 0.01})
    assert frames.auto.quality is Quality.LOW
    frames.pixels //= 4
    frames.run(PATIENCE + 1, {Quality.LOW: 0.016, Quality.MEDIUM: 0.02})
    assert frames.auto.quality is Quality.MEDIUM


def test_time_that_goes_into_the_simulation_is_none_that_a_cheaper_picture_saves():
    frames = Frames()
    frames.run(10, 0.2, elsewhere=0.9)
    assert not frames.changes
    frames.run(2, 0.2, elsewhere=0.2)
    assert frames.auto.quality is Quality.DRAFT


def test_after_a_rest_old_frames_do_not_count():
    frames = Frames()
    frames.run(0.6, 0.1)
    frames.auto.rest()
    frames.run(0.4, 0.1)
    assert not frames.changes


@pytest.mark.parametrize("taken", [0.0305, 0.0333, 0.0345, 0.0405])
@pytest.mark.parametrize("ratio", [1.2, 1.35, 1.6])
def test_there_is_no_flicker_whatever_the_levels_cost(taken: float, ratio: float):
    frames = Frames()
    costs = {quality: taken * ratio ** (LADDER.index(quality) - 1) for quality in LADDER}
    for factor in (1.0, 1.3, 1.0, 0.8, 1.0):
        frames.run(60, {quality: cost * factor for quality, cost in costs.items()})
    assert len(frames.changes) <= 5


def test_the_first_frames_compile_shaders_and_do_not_count():
    frames = Frames()
    frames.run(0.8, 0.16)
    frames.run(30, 0.031)
    assert not frames.changes
