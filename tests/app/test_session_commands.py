"""Recording, replay and export as a user types them, on the CPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.cli import main
from replay.graph.open import open_capture
from replay.players import open_player
from replay.session.format import Kind, SessionReader

ROOT = Path(__file__).parents[2]
FRAMES = 30


def record(frame_path, path, *options):
    """Record a headless run with two clicks and a parameter."""
    words = [str(frame_path), "--headless", "--top-view", "--frames", str(FRAMES), "--click", "6,5@2"]
    words += ["--click", "17,11@9", "--param", "k_speed=45", "--record-session", str(path), *options]
    assert main(words) == 0
    return path


@pytest.fixture(scope="module")
def session(frame_path, tmp_path_factory):
    return record(frame_path, tmp_path_factory.mktemp("session") / "a.ripple")


def heights_after(frame_path, frames):
    """The same run without any session: heights after each frame."""
    fields = []
    with open_player(open_capture(frame_path)) as player:
        player.set("k_speed", 45.0)
        for frame in range(frames):
            cell = {2: (6.0, 5.0), 9: (17.0, 11.0)}.get(frame, (-1000.0, -1000.0))
            player.set("mouse_pos", [cell])
            player.set("pointer_from", [[-1000.0, -1000.0]])
            player.launch()
            fields.append(player.get("heights"))
    return np.array(fields)


def test_a_recorded_run_replays_and_says_so(session, capsys):
    assert main(["replay", str(session)]) == 0
    text = capsys.readouterr().out
    assert f"replayed  {FRAMES} frames on cpu" in text and "equal     bit for bit" in text
    assert main(["replay", str(session), "--digest-only"]) == 0
    digest = capsys.readouterr().out
    assert digest.startswith("digest    ") and digest in text and digest.count("\n") == 1


def test_the_window_records_what_the_top_view_records(frame_path, tmp_path, session, capsys):
    """Headless through the real frame loop, with OpenGL: the same digest, and the camera is inside."""
    path = tmp_path / "gl.ripple"
    picture = tmp_path / "gl.png"
    words = [str(frame_path), "--headless", "--frames", str(FRAMES), "--click", "6,5@2", "--click", "17,11@9"]
    words += ["--param", "k_speed=45", "--size", "160x120", "--screenshot", str(picture)]
    assert main([*words, "--record-session", str(path)]) == 0
    capsys.readouterr()
    assert main(["replay", str(path), "--digest-only"]) == 0
    first = capsys.readouterr().out
    assert main(["replay", str(session), "--digest-only"]) == 0
    assert capsys.readouterr().out == first
    with SessionReader(path) as reader:
        cameras = [
            r.value["camera"] for r in reader.records() if r.kind is Kind.FRAME and "camera" in r.value
        ]
    assert len(cameras) == 1 and len(cameras[0]) == 7


def test_a_cut_session_replays_as_far_as_it_goes(session, tmp_path, capsys):
    path = tmp_path / "cut.ripple"
    with SessionReader(session) as reader:
        frames = [record.offset for record in reader.records() if record.kind is Kind.FRAME]
    path.write_bytes(session.read_bytes()[: frames[20] + 5])
    assert main(["replay", str(path)]) == 0
    said = capsys.readouterr()
    assert f"cut in the record at byte {frames[20]}; replayed the 20 frames before that" in said.err
    assert "replayed  20 frames" in said.out and "equal     bit for bit, 20 comparisons" in said.out


def test_a_damaged_session_is_exit_2(session, tmp_path, capsys):
    path = tmp_path / "damaged.ripple"
    data = bytearray(session.read_bytes())
    with SessionReader(session) as reader:
        frames = [record.offset for record in reader.records() if record.kind is Kind.FRAME]
    data[frames[7] + 20] ^= 4
    path.write_bytes(data)
    assert main(["replay", str(path)]) == 2
    said = capsys.readouterr()
    assert f"damaged at byte {frames[7]}" in said.err and "replayed  7 frames" in said.out


def test_another_outcome_is_exit_1_and_names_the_frame(session, tmp_path, capsys, monkeypatch):
    from replay.session import playback

    checks = iter(range(FRAMES + 1))
    check_of = playback.check_of
    monkeypatch.setattr(playback, "check_of", lambda player: check_of(player) ^ (next(checks) >= 12))
    assert main(["replay", str(session)]) == 1
    assert "frame 12 differs" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["replay", "gone.ripple"], "No such file"),
        (["replay", "{frame}"], "is no session"),
        (["replay", "{session}", "--device", "tpu"], "unknown device"),
        (["replay", "{session}", "--graph", "{other}"], "is not the capture of this session"),
        (["export", "{session}", "--mp4", "x.avi"], "is not a .mp4"),
        (["export", "{session}", "--npz", "gone/x.npz"], "there is no folder"),
        (["export", "{session}", "--npz", "x.npz", "--frames", "30:"], "no frames 30: (the session has 30,"),
        (
            ["export", "{session}", "--npz", "x.npz", "--frames", "40:50"],
            "no frames 40:50 (the session has 30,",
        ),
        (["export", "{session}", "--npz", "x.npz", "--frames", "7"], "is no range"),
        (["export", "{session}", "--npz", "x.npz", "--fps", "0"], "is no frame rate"),
        (["export", "{session}", "--png-dir", "{full}"], "is not empty"),
        (["export", "{session}"], "required"),
        (["--headless", "{frame}", "--record-session", "{session}"], "never overwritten"),
        (["--smoke", "--record-session", "y.ripple"], "--record-session has no use"),
        (["--headless", "{session}"], "is a session; replay it with 'ripplescope replay'"),
        (["--smoke", "{session}"], "is a session; replay it with 'ripplescope replay'"),
    ],
)
def test_bad_input_is_one_line(words, text, session, frame_path, frame_of, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full/a").touch()
    places = {
        "session": session,
        "frame": frame_path,
        "full": tmp_path / "full",
        "other": frame_of(width=20, height=18),
    }
    before = session.read_bytes()
    assert main([word.format(**places) for word in words]) == 2
    error = capsys.readouterr().err
    assert text in error and error.count("\n") == 1
    assert session.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["full"]


def test_the_capture_in_the_session_serves_where_the_recorded_one_is_gone(
    frame_path, tmp_path, capsys, monkeypatch
):
    """As for who gets a session by mail; the same capture was recorded here, so nobody is asked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "gone"
    shutil.copytree(frame_path.parent, folder)
    path = record(folder / "frame.wrp", tmp_path / "a.ripple")
    capsys.readouterr()
    shutil.rmtree(folder)
    assert main(["replay", str(path)]) == 0
    text = capsys.readouterr().out
    assert "inside the session" in text and "equal     bit for bit" in text
    monkeypatch.setenv("RIPPLESCOPE_DATA_DIR", str(tmp_path / "nobody"))  # an installation that knows nothing
    monkeypatch.setattr("app.trust._recorded_now", set())
    assert main(["replay", str(path)]) == 2
    assert "was not recorded here" in capsys.readouterr().err
    assert main(["replay", str(path), "--trust"]) == 0


