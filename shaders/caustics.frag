#version 330 core
// Brightness is the area that light entered through over the area it falls on; sheets that fold add up.

uniform float texel_area;

in vec2 entered;
out vec4 light;

void main() {
    vec2 dx = dFdx(entered), dy = dFdy(entered);
    light = vec4(min(abs(dx.x * dy.y - dx.y * dy.x) / texel_area, 12.0));
}
