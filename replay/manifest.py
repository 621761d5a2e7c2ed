"""The manifest: what a `.wrp` does not store, in plain JSON beside it (`frame.wrp` -> `frame.json`).

Argument names, types and access, labels, units, ranges, defaults, carry pairs, grid and time step. The
schema is versioned and checked on reading; `wrp_sha256` ties it to one file. No Warp import.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from replay.elements import ElementType
from replay.errors import ManifestError, ParameterError
from replay.fields import Field, read_json

SCHEMA = "ripplescope-manifest"
SCHEMA_VERSION = 1
MAX_BYTES = 4 << 20  # a manifest of a frame has some 5 KB
MAX_ITEMS = 10_000
MAX_SIDE = 1 << 20
CELL_RANGE = (1e-6, 1e6)  # m; far beyond any tank, and squares of these and their ratios stay finite
FRAME_RATE_RANGE = (1e-6, 1e9)  # 1/s

_ROLES = ("input", "output", "both")
_ACCESSES = ("", "read", "write", "read_write")


def manifest_path(wrp_path: Path) -> Path:
    """Return where the manifest of a `.wrp` file lies."""
    return wrp_path.with_suffix(".json")


def next_manifest_path(wrp_path: Path) -> Path:
    """Return where the next manifest waits while a new capture replaces an old one.

    Two files cannot be replaced at once. The writer puts the new manifest here, replaces the `.wrp`, then
    moves the manifest to its place; whoever reads at any moment finds the manifest with the right digest.
    """
    return wrp_path.with_suffix(".json.next")


def read_manifest_of(wrp_path: Path, sha256: str) -> Manifest | None:
    """Return the manifest that belongs to a `.wrp` file with this digest; None if there is no manifest.

    Raises:
        ManifestError: the manifest is not valid, or belongs to another file.
    """
    place = manifest_path(wrp_path)
    waiting = next_manifest_path(wrp_path)
    if waiting.is_file():
        try:
            manifest = Manifest.read(waiting)
        except ManifestError:
            manifest = None  # it was being written; the one in place counts
        if manifest is not None and manifest.wrp_sha256 == sha256:
            return manifest
    if not os.path.lexists(place):
        return None
    manifest = Manifest.read(place)
    if manifest.wrp_sha256 != sha256:
        raise ManifestError(
            f"{place}: it belongs to another file, of digest {manifest.wrp_sha256[:12]}, not {sha256[:12]}",
            remedy="capture again, or move it away to open the capture without a manifest",
        )
    return manifest


@dataclass(frozen=True)
class ParameterEntry:
    """A named array: element type (Warp name), shape, and how a person meets it."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str  # "input", "output" or "both"
    label: str = ""
    unit: str = ""
    minimum: float | None = None
    maximum: float | None = None
    default: float | tuple[float, ...] | None = None
    logarithmic: bool = False
    editable: bool = False


@dataclass(frozen=True)
class ArgumentEntry:
    """A kernel argument: name, Warp type (`float32`, `array2d[float32]`), access of arrays."""

    name: str
    dtype: str
    access: str = ""  # "read", "write", "read_write"; empty for values


@dataclass(frozen=True)
class KernelEntry:
    """The signature of a kernel that the capture launches."""

    key: str
    arguments: tuple[ArgumentEntry, ...]


@dataclass(frozen=True)
class GridEntry:
    """The height field: cells in x and y, size of a cell in m, its parameter's name, and the pointer's.

    `heights` names what holds the newest field after a launch and its carry pairs. Where these swap two
    fields, as after an odd number of substeps, that is a carry target and not the output it came from.
    """

    width: int
    height: int
    dx: float
    heights: str = "heights"
    pointer: str = "mouse_pos"


