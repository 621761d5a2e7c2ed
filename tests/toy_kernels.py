"""The kernel of `toy`: apart, since importing it imports Warp, and without postponed annotations."""

import warp as wp


@wp.kernel
def advance(
    x: wp.array(dtype=wp.float32),
    y: wp.array(dtype=wp.float32),
    gain: wp.array(dtype=wp.float32),
    place: wp.array(dtype=wp.vec2f),
    count: wp.array(dtype=wp.int32),
    hidden: wp.array(dtype=wp.float32),
):
    i = wp.tid()
    y[i] = (x[i] + x[i]) - y[i] + gain[0] * place[0][1]
    hidden[i] = hidden[i] + 1.0
    if i == 0:
        count[0] = count[0] + 1
