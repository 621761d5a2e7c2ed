"""The reference frame: the kernels of Warp's published wave example, one launch a substep.

`wave_displace` pushes the water around the pointer, `wave_solve` advances it by one substep. Both take
1-D launches of width * height threads. What the example bakes in as scalars is read from one-element
arrays here, so that a replay can move it. Faster solvers are measured against this frame; it is not tuned.
"""

from __future__ import annotations

from collections.abc import Mapping

import warp as wp

from capture.kernels.base import Solver, State, TankArrays

NO_POINTER = wp.constant(-999.0)  # smaller coordinates mean that there is no pointer


@wp.func
def distance_squared(at: wp.vec2, start: wp.vec2, end: wp.vec2) -> float:
    """Squared distance of a point from the segment start..end, in cells squared."""
    along = end - start
    length_squared = wp.dot(along, along)
    share = float(0.0)  # noqa: UP018 (Warp takes a bare literal for a constant)
    if length_squared > 0.0:
        share = wp.clamp(wp.dot(at - start, along) / length_squared, 0.0, 1.0)
    off = at - start - share * along
    return wp.dot(off, off)


@wp.func
def push_along(i: int, j: int, start: wp.vec2, end: wp.vec2, radius: float, magnitude: float) -> float:
    """Height in m that a push along start..end adds: magnitude (1 - d^2/radius^2) within radius."""
    d2 = distance_squared(wp.vec2(float(i), float(j)), start, end)
    r2 = radius * radius
    if d2 >= r2:
        return 0.0
    return magnitude * (1.0 - d2 / r2)


@wp.func
def push(
    i: int,
    j: int,
    mouse_pos: wp.array(dtype=wp.vec2),
    pointer_from: wp.array(dtype=wp.vec2),
    radius: wp.array(dtype=float),
    magnitude: wp.array(dtype=float),
) -> float:
    """Height in m that the pointer, if there is one, adds to column i, row j."""
    end = mouse_pos[0]
    start = pointer_from[0]
    if end[0] < NO_POINTER or end[1] < NO_POINTER:
        return 0.0
    if start[0] < NO_POINTER or start[1] < NO_POINTER:
        start = end
    return push_along(i, j, start, end, radius[0], magnitude[0])


@wp.func
def laplacian(heights: wp.array2d(dtype=float), i: int, j: int, width: int, height: int) -> float:
    """Five-point Laplacian times dx^2 of column i, row j; indices are clamped at the border."""
    centre = heights[j, i]
    west = heights[j, wp.max(i - 1, 0)]
    east = heights[j, wp.min(i + 1, width - 1)]
    north = heights[wp.max(j - 1, 0), i]
    south = heights[wp.min(j + 1, height - 1), i]
    return east + west + south + north - 4.0 * centre


@wp.kernel
def wave_displace(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    mouse_pos: wp.array(dtype=wp.vec2),
    pointer_from: wp.array(dtype=wp.vec2),
    radius: wp.array(dtype=float),
    magnitude: wp.array(dtype=float),
    clock: wp.array(dtype=int),
):
    """Add the pointer's push to both height fields; thread 0 advances the clock."""
    tid = wp.tid()
    i = tid % width
    j = tid // width
    added = push(i, j, mouse_pos, pointer_from, radius, magnitude)
    if added != 0.0:
        heights[j, i] = heights[j, i] + added
        heights_prev[j, i] = heights_prev[j, i] + added
    if tid == 0:
        clock[0] = clock[0] + 1


@wp.kernel
def wave_solve(
    heights: wp.array2d(dtype=float),
    heights_prev: wp.array2d(dtype=float),
    width: int,
    height: int,
    inv_dx: float,
    k_speed: wp.array(dtype=float),
    k_damp: wp.array(dtype=float),
    dt: wp.array(dtype=float),
):
    """Replace h0 by 2h - h0 + dt^2 (k_speed lap(h)/dx^2 - k_damp (h - h0))."""
    tid = wp.tid()
    i = tid % width
    j = tid // width
    lap = laplacian(heights, i, j, width, height) * inv_dx * inv_dx
    h1 = heights[j, i]
    h0 = heights_prev[j, i]
    step = dt[0]
    # Each thread alone reads and writes its cell of the previous field, so the new one replaces it in place.
    heights_prev[j, i] = 2.0 * h1 - h0 + step * step * (k_speed[0] * lap - k_damp[0] * (h1 - h0))


class ReferenceSolver(Solver):
    """1 + substeps launches a frame, as published."""

    name = "reference"
    summary = "the published kernels: one launch a substep"

    def kernels(self) -> tuple[wp.Kernel, ...]:
        """Return the two published kernels."""
        return (wave_displace, wave_solve)

    def access(self) -> Mapping[str, Mapping[str, str]]:
        """Return what the kernels do with their arrays."""
        return {
            wave_displace.key: {
                "heights": "read_write",
                "heights_prev": "read_write",
                "mouse_pos": "read",
                "pointer_from": "read",
                "radius": "read",
                "magnitude": "read",
                "clock": "read_write",
            },
            wave_solve.key: {
                "heights": "read",
                "heights_prev": "read_write",
                "k_speed": "read",
                "k_damp": "read",
                "dt": "read",
            },
        }

    def launches(self, width: int, height: int, substeps: int, *, cuda: bool) -> int:
        """Return 1 + substeps."""
        return 1 + substeps

    def displace(self, arrays: TankArrays) -> None:
        """Launch `wave_displace`."""
        wp.launch(
            wave_displace,
            dim=arrays.width * arrays.height,
            inputs=[
                arrays.heights,
                arrays.heights_prev,
                arrays.width,
                arrays.mouse_pos,
                arrays.pointer_from,
                arrays.radius,
                arrays.magnitude,
                arrays.clock,
            ],
            device=arrays.heights.device,
        )

    def advance(self, arrays: TankArrays, substeps: int) -> State:
        """Launch `wave_solve` once a substep; the fields change roles after each."""
        now, before = arrays.heights, arrays.heights_prev
        for _ in range(substeps):
            wp.launch(
                wave_solve,
                dim=arrays.width * arrays.height,
                inputs=[
                    now,
                    before,
                    arrays.width,
                    arrays.height,
                    1.0 / arrays.dx,
                    arrays.k_speed,
                    arrays.k_damp,
                    arrays.dt,
                ],
                device=now.device,
            )
            now, before = before, now
        return State(newest=now, previous=before)
