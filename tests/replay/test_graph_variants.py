"""Different kernels under one name: what is told of them is what a replay then does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp

from replay.graph.check_variants import FIELD, _compiled
from replay.graph.model import Capture, Severity
from replay.graph.open import open_capture
from replay.players import open_player


def factor(amount: float, key: str | None = None) -> wp.Kernel:
    """Return a closure; those of different amounts differ in code alone."""

    def scale_by(x: wp.array[float]):
        i = wp.tid()
        x[i] = x[i] * wp.static(amount)

    return wp.Kernel(scale_by, key=key, module=wp.get_module("variants"))


@wp.kernel(module="variants_generic")
def add_one(x: wp.array[Any]):
    i = wp.tid()
    x[i] = x[i] + x.dtype(1)


def _record(path: Path, body: Callable[[], object], **arrays: wp.array) -> Capture:
    with wp.ScopedDevice("cpu"):
        body()  # loads the modules
        for array in arrays.values():
            array.fill_(1)
        with wp.ScopedCapture(apic=True) as recorded:
            body()
        wp.capture_save(recorded.graph, str(path), inputs=arrays)
    return open_capture(path)


def _told(capture: Capture) -> list[tuple[str, int | None, Severity]]:
    return [(fault.where, fault.event, fault.severity) for fault in capture.faults if fault.field == FIELD]


def _replayed(capture: Capture, name: str) -> np.ndarray:
    with open_player(capture) as player:
        player.launch()
        return np.asarray(player.get(name))


def test_closures_of_one_name_are_told_and_those_with_names_of_their_own_are_not(tmp_path: Path) -> None:
    x = wp.zeros(2, dtype=float, device="cpu")
    kernels = [factor(2.0), factor(3.0)]

    def body() -> None:
        wp.launch(kernels[0], 2, inputs=[x])
        wp.launch(kernels[1], 2, inputs=[x])

    capture = _record(tmp_path / "one.wrp", body, x=x)
    (fault,) = capture.faults
    assert _told(capture) == [("kernel factor__locals__scale_by", 0, Severity.NOTE)]
    assert "its module holds 2 kernels of this name" in fault.what
    assert "the 2 launches, events 0, 1, replay as that one" in fault.what and "wp.Kernel(" in fault.what
    assert _replayed(capture, "x").tolist() in ([4.0, 4.0], [9.0, 9.0])  # 6 was meant

    kernels[:] = [factor(2.0, "scale_by_2"), factor(3.0, "scale_by_3")]
    capture = _record(tmp_path / "two.wrp", body, x=x)
    assert not capture.faults and _replayed(capture, "x").tolist() == [6.0, 6.0]


def test_types_of_a_generic_kernel_are_told(tmp_path: Path) -> None:
    x, n = wp.zeros(2, dtype=float, device="cpu"), wp.zeros(2, dtype=int, device="cpu")

    def body() -> None:
        wp.launch(add_one, 2, inputs=[x])
        wp.launch(add_one, 2, inputs=[n])

    capture = _record(tmp_path / "generic.wrp", body, x=x, n=n)
    assert _told(capture) == [("kernel add_one", 0, Severity.NOTE)]
    assert (_replayed(capture, "x").tolist(), _replayed(capture, "n").tolist()) != ([2.0, 2.0], [2, 2])


def test_one_launch_is_the_one_that_the_file_keeps(tmp_path: Path) -> None:
    x = wp.zeros(2, dtype=float, device="cpu")
    kernels = [factor(5.0), factor(7.0)]
    capture = _record(tmp_path / "once.wrp", lambda: wp.launch(kernels[1], 2, inputs=[x]), x=x)
    assert not capture.faults and _replayed(capture, "x").tolist() == [7.0, 7.0]


def test_functions_of_cuda_modules_are_counted_by_name() -> None:
    names = (
        b"f_0123abcd_cuda_kernel_forward\0f_89abcdef_cuda_kernel_forward\0f_89abcdef_cuda_kernel_backward\0"
    )
    assert _compiled(b"\x7fELF\0" + names + b".text.f_0123abcd_cuda_kernel_forward\0") == {
        b"f": 2,
        b".text.f": 1,
    }
    ptx = b".version 8.0\n.visible .entry g_0123abcd_cuda_kernel_forward(\n"
    ptx += b".entry g_00000000_cuda_kernel_forward("
    assert _compiled(ptx) == {b"g": 2}


def test_a_backward_function_that_is_missing_is_told_and_nothing_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    x = wp.zeros(2, dtype=float, device="cpu")
    kernel = factor(11.0, "scale_by_11")
    capture = _record(tmp_path / "back.wrp", lambda: wp.launch(kernel, 2, inputs=[x]), x=x)
    (record,) = capture.kernels
    data = capture.data.replace(record.backward_name.encode(), record.backward_name[:-1].encode() + b"X")
    capture.path.write_bytes(data)
    damaged = open_capture(capture.path)
    (fault,) = damaged.faults
    assert f"holds no '{record.backward_name[:-1]}X', the backward form of kernel scale_by_11" in fault.what
    assert fault.severity is Severity.NOTE
    capfd.readouterr()
    assert _replayed(damaged, "x").tolist() == [11.0, 11.0]
    assert capfd.readouterr() == ("", "")  # Warp says on the C stream that it found none