def test_a_capture_that_changed_is_told(frame_path, frame_of, tmp_path, capsys, monkeypatch):
    """The file at the recorded place is another one, and the session holds none."""
    from replay.session import recorder

    monkeypatch.setattr(recorder, "EMBED_LIMIT", 0)
    monkeypatch.setattr(recorder.SessionRecorder.__init__, "__kwdefaults__", {"embed_limit": 0})
    folder = tmp_path / "frame"
    shutil.copytree(frame_path.parent, folder)
    path = record(folder / "frame.wrp", tmp_path / "a.ripple")
    shutil.rmtree(folder)
    shutil.copytree(frame_of(width=20, height=18).parent, folder)
    capsys.readouterr()
    assert main(["replay", str(path)]) == 2
    error = capsys.readouterr().err
    assert "not inside it" in error and "another one now" in error and "--graph" in error
    assert main(["replay", str(path), "--graph", str(frame_path)]) == 0


def test_names_of_files_in_a_session_lead_nowhere_else(session, tmp_path, capsys, monkeypatch):
    """A session that would write outside its folder is refused, and writes nothing."""
    from replay.session.format import encode, file_head

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with SessionReader(session) as reader:
        records = list(reader.records())
    for name in ("../evil.wrp", "/tmp/evil.wrp", "a/b/c.wrp", "a\\b.wrp", "c:x.wrp"):
        parts = []
        for found in records:
            value = dict(found.value)
            if found.kind is Kind.CAPTURE:
                value |= {
                    "path": str(tmp_path / "gone.wrp"),
                    "files": {name: next(iter(value["files"].values()))},
                }
            parts.append(encode(found.kind, value, found.blobs))
        path = tmp_path / "evil.ripple"
        path.write_bytes(file_head() + b"".join(parts))
        assert main(["replay", str(path)]) == 2
        assert "is no place for a file" in capsys.readouterr().err
    assert not list(tmp_path.rglob("evil.wrp")) and not Path("/tmp/evil.wrp").exists()


def test_the_picture_of_a_replay(session, tmp_path):
    path = tmp_path / "last.png"
    assert main(["replay", str(session), "--screenshot", str(path), "--size", "120x90"]) == 0
    pixels = np.asarray(Image.open(path))
    assert pixels.shape == (90, 120, 3) and pixels.std() > 5


def test_heights_are_those_of_the_run(session, frame_path, tmp_path):
    wanted = heights_after(frame_path, FRAMES)
    assert main(["export", str(session), "--npz", str(tmp_path / "h.npz")]) == 0
    with np.load(tmp_path / "h.npz") as held:
        np.testing.assert_array_equal(held["heights"], wanted)
        assert held["heights"].dtype == np.float32 and held["frame"].tolist() == list(range(FRAMES))
        assert float(held["dt"]) == pytest.approx(1 / 60) and float(held["dx"]) == pytest.approx(0.1)
    words = ["--npz", str(tmp_path / "part.npz"), "--frames", "5:20", "--fps", "30"]
    assert main(["export", str(session), *words]) == 0
    with np.load(tmp_path / "part.npz") as held:
        assert held["frame"].tolist() == list(range(5, 20, 2))
        np.testing.assert_array_equal(held["heights"], wanted[5:20:2])


