#version 330 core
// A line or bars: each column of pixels is covered from a lowest to a highest value.

uniform sampler2D cells_map;  // a texel a column: lowest, highest (0 to 1 over the room), whether not finite
uniform vec4 room;            // left, top, right, bottom, in pixels, y down
uniform vec4 span;            // half the width of the line in pixels; whether bars; height of the target
uniform vec4 ink;

out vec4 colour;

void main() {
    vec2 pixel = vec2(gl_FragCoord.x, span.z - gl_FragCoord.y);
    if (any(lessThan(pixel, room.xy)) || any(greaterThan(pixel, room.zw))) discard;
    vec4 column = texelFetch(cells_map, ivec2(int(pixel.x - room.x), 0), 0);
    float height = room.w - room.y;
    float y = room.w - pixel.y;
    float wide = span.y > 0.5 ? 0.0 : span.x;
    float outside = max(column.x * height - wide - y, y - column.y * height - wide);
    float cover = clamp(0.5 - outside, 0.0, 1.0);
    vec4 line = vec4(ink.rgb, ink.a * cover);
    if (column.z > 0.5) line = vec4(1.0, 0.0, 1.0, 1.0);
    if (line.a <= 0.0) discard;
    colour = line;
}
