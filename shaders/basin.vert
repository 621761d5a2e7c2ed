#version 330 core
// The deck around the pool (four quads), the inner walls (four) and the floor: six vertices each.
#include "scene.glsl"

out vec3 world;
flat out vec3 normal;

const float FAR = 14.0;  // reach of the deck, in half sizes of the tank

void main() {
    int quad = gl_VertexID / 6;
    int corner = int[6](0, 1, 2, 2, 1, 3)[gl_VertexID % 6];
    float along = (corner & 1) == 1 ? 1.0 : -1.0;
    bool outer = corner >= 2;
    int side = quad & 3;
    float reach = FAR * max(tank.x, tank.y);
    // The side's outward direction, and its tangent so that faces turn toward the pool or upward.
    vec2 out_way = side == 0 ? vec2(1, 0) : side == 1 ? vec2(0, 1) : side == 2 ? vec2(-1, 0) : vec2(0, -1);
    vec2 along_way = vec2(out_way.y, -out_way.x);
    vec2 size = tank.xy;
    vec2 edge = out_way * size;
    if (quad < 4) {
        vec2 at = outer ? (out_way + along * along_way) * (reach + size) : edge + along * along_way * size;
        world = vec3(at.x, tank.w, at.y);
        normal = vec3(0, 1, 0);
    } else if (quad == 8) {
        world = vec3(along, 0.0, outer ? -1.0 : 1.0) * vec3(tank.x, 0.0, tank.y) - vec3(0, tank.z, 0);
        normal = vec3(0, 1, 0);
    } else {
        vec2 at = edge + along * along_way * size;
        world = vec3(at.x, outer ? tank.w : -tank.z, at.y);
        normal = -vec3(out_way.x, 0, out_way.y);
    }
    gl_Position = view_projection * vec4(world, 1.0);
}
