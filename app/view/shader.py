"""Shaders from files to programs: includes, variants, errors with file and line, reload while running.

A file may say `#include "name.glsl"` on a line of its own; each file is included once. A variant is made by
names that are defined after the `#version` line. Errors of the driver are given back with the file and the
line of the source they belong to. What a program is drawn with is not known here.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.gl_platform import GL
from app.view.gl_objects import Program
from replay.errors import ShaderError

_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')
# Mesa and AMD: 0:12(5): error: ...; NVIDIA: 0(12) : error ...; Apple and Intel: ERROR: 0:12: ...
_PLACE = re.compile(r"(?:ERROR:\s*)?\d+(?::(\d+)|\((\d+)\))(?:\(\d+\))?\s*:\s*(.*)")
_POLL_SECONDS = 0.4

UNITS = {
    "sky_map": 0,
    "surface_map": 1,
    "caustics_map": 2,
    "heights": 3,
    "colour_map": 4,
    "source": 5,
    "labels": 6,
    "basin_map": 8,
    "boxes": 9,
    "cells_map": 10,
}
"""The texture unit of each sampler in shaders/."""
_BLOCK = "Scene"


@dataclass(frozen=True)
class Source:
    """A stage's text with everything included; `origins` tells file and line of each of its lines.

    `#line` directives would say the same to the driver, but Mesa loses the file's number.
    """

    text: str
    origins: tuple[tuple[Path, int], ...]

    @property
    def files(self) -> set[Path]:
        """The files it was made from."""
        return {path for path, _ in self.origins}


def read_source(path: Path, defines: tuple[str, ...] = ()) -> Source:
    """Read a stage and what it includes.

    Args:
        path: the stage, whose first line is `#version`.
        defines: names to define.

    Raises:
        ShaderError: a file cannot be read, or the first line is no `#version`.
    """
    lines = _expand(path, {path})
    if not lines[0][0].startswith("#version"):
        raise ShaderError(
            f"{path.name}:1: the first line must be #version", remedy="begin with #version 330 core"
        )
    lines[1:1] = [(f"#define {name}", path, 1) for name in defines]
    return Source("\n".join(line for line, _, _ in lines), tuple((file, at) for _, file, at in lines))


def _expand(path: Path, included: set[Path]) -> list[tuple[str, Path, int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ShaderError(
            f"shader {path} cannot be read ({error})", remedy="install ripplescope again"
        ) from error
    out: list[tuple[str, Path, int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _INCLUDE.match(line)
        if match is None:
            out.append((line, path, number))
        elif (other := path.parent / match[1]) not in included:
            included.add(other)
            out.extend(_expand(other, included))
    return out


def explain_log(log: str, source: Source) -> str:
    """Return the first error of a driver's log as `file:line: text`."""
    for line in log.splitlines():
        match = _PLACE.match(line.strip())
        number = int(match[1] or match[2]) if match else 0
        if match and "warning" not in line.lower() and 1 <= number <= len(source.origins):
            path, at = source.origins[number - 1]
            text = re.sub(r"^error\s*(\w\d+)?\s*:?\s*", "", match[3].strip(), flags=re.IGNORECASE)
            return f"{path.name}:{at}: {text}"
    return f"{source.origins[0][0].name}: {' '.join(log.split()) or 'the driver gives no reason'}"


def build_program(vertex: Source, fragment: Source) -> Program:
    """Compile and link two stages.

    Raises:
        ShaderError: with file and line.
    """
    stages: list[int] = []
    try:
        for kind, source in ((GL.GL_VERTEX_SHADER, vertex), (GL.GL_FRAGMENT_SHADER, fragment)):
            stages.append(stage := GL.glCreateShader(kind))
            GL.glShaderSource(stage, source.text)
            GL.glCompileShader(stage)
            if not GL.glGetShaderiv(stage, GL.GL_COMPILE_STATUS):
                raise ShaderError(explain_log(_text(GL.glGetShaderInfoLog(stage)), source))
        program = Program(GL.glCreateProgram())
        for stage in stages:
            GL.glAttachShader(program.name, stage)
        GL.glLinkProgram(program.name)
        if not GL.glGetProgramiv(program.name, GL.GL_LINK_STATUS):
            log = " ".join(_text(GL.glGetProgramInfoLog(program.name)).split())
            program.close()
            raise ShaderError(
                f"{vertex.origins[0][0].name} and {fragment.origins[0][0].name} do not link: {log}"
            )
        for stage in stages:
            GL.glDetachShader(program.name, stage)
        return program
    finally:
        for stage in stages:
            GL.glDeleteShader(stage)


def _text(log: Any) -> str:
    return log.decode("utf-8", "replace") if isinstance(log, bytes) else str(log)


class LiveProgram:
    """A program that follows its files; `program` is always one that works."""

    def __init__(self, vertex: Path, fragment: Path, defines: tuple[str, ...]) -> None:
        self._stages, self._defines = (vertex, fragment), defines
        self._times: dict[Path, float] = {}
        self.program = self._build()

    def _build(self) -> Program:
        sources: list[Source] = []
        try:
            for path, stage in zip(self._stages, ("VERTEX", "FRAGMENT"), strict=True):
                sources.append(read_source(path, (stage, *self._defines)))
        finally:
            files = {file for source in sources for file in source.files} or set(self._stages)
            self._times = {**self._times, **{file: _modified(file) for file in files}}
        return build_program(*sources)

    def reload(self) -> bool:
        """Build anew if a file changed; on an error the old program stays.

        Raises:
            ShaderError: what is wrong with the changed files.
        """
        if all(_modified(file) == seen for file, seen in self._times.items()):
            return False
        for file in self._times:  # an error is told once, not at every look
            self._times[file] = _modified(file)
        fresh = self._build()
        self.program.close()
        self.program = fresh
        return True


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return -1.0


class ShaderLibrary:
    """All programs of a view, from one folder.

    Attributes:
        error: the fault of the last reload, None while all programs follow their files.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.error: ShaderError | None = None
        self._programs: dict[tuple[str, str, tuple[str, ...]], LiveProgram] = {}
        self._looked = time.monotonic()

    def get(self, vertex: str, fragment: str, defines: tuple[str, ...] = ()) -> Program:
        """Return the program of two files, built on first use.

        Raises:
            ShaderError: it does not compile or link.
        """
        key = (vertex, fragment, defines)
        live = self._programs.get(key)
        if live is None:
            live = LiveProgram(self.folder / vertex, self.folder / fragment, defines)
            self._programs[key] = live
        return live.program

    def use(self, vertex: str, fragment: str, defines: tuple[str, ...] = ()) -> Program:
        """Make a program current, with its samplers on their units and the scene on binding 0.

        Raises:
            ShaderError: it does not compile or link.
        """
        program = self.get(vertex, fragment, defines)
        program.use()
        program.bind_units(UNITS, _BLOCK)
        return program

    def poll(self, *, now: bool = False) -> bool:
        """Reload programs whose files changed; looks at most every 0.4 s unless `now`.

        Returns:
            Whether a program was replaced. A fault is kept in `error`, not raised.
        """
        moment = time.monotonic()
        if not now and moment - self._looked < _POLL_SECONDS:
            return False
        self._looked = moment
        replaced = False
        for live in self._programs.values():
            try:
                if live.reload():
                    replaced, self.error = True, None
            except ShaderError as error:
                self.error = error
        return replaced

    def close(self) -> None:
        """Delete all programs."""
        for live in self._programs.values():
            live.program.close()
        self._programs.clear()
