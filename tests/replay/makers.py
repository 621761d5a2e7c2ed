"""Captures to test the reader with, recorded by Warp on the CPU: every operation that the CPU records.

Each maker returns what to record and which arrays to name. `record` writes one of them into a folder.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import warp as wp
import warp.sparse

wp.config.log_level = wp.LOG_WARNING


@wp.struct
class Pair:
    """Two arrays and numbers in one argument."""

    gain: float
    first: wp.array2d[float]
    steps: int
    second: wp.array[wp.vec3]


@wp.kernel(module="reader_makers")
def scale(x: wp.array[float], amount: float):
    i = wp.tid()
    x[i] = x[i] * amount


@wp.kernel(module="reader_makers")
def scale2(x: wp.array2d[float], amount: float):
    i, j = wp.tid()
    x[i, j] = x[i, j] * amount


@wp.kernel(module="reader_makers")
def count3(x: wp.array3d[wp.int32]):
    i, j, k = wp.tid()
    x[i, j, k] = x[i, j, k] + 1


@wp.kernel(module="reader_makers")
def count4(x: wp.array4d[wp.int32]):
    i, j, k, m = wp.tid()
    x[i, j, k, m] = x[i, j, k, m] + 1


@wp.kernel(module="reader_makers")
def mix(pair: Pair, out: wp.array[float]):
    i = wp.tid()
    out[i] = pair.gain * pair.first[i, 0] + pair.second[i][1] * float(pair.steps)


@wp.kernel(module="reader_makers")
def pick(x: wp.indexedarray2d(dtype=float), out: wp.array2d[float]):
    i, j = wp.tid()
    out[i, j] = x[i, j]


@wp.kernel(module="reader_makers")
def count_down(left: wp.array[wp.int32], total: wp.array[wp.float64], step: wp.float64):
    left[0] = left[0] - 1
    total[0] = total[0] + step


@wp.kernel(module="reader_makers")
def nearest(mesh: wp.handle, points: wp.array[wp.vec3], distance: wp.array[float]):
    i = wp.tid()
    query = wp.mesh_query_point_no_sign(mesh, points[i], 10.0)
    if query.result:
        distance[i] = wp.length(points[i] - wp.mesh_eval_position(mesh, query.face, query.u, query.v))


@wp.kernel(module="reader_makers")
def stamp(mesh: wp.uint64, out: wp.array[wp.uint64]):
    out[0] = mesh


@wp.struct
class Baked:
    """A mesh as a number, between other members."""

    gain: float
    out: wp.array[float]
    mesh: wp.uint64


@wp.kernel(module="reader_makers")
def hold(baked: Baked):
    baked.out[0] = baked.gain + float(baked.mesh % wp.uint64(2))


@wp.struct
class Holder:
    """An array in a struct, of which an array is made."""

    values: wp.array[float]
    gain: float


@wp.kernel(module="reader_makers")
def gather(holders: wp.array[Holder], out: wp.array[float]):
    i = wp.tid()
    holder = holders[i]
    out[i] = holder.values[0] * holder.gain


@wp.kernel(module="reader_makers")
def gains(holders: wp.array[Holder], out: wp.array[float]):
    i = wp.tid()
    out[i] = holders[i].gain + 1.0


@wp.kernel(module="reader_makers")
def square(x: wp.array[float], y: wp.array[float]):
    i = wp.tid()
    y[i] = x[i] * x[i]


@dataclass
class Recorded:
    """What to record, what to name, and what must live until the capture is saved."""

    body: Callable[[], object]
    inputs: dict[str, wp.array] = field(default_factory=dict)
    outputs: dict[str, wp.array] = field(default_factory=dict)
    keep: list[object] = field(default_factory=list)


def record(maker: Callable[[], Recorded], folder: Path, device: str = "cpu") -> Path:
    """Record a maker's capture into a folder and return the `.wrp` path."""
    with wp.ScopedDevice(device):
        made = maker()
        wp.load_module("reader_makers", device=device)
        with wp.ScopedCapture(apic=True) as capture:
            made.body()
        path = folder / f"{maker.__name__}.wrp"
        wp.capture_save(capture.graph, str(path), inputs=made.inputs, outputs=made.outputs)
    return path


