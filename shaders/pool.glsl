// The pool under and around the water: tiles, light on them, and what a ray inside the water meets.

uniform sampler2D caustics_map;
uniform sampler2D basin_map;  // wall, and depth as a share of the deepest

const vec3 SAND = vec3(0.80, 0.70, 0.50);

float depth_at(vec2 place) {
    return texture(basin_map, place / (2.0 * tank.xy) + 0.5).g;
}

// How much of a joint a pixel of width w sees at p (in tiles): 0 tile, 1 joint.
float joints(vec2 p, vec2 w, float joint) {
    vec2 f = abs(fract(p - 0.5) - 0.5);  // distance to the nearest joint
    vec2 edge = clamp((joint + w - f) / (2.0 * w), 0.0, 1.0);
    edge *= clamp(2.0 * joint / w + 0.25, 0.0, 1.0);
    return max(edge.x, edge.y);
}

vec3 tiles(vec2 p, float w, float shade_rows) {
    vec2 scaled = p / sun.w;
    float width = max(w / sun.w, 1e-4);
    float variation = (hash(floor(scaled) + 7.0) - 0.5) * clamp(1.0 - width * 1.5, 0.0, 1.0);
    vec3 glaze = mix(vec3(0.23, 0.55, 0.68), vec3(0.05, 0.20, 0.42), shade_rows) * (1.0 + 0.16 * variation);
    return mix(glaze, vec3(0.62, 0.76, 0.80), 0.65 * joints(scaled, vec2(width), 0.035));
}

// Sunlight at a point under water (1: as through flat water), with the shadow of the rim.
float sunlight_below(vec3 p) {
    vec2 entry = p.xz + sunk.xz / sunk.y * -p.y;
    vec2 shifted = entry - sun.xz / sun.y * -tank.w;  // where the sun passes the rim
    vec2 inside = tank.xy - abs(shifted);
    float lit = smoothstep(-0.05, 0.12, min(inside.x, inside.y) / sun.w);
    float focus = texture(caustics_map, entry / (2.0 * tank.xy) + 0.5).r;
    return lit * mix(1.0, focus, clamp(-p.y / tank.z, 0.0, 1.0));
}

// Light that leaves the wall or the floor at p; w: width of a pixel there.
vec3 pool_light(vec3 p, vec3 normal, float w) {
    bool floor_hit = normal.y > 0.5;
    vec2 along = floor_hit ? p.xz : vec2(abs(normal.x) > 0.5 ? p.z : p.x, p.y - tank.w);
    // Walls: two rows of dark blue tiles under the rim.
    float band = floor_hit ? 0.0 : smoothstep(-2.05, -1.95, along.y / sun.w);
    vec3 glaze = tiles(along, w, band);
    if (floor_hit) glaze = mix(glaze, SAND, 0.92 * smoothstep(0.0, 0.7, 1.0 - depth_at(p.xz)));
    vec2 gap = max(tank.xy - abs(p.xz), 0.0);
    float corner = 1.0 - exp(-3.0 * min(floor_hit ? min(gap.x, gap.y) : p.y + tank.z, tank.z) / tank.z);
    vec3 ambient = SKYLIGHT * (0.26 + 0.30 * corner);
    return glaze * (ambient + SUNLIGHT * 0.50 * max(dot(normal, -sunk.xyz), 0.0) * sunlight_below(p));
}
