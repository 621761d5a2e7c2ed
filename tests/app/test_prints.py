"""What kernels print never mixes with what a command prints."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import warp as wp

ROOT = Path(__file__).parents[2]


@wp.kernel(module="prints")
def tell(x: wp.array[float]):
    wp.printf("cell %d\n", wp.tid())
    x[wp.tid()] = 1.0


def test_kernels_print_to_the_standard_error(tmp_path: Path) -> None:
    x = wp.zeros(2, dtype=float, device="cpu")
    wp.load_module("prints", device="cpu")
    with wp.ScopedDevice("cpu"):
        with wp.ScopedCapture(apic=True) as recorded:
            wp.launch(tell, 2, inputs=[x])
        wp.capture_save(recorded.graph, str(tmp_path / "prints.wrp"), inputs={"x": x})
    for arguments in (
        ["state", "--first-nonfinite", "--json", "--frames", "2"],
        ["profile", "--json", "--repeats", "2"],
    ):
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "app",
                arguments[0],
                str(tmp_path / "prints.wrp"),
                "--trust",
                *arguments[1:],
            ],
            env=os.environ | {"PYTHONPATH": str(ROOT), "RIPPLESCOPE_DATA_DIR": str(tmp_path / "data")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["path"].endswith("prints.wrp")
        assert done.stderr.splitlines()[:2] == ["cell 0", "cell 1"]
