"""The same frame as the reference, one launch a substep, with kernels written for the device.

CPU: a thread takes `CPU_ROWS` rows. Along a row the inner loop has no index arithmetic and no branches, so
that the compiler turns it into vector instructions; the two border columns are handled outside it.

CUDA, up to `SMALL_CELLS` cells: a launch is over before the device is full, so what counts is how long one
thread takes. It has one cell, no loop, no branch and no division (a multiplication finds its row), and all
its loads are under way at once; its code is short too, for each launch fetches it anew.

CUDA, larger grids: a thread takes `CUDA_ROWS` rows of `COLUMNS` neighbouring columns. It loads each of its
values once, 16 bytes at a time, and all loads are under way before the first is needed. Neighbours to the
west and east are read from the cache. A width that is no multiple of `COLUMNS` breaks the alignment of rows;
there a thread goes down one column with three rows in registers.

`displace_box` visits only the cells of the box around the pushed segment, not the whole grid.

Arrays change roles as in the reference, and so do the names of what a capture binds. Results are the
reference's, bit for bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import warp as wp

from capture.kernels.base import Solver, State, TankArrays
from capture.kernels.reference import NO_POINTER, push_along
from capture.kernels.stencil import CELL, CONSTANTS, SPAN

CPU_ROWS = 16
CUDA_ROWS = 4
COLUMNS = 4
SMALL_CELLS = 512 * 512
BLOCK = 256
BOX_LANES, BOX_ROWS = 128, 128

DISPLACE_ACCESS = {
    "heights": "read_write",
    "heights_prev": "read_write",
    "mouse_pos": "read",
    "pointer_from": "read",
    "radius": "read",
    "magnitude": "read",
    "clock": "read_write",
}
SOLVE_ACCESS = {
    "heights": "read",
    "heights_prev": "read_write",
    "k_speed": "read",
    "k_damp": "read",
    "dt": "read",
}

_CPU = (
    CONSTANTS
    + CELL
    + SPAN
    + """
    const int first = tid * CPU_ROWS;
    const int end = first + CPU_ROWS < height ? first + CPU_ROWS : height;
    for (int j = first; j < end; ++j) {
        const size_t row = size_t(j) * width;
        const size_t north = j > 0 ? row - width : row;
        const size_t south = j < height - 1 ? row + width : row;
        solve_span(heights_prev.data + row, heights.data + row, heights.data + north, heights.data + south,
                   0, width);
    }
"""
)

_CUDA = (
    CONSTANTS
    + CELL
    + """
    const int strips = (width + columns - 1) / columns;
    const int i = tid % strips * columns;
    const int first = tid / strips * CUDA_ROWS;
    const float* __restrict__ field = heights.data;
    float* __restrict__ before = heights_prev.data;
    if (columns == 4) {
        const int west = i > 0 ? -1 : 0;
        const int east = i + 4 < width ? 4 : 3;
        auto row_at = [=](int j) { return size_t(j < 0 ? 0 : j < height ? j : height - 1) * width + i; };
        float4 rows_in[CUDA_ROWS + 2], old[CUDA_ROWS];
        float left[CUDA_ROWS], right[CUDA_ROWS];
        #pragma unroll
        for (int r = -1; r <= CUDA_ROWS; ++r)
            rows_in[r + 1] = __ldg(reinterpret_cast<const float4*>(field + row_at(first + r)));
        #pragma unroll
        for (int r = 0; r < CUDA_ROWS; ++r) {
            const size_t at = row_at(first + r);
            old[r] = *reinterpret_cast<const float4*>(before + at);
            left[r] = __ldg(field + at + west);
            right[r] = __ldg(field + at + east);
        }
        #pragma unroll
        for (int r = 0; r < CUDA_ROWS; ++r) {
            if (first + r < height) {
                const float4 n = rows_in[r], c = rows_in[r + 1], s = rows_in[r + 2];
                float4 out;
                out.x = cell(old[r].x, c.x, left[r], c.y, n.x, s.x);
                out.y = cell(old[r].y, c.y, c.x, c.z, n.y, s.y);
                out.z = cell(old[r].z, c.z, c.y, c.w, n.z, s.z);
                out.w = cell(old[r].w, c.w, c.z, right[r], n.w, s.w);
                *reinterpret_cast<float4*>(before + row_at(first + r)) = out;
            }
        }
    } else {
        const int west = i > 0 ? -1 : 0;
        const int east = i + 1 < width ? 1 : 0;
        auto row_at = [=](int j) { return size_t(j < 0 ? 0 : j < height ? j : height - 1) * width + i; };
        float north = __ldg(field + row_at(first - 1)), centre = __ldg(field + row_at(first));
        #pragma unroll
        for (int r = 0; r < CUDA_ROWS; ++r) {
            const float south = __ldg(field + row_at(first + r + 1));
            if (first + r < height) {
                const size_t at = row_at(first + r);
                const float left = __ldg(field + at + west), right = __ldg(field + at + east);
                before[at] = cell(before[at], centre, left, right, north, south);
            }
            north = centre;
            centre = south;
        }
    }
