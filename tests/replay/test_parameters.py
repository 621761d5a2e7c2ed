from __future__ import annotations

import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
import toy

from replay.elements import ElementType
from replay.errors import ParameterError
from replay.graph.model import Binding, Capture, Provenance, Region
from replay.manifest import Manifest, ParameterEntry, StabilityEntry
from replay.parameters import (
    ParameterSpec,
    check_limits,
    check_value,
    courant,
    largest_stable,
    spec_named,
    specs_of,
)


def spec(name: str, element: str, shape: tuple[int, ...] = (1,), **more: object) -> ParameterSpec:
    return ParameterSpec(name, ElementType.named(element), shape, region=1, known=True, **more)


SPECS = {
    item.name: item
    for item in (
        spec("gain", "float32"),
        spec("half", "float16"),
        spec("flags", "uint8", (3,)),
        spec("count", "int32"),
        spec("on", "bool"),
        spec("field", "float32", (2, 3)),
        spec("place", "vec2f"),
        spec("points", "vec3f", (4,)),
        spec("frame", "mat33d"),
        spec("nothing", "float32", (0,)),
        spec("wide", "int64"),
    )
}


def test_a_value_becomes_a_fresh_contiguous_array_of_the_parameters_type() -> None:
    given = np.arange(6, dtype=np.float64).reshape(3, 2).T
    result = check_value(SPECS, "field", given)
    assert result.dtype == np.float32 and result.shape == (2, 3)
    assert result.flags.c_contiguous and result.flags.owndata
    np.testing.assert_array_equal(result, [[0, 2, 4], [1, 3, 5]])
    same = np.ones((2, 3), np.float32)
    assert not np.shares_memory(check_value(SPECS, "field", same), same)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("gain", 2, [2.0]),
        ("gain", [0.5], [0.5]),
        ("gain", np.float64(0.1), [np.float32(0.1)]),
        ("count", np.uint8(7), [7]),
        ("count", -(2**31), [-(2**31)]),
        ("on", True, [True]),
        ("place", (1, 2), [[1.0, 2.0]]),
        ("place", [[1, 2]], [[1.0, 2.0]]),
        ("flags", [0, 255, 1], [0, 255, 1]),
        ("nothing", [], []),
        ("frame", np.eye(3), [np.eye(3)]),
        ("wide", 2**63 - 1, [2**63 - 1]),
    ],
)
def test_values_that_fit(name: str, value: object, expected: object) -> None:
    result = check_value(SPECS, name, value)
    assert result.shape == SPECS[name].full_shape
    np.testing.assert_array_equal(result, np.asarray(expected, dtype=result.dtype))


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("gian", 1.0, "no parameter 'gian'; did you mean 'gain'"),
        ("gain", [1.0, 2.0], r"'gain' has shape \(1,\), the value has \(2,\)"),
        ("field", 1.0, r"'field' has shape \(2, 3\), the value has \(\)"),
        ("field", np.zeros((3, 2)), r"\(2, 3\), the value has \(3, 2\)"),
        ("points", np.zeros((4,)), r"\(4, 3\), the value has \(4,\)"),
        ("points", (1, 2, 3), r"\(4, 3\), the value has \(3,\)"),
        ("gain", "1.0", "takes float32, the value is text"),
        ("gain", None, "takes float32, the value is not a number"),
        ("gain", True, "takes float32, the value is bool"),
        ("gain", 1j, "takes float32, the value is complex"),
        ("count", 1.0, "takes int32, the value is float64"),
        ("on", 1, "takes bool, the value is int64"),
        ("count", 2**31, "holds -2147483648 to 2147483647; the value has 2147483648"),
        ("flags", [0, -1, 3], "holds 0 to 255; the value has -1"),
        ("wide", 2**63, "the value has 9223372036854775808"),
        ("wide", 2**64, "beyond 64 bits"),
        ("gain", math.nan, "'gain': nan is not finite"),
        ("field", [[0, 0, 0], [0, math.inf, 0]], r"inf at \(1, 1\) is not finite"),
        ("gain", 1e39, r"takes float32, .*1e\+39"),
        ("half", 70000, "takes float16, .*70000"),
        ("field", [[1, 2, 3], [4, 5]], "the value is no array"),
    ],
)
def test_values_that_do_not_fit(name: str, value: object, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        check_value(SPECS, name, value)


def test_an_array_of_warp_on_the_host_is_taken_and_one_on_a_device_refused() -> None:
    import warp as wp

    np.testing.assert_array_equal(
        check_value(SPECS, "place", wp.array([(3.0, 4.0)], dtype=wp.vec2f, device="cpu")), [[3.0, 4.0]]
    )

    class OnDevice:
        device = type("Device", (), {"is_cuda": True, "__str__": lambda _: "cuda:0"})()

    with pytest.raises(ParameterError, match="takes a value on the host, this is on cuda:0"):
        check_value(SPECS, "gain", OnDevice())


def test_limits_are_checked_only_when_asked() -> None:
    bounded = spec("gain", "float32", minimum=-1.0, maximum=0.5, unit="m")
    assert check_value({"gain": bounded}, "gain", 3.0)[0] == 3.0
    for value in (-1.0, 0.5, [0.25]):
        check_limits(bounded, value)
    for value in (0.75, -2, [[0.0, 0.75]], math.nan):
        with pytest.raises(ParameterError, match=r"outside its range -1 to 0\.5 m"):
            check_limits(bounded, value)
    check_limits(spec("free", "float32"), 1e30)


def test_the_ends_of_a_range_are_in_it_as_elements() -> None:
    share = spec("share", "float32", minimum=0.7, maximum=0.8)
    low, high = float(np.float32(0.7)), float(np.float32(0.8))
    assert low < 0.7 and high > 0.8
    for end in (0.7, 0.8, low, high, float(f"{low:.9g}"), float(f"{high:.9g}")):
        check_limits(share, end)
    for outside in (np.nextafter(np.float32(low), 0), np.nextafter(np.float32(high), 1)):
        with pytest.raises(ParameterError, match="outside its range"):
            check_limits(share, float(outside))


def capture_with(
    regions: dict[int, Region], names: list[tuple[str, int]], manifest: Manifest | None
) -> Capture:
    bindings = tuple(Binding(name, region, 0) for name, region in names)
    return Capture(
        Path("x.wrp"),
        b"",
        18,
        "1.19.0",
        "cpu",
        0,
        (),
        (),
        regions,
        bindings,
        (),
        (),
        (),
        (),
        manifest,
        Path("x"),
    )


def region(
    ident: int, nbytes: int, element: str | None = None, shape: tuple[int, ...] | None = None
) -> Region:
    kind = ElementType.named(element) if element else None
    return Region(ident, nbytes, 4, None, kind, shape, Provenance.INFERRED, (), 0)


def test_specifications_come_from_the_manifest_then_the_region_then_bytes() -> None:
    entry = ParameterEntry("a", "vec2f", (3,), "input", label="A", unit="m", minimum=0.0, default=(1.0, 2.0))
    manifest = dataclasses.replace(
        toy.manifest("cpu"), parameters=(entry, ParameterEntry("liar", "float32", (99,), "input"))
    )
    capture = capture_with(
        {1: region(1, 24, "float32", (6,)), 2: region(2, 8, "int32", (2,)), 3: region(3, 5)},
        [("a", 1), ("liar", 2), ("b", 2), ("raw", 3), ("a", 1), ("gone", 9)],
        manifest,
    )
    specs = specs_of(capture)
    assert list(specs) == ["a", "liar", "b", "raw", "gone"]
    a = specs["a"]
    assert (a.known, a.element.name, a.shape, a.label, a.unit) == (True, "vec2f", (3,), "A", "m")
    assert (a.minimum, a.maximum, a.default) == (0.0, None, (1.0, 2.0))
    # a manifest that claims another size than the file's is not believed
    assert (specs["liar"].known, specs["liar"].element.name, specs["liar"].shape) == (False, "int32", (2,))
    assert specs["b"].region == 2
    assert (specs["raw"].element.name, specs["raw"].shape, specs["raw"].nbytes) == ("uint8", (5,), 5)
    assert specs["gone"].nbytes == 0
    assert all(spec_named(specs, name).name == name for name in specs)


def rule(dx: float = 0.5, margin: float = 0.5) -> StabilityEntry:
    return StabilityEntry("c2", "d", "dt", dx, margin)


@pytest.mark.parametrize(
    ("c2", "d", "dt", "expected"),
    [
        (0.5, 0.0, 0.5, 1.0),  # a = 1/2: the limit without damping
        (0.25, 0.0, 0.5, 0.5),
        (0.25, 4.0, 0.5, 1.0),  # b = 1, a = 1/4: the limit (2 - 1)/4
        (0.0, 4.0, 0.5, 0.5),  # b = 1: half of the damping's own limit
        (0.5, 0.0, 1.0, 4.0),  # the square of dt
        (0.0, 8.0, 0.5, math.inf),  # b = 2
        (-0.25, 0.0, 0.5, math.inf),
        (0.25, -1.0, 0.5, math.inf),
        (0.25, 1.0, 0.0, 0.0),
    ],
)
def test_courant_is_one_at_the_limit_of_the_scheme(c2: float, d: float, dt: float, expected: float) -> None:
    assert courant(rule(), {"c2": c2, "d": d, "dt": dt}) == expected


def test_largest_stable_values_are_exact() -> None:
    # margin 1/2, dx 1/2: with dt = 1/2 and d = 4, b = 1 and c2 = (1/2) (1/4) dx^2/dt^2
    assert largest_stable(rule(), "c2", {"d": 4.0, "dt": 0.5}) == 0.125
    assert largest_stable(rule(), "c2", {"d": 0.0, "dt": 0.5}) == 0.25
    assert largest_stable(rule(), "c2", {"d": 4.5, "dt": 0.5}) == 0.0  # b = 1.125 > 2 margin
    assert largest_stable(rule(), "d", {"c2": 0.0, "dt": 0.5}) == 4.0
    assert largest_stable(rule(), "d", {"c2": 0.1875, "dt": 0.5}) == 2.0  # a = 3/16: b = 2 - 4 a/margin
    assert largest_stable(rule(), "d", {"c2": 1.0, "dt": 0.5}) == 0.0
    assert largest_stable(rule(), "dt", {"c2": 0.25, "d": 0.0}) == 0.5
    assert largest_stable(rule(), "dt", {"c2": 0.0, "d": 4.0}) == 0.5
    assert largest_stable(rule(), "dt", {"c2": 0.0, "d": 0.0}) == math.inf
    assert largest_stable(rule(), "c2", {"d": 0.0, "dt": 0.0}) == math.inf
    with pytest.raises(ParameterError, match="no part in the stability"):
        largest_stable(rule(), "radius", {"c2": 1.0, "d": 1.0, "dt": 1.0})


def test_what_is_largest_stable_reaches_the_margin_and_is_allowed() -> None:
    limit = rule(dx=0.1, margin=0.98)
    start = {"c2": 60.0, "d": 1000.0, "dt": 1 / 960}
    for name in start:
        values = start | {name: largest_stable(limit, name, start)}
        assert courant(limit, values) == pytest.approx(0.98, rel=1e-12)
        values[name] *= 1 - 1e-9
        assert limit.allows(values["c2"], values["d"], values["dt"])


@pytest.mark.parametrize(
    ("c2", "d", "dt", "dx"),
    [
        (60.0, 1000.0, 1e200, 0.1),  # dt^2 is beyond a float
        (1e308, 0.0, 1e-3, 1e-6),
        (60.0, 1000.0, 1e-3, 1e-200),  # dx^2 is 0
        (float("nan"), 0.0, 1e-3, 0.1),
        (60.0, float("nan"), 1e-3, 0.1),
    ],
)
def test_absurd_values_are_unstable_and_no_exception(c2: float, d: float, dt: float, dx: float) -> None:
    values = {"c2": c2, "d": d, "dt": dt}
    assert courant(rule(dx), values) > 1e100
    assert not rule(dx).allows(c2, d, dt)
    for name in values:
        assert not largest_stable(rule(dx), name, values) < 0
