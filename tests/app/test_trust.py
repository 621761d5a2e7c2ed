"""Trust: what was recorded here runs at once, anything else is asked about and tried in a child first."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from app import trust
from app.trial import Trial, TrialLimits, TrialResult
from app.trust import finish_trial, is_trusted, remember_recorded, require_trust, start_trial
from replay.errors import TrustError
from replay.graph.model import Capture
from replay.graph.open import open_capture
from replay.players import open_player
from replay.trust import Event, TrustEntry, TrustRecord, capture_digest, replay_warnings

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited on Linux only")


@wp.kernel(module="trust_captures")
def touch(x: wp.array[float], place: int):
    x[place] = 1.0


@wp.kernel(module="trust_captures")
def spin(flag: wp.array[wp.int32], x: wp.array[float]):
    x[0] = x[0] + 1.0
    flag[0] = 1


@wp.kernel(module="trust_captures")
def keep(where: wp.array[wp.uint64], address: wp.uint64):
    where[0] = address


@wp.func_native("""
int fork_process(void) __asm__("fork");
int new_session(void) __asm__("setsid");
int sleep_seconds(unsigned) __asm__("sleep");
if (copies == 9) {  // the copy goes on as if it were the trial
    fork_process();
} else {
    for (int i = 0; i < copies; ++i)
        if (fork_process() == 0) {
            if (away && fork_process() != 0) __builtin_trap();
            if (away) new_session();
            for (;;) sleep_seconds(60);
        }
}
""")
def breed_processes(copies: int, away: int): ...


@wp.kernel(module="trust_breeds")
def breed(x: wp.array[float], copies: int, away: int):
    breed_processes(copies, away)
    x[0] = 1.0


@wp.kernel(module="trust_prints")
def tell(x: wp.array[float]):
    wp.printf("event 7\n")
    x[0] = 1.0


def _record(folder: Path, name: str, body, inputs) -> Capture:
    wp.load_module("trust_captures", device="cpu")
    with wp.ScopedDevice("cpu"):
        with wp.ScopedCapture(apic=True) as recorded:
            body()
        wp.capture_save(recorded.graph, str(folder / f"{name}.wrp"), inputs=inputs)
    return open_capture(folder / f"{name}.wrp")


@pytest.fixture(scope="module")
def captures(tmp_path_factory) -> dict[str, Capture]:
    """Captures that nobody vouched for: a good one, one that crashes, one that never ends."""
    folder = tmp_path_factory.mktemp("trust")
    x, flag = wp.zeros(4, dtype=float, device="cpu"), wp.array([1], dtype=wp.int32, device="cpu")

    def crash():
        wp.launch(touch, 1, inputs=[x, 0])
        wp.launch(touch, 1, inputs=[x, 1 << 30])

    def hang():
        wp.launch(touch, 1, inputs=[x, 0])
        wp.capture_while(flag, lambda: wp.launch(spin, 1, inputs=[flag, x]))

    return {
        "good": _record(folder, "good", lambda: wp.launch(touch, 1, inputs=[x, 2]), {"x": x}),
        "crash": _record(folder, "crash", crash, {"x": x}),
        "hang": _record(folder, "hang", hang, {"x": x, "flag": flag}),
    }


@pytest.fixture(autouse=True)
def record(tmp_path, monkeypatch) -> TrustRecord:
    monkeypatch.setenv(trust.FOLDER_VARIABLE, str(tmp_path / "data"))
    monkeypatch.setattr(trust, "_is_terminal", lambda: False)
    monkeypatch.setattr(trust, "_recorded_now", set())
    return trust.trust_record()


def _events(record: TrustRecord, capture: Capture) -> list[Event]:
    return [entry.event for entry in record.entries(capture_digest(capture))]


def test_a_good_capture_is_tried_accepted_and_remembered(captures, record, monkeypatch):
    capture = captures["good"]
    with pytest.raises(TrustError, match=r"not recorded here.*add --trust"):
        require_trust(capture, False)
    assert not record.path.exists()
    require_trust(capture, True)
    assert is_trusted(capture) and _events(record, capture) == [Event.TRIED_WELL, Event.ACCEPTED]
    monkeypatch.setattr(trust, "Trial", None)  # a second time, nothing is tried and nobody asked
    require_trust(capture, False)
    with open_player(capture) as player:
        player.launch()
        np.testing.assert_array_equal(player.get("x"), np.float32([0, 0, 1, 0]))


def test_the_user_is_asked(captures, record):
    asked = []

    def ask(answer):
        return lambda text: asked.append(text) or answer

    with pytest.raises(TrustError, match="as you said"):
        require_trust(captures["good"], False, ask=ask(False))
    assert not is_trusted(captures["good"])
    require_trust(captures["good"], False, ask=ask(True))
    assert is_trusted(captures["good"]) and len(asked) == 2
    assert "runs native code (1 file in good_modules)" in asked[0]


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\n", True), ("YES\n", True), ("\n", False), ("", False), ("n\n", False)]
)
def test_the_question_on_a_terminal(captures, monkeypatch, capsys, typed, answer):
    import io

    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert trust._ask_on_terminal("May it?") is answer
    assert capsys.readouterr().err == "May it?\nReplay it, now and from now on? [y/N] "


def test_a_crash_names_signal_and_event(captures, record):
    with pytest.raises(TrustError) as caught:
        require_trust(captures["crash"], True)
    assert "in the trial run it crashed with SIGSEGV, in event 1, touch" in str(caught.value)
    assert not is_trusted(captures["crash"]) and _events(record, captures["crash"]) == [Event.TRIED_BADLY]
    (entry,) = record.entries(capture_digest(captures["crash"]))
    assert entry.reason == "it crashed with SIGSEGV, in event 1, touch" and entry.device == "cpu"


def test_a_loop_that_never_ends(captures):
    """Warp itself gives up after 2^24 iterations, which may be before or after the limit of time."""
    with pytest.raises(TrustError) as caught:
        require_trust(captures["hang"], True, limits=TrialLimits(seconds=3.0))
    assert (
        str(caught.value)
        .partition(": ")[2]
        .startswith(
            (
                "in the trial run it did not end within 3 s, so its loop may never end, in event 1, WHILE",
                "in the trial run a WHILE loop does not end, in event 1, WHILE",
            )
        )
    )


@linux
def test_a_huge_allocation(tmp_path):
    """A capture of 64 MiB with 16 MiB allowed."""
    x = wp.zeros(16 << 20, dtype=float, device="cpu")
    capture = _record(tmp_path, "huge", lambda: wp.launch(touch, 1, inputs=[x, 2]), {"x": x})
    with pytest.raises(TrustError, match=r"it asks for more than 16 MiB of memory, while it was loaded"):
        require_trust(capture, True, limits=TrialLimits(memory=16 << 20))


def _named_as(folder: Path) -> list[str]:
    """Return the command lines of the processes that were started for captures of a folder."""
    lines = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            lines.append(place.read_bytes().decode(errors="replace"))
    return [line for line in lines if "trust_child" in line and str(folder) in line]


@linux
@pytest.mark.parametrize(
    ("copies", "away", "counted"),
    [
        (1, 0, "1 process of its own, which was ended"),
        (3, 0, "3 processes of its own, which were ended"),
        (
            2,
            1,
            r"\d+ process(es)? of its own, which w\w+ ended",
        ),  # in sessions of their own, their parents gone
        (9, 0, "1 process of its own, which was ended"),
    ],
)
def test_code_that_starts_processes_is_refused_and_they_are_ended(copies, away, counted, tmp_path):
    wp.load_module("trust_breeds", device="cpu")
    x = wp.zeros(1, dtype=float, device="cpu")

    def body():
        wp.launch(touch, 1, inputs=[x, 0])
        wp.launch(breed, 1, inputs=[x, copies, away])

    capture = _record(tmp_path, "breeds", body, {"x": x})
    with pytest.raises(TrustError, match=f"in the trial run it started {counted}, in event 1, breed"):
        require_trust(capture, True)
    assert not is_trusted(capture)
    _ended(tmp_path)


@linux
def test_a_trial_that_is_ended_takes_its_processes_along(captures, tmp_path):
    """Also one that left the group of the child; of a child that ended well, those in its group."""
    code = "import os, time; print('event 0', flush=True)\nif os.fork() == 0 and {away}: os.setsid()\n"
    for away in (False, True):
        command = [
            sys.executable,
            "-c",
            code.format(away=away) + "time.sleep(60)",
            "trust_child",
            str(tmp_path),
        ]
        trial = Trial(captures["good"], "", limits=TrialLimits(1.5), command=command)
        assert "did not end within 1.5 s" in trial.wait().reason
        _ended(tmp_path)
    code = "import os, time\nif os.fork() == 0: time.sleep(60)\nprint('done')"
    trial = Trial(captures["good"], "", command=[sys.executable, "-c", code, "trust_child", str(tmp_path)])
    assert trial.wait() == TrialResult(False, "it left processes behind, which were ended")
    _ended(tmp_path)


def _ended(folder: Path) -> None:
    """Wait until the system has ended what was killed."""
    for _ in range(1000):
        if not _named_as(folder):
            return
        time.sleep(0.01)
    raise AssertionError(_named_as(folder))


def test_what_a_kernel_prints_is_no_step_of_the_trial(captures, tmp_path):
    wp.load_module("trust_prints", device="cpu")
    x = wp.zeros(1, dtype=float, device="cpu")
    capture = _record(tmp_path, "prints", lambda: wp.launch(tell, 1, inputs=[x]), {"x": x})
    require_trust(capture, True)
    assert is_trusted(capture)


@linux
def test_memory_is_watched_from_outside(captures, monkeypatch):
    """A child that takes much memory, whatever it limited itself to, is ended."""
    code = "import time; print('event 0', flush=True); x = bytearray(1200 << 20); time.sleep(60)"
    trial = Trial(
        captures["good"], "", limits=TrialLimits(20.0, 1 << 20), command=[sys.executable, "-c", code]
    )
    result = trial.wait()
    assert not result.good and "MiB of memory, 1 MiB are allowed, in event 0, touch" in result.reason


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import sys; print('load', flush=True); sys.exit('no such thing')",
            "no such thing, while it was loaded",
        ),
        ("print('load')", "exit code 0, while it was loaded"),
        (
            "import os; os.kill(os.getpid(), 9)",
            "the system ended it (SIGKILL), as it does at a limit of time or memory",
        ),
        ("import time; print('event 99', flush=True); time.sleep(60)", "it did not end within 1.5 s"),
    ],
)
def test_other_ends(captures, code, reason):
    trial = Trial(captures["good"], "", limits=TrialLimits(1.5), command=[sys.executable, "-c", code])
    assert trial.wait() == TrialResult(False, reason)


def test_a_trial_that_is_cancelled_or_asked_again(captures):
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    trial = Trial(captures["good"], "", command=command)
    assert trial.poll() is None
    trial.cancel()
    assert trial.poll() == TrialResult(False, "it was cancelled") and trial._child.returncode is not None
    with pytest.raises(TrustError, match="cannot be started"):
        Trial(captures["good"], "", command=["/nowhere/python"])


def test_a_capture_that_changed_meanwhile_is_not_tried(captures):
    trial = Trial(captures["good"], "0" * 64)
    result = trial.wait()
    assert not result.good and "changed since it was opened" in result.reason


def test_a_trial_is_not_repeated_after_a_good_one(captures):
    trial = start_trial(captures["good"])
    assert trial is not None
    finish_trial(captures["good"], trial.wait())
    assert start_trial(captures["good"]) is None
    finish_trial(captures["good"], TrialResult(True))
    with pytest.raises(TrustError, match="is not replayed: in the trial run it fell"):
        finish_trial(captures["good"], TrialResult(False, "it fell"))
    trial = start_trial(captures["good"])
    assert trial is not None
    trial.cancel()


def test_what_was_recorded_here_is_trusted(frame_path, capsys, monkeypatch, tmp_path):
    capture = open_capture(frame_path)
    remember_recorded(frame_path)
    require_trust(capture, False)
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv(trust.FOLDER_VARIABLE, str(blocked / "data"))
    remember_recorded(frame_path)
    assert "cannot remember this capture" in capsys.readouterr().err


def test_a_changed_module_is_another_capture(captures, tmp_path):
    source = captures["good"]
    shutil.copy(source.path, tmp_path)
    shutil.copytree(source.modules_folder, tmp_path / source.modules_folder.name)
    copied = open_capture(tmp_path / source.path.name)
    assert capture_digest(copied) == capture_digest(source)
    remember_recorded(copied.path)
    assert is_trusted(source)
    module = copied.modules_folder / copied.modules[0].file
    module.write_bytes(module.read_bytes() + b"\0")
    assert not is_trusted(copied) and is_trusted(source)


def test_a_capture_with_blocking_faults_is_left_to_the_player(captures, tmp_path):
    shutil.copy(captures["good"].path, tmp_path)
    broken = open_capture(tmp_path / "good.wrp")  # its modules are not there
    assert broken.blocking_faults
    require_trust(broken, False)


def test_the_record_takes_what_it_finds(record, tmp_path):
    digest = "ab" * 32
    assert record.entries(digest) == ()
    record.add(TrustEntry(digest, Event.RECORDED, "a.wrp"))
    with record.path.open("a") as file:
        file.write(f'{{"digest": "{digest}", "event": "boasted"}}\n{digest}\n[1]\n{{"digest": 3}}\n')
        file.write(f'{{"digest": "{digest}", "event": "accepted", "name": 7}}\n"{digest}"\n')
    record.add(TrustEntry(digest, Event.TRIED_BADLY, device="cuda", reason="x"))
    assert [entry.event for entry in record.entries(digest)] == [Event.RECORDED, Event.TRIED_BADLY]
    assert record.last_trial(digest, "cpu") is None and record.last_trial(digest, "cuda").reason == "x"
    assert record.path.stat().st_mode & 0o077 == 0
    with pytest.raises(TrustError, match="cannot read"):
        TrustRecord(tmp_path).entries(digest)


def test_baked_pointers_are_warned_about(tmp_path):
    where = wp.zeros(1, dtype=wp.uint64, device="cpu")
    capture = _record(
        tmp_path,
        "baked",
        lambda: wp.launch(keep, 1, inputs=[where, wp.uint64(0x7F0012345678)]),
        {"where": where},
    )
    (warning,) = replay_warnings(capture)
    assert warning.event == 0 and "0x7f0012345678" in warning.what
    assert "Warning: operation 0, argument 2: the value 0x7f0012345678 looks like" in trust.question(capture)
