"""The arithmetic of one substep as C++ text, shared by the kernels that are written for the device.

It is the reference's `wave_solve` operation by operation, in its order and with its roundings, so that solvers
differ in how they go through memory and in nothing else: over thousands of substeps an undamped small tank
turns one different rounding into a visible drift. Launching kernels is not the business of this module.

On the CPU a rounding ends with its statement: within one expression the compiler may fuse a product and a
sum, which the reference, made of calls, never does (products with 2 and 4 are exact, fused or not). On CUDA
the fused operations are named, as the compiler chooses them for the reference.
"""

from __future__ import annotations

CONSTANTS = """
    const float speed = k_speed.data[0];
    const float damp = k_damp.data[0];
    const float step2 = dt.data[0] * dt.data[0];
"""
"""Reads the parameters; expects arrays k_speed, k_damp, dt."""

CELL = """
    auto cell = [=](float before, float centre, float west, float east, float north, float south) -> float {
#if defined(__CUDA_ARCH__)
        const float around = __fadd_rn(__fadd_rn(__fadd_rn(east, west), south), north);
        const float lap = __fmul_rn(__fmul_rn(__fmaf_rn(-4.0f, centre, around), inv_dx), inv_dx);
        const float drag = __fmul_rn(damp, __fsub_rn(centre, before));
        const float push = __fmaf_rn(speed, lap, -drag);
        return __fmaf_rn(step2, push, __fmaf_rn(2.0f, centre, -before));
#else
        float around = east + west;
        around = around + south;
        around = around + north;
        float lap = around - 4.0f * centre;
        lap = lap * inv_dx;
        lap = lap * inv_dx;
        const float change = centre - before;
        const float drag = damp * change;
        float push = speed * lap;
        push = push - drag;
        push = step2 * push;
        const float ahead = 2.0f * centre - before;
        return ahead + push;
#endif
    };
"""
"""The new height of one cell; expects the parameters and inv_dx."""

ROW = """
    auto solve_row = [=](float* __restrict__ before, const float* __restrict__ centre,
                         const float* __restrict__ north, const float* __restrict__ south) {
        const int last = width - 1;
        const float first_new = cell(before[0], centre[0], centre[0], centre[1], north[0], south[0]);
        const float last_new =
            cell(before[last], centre[last], centre[last - 1], centre[last], north[last], south[last]);
        for (int i = 1; i < last; ++i)
            before[i] = cell(before[i], centre[i], centre[i - 1], centre[i + 1], north[i], south[i]);
        before[0] = first_new;
        before[last] = last_new;
    };
"""
"""One row in place of the field before it: a plain inner loop that the compiler vectorises; expects CELL."""
