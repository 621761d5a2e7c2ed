#version 330 core
// The water's surface: a sheet lifted by the smoothed heights.
#include "scene.glsl"
#include "surface.glsl"
#include "sheet.glsl"

out vec3 world;
out vec2 place;

void main() {
    place = sheet_place();
    // Heights out of all proportion to the tank flatten out, so that they stay in the picture.
    float most = 1.5 * tank.z;
    float height = most * tanh(clamp(surface_at(place).x * eye.w / most, -8.0, 8.0));
    world = vec3((place.x * 2.0 - 1.0) * tank.x, height, (place.y * 2.0 - 1.0) * tank.y);
    gl_Position = view_projection * vec4(world, 1.0);
}
