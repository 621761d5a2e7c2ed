"""What differs between two captures: operations, arguments, parameters, regions, modules, header.

Compared is what was recorded, not the bytes: two recordings of the same code are equal although their files
are not. Operations are aligned first, so that one more launch is one difference and not all that follow.
`Difference` is a value for panels; `diff_tell` puts it into words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np

from replay.graph.align import align
from replay.graph.changes import ChangeKind, Difference, NamedChange, OperationChange, ValueChange
from replay.graph.flow import Flow, data_flow
from replay.graph.members import changed_members
from replay.graph.model import Access, Argument, ArrayView, Capture, Operation, OpKind, Provenance, Region
from replay.graph.signatures import Signatures, masked_values, stable_contents, stale_places


def diff(old: Capture, new: Capture) -> Difference:
    """Return what differs between two captures."""
    comparison = _Comparison(old, new)
    pairs = comparison.pairs
    return Difference(
        tuple(pairs),
        tuple(_header(old, new)),
        tuple(comparison.operations()),
        tuple(comparison.region_changes()),
        tuple(_modules(old, new)),
        tuple(_manifest(old, new)),
    )


class _Comparison:
    """Aligned operations of two captures, and which regions belong together."""

    def __init__(self, old: Capture, new: Capture) -> None:
        self._old, self._new = old, new
        self._signed = Signatures(old), Signatures(new)
        self.pairs = self._align()
        self._masked = masked_values(old), masked_values(new)
        self.partner = self._match_regions()

    def _align(self) -> list[tuple[int, int]]:
        old, new = self._signed
        exact = align(old.exact, new.exact)
        pairs = list(exact)
        at_old = at_new = 0
        for one, other in [*exact, (len(old.exact), len(new.exact))]:
            inner = align(old.coarse[at_old:one], new.coarse[at_new:other])
            pairs += [(at_old + left, at_new + right) for left, right in inner]
            at_old, at_new = one + 1, other + 1
        return sorted(pairs)

    def _match_regions(self) -> dict[int, int]:
        """Return the region of the second capture for each one of the first that has a partner."""
        partner: dict[int, int] = {}
        by_name = {name: region.id for region in self._new.regions.values() for name in region.names}
        taken: set[int] = set()
        for region in self._old.regions.values():
            for name in region.names:
                if name in by_name and by_name[name] not in taken:
                    partner[region.id] = by_name[name]
                    taken.add(by_name[name])
                    break
        old, new = self._signed
        for one, other in self.pairs:
            for left, right in zip(old.unnamed[one], new.unnamed[other], strict=False):
                if left not in partner and right not in taken:
                    partner[left] = right
                    taken.add(right)
        rest = [number for number in self._new.regions if number not in taken]
        for number, region in self._old.regions.items():
            if number in partner or region.names:
                continue
            fits = (other for other in rest if _alike(region, self._new.regions[other]))
            match = next(fits, None)
            if match is not None:
                partner[number] = match
                rest.remove(match)
        return partner

    def operations(self) -> Iterator[OperationChange]:
        """Yield the changes of operations in the order of the second capture."""
        old, new = self._signed
        told: dict[object, tuple[str, tuple[ValueChange, ...]]] = {}
        at_old = at_new = 0
        for one, other in [*self.pairs, (len(old.exact), len(new.exact))]:
            for event in range(at_old, one):
                label = self._old.operations[event].label
                yield OperationChange(ChangeKind.REMOVED, event, None, label)
            for event in range(at_new, other):
                label = self._new.operations[event].label
                yield OperationChange(ChangeKind.ADDED, None, event, label)
            at_old, at_new = one + 1, other + 1
            if one == len(old.exact):
                break
            moved = [self.partner.get(region) for region in old.unnamed[one]] != list(new.unnamed[other])
            if old.exact[one] != new.exact[other] or moved:
                # What was said of one pair holds for every pair of the same operations on the same regions.
                key = (old.exact[one], new.exact[other], old.unnamed[one], new.unnamed[other])
                if key not in told:
                    before, after = self._old.operations[one], self._new.operations[other]
                    told[key] = after.label, tuple(self._values(before, after))
                label, values = told[key]
                if values:
                    yield OperationChange(ChangeKind.CHANGED, one, other, label, values)

    def _values(self, old: Operation, new: Operation) -> Iterator[ValueChange]:
        for what, before, after in (
            ("dim", _shape(old.shape), _shape(new.shape)),
            ("block_dim", str(old.block_dim), str(new.block_dim)),
            ("direction", _way(old), _way(new)),
            ("arguments", str(len(old.arguments)), str(len(new.arguments))),
        ):
            if before != after:
                yield ValueChange(what, before, after)
        for one, other in zip(old.arguments, new.arguments, strict=False):
            yield from self._argument(one, other)
        if old.kind is OpKind.KERNEL_LAUNCH:
            return
        for name in dict.fromkeys([*old.details, *new.details]):
            before, after = str(old.details.get(name, "-")), str(new.details.get(name, "-"))
            if before != after and "branch" not in name and not name.endswith("_id"):
                yield ValueChange(name, before, after)
        for use, other_use in zip(old.uses, new.uses, strict=False):
            if self._differs(use.region, other_use.region) or use.offset != other_use.offset:
                yield ValueChange(
                    use.label,
                    _place(self._old, use.region, use.offset),
                    _place(self._new, other_use.region, other_use.offset),
                )
        if len(old.uses) != len(new.uses):
            yield ValueChange("regions used", str(len(old.uses)), str(len(new.uses)))

    def _argument(self, old: Argument, new: Argument) -> Iterator[ValueChange]:
        name = new.name or old.name or f"argument {new.index + 1}"
        masked_old, masked_new = (
            data[argument.offset : argument.offset + len(argument.raw)]
            for data, argument in zip(self._masked, (old, new), strict=True)
        )
        if len(old.arrays) != len(new.arrays) or len(old.handles) != len(new.handles):
            yield ValueChange(name, old.type, new.type)
            return
        views = False
        for before, after in zip(old.arrays, new.arrays, strict=True):
            if self._views_differ(before, after):
                views = True
                where = f"{name}.{after.path}" if after.path else name
                yield ValueChange(where, _view(self._old, before), _view(self._new, after))
        if old.handles != new.handles and _meshes(self._old, old) != _meshes(self._new, new):
            yield ValueChange(name, _meshes(self._old, old), _meshes(self._new, new))
        elif (
            masked_old != masked_new and _is_struct(old) and _is_struct(new) and len(old.raw) == len(new.raw)
        ):
            for place, before_text, after_text in changed_members(old, new, masked_old, masked_new):
                yield ValueChange(f"{name} byte {place}, inferred", before_text, after_text)
        elif masked_old != masked_new and not views:
            yield ValueChange(name, *_values_of(old, new))

    def _views_differ(self, old: ArrayView, new: ArrayView) -> bool:
        same = (old.path, old.offset, old.shape, old.strides) == (
            new.path,
            new.offset,
            new.shape,
            new.strides,
        )
        return not same or self._differs(old.region, new.region)

    def _differs(self, old: int | None, new: int | None) -> bool:
        return (self.partner.get(old) if old is not None else None) != new

    def region_changes(self) -> Iterator[NamedChange]:
        """Yield the changes of regions and of the names for them."""
        for number, region in self._old.regions.items():
            if number not in self.partner:
                yield NamedChange(ChangeKind.REMOVED, _region_name(region), (), number, None)
                continue
            other = self._new.regions[self.partner[number]]
            values = tuple(self._region(region, other))
            if values:
                yield NamedChange(ChangeKind.CHANGED, _region_name(other), values, number, other.id)
        matched = set(self.partner.values())
        for number, region in self._new.regions.items():
            if number not in matched:
                yield NamedChange(ChangeKind.ADDED, _region_name(region), (), None, number)

    def _contents_matter(self, old: int, new: int) -> bool:
        """Whether any operation may read what a region held before the launch.

        Where the first one is known to write it, it is scratch memory, unless a read is known too.
        """
        for flow, region in zip(self._flows, (old, new), strict=True):
            if not flow.first_readers(region):
                continue
            first = flow.usage(region)[0]
            written = first.access is Access.WRITE and first.provenance is Provenance.KNOWN
            if not written or flow.first_read(region) is not Provenance.ASSUMED:
                return True
        return False

    @cached_property
    def _stale(self) -> tuple[dict[int, np.ndarray], dict[int, np.ndarray]]:
        return stale_places(self._old), stale_places(self._new)

    @cached_property
    def _flows(self) -> tuple[Flow, Flow]:
        return data_flow(self._old), data_flow(self._new)

    def _region(self, old: Region, new: Region) -> Iterator[ValueChange]:
        if sorted(old.names) != sorted(new.names):
            yield ValueChange("names", " = ".join(old.names) or "none", " = ".join(new.names) or "none")
        if old.nbytes != new.nbytes:
            yield ValueChange("bytes", str(old.nbytes), str(new.nbytes))
        known = old.provenance is Provenance.KNOWN and new.provenance is Provenance.KNOWN
        if _type(old) != _type(new) and (known or old.nbytes != new.nbytes):
            yield ValueChange("type", _type(old), _type(new))
        if not old.names and not new.names and not self._contents_matter(old.id, new.id):
            return  # scratch memory, whatever was in it
        before = stable_contents(self._old, old.id, self._stale[0])
        after = stable_contents(self._new, new.id, self._stale[1])
        if (before is None) != (after is None):
            yield ValueChange(
                "initial contents", *("none" if one is None else "stored" for one in (before, after))
            )
        elif before is not None and after is not None and len(before) == len(after):
            yield from _contents(before, after, new)


def _contents(old: np.ndarray, new: np.ndarray, region: Region) -> Iterator[ValueChange]:
    """Yield one change for contents that differ: how many elements, and the first of them."""
    if np.array_equal(old, new):
        return
    if region.element is None or len(old) % region.element.nbytes:
        first = int(np.flatnonzero(old != new)[0])
        count = int((old != new).sum())
        yield ValueChange(
            f"initial contents ({count} bytes, first at {first})", str(old[first]), str(new[first])
        )
        return
    size = region.element.nbytes
    changed = (old.reshape(-1, size) != new.reshape(-1, size)).any(axis=1)
    first = int(np.flatnonzero(changed)[0])
    index = np.unravel_index(first, region.shape) if region.shape else (first,)
    values = [one.reshape(-1, size)[first].tobytes() for one in (old, new)]
    words = [_number(np.frombuffer(value, region.element.scalar).tolist()) for value in values]
    where = ", ".join(str(int(part)) for part in index)
    count = int(changed.sum())
    plural = "element" if count == 1 else "elements"
    yield ValueChange(f"initial contents ({count} {plural}, first [{where}])", words[0], words[1])


def _header(old: Capture, new: Capture) -> Iterator[ValueChange]:
    for what, name in (
        ("format", "format_version"), ("producer", "producer"), ("device", "device_kind"), ("arch", "arch")
    ):  # fmt: skip
        before, after = str(getattr(old, name)), str(getattr(new, name))
        if before != after:
            yield ValueChange(what, before, after)


def _modules(old: Capture, new: Capture) -> Iterator[NamedChange]:
    for what, told in (
        ("module", [[(one.name, {"hash": one.hash}) for one in capture.modules] for capture in (old, new)]),
        (
            "kernel",
            [
                [
                    (one.key, {"block_dim": str(one.block_dim), "shared memory": str(one.forward_smem_bytes)})
                    for one in capture.kernels
                ]
                for capture in (old, new)
            ],
        ),
    ):
        yield from _named(what, *map(_by_name, told))


def _by_name(told: Sequence[tuple[str, dict[str, str]]]) -> dict[str, dict[str, str]]:
    """Return what was told of each name; of a name that comes again, everything in order."""
    found: dict[str, dict[str, str]] = {}
    for name, values in sorted(told, key=lambda one: (one[0], *one[1].values())):
        for what, value in values.items():
            known = found.setdefault(name, {})
            known[what] = f"{known[what]}, {value}" if what in known else value
    return found


def _named(
    what: str, old: Mapping[str, Mapping[str, str]], new: Mapping[str, Mapping[str, str]]
) -> Iterator[NamedChange]:
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield NamedChange(ChangeKind.REMOVED, f"{what} {name}")
        elif name not in old:
            yield NamedChange(ChangeKind.ADDED, f"{what} {name}")
        elif old[name] != new[name]:
            values = tuple(
                ValueChange(key, old[name][key], new[name][key])
                for key in old[name]
                if old[name][key] != new[name].get(key)
            )
            yield NamedChange(ChangeKind.CHANGED, f"{what} {name}", values)


def _manifest(old: Capture, new: Capture) -> Iterator[ValueChange]:
    told = [dict(_flat("", one.manifest.to_json())) if one.manifest else None for one in (old, new)]
    before, after = told
    if before is None or after is None:
        if before is not after:
            yield ValueChange("manifest", *("none" if one is None else "yes" for one in told))
        return
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name) and name not in ("wrp_sha256", "created_by"):
            yield ValueChange(name, before.get(name, "-"), after.get(name, "-"))


def _flat(path: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of everything in plain JSON; items that have a name are known by it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, (list, tuple)) and any(isinstance(inner, dict) for inner in value):
        for number, inner in enumerate(value):
            name = (inner.get("name") or inner.get("key") or number) if isinstance(inner, dict) else number
            yield from _flat(f"{path}[{name}]", inner)
    else:
        yield path, str(value)


def _alike(old: Region, new: Region) -> bool:
    return not new.names and old.nbytes == new.nbytes and old.element_size == new.element_size


def _is_struct(argument: Argument) -> bool:
    return argument.value is None and (not argument.arrays or argument.arrays[0].path.startswith("+"))


def _values_of(old: Argument, new: Argument) -> tuple[str, str]:
    """Return two values as text under one type, as bytes where they have no value or look equal."""
    if old.value is not None and new.value is not None:
        before, after = _number(old.value), _number(new.value)
        if old.type != new.type:
            before, after = f"{before} ({old.type})", f"{after} ({new.type})"
        if before != after:
            return before, after
    return old.raw.hex(" ", 4), new.raw.hex(" ", 4)


def _number(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return (
            _number(value[0]) if len(value) == 1 else "(" + ", ".join(_number(part) for part in value) + ")"
        )
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def _shape(sides: Sequence[int]) -> str:
    return "[" + ", ".join(map(str, sides)) + "]"


def _way(operation: Operation) -> str:
    return "forward" if operation.is_forward else "backward"


def _type(region: Region) -> str:
    return f"{region.element.name if region.element else '?'} {_shape(region.shape or ())}"


def _region_name(region: Region) -> str:
    return " = ".join(region.names) or f"region {region.id}"


def _place(capture: Capture, region: int, offset: int) -> str:
    known = capture.regions.get(region)
    return (_region_name(known) if known else f"region {region}") + (f" from byte {offset}" if offset else "")


def _view(capture: Capture, view: ArrayView) -> str:
    if view.region is None:
        return "null"
    shape = f" shape {_shape(view.shape)}" if view.shape else ""
    strides = f" strides {_shape(view.strides)}" if view.strides else ""
    return _place(capture, view.region, view.offset) + shape + strides


def _meshes(capture: Capture, argument: Argument) -> str:
    numbers = {mesh.handle: f"mesh {number}" for number, mesh in enumerate(capture.meshes)}
    return ", ".join(numbers.get(handle, "an unknown handle") for handle in argument.handles)
