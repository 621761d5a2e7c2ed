"""What the whole process needs frame by frame, the memory of OpenGL and ImGui included.

Python's own objects are held more sharply in test_loop.py. For many more frames than a test has time for:

    PYTHONPATH=.:tests/app python tests/app/test_desktop_memory.py CAPTURE.wrp 20000
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FRAMES, WARM_UP = 600, 300
BYTES = 4096
"""A frame may add so much at most. Pages and allocators make a few hundred bytes of noise over 600 frames;
the smallest thing that is made anew with a frame, the picture of the panels, would be 77 kB."""


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def grow(path: Path, frames: int, *, say: bool = False) -> float:
    """Run a window with panels, waves and a moving pointer; return the bytes a frame adds."""
    from app_rig import running_app

    from app.scene import open_scene
    from app.view.options import Mode, Quality
    from app.window import PointerMoved

    with running_app(open_scene(path, "cpu").player, size=(160, 120)) as rig:
        app = rig.app
        app.lab.history.max_frames = 60
        app.water.options.quality = Quality.LOW

        def run(count: int) -> None:
            for _ in range(count):
                number = app.frame
                if number % 30 == 0:
                    columns, rows = app.scene.grid.width, app.scene.grid.height
                    app.push.press((number * 7 % columns, number * 5 % rows))
                    app.push.release()
                if number % 200 == 0:
                    modes = list(Mode)
                    app.water.options.mode = modes[number // 200 % len(modes)]
                rig.frame(PointerMoved(number * 3 % 160, number % 120))

        run(WARM_UP)
        gc.collect()
        before = resident()
        for part in range(10):
            run(frames // 10)
            if say:
                gc.collect()
                grown = (resident() - before) / ((part + 1) * (frames // 10))
                print(
                    f"{app.frame} frames, {resident() / 2**20:.1f} MiB, {grown:.0f} bytes a frame", flush=True
                )
        gc.collect()
        assert app.log.text() == ""
        return (resident() - before) / frames


@pytest.mark.skipif(
    not Path("/proc/self/statm").is_file(), reason="the system does not tell what is resident"
)
def test_a_frame_leaves_nothing_behind(frame_path):
    """In a process of its own, where nothing else grows."""
    done = subprocess.run(
        [sys.executable, __file__, str(frame_path), str(FRAMES)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests" / "app")))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    if "DisplayError" in done.stderr:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.split()[-1]) < BYTES, done.stdout


if __name__ == "__main__":
    print(grow(Path(sys.argv[1]), int(sys.argv[2]), say=True))
