// What is marked on the surface in both modes: cells that are not finite, and the pointer.

uniform sampler2D heights;

const vec3 NOT_FINITE = vec3(1.0, 0.0, 1.0);

float raw_height(vec2 place) {
    return texelFetch(heights, clamp(ivec2(place * cells.xy), ivec2(0), ivec2(cells.xy) - 1), 0).r;
}

bool finite(float h) {
    return (floatBitsToUint(h) & 0x7f800000u) != 0x7f800000u;
}

// How much of the pointer's ring and dot (x), and of their dark outline (y), a pixel of width w shows.
vec2 marker_at(vec2 world, float w) {
    float d = length(world - marker.xy);
    float line = max(0.9 * w, 0.03 * marker.z), spot = max(2.0 * w, 0.07 * marker.z);
    float off = min(abs(d - marker.z) - line, d - spot);
    return cells.w * (1.0 - smoothstep(vec2(-0.6, 0.4) * w, vec2(0.6, 2.4) * w, vec2(off)));
}
