#version 330 core
// The sky, drawn once: gradient, sun with its glow, soft clouds. Linear light, on a stereographic disc.
#include "scene.glsl"

in vec2 place;
out vec4 colour;

float noise(vec2 p) {
    vec2 cell = floor(p), f = fract(p);
    f = f * f * (3.0 - 2.0 * f);
    return mix(mix(hash(cell), hash(cell + vec2(1, 0)), f.x),
               mix(hash(cell + vec2(0, 1)), hash(cell + vec2(1, 1)), f.x), f.y);
}

float clouds(vec2 p) {
    float sum = 0.0, weight = 0.5;
    for (int octave = 0; octave < 6; ++octave) {
        sum += weight * noise(p);
        p = mat2(1.6, 1.2, -1.2, 1.6) * p + 17.0;
        weight *= 0.5;
    }
    return sum;
}

void main() {
    vec2 disc = place * 2.0 - 1.0;
    float radius2 = min(dot(disc, disc), 1.6);
    vec3 direction = normalize(vec3(2.0 * disc.x, max(1.0 - radius2, 0.0), 2.0 * disc.y));
    float up = direction.y;

    vec3 zenith = vec3(0.06, 0.20, 0.55), middle = vec3(0.20, 0.44, 0.86);
    vec3 light = mix(middle, zenith, smoothstep(0.15, 0.9, up));
    light = mix(HAZE, light, smoothstep(-0.02, 0.22, up));

    float toward = max(dot(direction, sun.xyz), 0.0);
    light += vec3(1.0, 0.82, 0.55) * (0.22 * pow(toward, 8.0) + 0.35 * pow(toward, 90.0));

    // Clouds lie on a level layer: divided by the elevation they crowd toward the horizon.
    vec2 layer = direction.xz / (up + 0.28) * 2.1 + vec2(3.1, 7.7);
    float density = smoothstep(0.50, 0.80, clouds(layer));
    float thick = smoothstep(0.55, 1.0, clouds(layer + 0.08 * sun.xz));
    vec3 cloud = mix(vec3(1.12, 1.08, 1.04), vec3(0.62, 0.68, 0.78), thick * 0.7);
    light = mix(light, cloud, density * 0.85 * smoothstep(0.0, 0.12, up));
    colour = vec4(light, 1.0);
}
