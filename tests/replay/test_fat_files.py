"""Files of very many records: told briefly, in time and memory of their size, or refused at the count."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable
from pathlib import Path

import fat
import numpy as np
import pytest

from replay.errors import CaptureFileError, ManifestError, ParameterError
from replay.fields import read_json
from replay.graph.open import capture_from_bytes
from replay.graph.tell import tell
from replay.graph.tell_json import write_json
from replay.parameters import spec_named, specs_of
from replay.wrp import layout

MANY = 20_000
CELL = fat.region(1, b"\0" * 4)
MESH = np.zeros(1, layout.MESH)
MESH["num_points"], MESH["num_tris"], MESH["bvh_leaf_size"] = 1, 1, 1
MESH["points_region"], MESH["indices_region"] = 1, 2


def _meshes(count: int) -> bytes:
    return fat.build(meshes=[MESH.tobytes()] * count, regions=[fat.region(i, b"\0" * 12) for i in (1, 2)])


# What a file of n records of a kind holds, and how many faults of it are told.
FILES: dict[str, tuple[Callable[[int], bytes], int]] = {
    "equal names": (lambda n: fat.build(names=[fat.name("", 1)] * n, regions=[CELL]), 8),
    "names": (lambda n: fat.build(names=[fat.name(f"{i}", 1) for i in range(n)], regions=[CELL]), 0),
    "names of nothing": (lambda n: fat.build(names=[fat.name(f"{i}", 77) for i in range(n)]), 8),
    "kernels": (lambda n: fat.build(kernels=[fat.kernel("", "")] * n), 16),
    "modules": (lambda n: fat.build(modules=[fat.module("", "")] * n), 16),
    "modules and kernels": (
        lambda n: fat.build(
            modules=[fat.module(f"h{i}", f"{i}.o") for i in range(n)],
            kernels=[fat.kernel(f"k{i}", f"h{i}") for i in range(n)],
        ),
        8,
    ),
    "regions": (lambda n: fat.build(regions=[fat.region(i + 1, b"\0" * 4) for i in range(n)]), 0),
    "meshes": (_meshes, 0),
}


@pytest.mark.parametrize("kind", FILES)
def test_many_records_take_time_in_proportion_and_are_told_briefly(kind: str, tmp_path: Path) -> None:
    (tmp_path / "fat_modules").mkdir()
    make, faults = FILES[kind]
    start = time.perf_counter()
    capture = capture_from_bytes(make(MANY), tmp_path / "fat.wrp")
    account, model = tell(capture), io.StringIO()
    write_json(capture, model)
    assert time.perf_counter() - start < 30  # what was quadratic took minutes
    assert len(capture.faults) == faults
    assert account.count("\n") < 200
    assert len(json.loads(model.getvalue())["faults"]) == faults
    if faults:
        assert sum("more like it" in fault.what for fault in capture.faults) == faults // 8


@pytest.mark.parametrize(
    ("kind", "field", "place"),
    [
        ("modules", "metadata.num_modules", 178),
        ("kernels", "metadata.num_kernels", 182),
        ("names", "metadata.num_bindings", 186),
        ("meshes", "metadata.num_meshes", 190),
        ("regions", "memory.region_count", 198),
    ],
)
def test_more_records_than_anybody_needs_are_refused_at_the_count(kind: str, field: str, place: int) -> None:
    with pytest.raises(CaptureFileError, match="100001 records, but at most 100000 are read") as refused:
        capture_from_bytes(FILES[kind][0](layout.MAX_RECORDS + 1), Path("none/fat.wrp"))
    assert (refused.value.field, refused.value.offset) == (field, place)


def test_meshes_that_share_triangles_are_each_looked_at() -> None:
    wrong = MESH.copy()
    wrong["num_tris"] = 2
    indices = np.array([0, 0, 0, 0, 5, 0], np.int32)
    regions = [fat.region(1, b"\0" * 12), fat.region(2, indices.tobytes())]
    data = fat.build(meshes=[MESH.tobytes(), wrong.tobytes()], regions=regions)
    (fault,) = capture_from_bytes(data, Path("none/fat.wrp")).faults
    assert (fault.where, fault.what) == ("mesh 1", "its vertex 4 has index 5, but there are 1 points")


def test_an_unknown_name_among_many_is_told_briefly() -> None:
    specs = specs_of(capture_from_bytes(FILES["names"][0](MANY), Path("none/fat.wrp")))
    with pytest.raises(ParameterError, match=f"and {MANY - 64} more") as refused:
        spec_named(specs, "wave")
    assert len(str(refused.value)) < 1000


def test_json_of_many_names_is_read_in_time(tmp_path: Path) -> None:
    place = tmp_path / "many.json"
    names = [f'"{number}": 0' for number in range(300_000)]
    place.write_text("{" + ", ".join([*names, '"299999": 1']) + "}")
    start = time.perf_counter()
    with pytest.raises(ManifestError, match="the name '299999' appears twice in one object"):
        read_json(place, 1 << 24)
    assert time.perf_counter() - start < 10
