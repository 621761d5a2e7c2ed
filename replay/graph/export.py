"""A picture of a capture as SVG, and its graph as DOT for Graphviz.

The SVG has the same rectangles and curves as the panel, for documents and for machines without a display;
`Theme` holds its colours. Names in a capture are a stranger's: everything is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

from replay.graph.layout import HEADER, SUBTITLE_SIZE, TITLE_SIZE, Box, Path, Picture, Pill, Point
from replay.graph.model import Capture, Provenance
from replay.graph.nodes import NodeKind

_FONT = "Inter, 'DejaVu Sans', 'Segoe UI', Helvetica, Arial, sans-serif"
_MARGIN = 20.0


@dataclass(frozen=True)
class Theme:
    """Colours of a picture, as CSS."""

    background: str
    node: str
    container: str
    line: str
    text: str
    muted: str
    launch: str
    memory: str
    library: str
    control: str
    region: str
    edge: str


DARK = Theme(
    "#161B22", "#1E252E", "#1A2029", "#2F3A46", "#E4EAF0", "#8B99A8", "#2BA9C6", "#4FC38A", "#5B8DEF",
    "#E8B04B", "#9B8CF2", "#6E7D8C",
)  # fmt: skip
LIGHT = Theme(
    "#F6F8FA", "#FFFFFF", "#EEF2F5", "#CFD8E0", "#17212B", "#5D6B79", "#0F86A3", "#1E8E58", "#2F62C9",
    "#A86C00", "#6A55D6", "#8795A3",
)  # fmt: skip
THEMES = {"dark": DARK, "light": LIGHT}


def to_svg(picture: Picture, theme: Theme = LIGHT, *, title: str = "") -> str:
    """Return a picture as an SVG document.

    Args:
        picture: what `layout.lay_out` returns.
        theme: the colours.
        title: told to whoever cannot see it, and shown by a browser as a tooltip.
    """
    width, height = picture.width + 2 * _MARGIN, picture.height + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{escape(_FONT)}">',
        f"<title>{_text(title)}</title>" if title else "",
        f'<rect width="100%" height="100%" fill="{theme.background}"/>',
        f'<g transform="translate({_MARGIN:g} {_MARGIN:g})">',
        *(_container(box, theme) for box in picture.boxes if box.container),
        *(_path(path, theme) for path in picture.paths),
        *(_node(box, theme) for box in picture.boxes if not box.container),
        *(_pill(pill, theme) for pill in picture.pills),
        "</g>",
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def color_of(kind: NodeKind, theme: Theme) -> str:
    """Return the colour of a kind of node."""
    return {
        NodeKind.LAUNCH: theme.launch,
        NodeKind.MEMORY: theme.memory,
        NodeKind.LIBRARY: theme.library,
        NodeKind.CONTROL: theme.control,
        NodeKind.BRANCH: theme.control,
    }.get(kind, theme.muted)


def _container(box: Box, theme: Theme) -> str:
    color = color_of(box.kind, theme)
    dash = ' stroke-dasharray="4 3"' if box.kind in (NodeKind.BRANCH, NodeKind.GROUP) else ""
    return (
        f"<g><title>{_about(box)}</title>"
        f'<rect {_frame(box)} rx="8" fill="{theme.container}" stroke="{color}" stroke-opacity=".7"{dash}/>'
        f"{_label(box.x + 12, box.y + HEADER / 2 + 4, box.title, SUBTITLE_SIZE, color, 600)}"
        f"{_badge(box, box.y + HEADER / 2 + 4, theme)}</g>"
    )


def _node(box: Box, theme: Theme) -> str:
    color = color_of(box.kind, theme)
    stack = ""
    if box.badge:  # several operations: a second card behind
        stack = f'<rect {_frame(box, 3.0)} rx="6" fill="{theme.node}" stroke="{color}" stroke-opacity=".45"/>'
    middle = box.y + box.height / 2
    title_y = middle - 3 if box.subtitle else middle + 4.5
    subtitle = (
        _label(box.x + 13, middle + 12, box.subtitle, SUBTITLE_SIZE, theme.muted, 400) if box.subtitle else ""
    )
    return (
        f"<g><title>{_about(box)}</title>{stack}"
        f'<rect {_frame(box)} rx="6" fill="{theme.node}" stroke="{color}" stroke-width="1.2"/>'
        f'<rect x="{box.x:.1f}" y="{box.y + 6:.1f}" width="3" height="{box.height - 12:.1f}" fill="{color}"/>'
        f"{_label(box.x + 13, title_y, box.title, TITLE_SIZE, theme.text, 500)}{subtitle}"
        f"{_badge(box, title_y, theme)}</g>"
    )


def _badge(box: Box, y: float, theme: Theme) -> str:
    if not box.badge:
        return ""
    return (
        f'<text x="{box.x + box.width - 11:.1f}" y="{y:.1f}" font-size="{TITLE_SIZE}" fill="{theme.muted}" '
        f'text-anchor="end">{_text(box.badge)}</text>'
    )


def _pill(pill: Pill, theme: Theme) -> str:
    dash = ' stroke-dasharray="3 2"' if pill.again else ""
    fill = theme.region if pill.writers else theme.node
    text = theme.background if pill.writers else theme.text
    names = _text(" = ".join(pill.names))
    role = "read, then written" if pill.readers and pill.writers else "read" if pill.readers else "written"
    return (
        f"<g><title>{names} (region {pill.region}): {role} by the launch</title>"
        f'<rect {_frame(pill)} rx="{pill.height / 2:g}" fill="{fill}" stroke="{theme.region}"{dash}/>'
        f"{_label(pill.x + 11, pill.y + pill.height / 2 + 4, pill.text, SUBTITLE_SIZE, text, 400)}</g>"
    )


def _path(path: Path, theme: Theme) -> str:
    from_region = path.source < 0 or path.targets[0] < 0
    color = theme.region if from_region else theme.edge
    dash = ""
    if not path.data:
        dash = ' stroke-dasharray="1.5 3"'
    elif path.provenance is Provenance.ASSUMED:
        dash = ' stroke-dasharray="5 3"'
    opacity = ".55" if from_region or not path.data else ".9"
    curves = " ".join(_curve(stroke) for stroke in path.strokes)
    heads = " ".join(_arrow(tip, direction) for tip, direction in path.arrows)
    words = f"{path.provenance.value}, region {', '.join(map(str, path.regions[:8]))}"
    return (
        f'<g opacity="{opacity}"><title>{words}</title>'
        f'<path d="{curves}" fill="none" stroke="{color}" stroke-width="1.3"{dash}/>'
        f'<path d="{heads}" fill="{color}"/></g>'
    )


def _curve(stroke: tuple[Point, ...]) -> str:
    first, *rest = (f"{x:.1f} {y:.1f}" for x, y in stroke)
    return f"M{first} C{' '.join(rest)}"


def _arrow(tip: Point, direction: Point) -> str:
    (a, b), (c, d) = arrow_base(tip, direction)
    return f"M{tip[0]:.1f} {tip[1]:.1f}L{a:.1f} {b:.1f}L{c:.1f} {d:.1f}Z"


def arrow_base(tip: Point, direction: Point, size: float = 6.0) -> tuple[Point, Point]:
    """Return the other two corners of an arrow head."""
    x, y = tip[0] - direction[0] * size, tip[1] - direction[1] * size
    side = size * 0.5
    return (x - direction[1] * side, y + direction[0] * side), (
        x + direction[1] * side,
        y - direction[0] * side,
    )


def _about(box: Box) -> str:
    events = f"event {box.first}" if box.first == box.last else f"events {box.first} to {box.last}"
    return f"{_text(box.full_title)} ({events})"


def _frame(box: Box | Pill, shift: float = 0.0) -> str:
    x, y = box.x + shift, box.y + shift
    return f'x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" height="{box.height:.1f}"'


def _label(x: float, y: float, text: str, size: float, color: str, weight: int) -> str:
    style = f'font-size="{size:g}" font-weight="{weight}" fill="{color}"'
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{_text(text)}</text>'


def _text(text: str) -> str:
    """Return text that XML can hold: escaped, control characters and lone surrogates replaced."""
    return escape("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text))


def to_dot(capture: Capture, picture: Picture) -> str:
    """Return the nodes and edges of a picture in the DOT language of Graphviz."""
    lines = [
        "digraph capture {",
        "  rankdir=TB;",
        '  node [shape=box, style=rounded, fontname="sans-serif"];',
    ]
    roots = [number for number, node in enumerate(picture.tree.nodes) if node.parent < 0]
    for number in roots:
        lines += _dot_node(picture, number, 1)
    named = sorted({pill.region for pill in picture.pills})
    for region in named:
        names = "\n".join(capture.regions[region].names)
        lines.append(f"  r{region} [label={_quoted(names)}, shape=oval];")
    leaf = _leaves(picture)
    for link in picture.links:
        style = "solid" if link.data and link.provenance is not Provenance.ASSUMED else "dashed"
        words = ", ".join(_region_name(capture, region) for region in link.regions[:4])
        back = ", constraint=false" if link.carried else ""
        lines.append(
            f"  n{leaf[link.source]} -> n{leaf[link.target]} [label={_quoted(words)}, style={style}{back}];"
        )
    seen: set[str] = set()
    for pill in picture.pills:
        for box in pill.readers:
            seen.add(f"  r{pill.region} -> n{leaf[box]} [style=dotted];")
        for box in pill.writers:
            seen.add(f"  n{leaf[box]} -> r{pill.region} [style=dotted, constraint=false];")
    lines += sorted(seen)
    return "\n".join([*lines, "}"]) + "\n"


def _dot_node(picture: Picture, number: int, depth: int) -> Iterable[str]:
    node, indent = picture.tree.nodes[number], "  " * depth
    words = node.title + (f" x {node.count}" if node.count > 1 else "")
    if not node.children:
        text = words + (f"\n{node.subtitle}" if node.subtitle else "")
        yield f"{indent}n{number} [label={_quoted(text)}];"
        return
    yield f"{indent}subgraph cluster_{number} {{"
    yield f"{indent}  label={_quoted(words)};"
    for child in node.children:
        yield from _dot_node(picture, child, depth + 1)
    yield f"{indent}}}"


def _leaves(picture: Picture) -> list[int]:
    """Return for each node one without children that stands for it: DOT edges cannot end in a cluster."""
    found = list(range(len(picture.tree.nodes)))
    for number in reversed(found):
        children = picture.tree.nodes[number].children
        found[number] = found[children[0]] if children else number
    return found


def _region_name(capture: Capture, region: int) -> str:
    names = capture.regions[region].names if region in capture.regions else ()
    return names[0] if names else f"region {region}"


def _quoted(text: str) -> str:
    shown = "".join(
        char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text
    )
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
