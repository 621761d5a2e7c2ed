"""The manifest: what a `.wrp` does not store, in plain JSON beside it (`frame.wrp` -> `frame.json`).

Argument names, types and access, labels, units, ranges, defaults, carry pairs, grid and time step. The
schema is versioned and checked on reading; `wrp_sha256` ties it to one file. No Warp import.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

SCHEMA = "ripplescope-manifest"
SCHEMA_VERSION = 1


def manifest_path(wrp_path: Path) -> Path:
    """Return where the manifest of a `.wrp` file lies."""
    return wrp_path.with_suffix(".json")


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
    """The height field: cells in x and y, size of a cell in m, its parameter's name, and the pointer's."""

    width: int
    height: int
    dx: float
    heights: str = "heights_out"
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


@dataclass(frozen=True)
class Manifest:
    """A manifest. `carry`: (source, target) names copied after each launch, all at once."""

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

    @classmethod
    def read(cls, path: Path) -> Manifest:
        """Read and check a manifest.

        Raises:
            ManifestError: not a regular file, too large, no JSON, another schema, or a field that is
                missing, of the wrong type or out of range; names the field.
        """
        raise NotImplementedError

    @classmethod
    def from_json(cls, value: object, *, where: str) -> Manifest:
        """Check a decoded JSON value; see `read`."""
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        """Return the JSON object that `from_json` takes."""
        raise NotImplementedError
