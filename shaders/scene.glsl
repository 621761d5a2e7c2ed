// What every pass over the scene shares: the uniform block, the sky, tone mapping and dithering.
// Lengths in m; world x right, y up, z toward the viewer; the still water is at y = 0.

layout(std140, row_major) uniform Scene {
    mat4 view_projection;
    vec4 eye;        // xyz; w: vertical exaggeration of the heights
    vec4 ray_right;  // from the middle of the picture to its right edge, at distance 1; w: width in pixels
    vec4 ray_up;     // the same to the upper edge; w: height in pixels
    vec4 ray_ahead;  // unit; w: angle of a pixel
    vec4 tank;       // half size along x and z, depth of the floor, height of the rim
    vec4 sun;        // unit, to the sun; w: side of a tile
    vec4 sunk;       // unit, from the sun inside still water; w: -
    vec4 cells;      // columns, rows, side of a cell, 1 if the marker shows
    vec4 marker;     // x, z, radius; w: brightness of the deck
    vec4 data;       // lowest and highest value of the colour map, contour interval (0: none), wireframe
};

const float IOR = 1.333;
const vec3 SUNLIGHT = vec3(1.0, 0.94, 0.82) * 2.6;
const vec3 SKYLIGHT = vec3(0.62, 0.78, 1.0) * 0.85;
const vec3 HAZE = vec3(0.58, 0.76, 0.98);
const vec3 GROUND_HAZE = vec3(0.58, 0.60, 0.60);

uniform sampler2D sky_map;

// The upper half of all directions on a disc (stereographic).
vec3 sky(vec3 direction) {
    float up = max(direction.y, 0.0);
    vec2 place = direction.xz / (length(direction.xz) * 1e-6 + 1.0 + up);
    return texture(sky_map, place * 0.5 + 0.5).rgb;
}

float hash(vec2 p) {
    p = fract(p * vec2(0.1031, 0.1130));
    p += dot(p, p.yx + 33.33);
    return fract((p.x + p.y) * p.x);
}

// Filmic curve of Krzysztof Narkowicz (ACES fit), then sRGB's approximate inverse, then noise of one step.
#ifdef FRAGMENT
vec4 finish(vec3 light) {
    light = max(light, 0.0) * 0.72;
    vec3 film = clamp((light * (2.51 * light + 0.03)) / (light * (2.43 * light + 0.59) + 0.14), 0.0, 1.0);
    vec3 encoded = pow(film, vec3(1.0 / 2.2));
    float noise = hash(gl_FragCoord.xy) - 0.5;
    return vec4(encoded + noise / 255.0, 1.0);
}
#endif
