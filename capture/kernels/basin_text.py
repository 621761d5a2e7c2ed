"""The arithmetic of the basin as C++ text: what is prepared once a frame, and one substep.

The water follows h_tt = div(c^2 grad h) - damping, with c^2 = k_speed depth: long waves over a floor of
varying depth. Between two cells the flux is k_speed f (h' - h)/dx with a face weight f:

- the harmonic mean of both depths, which gives the right flux through a step in depth that lies on the face;
- 0 where either cell is a wall, and at the border: nothing passes, so the wave is reflected.

A face has one weight for both its cells, so what one loses the other gains, the operator is symmetric, and
the limit of stability is that of the deepest cell. Cells touch by faces only: nothing leaks through a wall
of one cell, nor between two wall cells that touch at a corner.

A closed face counts as a neighbour of the cell's own height, in the order of the reference's sum, so that
without walls at depth 1 every rounding is the reference's. Launching kernels is not the business here.
"""

from __future__ import annotations

from capture.basin import PROBES, SHALLOWEST, SOURCES

ABSORBER = (1.8951, 0.0175, 0.0081)
"""Damping of the border cells, outermost first, in units of local wave speed / dx.

The exact one-way condition of the grid needs 2 cos(k dx/2) in the outermost half cell; these constants keep
what comes back at normal incidence below 1.6 % for all wavelengths from 8 cells up."""

_COMMON = f"""
    constexpr int SOURCES = {SOURCES};
    constexpr int PROBES = {PROBES};
    constexpr float PLAIN = 2.0f;  // from here on `absorb` on CUDA tells which faces are open, bit by bit
    auto cell_of = [=](float x, float y) {{  // nearest cell; -1 beside the grid
        const float column = floorf(x + 0.5f), row = floorf(y + 0.5f);
        const bool inside = column >= 0.0f && row >= 0.0f && column < (float)width && row < (float)height;
        return inside ? (int)row * width + (int)column : -1;
    }};
    auto edge_of = [=](int i, int j) {{  // index in `edge`: rows 0 and -1, then columns 0 and -1, no corners
        const bool column = i == 0 || i == width - 1, row = j == 0 || j == height - 1;
        if (column == row) return -1;
        return row ? (j ? width : 0) + i : 2 * width + (i ? height : 0) + j;
    }};
    auto depth_at = [=](int at) {{
        const float value = depth.data[at];
        return value < {SHALLOWEST}f ? {SHALLOWEST}f : value < 1.0f ? value : 1.0f;
    }};
"""

