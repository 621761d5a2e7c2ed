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


@wp.struct
class Blend:
    field: wp.array2d(dtype=wp.float32)
    gain: wp.float32
    steps: wp.int32
    shift: wp.float64
    small: wp.float32


@wp.kernel
def blend(with_: Blend, out: wp.array2d(dtype=wp.float32)):
    i, j = wp.tid()
    moved = wp.float32(with_.shift) * wp.float32(with_.steps)
    out[i, j] = with_.field[i, j] * with_.gain + moved + with_.small
