"""Captures without height field or manifest: particles, an image, a signal, a loop, colours, a number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from replay.native import import_warp

POINTS, LENGTH, ROWS, COLUMNS = 500, 1000, 48, 64


def record(
    folder: Path, name: str, body: Callable[[], None], module: Any, named: dict[str, Any], **options: Any
) -> Path:
    """Record launches on the CPU and save them under names."""
    wp = import_warp()
    wp.load_module(module, device="cpu")
    with wp.ScopedCapture(device="cpu", apic=True, force_module_load=False) as recorded:
        body()
    path = folder / f"{name}.wrp"
    wp.capture_save(recorded.graph, str(path), inputs=named, outputs={}, **options)
    return path


def record_all(folder: Path) -> dict[str, Path]:
    """Record every capture; return the `.wrp` files by name."""
    wp = import_warp()
    wp.set_device("cpu")
    import array_kernels as kernels

    module = kernels.orbit.module
    random = np.random.default_rng(1)
    ball = random.normal(size=(POINTS, 3)).astype(np.float32)
    positions = wp.array(ball / np.linalg.norm(ball, axis=1, keepdims=True), dtype=wp.vec3)
    velocities = wp.array(0.5 * random.normal(size=(POINTS, 3)).astype(np.float32), dtype=wp.vec3)
    heat = np.zeros((ROWS, COLUMNS), np.float32)
    heat[8:20, 30:44] = 4.0
    first, second = wp.array(heat), wp.array(heat)
    signal, clock = wp.zeros(LENGTH, dtype=float), wp.zeros(1, dtype=int)
    left, total = wp.array([5], dtype=int), wp.zeros(24, dtype=float)
    pixels, field = wp.zeros((ROWS, COLUMNS), dtype=wp.vec3), wp.zeros((ROWS, COLUMNS), dtype=wp.vec2)

    def diffuse() -> None:
        for _ in range(2):
            wp.launch(kernels.diffuse, dim=first.shape, inputs=[first, second])
            wp.launch(kernels.diffuse, dim=first.shape, inputs=[second, first])

    def travel() -> None:
        wp.launch(kernels.travel, dim=LENGTH, inputs=[signal, clock])
        wp.launch(kernels.advance, dim=1, inputs=[clock])

    def loop() -> None:
        wp.capture_while(left, lambda: wp.launch(kernels.count_down, dim=24, inputs=[left, total]))

    def painted() -> None:
        wp.launch(kernels.paint, dim=pixels.shape, inputs=[pixels, clock])
        wp.launch(kernels.swirl, dim=field.shape, inputs=[field])
        wp.launch(kernels.advance, dim=1, inputs=[clock])

    def particles() -> None:
        wp.launch(kernels.orbit, dim=POINTS, inputs=[positions, velocities, 0.02])

    return {
        name: record(folder, name, body, module, named)
        for name, body, named in (
            ("particles", particles, {"positions": positions, "velocities": velocities}),
            ("heat", diffuse, {"temperature": first}),
            ("signal", travel, {"signal": signal, "clock": clock}),
            ("loop", loop, {"left": left, "total": total}),
            ("colours", painted, {"pixels": pixels, "field": field}),
            ("empty", lambda: None, {}),
            ("number", lambda: wp.launch(kernels.advance, dim=1, inputs=[clock]), {"clock": clock}),
        )
    }