PREPARE = (
    _COMMON
    + f"""
    constexpr int LAYER = {len(ABSORBER)};
    constexpr float PROFILE[LAYER] = {{{", ".join(f"{value}f" for value in ABSORBER)}}};
"""
    + """
    const int cells = width * height;
    const unsigned char* __restrict__ wall = walls.data;
    const float speed = k_speed.data[0];
    const float step = dt.data[0];
    const bool absorbing = border.data[0] == 1;
    auto face = [=](int a, int b) {
        const float one = depth_at(a), other = depth_at(b);
        return wall[a] | wall[b] ? 0.0f : 2.0f * one * other / (one + other);
    };
    auto profile = [=](int i, int side) {
        const int in = i < side - 1 - i ? i : side - 1 - i;
        return in < LAYER ? PROFILE[in] : 0.0f;
    };
    auto loss_at = [=](int i, int j) {
        const float damping = profile(i, width) + profile(j, height);
        const float share = 0.5f * damping * sqrtf(speed * depth_at(j * width + i)) * step * inv_dx;
        return share / (1.0f + share);
    };

    // What each source does in this frame. A volume is poured in and drawn out again; the gain makes the
    // waves one wavelength away as high as the amplitude: |H0(2 pi)| = 0.31731 of the far field's strength.
    for (int k = tid; k < SOURCES; k += threads) {
        const int at = cell_of(source_pos.data[k][0], source_pos.data[k][1]);
        const float cycles = source_freq.data[k];
        float gain = 0.0f;
        if (at >= 0 && !wall[at] && source_on.data[k] != 0 && cycles > 0.0f) {
            const float courant2 = speed * depth_at(at) * step * step * inv_dx * inv_dx;
            gain = source_amp.data[k] * 4.0f / 0.31731f * courant2 / (6.2831853f * cycles * step);
        }
        float* row = drive.data + k * 5;
        row[0] = gain != 0.0f ? (float)(at % width) : -1.0f;
        row[1] = gain != 0.0f ? (float)(at / width) : -1.0f;
        row[2] = gain;
        row[3] = cycles;
        row[4] = source_phase.data[k];
    }
    const union { unsigned bits; float number; } nothing = {0x7fc00000u};
    for (int n = tid; n < substeps * PROBES; n += threads) {
        const auto& at = probe_pos.data[n % PROBES];
        if (cell_of(at[0], at[1]) < 0) probe_out.data[n] = nothing.number;
    }

#if defined(__CUDA_ARCH__)
    const int j = tid / width, i = tid - j * width;
    const float fw = i > 0 ? face(tid - 1, tid) : 0.0f;
    const float fe = i < width - 1 ? face(tid, tid + 1) : 0.0f;
    const float fn = j > 0 ? face(tid - width, tid) : 0.0f;
    const float fs = j < height - 1 ? face(tid, tid + width) : 0.0f;
    west.data[j * (width + 1) + i] = fw;
    if (i == width - 1) west.data[j * (width + 1) + width] = fe;
    north.data[tid] = fn;
    if (j == height - 1) north.data[cells + i] = fs;
    float loss = absorbing && !wall[tid] ? loss_at(i, j) : 0.0f;
    if (loss == 0.0f && edge_of(i, j) >= 0) edge.data[edge_of(i, j)] = 0.0f;
    // A whole warp looks each place up once, a lane a place, and tells the lane whose cell it is.
    bool marked = true, owed = true;
    const int lane = threadIdx.x % 32;
    if (__activemask() == 0xffffffffu) {
        unsigned here = 0, before = 0;
        auto bit = [=](int at) {
            const int to = at - (tid - lane);
            return to >= 0 && to < 32 ? 1u << to : 0u;
        };
        for (int k = lane; k < SOURCES; k += 32) {
            here |= bit(cell_of(source_pos.data[k][0], source_pos.data[k][1]));
            before |= bit(cell_of(pending.data[3 * k], pending.data[3 * k + 1]));
        }
        for (int p = lane; p < PROBES; p += 32)
            here |= bit(cell_of(probe_pos.data[p][0], probe_pos.data[p][1]));
        for (int step = 16; step > 0; step /= 2) {
            here |= __shfl_xor_sync(0xffffffffu, here, step);
            before |= __shfl_xor_sync(0xffffffffu, before, step);
        }
        marked = here >> lane & 1;
        owed = before >> lane & 1;
    } else {
        marked = false;
        for (int k = 0; k < SOURCES; ++k)
            marked |= cell_of(source_pos.data[k][0], source_pos.data[k][1]) == tid;
        for (int p = 0; p < PROBES; ++p)
            marked |= cell_of(probe_pos.data[p][0], probe_pos.data[p][1]) == tid;
    }
    if (owed)
        for (int k = 0; k < SOURCES; ++k)
            if (cell_of(pending.data[3 * k], pending.data[3 * k + 1]) == tid)
                heights_prev.data[tid] += pending.data[3 * k + 2];
    auto whole = [=](float share) { return share == 0.0f || share == 1.0f; };
    const bool plain = !marked && loss == 0.0f && whole(fw) && whole(fe) && whole(fn) && whole(fs);
    const int open = (fw > 0.0f) | (fe > 0.0f) << 1 | (fn > 0.0f) << 2 | (fs > 0.0f) << 3;
    absorb.data[tid] = plain ? PLAIN + (float)open : marked ? -1.0f - loss : loss;
    if (wall[tid]) heights.data[tid] = heights_prev.data[tid] = 0.0f;
#else
    const int first = tid * CPU_ROWS;
    const int end = first + CPU_ROWS < height ? first + CPU_ROWS : height;
    for (int k = 0; k < SOURCES; ++k) {
        const int at = cell_of(pending.data[3 * k], pending.data[3 * k + 1]);
        if (at >= first * width && at < end * width) heights_prev.data[at] += pending.data[3 * k + 2];
    }
    for (int j = first; j < end; ++j) {
        const int row = j * width;
        float* __restrict__ faces = west.data + size_t(j) * (width + 1);
        float* __restrict__ above = north.data + row;
        float* __restrict__ loss = absorb.data + row;
        float* __restrict__ now = heights.data + row;
        float* __restrict__ before = heights_prev.data + row;
        faces[0] = faces[width] = 0.0f;
        for (int i = 1; i < width; ++i) faces[i] = face(row + i - 1, row + i);
        for (int i = 0; i < width; ++i) above[i] = j > 0 ? face(row - width + i, row + i) : 0.0f;
        for (int i = 0; i < width; ++i) loss[i] = 0.0f;
        if (absorbing) {
            const bool near = j < LAYER || height - 1 - j < LAYER;
            for (int i = 0; i < width; ++i)
                if ((near || i < LAYER || width - 1 - i < LAYER) && !wall[row + i]) loss[i] = loss_at(i, j);
        }
        for (int i = 0; i < width; i += j > 0 && j < height - 1 ? width - 1 : 1)
            if (loss[i] == 0.0f && edge_of(i, j) >= 0) edge.data[edge_of(i, j)] = 0.0f;
        for (int i = 0; i < width; ++i) now[i] = wall[row + i] ? 0.0f : now[i];
        for (int i = 0; i < width; ++i) before[i] = wall[row + i] ? 0.0f : before[i];
    }
    if (end == height)
        for (int i = 0; i < width; ++i) north.data[cells + i] = 0.0f;
#endif
"""
)
"""Prepares a frame; expects tid, threads, substeps, inv_dx, CPU_ROWS and the arrays of `basin_prepare`.

A frame begins by taking back the rate at which each source ended the last frame, in the cell where it then
was, and the first substep adds the new rate: whatever is moved or switched, no water is left running."""

