"""Replay on CUDA: like the eager loop, like the CPU, one graph of known nodes, and only code made for it."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.compare import compare_frame, scripted_inputs
from replay.errors import RipplescopeError
from replay.graph.open import open_capture
from replay.native import import_warp
from replay.players import open_player

pytestmark = pytest.mark.gpu

FrameOf = Callable[..., Path]
SOLVERS = ["reference", "tuned", "fused"]
BOUND = 1e-4
"""m, against the CPU over 60 frames; pushes are 0.3 m high. The two compilers contract other products."""


@pytest.mark.parametrize("substeps", [3, 16])
@pytest.mark.parametrize("solver", SOLVERS)
def test_loaded_live_and_eager_agree(frame_of: FrameOf, solver: str, substeps: int) -> None:
    path = frame_of(width=130, height=97, substeps=substeps, solver=solver, device="cuda")
    result = compare_frame(open_capture(path), "cuda", 30)
    assert result.agrees, result
    assert result.bound <= 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
def test_cuda_agrees_with_the_cpu(frame_of: FrameOf, solver: str) -> None:
    if not import_warp().is_cpu_available():
        pytest.skip("this Warp has no compiler for the CPU")
    cpu = frame_of(width=65, height=50, substeps=16, solver=solver, device="cpu")
    cuda = frame_of(width=65, height=50, substeps=16, solver=solver, device="cuda")
    fields = []
    for path in (cpu, cuda):
        with open_player(open_capture(path)) as player:
            for frame in range(60):
                for name, value in scripted_inputs(player.capture.manifest, frame).items():
                    player.set(name, value)
                player.launch()
            fields.append(player.get(player.capture.manifest.grid.heights))
    assert np.abs(fields[0]).max() > 0.01
    np.testing.assert_allclose(fields[0], fields[1], rtol=0, atol=BOUND)


@pytest.mark.parametrize("solver", ["reference", "tuned"])
def test_the_drivers_graph_is_one_push_and_sixteen_solves(frame_of: FrameOf, solver: str) -> None:
    with open_player(open_capture(frame_of(substeps=16, solver=solver, device="cuda"))) as player:
        names = player.kernel_names()
        assert player.node_count() == len(names) == 17
        assert "displace" in names[0] and all("displace" not in name for name in names[1:])
        assert len(set(names[1:])) <= 2, names


def test_a_file_whose_header_states_another_architecture_is_refused(
    frame_of: FrameOf, tmp_path: Path
) -> None:
    original = frame_of(substeps=16, device="cuda")
    path = tmp_path / "old.wrp"
    data = bytearray(original.read_bytes())
    assert struct.unpack_from("<I", data, 28)[0] >= 50  # the architecture, as design and Warp's header say
    struct.pack_into("<I", data, 28, 75)
    path.write_bytes(data)
    shutil.copytree(original.with_name(f"{original.stem}_modules"), tmp_path / "old_modules")
    with pytest.raises(RipplescopeError, match="75") as refused:
        open_player(open_capture(path))
    assert "\n" not in str(refused.value)
