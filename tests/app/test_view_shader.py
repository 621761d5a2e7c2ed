"""Includes, errors with file and line, all programs of the view, reload while running."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.resources import resource
from app.window import Window
from replay.errors import ShaderError

VERTEX = "#version 330 core\nvoid main() { gl_Position = vec4(0.0); }\n"
FRAGMENT = '#version 330 core\n#include "tint.glsl"\nout vec4 colour;\nvoid main() { colour = tint(); }\n'
TINT = "// a colour\nvec4 tint() {\n    return vec4(1.0);\n}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("a.vert", VERTEX), ("a.frag", FRAGMENT), ("tint.glsl", TINT)):
        (tmp_path / name).write_text(text)
    return tmp_path


def touch(path: Path, text: str) -> None:
    path.write_text(text)
    later = path.stat().st_mtime_ns + 1_000_000_000
    os.utime(path, ns=(later, later))


def test_each_line_knows_where_it_came_from(folder: Path, gl: Window):
    from app.view.shader import read_source

    source = read_source(folder / "a.frag", ("HIGH",))
    lines = source.text.split("\n")
    assert lines[:2] == ["#version 330 core", "#define HIGH"]
    at = lines.index("    return vec4(1.0);")
    assert source.origins[at] == (folder / "tint.glsl", 3)
    assert source.origins[lines.index("out vec4 colour;")] == (folder / "a.frag", 3)
    assert source.files == {folder / "a.frag", folder / "tint.glsl"}


@pytest.mark.parametrize(
    "log",
    [
        "0:5(12): error: oops",
        "0(5) : error C1008: oops",
        "ERROR: 0:5: oops",
        "0:1(1): warning: x\n0:5(1): error: oops",
    ],
    ids=["mesa", "nvidia", "apple", "after a warning"],
)
def test_logs_of_all_drivers_are_understood(folder: Path, gl: Window, log: str):
    from app.view.shader import explain_log, read_source

    source = read_source(folder / "a.frag")  # line 5 of the whole is line 4 of the included file
    assert explain_log(log, source) == "tint.glsl:4: oops"


def test_an_error_names_file_and_line(folder: Path, gl: Window):
    from app.view.shader import ShaderLibrary

    touch(folder / "tint.glsl", TINT.replace("vec4(1.0)", "nothing"))
    library = ShaderLibrary(folder)
    with pytest.raises(ShaderError, match=r"^tint\.glsl:3: .*nothing"):
        library.get("a.vert", "a.frag")
    library.close()


def test_a_missing_file_and_a_missing_version_are_told(folder: Path, gl: Window):
    from app.view.shader import read_source

    with pytest.raises(ShaderError, match=r"none\.frag cannot be read"):
        read_source(folder / "none.frag")
    touch(folder / "a.vert", "void main() {}\n")
    with pytest.raises(ShaderError, match=r"a\.vert:1: the first line must be #version"):
        read_source(folder / "a.vert")


def test_stages_that_do_not_fit_are_told(folder: Path, gl: Window):
    from app.view.shader import ShaderLibrary

    touch(folder / "a.vert", VERTEX.replace("void", "out vec2 place;\nvoid"))
    touch(folder / "tint.glsl", "in vec3 place;\nvec4 tint() { return vec4(place, 1.0); }\n")
    library = ShaderLibrary(folder)
    with pytest.raises(ShaderError, match=r"a\.vert and a\.frag do not link: .*place"):
        library.get("a.vert", "a.frag")
    library.close()


def test_reload_follows_an_included_file_and_keeps_the_last_good_program(folder: Path, gl: Window):
    from app.view.shader import ShaderLibrary

    library = ShaderLibrary(folder)
    first = library.get("a.vert", "a.frag")
    assert not library.poll(now=True)

    touch(folder / "tint.glsl", TINT.replace("vec4(1.0)", "broken"))
    assert not library.poll(now=True)
    assert library.get("a.vert", "a.frag") is first and first.name
    assert str(library.error).startswith("tint.glsl:3: ")

    touch(folder / "tint.glsl", TINT.replace("1.0", "0.5"))
    os.utime(folder / "tint.glsl", ns=(1, 1))
    assert library.poll(now=True)
    assert library.error is None
    assert library.get("a.vert", "a.frag") is not first
    library.close()


def test_every_stage_of_the_view_compiles_in_each_variant(gl: Window):
    from app.view.shader import ShaderLibrary

    library = ShaderLibrary(resource("shaders"))
    sheets = [("caustics.vert", "caustics.frag"), ("water.vert", "water.frag"), ("water.vert", "data.frag")]
    programs = [
        ("fullscreen.vert", "sky.frag", ()),
        ("fullscreen.vert", "coarse.frag", ()),
        ("fullscreen.vert", "surface.frag", ()),
        ("fullscreen.vert", "reduce.frag", ()),
        ("fullscreen.vert", "background.frag", ()),
        ("fullscreen.vert", "background.frag", ("DATA",)),
        ("basin.vert", "basin.frag", ()),
        ("blocks.vert", "blocks.frag", ()),
        ("fullscreen.vert", "overlay.frag", ()),
        ("decal.vert", "decal.frag", ()),
        ("fullscreen.vert", "array_image.frag", ()),
        ("fullscreen.vert", "array_image.frag", ("COLOURS",)),
        ("fullscreen.vert", "array_line.frag", ()),
        ("array_points.vert", "array_points.frag", ()),
        *((vertex, fragment, defines) for defines in ((), ("BICUBIC",)) for vertex, fragment in sheets),
    ]
    for vertex, fragment, defines in programs:
        assert library.get(vertex, fragment, defines).name
    library.close()
    stages = {name for vertex, fragment, _ in programs for name in (vertex, fragment)}
    assert stages == {path.name for path in resource("shaders").glob("*.[vf]*") if path.suffix != ".glsl"}
