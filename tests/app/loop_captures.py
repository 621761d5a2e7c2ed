"""A capture of a loop in a loop, with counts that a reader can follow. Imports Warp: import it in tests."""

from pathlib import Path

import warp as wp


@wp.kernel
def add(total: wp.array(dtype=wp.float32)):
    total[0] = total[0] + 1.0


@wp.kernel
def count(left: wp.array(dtype=wp.int32)):
    left[0] = left[0] - 1


@wp.kernel
def start(left: wp.array(dtype=wp.int32), value: wp.int32):
    left[0] = value


def record_loops(folder: Path) -> Path:
    """Record: 0 add, WHILE 1 of 3 rounds [2 count, 3 start, WHILE 4 of 2 rounds [5 add, 6 count]]."""
    total = wp.zeros(1, dtype=wp.float32, device="cpu")
    outer, inner = (wp.array([value], dtype=wp.int32, device="cpu") for value in (3, 0))

    def body():
        wp.launch(count, 1, inputs=[outer], device="cpu")
        wp.launch(start, 1, inputs=[inner, 2], device="cpu")
        wp.capture_while(inner, inside)

    def inside():
        wp.launch(add, 1, inputs=[total], device="cpu")
        wp.launch(count, 1, inputs=[inner], device="cpu")

    wp.load_module(add.module, device="cpu")
    with wp.ScopedCapture(device="cpu", apic=True, force_module_load=False) as recorded:
        wp.launch(add, 1, inputs=[total], device="cpu")
        wp.capture_while(outer, body)
    path = folder / "loops.wrp"
    wp.capture_save(
        recorded.graph, str(path), inputs={"outer": outer, "inner": inner}, outputs={"total": total}
    )
    return path