_CELL = """
    const float speed = k_speed.data[0];
    const float damp = k_damp.data[0];
    const float step2 = dt.data[0] * dt.data[0];
    auto cell = [=](auto before, auto centre, auto w, auto e, auto n, auto s,
                    auto fw, auto fe, auto fn, auto fs, auto loss) {
        const auto shut = centre - centre;  // zeros, of as many lanes
        const auto one = shut + 1.0f;
        w = fw > shut ? w : centre;
        e = fe > shut ? e : centre;
        n = fn > shut ? n : centre;
        s = fs > shut ? s : centre;
        fw = fw > shut ? fw : one;
        fe = fe > shut ? fe : one;
        fn = fn > shut ? fn : one;
        fs = fs > shut ? fs : one;
        w = fw * w;
        e = fe * e;
        n = fn * n;
        s = fs * s;
        const auto total = fw + fe + fn + fs;
#if defined(__CUDA_ARCH__)
        const float around = __fadd_rn(__fadd_rn(__fadd_rn(e, w), s), n);
        const float lap = __fmul_rn(__fmul_rn(__fmaf_rn(-total, centre, around), inv_dx), inv_dx);
        const float drag = __fmul_rn(damp, __fsub_rn(centre, before));
        const float push = __fmaf_rn(speed, lap, -drag);
        const float next = __fmaf_rn(step2, push, __fmaf_rn(2.0f, centre, -before));
        return loss > 0.0f ? __fmaf_rn(loss, __fsub_rn(before, next), next) : next;
#else
        // A rounding ends with its statement, as in the reference: products are not fused with sums.
        auto lap = e + w;
        lap = lap + s;
        lap = lap + n;
        lap = lap - total * centre;
        lap = lap * inv_dx;
        lap = lap * inv_dx;
        auto drag = centre - before;
        drag = damp * drag;
        auto push = speed * lap;
        push = push - drag;
        push = step2 * push;
        const auto ahead = 2.0f * centre - before;
        const auto next = ahead + push;
        const auto damped = next + loss * (before - next);
        return loss > shut ? damped : next;
#endif
    };
"""

