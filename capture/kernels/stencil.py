"""The arithmetic of one substep as C++ text, shared by the kernels that are written for the device.

It is the reference's `wave_solve` operation by operation, in its order and with its roundings, so that
solvers differ in how they go through memory and in nothing else: over thousands of substeps an undamped
small tank turns one different rounding into a visible drift. Launching kernels is not the business of this
module.

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
    auto cell = [=](auto before, auto centre, auto west, auto east, auto north, auto south) {
#if defined(__CUDA_ARCH__)
        const float around = __fadd_rn(__fadd_rn(__fadd_rn(east, west), south), north);
        const float lap = __fmul_rn(__fmul_rn(__fmaf_rn(-4.0f, centre, around), inv_dx), inv_dx);
        const float drag = __fmul_rn(damp, __fsub_rn(centre, before));
        const float push = __fmaf_rn(speed, lap, -drag);
        return __fmaf_rn(step2, push, __fmaf_rn(2.0f, centre, -before));
#else
        #pragma clang fp contract(on)
        auto lap = east + west;
        lap = lap + south;
        lap = lap + north;
        lap = lap - 4.0f * centre;
        lap = lap * inv_dx;
        lap = lap * inv_dx;
        auto drag = centre - before;
        drag = damp * drag;
        auto push = speed * lap;
        push = push - drag;
        push = step2 * push;
        const auto ahead = 2.0f * centre - before;
        return ahead + push;
#endif
    };
"""
"""The new height of one cell; expects the parameters and inv_dx."""

SPAN = """
    constexpr int LANES = 16;
    typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4)));
    auto load = [](const float* at) { return *(const Lanes*)at; };
    auto solve_span = [=](float* __restrict__ before, const float* __restrict__ centre,
                          const float* __restrict__ north, const float* __restrict__ south,
                          int begin, int end) {
        const int last = width - 1;
        if (begin == 0 && end > 0) {
            before[0] = cell(before[0], centre[0], centre[0], centre[1], north[0], south[0]);
            begin = 1;
        }
        if (end == width && begin < width) {
            before[last] = cell(before[last], centre[last], centre[last - 1], centre[last],
                                north[last], south[last]);
            end = last;
        }
        if (end - begin < LANES) {
            for (int i = begin; i < end; ++i)
                before[i] = cell(before[i], centre[i], centre[i - 1], centre[i + 1], north[i], south[i]);
            return;
        }
        auto lanes = [=](int i) {
            return cell(load(before + i), load(centre + i), load(centre + i - 1), load(centre + i + 1),
                        load(north + i), load(south + i));
        };
        const Lanes head = lanes(begin);
        const Lanes rest = lanes(end - LANES);
        const int aligned = begin + (0 - (size_t)(before + begin)) / sizeof(float) % LANES;
        for (int i = aligned; i <= end - LANES; i += LANES)
            *(Lanes*)(before + i) = lanes(i);
        *(Lanes*)(before + begin) = head;
        *(Lanes*)(before + end - LANES) = rest;
    };
"""
"""Columns begin..end of a row, in place of the field before; expects CELL and width.

The inner loop takes `LANES` columns at a time, from where a cache line of the row to be written begins. The
first and the last vector may overlap their neighbours, so they are computed first, from heights that are
not yet replaced, and stored last. The compiler's own vectoriser would carry `centre` from one step to the
next by shuffles, and finish short rows cell by cell; both are slower."""
