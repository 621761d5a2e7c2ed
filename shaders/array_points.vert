#version 330 core
// Points in space, one a texel: place in the world and share of the colour map.

uniform sampler2D cells_map;
uniform vec4 to_clip_x, to_clip_y, to_clip_z, to_clip_w;  // rows of the matrix
uniform vec4 span;  // radius in the world; pixels to a unit at distance 1; texels in a row; smallest radius

out float share;
out float radius;

void main() {
    int row = int(span.z);
    vec4 point = texelFetch(cells_map, ivec2(gl_VertexID % row, gl_VertexID / row), 0);
    share = point.w;
    vec4 world = vec4(point.xyz, 1.0);
    gl_Position = vec4(dot(to_clip_x, world), dot(to_clip_y, world), dot(to_clip_z, world), dot(to_clip_w, world));
    radius = max(span.x * span.y / max(gl_Position.w, 1e-6), span.w);
    gl_PointSize = min(2.0 * radius, 60.0);
    if (isnan(point.x) || isnan(point.w)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);  // outside: not drawn
}
