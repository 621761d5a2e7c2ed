"""The wave tank with walls, depth, an absorbing border, sources and probes: 1 + substeps launches a frame.

`basin_prepare` pushes the water at the pointer, advances the clock, and turns what a user set into what a
substep needs: a weight for each face between two cells, the damping of each cell, and what each source does.
`basin_solve` is one substep, which also drives the sources and records the probes; the formulas are told in
`capture.kernels.basin_text`.

- A source adds water to the cell nearest to it and draws it out again, without stopping the waves that pass.
  In open water, undamped, the waves one wavelength from it are as high as its amplitude. It follows
  sin(2 pi frequency t + phase), t = (clock substeps + s) dt at substep s, with the clock before the frame.
- A probe records the height of the cell nearest to it after each substep; NaN where it is off.
- An absorbing border damps the last cells before the wall.

Without walls, at depth 1, with a reflecting border and no sources the results are the reference's, on the
CPU bit for bit. CPU: rows in vector instructions, `CPU_ROWS` a thread. CUDA: a thread a cell; where each face
of a cell is open or shut and nothing is lost, one number tells which, and no weights are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import warp as wp

from capture.basin import SOURCES
from capture.kernels.base import Solver, State, TankArrays
from capture.kernels.basin_text import PREPARE, SOLVE
from capture.kernels.reference import NO_POINTER, push_along
from capture.kernels.tuned import BLOCK, lowest, past_highest

CPU_ROWS = 16
_ROWS = f"    constexpr int CPU_ROWS = {CPU_ROWS};\n"
_INPUTS = (
    "walls", "depth", "border", "source_pos", "source_freq", "source_amp", "source_phase", "source_on",
    "probe_pos",
)  # fmt: skip
_PREPARED = ("west", "north", "absorb", "edge", "drive")


@wp.func_native(_ROWS + PREPARE)
def prepare_cells(
    tid: int,
    threads: int,
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    substeps: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    dt: wp.array(dtype=float),
    walls: wp.array2d(dtype=wp.uint8),
    depth: wp.array2d(dtype=float),
    border: wp.array(dtype=int),
    source_pos: wp.array(dtype=wp.vec2),
    source_freq: wp.array(dtype=float),
    source_amp: wp.array(dtype=float),
    source_phase: wp.array(dtype=float),
    source_on: wp.array(dtype=int),
    probe_pos: wp.array(dtype=wp.vec2),
    pending: wp.array2d(dtype=float),
    west: wp.array2d(dtype=float),
    north: wp.array2d(dtype=float),
    absorb: wp.array2d(dtype=float),
    edge: wp.array(dtype=float),
    drive: wp.array2d(dtype=float),
    probe_out: wp.array2d(dtype=float),
):
    """Prepare the cells of a thread, and its share of sources and probes."""


@wp.kernel(enable_backward=False, grid_stride=False)
def basin_prepare(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    substeps: int,
    threads: int,
    inv_dx: float,
    mouse_pos: wp.array(dtype=wp.vec2),
    pointer_from: wp.array(dtype=wp.vec2),
    radius: wp.array(dtype=float),
    magnitude: wp.array(dtype=float),
    k_speed: wp.array(dtype=float),
    dt: wp.array(dtype=float),
    clock: wp.array(dtype=int),
    walls: wp.array2d(dtype=wp.uint8),
    depth: wp.array2d(dtype=float),
    border: wp.array(dtype=int),
    source_pos: wp.array(dtype=wp.vec2),
    source_freq: wp.array(dtype=float),
    source_amp: wp.array(dtype=float),
    source_phase: wp.array(dtype=float),
    source_on: wp.array(dtype=int),
    probe_pos: wp.array(dtype=wp.vec2),
    pending: wp.array2d(dtype=float),
    west: wp.array2d(dtype=float),
    north: wp.array2d(dtype=float),
    absorb: wp.array2d(dtype=float),
    edge: wp.array(dtype=float),
    drive: wp.array2d(dtype=float),
    probe_out: wp.array2d(dtype=float),
):
    """Prepare a frame, push the water that is no wall, and advance the clock."""
    tid = wp.tid()
    if tid == 0:
        clock[0] = clock[0] + 1
    prepare_cells(
        tid, threads, heights, heights_prev, width, height, substeps, inv_dx, k_speed, dt, walls, depth,
        border, source_pos, source_freq, source_amp, source_phase, source_on, probe_pos, pending, west,
        north, absorb, edge, drive, probe_out,
    )  # fmt: skip
    end = mouse_pos[0]
    start = pointer_from[0]
    if end[0] < NO_POINTER or end[1] < NO_POINTER:
        return
    if start[0] < NO_POINTER or start[1] < NO_POINTER:
        start = end
    reach = wp.abs(radius[0])
    # A thread pushes the cells that it prepared: one, or some rows.
    left = tid % width
    top = tid // width
    right = left + 1
    bottom = top + 1
    if threads < width * height:
        rows = (height + threads - 1) // threads
        left = lowest(start[0], end[0], reach, width)
        right = past_highest(start[0], end[0], reach, width)
        top = wp.max(lowest(start[1], end[1], reach, height), tid * rows)
        bottom = wp.min(past_highest(start[1], end[1], reach, height), (tid + 1) * rows)
    for j in range(top, bottom):
        for i in range(left, right):
            added = push_along(i, j, start, end, reach, magnitude[0])
            if added != 0.0 and walls[j, i] == wp.uint8(0):
                heights[j, i] = heights[j, i] + added
                heights_prev[j, i] = heights_prev[j, i] + added


@wp.func_native(_ROWS + SOLVE)
def solve_cells(
    tid: int,
    threads: int,
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    substep: int,
    substeps: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
    clock: wp.array(dtype=int),
    depth: wp.array2d(dtype=float),
    west: wp.array2d(dtype=float),
    north: wp.array2d(dtype=float),
    absorb: wp.array2d(dtype=float),
    edge: wp.array(dtype=float),
    drive: wp.array2d(dtype=float),
    pending: wp.array2d(dtype=float),
    probe_pos: wp.array(dtype=wp.vec2),
    probe_out: wp.array2d(dtype=float),
):
    """Replace `heights_prev` on the cells of a thread by the next field."""


# Eight blocks a multiprocessor: few registers are left for sources and slanted outflow, which few cells need.
@wp.kernel(enable_backward=False, grid_stride=False, launch_bounds=(BLOCK, 8))
def basin_solve(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    substep: int,
    substeps: int,
    threads: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
    clock: wp.array(dtype=int),
    depth: wp.array2d(dtype=float),
    west: wp.array2d(dtype=float),
    north: wp.array2d(dtype=float),
    absorb: wp.array2d(dtype=float),
    edge: wp.array(dtype=float),
    drive: wp.array2d(dtype=float),
    pending: wp.array2d(dtype=float),
    probe_pos: wp.array(dtype=wp.vec2),
    probe_out: wp.array2d(dtype=float),
):
    """Advance the basin by one substep, drive its sources and record its probes."""
    solve_cells(
        wp.tid(), threads, heights, heights_prev, width, height, substep, substeps, inv_dx, k_speed, k_damp,
        dt, clock, depth, west, north, absorb, edge, drive, pending, probe_pos, probe_out,
    )  # fmt: skip


class BasinSolver(Solver):
    """1 + substeps launches a frame, as the reference."""

    name = "basin"
    summary = "walls, depth, sources and probes; one launch a substep"

    def kernels(self) -> tuple[wp.Kernel, ...]:
        """Return the preparation of a frame, and the substep."""
        return (basin_prepare, basin_solve)

    def load(self, device: Any, width: int, height: int) -> None:
        """Compile and load the module for the block size of its launches."""
        wp.load_module(basin_solve.module, device=device, block_dim=BLOCK)

    def access(self) -> Mapping[str, Mapping[str, str]]:
        """Return how each kernel uses its arrays."""
        read = dict.fromkeys
        return {
            basin_prepare.key: {
                "heights": "read_write",
                "heights_prev": "read_write",
                "clock": "read_write",
                "probe_out": "write",
                **read(("mouse_pos", "pointer_from", "radius", "magnitude", "k_speed", "dt"), "read"),
                **read((*_INPUTS, "pending"), "read"),
                **read(_PREPARED, "write"),
                "edge": "read_write",
            },
            basin_solve.key: {
                "heights": "read",
                "heights_prev": "read_write",
                **read(("k_speed", "k_damp", "dt", "clock", "depth", "probe_pos", *_PREPARED), "read"),
                "edge": "read_write",
                "pending": "write",
                "probe_out": "write",
            },
        }

    def launches(self, width: int, height: int, substeps: int, *, cuda: bool) -> int:
        """Return 1 + substeps."""
        return 1 + substeps

    def scratch(self, width: int, height: int, *, cuda: bool) -> Mapping[str, tuple[int, ...]]:
        """Return what is prepared for the substeps, and what a frame leaves for the next one.

        west, north: weight of the face to the west of a cell, (height, width + 1), and to the north of it,
        (height + 1, width). absorb: share that is lost, on CUDA with more coded
        into it, (height, width). edge: what an absorbing border
        remembers, for rows 0 and -1, then columns 0 and -1. drive: place, gain, frequency and
        phase of a source. pending: place and rate of each source at the end of the last frame.
        """
        return {
            "west": (height, width + 1),
            "north": (height + 1, width),
            "absorb": (height, width),
            "edge": (2 * (width + height),),
            "drive": (SOURCES, 5),
            "pending": (SOURCES, 3),
        }

    def displace(self, arrays: TankArrays) -> None:
        """Launch `basin_prepare`."""
        named, scratch = arrays.named, arrays.scratch
        threads = _threads(arrays)
        wp.launch(
            basin_prepare,
            dim=threads,
            inputs=[
                arrays.heights,
                arrays.heights_prev,
                arrays.width,
                arrays.height,
                named["probe_out"].shape[0],
                threads,
                1.0 / arrays.dx,
                arrays.mouse_pos,
                arrays.pointer_from,
                arrays.radius,
                arrays.magnitude,
                arrays.k_speed,
                arrays.dt,
                arrays.clock,
                *(named[name] for name in _INPUTS),
                scratch["pending"],
                *(scratch[name] for name in _PREPARED),
                named["probe_out"],
            ],
            device=arrays.heights.device,
            block_dim=BLOCK,
        )

    def advance(self, arrays: TankArrays, substeps: int) -> State:
        """Launch a substep at a time; the fields change roles after each."""
        threads = _threads(arrays)
        now, before = arrays.heights, arrays.heights_prev
        for substep in range(substeps):
            wp.launch(
                basin_solve,
                dim=threads,
                inputs=[
                    now,
                    before,
                    arrays.width,
                    arrays.height,
                    substep,
                    substeps,
                    threads,
                    1.0 / arrays.dx,
                    arrays.k_speed,
                    arrays.k_damp,
                    arrays.dt,
                    arrays.clock,
                    arrays.named["depth"],
                    *(arrays.scratch[name] for name in _PREPARED),
                    arrays.scratch["pending"],
                    arrays.named["probe_pos"],
                    arrays.named["probe_out"],
                ],
                device=now.device,
                block_dim=BLOCK,
            )
            now, before = before, now
        return State(newest=now, previous=before)


def _threads(arrays: TankArrays) -> int:
    """Return a thread a cell on CUDA, a thread a strip of rows on the CPU."""
    if arrays.heights.device.is_cuda:
        return arrays.width * arrays.height
    return -(-arrays.height // CPU_ROWS)
