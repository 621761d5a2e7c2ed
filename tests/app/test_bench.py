"""Benchmarks: the arithmetic with a clock that the test holds, and one short run of everything."""

from __future__ import annotations

import json

import pytest

from app.bench import parts, report
from app.bench.parts import Timed, compare, time_rounds
from app.commands.bench import PARTS, all_parts, grid_list
from app.view.options import Quality
from replay.errors import DisplayError, UsageError

LEVELS = {quality.value for quality in Quality}


class Clock:
    """Time that passes only when something is said to take it."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now

    def taking(self, *seconds: float):
        """A thing each of which takes the next of the given times, then the last for ever."""
        left = list(seconds)

        def run(count: int) -> None:
            for _ in range(count):
                self.now += left.pop(0) if len(left) > 1 else left[0]

        return run


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(parts, "time", clock)
    return clock


def test_a_round_lasts_as_long_as_asked_and_gives_the_time_of_one(clock):
    taken = time_rounds([Timed("fast", clock.taking(0.001))], rounds=3, seconds=0.1)
    assert taken["fast"] == pytest.approx([0.001] * 3)
    # 1 warm-up, 1 + 10 + 100 or more to find the count, then 3 rounds of at least 100
    assert clock.now >= 0.3


def test_the_first_time_does_not_count(clock):
    taken = time_rounds([Timed("compiles first", clock.taking(9.0, 0.5))], rounds=3, seconds=0.0)
    assert taken["compiles first"] == pytest.approx([0.5] * 3)


def test_rounds_take_turns_in_turning_order():
    order = []
    things = [Timed(name, lambda count, name=name: order.append(name)) for name in "ab"]
    time_rounds(things, rounds=4, seconds=0.0)
    assert "".join(order[-8:]) == "abbaabba"


def test_medians_and_ratios():
    taken = {"slow": [2.0, 2.0, 50.0], "fast": [0.5, 0.25, 0.1]}
    slow, fast = compare("part", "case", taken, "slow", unit="x/s", amount=10, goals={"fast": 0.2})
    assert (slow.seconds, slow.ratio, slow.rate, slow.highest) == (2.0, 1.0, 5.0, 50.0)
    assert (fast.seconds, fast.ratio, fast.rate, fast.lowest) == (0.25, 8.0, 40.0, 0.1)
    assert fast.missed and not slow.missed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2.5, "2.5 s"),
        (0.9999, "1000 ms"),
        (0.0123, "12.3 ms"),
        (27.1e-6, "27.1 us"),
        (3e-7, "0.3 us"),
        (1234, "1234 s"),
    ],
)
def test_durations_read_well(seconds, words):
    assert report.duration(seconds) == words


def test_the_document_holds_everything():
    measured = compare("replay", "64x64", {"eager": [0.2], "loaded": [0.1]}, "eager", unit="frames/s")
    machine = report.this_machine("some device")
    said = json.loads(report.document(machine, measured, {"rounds": 1}))
    assert (said["schema"], said["schema_version"], said["settings"]) == (
        "ripplescope-bench",
        1,
        {"rounds": 1},
    )
    assert said["machine"]["versions"]["warp-lang"] == "1.19.0"
    assert said["machine"]["device"] == "some device" and said["machine"]["date"].endswith("+00:00")
    assert [(one["name"], one["ratio"], one["rate"]) for one in said["measurements"]] == [
        ("eager", 1.0, 5.0),
        ("loaded", 2.0, 10.0),
    ]
    shown = report.table(machine, measured)
    assert "2 x eager" in shown and "reference" in shown and "some device" in shown


def test_a_file_that_cannot_be_written_is_one_line_and_nothing_is_left(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(UsageError, match="cannot write"):
        report.write(tmp_path / "there", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("text", ["", "2", "64,", "64;128", "-3", "9000", "a", "64.5"])
def test_bad_grids_are_refused(text):
    with pytest.raises(UsageError, match="--grids"):
        grid_list(text)


def test_grids():
    assert grid_list("64, 8192") == (64, 8192)


def test_every_part_can_be_chosen():
    assert tuple(part.name for part in all_parts()) == PARTS


def test_a_short_run_measures_replays_and_the_reader(tmp_path, capsys):
    from app.cli import main

    out = tmp_path / "bench.json"
    code = main(["bench", "--quick", "--grids", "16", "--device", "cpu", "--json", str(out)])
    said = json.loads(out.read_text(encoding="utf-8"))
    names = {(one["part"], one["name"]) for one in said["measurements"]}
    assert {("replay", "eager loop"), ("replay", "loaded graph"), ("reader", "open")} <= names
    assert all(one["seconds"] > 0 and one["ratio"] > 0 for one in said["measurements"])
    assert code == 0
    assert "frames/s" in capsys.readouterr().out


def test_the_view_is_measured_frame_by_frame(tmp_path, capsys, monkeypatch):
    pytest.importorskip("imgui_bundle.imgui.backends", reason="the window needs Python 3.11 or later")
    from app.cli import main

    monkeypatch.setattr("app.bench.view._BUILDS", 20)
    monkeypatch.setattr("app.bench.view._STAGE_FRAMES", 20)
    out = tmp_path / "bench.json"
    assert main(["bench", "--quick", "--view", "--grids", "16", "--device", "cpu", "--json", str(out)]) == 0
    said = json.loads(out.read_text(encoding="utf-8"))
    found = {one["name"]: one for one in said["measurements"]}
    stages = [name for name in found if name.startswith("stage ")]
    assert stages[0] == "stage poll" and stages[-1] == "stage swap" and len(stages) == 7
    assert {
        "frame, processor time",
        "panels, Python",
        "panels, Python, wall",
        "panels, drawing",
        "panel Parameters",
        "panel status bar",
        "frame, no panels",
        "frame, panels",
        "pass caustics",
        "pass water",
        "memory growth",
    } <= found.keys()
    assert found["frame, panels"]["rate"] == pytest.approx(1 / found["frame, panels"]["seconds"])
    building = found["panels, Python"]
    assert building["goal"] == 1e-3 and building["missed"] == (building["seconds"] > 1e-3)
    assert building["lowest"] <= building["seconds"] <= building["highest"]
    assert [name for name in found if found[name]["goal"] is not None] == ["panels, Python"]
    notes = said["settings"]["notes"]
    assert notes["transfer 16x16"].startswith("host") and "at least 20" in notes["panels, Python 16x16"]
    assert "frames" in notes["memory growth 16x16"] and notes["quality 16x16"].partition(":")[0] in LEVELS
    assert "frames/s" in capsys.readouterr().out


def test_the_goals_are_those_of_software_and_of_panels():
    from app.bench import start, view

    assert view.GOALS["software"] == {128: 20.0} and view.PANELS_GOAL == 1e-3
    assert start.GOALS == {"--help": 0.3, "first picture": 2.5}


def test_starts_are_timed_after_one_that_fills_the_caches(monkeypatch, tmp_path):
    from app.bench import start

    helps, pictures = iter([9.0, 0.2, 0.25, 0.4]), iter([60.0, 3.0, 2.0, 2.4])
    monkeypatch.setattr(start, "_help", lambda: next(helps))
    monkeypatch.setattr(start, "first_picture", lambda folder, display: next(pictures))
    plan = parts.Plan("cpu", (16,), 3, 0.0, 10, tmp_path, lambda words: None)
    said, shown = start.StartPart().measure(plan)
    assert (said.seconds, said.goal, said.missed) == (0.25, 0.3, False)
    assert (shown.seconds, shown.goal, shown.missed) == (2.4, 2.5, False)


def test_a_start_without_a_picture_is_told(monkeypatch, tmp_path):
    from app.bench import start

    monkeypatch.setattr(start, "_UNTIL_PICTURE", "import sys; sys.exit('no such display')")
    with pytest.raises(DisplayError, match="no such display"):
        start.first_picture(tmp_path, display=False)


def test_builds_of_panels_are_told_from_their_drawing(monkeypatch):
    from app.bench import timers

    wall, cpu = (
        iter([1, 1, 2, 2, 5, 5, 7, 7, 11, 11]),
        iter([0.0, 0.0, 0.5, 0.5, 0.6, 0.6, 0.7, 0.7, 9.0, 9.0]),
    )
    clock = type("clock", (), {"perf_counter": lambda: next(wall), "thread_time": lambda: next(cpu)})
    monkeypatch.setattr(timers, "time", clock)
    timer = timers.BuildTimer()
    for name in ("build", "draw", "", "draw", ""):
        timer(name)
    assert (timer.built, timer.built_cpu, timer.drawn) == ([1], [0.5], [3, 4])


def test_quartiles():
    assert timers_spread([4.0, 1.0, 3.0, 2.0, 5.0]) == (3.0, 2.0, 4.0)
    assert timers_spread([7.0]) == (7.0, 7.0, 7.0)


def timers_spread(times):
    from app.bench.timers import Spread

    spread = Spread.of(times)
    return spread.middle, spread.low, spread.high


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (".", "is a folder"),
        ("", "is a folder"),
        ("n" * 300, "File name too long"),
        ("/dev/null", "not a regular"),
    ],
)
def test_a_place_for_no_file_is_told_before_anything_runs(tmp_path, monkeypatch, capsys, name, said):
    from app.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["bench", "--part", "reader", "--quick", f"--json={name}"]) == 2
    captured = capsys.readouterr()
    assert captured.err.count("\n") == 1 and said in captured.err and not captured.out
    assert not list(tmp_path.iterdir())


def test_a_long_name_can_be_written(tmp_path):
    path = tmp_path / ("n" * 250)
    report.write(path, "{}")
    assert path.read_text() == "{}\n" and [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_output_folder_that_is_missing_is_told_before_anything_runs(tmp_path, capsys):
    from app.cli import main

    assert main(["bench", "--json", str(tmp_path / "no" / "out.json")]) == 2
    captured = capsys.readouterr()
    assert "there is no folder" in captured.err and not captured.out
