"""What a frame of the whole app asks of the GPU in a free run, counted call by call and by the profiler."""

from __future__ import annotations

import ctypes
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.bench.calls import Calls
from app.bench.view import _running
from app.window import Window

pytestmark = pytest.mark.gpu

FrameOf = Callable[..., Path]
SIDE = 128
_DRIVER_API, _ENTER = 1, 0


@pytest.fixture
def three_frames(gl: Window, frame_of: FrameOf) -> tuple[Calls, Calls, Calls]:
    path = frame_of(width=SIDE, height=SIDE, substeps=16, device="cuda")
    with _running(gl, path, "cuda") as (app, frames):
        assert app.transfer is not None and app.transfer.path == "interop"
        return frames.calls()


def test_an_ordinary_frame_is_one_launch_and_one_copy_on_the_device_and_no_wait(
    three_frames: tuple[Calls, Calls, Calls],
) -> None:
    usual, _, _ = three_frames
    assert usual.launches == usual.count["cuGraphLaunch"] == 1, usual
    assert usual.copies == usual.count["cuMemcpy2DAsync"] == 1, usual
    assert usual.nbytes == {"device to texture": 4 * SIDE * SIDE}, usual
    assert usual.waits == {}, usual


def test_a_moved_pointer_costs_a_copy_of_eight_bytes_for_each_of_its_two_places(
    three_frames: tuple[Calls, Calls, Calls],
) -> None:
    _, moved, _ = three_frames
    assert moved.launches == 1, moved
    copies = moved.count["cuMemcpyHtoDAsync"]
    assert 1 <= copies <= 2 and moved.copies == 1 + copies, moved
    assert moved.nbytes == {"device to texture": 4 * SIDE * SIDE, "host to device": 8 * copies}, moved
    assert moved.waits == {}, moved


def test_nothing_is_asked_of_cuda_while_paused(three_frames: tuple[Calls, Calls, Calls]) -> None:
    _, _, paused = three_frames
    assert not paused.of_cuda(), paused
    assert paused.waits == {}, paused


def test_the_profiler_sees_the_same_calls(gl: Window, frame_of: FrameOf) -> None:
    path = frame_of(width=SIDE, height=SIDE, substeps=16, device="cuda")
    with _running(gl, path, "cuda") as (_, frames):
        usual, _, _ = frames.calls()
        frames.with_panels(2)
        seen = []
        with driver_calls() as count:
            for _ in range(45):
                frames._frame(frames._gui, frames._desk)
                gl.finish()
                seen.append(frozenset((name, number) for name, number in count.items() if _works(name)))
                count.clear()
        ordinary = dict(Counter(seen).most_common(1)[0][0])
    expected = {
        name: number for name, number in usual.count.items() if not name.startswith("gl") and _works(name)
    }
    assert {_plain(name): number for name, number in ordinary.items()} == expected


def _works(name: str) -> bool:
    """Whether a call of the driver has work, or a wait, for the device."""
    return any(
        part in name for part in ("Launch", "Memcpy", "Memset", "Synchronize", "MapResources", "EventRecord")
    )


def _plain(name: str) -> str:
    """A function's name without its version, and without what says which default stream it takes."""
    return name.removesuffix("_ptsz").removesuffix("_v2")


@contextmanager
def driver_calls() -> Iterator[Counter[str]]:
    """Count the functions of the driver that anyone in this process enters, by a callback of CUPTI."""
    folders = [Path("/usr/local/cuda"), *(Path(folder) / "nvidia" for folder in sys.path if folder)]
    found = [path for folder in folders if folder.is_dir() for path in sorted(folder.rglob("libcupti.so*"))]
    if not found:
        pytest.skip("there is no CUPTI here")
    cupti = ctypes.CDLL(str(found[0]))
    count: Counter[str] = Counter()

    class CallbackData(ctypes.Structure):
        _fields_ = [("site", ctypes.c_int), ("function", ctypes.c_char_p)]

    @ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.POINTER(CallbackData))
    def note(_: int, domain: int, which: int, data: ctypes._Pointer[CallbackData]) -> None:
        if data.contents.site == _ENTER and data.contents.function:
            count[data.contents.function.decode()] += 1

    subscriber = ctypes.c_void_p()
    status = cupti.cuptiSubscribe(ctypes.byref(subscriber), note, None)
    if status:
        pytest.skip(f"CUPTI does not work here (error {status})")
    try:
        assert cupti.cuptiEnableDomain(1, subscriber, _DRIVER_API) == 0
        yield count
    finally:
        cupti.cuptiUnsubscribe(subscriber)
