"""Names from a file that would steer a terminal or cannot be seen: spelled out, and replayed all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import warp as wp

from replay.graph.export import to_svg
from replay.graph.flow import data_flow
from replay.graph.fold import fold_capture
from replay.graph.layout import lay_out
from replay.graph.model import Fault, Severity
from replay.graph.open import open_capture
from replay.players import open_player

ODD, SHOWN = "x\x1b[31m\n\u202e", r"x\x1b[31m\x0a\u202e"


@wp.kernel(module="odd_names")
def raise_by_one(x: wp.array[float], y: wp.array[float]):
    i = wp.tid()
    y[i] = x[i] + 1.0


def test_names_are_spelled_out_in_the_model_and_replayed(tmp_path: Path) -> None:
    x, y = (wp.zeros(2, dtype=float, device="cpu") for _ in range(2))
    wp.load_module("odd_names", device="cpu")
    with wp.ScopedDevice("cpu"):
        with wp.ScopedCapture(apic=True) as recorded:
            wp.launch(raise_by_one, 2, inputs=[x, y])
        wp.capture_save(recorded.graph, str(tmp_path / "odd.wrp"), inputs={ODD: x}, outputs={"水面": y})
    capture = open_capture(tmp_path / "odd.wrp")
    assert [(binding.name, binding.exact) for binding in capture.bindings] == [(SHOWN, False), ("水面", True)]
    assert capture.regions[1].names == (SHOWN,) and not capture.faults
    with open_player(capture) as player:
        player.set(SHOWN, [3.0, 4.0])
        player.launch()
        np.testing.assert_array_equal(player.get("水面"), np.float32([4.0, 5.0]))
    svg = to_svg(lay_out(capture, data_flow(capture), fold_capture(capture)))
    assert SHOWN in svg and "\x1b" not in svg

    data = capture.data.replace(b"raise_by_one", b"raise\x1b\x07y_one")
    (tmp_path / "key.wrp").write_bytes(data)
    damaged = open_capture(tmp_path / "key.wrp")
    assert damaged.operations[0].label == damaged.kernels[0].key == r"raise\x1b\x07y_one"
    assert damaged.operations[0].kernel is damaged.kernels[0]


def test_the_words_of_a_fault_are_spelled_out() -> None:
    fault = Fault("kernel a\x1bb", "c\nd", Severity.NOTE)
    assert (fault.where, fault.what) == (r"kernel a\x1bb", r"c\x0ad")
