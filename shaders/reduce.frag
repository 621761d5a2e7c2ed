#version 330 core
// One step of finding the lowest and the highest finite value, and whether any other is there: each pixel looks
// at a square of the level above.

uniform sampler2D source;
uniform ivec2 source_size;
uniform int first;  // 1: the source holds heights; 0: it holds (lowest, highest, 1 if not all are finite)

out vec4 range;

const int SIDE = 8;

void main() {
    ivec2 corner = ivec2(gl_FragCoord.xy) * SIDE;
    ivec2 end = min(corner + SIDE, source_size);
    vec3 found = vec3(3.4e38, -3.4e38, 0.0);
    for (int j = corner.y; j < end.y; ++j) {
        for (int i = corner.x; i < end.x; ++i) {
            vec3 value = texelFetch(source, ivec2(i, j), 0).rgb;
            if (first == 1) {
                bool finite = (floatBitsToUint(value.x) & 0x7f800000u) != 0x7f800000u;
                value = finite ? vec3(value.xx, 0.0) : vec3(3.4e38, -3.4e38, 1.0);
            }
            found = vec3(min(found.x, value.x), max(found.yz, value.yz));
        }
    }
    range = vec4(found, 1.0);
}
