#version 330 core
// One step of finding the lowest and the highest finite value: each pixel looks at a square of the level above.

uniform sampler2D source;
uniform ivec2 source_size;
uniform int first;  // 1: the source holds heights; 0: it holds (lowest, highest)

out vec4 range;

const int SIDE = 8;

void main() {
    ivec2 corner = ivec2(gl_FragCoord.xy) * SIDE;
    vec2 found = vec2(3.4e38, -3.4e38);
    for (int j = 0; j < SIDE; ++j) {
        for (int i = 0; i < SIDE; ++i) {
            ivec2 at = corner + ivec2(i, j);
            if (at.x >= source_size.x || at.y >= source_size.y) continue;
            vec2 value = texelFetch(source, at, 0).rg;
            if (first == 1) {
                if ((floatBitsToUint(value.x) & 0x7f800000u) == 0x7f800000u) continue;
                value = value.xx;
            }
            found = vec2(min(found.x, value.x), max(found.y, value.y));
        }
    }
    range = vec4(found, 0.0, 1.0);
}
