// What is marked on the surface in both modes: cells that are not finite, and the pointer.

uniform sampler2D heights;

const vec3 NOT_FINITE = vec3(1.0, 0.0, 1.0);

float raw_height(vec2 place) {
    return texelFetch(heights, clamp(ivec2(place * cells.xy), ivec2(0), ivec2(cells.xy) - 1), 0).r;
}

bool finite(float h) {
    return (floatBitsToUint(h) & 0x7f800000u) != 0x7f800000u;
}

// How much of the pointer's ring and dot a pixel of width w shows.
float marker_at(vec2 world, float w) {
    if (cells.w < 0.5) return 0.0;
    float d = length(world - marker.xy);
    float line = max(1.2 * w, 0.035 * marker.z);
    float ring = 1.0 - smoothstep(line - 0.7 * w, line + 0.7 * w, abs(d - marker.z));
    float dot_size = max(2.2 * w, 0.08 * marker.z);
    return max(0.85 * ring, 1.0 - smoothstep(dot_size - w, dot_size + w, d));
}
