"""Scenes of the basin: TOML files that say grid, values, walls, depth, sources, probes and camera.

    label = "Ring"
    border = "absorbing"
    [values]
    k_damp = 0.0
    [view]
    mode = "data"
    range = [-0.1, 0.1]
    [[walls]]
    shape = "line"
    start = [40, 0]
    end = [40, 127]
    [[sources]]
    at = [64, 64]
    frequency = 5.0

Places are cells, x to the right, y down. A scene says what is set before the first frame; rain is pushes
from the host, the same in every run, which a session records like those of a hand. Everything is checked
here and every complaint names file and entry; nothing is drawn or launched.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from app.basin import shapes
from app.look import give_look
from app.resources import resource
from app.view.options import WaterOptions
from capture.basin import BASIN, NO_POINTER, PROBES, SHALLOWEST, SOURCES
from replay.errors import ManifestError, UsageError
from replay.fields import Field

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from capture.settings import FrameSettings

VALUES = ("k_speed", "k_damp", "radius", "magnitude")
_MAX_BYTES = 1 << 20
_MAX_SHAPES = 1000


@dataclass(frozen=True)
class Source:
    """An oscillator: place in cells, Hz, m, rad."""

    at: shapes.Point
    frequency: float
    amplitude: float = 0.05
    phase: float = 0.0


@dataclass(frozen=True)
class Camera:
    """From where a scene is seen: angles in degrees, distance in m; None leaves it to the view."""

    yaw: float | None = None
    pitch: float | None = None
    distance: float | None = None


@dataclass(frozen=True)
class Rain:
    """Drops at places that look random: one every `every` frames."""

    every: int
    seed: int

    def drop(self, frame: int, width: int, height: int) -> shapes.Point | None:
        """Return the cell that is pushed in a frame, None for none."""
        if frame % self.every:
            return None
        x, y = np.random.default_rng((self.seed, frame)).random(2)
        return float(x * (width - 1)), float(y * (height - 1))


@dataclass(frozen=True)
class BasinScene:
    """What a scene file says.

    Attributes:
        name: stem of the file.
        label, description: for people.
        width, height, substeps: of the frame.
        values: parameters by name, of those in `VALUES`.
        absorbing: whether waves leave at the border.
        walls: (height, width), 1 is wall.
        depth: (height, width), share of the deepest.
        sources, probes: at most 16 each; probes are places in cells.
        camera: from where it is seen.
        rain: drops, None for none.
        view: how the heights are shown, as in `app.look`, where that is not the default.
    """

    name: str
    label: str
    description: str
    width: int
    height: int
    substeps: int
    values: Mapping[str, float]
    absorbing: bool
    walls: np.ndarray
    depth: np.ndarray
    sources: tuple[Source, ...]
    probes: tuple[shapes.Point, ...]
    camera: Camera
    rain: Rain | None
    view: Mapping[str, Any] = field(default_factory=dict)

    def settings(self) -> FrameSettings:
        """Return the frame to record.

        Raises:
            UsageError: it cannot be recorded so.
        """
        from capture.settings import FrameSettings

        return FrameSettings(
            width=self.width, height=self.height, substeps=self.substeps, solver=BASIN, **self.values
        )

    def arrays(self) -> dict[str, np.ndarray]:
        """Return the value of every named array of the basin that the scene sets."""
        nowhere = (*self.probes, *([NO_POINTER] * (PROBES - len(self.probes))))
        off = Source(NO_POINTER, 5.0)
        sources = (*self.sources, *([off] * (SOURCES - len(self.sources))))
        return {
            "walls": self.walls,
            "depth": self.depth,
            "border": np.array([int(self.absorbing)], np.int32),
            "source_pos": np.array([source.at for source in sources], np.float32),
            "source_freq": np.array([source.frequency for source in sources], np.float32),
            "source_amp": np.array([source.amplitude for source in sources], np.float32),
            "source_phase": np.array([source.phase for source in sources], np.float32),
            "source_on": np.array([source is not off for source in sources], np.int32),
            "probe_pos": np.array(nowhere, np.float32),
        }


def scene_names() -> list[str]:
    """Return the names of the scenes that come with the program, in the order of the gallery."""
    paths = resource("assets/scenes").glob("*.toml")
    order = {name: index for index, name in enumerate(GALLERY)}
    return sorted((path.stem for path in paths), key=lambda name: (order.get(name, len(order)), name))


GALLERY = (
    "rings", "rain", "double-slit", "lens", "mirror", "whispering-gallery", "shoal", "resonance",
)  # fmt: skip


def find_scene(text: str) -> BasinScene:
    """Return the scene of a name, or of a file.

    Raises:
        UsageError: there is neither, or the file is no scene.
    """
    path = Path(text)
    if path.suffix.lower() != ".toml":
        names = scene_names()
        if text not in names:
            near = difflib.get_close_matches(text, names, n=1)
            hint = f"did you mean {near[0]!r}? " if near else ""
            raise UsageError(
                f"no scene {text!r:.80}", remedy=f"{hint}there are {', '.join(names)}; or name a .toml file"
            )
        path = resource("assets/scenes") / f"{text}.toml"
    return read_scene(path)


def read_scene(path: Path) -> BasinScene:
    """Read and check a scene file.

    Raises:
        UsageError: it cannot be read, or an entry is missing, unknown, of the wrong type or out of range.
    """
    if not path.is_file():
        raise UsageError(f"{path}: there is no such scene file")
    try:
        if path.stat().st_size > _MAX_BYTES:
            raise UsageError(f"{path}: more than {_MAX_BYTES} bytes are no scene")
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    return parse_scene(text, path)


def parse_scene(text: str, path: Path) -> BasinScene:
    """Return the scene of a TOML text; errors as for `read_scene`."""
    try:
        return _scene(Field(tomllib.loads(text), str(path)), path.stem)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not TOML: {error}") from None
    except ManifestError as error:
        raise UsageError(error.what, remedy=error.remedy) from None


def _scene(root: Field, name: str) -> BasinScene:
    top = root.members(
        ("label",),
        (
            "description", "grid", "values", "border", "walls", "depth", "sources", "probes", "camera",
            "rain", "view",
        ),
    )  # fmt: skip
    grid = top["grid"].members((), ("width", "height", "substeps")) if "grid" in top else {}
    width = grid["width"].whole(3, 8192) if "width" in grid else 128
    height = grid["height"].whole(3, 8192) if "height" in grid else 128
    values = top["values"].members((), VALUES) if "values" in top else {}
    depth = np.ones((height, width), np.float32)
    for item in _items(top, "depth"):
        _deepen(item, depth)
    walls = np.zeros((height, width), bool)
    for item in _items(top, "walls"):
        mask, members = _mask(item, walls.shape, WALL_SHAPES, ("erase",))
        erase = "erase" in members and members["erase"].flag()
        walls = walls & ~mask if erase else walls | mask
    return BasinScene(
        name=name,
        label=top["label"].text(empty=False),
        description=top["description"].text() if "description" in top else "",
        width=width,
        height=height,
        substeps=grid["substeps"].whole(1, 10_000) if "substeps" in grid else 16,
        values={key: field.number() for key, field in values.items()},
        absorbing="border" in top and top["border"].text(choices=("reflecting", "absorbing")) == "absorbing",
        walls=walls.astype(np.uint8),
        depth=depth,
        sources=tuple(_source(item) for item in _items(top, "sources", SOURCES)),
        probes=tuple(_point(item.members(("at",))["at"]) for item in _items(top, "probes", PROBES)),
        camera=_camera(top.get("camera")),
        rain=_rain(top["rain"]) if "rain" in top else None,
        view=_view(top["view"]) if "view" in top else {},
    )


def _items(top: Mapping[str, Field], name: str, most: int = _MAX_SHAPES) -> list[Field]:
    return list(top[name].items(most=most)) if name in top else []


def _point(field: Field) -> shapes.Point:
    numbers = tuple(item.number() for item in field.items(most=2))
    if len(numbers) != 2:
        field.fail("expected a place: [x, y]")
    return numbers[0], numbers[1]


def _numbers(field: Field) -> tuple[float, ...]:
    return tuple(item.number() for item in field.items(most=100))


def _number(field: Field) -> float:
    return field.number()


def _positive(field: Field) -> float:
    return field.number(positive=True)


Reader = Callable[[Field], Any]
ShapeTable = Mapping[str, tuple[Callable[..., shapes.Mask], Mapping[str, Reader], Mapping[str, Reader]]]

AREAS: ShapeTable = {
    "disc": (shapes.disc, {"centre": _point, "radius": _positive}, {}),
    "rectangle": (shapes.rectangle, {"one": _point, "other": _point}, {}),
    "lens": (shapes.lens, {"centre": _point, "diameter": _positive, "radius": _positive}, {}),
}
WALL_SHAPES: ShapeTable = {
    **AREAS,
    "line": (shapes.line, {"start": _point, "end": _point}, {"thickness": _positive}),
    "stroke": (shapes.stroke, {"start": _point, "end": _point, "radius": _positive}, {}),
    "slits": (
        shapes.slits,
        {"x": _number, "centre": _number, "openings": _numbers, "width": _positive},
        {"thickness": _positive},
    ),
    "parabola": (
        shapes.parabola,
        {"focus": _point, "length": _positive, "aperture": _positive},
        {"angle": _number, "thickness": _positive},
    ),
    "circle": (shapes.circle, {"centre": _point, "radius": _positive}, {"thickness": _positive}),
    "channel": (
        shapes.channel,
        {"start": _point, "end": _point, "width": _positive},
        {"thickness": _positive},
    ),
}
"""By name: what draws the shape, and how the entries it needs and the optional ones are read."""


def _mask(
    item: Field, shape: shapes.Shape, table: ShapeTable, extra: tuple[str, ...]
) -> tuple[shapes.Mask, dict[str, Field]]:
    kind = _kind(item, tuple(table))
    draw, needed, optional = table[kind]
    members = item.members(("shape", *needed), (*optional, *extra))
    given = {name: read(members[name]) for name, read in {**needed, **optional}.items() if name in members}
    return draw(shape, **given), members


def _kind(item: Field, names: tuple[str, ...]) -> str:
    if not isinstance(item.value, dict) or "shape" not in item.value:
        item.fail("the field 'shape' is missing")
    return Field(item.value["shape"], item.where, f"{item.path}.shape").text(choices=names)


def _deepen(item: Field, depth: np.ndarray) -> None:
    kind = _kind(item, (*AREAS, "ramp", "mound"))
    if kind == "ramp":
        members = item.members(("shape", "start", "end", "first", "last"))
        ends = (_share(members["first"]), _share(members["last"]))
        depth[:] = shapes.ramp(depth.shape, _point(members["start"]), _point(members["end"]), *ends)
    elif kind == "mound":
        members = item.members(("shape", "centre", "radius", "top"))
        shapes.mound(depth, _point(members["centre"]), _positive(members["radius"]), _share(members["top"]))
    else:
        mask, members = _mask(item, depth.shape, AREAS, ("depth",))
        if "depth" not in members:
            item.fail("the field 'depth' is missing")
        depth[mask] = _share(members["depth"])


def _share(field: Field) -> float:
    value = field.number()
    if not SHALLOWEST <= value <= 1.0:
        field.fail(f"{value:g} is not from {SHALLOWEST:g} to 1")
    return value


def _source(item: Field) -> Source:
    members = item.members(("at", "frequency"), ("amplitude", "phase"))
    return Source(
        _point(members["at"]),
        _positive(members["frequency"]),
        members["amplitude"].number() if "amplitude" in members else 0.05,
        members["phase"].number() if "phase" in members else 0.0,
    )


def _camera(item: Field | None) -> Camera:
    members = item.members((), ("yaw", "pitch", "distance")) if item is not None else {}
    values = {name: member.number(positive=name == "distance") for name, member in members.items()}
    if not abs(values.get("pitch", 0.0)) <= 89.0:
        members["pitch"].fail("not from -89 to 89 degrees")
    return Camera(**values)


def _view(item: Field) -> dict[str, Any]:
    members = item.members((), ("mode", "colour_map", "range", "contours", "exaggeration"))
    view: dict[str, Any] = {}
    for name, member in members.items():
        look = "fixed_range" if name == "range" else name
        view[look] = list(_numbers(member)) if name == "range" else member.value
        if give_look(WaterOptions(), {look: view[look]}):
            member.fail(f"{view[look]!r:.40} cannot be shown")
    return view


def _rain(item: Field) -> Rain:
    members = item.members(("every",), ("seed",))
    return Rain(
        members["every"].whole(1, 100_000), members["seed"].whole(0, 1 << 30) if "seed" in members else 1
    )