@dataclass(frozen=True)
class StabilityEntry:
    """Names and constants of the stability limit of the explicit scheme.

    With a = speed dt^2/dx^2 and b = damping dt^2, the scheme is stable where a <= (2 - b)/4 and
    0 <= b <= 2 (Jury's criterion for the fastest mode, eigenvalue -8 of the five-point Laplacian);
    without damping that is a <= 1/2. `margin` is the share of the limit that a user may reach.
    """

    speed: str
    damping: str
    dt: str
    dx: float
    margin: float = 0.98

    def courant(self, speed: float, dt: float) -> float:
        """Return the Courant number c dt/dx, c = sqrt(speed), of a squared wave speed in m^2/s^2."""
        return math.sqrt(max(speed, 0.0)) * dt / self.dx

    def courant_limit(self, damping: float, dt: float) -> float:
        """Return the largest stable Courant number, sqrt((2 - b)/4); 0 where no speed is stable."""
        b = damping * dt * dt
        return math.sqrt((2.0 - b) / 4.0) if 0.0 <= b <= 2.0 else 0.0

    def allows(self, speed: float, damping: float, dt: float) -> bool:
        """Return whether a user may reach these values: a <= margin (2 - b)/4 and 0 <= b <= 2."""
        limit, courant = self.courant_limit(damping, dt), self.courant(speed, dt)
        return limit > 0.0 and courant * courant <= self.margin * limit * limit


