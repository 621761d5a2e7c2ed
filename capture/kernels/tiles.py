"""The CUDA kernel of the fused solver: one tile of the grid a block, several substeps in registers.

How tiles overlap, and why, is explained in `capture.kernels.fused`, which chooses their shape. Which pass
reads and writes which arrays is its business too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import warp as wp

from capture.kernels.stencil import CELL, CONSTANTS

WARP = 32


@dataclass(frozen=True)
class Tile:
    """Shape of a block's tile.

    Attributes:
        columns: neighbouring columns a lane holds.
        rows: rows a thread holds.
        warps: warps in a block, one below the other.
        blocks: blocks that a multiprocessor should hold at once; bounds the registers of a thread.
    """

    columns: int
    rows: int
    warps: int
    blocks: int

    @property
    def threads(self) -> int:
        """Threads in a block."""
        return WARP * self.warps

    def stored(self, depth: int) -> tuple[int, int]:
        """Return columns and rows that are right after `depth` substeps."""
        halo = -(-depth // self.columns) * self.columns
        return WARP * self.columns - 2 * halo, self.rows * self.warps - 2 * depth

    def count(self, width: int, height: int, depth: int) -> int:
        """Return how many tiles cover a grid."""
        columns, rows = self.stored(depth)
        return -(-width // columns) * -(-height // rows)


_TILE = (
    """
#if defined(__CUDA_ARCH__)
"""
    + CONSTANTS
    + CELL
    + """
    typedef float Cells[ROWS][COLUMNS];
    struct Inner { enum { has_border = 0 }; };
    struct Border { enum { has_border = 1 }; };
    constexpr unsigned ALL = 0xffffffffu;
    constexpr int TILE_WIDTH = 32 * COLUMNS;
    constexpr int TILE_HEIGHT = WARPS * ROWS;
    // First and last row of each warp, twice: one is read while the other is written.
    __shared__ __align__(16) float edges[2][2][WARPS][TILE_WIDTH];
    struct __align__(4 * COLUMNS) Lane { float cells[COLUMNS]; };

    const int halo = (depth + COLUMNS - 1) / COLUMNS * COLUMNS;
    const int stored_columns = TILE_WIDTH - 2 * halo;
    const int stored_rows = TILE_HEIGHT - 2 * depth;
    const int across = (width + stored_columns - 1) / stored_columns;
    const int tile = tid / (32 * WARPS);
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int tile_x = tile % across * stored_columns - halo;
    const int tile_y = tile / across * stored_rows - depth;
    const int x = tile_x + lane * COLUMNS;
    const int y = tile_y + warp * ROWS;
    // Whole lanes move 16 or 8 bytes at a time where the width keeps rows aligned.
    const bool whole = COLUMNS > 1 && width % COLUMNS == 0;
    auto load = [&](const float* __restrict__ field, Cells& cells) {
        if (whole) {
            const float* column = field + min(max(x, 0), width - COLUMNS);
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const float* at = column + size_t(min(max(y + r, 0), height - 1)) * width;
                if (COLUMNS == 4) {
                    const float4 four = __ldg(reinterpret_cast<const float4*>(at));
                    cells[r][0] = four.x;
                    cells[r][1 % COLUMNS] = four.y;
                    cells[r][2 % COLUMNS] = four.z;
                    cells[r][3 % COLUMNS] = four.w;
                } else {
                    const float2 two = __ldg(reinterpret_cast<const float2*>(at));
                    cells[r][0] = two.x;
                    cells[r][1 % COLUMNS] = two.y;
                }
            }
        } else {
            #pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                const float* row = field + size_t(min(max(y + r, 0), height - 1)) * width;
                #pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
                    cells[r][c] = __ldg(row + min(max(x + c, 0), width - 1));
            }
        }
    };
    auto store = [&](float* __restrict__ field, const Cells& cells) {
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const int in_tile = warp * ROWS + r;
            if (in_tile < depth || in_tile >= TILE_HEIGHT - depth || y + r >= height) continue;
            float* at = field + size_t(y + r) * width + x;
            if (whole && COLUMNS == 4) {
                *reinterpret_cast<float4*>(at) = make_float4(cells[r][0], cells[r][1 % COLUMNS],
                                                             cells[r][2 % COLUMNS], cells[r][3 % COLUMNS]);
            } else if (whole) {
                *reinterpret_cast<float2*>(at) = make_float2(cells[r][0], cells[r][1 % COLUMNS]);
            } else {
                #pragma unroll
                for (int c = 0; c < COLUMNS; ++c)
                    if (x + c < width) at[c] = cells[r][c];
            }
        }
    };
    auto publish = [&](int slot, const Cells& field) {
        // A lane's cells go as one: cell by cell, lanes would meet in the banks of shared memory.
        *reinterpret_cast<Lane*>(&edges[slot][0][warp][lane * COLUMNS]) =
            *reinterpret_cast<const Lane*>(field[0]);
        *reinterpret_cast<Lane*>(&edges[slot][1][warp][lane * COLUMNS]) =
            *reinterpret_cast<const Lane*>(field[ROWS - 1]);
        __syncthreads();
    };
    // One substep of the thread's cells: the field before is replaced by the one after now.
    auto substep = [&](auto kind, const Cells& now, Cells& before, int slot) {
        constexpr bool has_border = decltype(kind)::has_border;
        const int above = warp > 0 ? warp - 1 : 0;
        const int below = warp < WARPS - 1 ? warp + 1 : warp;
        float north_edge[COLUMNS], south_edge[COLUMNS];
        #pragma unroll
        for (int c = 0; c < COLUMNS; ++c) {
            north_edge[c] = edges[slot][1][above][lane * COLUMNS + c];
            south_edge[c] = edges[slot][0][below][lane * COLUMNS + c];
        }
        #pragma unroll
        for (int r = 0; r < ROWS; ++r) {
            const float from_west = __shfl_up_sync(ALL, now[r][COLUMNS - 1], 1);
            const float from_east = __shfl_down_sync(ALL, now[r][0], 1);
            #pragma unroll
            for (int c = 0; c < COLUMNS; ++c) {
                const float centre = now[r][c];
                float west = c > 0 ? now[r][c > 0 ? c - 1 : 0] : from_west;
                float east = c < COLUMNS - 1 ? now[r][c < COLUMNS - 1 ? c + 1 : 0] : from_east;
                float north = r > 0 ? now[r > 0 ? r - 1 : 0][c] : north_edge[c];
                float south = r < ROWS - 1 ? now[r < ROWS - 1 ? r + 1 : 0][c] : south_edge[c];
                if (has_border) {
                    if (x + c == 0) west = centre;
                    if (x + c == width - 1) east = centre;
                    if (y + r == 0) north = centre;
                    if (y + r == height - 1) south = centre;
                }
                before[r][c] = cell(before[r][c], centre, west, east, north, south);
            }
        }
    };

    Cells even, odd;  // the newest field after an even and after an odd number of substeps
    load(heights.data, even);
    load(heights_prev.data, odd);
    auto advance = [&](auto kind) {
        publish(0, even);
        for (int done = 0;;) {
            substep(kind, even, odd, 0);
            if (++done == depth) break;
            publish(1, odd);
            substep(kind, odd, even, 1);
            if (++done == depth) break;
            publish(0, even);
        }
    };
    if (tile_x > 0 && tile_x + TILE_WIDTH < width && tile_y > 0 && tile_y + TILE_HEIGHT < height)
        advance(Inner());
    else
        advance(Border());

    if (lane * COLUMNS < halo || lane * COLUMNS >= TILE_WIDTH - halo || x >= width) return;
    store(depth % 2 ? heights_prev_out.data : heights_out.data, even);
    store(depth % 2 ? heights_out.data : heights_prev_out.data, odd);
