// A sheet of strips over the tank without any vertex data: instance = row of strips, vertex = place in it.

uniform ivec2 sheet;  // columns and rows of quads

vec2 sheet_place() {
    return vec2(gl_VertexID >> 1, gl_InstanceID + (gl_VertexID & 1)) / vec2(sheet);
}
