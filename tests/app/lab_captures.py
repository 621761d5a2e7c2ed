"""A capture with a planted fault: `field` doubles with every frame, until `root` of it is no number."""

from __future__ import annotations

from pathlib import Path

import numpy as np

FIELD = np.linspace(0.01, 0.24, 20, dtype=np.float32).reshape(4, 5)
FACTORS = (2.0, 0.5, 2.0)


def record_growing(folder: Path) -> Path:
    """Record `grow` by 2, by 1/2, by 2, then `root`, on the CPU; returns the `.wrp` path. No manifest."""
    from lab_kernels import grow, root

    from replay.native import import_warp

    wp = import_warp()
    wp.load_module(grow.module, device="cpu")
    field, out = wp.array(FIELD, device="cpu"), wp.zeros(FIELD.shape, dtype=wp.float32, device="cpu")
    with wp.ScopedCapture(device="cpu", apic=True, force_module_load=False) as recorded:
        for factor in FACTORS:
            wp.launch(grow, FIELD.shape, inputs=[field, factor], device="cpu")
        wp.launch(root, FIELD.shape, inputs=[field, out], device="cpu")
    path = folder / "growing.wrp"
    wp.capture_save(recorded.graph, str(path), inputs={"field": field}, outputs={"root": out})
    return path


def record_nested(folder: Path) -> Path:
    """Record loops in each other on the CPU; returns the `.wrp` path. No manifest.

    Event 0 is `begin`. WHILE 1 runs 3 rounds of: `begin` (2); WHILE 3, as often as rounds are left, of `grow`
    by 2 (4) and `less` (5); IF 6, whose flag is set, of `grow` by 3 (7) or else by 1/2 (8); `less` (9).
    The last event is `grow` by 4 (10).
    """
    from lab_kernels import begin, grow, less

    from replay.native import import_warp

    wp = import_warp()
    wp.load_module(grow.module, device="cpu")

    def ints(value: int):
        return wp.array([value], dtype=wp.int32, device="cpu")

    field = wp.array(FIELD, device="cpu")
    rounds, left, flag = ints(3), ints(0), ints(1)

    def launch(kernel, *inputs, dim=1):
        wp.launch(kernel, dim, inputs=inputs, device="cpu")

    def inner():
        launch(grow, field, 2.0, dim=FIELD.shape)
        launch(less, left)

    def outer():
        launch(begin, rounds, left)
        wp.capture_while(left, inner)
        wp.capture_if(
            flag,
            lambda: launch(grow, field, 3.0, dim=FIELD.shape),
            lambda: launch(grow, field, 0.5, dim=FIELD.shape),
        )
        launch(less, rounds)

    with wp.ScopedCapture(device="cpu", apic=True, force_module_load=False) as recorded:
        launch(begin, rounds, left)
        wp.capture_while(rounds, outer)
        launch(grow, field, 4.0, dim=FIELD.shape)
    path = folder / "nested.wrp"
    wp.capture_save(
        recorded.graph,
        str(path),
        inputs={"rounds": rounds, "flag": flag},
        outputs={"field": field, "left": left},
    )
    return path


ZERO_AT, ZERO_IN = (7, 31), 2
"""Cell of `record_dividing` that is divided by zero, and the frame, counted from 0."""


def record_dividing(folder: Path) -> Path:
    """Record `lower` (0, 1), `divide` (2), `grow` (3) over 40 x 50 cells on the CPU. No manifest.

    `slope` falls by 2 with every frame; in one cell it is zero after the third one, and `quotient` infinite.
    """
    from lab_kernels import divide, grow, lower

    from replay.native import import_warp

    wp = import_warp()
    wp.load_module(grow.module, device="cpu")
    start = np.full((40, 50), 1001.0, np.float32)
    start[ZERO_AT] = 2.0 * (ZERO_IN + 1)
    slope, quotient = wp.array(start, device="cpu"), wp.zeros(start.shape, dtype=wp.float32, device="cpu")
    with wp.ScopedCapture(device="cpu", apic=True, force_module_load=False) as recorded:
        for _ in range(2):
            wp.launch(lower, start.shape, inputs=[slope], device="cpu")
        wp.launch(divide, start.shape, inputs=[quotient, slope], device="cpu")
        wp.launch(grow, start.shape, inputs=[slope, 1.0], device="cpu")
    path = folder / "dividing.wrp"
    wp.capture_save(recorded.graph, str(path), inputs={"slope": slope}, outputs={"quotient": quotient})
    return path


def record_blend(folder: Path) -> Path:
    """Record one launch on a struct: `out = field * 2.5 + 0.1 * 4 + 0.25`. No manifest.

    The array of the struct is at byte 0, `gain` at 56, `steps` at 60, `shift` at 64, a double, `small` at 72.
    """
    from lab_kernels import Blend, blend

    from replay.native import import_warp

    wp = import_warp()
    wp.load_module(blend.module, device="cpu")
    field, out = wp.array(FIELD, device="cpu"), wp.zeros(FIELD.shape, dtype=wp.float32, device="cpu")
    struct = Blend()
    struct.field, struct.gain, struct.steps, struct.shift, struct.small = field, 2.5, 4, 0.1, 0.25
    with wp.ScopedCapture(device="cpu", apic=True, force_module_load=False) as recorded:
        wp.launch(blend, FIELD.shape, inputs=[struct, out], device="cpu")
    path = folder / "blend.wrp"
    wp.capture_save(recorded.graph, str(path), inputs={"field": field}, outputs={"out": out})
    return path
