#version 330 core
// Behind everything: the sky, and below the horizon the haze that the deck fades into.
#include "scene.glsl"

in vec2 place;
out vec4 colour;

void main() {
    vec2 p = place * 2.0 - 1.0;
    vec3 ray = normalize(ray_ahead.xyz + p.x * ray_right.xyz + p.y * ray_up.xyz);
#ifdef DATA
    float fade = length(p * vec2(0.75, 1.0) - vec2(0.0, 0.1));
    colour = finish(mix(vec3(0.30, 0.33, 0.38), vec3(0.075, 0.085, 0.105), smoothstep(0.0, 1.5, fade)) * marker.w);
#else
    vec3 above = sky(vec3(ray.x, max(ray.y, 0.0), ray.z));
    vec3 below = mix(HAZE, GROUND_HAZE, smoothstep(0.0, -0.7, ray.y));
    colour = finish(ray.y > 0.0 ? above : below * marker.w);
#endif
}
