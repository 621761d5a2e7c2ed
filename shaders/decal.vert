#version 330 core
// A flat mark in the scene: a parallelogram from one corner along two edges.
#include "scene.glsl"

uniform vec4 corner, edge_u, edge_v;  // world; w unused
uniform vec4 label_rect;              // left, top, width, height in the sheet of labels

out vec2 label_place;

void main() {
    vec2 p = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    label_place = label_rect.xy + vec2(p.x, 1.0 - p.y) * label_rect.zw;
    gl_Position = view_projection * vec4(corner.xyz + p.x * edge_u.xyz + p.y * edge_v.xyz, 1.0);
}