#endif
"""
)


@cache
def tile_kernel(tile: Tile) -> wp.Kernel:
    """Return the kernel that advances tiles of this shape by `depth` substeps."""
    shape = (
        f"constexpr int COLUMNS = {tile.columns}; "
        f"constexpr int ROWS = {tile.rows}; "
        f"constexpr int WARPS = {tile.warps};"
    )

    @wp.func_native(shape + _TILE)
    def advance_tile(
        tid: int,
        heights: wp.array2d(dtype=float),
        heights_prev: wp.array2d(dtype=float),
        heights_out: wp.array2d(dtype=float),
        heights_prev_out: wp.array2d(dtype=float),
        width: int,
        height: int,
        depth: int,
        inv_dx: float,
        k_speed: wp.array(dtype=float),
        k_damp: wp.array(dtype=float),
        dt: wp.array(dtype=float),
    ): ...

    @wp.kernel(
        name=f"solve_tile_{tile.columns}x{tile.rows}x{tile.warps}",
        module="unique",
        enable_backward=False,
        grid_stride=False,
        launch_bounds=(tile.threads, tile.blocks),
    )
    def solve_tile(
        heights: wp.array2d(dtype=float),
        heights_prev: wp.array2d(dtype=float),
        heights_out: wp.array2d(dtype=float),
        heights_prev_out: wp.array2d(dtype=float),
        width: int,
        height: int,
        depth: int,
        inv_dx: float,
        k_speed: wp.array(dtype=float),
        k_damp: wp.array(dtype=float),
        dt: wp.array(dtype=float),
    ):
        advance_tile(
            wp.tid(),
            heights,
            heights_prev,
            heights_out,
            heights_prev_out,
            width,
            height,
            depth,
            inv_dx,
            k_speed,
            k_damp,
            dt,
        )

    return solve_tile
