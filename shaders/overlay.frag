#version 330 core
// A picture with premultiplied alpha, texel on pixel.

uniform sampler2D source;

out vec4 colour;

void main() {
    colour = texelFetch(source, ivec2(gl_FragCoord.xy), 0);
}
