"""Kernels of `lab_captures`: apart, since importing it imports Warp, and without postponed annotations."""

import warp as wp


@wp.kernel
def grow(field: wp.array2d(dtype=wp.float32), factor: wp.float32):
    i, j = wp.tid()
    field[i, j] = field[i, j] * factor


@wp.kernel
def root(field: wp.array2d(dtype=wp.float32), out: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    out[i, j] = wp.sqrt(1.0 - field[i, j])


@wp.kernel
def begin(rounds: wp.array(dtype=wp.int32), left: wp.array(dtype=wp.int32)):
    left[0] = rounds[0]


@wp.kernel
def less(left: wp.array(dtype=wp.int32)):
    left[0] = left[0] - 1


@wp.kernel
def lower(slope: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    slope[i, j] = slope[i, j] - 1.0


@wp.kernel
def divide(field: wp.array2d(dtype=wp.float32), slope: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    field[i, j] = 8.0 / slope[i, j]
