"""Arguments of one launch: values, arrays and handles decoded from its value blobs, made on access."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from replay.elements import ElementType
from replay.graph.descriptors import Descriptors
from replay.graph.infer import array_element, array_type
from replay.graph.model import Access, Argument, ArrayView, Mesh, Provenance, Reading, Region, RegionUse
from replay.graph.scalars import guess_scalar, lanes_of, readings
from replay.manifest import ArgumentEntry, Manifest
from replay.wrp import layout
from replay.wrp.layout import RelocKind
from replay.wrp.tables import LaunchTable

_ACCESS = {"read": Access.READ, "write": Access.WRITE, "read_write": Access.READ_WRITE}


@dataclass
class ArgumentDecoder:
    """Decodes the arguments of the launches of one file.

    Attributes:
        data: the file.
        launches, descriptors: its tables.
        regions, meshes: by id, by handle.
        source: access of each argument of a kernel by (key, module hash), where packaged source shows it.
    """

    data: bytes
    launches: LaunchTable
    descriptors: Descriptors
    regions: Mapping[int, Region]
    meshes: Mapping[int, Mesh]
    manifest: Manifest | None
    source: Mapping[tuple[str, str], tuple[Access | None, ...]] = field(default_factory=dict)
    _scalars: dict[tuple[int, int, int], str | None] = field(default_factory=dict)
    _groups: tuple[np.ndarray, dict[tuple[int, int], tuple[int, int]]] | None = None

    def __post_init__(self) -> None:
        entries = {entry.key: entry.arguments for entry in self.manifest.kernels} if self.manifest else {}
        self._entries: list[tuple[ArgumentEntry, ...]] = [
            entries.get(key.decode("utf-8", "backslashreplace"), ()) for key, _ in self.launches.names
        ]
        self._sources: list[tuple[Access | None, ...]] = [
            self.source.get(
                (key.decode("utf-8", "backslashreplace"), module.decode("utf-8", "backslashreplace")), ()
            )
            for key, module in self.launches.names
        ]
        # First descriptor of each argument; they are in file order.
        self._first = np.searchsorted(self.descriptors.param, np.arange(len(self.launches.params) + 1))

    def decode(self, row: int) -> tuple[Argument, ...]:
        """Return the arguments of the launch in a row, adjoint ones after the forward ones."""
        first, last = self.launches.param_start[row : row + 2].tolist()
        count = int(self.launches.records["num_params"][row])
        entries = self._entries[self.launches.name_of[row]]
        entries = entries if len(entries) == count else ()
        # A backward launch reads and writes otherwise than the signature says.
        forward = bool(self.launches.records["is_forward"][row])
        source = self._sources[self.launches.name_of[row]]
        source = source if forward and len(source) == count else ()
        return tuple(
            self._argument(
                param,
                slot,
                entries[slot % count] if entries else None,
                slot >= count,
                forward,
                source[slot] if source and slot < count else None,
            )
            for slot, param in enumerate(range(first, last))
        )

    def uses(self, arguments: tuple[Argument, ...]) -> tuple[RegionUse, ...]:
        """Return the byte ranges that the arguments of a launch reach, meshes behind handles included."""
        found: list[RegionUse] = []
        for argument in arguments:
            label = argument.name or f"argument {argument.index + 1}"
            for view in argument.arrays:
                if view.region is None:
                    continue
                if not view.access:
                    continue
                start, nbytes = self.extent(view)
                where = f"{label}.{view.path}" if view.path else label
                found.append(
                    RegionUse(view.region, start, nbytes, view.access, view.access_provenance, where)
                )
            for handle in argument.handles:
                mesh = self.meshes.get(handle)
                if mesh is None:
                    continue
                for part, region, nbytes in mesh_parts(mesh):
                    found.append(
                        RegionUse(region, 0, nbytes, Access.READ, Provenance.ASSUMED, f"{label}.mesh {part}")
                    )
        return tuple(found)

    def extent(self, view: ArrayView) -> tuple[int, int]:
        """Return the first byte and the number of bytes that a view spans in its region."""
        region = self.regions.get(view.region) if view.region is not None else None
        if not view.shape:
            return view.offset, max((region.nbytes if region else 0) - view.offset, 0)
        if any(side <= 0 for side in view.shape):
            return view.offset, 0
        steps = [(side - 1) * stride for side, stride in zip(view.shape, view.strides, strict=True)]
        low = view.offset + sum(min(step, 0) for step in steps)
        high = view.offset + sum(max(step, 0) for step in steps)
        strides = [abs(stride) for stride in view.strides if stride]
        size = min(strides, default=1)
        if region is not None and region.element is not None and region.element.nbytes <= size:
            size = region.element.nbytes
        return low, high - low + size

    def _argument(
        self,
        param: int,
        slot: int,
        entry: ArgumentEntry | None,
        adjoint: bool,
        forward: bool,
        shown: Access | None,
    ) -> Argument:
        launches = self.launches
        record = launches.params[param]
        base, nbytes, align = (
            int(launches.blob_base[param]),
            int(record["value_size"]),
            int(record["value_align"]),
        )
        raw = self.data[base : base + nbytes]
        access, how = Access.READ_WRITE, Provenance.ASSUMED
        if entry is not None and entry.access in _ACCESS and not adjoint and forward:
            access, how = _ACCESS[entry.access], Provenance.KNOWN
        elif shown is not None:
            access, how = shown, Provenance.KNOWN
        arrays, handles = self._pointers(param, raw, access, how, forward)
        if not arrays:
            access, how = Access.NONE, Provenance.KNOWN
        inferred: tuple[Reading, ...] = ()
        value: float | int | tuple[float, ...] | None = None
        if entry is not None:
            type_name, provenance = entry.dtype, Provenance.KNOWN
            value = known_value(raw, entry.dtype) if not arrays and not handles else None
        elif handles and nbytes == 8:
            type_name, provenance = "handle", Provenance.INFERRED
        elif arrays:
            type_name, provenance = self._array_type(param, nbytes), Provenance.INFERRED
        else:
            lanes = lanes_of(nbytes, align)
            scalar = self._scalar(param, lanes[0]) if lanes else None
            inferred = readings(raw, lanes[0], scalar) if lanes else ()
            type_name = inferred[0].type if inferred else f"struct of {nbytes} bytes"
            value, provenance = (inferred[0].value if inferred else None), Provenance.INFERRED
        name = entry.name if entry is not None else ""
        if adjoint and name:
            name = f"adj_{name}"
        return Argument(
            slot, name, type_name, provenance, access, how, value, raw, arrays, handles, base,
            inferred if len(inferred) > 1 else (),
        )  # fmt: skip

    def _array_type(self, param: int, nbytes: int) -> str:
        row = int(self._first[param])
        found = self.descriptors
        if row == self._first[param + 1] or found.member[row]:
            return f"struct of {nbytes} bytes"
        region = self.regions.get(int(found.region[row]))
        ndim = int(found.ndim[row])
        step = abs(int(found.strides[row, min(max(ndim, 1), layout.MAX_DIMS) - 1]))
        element = region.element if region is not None else None
        return array_type(element, ndim, step, bool(found.indexed[row]))

    def _pointers(
        self, param: int, raw: bytes, access: Access, how: Provenance, forward: bool
    ) -> tuple[tuple[ArrayView, ...], tuple[int, ...]]:
        """Return the arrays and other pointers in an argument, in order, and its handles."""
        launches, found = self.launches, self.descriptors
        arrays: list[ArrayView] = []
        handles: list[int] = []
        rows = {
            int(found.reloc[row]): row for row in range(int(self._first[param]), int(self._first[param + 1]))
        }
        origin = 0
        for number in range(int(launches.reloc_start[param]), int(launches.reloc_start[param + 1])):
            reloc = launches.relocs[number]
            at, kind = int(reloc["value_byte_offset"]), int(reloc["kind"])
            region = int(reloc["region"]) if kind == RelocKind.DATA_PTR else None
            if kind == RelocKind.HANDLE:
                handles.append(int(reloc["region_offset"]))
            elif number in rows:
                row = rows[number]
                origin = at
                ndim = min(max(int(found.ndim[row]), 0), layout.MAX_DIMS)
                member = bool(found.member[row])
                path = f"+{at}" if member else "data" if found.indexed[row] else ""
                arrays.append(
                    ArrayView(
                        path,
                        region,
                        int(reloc["region_offset"]) if region is not None else 0,
                        tuple(found.shape[row, :ndim].tolist()),
                        tuple(found.strides[row, :ndim].tolist()),
                        access,
                        how,
                    )
                )
            elif kind == RelocKind.DATA_PTR:
                view = self._bare_pointer(number, at, origin, raw)
                if self.descriptors.index_relocs[number]:
                    told = Access.READ, Provenance.KNOWN
                elif view.path.endswith("grad") and forward:
                    told = Access.NONE, Provenance.KNOWN  # only a backward launch touches gradients
                else:
                    told = access, how
                arrays.append(dataclasses.replace(view, access=told[0], access_provenance=told[1]))
        return tuple(arrays), tuple(handles)

    def _bare_pointer(self, number: int, at: int, origin: int, raw: bytes) -> ArrayView:
        """Return a pointer that has no descriptor: a gradient, an index list, or one in a struct."""
        reloc = self.launches.relocs[number]
        region, offset = int(reloc["region"]), int(reloc["region_offset"])
        place = at - origin
        prefix = f"+{origin}." if origin else ""
        if self.descriptors.index_relocs[number]:
            axis = (place - 56) // 8
            count = int(np.frombuffer(raw, "<i4", 1, origin + 88 + 4 * axis)[0])
            return ArrayView(f"{prefix}indices[{axis}]", region, offset, (count,), (4,))
        return ArrayView(f"{prefix}grad" if place == 8 else f"+{at}", region, offset)

    def _scalar(self, param: int, size: int) -> str | None:
        """Return the scalar type that the values in this position of all launches of the kernel speak for."""
        launches = self.launches
        key = (int(launches.name_of[launches.param_launch[param]]), int(launches.param_slot[param]))
        place = (*key, size)
        if place not in self._scalars:
            rows = self._rows(key)
            nbytes = int(launches.params["value_size"][param])
            rows = rows[launches.params["value_size"][rows] == nbytes][:4096]
            blobs = layout.gather(self.data, np.dtype(f"V{nbytes}"), launches.blob_base[rows])
            self._scalars[place] = guess_scalar(np.frombuffer(blobs.tobytes(), np.uint8), size)
        return self._scalars[place]

    def _rows(self, key: tuple[int, int]) -> np.ndarray:
        """Return all arguments of one kernel name in one position."""
        if self._groups is None:
            launches = self.launches
            names = launches.name_of[launches.param_launch]
            width = int(launches.param_slot.max(initial=0)) + 1
            code = names * width + launches.param_slot
            order = np.argsort(code, kind="stable")
            values, starts = np.unique(code[order], return_index=True)
            ends = [*starts[1:].tolist(), len(order)]
            bounds = {
                divmod(value, width): (start, end)
                for value, start, end in zip(values.tolist(), starts.tolist(), ends, strict=True)
            }
            self._groups = order, bounds
        order, bounds = self._groups
        start, end = bounds[key]
        return order[start:end]


def mesh_parts(mesh: Mesh) -> list[tuple[str, int, int]]:
    """Return name, region and bytes of the arrays of a mesh."""
    parts = [
        ("points", mesh.points_region, 12 * mesh.num_points),
        ("indices", mesh.indices_region, 12 * mesh.num_triangles),
    ]
    if mesh.velocities_region:
        parts.append(("velocities", mesh.velocities_region, 12 * mesh.num_points))
    return [(name, region, max(nbytes, 0)) for name, region, nbytes in parts]


def known_value(raw: bytes, type_name: str) -> float | int | tuple[float, ...] | None:
    """Return a value whose type is known; None for an array, a struct, or where sizes do not fit."""
    from replay.errors import ParameterError
    from replay.graph.scalars import value_of

    if array_element(type_name) is not None:
        return None
    try:
        element = ElementType.named(type_name)
    except ParameterError:
        return None
    return value_of(raw, element.scalar.name) if element.nbytes == len(raw) else None
