#version 330 core
// Heights as numbers: colour map, contour lines, cells.
#include "scene.glsl"
#include "surface.glsl"
#include "marks.glsl"

uniform sampler2D colour_map;
uniform sampler2D basin_map;  // wall, and depth as a share of the deepest

in vec3 world;
in vec2 place;
out vec4 colour;

void main() {
    float cell_value = raw_height(place);
    if (!finite(cell_value)) {
        colour = vec4(NOT_FINITE, 1.0);
        return;
    }
    vec4 surface = surface_at(place);
    float value = texture(heights, place).r;
    if (!finite(value)) value = cell_value;  // a neighbour is not finite
    vec3 normal = normalize(vec3(-surface.y * eye.w, 1.0, -surface.z * eye.w));
    vec3 way = world - eye.xyz;
    float w = ray_ahead.w * length(way);

    float share = clamp((value - data.x) / max(data.y - data.x, 1e-30), 0.0, 1.0);
    float size = float(textureSize(colour_map, 0).x);
    vec3 base = texture(colour_map, vec2((share * (size - 1.0) + 0.5) / size, 0.5)).rgb;
    float lit = clamp(dot(normal, normalize(vec3(-0.4, 0.8, -0.45))) / 0.8, 0.0, 1.6);
    vec3 shown = base * mix(0.55, 1.0, lit);
    shown *= mix(0.6, 1.0, texture(basin_map, place).g);  // a shallow is grey: one must see what bends the waves

    if (data.z > 0.0) {
        // Lines at whole multiples of the interval but zero, which a field at rest is all over. They follow the
        // smooth surface, for raw cells that differ a little would be ringed one by one. Where it is so flat that
        // a line would be a spot, or so steep that lines would touch, there is none.
        float level = surface.x / data.z;
        vec2 slope = surface.yz / data.z;
        float steep = length(vec2(dot(slope, dFdx(world.xz)), dot(slope, dFdy(world.xz))));
        float off = abs(abs(level) - max(round(abs(level)), 1.0));
        float line = 1.0 - smoothstep(0.5, 1.3, off / max(steep, 1e-6));
        float seen = smoothstep(0.015, 0.05, steep) * (1.0 - smoothstep(0.2, 0.45, steep));
        shown = mix(shown, vec3(0.03), 0.5 * line * seen);
    }
    if (data.w > 0.5) {
        vec2 at = place * cells.xy;
        vec2 width = max(fwidth(at), 1e-6);
        vec2 line = 1.0 - smoothstep(0.4, 1.2, abs(fract(at - 0.5) - 0.5) / width);
        vec2 fade = 1.0 - smoothstep(0.15, 0.4, width);
        shown = mix(shown, vec3(0.0), 0.4 * max(line.x * fade.x, line.y * fade.y));
    }
    vec2 pointer = marker_at(world.xz, w);
    shown = mix(shown * (1.0 - 0.7 * pointer.y), vec3(1.0, 0.85, 0.3), pointer.x);
    colour = vec4(shown, 1.0);
}