_OUTFLOW = """
    // What an absorbing border adds to the new height of a cell at it. The border runs through the centres of
    // its cells, which have half the mass, so the flux to the inner neighbour counts twice; its damping is in
    // `absorb`. For waves that meet it aslant, the one-way equation in its second order
    //     h_x = h_t / c - c/2 integral of h_yy dt
    // (Engquist and Majda, Math. Comp. 31, 1977, eq. 2.9) asks for the integral, kept in `edge`.
    auto outflow = [=](int i, int j, float loss) {
        const int at = j * width + i;
        const float* centre = heights.data + at;
        const float* faces = west.data + at + j;
        const float* above = north.data + at;
        const float courant2 = speed * step2 * inv_dx * inv_dx;
        auto flux = [=](float share, int to) {
            return share > 0.0f ? share * (centre[to] - centre[0]) : 0.0f;
        };
        const float w = flux(faces[0], -1), e = flux(faces[1], 1);
        const float n = flux(above[0], -width), s = flux(above[width], width);
        float more = 0.0f;
        if (i == 0 || i == width - 1) more += courant2 * (i ? w : e);
        if (j == 0 || j == height - 1) more += courant2 * (j ? n : s);
        const int kept = edge_of(i, j);
        if (kept >= 0) {
            const float bend = courant2 * (i == 0 || i == width - 1 ? n + s : w + e);
            more += sqrtf(courant2 * depth_at(at)) * (edge.data[kept] + 0.5f * bend);
            edge.data[kept] += bend;
        }
        return (1.0f - loss) * more;
    };
"""

_DRIVE = """
    // Volume that a source adds in a substep, as a height of its cell.
    auto rate = [=](int k, int s) {
        const float* row = drive.data + k * 5;
        const long long count = (long long)(clock.data[0] - 1) * substeps + s;
        const double cycles = (double)row[3] * ((double)count * (double)dt.data[0]);
        return row[2] * sinf((float)(6.283185307179586 * (cycles - floor(cycles))) + row[4]);
    };
    auto added = [=](int k) {  // to the velocity, so that the height follows the rate
        if (drive.data[5 * k + 2] == 0.0f) return 0.0f;
        return rate(k, substep) - (substep > 0 ? rate(k, substep - 1) : 0.0f);
    };
    if (substep == 0)
        for (int k = tid; k < SOURCES; k += threads) {
            pending.data[3 * k] = drive.data[5 * k];
            pending.data[3 * k + 1] = drive.data[5 * k + 1];
            pending.data[3 * k + 2] = drive.data[5 * k + 2] == 0.0f ? 0.0f : rate(k, substeps - 1);
        }
    float* record = probe_out.data + size_t(substep) * PROBES;
"""

