"""Kernels of `array_captures`: importing them imports Warp, and annotations must not be postponed."""

import warp as wp


@wp.kernel
def orbit(positions: wp.array(dtype=wp.vec3), velocities: wp.array(dtype=wp.vec3), step: float):
    """Particles around the origin, drawn to it by a spring."""
    i = wp.tid()
    velocities[i] = velocities[i] - positions[i] * step
    positions[i] = positions[i] + velocities[i] * step


@wp.kernel
def diffuse(source: wp.array2d(dtype=float), target: wp.array2d(dtype=float)):
    """One step of diffusion within a border that stays."""
    i, j = wp.tid()
    if i > 0 and j > 0 and i < source.shape[0] - 1 and j < source.shape[1] - 1:
        around = source[i - 1, j] + source[i + 1, j] + source[i, j - 1] + source[i, j + 1]
        target[i, j] = source[i, j] + 0.2 * (around - 4.0 * source[i, j])


@wp.kernel
def travel(signal: wp.array(dtype=float), clock: wp.array(dtype=int)):
    """A sine that moves with the frames."""
    i = wp.tid()
    signal[i] = wp.sin(0.05 * float(i) + 0.1 * float(clock[0])) * wp.exp(-0.003 * float(i))


@wp.kernel
def advance(clock: wp.array(dtype=int)):
    """Count frames."""
    clock[0] = clock[0] + 1


@wp.kernel
def count_down(left: wp.array(dtype=int), total: wp.array(dtype=float)):
    """One turn of a loop."""
    i = wp.tid()
    total[i] = total[i] + float(i + 1)
    if i == 0:
        left[0] = left[0] - 1


@wp.kernel
def paint(pixels: wp.array2d(dtype=wp.vec3), clock: wp.array(dtype=int)):
    """Colours that move over an image."""
    i, j = wp.tid()
    u = float(j) / float(pixels.shape[1])
    v = float(i) / float(pixels.shape[0])
    t = 0.05 * float(clock[0])
    pixels[i, j] = wp.vec3(u, v, 0.5 + 0.5 * wp.sin(t + 6.0 * u))


@wp.kernel
def swirl(field: wp.array2d(dtype=wp.vec2)):
    """A field of vectors around its middle."""
    i, j = wp.tid()
    x = float(j) - 0.5 * float(field.shape[1])
    y = float(i) - 0.5 * float(field.shape[0])
    field[i, j] = wp.vec2(-y, x) * wp.exp(-0.01 * (x * x + y * y))
