// The smoothed surface as surface.frag leaves it: height and gradient, without NaN.

uniform sampler2D surface_map;

#ifdef BICUBIC
// Cubic B-spline from four bilinear taps (Sigg and Hadwiger, GPU Gems 2, chapter 20).
vec4 surface_at(vec2 place) {
    vec2 size = vec2(textureSize(surface_map, 0));
    vec2 p = place * size - 0.5;
    vec2 f = fract(p);
    vec2 base = p - f;
    vec2 f2 = f * f, f3 = f2 * f, e = 1.0 - f;
    vec2 w0 = e * e * e / 6.0;
    vec2 w1 = (4.0 - 6.0 * f2 + 3.0 * f3) / 6.0;
    vec2 w3 = f3 / 6.0;
    vec2 w2 = 1.0 - w0 - w1 - w3;
    vec2 low = w0 + w1, high = w2 + w3;
    vec2 a = (base - 0.5 + w1 / low) / size, b = (base + 1.5 + w3 / high) / size;
    return (texture(surface_map, a) * low.x + texture(surface_map, vec2(b.x, a.y)) * high.x) * low.y
         + (texture(surface_map, vec2(a.x, b.y)) * low.x + texture(surface_map, b) * high.x) * high.y;
}
#else
vec4 surface_at(vec2 place) {
    return texture(surface_map, place);
}
#endif
