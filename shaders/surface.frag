#version 330 core
// From raw heights to a smooth surface: height and slopes of the cubic B-spline through the cell centres.
// NaN and infinite cells count as still water here; the drawing passes mark them. A cell may be the mean of some.

uniform sampler2D heights;
uniform vec4 cells;  // columns, rows, sides of a cell along x and z

in vec2 place;
out vec4 surface;  // height, slope along x, slope along z, -

bool finite(float h) {
    return (floatBitsToUint(h) & 0x7f800000u) != 0x7f800000u;
}

float height(ivec2 cell) {
    ivec2 last = ivec2(cells.xy) - 1;
    float h = texelFetch(heights, clamp(cell, ivec2(0), last), 0).r;
    return finite(h) ? clamp(h, -3e4, 3e4) : 0.0;
}

void main() {
    ivec2 cell = ivec2(place * cells.xy);
    vec3 sums[3];
    for (int j = 0; j < 3; ++j) {
        sums[j] = vec3(height(cell + ivec2(-1, j - 1)), height(cell + ivec2(0, j - 1)), height(cell + ivec2(1, j - 1)));
    }
    vec3 smooth_z = (sums[0] + 4.0 * sums[1] + sums[2]) / 6.0;
    vec3 slope_z = (sums[2] - sums[0]) * (0.5 / cells.w);
    const vec3 SPLINE = vec3(1.0, 4.0, 1.0) / 6.0;
    surface = vec4(dot(smooth_z, SPLINE), (smooth_z.z - smooth_z.x) * (0.5 / cells.z), dot(slope_z, SPLINE), 1.0);
    surface.yz = clamp(surface.yz, -1e3, 1e3);
}
