"""A small capture with everything that a player must handle, and the same step in NumPy.

One launch advances `x` and `y` as one substep advances a height field, in place: the newest values end in
`y`, so the names `x_out` and `y_out` are swapped against `x` and `y` and need the carry pairs. `hidden` has
no name. A launch adds one to `count`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from replay.graph.model import Capture
from replay.graph.open import open_capture
from replay.manifest import (
    ArgumentEntry,
    GridEntry,
    KernelEntry,
    Manifest,
    ParameterEntry,
    StabilityEntry,
    manifest_path,
)
from replay.native import import_warp

SIZE = 6
X = np.linspace(0.0, 1.0, SIZE, dtype=np.float32)
Y = np.linspace(0.0, 0.5, SIZE, dtype=np.float32)
HIDDEN = np.full(SIZE, 5.0, np.float32)


def record_toy(folder: Path, device: str) -> Capture:
    """Record the toy on a device and open it, with its manifest."""
    wp = import_warp()
    from toy_kernels import advance

    wp.load_module(advance.module, device=device)

    def array(value: Any, dtype: Any) -> Any:
        return wp.array(value, dtype=dtype, device=device)

    x, y, hidden = array(X, wp.float32), array(Y, wp.float32), array(HIDDEN, wp.float32)
    gain, place, count = array([0.25], wp.float32), array([[1.0, 2.0]], wp.vec2f), array([0], wp.int32)
    with wp.ScopedCapture(device=device, apic=True, force_module_load=False) as recorded:
        wp.launch(advance, dim=SIZE, inputs=[x, y, gain, place, count, hidden], device=device)
    path = folder / "toy.wrp"
    wp.capture_save(
        recorded.graph,
        str(path),
        inputs={"x": x, "y": y, "gain": gain, "place": place, "count": count},
        outputs={"x_out": y, "y_out": x},
    )
    manifest(device.partition(":")[0], hashlib.sha256(path.read_bytes()).hexdigest()).write(
        manifest_path(path)
    )
    capture = open_capture(path)
    assert capture.faults == () and capture.manifest is not None
    return capture


def manifest(device_kind: str, digest: str = "0" * 64) -> Manifest:
    """Return the toy's manifest; `gain` and `place` are only read."""
    field = {"dtype": "float32", "shape": (SIZE,)}
    return Manifest(
        created_by="test",
        warp_version="1.19.0",
        device_kind=device_kind,
        wrp_sha256=digest,
        solver="toy",
        substeps=1,
        frame_rate=60.0,
        grid=GridEntry(SIZE, 1, 1.0, heights="x", pointer="place"),
        stability=StabilityEntry("gain", "gain", "gain", 1.0),
        parameters=(
            ParameterEntry("x", role="both", **field),
            ParameterEntry("y", role="both", **field),
            ParameterEntry(
                "gain", "float32", (1,), "input", minimum=0.0, maximum=1.0, unit="m", editable=True
            ),
            ParameterEntry("place", "vec2f", (1,), "input"),
            ParameterEntry("count", "int32", (1,), "both"),
            ParameterEntry("x_out", role="output", **field),
            ParameterEntry("y_out", role="output", **field),
        ),
        kernels=(
            KernelEntry(
                "advance",
                (
                    ArgumentEntry("x", "array1d[float32]", "read"),
                    ArgumentEntry("y", "array1d[float32]", "read_write"),
                    ArgumentEntry("gain", "array1d[float32]", "read"),
                    ArgumentEntry("place", "array1d[vec2f]", "read"),
                    ArgumentEntry("count", "array1d[int32]", "read_write"),
                    ArgumentEntry("hidden", "array1d[float32]", "read_write"),
                ),
            ),
        ),
        carry=(("x_out", "x"), ("y_out", "y")),
    )


def advance_numpy(x: np.ndarray, y: np.ndarray, gain: np.ndarray, place: np.ndarray) -> None:
    """Do in place what the kernel does; all float32, shape (SIZE,), (SIZE,), (1,), (1, 2)."""
    y[:] = (x + x) - y + gain[0] * place[0, 1]


def fake_step(player: Any) -> None:
    """Advance a fake player as the kernel does; `hidden` is its one unnamed region."""
    advance_numpy(*(player.view(name) for name in ("x", "y", "gain", "place")))
    player.view("count")[:] += 1
    hidden = hidden_region(player.capture)
    values = player.region_bytes(hidden).view(np.float32) + np.float32(1)
    player._write([(hidden, values)])


def hidden_region(capture: Capture) -> int:
    """Return the id of the region without a name."""
    return next(region.id for region in capture.regions.values() if not region.names)
