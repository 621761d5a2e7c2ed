#version 330 core
// An array of rows and columns as cells: nearest sampling, a colour map or colours of its own.
// Where a pixel covers several cells, one that is not finite is enough to mark it.

uniform sampler2D cells_map;
uniform sampler2D colour_map;
uniform vec4 cell_frame;  // left, top of cell (0, 0) in pixels, y down; width and height of a cell
uniform vec4 room;        // left, top, right, bottom, in pixels, y down
uniform vec4 span;        // lowest and highest value; height of the target in pixels

out vec4 colour;

const vec3 NOT_FINITE = vec3(1.0, 0.0, 1.0);
const int MOST = 24;

bool finite(float value) {
    return !(isnan(value) || isinf(value));
}

void main() {
    vec2 pixel = vec2(gl_FragCoord.x, span.z - gl_FragCoord.y);
    if (any(lessThan(pixel, room.xy)) || any(greaterThan(pixel, room.zw))) discard;
    vec2 at = (pixel - cell_frame.xy) / cell_frame.zw;
    ivec2 size = textureSize(cells_map, 0);
    ivec2 cell = ivec2(floor(at));
    if (any(lessThan(at, vec2(0.0))) || any(greaterThanEqual(cell, size))) discard;
#ifdef COLOURS
    vec3 shown = texelFetch(cells_map, cell, 0).rgb;
#else
    float value = texelFetch(cells_map, cell, 0).r;
    bool wrong = !finite(value);
    ivec2 first = ivec2(floor(at - 0.5 / cell_frame.zw));
    ivec2 more = min(ivec2(ceil(1.0 / cell_frame.zw)), ivec2(MOST));
    if (!wrong && (more.x > 1 || more.y > 1)) {
        for (int y = 0; y < more.y; ++y)
            for (int x = 0; x < more.x; ++x)
                wrong = wrong || !finite(texelFetch(cells_map, clamp(first + ivec2(x, y), ivec2(0), size - 1), 0).r);
    }
    float share = clamp((value - span.x) / max(span.y - span.x, 1e-37), 0.0, 1.0);
    int entry = int(share * float(textureSize(colour_map, 0).x - 1) + 0.5);
    vec3 shown = wrong ? NOT_FINITE : texelFetch(colour_map, ivec2(entry, 0), 0).rgb;
#endif
    colour = vec4(shown, 1.0);
}
