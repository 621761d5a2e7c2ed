#version 330 core
// A mark of one colour, cut out by the sheet of labels.

uniform sampler2D labels;
uniform vec4 ink;

in vec2 label_place;
out vec4 colour;

void main() {
    colour = vec4(ink.rgb, ink.a * texture(labels, label_place).r);
}