@dataclass(frozen=True)
class Manifest:
    """A manifest.

    `carry`: (source, target) names copied after each launch, all at once. `modules`: the files of compiled
    modules that were put beside the `.wrp`; a recording that replaces this one removes these and no others.
    """

    created_by: str
    warp_version: str
    device_kind: str
    wrp_sha256: str
    solver: str
    substeps: int
    frame_rate: float
    grid: GridEntry
    stability: StabilityEntry
    parameters: tuple[ParameterEntry, ...]
    kernels: tuple[KernelEntry, ...]
    carry: tuple[tuple[str, str], ...]
    modules: tuple[str, ...] = ()

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read and check a manifest.

        Raises:
            ManifestError: not a regular file, too large, no JSON, another schema, or a field that is
                missing, unknown, of the wrong type or out of range; names the field.
        """
        return cls.from_json(read_json(path, MAX_BYTES), where=str(path))

    @classmethod
    def from_json(cls, value: object, *, where: str) -> Manifest:
        """Check a decoded JSON value; see `read`. `where` is what an error names as the place."""
        _check_schema(Field(value, where))
        names = tuple(field.name for field in dataclasses.fields(cls))
        required = ("schema", "schema_version", *(name for name in names if name != "modules"))
        top = Field(value, where).members(required, ("modules",))
        sha256 = top["wrp_sha256"].text()
        if not re.fullmatch("[0-9a-f]{64}", sha256):
            top["wrp_sha256"].fail("expected 64 lower-case hexadecimal digits")
        manifest = cls(
            created_by=top["created_by"].text(),
            warp_version=top["warp_version"].text(empty=False),
            device_kind=top["device_kind"].text(choices=("cpu", "cuda")),
            wrp_sha256=sha256,
            solver=top["solver"].text(),
            substeps=top["substeps"].whole(1, MAX_SIDE),
            frame_rate=_within(top["frame_rate"], *FRAME_RATE_RANGE),
            grid=_grid(top["grid"]),
            stability=_stability(top["stability"]),
            parameters=tuple(_parameter(item) for item in top["parameters"].items(most=MAX_ITEMS)),
            kernels=tuple(_kernel(item) for item in top["kernels"].items(most=MAX_ITEMS)),
            carry=tuple(_pair(item) for item in top["carry"].items(most=MAX_ITEMS)),
            modules=_modules(top["modules"]) if "modules" in top else (),
        )
        _check_names(manifest, where)
        return manifest

    def to_json(self) -> dict[str, object]:
        """Return the JSON object that `from_json` takes."""
        return {"schema": SCHEMA, "schema_version": SCHEMA_VERSION, **_plain(dataclasses.asdict(self))}

    def write(self, path: Path) -> None:
        """Write the manifest so that `path` holds the old contents or all of the new ones.

        Raises:
            ManifestError: the manifest is not valid by its own rules, or the file cannot be written.
        """
        value = self.to_json()
        self.from_json(value, where=str(path))
        part = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            with part.open("w", encoding="utf-8", newline="\n") as file:
                json.dump(value, file, indent=2, allow_nan=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise ManifestError(f"{path}: cannot be written: {error.strerror or error}") from None


def _plain(value: dict[str, object]) -> dict[str, object]:
    """Return the JSON form: lists for tuples, as reading it again gives."""
    plain: dict[str, object] = json.loads(json.dumps(value))
    return plain


def _check_schema(root: Field) -> None:
    if not isinstance(root.value, dict):
        root.members(())
    else:
        schema, version = root.value.get("schema"), root.value.get("schema_version")
        if schema != SCHEMA:
            root.fail(
                f"schema is {schema!r:.60}, not {SCHEMA!r}", remedy="this file is no manifest of a capture"
            )
        if version != SCHEMA_VERSION or isinstance(version, bool):
            root.fail(
                f"schema_version {version!r:.40} is unknown, this program reads {SCHEMA_VERSION}",
                remedy="capture again, or use the program version that wrote it",
            )


def _within(field: Field, low: float, high: float) -> float:
    number = field.number()
    if not low <= number <= high:
        field.fail(f"{number:g} is not from {low:g} to {high:g}")
    return number


def _modules(field: Field) -> tuple[str, ...]:
    names = tuple(item.text(empty=False) for item in field.items(most=MAX_ITEMS))
    for name in names:
        if name in (".", "..") or any(sign in name for sign in "/\\:"):
            field.fail(f"{name!r} is no plain file name")
    return names


def _grid(field: Field) -> GridEntry:
    members = field.members(("width", "height", "dx"), ("heights", "pointer"))
    names = {name: members[name].text(empty=False) for name in ("heights", "pointer") if name in members}
    return GridEntry(
        width=members["width"].whole(1, MAX_SIDE),
        height=members["height"].whole(1, MAX_SIDE),
        dx=_within(members["dx"], *CELL_RANGE),
        **names,
    )


def _stability(field: Field) -> StabilityEntry:
    members = field.members(("speed", "damping", "dt", "dx"), ("margin",))
    entry = StabilityEntry(
        speed=members["speed"].text(empty=False),
        damping=members["damping"].text(empty=False),
        dt=members["dt"].text(empty=False),
        dx=_within(members["dx"], *CELL_RANGE),
    )
    if "margin" not in members:
        return entry
    margin = members["margin"].number(positive=True)
    if margin > 1.0:
        members["margin"].fail(f"{margin:g} is more than 1")
    return dataclasses.replace(entry, margin=margin)


def _parameter(field: Field) -> ParameterEntry:
    optional = ("label", "unit", "minimum", "maximum", "default", "logarithmic", "editable")
    members = field.members(("name", "dtype", "shape", "role"), optional)
    dtype = members["dtype"].text(empty=False)
    try:
        element = ElementType.named(dtype)
    except ParameterError as error:
        members["dtype"].fail(error.what, remedy=error.remedy)
    shape = tuple(side.whole(1, 1 << 40) for side in members["shape"].items(most=4))
    if not shape:
        members["shape"].fail("an array has at least one side")
    minimum = members["minimum"].optional_number() if "minimum" in members else None
    maximum = members["maximum"].optional_number() if "maximum" in members else None
    if minimum is not None and maximum is not None and minimum > maximum:
        members["minimum"].fail(f"{minimum:g} is greater than the maximum {maximum:g}")
    logarithmic = "logarithmic" in members and members["logarithmic"].flag()
    if logarithmic and (minimum is None or minimum <= 0.0):
        members["logarithmic"].fail("a logarithmic range needs a minimum greater than 0")
    default = _default(members["default"], minimum, maximum) if "default" in members else None
    if isinstance(default, tuple) and len(default) != element.nbytes // element.scalar.itemsize:
        members["default"].fail(f"{len(default)} numbers do not make one {dtype}")
    return ParameterEntry(
        name=members["name"].text(empty=False),
        dtype=dtype,
        shape=shape,
        role=members["role"].text(choices=_ROLES),
        label=members["label"].text() if "label" in members else "",
        unit=members["unit"].text() if "unit" in members else "",
        minimum=minimum,
        maximum=maximum,
        default=default,
        logarithmic=logarithmic,
        editable="editable" in members and members["editable"].flag(),
    )


def _default(field: Field, minimum: float | None, maximum: float | None) -> float | tuple[float, ...] | None:
    if isinstance(field.value, list):
        return tuple(item.number() for item in field.items(most=64))
    default = field.optional_number()
    if default is not None and minimum is not None and default < minimum:
        field.fail(f"{default:g} is less than the minimum {minimum:g}")
    if default is not None and maximum is not None and default > maximum:
        field.fail(f"{default:g} is greater than the maximum {maximum:g}")
    return default


def _kernel(field: Field) -> KernelEntry:
    members = field.members(("key", "arguments"))
    arguments = tuple(_argument(item) for item in members["arguments"].items(most=1000))
    return KernelEntry(members["key"].text(empty=False), arguments)


def _argument(field: Field) -> ArgumentEntry:
    members = field.members(("name", "dtype"), ("access",))
    return ArgumentEntry(
        name=members["name"].text(empty=False),
        dtype=members["dtype"].text(empty=False),
        access=members["access"].text(choices=_ACCESSES) if "access" in members else "",
    )


def _pair(field: Field) -> tuple[str, str]:
    names = tuple(item.text(empty=False) for item in field.items(most=2))
    if len(names) != 2:
        field.fail("expected a pair of names: source, target")
    return names[0], names[1]


def _check_names(manifest: Manifest, where: str) -> None:
    """Check that names are unique and that every name that is referred to is a parameter that fits."""

    def fail(place: str, what: str) -> NoReturn:
        Field(None, where, place).fail(what)

    entries: dict[str, ParameterEntry] = {}
    for index, entry in enumerate(manifest.parameters):
        if entry.name in entries:
            fail(f"parameters[{index}].name", f"{entry.name!r} appears twice")
        entries[entry.name] = entry
    keys: set[str] = set()
    for index, kernel in enumerate(manifest.kernels):
        if kernel.key in keys:
            fail(f"kernels[{index}].key", f"{kernel.key!r} appears twice")
        keys.add(kernel.key)

    def known(place: str, name: str) -> ParameterEntry:
        if name not in entries:
            fail(place, f"{name!r} is not in parameters")
        return entries[name]

    grid, stability = manifest.grid, manifest.stability
    heights = known("grid.heights", grid.heights)
    shapes = ((grid.height, grid.width), (grid.height * grid.width,))
    if heights.dtype != "float32" or heights.shape not in shapes:
        fail(
            "grid",
            f"{grid.heights!r} is {heights.dtype} of shape {list(heights.shape)}, not float32 of "
            f"height x width = [{grid.height}, {grid.width}]",
        )
    pointer = known("grid.pointer", grid.pointer)
    if pointer.dtype != "vec2f":
        fail("grid.pointer", f"{grid.pointer!r} is {pointer.dtype}, not vec2f")
    for role in ("speed", "damping", "dt"):
        number = known(f"stability.{role}", getattr(stability, role))
        if (number.dtype, number.shape) != ("float32", (1,)):
            fail(
                f"stability.{role}",
                f"{number.name!r} is {number.dtype} of shape {list(number.shape)}, not float32 of [1]",
            )
    targets: set[str] = set()
    for index, (source, target) in enumerate(manifest.carry):
        one, other = known(f"carry[{index}]", source), known(f"carry[{index}]", target)
        if (one.dtype, one.shape) != (other.dtype, other.shape):
            fail(f"carry[{index}]", f"{source!r} and {target!r} differ in type or shape")
        if target in targets:
            fail(f"carry[{index}]", f"{target!r} is the target of two pairs")
        targets.add(target)
