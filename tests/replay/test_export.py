"""SVG and DOT: well-formed, complete, the same geometry as the picture, and safe against hostile names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from replay.graph.export import DARK, LIGHT, arrow_base, to_dot, to_svg
from replay.graph.flow import data_flow
from replay.graph.fold import fold_capture
from replay.graph.layout import Picture, lay_out
from replay.graph.model import Capture
from replay.graph.open import open_capture

SVG = "{http://www.w3.org/2000/svg}"


def picture_of(capture: Capture) -> Picture:
    return lay_out(capture, data_flow(capture), fold_capture(capture))


@pytest.fixture(scope="module")
def frame(frame_of: Callable[..., Path]) -> Capture:
    return open_capture(frame_of(substeps=16, solver="reference"))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_every_recorded_capture_is_a_document(recorded: dict[str, Path], theme) -> None:
    for path in recorded.values():
        picture = picture_of(open_capture(path))
        root = ElementTree.fromstring(to_svg(picture, theme, title=path.name))
        assert root.tag == f"{SVG}svg"
        texts = [node.text for node in root.iter(f"{SVG}text")]
        assert all(box.title in texts for box in picture.boxes)
        assert all(pill.text in texts for pill in picture.pills)


def test_rectangles_are_those_of_the_picture(frame: Capture) -> None:
    picture = picture_of(frame)
    root = ElementTree.fromstring(to_svg(picture))
    places = {
        tuple(round(float(rect.get(name, "0")), 1) for name in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("x")
    }
    for one in (*picture.boxes, *picture.pills):
        assert tuple(round(value, 1) for value in (one.x, one.y, one.width, one.height)) in places
    assert float(root.get("width", "0")) == pytest.approx(picture.width + 40, abs=1)
    strokes = [path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("fill") == "none"]
    assert sum(stroke.count("M") for stroke in strokes) == sum(len(path.strokes) for path in picture.paths)


def test_texts_that_a_person_looks_for(frame: Capture) -> None:
    text = to_svg(picture_of(frame))
    for words in ("wave_displace", "wave_solve", "×16", "heights = heights_out", "k_speed", "events 1 to 16"):
        assert words in text


def test_hostile_names_stay_text(frame: Capture) -> None:
    picture = picture_of(frame)
    evil = '"><script>alert(1)</script>&\x00\x1b[31m\ud800\n'
    text = to_svg(picture, title=evil)
    assert "<script" not in text and "\x1b" not in text and "\x00" not in text
    text.encode("utf-8")
    root = ElementTree.fromstring(text)
    assert (root.findtext(f"{SVG}title") or "").startswith('"><script>alert(1)</script>&')


def test_dot(frame: Capture) -> None:
    text = to_dot(frame, picture_of(frame))
    assert text.startswith("digraph capture {") and text.endswith("}\n")
    assert 'n0 [label="wave_displace\\n384 threads"];' in text
    assert 'n1 [label="wave_solve x 16\\n384 threads"];' in text
    assert re.search(r'n0 -> n1 \[label="heights, heights_prev", style=solid\];', text)
    assert re.search(r"n1 -> n1 .*constraint=false", text)
    region = next(one.id for one in frame.regions.values() if "k_speed" in one.names)
    assert f"r{region} -> n1 [style=dotted];" in text


def test_dot_clusters_and_quotes(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["conditions"])
    text = to_dot(capture, picture_of(capture))
    assert text.count("subgraph cluster_") == 5  # WHILE, body, IF, then, else
    assert text.count("{") == text.count("}")
    assert "n" in text and "style=dashed" in text  # nothing is known of these kernels


def test_arrow_heads_point_where_they_go() -> None:
    left, right = arrow_base((10.0, 20.0), (0.0, 1.0))
    assert left[1] == right[1] == 14.0 and left[0] + right[0] == 20.0 and left[0] != right[0]
