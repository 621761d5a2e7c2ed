"""Heights from CUDA to OpenGL on a GPU: every way shows the same, costs what it may, and ends well."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.view.cuda_gl.choose import WAYS, first_that_works, recover
from app.view.cuda_gl.heights import DeviceHeights
from app.view.cuda_gl.interop import BufferInterop, TextureInterop
from app.view.cuda_gl.pinned import PinnedCopy
from app.view.cuda_gl.shared import SharedTransfer
from app.view.grid import Grid
from app.view.transfer import Prefer, open_transfer
from app.window import Window
from replay.errors import ReplayError
from replay.graph.open import open_capture
from replay.native import import_warp
from replay.players import open_player

pytestmark = pytest.mark.gpu

FrameOf = Callable[..., Path]
ALL_WAYS = [TextureInterop, BufferInterop, SharedTransfer, PinnedCopy]
ROOT = Path(__file__).resolve().parents[2]


def texels(transfer) -> np.ndarray:
    from app.gl_platform import GL

    texture = transfer.texture
    texture.bind(0)
    out = np.empty((texture.height, texture.width), np.float32)
    GL.glGetTexImage(GL.GL_TEXTURE_2D, 0, GL.GL_RED, GL.GL_FLOAT, out)
    return out


def push(player, frame: int) -> None:
    """Push somewhere else with every frame."""
    grid = player.capture.manifest.grid
    player.set("mouse_pos", [(grid.width * (0.3 + 0.01 * frame), grid.height * (0.6 - 0.01 * frame))])


def picture(transfer, grid: Grid) -> np.ndarray:
    from app.view.camera import OrbitCamera
    from app.view.gl_objects import Framebuffer
    from app.view.screenshot import read_pixels
    from app.view.water import WaterView

    camera = OrbitCamera()
    camera.frame_grid(grid, 320 / 240)
    with Framebuffer(320, 240, depth=False) as target:
        view = WaterView(grid.width, grid.height, grid.dx)
        try:
            target.bind()
            view.draw(transfer.texture, camera, (0, 0, 320, 240), None)
            return read_pixels(target.name, (320, 240))
        finally:
            view.close()


@pytest.mark.parametrize("size", [(128, 128), (259, 131)])
def test_all_ways_give_the_same_heights_and_the_same_pixels(
    gl: Window, frame_of: FrameOf, size: tuple[int, int]
) -> None:
    width, height = size
    path = frame_of(width=width, height=height, substeps=16, device="cuda")
    grid, pictures = Grid(width, height), []
    for way in ALL_WAYS:
        with open_player(open_capture(path)) as player:
            with way(DeviceHeights.of_player(player, grid, "heights_out")) as transfer:
                for frame in range(12):
                    push(player, frame)
                    player.launch()
                    transfer.update()
                heights = player.get("heights_out")
                assert np.abs(heights).max() > 0.01
                assert texels(transfer).tobytes() == heights.tobytes(), way.path
                pictures.append(picture(transfer, grid))
    assert pictures[0].std() > 1, "the picture is one colour"
    for way, pixels in zip(ALL_WAYS, pictures, strict=True):
        np.testing.assert_array_equal(pixels, pictures[0], err_msg=way.path)


@pytest.mark.parametrize("way", ALL_WAYS)
def test_a_draw_never_reads_what_the_next_frame_writes(gl: Window, frame_of: FrameOf, way) -> None:
    """Many frames are told to both APIs without a wait; what OpenGL saw of each must be that frame."""
    from app.gl_platform import GL

    side, frames = 1024, 16
    path = frame_of(width=side, height=side, substeps=16, device="cuda")
    grid = Grid(side, side)
    with open_player(open_capture(path)) as player:
        expected = []
        for frame in range(frames):
            push(player, frame)
            player.launch()
            expected.append(player.get("heights_out"))
    sink = GL.glGenBuffers(1)
    GL.glBindBuffer(GL.GL_PIXEL_PACK_BUFFER, sink)
    GL.glBufferData(GL.GL_PIXEL_PACK_BUFFER, frames * grid.width * grid.height * 4, None, GL.GL_STREAM_READ)
    try:
        with open_player(open_capture(path)) as player:
            with way(DeviceHeights.of_player(player, grid, "heights_out")) as transfer:
                for frame in range(frames):
                    push(player, frame)
                    player.launch()
                    transfer.update()
                    transfer.texture.bind(0)
                    offset = ctypes.c_void_p(frame * expected[0].nbytes)
                    GL.glGetTexImage(GL.GL_TEXTURE_2D, 0, GL.GL_RED, GL.GL_FLOAT, offset)
                raw = GL.glGetBufferSubData(GL.GL_PIXEL_PACK_BUFFER, 0, frames * expected[0].nbytes)
                seen = np.frombuffer(raw, np.float32).reshape(frames, side, side)
    finally:
        GL.glBindBuffer(GL.GL_PIXEL_PACK_BUFFER, 0)
        GL.glDeleteBuffers(1, [sink])
    wrong = [frame for frame in range(frames) if seen[frame].tobytes() != expected[frame].tobytes()]
    assert not wrong


def test_the_way_chosen_by_itself_is_interop(gl: Window, frame_of: FrameOf) -> None:
    with open_player(open_capture(frame_of(substeps=16, device="cuda"))) as player:
        with open_transfer(player, Grid(24, 16)) as transfer:
            assert transfer.path == "interop" and "off" not in transfer.reason
        with open_transfer(player, Grid(24, 16), prefer="shared") as transfer:
            assert transfer.path == "shared memory"
        with open_transfer(player, Grid(24, 16), prefer="copy") as transfer:
            assert transfer.path == "pinned copy"


def test_after_a_failed_registration_cuda_works_on(gl: Window, frame_of: FrameOf) -> None:
    class Refused(TextureInterop):
        def _open(self) -> None:
            driver = self._driver
            self._cuda.call(driver.cuGraphicsGLRegisterImage, 987654, 0x0DE1, 2)  # there is no such texture

    with open_player(open_capture(frame_of(substeps=16, device="cuda"))) as player:
        heights = DeviceHeights.of_player(player, Grid(24, 16), "heights_out")
        with pytest.raises(ReplayError, match="cuGraphicsGLRegisterImage"):
            Refused(heights)
        recover(heights.cuda, heights.stream)
        push(player, 0)
        player.launch()
        with first_that_works(heights, (Refused, *WAYS[Prefer.AUTO])) as transfer:
            assert transfer.path == "interop"
            assert "interop off (CUDA error" in transfer.reason
            assert texels(transfer).tobytes() == player.get("heights_out").tobytes()
        wp = import_warp()
        assert wp.zeros(3, dtype=float, device="cuda").numpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize("prefer", ["interop", "shared", "copy"])
def test_a_frame_is_one_launch_and_waits_for_nothing_it_need_not(
    gl: Window, frame_of: FrameOf, prefer: str
) -> None:
    frames = 40
    with open_player(open_capture(frame_of(substeps=16, device="cuda"))) as player:
        with open_transfer(player, Grid(24, 16), prefer=prefer) as transfer:
            calls: Counter[str] = Counter()
            original = player.cuda.call

            def counted(function, *arguments):
                calls[function.__name__] += 1
                return original(function, *arguments)

            player.cuda.call = counted
            for frame in range(frames):
                if frame % 2:
                    push(player, frame)
                player.launch()
                transfer.update()
            for _ in range(frames):  # nothing new: nothing to do
                transfer.update()
            player.cuda.call = original
    writes = frames // 2
    expected = Counter(cuGraphLaunch=frames, cuMemcpyHtoDAsync=writes)
    # a parameter's pinned memory is marked after its copies; it waits only for late ones of four writes ago
    expected += Counter(cuEventRecord=writes)
    if prefer == "interop":
        names = "MapResources SubResourceGetMappedArray UnmapResources"
        expected += Counter({f"cuGraphics{name}": frames for name in names.split()})
        expected += Counter(cuMemcpy2DAsync=frames)
    else:
        copy = "cuMemcpyDtoDAsync" if prefer == "shared" else "cuMemcpyDtoHAsync"
        expected += Counter({copy: frames, "cuEventRecord": frames, "cuEventSynchronize": frames})
    del calls["cuCtxPushCurrent"]
    late = calls["cuEventSynchronize"] - expected["cuEventSynchronize"]
    assert 0 <= late <= writes
    calls["cuEventSynchronize"] -= late
    calls = +calls
    assert calls == expected


def test_fifty_grid_changes_leave_nothing_behind_and_the_last_picture_is_right(
    gl: Window, frame_of: FrameOf
) -> None:
    from app.loop import run_frame
    from app.settings import Settings
    from app.state import App

    sizes = [(128, 128), (64, 200), (301, 77), (256, 256), (33, 47)]
    paths = [frame_of(width=w, height=h, substeps=16, device="cuda") for w, h in sizes]
    app = App(gl, Settings(), device="cuda", config=None)
    app.trust = True  # made here
    free = []
    try:
        for change in range(50):
            app.open(paths[change % len(paths)])
            assert app.transfer is not None and app.transfer.path == "interop"
            for frame in range(2):
                push(app.scene.player, frame)
                run_frame(app, None, None, time.perf_counter, launches=1)
            if change % 10 == 9:
                free.append(free_memory(app.scene.player))
        heights = app.scene.player.get("heights_out")
        assert texels(app.transfer).tobytes() == heights.tobytes()
    finally:
        app.close()
    assert not app.message
    assert free[1] - free[-1] < 16 << 20, f"device memory free after each ten changes: {free}"


def free_memory(player) -> int:
    with player.cuda:
        return int(player.cuda.call(player.cuda.driver.cuMemGetInfo)[0])


@pytest.mark.parametrize("prefer", ["interop", "shared"])
def test_the_app_ends_in_order_and_without_a_complaint(nvidia_window, frame_of: FrameOf, prefer: str) -> None:
    script = f"""
import sys, time
from pathlib import Path
from app.window import open_window
with open_window((200, 150), "end", headless={nvidia_window.headless}, vsync=False) as window:
    from app.loop import run_frame
    from app.settings import Settings
    from app.state import App
    app = App(window, Settings(), device="cuda", config=None)
    app.trust = True  # made here
    try:
        app.open(Path(sys.argv[1]))
        for _ in range(5):
            run_frame(app, None, None, time.perf_counter, launches=1)
        print(app.transfer.path, app.message)
    finally:
        app.close()
print("closed")
"""
    path = frame_of(substeps=16, device="cuda")
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "RIPPLESCOPE_TRANSFER": prefer},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ways = {"interop": "interop", "shared": "shared memory"}
    assert [line.strip() for line in done.stdout.splitlines() if line.strip()][-2:] == [
        ways[prefer],
        "closed",
    ], done.stdout
    assert "Traceback" not in done.stderr and "CUDA error" not in done.stderr, done.stderr
