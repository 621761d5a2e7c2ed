"""A session replays bit for bit, however it was recorded, and as far as it goes, wherever it was cut."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import toy

from replay.errors import ReplayError, SessionError
from replay.graph.open import open_capture
from replay.players import open_player
from replay.players.fake import FakePlayer
from replay.session import format as session_format
from replay.session.digest import combined, digests_of
from replay.session.format import Cause, Kind, SessionReader, encode, file_head
from replay.session.playback import Playback, _share
from replay.session.recorder import SessionRecorder
from replay.session.records import CheckpointRecord, Content, RecordError

FRAMES = 40


def play(player, frames=FRAMES):
    """Push, change parameters, reset, write a whole field, launch."""
    rng = np.random.default_rng(5)
    for frame in range(frames):
        player.set("mouse_pos", [[rng.uniform(0, 23), rng.uniform(0, 15)]] if frame % 3 else [[-1000, -1000]])
        if frame % 7 == 2:
            player.set("k_speed", rng.uniform(20, 60))
        if frame == 11:
            player.set("heights", rng.normal(0, 0.01, (16, 24)).astype(np.float32))
        if frame == 23:
            player.reset()
            player.set("radius", 3.0)
        player.launch()


def record(path, capture, run=play, **options):
    """Record a run; return the digests at its end."""
    recorder = SessionRecorder(path, **options)
    with open_player(capture) as player:
        recorder.follow(player)
        run(player)
        digests = digests_of(player)
        recorder.close()
    return digests


def replay(path, capture, most=None, change=None):
    """Replay a session; return the playback, closed, and the digests at its end."""

    def opener(found, files):
        player = open_player(capture)
        if change is not None:
            change(player)
        return player

    with SessionReader(path) as reader, Playback(reader, opener) as playback:
        for _ in playback.run(most):
            pass
        digests = digests_of(playback.player) if playback.player is not None else {}
    return playback, digests


@pytest.fixture(scope="module")
def session(frame_capture, tmp_path_factory):
    """A recorded session and the digests at its end."""
    path = tmp_path_factory.mktemp("session") / "a.ripple"
    return path, record(path, frame_capture)


def records_of(path):
    with SessionReader(path) as reader:
        return list(reader.records()), reader.ending


def test_pushes_parameters_and_a_reset_replay_bit_for_bit(session, frame_capture):
    path, wanted = session
    playback, digests = replay(path, frame_capture)
    assert digests == wanted == playback.digests
    assert playback.frames == FRAMES and playback.exact and playback.difference is None
    assert playback.compared == FRAMES + 1  # each frame's check, and the end
    assert playback.ending.cause is Cause.CLOSED
    assert len(set(digests.values())) > 3 and combined(digests) == combined(dict(reversed(digests.items())))


def test_a_recording_that_begins_mid_way_holds_the_state(frame_capture, tmp_path):
    path = tmp_path / "b.ripple"
    with open_player(frame_capture) as player:
        play(player, 20)
        recorder = SessionRecorder(path)
        recorder.follow(player)
        player.set("magnitude", 0.2)
        play(player, 5)
        wanted = digests_of(player)
        recorder.close()
    playback, digests = replay(path, frame_capture)
    assert digests == wanted and playback.difference is None and playback.frames == 5


def test_values_set_after_the_last_launch_are_in_it(frame_capture, tmp_path):
    path = tmp_path / "c.ripple"
    with open_player(frame_capture) as player:
        recorder = SessionRecorder(path)
        recorder.follow(player)
        play(player, 3)
        player.set("k_speed", 33.0)
        recorder.close()
        wanted = digests_of(player)
    playback, digests = replay(path, frame_capture)
    assert digests == wanted and playback.difference is None and playback.frames == 3


def test_a_restored_state_is_in_it(frame_capture, tmp_path):
    def run(player):
        play(player, 6)
        kept = player.snapshot()
        play(player, 6)
        player.restore(kept)
        play(player, 2)

    path = tmp_path / "d.ripple"
    wanted = record(path, frame_capture, run)
    playback, digests = replay(path, frame_capture)
    assert digests == wanted and playback.difference is None and playback.frames == 14


def test_two_captures_in_one_session(frame_of, tmp_path):
    """Another grid in mid-session, as after a new capture in the window."""
    first, second = open_capture(frame_of()), open_capture(frame_of(width=20, height=18))
    path = tmp_path / "e.ripple"
    recorder = SessionRecorder(path)
    with open_player(first) as player:
        recorder.follow(player)
        play(player, 4)
        recorder.follow(None)
    with open_player(second) as player:
        recorder.follow(player)
        for column in range(5):
            player.set("mouse_pos", [[float(column), 3.0]])
            player.launch()
        wanted = digests_of(player)
        recorder.close()
    by_digest = {c.path.parent.name: c for c in (first, second)}
    with SessionReader(path) as reader:
        opener = lambda found, files: open_player(by_digest[Path(found.path).parent.name])  # noqa: E731
        with Playback(reader, opener) as playback:
            assert list(playback.run()) == list(range(1, 10))
            assert digests_of(playback.player) == wanted and playback.difference is None


def test_unnamed_regions_and_carried_fields(tmp_path):
    """The toy swaps two fields and has a region without a name, whose value counts launches."""
    capture = toy.record_toy(tmp_path, "cpu")

    def run(player):
        for frame in range(9):
            player.set("gain", 0.1 * frame)
            player.launch()

    path = tmp_path / "f.ripple"
    with open_player(capture) as player:
        run(player)
        recorder = SessionRecorder(path)
        recorder.follow(player)
        run(player)
        hidden = player.region_bytes(toy.hidden_region(capture))
        recorder.close()
    with SessionReader(path) as reader, Playback(reader, lambda *_: open_player(capture)) as playback:
        assert len(list(playback.run())) == 9 and playback.difference is None
        np.testing.assert_array_equal(playback.player.region_bytes(toy.hidden_region(capture)), hidden)
        assert hidden.view(np.float32)[0] == 5 + 18


def test_a_frame_without_news_takes_little_room(frame_capture, tmp_path):
    path = tmp_path / "g.ripple"

    def run(player):
        for _ in range(100):
            player.launch()

    record(path, frame_capture, run)
    frames = [record for record in records_of(path)[0] if record.kind is Kind.FRAME]
    assert len(frames) == 100 and frames[-1].offset - frames[0].offset < 99 * 60


def test_the_first_frame_that_differs_is_named(session, frame_capture):
    """One height is changed behind the recorder's back, in the replay's 18th frame."""
    path, _ = session

    def change(player):
        launch = player._launch

        def disturbed():
            launch()
            if player.frames == 17:
                player._regions[player.parameters["heights"].region][5] ^= 1

        player._launch = disturbed

    playback, _ = replay(path, frame_capture, change=change)
    assert (playback.difference.after, playback.difference.seen) == (17, 18)
    assert str(playback.difference).startswith("frame 18 differs")


def test_a_cut_at_every_record_and_at_random_bytes(session, frame_capture, tmp_path):
    """What is before the cut is replayed, and nothing but a cut is ever said."""
    data = session[0].read_bytes()
    records, _ = records_of(session[0])
    rng = np.random.default_rng(1)
    ends = [record.offset for record in records[1:]] + [len(data)]
    cuts = sorted({*ends, *rng.integers(12, len(data), 60).tolist(), *range(len(data) - 200, len(data), 9)})
    path = tmp_path / "cut.ripple"
    frame_ends = [end for record, end in zip(records, ends, strict=True) if record.kind is Kind.FRAME]
    capture_end = next(end for record, end in zip(records, ends, strict=True) if record.kind is Kind.CAPTURE)
    for cut in cuts:
        path.write_bytes(data[:cut])
        found, ending = records_of(path)
        assert ending.cause is (Cause.CLOSED if cut == len(data) else Cause.CUT)
        assert len(found) == sum(end <= cut for end in ends)
    for cut in cuts[::12]:
        path.write_bytes(data[:cut])
        playback, _ = replay(path, frame_capture)
        assert playback.difference is None
        assert playback.frames == sum(end <= cut for end in frame_ends)
        assert (playback.capture is not None) == (cut >= capture_end)


def test_a_flipped_bit_anywhere_is_told(session, tmp_path):
    """No flip goes unseen: the reader stops at the record that holds it, or refuses the file."""
    data = session[0].read_bytes()
    records, _ = records_of(session[0])
    offsets = [record.offset for record in records]
    rng = np.random.default_rng(2)
    path = tmp_path / "flip.ripple"
    for at in [*range(12), *rng.integers(12, len(data), 150).tolist(), *range(offsets[-3], len(data), 5)]:
        broken = bytearray(data)
        broken[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(broken)
        if at < 12:
            with pytest.raises(SessionError, match=r"no session|format"):
                SessionReader(path)
            continue
        found, ending = records_of(path)
        holder = max(offset for offset in offsets if offset <= at)
        assert ending.cause is Cause.DAMAGED and ending.offset == holder
        assert f"damaged at byte {holder}" in ending.text
        assert [record.offset for record in found] == offsets[: offsets.index(holder)]


@pytest.mark.parametrize(
    ("content", "text"),
    [(b"", "cut in its first"), (b"\x89RIP", "cut in its first"), (b"PNG and more bytes", "no session")],
)
def test_what_is_no_session(tmp_path, content, text):
    path = tmp_path / "no.ripple"
    path.write_bytes(content)
    with pytest.raises(SessionError, match=text):
        SessionReader(path)


def test_a_fifo_a_folder_and_a_missing_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name, text in (("fifo", "not a regular file"), (".", r"regular|directory"), ("gone", "No such file")):
        with pytest.raises(SessionError, match=text):
            SessionReader(tmp_path / name)


def test_an_existing_file_is_not_overwritten(tmp_path):
    path = tmp_path / "old.ripple"
    path.write_text("precious")
    with pytest.raises(SessionError, match="never overwritten"):
        SessionRecorder(path)
    assert path.read_text() == "precious"


def test_a_full_disk_ends_the_recording_and_not_the_simulation(frame_capture, tmp_path):
    path = tmp_path / "full.ripple"
    recorder = SessionRecorder(path)
    with open_player(frame_capture) as player:
        recorder.follow(player)
        play(player, 3)

        class Full:
            def __init__(self, file):
                self.close = file.close

            def write(self, data):
                raise OSError(28, "No space left on device")

        recorder._file = Full(recorder._file)
        play(player, 3)
        assert player.frames == 6 and not recorder.recording
        assert "frame 3" in str(recorder.failure) and "No space left" in str(recorder.failure)
        recorder.close()
    playback, _ = replay(path, frame_capture)
    assert playback.frames == 3 and playback.ending.cause is Cause.CUT


def write_session(path, *records):
    path.write_bytes(file_head() + b"".join(encode(*record) for record in records))
    return path


HEADER = (Kind.HEADER, {"schema": "ripplescope-session"})
CAPTURE = (
    Kind.CAPTURE,
    {
        "path": "x.wrp", "sha256": "0" * 64, "digest": "", "device": "cpu", "device_name": "cpu",
        "manifest": None, "files": {},
    },
)  # fmt: skip
BAD = [
    ((Kind.HEADER, {"schema": "other"}), "schema"),
    ((Kind.FRAME, {}), "before any capture"),
    ((Kind.CAPTURE, {"path": 3}), "list of files"),
    (CAPTURE, (Kind.FRAME, {"writes": 3}), "list of contents"),
    (CAPTURE, (Kind.FRAME, {"writes": [["heights", "raw", 4]], "blobs": []}), "names no contents"),
    (CAPTURE, (Kind.FRAME, {"writes": [["heights", "raw", 4]]}, [b"1234"]), "4 bytes, the region has 1536"),
    (CAPTURE, (Kind.FRAME, {"writes": [["heights", "raw", 1536]]}, [b"1234"]), "4 bytes, not 1536"),
    (CAPTURE, (Kind.FRAME, {"writes": [["heights", "zlib", 1536]]}, [b"1234"]), "decompressed"),
    (CAPTURE, (Kind.FRAME, {"writes": [["heights", "lzma", 1536]]}, [b"1234"]), "kept as 'lzma'"),
    (CAPTURE, (Kind.FRAME, {"camera": [1.0] * 6}), "camera"),
    (CAPTURE, (Kind.STATE, {"why": "start", "frames": -1, "contents": []}), "frames is no count"),
    (CAPTURE, (Kind.CHECKPOINT, {"frames": 0, "digests": []}), "digests are none"),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: str(case[-1]))
def test_records_that_are_whole_but_make_no_sense(frame_capture, tmp_path, case):
    *records, text = case
    path = write_session(tmp_path / "bad.ripple", HEADER, *records)
    playback, _ = replay(path, frame_capture)
    assert playback.ending.cause is Cause.DAMAGED and text in playback.ending.text


def test_a_bomb_is_not_unpacked(frame_capture, tmp_path):
    """64 MiB of zeros in 64 KiB, said to be the 1536 bytes of the region."""
    import tracemalloc
    import zlib

    blob = zlib.compress(bytes(64 << 20), 9)
    bomb = (Kind.FRAME, {"writes": [["heights", "zlib", 1536]]}, [blob])
    path = write_session(tmp_path / "bomb.ripple", HEADER, CAPTURE, bomb)
    tracemalloc.start()
    playback, _ = replay(path, frame_capture)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "have not the 1536 bytes" in playback.ending.text and peak < 4 << 20


def test_a_region_that_the_capture_does_not_name(frame_capture, tmp_path):
    write = (Kind.FRAME, {"writes": [["walls", "raw", 4]]}, [b"1234"])
    path = write_session(tmp_path / "other.ripple", HEADER, CAPTURE, write)
    with pytest.raises(SessionError, match="writes 'walls'"):
        replay(path, frame_capture)


def test_the_capture_is_inside_up_to_a_size(frame_capture, tmp_path):
    record(tmp_path / "with.ripple", frame_capture, lambda player: play(player, 1))
    record(tmp_path / "without.ripple", frame_capture, lambda player: play(player, 1), embed_limit=100)
    inside, _ = records_of(tmp_path / "with.ripple")
    outside, _ = records_of(tmp_path / "without.ripple")
    names = [record.value["name"] for record in inside if record.kind is Kind.FILE]
    assert sorted(names)[0] == "frame.wrp" and all(
        name.startswith("frame_modules/") for name in sorted(names)[1:]
    )
    assert not any(record.kind is Kind.FILE for record in outside)
    manifest = next(record for record in outside if record.kind is Kind.CAPTURE).value["manifest"]
    assert manifest["grid"]["width"] == 24  # the recipe is inside all the same


def test_another_kind_of_device_is_compared_within_a_bound(session, frame_capture, tmp_path):
    """The fake stands for a device that rounds otherwise: heights are off by a part in a million."""
    wanted = {}
    records, _ = records_of(session[0])
    final = CheckpointRecord.read(next(r for r in records if r.kind is Kind.CHECKPOINT))
    for name, content in final.kept.items():
        wanted[name] = content.restore(content.nbytes)

    def opener(scale):
        def step(player):
            if player.frames == FRAMES - 1:
                for name in ("heights", "heights_prev"):
                    values = wanted[name].view(np.float32) * np.float32(scale)
                    player.view(name)[:] = values.reshape(16, 24)

        return lambda *_: FakePlayer(frame_capture, step)

    for scale, agrees in ((1 + 1e-6, True), (1 + 1e-2, False)):
        with SessionReader(session[0]) as reader, Playback(reader, opener(scale)) as playback:
            assert len(list(playback.run())) == FRAMES
        assert not playback.exact and (playback.difference is None) == agrees
        assert playback.largest == pytest.approx(scale - 1, rel=0.2)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_the_same_value_that_is_not_finite_hides_no_difference_and_makes_none(value):
    wanted = np.array([value, 2.0, -4.0], np.float32)
    assert _share(wanted, wanted + np.float32([0, 1, 0])) == 0.25
    assert _share(wanted, np.array([value, 2.0, -4.0], np.float64)) == 0.0


@pytest.mark.parametrize("got", [[np.inf, 1], [1, -np.inf], [1, np.nan], [2, np.inf]])
def test_another_pattern_of_what_is_not_finite_is_an_infinite_difference(got):
    wanted = np.array([1, np.inf], np.float32)
    off = np.array(got, np.float32)
    assert _share(wanted, off) == (1.0 if got == [2, np.inf] else np.inf)
    assert _share(off, np.zeros(2, np.float32)) == np.inf


def test_a_player_that_fails_at_the_end_leaves_the_file_closed_and_no_observer(
    frame_capture, tmp_path, monkeypatch
):
    path = tmp_path / "f.ripple"
    recorder = SessionRecorder(path)
    with open_player(frame_capture) as player:
        recorder.follow(player)
        play(player, 3)

        def fails(region):
            raise ReplayError("the device is gone")

        with monkeypatch.context() as patch:
            patch.setattr(player, "_read", fails)
            with pytest.raises(ReplayError, match="the device is gone"):
                recorder.close()
        assert not recorder.recording and recorder not in player.observers
        recorder.close()
    playback, _ = replay(path, frame_capture)
    assert playback.frames == 3 and playback.difference is None


def test_writes_while_paused_are_kept_once_a_region(frame_capture, tmp_path):
    def run(player):
        play(player, 2)
        for value in range(50):
            player.set("heights", np.full((16, 24), value / 1000, np.float32))
            player.set("magnitude", value / 100)
            player.flush()
        (recorder,) = player.observers
        assert len(recorder._writes) == 2
        player.launch()

    path = tmp_path / "g.ripple"
    wanted = record(path, frame_capture, run)
    playback, digests = replay(path, frame_capture)
    assert digests == wanted and playback.difference is None


def test_contents():
    zeros = np.zeros(1000, np.uint8)
    assert Content.of(zeros, zeros).how == "initial"
    assert Content.of(zeros, None).how == "zlib" and len(Content.of(zeros, None).blob) < 50
    np.testing.assert_array_equal(Content.of(zeros + 7, zeros).restore(1000), zeros + 7)
    with pytest.raises(RecordError):
        Content.of(zeros, None).restore(999)


def test_too_large_a_record_is_refused(monkeypatch):
    monkeypatch.setattr(session_format, "MAX_PAYLOAD", 100)
    with pytest.raises(SessionError, match="more than a session can hold"):
        encode(Kind.FRAME, {}, [bytes(200)])


KILLED = """
import sys
from pathlib import Path
from replay.graph.open import open_capture
from replay.players import open_player
from replay.session.recorder import SessionRecorder
recorder = SessionRecorder(Path(sys.argv[2]))
with open_player(open_capture(sys.argv[1])) as player:
    recorder.follow(player)
    for frame in range(1_000_000):
        player.set("mouse_pos", [[frame % 23, frame % 15]])
        player.launch()
        print(player.frames, flush=True)
"""


@pytest.mark.parametrize("after", [1, 37])
def test_a_kill_at_any_moment_loses_the_last_frame_at_most(frame_capture, tmp_path, after):
    path = tmp_path / "killed.ripple"
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", KILLED, str(frame_capture.path), str(path)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as child:
        assert child.stdout is not None
        said = 0
        for line in child.stdout:
            if said == after:
                child.kill()
            if line.endswith("\n"):
                said = int(line)
    playback, _ = replay(path, frame_capture)
    assert playback.ending.cause is Cause.CUT and playback.difference is None
    assert said <= playback.frames <= said + 1


def test_a_state_of_other_regions_is_refused(frame_capture):
    with open_player(frame_capture) as player:
        contents = {region: player.region_bytes(region) for region in frame_capture.regions}
        first = next(iter(contents))
        with pytest.raises(ReplayError, match="does not fit"):
            player.restore_bytes({**contents, first: contents[first][:-1]}, 0)
        player.restore_bytes(contents, 7)
        assert player.frames == 7
