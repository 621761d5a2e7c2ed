"""Access read from generated CUDA source: the forms that Warp writes, and what must stay unknown."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path

import pytest

from replay.graph.model import Access, Kernel, Module
from replay.graph.source_access import access_of_functions, packaged_access

READ, WRITE, BOTH = Access.READ, Access.WRITE, Access.READ_WRITE

# As Warp 1.19 generates it, without what says nothing about arrays.
SOURCE = """
#include "builtin.h"
static CUDA_CALLABLE wp::float32 rd_0(
    wp::array_t<wp::float32> var_a,
    wp::int32 var_i)
{
    wp::float32* var_0;
    // return a[i]
    var_0 = wp::address(var_a, var_i);
    var_2 = wp::load(var_0);
    var_1 = wp::copy(var_2);
    return var_1;
}
static CUDA_CALLABLE void helper_0(
    wp::array_t<wp::float32> var_a,
    wp::int32 var_i,
    wp::float32 var_v)
{
    var_1 = wp::add(var_v, var_0);
    wp::array_store(var_a, var_i, var_1);
}
static CUDA_CALLABLE wp::float32 around_0(
    wp::array_t<wp::float32> var_a,
    wp::int32 var_i)
{
    var_0 = around_0(var_a, var_i);
    return var_0;
}
extern "C" __global__ void k1_9196b89d_cuda_kernel_forward(
    wp::launch_bounds_t<1> dim,
    wp::array_t<wp::float32> var_a,
    wp::array_t<wp::float32> var_b,
    wp::array_t<wp::vec_t<3, wp::float32>> var_c,
    wp::array_t<wp::float32> var_d,
    wp::array_t<wp::float32> var_e,
    wp::array_t<wp::float32> var_f,
    wp::array_t<wp::float32> var_g,
    wp::array_t<wp::float32> var_h,
    Pair_47fdc79b var_p,
    wp::int32 var_n)
{
    wp::tile_shared_storage_t tile_mem;
    for (size_t _idx = 0; _idx < dim.size; _idx += 1)
    {
        wp::array_t<wp::float32> var_1;
        wp::float32* var_2;
        // row = b[i]; array_store(var_f) in a comment is no store
        var_0 = builtin_tid1d();
        var_1 = wp::view(var_b, var_0);
        var_2 = wp::address(var_a, var_0);
        var_3 = rd_0(var_f, var_0);
        var_5 = wp::load(var_2);
        var_4 = wp::add(var_5, var_3);
        wp::array_store(var_1, var_6, var_4);
        var_8 = &(wp::index(var_c, var_0));
        wp::store(&(wp::index(var_c, var_0).component_ref(var_9)), var_7);
        var_12 = wp::atomic_add(var_d, var_10, var_13);
        helper_0(var_e, var_0, var_14);
        var_15 = &(var_d.shape);
        var_18 = wp::load(var_15);
        var_30 = something_new(var_g, var_0);
        var_31 = around_0(var_h, var_0);
        var_40 = &((var_p).first);
        var_41 = wp::load(var_40);
        wp::array_store(var_41, var_0, var_3);
    }
}
extern "C" __global__ void k1_9196b89d_cuda_kernel_backward(
    wp::launch_bounds_t<1> dim,
    wp::array_t<wp::float32> var_a)
{
}
"""


def test_each_form() -> None:
    found = access_of_functions(SOURCE)
    assert found["rd_0"] == (READ, None)
    assert found["helper_0"] == (WRITE, None, None)
    assert found["k1_9196b89d_cuda_kernel_forward"] == (
        None,  # launch bounds
        READ,  # an address that is loaded
        WRITE,  # through a view
        WRITE,  # one component
        BOTH,  # atomic
        WRITE,  # in a function
        READ,  # in a function
        None,  # a call that nobody knows
        None,  # recursion
        None,  # a struct
        None,  # a number
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("wp::array_store(var_a, var_0, var_1);", WRITE),
        ("var_1 = wp::address(var_a, var_0);", Access.NONE),
        ("var_1 = wp::address(var_a, var_0); wp::atomic_add(var_1, var_2);", BOTH),
        ("var_1 = wp::address(var_a, var_0); mystery(var_1);", None),
        ("var_1 = wp::view(var_a, var_0); var_2 = wp::view(var_1, var_0); wp::atomic_max(var_2);", BOTH),
        ("var_3 = wp::tile_load<wp::tile_shape_t<64>>(var_a, var_0);", READ),
        ("wp::tile_store(var_a, var_0, var_1);", WRITE),
        ("wp::array_store(var_a, var_0, var_1); var_3 = wp::select(var_2, var_a, var_a);", None),
        ("var_9 = var_a.data;", None),
        ("return var_a;", None),
    ],
)  # fmt: skip
def test_one_statement(statement: str, expected: Access | None) -> None:
    assert access_of_functions(_function("f_0", statement))["f_0"] == (expected,)


def _function(name: str, body: str) -> str:
    head = f"static CUDA_CALLABLE void {name}(\n    wp::array_t<wp::float32> var_a)"
    return f"{head}\n{{\n    {body}\n}}\n"


def test_source_counts_only_with_the_recorded_digest(tmp_path: Path) -> None:
    text = SOURCE.encode()
    (tmp_path / "m.cu").write_bytes(text)
    module = Module("h", "m", "m.cubin", 90, "", "m.cu", hashlib.sha256(text).hexdigest(), 0, 0, 0)
    kernel = Kernel("k1", "h", "k1_9196b89d_cuda_kernel_forward", "", 0, 0, 256, 0)

    def access(**changes: str) -> dict[tuple[str, str], tuple[Access | None, ...]]:
        return packaged_access([dataclasses.replace(module, **changes)], [kernel], tmp_path)

    assert access()["k1", "h"][:3] == (READ, WRITE, WRITE)
    assert access(source_digest="0" * 64) == {}
    assert access(source_file="missing.cu") == {}
    assert access(source_file="../m.cu") == {}


def test_hostile_source_ends_quickly() -> None:
    deep = "".join(_function(f"f{n}", f"f{n + 1}(var_a);") for n in range(3000))
    assert access_of_functions(deep)["f0"] == (None,)
    assert access_of_functions("static CUDA_CALLABLE " + " " * 100_000 + "\n" + "(" * 50_000) == {}
    blanks = "static CUDA_CALLABLE void f(wp::array_t<wp::float32> var_a) { g(var_a" + " " * 100_000 + "x; }"
    assert access_of_functions(blanks)["f"] == (None,)
