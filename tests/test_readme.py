"""What README shows must work as it is written there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from replay.graph.open import open_capture

README = Path(__file__).parents[1] / "README.md"


def test_the_program_records_a_capture_with_its_names(tmp_path):
    (source,) = re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    (tmp_path / "program.py").write_text(source)  # Warp reads kernels from a file
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    capture = open_capture(tmp_path / "cooling.wrp")
    assert not capture.blocking_faults and capture.manifest is None
    (launch,) = capture.operations
    assert launch.key == "cool" and launch.shape == (256,)
    assert {name: region.nbytes for region in capture.regions.values() for name in region.names} == {
        "rate": 4,
        "heat": 1024,
    }
