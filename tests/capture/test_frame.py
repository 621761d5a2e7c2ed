"""Recording and saving: what the files hold, capture hygiene, what a killed or refused recording leaves."""

from __future__ import annotations

import dataclasses
import functools
import gc
import hashlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import warp as wp

from capture.audit import audit
from capture.device import find_device, free_host_memory, size_text
from capture.files import FileSet, digest_of
from capture.frame import FrameSettings, record_frame, record_graph, recording
from capture.lock import locked
from capture.tank import Tank
from replay.errors import DeviceError, RecordingError
from replay.manifest import Manifest, manifest_path, read_manifest_of

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"width": 24, "height": 16, "substeps": 4}


class TestFiles:
    @pytest.mark.parametrize(
        ("solver", "launched"),
        [
            ("tuned", ["displace_box"] + ["solve_strips"] * 16),
            ("reference", ["wave_displace"] + ["wave_solve"] * 16),
            ("fused", ["displace_box"] + ["solve_strips"] * 16),
        ],
    )
    def test_names_sizes_and_launches(
        self, solver: str, launched: list[str], frame_of: Callable[..., Path]
    ) -> None:
        from replay.graph.open import open_capture

        path = frame_of(substeps=16, solver=solver)
        capture = open_capture(path)
        assert [operation.key for operation in capture.operations] == launched
        sizes = {binding.name: capture.regions[binding.region].nbytes for binding in capture.bindings}
        field = 24 * 16 * 4
        # the first three, and the two outputs, are what the published C++ program sets and reads by size
        assert sizes == {
            "heights": field,
            "heights_prev": field,
            "mouse_pos": 8,
            "pointer_from": 8,
            "k_speed": 4,
            "k_damp": 4,
            "radius": 4,
            "magnitude": 4,
            "dt": 4,
            "clock": 4,
            "heights_out": field,
            "heights_prev_out": field,
        }
        assert set(capture.aliases) == {("heights", "heights_out"), ("heights_prev", "heights_prev_out")}
        assert not capture.faults

    def test_manifest(self, frame_of: Callable[..., Path]) -> None:
        path = frame_of(substeps=16)
        manifest = Manifest.read(manifest_path(path))
        assert manifest.wrp_sha256 == digest_of(path)
        assert manifest == read_manifest_of(path, manifest.wrp_sha256)
        assert (manifest.grid.width, manifest.grid.height, manifest.substeps) == (24, 16, 16)
        assert (manifest.warp_version, manifest.device_kind, manifest.carry) == (wp.__version__, "cpu", ())
        assert manifest.solver == "tuned", "the default"
        assert [kernel.key for kernel in manifest.kernels] == ["displace_box", "solve_strips", "solve_cells"]

    def test_odd_substeps_carry(self, frame_of: Callable[..., Path]) -> None:
        manifest = Manifest.read(manifest_path(frame_of(substeps=3)))
        assert manifest.carry == (("heights_out", "heights"), ("heights_prev_out", "heights_prev"))

    def test_file_holds_water_at_rest(self, frame_of: Callable[..., Path]) -> None:
        from replay.graph.open import open_capture

        capture = open_capture(frame_of(substeps=16))
        regions = {name: region for region in capture.regions.values() for name in region.names}

        def contents(name: str, dtype: str) -> list[float]:
            region = regions[name]
            assert region.data_offset is not None
            return np.frombuffer(capture.data, dtype, region.nbytes // 4, region.data_offset).tolist()

        assert not any(contents("heights", "<f4")) and not any(contents("heights_prev", "<f4"))
        assert contents("mouse_pos", "<f4") == contents("pointer_from", "<f4") == [-1000.0, -1000.0]
        assert contents("k_speed", "<f4") == [60.0]
        assert contents("clock", "<i4") == [0]

    def test_replays_as_the_published_program_drives_it(self, frame_of: Callable[..., Path]) -> None:
        """It sets both fields and the pointer each frame and reads both outputs, and knows no other name."""
        graph = wp.capture_load(str(frame_of(substeps=16).with_suffix("")), device="cpu")
        eager = Tank(FrameSettings(**{**SMALL, "substeps": 16}), "cpu")
        now, before = (wp.zeros((16, 24), dtype=float, device="cpu") for _ in range(2))
        for frame in range(20):
            pointer = (12.0, 8.0) if frame == 2 else (-1000.0, -1000.0)
            eager.set("mouse_pos", pointer)
            eager.step()
            graph.set_param("heights", now)
            graph.set_param("heights_prev", before)
            graph.set_param("mouse_pos", wp.array([pointer], dtype=wp.vec2, device="cpu"))
            wp.capture_launch(graph)
            graph.get_param("heights_out", now)
            graph.get_param("heights_prev_out", before)
        assert now.numpy().any()
        np.testing.assert_array_equal(now.numpy(), eager.heights.numpy())

    @pytest.mark.parametrize("name", ["x", "x.wrp", "x.WRP", "x.v2.Wrp", "x.wrp.wrp", "naïve name", "[1]*"])
    def test_names(self, tmp_path: Path, name: str) -> None:
        path = record_frame(FrameSettings(**SMALL), tmp_path / "new" / name, "cpu")
        stem = name[:-4] if name.lower().endswith(".wrp") else name
        assert path == tmp_path / "new" / f"{stem}.wrp"
        assert {entry.name for entry in path.parent.iterdir()} == {
            f"{stem}.wrp",
            f"{stem}.json",
            f"{stem}_modules",
        }
        manifest = read_manifest_of(path, digest_of(path))
        assert manifest is not None
        assert {entry.name for entry in FileSet(path).modules.iterdir()} == set(manifest.modules) != set()

    def test_relative_path_and_replacement(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for substeps in (4, 3):
            path = record_frame(FrameSettings(**{**SMALL, "substeps": substeps}), Path("x"), "cpu")
        assert path == tmp_path / "x.wrp"
        manifest = read_manifest_of(path, digest_of(path))
        assert manifest is not None and manifest.substeps == 3
        assert {entry.name for entry in tmp_path.iterdir()} == {"x.wrp", "x.json", "x_modules"}

    def test_nothing_on_standard_output(self, tmp_path: Path) -> None:
        code = (
            "import sys; from pathlib import Path; from capture.frame import *;"
            f"record_frame(FrameSettings(width=8, height=8), Path({str(tmp_path / 'x')!r}), 'cpu')"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
        )
        assert (done.stdout, done.stderr) == ("", "")


class TestInTheWay:
    """Each is refused before any work, and leaves what is there as it was."""

    def refused(self, output: Path, said: str) -> None:
        root = output.parent
        before = {path: path.read_bytes() if path.is_file() else None for path in root.rglob("*")}
        with pytest.raises(RecordingError) as caught:
            record_frame(FrameSettings(**SMALL), output, "cpu")
        assert said in str(caught.value)
        assert {path: path.read_bytes() if path.is_file() else None for path in root.rglob("*")} == before

    def test_folder_named_like_the_output(self, tmp_path: Path) -> None:
        (tmp_path / "x.wrp").mkdir()
        self.refused(tmp_path / "x", "x.wrp is in the way: it is a folder")

    def test_file_where_a_folder_should_be(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("mine")
        self.refused(tmp_path / "file" / "x", "file is a file, not a folder")
        (tmp_path / "x_modules").write_text("mine")
        self.refused(tmp_path / "x", "x_modules is in the way: it is not a folder")

    def test_json_of_somebody_else(self, tmp_path: Path) -> None:
        (tmp_path / "package.json").write_text('{"name": "mine"}')
        self.refused(tmp_path / "package", "package.json is in the way: it is no manifest of a capture")

    @pytest.mark.parametrize("name", ["__init__.py", "mine.cu", "mine.o"])
    def test_folder_of_somebody_else(self, tmp_path: Path, name: str) -> None:
        (tmp_path / "ker_modules").mkdir()
        (tmp_path / "ker_modules" / name).write_text("// my precious source")
        self.refused(tmp_path / "ker", f"{name!r} in it is no module of a capture recorded here")

    def test_file_of_somebody_else_among_our_modules(self, tmp_path: Path) -> None:
        path = record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        (tmp_path / "x_modules" / "mine.o").write_text("mine")
        self.refused(path, "'mine.o' in it is no module of a capture recorded here")

    def test_modules_whose_manifest_is_gone(self, tmp_path: Path) -> None:
        path = record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        manifest_path(path).unlink()
        self.refused(path, "in it is no module of a capture recorded here")

    @pytest.mark.parametrize("content", [b"", b'{"mine": 1}', b"WRP2"])
    def test_file_that_is_no_capture(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / "bar.wrp").write_bytes(content)
        self.refused(tmp_path / "bar", "bar.wrp is in the way: it is no capture")

    @pytest.mark.parametrize("name", ["x.wrp", "x.json", "x.json.next", "x_modules"])
    @pytest.mark.parametrize("target", ["there", "nowhere"])
    def test_symbolic_link(self, tmp_path: Path, name: str, target: str) -> None:
        (tmp_path / "there").mkdir() if name == "x_modules" else (tmp_path / "there").write_bytes(b"WRP1")
        (tmp_path / name).symlink_to(target)
        said = "is not a folder" if name == "x_modules" else "is a symbolic link"
        self.refused(tmp_path / "x", f"{name} is in the way: it {said}")
        assert (tmp_path / name).is_symlink()

    def test_what_came_in_the_way_meanwhile(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        save = wp.capture_save

        def and_somebody_else_saves(*args: object, **kwargs: object) -> None:
            save(*args, **kwargs)
            (tmp_path / "x.json").write_text("mine")

        monkeypatch.setattr(wp, "capture_save", and_somebody_else_saves)
        with pytest.raises(RecordingError, match=r"x\.json is in the way"):
            record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
        assert (tmp_path / "x.json").read_text() == "mine"

    @pytest.mark.skipif(
        not Path("/proc/self").is_dir(), reason="needs /proc, a folder that nobody can write to"
    )
    def test_folder_not_writable(self) -> None:
        with pytest.raises(RecordingError, match=r"the folder /proc is not writable|needs .* on disk"):
            record_frame(FrameSettings(**SMALL), Path("/proc/x"), "cpu")

    def test_folder_is_no_file_name(self, tmp_path: Path) -> None:
        (tmp_path / "waves").mkdir()
        self.refused(tmp_path / "waves", "waves is a folder; give a file in it, such as")

    def test_long_name(self, tmp_path: Path) -> None:
        self.refused(tmp_path / ("a" * 201), "is too long")

    @pytest.mark.parametrize("name", ["", ".", "/", ".wrp", ".WRP", "..", "../..", "a\0b", "a\0b/x"])
    def test_no_file_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
        monkeypatch.chdir(tmp_path)
        with pytest.raises(RecordingError, match=r"names no file|is a folder"):
            record_frame(FrameSettings(**SMALL), Path(name), "cpu")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("d/" * 2500 + "x", "File name too long"),
            ("n" * 300 + "/x", "File name too long"),
            ("caf\udce9", r"caf\xe9 is not UTF-8"),
            ("caf\udce9/x", "is not UTF-8"),
        ],
    )
    def test_path_that_no_file_can_have(self, tmp_path: Path, name: str, said: str) -> None:
        with pytest.raises(RecordingError) as caught:
            record_frame(FrameSettings(**SMALL), tmp_path / name, "cpu")
        assert said in str(caught.value)
        assert len(str(caught.value)) < 400 and str(caught.value).isprintable()
        assert not list(tmp_path.iterdir())

    def test_no_room_on_disk(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 100}))
        with pytest.raises(RecordingError, match=r"needs 3\.0 KiB on disk, 100 bytes are free"):
            record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")

    def test_failed_save_leaves_the_old_capture(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        before = {entry: entry.read_bytes() for entry in tmp_path.rglob("*") if entry.is_file()}

        def fail(*args: object, **kwargs: object) -> None:
            raise RuntimeError("disk on fire")

        monkeypatch.setattr(wp, "capture_save", fail)
        with pytest.raises(RecordingError, match="disk on fire"):
            record_frame(FrameSettings(**{**SMALL, "substeps": 2}), path, "cpu")
        assert {entry: entry.read_bytes() for entry in tmp_path.rglob("*") if entry.is_file()} == before


class TestHygiene:
    def test_exception_inside_ends_the_capture(self) -> None:
        tank = Tank(FrameSettings(**SMALL), "cpu")
        with pytest.raises(KeyError, match="mine"), recording(tank.device):
            tank.launch_frame()
            raise KeyError("mine")
        assert gc.isenabled()
        tank.set("mouse_pos", (12.0, 8.0))
        tank.step()
        assert tank.heights.numpy().any(), "later launches must run"
        record_graph(tank)

    def test_collector_rests_and_keeps_its_state(self) -> None:
        tank = Tank(FrameSettings(**SMALL), "cpu")
        with recording(tank.device):
            assert not gc.isenabled()
        gc.disable()
        try:
            with recording(tank.device):
                pass
            assert not gc.isenabled()
        finally:
            gc.enable()

    def test_main_thread_only(self) -> None:
        errors: list[BaseException] = []

        def work() -> None:
            try:
                record_graph(Tank(FrameSettings(**SMALL), "cpu"))
            except RecordingError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert "main thread" in str(errors[0])

    def test_capture_within_a_capture_is_refused(self) -> None:
        tank = Tank(FrameSettings(**SMALL), "cpu")
        with recording(tank.device) as graphs:
            with pytest.raises(RecordingError, match="already in progress"):
                record_graph(tank)
            tank.launch_frame()
        assert graphs
        tank.step()
        assert tank.arrays["clock"].numpy().tolist() == [1]

    def test_nothing_is_compiled_loaded_or_allocated_inside(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tank = Tank(FrameSettings(**SMALL), "cpu")
        loads: list[str] = []
        module = type(tank.solver.kernels()[0].module)
        monkeypatch.setattr(module, "_compile", lambda self, *args, **kwargs: loads.append(self.name))
        with audit(watch={"tank": tank}) as report:
            record_graph(tank)
        assert not report.findings, report.text()
        assert not loads


class TestDevice:
    def test_names(self) -> None:
        assert find_device("cpu").alias == "cpu"
        assert find_device("auto").alias in ("cpu", "cuda:0")

    @pytest.mark.parametrize(
        "name", ["", "gpu", "CPU", "cuda:", "cuda:x", "cuda:-1", "cpu:0", "cuda:1:2", "cuda:²"]
    )
    def test_unknown(self, name: str) -> None:
        with pytest.raises(DeviceError, match="unknown device"):
            find_device(name)

    def test_absent(self) -> None:
        with pytest.raises(DeviceError, match=r"no CUDA device|CUDA devices"):
            find_device("cuda:99")

    def test_free_memory(self) -> None:
        free = free_host_memory()
        assert free is None or free > 1 << 20
        assert [size_text(n) for n in (12, 2048, 3 << 29)] == ["12 bytes", "2.0 KiB", "1.5 GiB"]


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from capture.files import FileSet, digest_of
at, count = {at}, 0

def dying(original):
    def call(*args, **kwargs):
        global count
        if count == at:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return original(*args, **kwargs)
    return call

files = FileSet.at(Path({path!r}))
with files.staging() as staged:
    staged.wrp.write_bytes(b"WRP1new")
    staged.manifest.write_text(Path({manifest!r}).read_text())
    staged.modules.mkdir()
    for name in ("both_1.o", "new_2.o"):
        (staged.modules / name).write_bytes(b"module")
    for name in ("replace", "mkdir", "unlink"):
        setattr(Path, name, dying(getattr(Path, name)))
    files.publish(staged)
print("done")
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
class TestKilled:
    """A process killed before any of the steps of publishing leaves the old capture whole, or the new one."""

    @staticmethod
    def manifest_for(wrp: bytes, path: Path, template: Path, modules: tuple[str, ...]) -> None:
        digest = hashlib.sha256(wrp).hexdigest()
        manifest = Manifest.read(manifest_path(template))
        dataclasses.replace(manifest, wrp_sha256=digest, modules=modules).write(path)

    @pytest.mark.parametrize("old", [False, True])
    def test_at_every_step(self, tmp_path: Path, frame_of: Callable[..., Path], old: bool) -> None:
        new_manifest = tmp_path / "new.json"
        self.manifest_for(b"WRP1new", new_manifest, frame_of(), ("both_1.o", "new_2.o"))
        states = []
        for at in range(16):
            folder = tmp_path / str(at)
            files = FileSet(folder / "x.wrp")
            folder.mkdir()
            if old:
                files.wrp.write_bytes(b"WRP1old")
                self.manifest_for(b"WRP1old", files.manifest, frame_of(), ("both_1.o", "old_2.o"))
                files.modules.mkdir()
                for name in ("both_1.o", "old_2.o"):
                    (files.modules / name).write_bytes(b"module")
            code = KILLED.format(root=str(ROOT), at=at, path=str(files.wrp), manifest=str(new_manifest))
            done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            assert done.returncode in (0, -signal.SIGKILL), done.stderr
            wrp = files.wrp.read_bytes() if files.wrp.exists() else b""
            states.append(wrp)
            if wrp:
                assert read_manifest_of(files.wrp, hashlib.sha256(wrp).hexdigest()) is not None
                for name in ("both_1.o", f"{wrp[4:].decode()}_2.o"):
                    assert (files.modules / name).read_bytes() == b"module"
            else:
                assert not old
            files.check(100)  # a later recording is not refused
            with files.staging() as staged:
                staged.wrp.write_bytes(b"WRP1third")
                self.manifest_for(b"WRP1third", staged.manifest, frame_of(), ("third_2.o",))
                staged.modules.mkdir()
                (staged.modules / "third_2.o").write_bytes(b"module")
                files.publish(staged)
            assert {path.name for path in folder.iterdir()} == {"x.wrp", "x.json", "x_modules"}
            assert [path.name for path in files.modules.iterdir()] == ["third_2.o"]
            if done.returncode == 0:
                break
        else:
            pytest.fail("publishing never came to its end")
        assert states[0] == (b"WRP1old" if old else b"")
        assert states[-1] == b"WRP1new"
        assert len(states) >= 6

    def test_while_warp_saves(self, tmp_path: Path) -> None:
        path = record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        before = {entry: entry.read_bytes() for entry in tmp_path.rglob("*") if entry.is_file()}
        code = (
            "import os, signal; from pathlib import Path; import warp as wp; from capture.frame import *;"
            "save = wp.capture_save;"
            "wp.capture_save = lambda *a, **k: (save(*a, **k), os.kill(os.getpid(), signal.SIGKILL));"
            f"record_frame(FrameSettings(width=8, height=8), Path({str(path)!r}), 'cpu')"
        )
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
        assert done.returncode == -signal.SIGKILL
        visible = [entry for entry in tmp_path.rglob("*") if ".x-staging-" not in str(entry)]
        assert {entry: entry.read_bytes() for entry in visible if entry.is_file()} == before
        record_frame(FrameSettings(**SMALL), path, "cpu")
        assert {entry.name for entry in tmp_path.iterdir()} == {"x.wrp", "x.json", "x_modules"}


class TestLock:
    """Who publishes holds a lock file of our own; nobody waits for one forever."""

    @pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be locked there")
    def test_a_locked_folder_does_not_matter(self, tmp_path: Path) -> None:
        import fcntl

        handle = os.open(tmp_path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        finally:
            os.close(handle)
        assert {entry.name for entry in tmp_path.iterdir()} == {"x.wrp", "x.json", "x_modules"}

    def test_a_holder_that_does_not_end_is_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("capture.files.locked", functools.partial(locked, longest_wait=0.1))
        with locked(tmp_path / ".x.lock"):
            with pytest.raises(
                RecordingError, match=r"another process holds .*\.x\.lock for more than 0\.1 s"
            ):
                record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
            assert [entry.name for entry in tmp_path.iterdir()] == [".x.lock"]
        record_frame(FrameSettings(**SMALL), tmp_path / "x", "cpu")
        assert not (tmp_path / ".x.lock").exists()

    def test_one_at_a_time(self, tmp_path: Path) -> None:
        inside, most, entered = 0, 0, 0

        def work() -> None:
            nonlocal inside, most, entered
            for _ in range(20):
                with locked(tmp_path / "lock"):
                    inside += 1
                    most, entered = max(most, inside), entered + 1
                    time.sleep(0.001)
                    inside -= 1

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (most, entered) == (1, 80)
        assert not list(tmp_path.iterdir())


class TestTogether:
    """Captures to one output at once, and readers of it meanwhile."""

    def test_two_recordings_and_a_reader(self, tmp_path: Path) -> None:
        from replay.graph.open import open_capture

        code = (
            "import sys; from pathlib import Path; from capture.frame import *\n"
            "for turn in range(6):\n"
            "    side, solver = ((8, 'reference'), (12, 'tuned'))[(turn + int(sys.argv[1])) % 2]\n"
            "    settings = FrameSettings(width=side, height=8, solver=solver)\n"
            f"    record_frame(settings, Path({str(tmp_path / 'x')!r}), 'cpu')"
        )
        record_frame(FrameSettings(width=8, height=8, solver="reference"), tmp_path / "x", "cpu")
        writers = [
            subprocess.Popen([sys.executable, "-c", code, turn], cwd=ROOT, stderr=subprocess.PIPE, text=True)
            for turn in "01"
        ]
        seen = set()
        while any(writer.poll() is None for writer in writers):
            capture = open_capture(tmp_path / "x.wrp")
            assert not capture.faults
            assert capture.manifest is not None
            width, solver = capture.manifest.grid.width, capture.manifest.solver
            assert (width, solver) in ((8, "reference"), (12, "tuned"))
            seen.add(width)
        for writer in writers:
            assert (writer.communicate()[1], writer.returncode) == ("", 0)
        assert seen == {8, 12}
        assert {entry.name for entry in tmp_path.iterdir()} == {"x.wrp", "x.json", "x_modules"}
        manifest = read_manifest_of(tmp_path / "x.wrp", digest_of(tmp_path / "x.wrp"))
        assert manifest is not None
        assert {entry.name for entry in (tmp_path / "x_modules").iterdir()} == set(manifest.modules)
