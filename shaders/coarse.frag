#version 330 core
// The mean of the cells under each texel, where a picture has fewer pixels than cells. A tap reads the mean of
// 2x2 cells from between them; what is not finite counts as still water.

uniform sampler2D heights;
uniform vec4 blocks;  // columns and rows of cells, cells a texel along x and z
uniform ivec2 taps;   // along x and z

out vec4 mean;

bool finite(float h) {
    return (floatBitsToUint(h) & 0x7f800000u) != 0x7f800000u;
}

void main() {
    vec2 start = (gl_FragCoord.xy - 0.5) * blocks.zw;
    vec2 stride = blocks.zw / vec2(taps);
    float sum = 0.0;
    for (int j = 0; j < taps.y; ++j) {
        for (int i = 0; i < taps.x; ++i) {
            float h = textureLod(heights, (start + (vec2(i, j) + 0.5) * stride) / blocks.xy, 0.0).r;
            sum += finite(h) ? clamp(h, -3e4, 3e4) : 0.0;
        }
    }
    mean = vec4(sum / float(taps.x * taps.y));
}
