"""Types and shapes that the file does not state: what the bytes and the uses of a region speak for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from replay.graph.model import Reading
from replay.graph.open import capture_from_bytes, open_capture
from replay.graph.scalars import guess_element
from replay.graph.tell import tell


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.array([3, -4, 0, 7], np.int64), "int64"),
        (np.array([-1, -2], np.int64), "int64"),
        (np.array([1 << 26, (1 << 31) - 1], np.int64), "int64"),
        (np.array([[1, 2], [3, 0]], np.int32), "vec2i"),
        (np.array([[1.0, 0.0], [0.25, 0.0]], np.float32), "vec2f"),  # upper halves 0 as well
        (np.array([[1.5, 2.0], [0.25, -3.0]], np.float32), "vec2f"),
        (np.array([0.1, -2.3]), "float64"),
    ],
)
def test_eight_bytes(values: np.ndarray, expected: str) -> None:
    element = guess_element(np.frombuffer(values.tobytes(), np.uint8), 8)
    assert element is not None and element.name == expected


def test_an_array_that_is_also_used_flattened_keeps_its_rank(recorded: dict[str, Path]) -> None:
    (region,) = open_capture(recorded["flattened"]).regions.values()
    assert (region.shape, region.element and region.element.name) == ((4, 6), "float32")


def test_a_double_of_2_may_be_a_large_integer(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["conditions"])
    told = capture.operations[2]
    step = told.arguments[2]
    assert step.readings[0] == Reading("float64", 0.25)
    data = bytearray(capture.data)
    data[step.offset : step.offset + 8] = np.array([1 << 62], np.int64).tobytes()
    changed = capture_from_bytes(bytes(data), capture.path)
    assert changed.operations[2].arguments[2].value == 2.0
    assert "2.0  (or int64 4611686018427387904)" in tell(changed)
    assert "(or int64" not in tell(capture)
