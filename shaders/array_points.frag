#version 330 core
// A point as a small lit ball.

uniform sampler2D colour_map;

in float share;
in float radius;
out vec4 colour;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float far = dot(at, at);
    if (radius > 1.5 && far > 1.0) discard;
    float size = float(textureSize(colour_map, 0).x);
    vec3 base = texelFetch(colour_map, ivec2(int(clamp(share, 0.0, 1.0) * (size - 1.0) + 0.5), 0), 0).rgb;
    vec3 normal = vec3(at.x, -at.y, sqrt(max(1.0 - far, 0.0)));
    float lit = 0.55 + 0.45 * max(dot(normal, normalize(vec3(-0.35, 0.65, 0.7))), 0.0);
    colour = vec4(base * (radius > 2.5 ? lit : 1.0), 1.0);
}
