"""Types and shapes that the file does not state: what the bytes and the uses of a region speak for."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from replay.elements import ElementType
from replay.graph.library import fill
from replay.graph.model import Provenance, Reading, Region
from replay.graph.open import capture_from_bytes, open_capture
from replay.graph.scalars import guess_element, other_elements, readings
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


@pytest.mark.parametrize(
    ("values", "expected", "others"),
    [
        # The lower half of a double with few digits is 0, and its upper half is a good float.
        (np.array([0.25, 0.0, -2.0]), "float64", ("vec2f",)),
        (np.array([0.1, 0.25]), "float64", ()),
        (np.array([1.5, 2.5, 0.25, 4.0], np.float32), "vec2f", ()),
        (np.array([1, 2, 7], np.int64) << 32, "vec2i", ("int64",)),
        (np.array([np.nan, np.nan]), "float64", ()),
        (np.array([-0.0, np.inf]), "float64", ()),
    ],
)
def test_other_types_that_eight_bytes_may_be(
    values: np.ndarray, expected: str, others: tuple[str, ...]
) -> None:
    raw = np.frombuffer(values.tobytes(), np.uint8)
    element = guess_element(raw, 8)
    assert element is not None and element.name == expected
    assert other_elements(raw, element) == others


@pytest.mark.parametrize(
    ("number", "type_name"),
    [(1 << 32, "int64"), (3 << 40, "int64"), (-(1 << 40), "int64"), (0.5, "float64"), (-0.0, "float64")],
)
def test_an_eight_byte_number_is_no_double_that_nobody_means(number: float, type_name: str) -> None:
    raw = struct.pack("<q" if isinstance(number, int) else "<d", number)
    first = readings(raw, 8)[0]
    assert (first.type, first.value) == (type_name, number)


def test_a_small_integer_is_no_tiny_half() -> None:
    first = readings(struct.pack("<H", 300), 2)[0]
    assert (first.type, first.value) == ("int16", 300)
    assert readings(struct.pack("<e", 0.5), 2)[0].type == "float16"


def _region(name: str, provenance: Provenance) -> Region:
    return Region(1, 32, 1, None, ElementType.named(name), (8,), provenance, (), 0)


@pytest.mark.parametrize(
    ("raw", "region", "told"),
    [
        (struct.pack("<f", -0.0), _region("float32", Provenance.KNOWN), {"value": -0.0, "type": "float32"}),
        (struct.pack("<i", -(2**31)), _region("int32", Provenance.KNOWN),
         {"value": -(2**31), "type": "int32"}),
        (struct.pack("<f", 1e-30), _region("float32", Provenance.INFERRED),
         {"value": float(np.float32(1e-30)), "type": "float32 (inferred)"}),
        # Nothing is known of the region, and -0.0 is the lowest integer.
        (struct.pack("<f", -0.0), _region("float32", Provenance.ASSUMED),
         {"value": "0x80000000", "candidates": ("-0.0 (float32)", "-2147483648 (int32)")}),
        (struct.pack("<f", -0.0), None,
         {"value": "0x80000000", "candidates": ("-0.0 (float32)", "-2147483648 (int32)")}),
        (b"\xff", None, {"value": "0xff", "candidates": ("255 (uint8)", "-1 (int8)")}),
        (struct.pack("<3f", 1, -0.0, 2), None, {"value": (1.0, -0.0, 2.0), "type": "vec3f (inferred)"}),
        (struct.pack("<i", 7), None, {"value": 7, "type": "int32 (inferred)"}),
    ],
)  # fmt: skip
def test_what_a_fill_writes(raw: bytes, region: Region | None, told: dict[str, object]) -> None:
    found = fill(raw, region)
    assert found == told
    assert repr(found["value"]) == repr(told["value"])  # -0.0 is not 0.0


@pytest.mark.parametrize(("form", "type_name"), [("<f", "float32"), ("<d", "float64")])
def test_a_fill_with_nan_is_no_integer(form: str, type_name: str) -> None:
    for region in (None, _region(type_name, Provenance.KNOWN)):
        found = fill(struct.pack(form, math.nan), region)
        assert math.isnan(float(str(found["value"]))) and str(found["type"]).startswith(type_name)
