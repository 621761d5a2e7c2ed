#version 330 core
// Water seen from above: sky by reflection, pool by refraction, mixed after Fresnel; from below a dim sheet.
#include "scene.glsl"
#include "surface.glsl"
#include "pool.glsl"
#include "marks.glsl"

in vec3 world;
in vec2 place;
out vec4 colour;

const vec3 ABSORBED = vec3(0.75, 0.16, 0.08);     // 1 over the depth of the pool
const vec3 SCATTERED = vec3(0.005, 0.13, 0.20);

// Where a ray inside the water meets floor or wall: distance, and the face's normal.
float meet(vec3 from, vec3 ray, out vec3 normal) {
    float down = (from.y + tank.z) / max(-ray.y, 1e-4);
    vec2 side = (sign(ray.xz) * tank.xy - from.xz) / (abs(ray.xz) + 1e-6) * sign(ray.xz);
    float near_wall = max(min(side.x, side.y), 0.0);
    if (down < near_wall) {
        normal = vec3(0, 1, 0);
        return down;
    }
    normal = side.x < side.y ? vec3(-sign(ray.x), 0, 0) : vec3(0, 0, -sign(ray.z));
    return near_wall;
}

void main() {
    vec4 surface = surface_at(place);
    vec3 normal = normalize(vec3(-surface.y * eye.w, 1.0, -surface.z * eye.w));
    vec3 way = world - eye.xyz;
    float range = length(way);
    vec3 ray = way / range;
    float w = ray_ahead.w * range;
    float facing = -dot(ray, normal);

    // A crest that turns away from the eye is seen edge on, never from behind.
    facing = max(facing, 0.02);

    vec3 mirrored = reflect(ray, normal);
    mirrored.y = abs(mirrored.y) + 0.01;
    mirrored = normalize(mirrored);
    vec3 above = sky(mirrored);
    vec2 side = (sign(mirrored.xz) * tank.xy - world.xz) / (mirrored.xz + sign(mirrored.xz) * 1e-5);
    float wall = max(min(side.x, side.y), 0.0);
    float wall_top = tank.w - (max(world.y, 0.0) + wall * mirrored.y);
    above = mix(above, vec3(0.13, 0.28, 0.40), smoothstep(0.0, 0.02 + 0.6 * w, wall_top) * 0.75);

    // A small disc with a mild glow in still water; on waves, which have finer ones that are not drawn, a wide glint.
    float toward = max(dot(mirrored, sun.xyz), 0.0);
    float rough = clamp(5.0 * length(surface.yz) * eye.w, 0.0, 1.0);
    float glow = 1.0 / (1.0 + 900.0 * (1.0 - toward));
    above += SUNLIGHT * (mix(40.0, 12.0, rough) * pow(toward, mix(20000.0, 600.0, rough)) + 1.6 * glow * glow);

    vec3 bent = refract(ray, normal, 1.0 / IOR);
    vec3 face;
    vec3 start = vec3(world.x, min(world.y, 0.3 * tank.z), world.z);
    float path = meet(start, bent, face);
    vec3 end = start + path * bent;
    float slant = w * (1.0 + 0.75 * path / range) / max(abs(dot(bent, face)), 0.15);
    vec3 below = pool_light(end, face, slant);
    float thick = path / tank.z * depth_at(end.xz);
    below = below * exp2(-ABSORBED * thick) + SCATTERED * (1.0 - exp2(-0.46 * thick));

    float away = 1.0 - min(facing, 1.0), away2 = away * away;
    vec3 light = mix(below, above, 0.02 + 0.98 * away2 * away2 * away);
    if (ray.y > 0.0 && eye.y < world.y) {  // from under the pool
        light = mix(SCATTERED * 1.5, sky(normalize(ray + 0.6 * normal)) * vec3(0.25, 0.62, 0.72), 0.55);
    }
    vec2 pointer = marker_at(world.xz, w);
    light = mix(light * (1.0 - 0.6 * pointer.y), vec3(3.2, 2.4, 1.1), pointer.x);
    colour = finite(raw_height(place)) ? finish(light) : vec4(NOT_FINITE, 1.0);
}