SOLVE = (
    _COMMON
    + _CELL
    + _OUTFLOW
    + """
#if defined(__CUDA_ARCH__)
"""
    + _DRIVE
    + """
    const float* __restrict__ at = heights.data + tid;
    const float coded = __ldg(absorb.data + tid);
    {   // Faces that are open or shut and nothing else, as nearly everywhere: all is loaded at once.
        const int cells = width * height;
        const float before = heights_prev.data[tid], centre = __ldg(at);
        const float w = __ldg(at - (tid > 0)), e = __ldg(at + (tid < cells - 1));
        const float n = __ldg(at - (tid >= width ? width : 0));
        const float s = __ldg(at + (tid < cells - width ? width : 0));
        if (coded >= PLAIN) {
            const int open = (int)(coded - PLAIN);
            heights_prev.data[tid] = cell(before, centre, open & 1 ? w : centre, open & 2 ? e : centre,
                                          open & 4 ? n : centre, open & 8 ? s : centre,
                                          1.0f, 1.0f, 1.0f, 1.0f, 0.0f);
            return;
        }
    }
    const int j = tid / width, i = tid - j * width;
    const float* __restrict__ faces = west.data + tid + j;
    const float* __restrict__ above = north.data + tid;
    const float loss = coded < 0.0f ? -1.0f - coded : coded;
    float next = cell(heights_prev.data[tid], __ldg(at), __ldg(at - (i > 0)), __ldg(at + (i < width - 1)),
                      __ldg(at - (j > 0 ? width : 0)), __ldg(at + (j < height - 1 ? width : 0)),
                      __ldg(faces), __ldg(faces + 1), __ldg(above), __ldg(above + width),
                      loss);
    if (loss > 0.0f && (i == 0 || i == width - 1 || j == 0 || j == height - 1)) next += outflow(i, j, loss);
    if (coded < 0.0f) {  // the mark of a cell with a source or a probe
        for (int k = 0; k < SOURCES; ++k)
            if (cell_of(drive.data[5 * k], drive.data[5 * k + 1]) == tid) next += added(k);
        for (int p = 0; p < PROBES; ++p)
            if (cell_of(probe_pos.data[p][0], probe_pos.data[p][1]) == tid) record[p] = next;
    }
    heights_prev.data[tid] = next;
#else
"""
    + _DRIVE
    + """
    constexpr int LANES = 16;
    typedef float Lanes __attribute__((vector_size(4 * LANES), aligned(4)));
    auto load = [](const float* at) { return *(const Lanes*)at; };
    const int first = tid * CPU_ROWS;
    const int end = first + CPU_ROWS < height ? first + CPU_ROWS : height;
    for (int j = first; j < end; ++j) {
        const size_t row = size_t(j) * width;
        float* __restrict__ before = heights_prev.data + row;
        const float* __restrict__ centre = heights.data + row;
        const float* __restrict__ up = j > 0 ? centre - width : centre;
        const float* __restrict__ down = j < height - 1 ? centre + width : centre;
        const float* __restrict__ faces = west.data + row + j;
        const float* __restrict__ above = north.data + row;
        const float* __restrict__ loss = absorb.data + row;
        auto scalar = [=](int i) {
            before[i] = cell(before[i], centre[i], centre[i > 0 ? i - 1 : i],
                             centre[i < width - 1 ? i + 1 : i], up[i], down[i],
                             faces[i], faces[i + 1], above[i], above[i + width], loss[i]);
        };
        scalar(0);
        int i = 1;
        for (; i + LANES < width; i += LANES)
            *(Lanes*)(before + i) = cell(
                load(before + i), load(centre + i), load(centre + i - 1), load(centre + i + 1),
                load(up + i), load(down + i), load(faces + i), load(faces + i + 1), load(above + i),
                load(above + i + width), load(loss + i));
        for (; i < width; ++i) scalar(i);
        for (i = 0; i < width; i += j > 0 && j < height - 1 ? width - 1 : 1)
            if (loss[i] > 0.0f) before[i] += outflow(i, j, loss[i]);
    }
    for (int k = 0; k < SOURCES; ++k) {
        const int at = cell_of(drive.data[5 * k], drive.data[5 * k + 1]);
        if (at >= first * width && at < end * width) heights_prev.data[at] += added(k);
    }
    for (int p = 0; p < PROBES; ++p) {
        const int at = cell_of(probe_pos.data[p][0], probe_pos.data[p][1]);
        if (at >= first * width && at < end * width) record[p] = heights_prev.data[at];
    }
#endif
"""
)
"""One substep; expects tid and threads on the CPU, substep, substeps, inv_dx, CPU_ROWS and the arrays."""
