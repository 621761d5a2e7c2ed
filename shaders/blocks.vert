#version 330 core
// Walls in the water as boxes: instance = box, six vertices for each of five faces, no vertex data.
#include "scene.glsl"

uniform sampler2D boxes;  // left, top, right, bottom in cells, ends exclusive

out vec3 world;
flat out vec3 normal;

const float TOP = 1.7;  // height of a wall, in heights of the rim

void main() {
    vec4 box = texelFetch(boxes, ivec2(gl_InstanceID % 1024, gl_InstanceID / 1024), 0);
    vec2 low = box.xy * cells.z - tank.xy, high = box.zw * cells.z - tank.xy;
    int face = gl_VertexID / 6;
    int corner = int[6](0, 1, 2, 2, 1, 3)[gl_VertexID % 6];
    float u = float(corner & 1), v = float(corner >> 1);
    float top = TOP * tank.w;
    if (face == 4) {
        world = vec3(mix(low.x, high.x, u), top, mix(low.y, high.y, v));
        normal = vec3(0, 1, 0);
    } else {
        float y = mix(-tank.z, top, v);
        bool x_face = face < 2;
        bool far = (face & 1) == 1;
        normal = (far ? 1.0 : -1.0) * (x_face ? vec3(1, 0, 0) : vec3(0, 0, 1));
        world = x_face ? vec3(far ? high.x : low.x, y, mix(low.y, high.y, u))
                       : vec3(mix(low.x, high.x, u), y, far ? high.y : low.y);
    }
    gl_Position = view_projection * vec4(world, 1.0);
}
