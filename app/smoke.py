"""The smoke run: the whole chain from capture to replay, checked without OpenGL and without a display.

For CI and for a first look at a new machine. It checks one frame ten times; `ripplescope check` compares
more frames, the window shows them.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from replay.errors import ReplayError
from replay.text import printable

if TYPE_CHECKING:
    from replay.graph.model import Capture
    from replay.parameters import ParameterSpec
    from replay.players import Player

LAUNCHES = 10


def run_smoke(path: Path | None, device: str, *, trust: bool = False) -> int:
    """Load a capture (recorded first if none is given), replay it 10 times and check what came out.

    A wave frame of ours gets one push in the middle; its heights must change, be finite, and equal the
    eager loop: bit for bit on the CPU, within `app.compare.CUDA_BOUND` on CUDA. Any other capture is
    replayed as it is and its floats must be finite.

    Args:
        path: the capture.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        trust: replay a capture that was not recorded here without asking.

    Returns:
        0 if all checks pass, 1 if not.

    Raises:
        CaptureFileError, DeviceError, RecordingError, ReplayError: the chain broke; says where and why.
    """
    from replay.graph.open import open_capture
    from replay.players import open_player

    if path is None:
        from app.cache import demo_capture
        from capture.settings import FrameSettings

        capture = open_capture(demo_capture(FrameSettings(), device))
    else:
        from app.trust import require_trust

        capture = open_capture(path)
        require_trust(capture, trust, device)
    print(f"capture   {printable(str(capture.path))}")
    producer = printable(capture.producer)
    print(f"made by   Warp {producer}, {capture.device_kind}, {len(capture.operations)} operations")
    with open_player(capture, device) as player:
        print(f"device    {player.device} ({player.device_name})")
        print(f"parameters ({len(player.parameters)}):")
        for spec in player.parameters.values():
            print(f"  {printable(spec.name):<18}{_type_text(spec):<26}{spec.nbytes:>10,} bytes")
        faults = _check_wave(player) if capture.manifest else _check_floats(player)
        digest = _digest(player)
    if capture.manifest:
        faults += _check_eager(capture, device)
    for fault in faults:
        print(f"FAILED    {printable(fault)}")
    if faults:
        return 1
    print(f"digest    {digest}")
    print(f"smoke OK ({LAUNCHES} graph launches)")
    return 0


def _type_text(spec: ParameterSpec) -> str:
    shape = "x".join(map(str, spec.shape)) or "scalar"
    return f"{spec.element.name} [{shape}]" + ("" if spec.known else ", inferred")


def _check_wave(player: Player) -> list[str]:
    """Push once in the middle, launch, and say what is wrong with the heights."""
    manifest = player.capture.manifest
    assert manifest is not None
    grid = manifest.grid
    before = player.get(grid.heights)
    player.set(grid.pointer, [[(grid.width - 1) / 2, (grid.height - 1) / 2]])
    player.launch()
    player.set(grid.pointer, [[-1000.0, -1000.0]])
    for _ in range(LAUNCHES - 1):
        player.launch()
    after = player.get(grid.heights)
    faults = []
    if not np.isfinite(after).all():
        faults.append(
            f"{grid.heights} holds {np.count_nonzero(~np.isfinite(after))} values that are not finite"
        )
    elif np.array_equal(before, after):
        faults.append(f"{grid.heights} did not change in {LAUNCHES} launches after a push in the middle")
    else:
        print(f"heights   from {after.min():+.4f} m to {after.max():+.4f} m after one push in the middle")
    return faults


def _check_floats(player: Player) -> list[str]:
    """Launch a capture that is not ours, as it is, and say which named floats are not finite."""
    for _ in range(LAUNCHES):
        player.launch()
    print("eager     not compared: without a manifest nobody knows the loop that was recorded")
    faults = []
    for name, spec in player.parameters.items():
        if spec.element.scalar.kind == "f":
            values = player.get(name)
            wrong = int(np.count_nonzero(~np.isfinite(values)))
            if wrong:
                faults.append(f"{name} holds {wrong} of {values.size} values that are not finite")
    return faults


def _check_eager(capture: Capture, device: str) -> list[str]:
    """Compare with the eager loop and with a live graph, and say what differs."""
    from app.compare import compare_frame

    try:
        result = compare_frame(capture, device, LAUNCHES)
    except ReplayError as error:
        print(f"eager     not compared: {error}")
        return []
    measure = "bit for bit" if not result.bound else f"within {result.bound:g}"
    if result.agrees:
        print(f"eager     equal {measure}: eager loop, live graph, loaded graph")
        return []
    return [
        f"{d.pair[0]} and {d.pair[1]} differ by {d.largest:.3g} in {d.name} at frame {d.frame}, not {measure}"
        for d in result.differences
        if d.largest > result.bound
    ]


def _digest(player: Player) -> str:
    """Return a digest of every named array, so that two runs can be told apart."""
    digest = hashlib.sha256()
    for name in player.parameters:
        digest.update(name.encode() + b"\0" + player.get(name).tobytes())
    return digest.hexdigest()[:16]
