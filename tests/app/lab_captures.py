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