def _floats(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def launches() -> Recorded:
    """One launch each over one to four dimensions, the second one three times."""
    line, plane = wp.array(_floats(7)), wp.array(_floats(3, 5))
    solid, four = (
        wp.zeros((2, 3, 4), dtype=wp.int32),
        wp.array(np.arange(16, dtype=np.int32).reshape(2, 2, 2, 2)),
    )

    def body() -> None:
        wp.launch(scale, 7, inputs=[line, 2.0])
        for number in range(3):
            wp.launch(scale2, (3, 5), inputs=[plane, 0.5 + number])
        wp.launch(count3, (2, 3, 4), inputs=[solid])
        wp.launch(count4, (2, 2, 2, 2), inputs=[four])

    return Recorded(body, {"line": line}, {"line_out": line, "plane": plane, "solid": solid, "four": four})


def struct_argument() -> Recorded:
    """A struct with arrays between numbers."""
    pair = Pair()
    pair.gain, pair.steps = 2.5, 3
    pair.first, pair.second = wp.array(_floats(4, 2)), wp.array(_floats(4, 3), dtype=wp.vec3)
    out = wp.zeros(4, dtype=float)
    return Recorded(
        lambda: wp.launch(mix, 4, inputs=[pair, out]),
        {"first": pair.first, "second": pair.second},
        {"out": out},
    )


def indexed() -> Recorded:
    """An indexed array with a list in its second dimension only."""
    base = wp.array(_floats(3, 6))
    chosen = wp.indexedarray(base, [None, wp.array([5, 0], dtype=wp.int32)])
    out = wp.zeros((3, 2), dtype=float)
    return Recorded(lambda: wp.launch(pick, (3, 2), inputs=[chosen, out]), {"base": base}, {"out": out})


def copies() -> Recorded:
    """Copies, clears and fills of several sizes."""
    a, b = wp.array(_floats(20)), wp.zeros(20, dtype=float)
    vectors = wp.array(_floats(5, 3), dtype=wp.vec3)

    def body() -> None:
        wp.copy(b, a)
        wp.copy(b, a, dest_offset=4, src_offset=10, count=5)
        a.zero_()
        vectors.fill_(wp.vec3(1.0, 2.0, 3.0))
        b[2:6].fill_(7.0)

    return Recorded(body, {"a": a}, {"b": b, "vectors": vectors})


def library() -> Recorded:
    """A scan, two sorts, run lengths, a sum and a dot product."""
    numbers, sums = wp.array(np.arange(8, dtype=np.int32)), wp.zeros(8, dtype=int)
    keys, order = wp.array(_floats(16)), wp.array(np.arange(16, dtype=np.int32))
    segment_keys, segment_order = (
        wp.array(np.arange(16, dtype=np.int32)),
        wp.array(np.arange(16, dtype=np.int32)),
    )
    segments = wp.array([0, 3, 8], dtype=wp.int32)
    runs, lengths, count = (wp.zeros(size, dtype=int) for size in (8, 8, 1))
    x, y = wp.array(np.linspace(0, 1, 8)), wp.array(np.linspace(1, 2, 8))
    total, inner = wp.zeros(1, dtype=wp.float64), wp.zeros(1, dtype=wp.float64)

    def body() -> None:
        wp.utils.array_scan(numbers, sums, inclusive=False)
        wp.utils.radix_sort_pairs(keys, order, 8)
        wp.utils.segmented_sort_pairs(segment_keys, segment_order, 8, segments)
        wp.utils.runlength_encode(numbers, runs, lengths, run_count=count, value_count=8)
        wp.utils.array_sum(x, out=total)
        wp.utils.array_inner(x, y, out=inner)

    return Recorded(body, {"numbers": numbers, "keys": keys}, {"sums": sums, "total": total, "inner": inner})


def sparse() -> Recorded:
    """A sparse matrix from triplets, and its transpose."""
    rows, columns = wp.array([0, 1, 2], dtype=wp.int32), wp.array([1, 0, 2], dtype=wp.int32)
    values = wp.array(_floats(3))
    matrix = wp.sparse.bsr_zeros(3, 3, float)
    flipped = wp.sparse.bsr_zeros(3, 3, float)
    wp.sparse.bsr_set_from_triplets(matrix, rows, columns, values)
    wp.sparse.bsr_set_transpose(flipped, matrix)

    def body() -> None:
        wp.sparse.bsr_set_from_triplets(matrix, rows, columns, values)
        wp.sparse.bsr_set_transpose(flipped, matrix)

    return Recorded(body, {"values": values}, {"offsets": flipped.offsets}, [matrix, flipped])


def conditions() -> Recorded:
    """A WHILE with an IF in it, a launch before, between and after."""
    left, flag = wp.array([3], dtype=wp.int32), wp.array([1], dtype=wp.int32)
    total, x = wp.zeros(1, dtype=wp.float64), wp.array(_floats(4))

    def step() -> None:
        wp.launch(count_down, 1, inputs=[left, total, wp.float64(0.25)])
        wp.capture_if(
            flag,
            on_true=lambda: wp.launch(scale, 4, inputs=[x, 2.0]),
            on_false=lambda: wp.launch(scale, 4, inputs=[x, 3.0]),
        )

    def body() -> None:
        wp.launch(scale, 4, inputs=[x, 1.5])
        wp.capture_while(left, step)
        wp.launch(scale, 4, inputs=[x, 4.0])

    return Recorded(body, {"left": left, "flag": flag}, {"total": total, "x": x})


def mesh_handle() -> Recorded:
    """A mesh as a handle, and the same mesh wrongly passed as a number, alone and in a struct."""
    points = wp.array(np.eye(3, dtype=np.float32), dtype=wp.vec3)
    mesh = wp.Mesh(points=points, indices=wp.array([0, 1, 2], dtype=int))
    ask, distance, seen = (
        wp.array(_floats(2, 3), dtype=wp.vec3),
        wp.zeros(2, dtype=float),
        wp.zeros(1, dtype=wp.uint64),
    )

    def body() -> None:
        wp.launch(nearest, 2, inputs=[wp.handle(mesh.id), ask, distance])
        wp.launch(stamp, 1, inputs=[wp.uint64(mesh.id), seen])
        wp.launch(hold, 1, inputs=[baked])

    baked = Baked()
    baked.gain, baked.out, baked.mesh = 1.0, distance, mesh.id
    return Recorded(body, {"ask": ask}, {"distance": distance}, [mesh])


def views() -> Recorded:
    """A row, a column, a strided slice and a reversed slice of one matrix."""
    matrix = wp.array(_floats(4, 6))
    row, column, every = matrix[1], matrix[:, 2], matrix[3][0:6:2]

    def body() -> None:
        wp.launch(scale, 6, inputs=[row, 2.0])
        wp.launch(scale, 4, inputs=[column, 2.0])
        wp.launch(scale, 3, inputs=[every, 2.0])
        wp.launch(scale2, (4, 6), inputs=[matrix, 2.0])

    return Recorded(body, {"matrix": matrix}, {})


def flattened() -> Recorded:
    """A matrix that is used flattened first."""
    matrix = wp.array(_floats(4, 6))

    def body() -> None:
        wp.launch(scale, 24, inputs=[matrix.flatten(), 2.0])
        wp.launch(scale2, (4, 6), inputs=[matrix, 2.0])

    return Recorded(body, {"matrix": matrix}, {})


def backward() -> Recorded:
    """A launch and its adjoint."""
    x = wp.array(_floats(8), requires_grad=True)
    y = wp.zeros(8, dtype=float, requires_grad=True)
    y.grad.fill_(1.0)

    def body() -> None:
        wp.launch(square, 8, inputs=[x], outputs=[y])
        wp.launch(square, 8, inputs=[x], outputs=[y], adj_inputs=[x.grad], adj_outputs=[y.grad], adjoint=True)

    return Recorded(body, {"x": x}, {"y": y, "slope": x.grad})


def arrays_in_array() -> Recorded:
    """An array of structs that hold arrays, which Warp saves with the addresses of this process."""
    holders = [Holder(), Holder()]
    for number, holder in enumerate(holders):
        holder.values, holder.gain = wp.array(_floats(3)), float(number)
    taken = wp.array(holders, dtype=Holder)
    out = wp.zeros(2, dtype=float)
    return Recorded(lambda: wp.launch(gather, 2, inputs=[taken, out]), {}, {"out": out}, list(holders))


def _holders() -> tuple[wp.array, list[Holder]]:
    holders = [Holder(), Holder()]
    for number, holder in enumerate(holders):
        holder.values, holder.gain = wp.array(_floats(3)), float(number)
    return wp.array(holders, dtype=Holder), holders


def arrays_in_array_cleared() -> Recorded:
    """The same, but the array is cleared before a kernel takes it."""
    taken, keep = _holders()
    out = wp.zeros(2, dtype=float)

    def body() -> None:
        taken.zero_()
        wp.launch(gains, 2, inputs=[taken, out])

    return Recorded(body, {}, {"out": out}, [taken, *keep])


def arrays_in_array_copied() -> Recorded:
    """The same, but the array is copied into one that is clear before a kernel takes that."""
    taken, keep = _holders()
    target, out = wp.zeros(2, dtype=Holder), wp.zeros(2, dtype=float)

    def body() -> None:
        wp.copy(target, taken)
        wp.launch(gather, 2, inputs=[target, out])

    return Recorded(body, {}, {"out": out}, [taken, target, *keep])


def no_elements() -> Recorded:
    """Names for arrays without elements: one that a launch over nothing takes, one that nothing takes."""
    empty, line = wp.zeros(0, dtype=float), wp.array(_floats(4))

    def body() -> None:
        wp.launch(scale, 0, inputs=[empty, 2.0])
        wp.launch(scale, 4, inputs=[line, 2.0])

    return Recorded(body, {"empty": empty, "line": line}, {"empty_out": wp.zeros((0, 3), dtype=wp.int32)})


def nothing() -> Recorded:
    """No operation at all."""
    x = wp.array(_floats(3))
    return Recorded(lambda: None, {"x": x}, {"x_out": x})


MAKERS = (
    launches, struct_argument, indexed, copies, library, sparse, conditions, mesh_handle, views,
    flattened, backward, arrays_in_array, arrays_in_array_cleared, arrays_in_array_copied, no_elements,
    nothing,
)  # fmt: skip
