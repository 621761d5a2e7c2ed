"""No solver reads or writes where it must not, and no two threads do at once: compute-sanitizer watches."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.gpu

SCRIPT = Path(__file__).with_name("sanitize_solvers.py")


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_all_solvers_are_clean(tool: str) -> None:
    sanitizer = shutil.which("compute-sanitizer") or shutil.which(
        "compute-sanitizer", path="/usr/local/cuda/bin"
    )
    if sanitizer is None:
        pytest.skip("there is no compute-sanitizer here")
    command = [sanitizer, "--tool", tool, "--error-exitcode", "9", sys.executable, str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    output = done.stdout[-2000:] + done.stderr[-2000:]
    assert done.returncode == 0, output
    assert "frames of 4 solvers" in done.stdout, output
    assert "0 errors" in output or "0 hazards" in output, output
