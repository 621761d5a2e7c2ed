#version 330 core
// Walls in the water: smooth light stone, its edges a little lighter, wet and dark toward the water.
#include "scene.glsl"

in vec3 world;
flat in vec3 normal;
out vec4 colour;

uniform sampler2D basin_map;

float wall_at(vec2 place) {
    return texture(basin_map, place / (2.0 * tank.xy) + 0.5).r;
}

void main() {
    float w = ray_ahead.w * length(world - eye.xyz);
    vec3 stone = vec3(0.80, 0.74, 0.66);
    if (normal.y > 0.5) {
        // The map is smooth between cells: near the edge of a wall it falls off.
        float edge = smoothstep(0.98, 0.72, wall_at(world.xz)) * clamp(1.5 - 0.5 * w / cells.z, 0.0, 1.0);
        stone *= 1.0 + 0.22 * edge;
    } else {
        stone *= mix(0.45, 1.0, smoothstep(0.0, 1.0, world.y / tank.w));
    }
    float lit = max(dot(normal, sun.xyz), 0.0);
    vec3 light = stone * (SKYLIGHT * (0.34 + 0.22 * max(normal.y, 0.0)) + SUNLIGHT * 0.40 * lit);
    colour = finish(light * mix(1.0, marker.w, 0.5));
}