@pytest.mark.parametrize("options", [(), ("--top-view",)])
def test_a_film_reads_back(session, tmp_path, options):
    """Odd sides become even; the decoded pictures are those that a PNG export gives, but for compression."""
    import av

    film = tmp_path / "film.mp4"
    assert main(["export", str(session), "--mp4", str(film), "--size", "161x121", *options]) == 0
    pictures = tmp_path / "pictures"
    assert main(["export", str(session), "--png-dir", str(pictures), "--size", "161x121", *options]) == 0
    names = sorted(path.name for path in pictures.iterdir())
    assert names == [f"frame-{index:06d}.png" for index in range(FRAMES)]
    with av.open(str(film)) as container:
        stream = container.streams.video[0]
        assert (stream.width, stream.height, stream.average_rate) == (162, 122, 60)
        assert stream.codec_context.name == "h264" and stream.codec_context.pix_fmt == "yuv420p"
        assert float(stream.duration * stream.time_base) == pytest.approx(FRAMES / 60)
        decoded = [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]
    assert len(decoded) == FRAMES
    for index in (0, 12, FRAMES - 1):
        picture = np.asarray(Image.open(pictures / names[index])).astype(int)
        assert picture.shape == (121, 161, 3)
        assert np.abs(decoded[index][:121, :161].astype(int) - picture).mean() < 8
    assert np.abs(decoded[2].astype(int) - decoded[FRAMES - 1]).mean() > 0.3


def test_an_interrupted_export_leaves_nothing(session, tmp_path):
    """Ended in the middle, in a process of its own: by SIGTERM, which counts where SIGINT is ignored too."""
    film = tmp_path / "out" / "film.mp4"
    film.parent.mkdir()
    command = [sys.executable, "-m", "app", "export", str(session), "--mp4", str(film), "--top-view"]
    command += ["--size", "1600x1200"]  # long enough that the signal comes in the middle
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as child:
        assert child.stderr is not None
        assert child.stderr.readline().startswith("frame ")
        child.terminate()
        said = child.stderr.read()
    assert child.returncode == 130 and "interrupted" in said
    assert list(film.parent.iterdir()) == []


@pytest.mark.parametrize("kind", ["mp4", "npz", "png"])
def test_a_failed_export_leaves_nothing(session, tmp_path, kind, monkeypatch):
    from app.export import run as export_run
    from app.export.run import ExportPlan, export_session
    from app.sessions import SessionOpener

    def stop(done, total):
        if done == 10:
            raise KeyboardInterrupt

    folder = tmp_path / "out"
    folder.mkdir()
    plan = ExportPlan(kind, folder / f"x.{kind}", (64, 48), top_view=True)
    with pytest.raises(KeyboardInterrupt):
        export_session(session, plan, SessionOpener(), stop)
    assert list(folder.iterdir()) == []
    assert export_run.count_frames(session) == FRAMES


def test_a_session_of_a_killed_window_is_whole_up_to_its_last_frame(frame_path, tmp_path, capsys):
    path = tmp_path / "killed.ripple"
    command = [
        sys.executable,
        "-m",
        "app",
        str(frame_path),
        "--headless",
        "--top-view",
        "--frames",
        "1000000",
    ]
    command += ["--click", "6,5@2", "--record-session", str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment) as child:
        started = time.monotonic()
        while not path.exists() or path.stat().st_size < 60_000:
            assert child.poll() is None and time.monotonic() - started < 60
            time.sleep(0.02)
        child.kill()
    assert main(["replay", str(path)]) == 0
    said = capsys.readouterr()
    assert "was not closed" in said.err or "is cut" in said.err
    assert "equal     bit for bit" in said.out


def test_the_session_of_another_device_says_what_is_compared(session, frame_path, tmp_path, capsys):
    """A session that claims another device kind, replayed with a capture for this one."""
    from replay.session.format import encode, file_head

    with SessionReader(session) as reader:
        records = list(reader.records())
    parts = []
    for found in records:
        value = dict(found.value)
        if found.kind is Kind.CAPTURE:
            value |= {"device": "cuda:0", "device_name": "Some GPU", "sha256": "1" * 64}
        parts.append(encode(found.kind, value, found.blobs))
    path = tmp_path / "gpu.ripple"
    path.write_bytes(file_head() + b"".join(parts))
    assert main(["replay", str(path), "--device", "cpu", "--graph", str(frame_path)]) == 0
    text = capsys.readouterr().out
    assert "recorded on cuda:0 (Some GPU)" in text and "promised only for the same capture" in text
