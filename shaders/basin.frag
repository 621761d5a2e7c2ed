#version 330 core
// The deck: a coping of smooth stone, then large slabs that fade into the haze; and the dry pool.
#include "scene.glsl"
#include "pool.glsl"

in vec3 world;
flat in vec3 normal;
out vec4 colour;

void main() {
    vec3 way = world - eye.xyz;
    float range = length(way);
    if (dot(way, normal) > 0.0) discard;  // seen from outside or from below
    float w = ray_ahead.w * range;
    if (world.y < 0.5 * tank.w || normal.y < 0.5) {
        // Mostly behind the water. Without the light that the waves focus: this picture outlasts them.
        float deep = exp2(min(world.y, 0.0) / tank.z);
        float y = normal.y > 0.5 ? 0.0 : min(world.y, 0.0);
        colour = finish(pool_light(vec3(world.x, y, world.z), normal, w) * mix(0.2, 0.9, deep));
        return;
    }
    float slant = w / max(-way.y / range, 0.05);
    vec2 gap = abs(world.xz) - tank.xy;
    float beyond = length(max(gap, 0.0)) + min(max(gap.x, gap.y), 0.0);
    float coping = sun.w * 1.6;
    float slab = sun.w * 3.2;
    vec2 p = world.xz / slab;
    float width = slant / slab;
    float variation = (hash(floor(p) + 3.0) - 0.5) * clamp(1.0 - width * 1.5, 0.0, 1.0);
    vec3 stone = vec3(0.62, 0.555, 0.46) * (1.0 + 0.10 * variation);
    stone *= 1.0 - 0.30 * joints(p, vec2(width), 0.010);
    vec3 smooth_stone = vec3(0.86, 0.82, 0.75);
    vec2 run = (gap.x > gap.y ? world.zx : world.xz) / (sun.w * 2.4);
    smooth_stone *= 1.0 - 0.22 * joints(vec2(run.x, 0.5), vec2(slant / (sun.w * 2.4)), 0.010);
    float border = smoothstep(-slant, slant, beyond - coping);
    vec3 albedo = mix(smooth_stone, stone, border);
    albedo *= 1.0 - 0.35 * (1.0 - smoothstep(0.0, slant * 1.5 + 0.06 * sun.w, abs(beyond - coping)));
    float lip = smoothstep(0.0, 0.35 * sun.w + slant, beyond);  // the rounded inner edge
    vec3 light = albedo * (SKYLIGHT * 0.55 + SUNLIGHT * 0.36 * sun.y) * mix(1.18, 1.0, lip);
    float far = length(world.xz) / max(tank.x, tank.y);
    vec3 below = mix(HAZE, GROUND_HAZE, smoothstep(0.0, -0.7, way.y / range));
    colour = finish(mix(light, below, smoothstep(1.5, 6.5, far)) * marker.w);
}
