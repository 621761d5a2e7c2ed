"""What the graph tells of the thing under the pointer."""

from __future__ import annotations

from app.gl_platform import imgui
from app.gui import Gui
from app.lab.lab import Lab
from app.panels.widgets import caption, heading
from app.state import App
from replay.graph.layout import Box, Picture, Pill
from replay.graph.model import Provenance

WORDS = {
    Provenance.KNOWN: "known: the manifest or packaged source says so",
    Provenance.OBSERVED: "observed: a replay was watched event by event",
    Provenance.INFERRED: "inferred from sizes and descriptors",
    Provenance.ASSUMED: "assumed: nothing says whether it is read or written (More, Observe access)",
}
_MOST = 8


def tip_of(app: App, gui: Gui, lab: Lab, picture: Picture, over: Box | Pill | int) -> None:
    """Build the tooltip of a box, a pill, or the path of an index."""
    imgui.begin_tooltip()
    imgui.push_text_wrap_pos(imgui.get_font_size() * 24)
    if isinstance(over, int):
        _edge(gui, lab, picture, over)
    elif isinstance(over, Pill):
        heading(gui, " = ".join(over.names))
        caption(gui, f"region {over.region}, {lab.described(over.region)}")
        does = [word for word, boxes in (("read", over.readers), ("written", over.writers)) if boxes]
        caption(gui, f"{' and '.join(does)} by the launch" if does else "not used by the launch")
    else:
        _box(gui, lab, over)
    imgui.pop_text_wrap_pos()
    imgui.end_tooltip()


def _box(gui: Gui, lab: Lab, box: Box) -> None:
    heading(gui, box.full_title)
    events = f"event {box.first}" if box.first == box.last else f"events {box.first} to {box.last}"
    caption(gui, events + (f", {box.badge}" if box.badge else ""))
    if box.subtitle:
        caption(gui, box.subtitle)
    cost = lab.cost(box.first)
    if cost is not None:
        caption(gui, f"event {box.first}: {cost.seconds * 1e6:.2f} µs, {cost.share:.1%} of the frame")
    if box.can_open:
        caption(gui, "double-click to fold" if box.is_open else "double-click to unfold")


def _edge(gui: Gui, lab: Lab, picture: Picture, number: int) -> None:
    path = picture.paths[number]

    def name(index: int) -> str:
        return picture.boxes[index].full_title if index >= 0 else picture.pills[-1 - index].names[0]

    heading(gui, f"{name(path.source)} → {', '.join(dict.fromkeys(map(name, path.targets[:3])))}")
    names = [lab.region_name(region) for region in path.regions[:_MOST]]
    rest = len(path.regions) - _MOST
    imgui.text_unformatted("through " + ", ".join(names) + (f" and {rest} more" if rest > 0 else ""))
    if path.carried:
        caption(gui, "from one repeat to the next")
    if not path.data:
        caption(gui, "no data flows: only the order matters")
    caption(gui, WORDS[path.provenance])
