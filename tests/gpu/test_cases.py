"""The shared test cases, made and replayed on CUDA: equal bit for bit to what was recorded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from replay.errors import RipplescopeError
from replay.graph.open import open_capture
from replay.players import open_player

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
NOT_ON_CUDA = {"x_host_readback"}
"""Reading on the host is what CUDA forbids while it records."""

_MAKE = """
import json, sys
from pathlib import Path
folder, out = sys.argv[1:3]
sys.path.insert(0, folder)
import warp as wp
wp.set_device("cuda:0")
import make_captures, recorder
failed = {}
for name in list(make_captures.CASES):
    try:
        recorder.record(name, make_captures.CASES[name], Path(out))
    except BaseException as error:
        failed[name] = f"{type(error).__name__}: {error}"
Path(out, "failed.json").write_text(json.dumps(failed))
"""


def cases_folder() -> Path:
    """Return the folder of the shared cases; skips where the checkout has none."""
    named = os.environ.get("RIPPLESCOPE_CASES")
    places = [Path(named)] if named else [ROOT / "shared" / "cases", ROOT.parent / "shared" / "cases"]
    for place in places:
        if (place / "make_captures.py").is_file():
            return place
    pytest.skip(f"no make_captures.py in {' or '.join(map(str, places))}; RIPPLESCOPE_CASES names its folder")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cases")
    done = subprocess.run(
        [sys.executable, "-c", _MAKE, str(cases_folder()), str(out)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (out / "failed.json").is_file(), done.stderr
    return out


def replay(path: Path) -> str:
    """Replay a case as it was recorded; return what differs, empty if nothing does."""
    with np.load(path.with_suffix(".npz")) as archive:
        values = dict(archive)
    with open_player(open_capture(path), "cuda") as player:
        for key, value in values.items():
            if key.startswith("in."):
                spec = player.parameters[key[3:]]
                given = np.frombuffer(value.tobytes(), spec.element.scalar)
                player.set(spec.name, given.reshape(spec.full_shape))
        for _ in range(int(values["launches"])):
            player.launch()
        wrong = [
            key[4:]
            for key, value in values.items()
            if key.startswith("out.") and player.get(key[4:]).tobytes() != value.tobytes()
        ]
    return f"differs in {', '.join(wrong)}" if wrong else ""


def test_every_case_replays_to_the_recorded_values(made: Path) -> None:
    failed = json.loads((made / "failed.json").read_text())
    assert set(failed) <= NOT_ON_CUDA, failed
    outcomes = {}
    for path in sorted(made.glob("*.wrp")):
        try:
            outcome = replay(path)
        except RipplescopeError as error:
            outcome = str(error)
        if outcome:
            outcomes[path.stem] = outcome
    assert len(list(made.glob("*.wrp"))) >= 19 - len(NOT_ON_CUDA)
    assert not outcomes, outcomes
