// A sheet of quads over the tank without any vertex data: instance = patch, vertex = corner in the patch.

uniform ivec2 sheet;  // columns and rows of quads

const int PATCH = 16;  // as in app/view/sheet.py

vec2 sheet_place() {
    int across = (sheet.x + PATCH - 1) / PATCH;
    ivec2 patch_corner = ivec2(gl_InstanceID % across, gl_InstanceID / across) * PATCH;
    ivec2 corner = ivec2(gl_VertexID % (PATCH + 1), gl_VertexID / (PATCH + 1));
    // Beyond the sheet all corners fall together, and the triangles vanish.
    return vec2(min(patch_corner + corner, sheet)) / vec2(sheet);
}
