"""The model of an opened capture: operations, kernels, regions, named arrays, and what is wrong with it.

Values only: nothing here executes, allocates what a file claims, or knows Warp. The reader in
`replay.wrp` fills it; panels, commands and players read it. What the file does not state and was worked
out is marked: `Provenance` says whether a statement is known, observed, inferred or assumed.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from replay.elements import ElementType
from replay.text import printable

if TYPE_CHECKING:
    from replay.manifest import Manifest


NO_REGION = 0xFFFFFFFF
"""What a name stands for whose array has no element, and so no memory."""


class OpKind(enum.IntEnum):
    """Operation types of format 18 (`APICOpType` in Warp's `apic_types.h`)."""

    KERNEL_LAUNCH = 1
    MEMCPY_H2D = 2
    MEMCPY_D2H = 3
    MEMCPY_D2D = 4
    MEMSET = 5
    ALLOC = 6
    IF = 7
    WHILE = 8
    SCAN = 9
    MEMTILE = 10
    SEGMENTED_SORT = 11
    RADIX_SORT = 12
    RUNLENGTH_ENCODE = 13
    BSR_FROM_TRIPLETS = 14
    BSR_TRANSPOSE = 15
    REDUCTION = 16
    BVH_REFIT = 17
    BVH_REBUILD = 18
    HASH_GRID_UPDATE = 19


class Access(enum.Flag):
    """How an operation uses a region."""

    NONE = 0
    READ = 1
    WRITE = 2
    READ_WRITE = 3


class Provenance(enum.Enum):
    """Where a statement comes from."""

    KNOWN = "known"  # the file, the manifest or packaged source says so
    OBSERVED = "observed"  # seen when a prefix was replayed
    INFERRED = "inferred"  # worked out from sizes and descriptors
    ASSUMED = "assumed"  # nothing says otherwise


class Severity(enum.Enum):
    """What a fault means for replay."""

    NOTE = "note"  # worth knowing; replay is not affected
    BLOCKS_REPLAY = "blocks replay"


@dataclass(frozen=True, slots=True)
class Fault:
    """Something wrong with a capture that still opens.

    Attributes:
        where: the place in words, such as `operation 0, argument 1` or `modules/x.o`.
        what: what is wrong, with the values.
        severity: whether a replay is refused.
        event: the operation's event number, if it lies in one.
        offset: byte offset in the file, if it lies in the file.
        field: field path such as `operations[0].relocs[0].region_offset`.
    """

    where: str
    what: str
    severity: Severity
    event: int | None = None
    offset: int | None = None
    field: str = ""

    def __post_init__(self) -> None:
        # Names of the file are among the words, which are shown in windows and terminals.
        object.__setattr__(self, "where", printable(self.where))
        object.__setattr__(self, "what", printable(self.what))

    def __str__(self) -> str:
        place = (
            f" (offset {self.offset}{', ' + self.field if self.field else ''})"
            if self.offset is not None
            else ""
        )
        return f"{self.where}: {self.what}{place}"


@dataclass(frozen=True, slots=True)
class Module:
    """A compiled module that the capture needs: `file` in the folder of modules."""

    hash: str
    name: str
    file: str
    arch: int
    binary_digest: str
    source_file: str
    source_digest: str
    binary_kind: int
    fallback_reason: int
    offset: int


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel of a module."""

    key: str
    module_hash: str
    forward_name: str
    backward_name: str
    forward_smem_bytes: int
    backward_smem_bytes: int
    block_dim: int
    offset: int


@dataclass(frozen=True, slots=True)
class Region:
    """A memory region.

    Attributes:
        id: the id that relocations and records use.
        nbytes: size in bytes, as the file states it.
        element_size: size of one element in bytes, as the file states it (1 if saved as raw bytes).
        data_offset: byte offset of the initial contents in the file, None if the file holds none.
        element, shape: type of one element and shape of the array, None if they cannot be told.
        provenance: of `element` and `shape`.
        names: the names bound to it, in file order, each once.
        offset: byte offset of the record in the file.
        candidates: other element types that its contents speak for as well, if `element` is inferred.
    """

    id: int
    nbytes: int
    element_size: int
    data_offset: int | None
    element: ElementType | None
    shape: tuple[int, ...] | None
    provenance: Provenance
    names: tuple[str, ...]
    offset: int
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """A name for a region. The file lists inputs before outputs but does not say where they part.

    `region` is `NO_REGION` for the name of an array without any element. `exact` tells whether `name` is the
    file's, or has characters spelled out that cannot be shown, as in `x\\x1b`.
    """

    name: str
    region: int
    offset: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Mesh:
    """A mesh whose handle the capture uses; regions are 0 where absent."""

    num_points: int
    num_triangles: int
    points_region: int
    indices_region: int
    velocities_region: int
    handle: int
    offset: int


@dataclass(frozen=True)
class ArrayView:
    """A pointer to a region within an argument, with its array descriptor if it has one.

    Attributes:
        path: where in the argument: empty for the argument itself, `data`, `indices[0]`, `+72`.
        region: region id, None for a null pointer.
        offset: first byte within the region.
        shape, strides: elements and bytes, empty if there is no descriptor.
        access, access_provenance: how the launch uses it, and how that is known.
    """

    path: str
    region: int | None
    offset: int
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    access: Access = Access.READ_WRITE
    access_provenance: Provenance = Provenance.ASSUMED


@dataclass(frozen=True)
class Reading:
    """A value under one of the types that it may have; the file does not say which."""

    type: str
    value: float | int | tuple[float, ...]


@dataclass(frozen=True)
class Argument:
    """One argument of a launch.

    Attributes:
        index: position in the kernel's signature, from 0.
        name: from the manifest, else empty.
        type: a Warp type name such as `float32` or `array2d[float32]`.
        provenance: of `type`.
        access: how arrays in it are used; READ_WRITE where nothing is known.
        access_provenance: of `access`.
        value: the scalar, a tuple of scalars, or None for an array or an undecoded struct.
        raw: the value blob.
        arrays: the pointers in it.
        handles: mesh handles in it.
        offset: byte offset of the blob in the file.
        readings: every type that an inferred value may have, the likeliest first; empty if one only.
    """

    index: int
    name: str
    type: str
    provenance: Provenance
    access: Access
    access_provenance: Provenance
    value: float | int | tuple[float, ...] | None
    raw: bytes
    arrays: tuple[ArrayView, ...]
    handles: tuple[int, ...]
    offset: int
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True)
class RegionUse:
    """A byte range of a region that an operation touches: the smallest range that holds all of it."""

    region: int
    offset: int
    nbytes: int
    access: Access
    provenance: Provenance
    label: str = ""  # argument name or the record's field: `src`, `keys`


@dataclass(frozen=True)
class Operation:
    """One operation.

    Attributes:
        event: stable number, counted from 0 in file order through nested bodies (parent first).
        index: position within its own stream.
        kind: operation type.
        offset, nbytes: the record in the file.
        depth: nesting, 0 at top level; parent: event of the IF or WHILE around it, and branch
            (`then`, `else`, `body`) in which it lies.
        kernel: for a launch, the kernel, None if the metadata lack it; key: its name as recorded.
        shape, block_dim, is_forward: for a launch.
        arguments: for a launch.
        details: for other operations: the record's fields in words, in order (`value`, `nbytes`, ...).
        uses: all regions it touches.
        children: events of the operations directly inside it.
    """

    event: int
    index: int
    kind: OpKind
    offset: int
    nbytes: int
    depth: int
    parent: int | None
    branch: str
    key: str = ""
    kernel: Kernel | None = None
    shape: tuple[int, ...] = ()
    block_dim: int = 0
    is_forward: bool = True
    arguments: tuple[Argument, ...] = ()
    details: Mapping[str, object] = field(default_factory=dict)
    uses: tuple[RegionUse, ...] = ()
    children: tuple[int, ...] = ()

    @property
    def label(self) -> str:
        """The name a person knows it by: the kernel's, or the operation's."""
        return self.key if self.kind is OpKind.KERNEL_LAUNCH else self.kind.name


@dataclass(frozen=True)
class Capture:
    """An opened capture.

    Attributes:
        path: the `.wrp` file.
        data: its bytes.
        format_version, producer: as the file states them (producer: the Warp version that wrote it).
        device_kind: `cpu` or `cuda`; arch: compute capability such as 90, 0 on the CPU.
        operations: every operation, nested ones included; `operations[event]` has that event number.
            Items are made on access, so that a capture of 100,000 operations opens at once.
        top_level: events of the outermost stream.
        regions: by id.
        bindings: in file order, a name that is bound twice twice.
        faults: what is wrong, in file order; an empty list says all checks passed.
        manifest: what `<stem>.json` says, None without one or with one that does not fit.
        modules_folder: `<stem>_modules` beside the file, whether it exists or not.
    """

    path: Path
    data: bytes
    format_version: int
    producer: str
    device_kind: str
    arch: int
    modules: tuple[Module, ...]
    kernels: tuple[Kernel, ...]
    regions: Mapping[int, Region]
    bindings: tuple[Binding, ...]
    meshes: tuple[Mesh, ...]
    operations: Sequence[Operation]
    top_level: Sequence[int]
    faults: tuple[Fault, ...]
    manifest: Manifest | None
    modules_folder: Path

    @property
    def aliases(self) -> tuple[tuple[str, ...], ...]:
        """Groups of different names for one region, in file order."""
        return tuple(region.names for region in self.regions.values() if len(region.names) > 1)

    def enclosing(self, event: int) -> tuple[int, ...]:
        """Return the events of the IFs and WHILEs around an event, outermost first."""
        found: list[int] = []
        parent = self.operations[event].parent
        while parent is not None:
            found.append(parent)
            parent = self.operations[parent].parent
        return tuple(reversed(found))

    @property
    def blocking_faults(self) -> tuple[Fault, ...]:
        """The faults for which a replay is refused."""
        return tuple(fault for fault in self.faults if fault.severity is Severity.BLOCKS_REPLAY)
