#version 330 core
// Sunlight through the surface onto the floor: each vertex goes where its refracted ray ends. Places are
// counted where the ray would enter a flat surface, so that floor and walls look them up in the same way.
#include "scene.glsl"
#include "surface.glsl"
#include "sheet.glsl"

out vec2 entered;

void main() {
    vec2 start = sheet_place();
    vec4 surface = surface_at(start);
    vec3 normal = normalize(vec3(-surface.y * eye.w, 1.0, -surface.z * eye.w));
    vec3 ray = refract(-sun.xyz, normal, 1.0 / IOR);
    float depth = tank.z + clamp(surface.x * eye.w, -0.5 * tank.z, tank.z);
    vec2 moved = ray.xz / max(-ray.y, 0.2) * depth - sunk.xz / -sunk.y * tank.z;
    entered = start * 2.0 * tank.xy;
    gl_Position = vec4(start * 2.0 - 1.0 + moved / tank.xy, 0.0, 1.0);
}
