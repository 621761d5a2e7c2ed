"""Several substeps a launch: each value is loaded once and advanced several times before it is stored.

A substep reads 8 bytes a cell and writes 4 for about a dozen operations, so a launch a substep is bound by
memory on large grids and by the launch itself on small ones. Both solvers here advance a piece of the grid
by `depth` substeps while it lies in fast memory.

CUDA: overlapping tiles. A block loads a tile of both fields into registers: `columns` neighbouring cells a
lane, 32 lanes across, `rows` rows a thread, `warps` warps down. After each substep the outermost ring of
the tile is no longer right, for it lacks neighbours: `depth` substeps lose `depth` cells on each side, and
so neighbouring tiles overlap by twice that and the block stores only the inner (32 columns - 2 halo) x
(rows warps - 2 depth) cells, where halo is depth rounded up to whole lanes. The overlap is computed twice;
that is the price, and what `Plan` balances against fewer launches and less traffic. Neighbours to the west
and east come from the next lanes by shuffles, those to the north and south from the thread's own registers
and, at the first and last row of a warp, from shared memory: one barrier a substep. At the border of the
grid a cell takes itself for the missing neighbour, so cells beyond the border are never used. A tile cannot
be written where others still read, so passes go back and forth between the fields and two scratch arrays;
their number is even, and the result lies in `heights` and `heights_prev` for any number of substeps. A
single substep is left to the tuned kernel.

CPU: a wavefront in place. Row j of substep s needs rows j-1 .. j+1 of substep s-1 and replaces row j of
substep s-2, which nobody needs any more once those are there. So one sweep down the grid advances row j by
its first substep, row j-1 by its second, and so on, `CPU_DEPTH` of them, in rows that are still in the
cache. Wide grids are swept in bands of `CPU_COLUMNS` columns, whose edges move one cell to the west each
substep, for the same reason. Nothing is computed twice. One launch does all substeps. Up to
`CPU_CACHED_CELLS` the whole grid stays in the cache anyway, and the order of the sweep only costs: there the
launches are the tuned solver's, one a substep.

Limits: a tile holds at least one cell to store, so `depth` stays below half of its smaller side. A launch is
not a substep here, so the state between two substeps of a pass cannot be looked at, and on CUDA a frame
needs the memory of four fields. Results are the reference's, bit for bit, as the arithmetic is, and what a
capture names has the same names, sizes and meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import warp as wp

from capture.kernels.base import Array, Solver, State, TankArrays
from capture.kernels.stencil import CELL, CONSTANTS, SPAN
from capture.kernels.tiles import Tile, tile_kernel
from capture.kernels.tuned import (
    BLOCK,
    DISPLACE_ACCESS,
    SOLVE_ACCESS,
    TunedSolver,
    displace_box,
    launch_displace,
    launch_solve,
    solve_cells,
    solve_strips,
)

CPU_COLUMNS = 2048
CPU_DEPTH = 16
CPU_CACHED_CELLS = 448 * 448
TILE_ACCESS = {
    "heights": "read",
    "heights_prev": "read",
    "heights_out": "write",
    "heights_prev_out": "write",
    "k_speed": "read",
    "k_damp": "read",
    "dt": "read",
}
WAVEFRONT_ACCESS = {**SOLVE_ACCESS, "heights": "read_write"}


@dataclass(frozen=True)
class Plan:
    """How a grid of at most `cells` cells is advanced on CUDA: in which tiles, how many substeps a pass."""

    cells: float
    tile: Tile
    depth: int

    def __post_init__(self) -> None:
        """Refuse a depth that an even number of passes, or the tile, has no room for."""
        if self.depth < 2 or min(self.tile.stored(self.depth)) < 1:
            raise ValueError(f"{self.tile} cannot advance by {self.depth} substeps")


# Up to the last plan, all tiles of a grid are on the device at once; the last one overlaps least.
PLANS = (
    Plan(160 * 160, Tile(columns=1, rows=4, warps=8, blocks=4), 8),
    Plan(300 * 300, Tile(columns=2, rows=4, warps=8, blocks=3), 8),
    Plan(768 * 768, Tile(columns=2, rows=8, warps=8, blocks=2), 8),
    Plan(1120 * 1120, Tile(columns=4, rows=5, warps=12, blocks=2), 8),
    Plan(float("inf"), Tile(columns=4, rows=6, warps=12, blocks=2), 8),
)


def plan_for(width: int, height: int) -> Plan:
    """Return the plan of a grid, from measurements on one H200."""
    return next(plan for plan in PLANS if width * height <= plan.cells)


def pass_depths(substeps: int, depth: int) -> tuple[int, ...]:
    """Split substeps, at least 2, into an even number of nearly equal passes of at most `depth`."""
    passes = 2 * -(-substeps // (2 * depth))
    least, more = divmod(substeps, passes)
    return (least + 1,) * more + (least,) * (passes - more)


_WAVEFRONT = (
    """
#if !defined(__CUDA_ARCH__)
"""
    + CONSTANTS
    + CELL
    + SPAN
    + f"""
    constexpr int COLUMNS = {CPU_COLUMNS};
    constexpr int DEPTH = {CPU_DEPTH};
