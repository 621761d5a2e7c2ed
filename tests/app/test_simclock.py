from __future__ import annotations

import numpy as np
import pytest

from app.simclock import MAX_CATCH_UP, SPEEDS, FrameTimes, SimulationClock, Stage

STEP = 1 / 60


def run(clock: SimulationClock, times) -> list[int]:
    return [clock.due(float(now)) for now in times]


def test_at_the_rate_of_the_step_each_frame_launches_once():
    counts = run(SimulationClock(STEP), np.arange(600) * STEP + 12345.678)
    assert set(counts) == {1}


@pytest.mark.parametrize("rate", [24.0, 59.0, 75.0, 144.0, 900.0])
def test_simulated_time_follows_the_wall_clock_at_any_frame_rate(rate):
    clock = SimulationClock(STEP)
    times = np.arange(int(rate * 5)) / rate
    run(clock, times)
    assert clock.simulated == pytest.approx(times[-1] + STEP, abs=1.01 * STEP)


@pytest.mark.parametrize("speed", [0.1, 0.5, 2.0, 4.0])
def test_the_speed_factor(speed):
    clock = SimulationClock(STEP)
    clock.speed = speed
    run(clock, np.arange(600) * STEP)
    assert clock.simulated == pytest.approx(599 * STEP * speed, abs=2 * STEP)


def test_a_stall_is_not_made_up_for_without_bound():
    clock = SimulationClock(STEP)
    clock.due(0.0)
    assert clock.due(100.0) == MAX_CATCH_UP
    assert clock.due(100.0 + STEP) == 1


def test_slow_launches_bound_the_catch_up_so_that_the_window_stays_responsive():
    clock = SimulationClock(STEP)
    clock.due(0.0)
    clock.spent(1, 0.2)
    assert clock.due(1.0) == 1
    clock.spent(1, 0.001)
    assert clock.due(2.0) == MAX_CATCH_UP


def test_a_slow_machine_says_so_and_a_fast_one_does_not():
    slow, fast = SimulationClock(STEP), SimulationClock(STEP)
    for frame in range(40):
        slow.due(frame * 0.1)
        slow.spent(1, 0.09)
        fast.due(frame * 0.1)
    assert slow.behind and slow.real_time_factor == pytest.approx(STEP / 0.1, rel=0.02)
    assert not fast.behind and fast.real_time_factor == pytest.approx(1.0, abs=0.02)


def test_pause_and_single_steps():
    clock = SimulationClock(STEP)
    clock.due(0.0)
    clock.paused = True
    assert run(clock, [1.0, 2.0]) == [0, 0]
    clock.step_once()
    clock.step_once()
    assert run(clock, [3.0, 4.0]) == [2, 0]
    clock.paused = False
    assert clock.due(4.0 + STEP) == 1  # the time of the pause is not made up for


def test_a_step_pauses_a_running_clock():
    clock = SimulationClock(STEP)
    clock.due(0.0)
    clock.step_once()
    assert clock.paused and run(clock, [STEP, 2 * STEP]) == [1, 0]


def test_a_clock_that_goes_backwards_owes_nothing():
    clock = SimulationClock(STEP)
    clock.due(10.0)
    assert clock.due(5.0) == 0


@pytest.mark.parametrize("rate", [7.0, 60.0, 900.0])
def test_a_free_run_launches_once_a_frame_and_tells_its_pace(rate):
    clock = SimulationClock(STEP)
    clock.free_run = True
    assert set(run(clock, np.arange(int(rate * 3)) / rate)) == {1}
    assert clock.pace == pytest.approx(rate * STEP, rel=1e-6)
    assert not clock.behind
    clock.paused = True
    assert run(clock, [9.0, 10.0]) == [0, 0]
    clock.step_once()
    assert run(clock, [11.0, 12.0]) == [1, 0]
    clock.paused = clock.free_run = False
    assert clock.due(12.0 + STEP) == 1  # back to the wall clock, and nothing is owed from before


def test_speeds_stop_at_both_ends():
    clock = SimulationClock(STEP)
    for _ in range(20):
        clock.faster()
    assert clock.speed == SPEEDS[-1]
    for _ in range(20):
        clock.slower()
    assert clock.speed == SPEEDS[0]


def test_the_split_of_a_frame():
    times = FrameTimes(length=8)
    for frame in range(200):
        now = frame * 0.010
        times.begin(now)
        times.lap(Stage.LAUNCH, now + 0.002)
        times.lap(Stage.SWAP, now + 0.009)
    assert times.split[Stage.LAUNCH] == pytest.approx(2.0)
    assert times.split[Stage.SWAP] == pytest.approx(7.0)
    assert times.split.sum() == pytest.approx(9.0)
    assert times.frame_ms == pytest.approx(10.0) and times.rate == pytest.approx(100.0)
    assert times.history == pytest.approx(np.full(8, 10.0))


def test_frames_in_which_shaders_are_compiled_do_not_spoil_the_rate_of_those_after_them():
    times, now = FrameTimes(), 0.0
    for taken in (1.0, 0.3, 0.2, *[0.02] * 6):
        times.begin(now)
        now += taken
    assert times.rate == pytest.approx(50.0)