"""
)

_SNIPPET = f"""
    constexpr int CPU_ROWS = {CPU_ROWS};
    constexpr int CUDA_ROWS = {CUDA_ROWS};
#if defined(__CUDA_ARCH__)
{_CUDA}
#else
{_CPU}
#endif
"""


@wp.func_native(_SNIPPET)
def solve_strip(
    tid: int,
    columns: int,
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Replace `heights_prev` on the strip of a thread by the next field."""


@wp.kernel(enable_backward=False, grid_stride=False)
def solve_strips(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    columns: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Advance the grid by one substep, a strip of cells a thread."""
    solve_strip(wp.tid(), columns, heights, heights_prev, width, height, inv_dx, k_speed, k_damp, dt)


_CELL = (
    """
#if defined(__CUDA_ARCH__)
"""
    + CONSTANTS
    + CELL
    + """
    // Not Warp's tid, which would bring a division for launches that this kernel has none of.
    const unsigned tid = blockIdx.x * blockDim.x + threadIdx.x;
    const int j = __umulhi(tid, reciprocal);
    const int i = tid - j * width;
    const float* __restrict__ centre = heights.data + tid;
    float* __restrict__ before = heights_prev.data + tid;
    *before = cell(*before, __ldg(centre), __ldg(centre - (i > 0)), __ldg(centre + (i < width - 1)),
                   __ldg(centre - (j > 0 ? width : 0)), __ldg(centre + (j < height - 1 ? width : 0)));
#endif
"""
)


@wp.func_native(_CELL)
def solve_cell(
    reciprocal: wp.uint32,
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Replace `heights_prev` on the cell of a thread by the next field."""


@wp.kernel(enable_backward=False, grid_stride=False)
def solve_cells(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    reciprocal: wp.uint32,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Advance the grid by one substep, a cell a thread; reciprocal is 2^32 / width, rounded up."""
    solve_cell(reciprocal, heights, heights_prev, width, height, inv_dx, k_speed, k_damp, dt)


@wp.func
def lowest(a: float, b: float, radius: float, count: int) -> int:
    """First index in 0..count that a segment from a to b, widened by radius, can reach."""
    return int(wp.clamp(wp.floor(wp.min(a, b) - radius), 0.0, float(count)))


@wp.func
def past_highest(a: float, b: float, radius: float, count: int) -> int:
    """First index in 0..count beyond those that the widened segment can reach."""
    return int(wp.clamp(wp.ceil(wp.max(a, b) + radius) + 1.0, 0.0, float(count)))


@wp.kernel(enable_backward=False, grid_stride=False)
def displace_box(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    lanes_log2: int,
    rows_at_once: int,
    mouse_pos: wp.array(dtype=wp.vec2),
    pointer_from: wp.array(dtype=wp.vec2),
    radius: wp.array(dtype=float),
    magnitude: wp.array(dtype=float),
    clock: wp.array(dtype=int),
):
    """Push the cells near the segment from `pointer_from` to `mouse_pos`, and advance the clock.

    Threads stand in `rows_at_once` rows of 2^lanes_log2, and go over the box in steps of that size.
    """
    tid = wp.tid()
    # All is read before anything is written, so that no load waits for another.
    end = mouse_pos[0]
    start = pointer_from[0]
    reach = wp.abs(radius[0])
    peak = magnitude[0]
    frames = clock[0]
    if tid == 0:
        clock[0] = frames + 1
    if end[0] < NO_POINTER or end[1] < NO_POINTER:
        return
    if start[0] < NO_POINTER or start[1] < NO_POINTER:
        start = end
    lanes = 1 << lanes_log2
    left = lowest(start[0], end[0], reach, width) + (tid & (lanes - 1))
    top = lowest(start[1], end[1], reach, height) + (tid >> lanes_log2)
    right = past_highest(start[0], end[0], reach, width)
    bottom = past_highest(start[1], end[1], reach, height)
    i = left
    j = top
    while j < bottom:  # one loop for both directions: the compiler does not unroll it
        if i < right:
            added = push_along(i, j, start, end, reach, peak)
            if added != 0.0:
                heights[j, i] = heights[j, i] + added
                heights_prev[j, i] = heights_prev[j, i] + added
        i += lanes
        if i >= right:
            i = left
            j += rows_at_once


class TunedSolver(Solver):
    """1 + substeps launches a frame, as the reference."""

    name = "tuned"
    summary = "one launch a substep, written for the device"

    def kernels(self) -> tuple[wp.Kernel, ...]:
        """Return the push, and the substep on strips and on cells."""
        return (displace_box, solve_strips, solve_cells)

    def load(self, device: Any, width: int, height: int) -> None:
        """Compile and load the module for the block size of its launches."""
        wp.load_module(solve_strips.module, device=device, block_dim=BLOCK)

    def access(self) -> Mapping[str, Mapping[str, str]]:
        """Return how each kernel uses its arrays."""
        return {
            displace_box.key: DISPLACE_ACCESS,
            solve_strips.key: SOLVE_ACCESS,
            solve_cells.key: SOLVE_ACCESS,
        }

    def launches(self, width: int, height: int, substeps: int, *, cuda: bool) -> int:
        """Return 1 + substeps."""
        return 1 + substeps

    def displace(self, arrays: TankArrays) -> None:
        """Launch `displace_box`."""
        launch_displace(arrays)

    def advance(self, arrays: TankArrays, substeps: int) -> State:
        """Launch a substep at a time; the fields change roles after each."""
        now, before = arrays.heights, arrays.heights_prev
        for _ in range(substeps):
            launch_solve(arrays, now, before)
            now, before = before, now
        return State(newest=now, previous=before)


def launch_displace(arrays: TankArrays) -> None:
    """Launch the push of the pointer and the advance of the clock on the cells that the push can reach."""
    lanes, rows = (BOX_LANES, min(BOX_ROWS, arrays.height)) if arrays.heights.device.is_cuda else (1, 1)
    wp.launch(
        displace_box,
        dim=lanes * rows,
        inputs=[
            arrays.heights,
            arrays.heights_prev,
            arrays.width,
            arrays.height,
            lanes.bit_length() - 1,
            rows,
            arrays.mouse_pos,
            arrays.pointer_from,
            arrays.radius,
            arrays.magnitude,
            arrays.clock,
        ],
        device=arrays.heights.device,
        block_dim=BLOCK,
    )


def launch_solve(arrays: TankArrays, now: Any, before: Any) -> None:
    """Launch one substep, which replaces the field `before` by the one after `now`."""
    width, height = arrays.width, arrays.height
    kernel, extra = solve_strips, width
    if not now.device.is_cuda:
        threads = -(-height // CPU_ROWS)
    elif width * height <= SMALL_CELLS:
        # The high half of tid * reciprocal is tid // width as long as tid * width < 2^32.
        kernel, extra, threads = solve_cells, -(-(2**32) // width), width * height
    else:
        extra = COLUMNS if width % COLUMNS == 0 else 1
        threads = width // extra * -(-height // CUDA_ROWS)
    wp.launch(
        kernel,
        dim=threads,
        inputs=[
            now,
            before,
            width,
            height,
            extra,
            1.0 / arrays.dx,
            arrays.k_speed,
            arrays.k_damp,
            arrays.dt,
        ],
        device=now.device,
        block_dim=BLOCK,
    )