"""
    + """
    float* newest = heights.data;
    float* previous = heights_prev.data;
    for (int done = 0; done < substeps; done += DEPTH) {
        const int depth = substeps - done < DEPTH ? substeps - done : DEPTH;
        for (int left = 0; left < width + depth - 1; left += COLUMNS) {
            for (int front = 0; front < height + depth - 1; ++front) {
                for (int s = front < height ? 0 : front - height + 1; s < depth && s <= front; ++s) {
                    const int begin = left > s ? left - s : 0;
                    const int end = left + COLUMNS - s < width ? left + COLUMNS - s : width;
                    if (begin >= end) continue;
                    const int j = front - s;
                    float* out = s % 2 ? newest : previous;
                    const float* now = s % 2 ? previous : newest;
                    const size_t row = size_t(j) * width;
                    const size_t north = j > 0 ? row - width : row;
                    const size_t south = j < height - 1 ? row + width : row;
                    solve_span(out + row, now + row, now + north, now + south, begin, end);
                }
            }
        }
        if (depth % 2) {
            float* swapped = newest;
            newest = previous;
            previous = swapped;
        }
    }
#endif
"""
)


@wp.func_native(_WAVEFRONT)
def wavefront(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    substeps: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Advance both fields by all substeps, in place."""


@wp.kernel(enable_backward=False, grid_stride=False)
def solve_wavefront(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    substeps: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Advance the grid by all substeps in one thread."""
    wavefront(heights, heights_prev, width, height, substeps, inv_dx, k_speed, k_damp, dt)


class FusedSolver(Solver):
    """`displace_box`, then on the CPU one launch or the tuned ones, on CUDA an even number of passes."""

    name = "fused"
    summary = "several substeps a launch, in the cache or in registers"

    def kernels(self) -> tuple[wp.Kernel, ...]:
        """Return the kernels of all devices and plans."""
        return (displace_box, solve_wavefront, solve_strips, solve_cells, *_tile_kernels())

    def load(self, device: Any, width: int, height: int) -> None:
        """Compile and load the modules that this grid needs on this kind of device."""
        wp.load_module(displace_box.module, device=device, block_dim=BLOCK)
        if not wp.get_device(device).is_cuda:
            if width * height > CPU_CACHED_CELLS:
                wp.load_module(solve_wavefront.module, device=device)
            return
        tile = plan_for(width, height).tile
        wp.load_module(tile_kernel(tile).module, device=device, block_dim=tile.threads)

    def access(self) -> Mapping[str, Mapping[str, str]]:
        """Return how each kernel uses its arrays."""
        return {
            displace_box.key: DISPLACE_ACCESS,
            solve_wavefront.key: WAVEFRONT_ACCESS,
            solve_strips.key: SOLVE_ACCESS,
            solve_cells.key: SOLVE_ACCESS,
            **{kernel.key: TILE_ACCESS for kernel in _tile_kernels()},
        }

    def scratch(self, width: int, height: int, *, cuda: bool) -> Mapping[str, tuple[int, ...]]:
        """Return the second pair of fields that the passes on CUDA write to."""
        shape = height, width
        return {"heights_scratch": shape, "heights_prev_scratch": shape} if cuda else {}

    def launches(self, width: int, height: int, substeps: int, *, cuda: bool) -> int:
        """Return one for the push, and one a pass or, where the cache holds the grid, a substep."""
        if not cuda:
            return 1 + (substeps if width * height <= CPU_CACHED_CELLS else 1)
        if substeps == 1:
            return 2
        return 1 + len(pass_depths(substeps, plan_for(width, height).depth))

    def displace(self, arrays: TankArrays) -> None:
        """Launch `displace_box`."""
        launch_displace(arrays)

    def advance(self, arrays: TankArrays, substeps: int) -> State:
        """Launch all passes; see the module on where the result lies."""
        if not arrays.heights.device.is_cuda:
            cached = arrays.width * arrays.height <= CPU_CACHED_CELLS
            return TunedSolver().advance(arrays, substeps) if cached else _advance_in_place(arrays, substeps)
        if substeps == 1:
            launch_solve(arrays, arrays.heights, arrays.heights_prev)
            return State(newest=arrays.heights_prev, previous=arrays.heights)
        return _advance_tiles(arrays, substeps)


def _tile_kernels() -> tuple[wp.Kernel, ...]:
    return tuple(tile_kernel(tile) for tile in dict.fromkeys(plan.tile for plan in PLANS))


def _advance_in_place(arrays: TankArrays, substeps: int) -> State:
    wp.launch(
        solve_wavefront,
        dim=1,
        inputs=[
            arrays.heights,
            arrays.heights_prev,
            arrays.width,
            arrays.height,
            substeps,
            1.0 / arrays.dx,
            arrays.k_speed,
            arrays.k_damp,
            arrays.dt,
        ],
        device=arrays.heights.device,
    )
    if substeps % 2:
        return State(newest=arrays.heights_prev, previous=arrays.heights)
    return State(newest=arrays.heights, previous=arrays.heights_prev)


def _advance_tiles(arrays: TankArrays, substeps: int) -> State:
    plan = plan_for(arrays.width, arrays.height)
    source: tuple[Array, Array] = arrays.heights, arrays.heights_prev
    target: tuple[Array, Array] = arrays.scratch["heights_scratch"], arrays.scratch["heights_prev_scratch"]
    for depth in pass_depths(substeps, plan.depth):
        wp.launch(
            tile_kernel(plan.tile),
            dim=plan.tile.threads * plan.tile.count(arrays.width, arrays.height, depth),
            inputs=[
                *source,
                *target,
                arrays.width,
                arrays.height,
                depth,
                1.0 / arrays.dx,
                arrays.k_speed,
                arrays.k_damp,
                arrays.dt,
            ],
            device=arrays.heights.device,
            block_dim=plan.tile.threads,
        )
        source, target = target, source
    return State(*source)
