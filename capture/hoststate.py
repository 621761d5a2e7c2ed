"""What Python objects hold at one moment, and what differs between two moments.

A snapshot follows attributes, slots and containers from some roots, by object identity, so that cycles and
shared objects are met once. Properties are not evaluated and nobody's `__repr__` but a plain value's is
called. Device arrays count by identity: what they hold is the device's business.
"""

from __future__ import annotations

import ctypes
import enum
import hashlib
import numbers
import types
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

MAX_DEPTH = 10
MAX_OBJECTS = 20_000

_OPAQUE = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CodeType,
)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, enum.Enum, np.generic)
_SEQUENCES = (list, tuple, deque)


@dataclass(frozen=True)
class Value:
    """A value that is compared by what it is: a number, a text, the contents of a NumPy array."""

    key: object
    text: str
    is_number: bool = False
    is_data: bool = False


@dataclass(frozen=True)
class Reference:
    """A reference to an object, compared by identity."""

    target: Any
    path: str

    @property
    def text(self) -> str:
        """The type, and where the object was first met."""
        return f"{type(self.target).__name__} (first met as {self.path})"


@dataclass
class Snapshot:
    """Entries of every object that was met: (id of the owner, path below it) -> what it holds.

    Attributes:
        entries: `Value` or `Reference` by owner and path.
        owners: the path of each owner from its root.
        first: the path on which each referenced object was first met.
        kept: the objects themselves, so that no identity is used anew while the snapshot lives.
        complete: False if there was more than a snapshot takes.
    """

    entries: dict[tuple[int, str], Value | Reference] = field(default_factory=dict)
    owners: dict[int, str] = field(default_factory=dict)
    first: dict[int, str] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    complete: bool = True


@dataclass(frozen=True)
class Change:
    """An entry that differs; `before` or `after` is None where there was or is no entry."""

    path: str
    before: Value | Reference | None
    after: Value | Reference | None


@dataclass(frozen=True)
class Swap:
    """References that changed places in a cycle of `order`; `before[i]` became `after[i]` at `paths[i]`."""

    paths: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    order: int


def take_snapshot(roots: Mapping[str, Any]) -> Snapshot:
    """Return what the roots and all that they lead to hold now."""
    snapshot = Snapshot()
    queue: deque[tuple[Any, str, int]] = deque()
    snapshot.kept.append(roots)
    for name, root in roots.items():
        _record(snapshot, queue, 0, name, name, root, 0, set())
    while queue:
        owner, path, depth = queue.popleft()
        for name, value in _attributes(owner):
            _record(snapshot, queue, id(owner), f".{name}", f"{path}.{name}", value, depth, set())
    return snapshot


def _record(
    snapshot: Snapshot, queue: Any, owner: int, key: str, path: str, value: Any, depth: int, around: set[int]
) -> None:
    """Enter one value; plain containers are entered with what they hold, objects are queued."""
    if len(snapshot.entries) >= MAX_OBJECTS:
        snapshot.complete = False
        return
    if (leaf := _leaf(value)) is not None:
        snapshot.entries[owner, key] = leaf
        return
    if isinstance(value, (*_SEQUENCES, dict)):
        if id(value) in around or len(around) >= MAX_DEPTH:
            return
        around = around | {id(value)}
        snapshot.entries[owner, f"len({key})"] = Value(len(value), str(len(value)))
        for step, item in _items(value):
            _record(snapshot, queue, owner, key + step, path + step, item, depth, around)
        return
    snapshot.entries[owner, key] = Reference(value, snapshot.first.setdefault(id(value), path))
    if id(value) not in snapshot.owners and not _is_opaque(value):
        snapshot.owners[id(value)] = path
        snapshot.kept.append(value)
        if depth < MAX_DEPTH:
            queue.append((value, path, depth + 1))


def _leaf(value: Any) -> Value | None:
    if isinstance(value, _PLAIN):
        number = isinstance(value, (numbers.Number, np.number)) and not isinstance(value, bool)
        key = "nan" if number and value != value else value
        return Value(key, _short(repr(value)), is_number=number)
    if isinstance(value, ctypes.Array):  # a Warp vector or matrix held on the host
        items = tuple(np.ctypeslib.as_array(value).ravel().tolist()) if len(value) else ()
        return Value(items, _short(repr(items)), is_number=True)
    if isinstance(value, (set, frozenset)):
        items = tuple(sorted(repr(item) if isinstance(item, _PLAIN) else str(id(item)) for item in value))
        return Value(items, f"{type(value).__name__} of {len(value)}")
    if isinstance(value, np.ndarray):
        return Value((value.shape, str(value.dtype), _digest(value)), _array_text(value), is_data=True)
    return None


def _digest(array: npt.NDArray[Any]) -> str:
    if array.dtype.hasobject:
        return str([id(item) for item in array.ravel()])
    return hashlib.blake2b(np.ascontiguousarray(array).tobytes(), digest_size=16).hexdigest()


def _array_text(array: npt.NDArray[Any]) -> str:
    shape = " x ".join(map(str, array.shape)) or "scalar"
    return f"NumPy {array.dtype} {shape}, digest {_digest(array)[:8]}"


def _items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in list(value.items()):
            yield f"[{key!r}]" if isinstance(key, _PLAIN) else f"[{type(key).__name__} {id(key):#x}]", item
    else:
        for index, item in enumerate(value):
            yield f"[{index}]", item


def _is_opaque(value: Any) -> bool:
    module = type(value).__module__ or ""
    return isinstance(value, _OPAQUE) or (
        module.split(".")[0] == "warp" and not hasattr(type(value), "_constructors")
    )


def _attributes(owner: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object itself holds, and the data of its class; evaluates no property."""
    seen = set()
    try:
        own = object.__getattribute__(owner, "__dict__")
    except (AttributeError, TypeError):
        own = {}
    if isinstance(own, dict):
        for name, value in list(own.items()):
            seen.add(str(name))
            yield str(name), value
    for cls in type(owner).__mro__:
        if cls.__module__ in ("builtins", "typing", "abc", "enum") or cls.__module__.split(".")[0] == "warp":
            continue
        for name, member in list(vars(cls).items()):
            if name in seen or name.startswith("__"):
                continue
            seen.add(name)
            if isinstance(member, types.MemberDescriptorType):
                try:
                    yield name, member.__get__(owner, cls)
                except AttributeError:
                    continue  # a slot that holds nothing
            elif isinstance(member, (bool, int, float, np.ndarray, *_SEQUENCES, dict)):
                yield name, member


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."


def compare(before: Snapshot, after: Snapshot) -> tuple[list[Change], list[Swap]]:
    """Return what differs, apart from references that only changed places, which are swaps."""
    changes: list[Change] = []
    moved: list[tuple[str, Reference, Reference]] = []
    # An object that was met at one moment only is new or gone: its owner's entry says so already.
    common = (before.owners.keys() & after.owners.keys()) | {0}
    for owner, key in dict.fromkeys([*before.entries, *after.entries]):
        if owner not in common:
            continue
        old, new = before.entries.get((owner, key)), after.entries.get((owner, key))
        path = _path(before.owners.get(owner, ""), key)
        if isinstance(old, Reference) and isinstance(new, Reference):
            if old.target is not new.target:
                moved.append((path, old, new))
        elif old is None or new is None:
            # Of items, the length of their container tells it; a new name is not yet known to any launch.
            if "[" not in key and not (old is None and (owner == 0 or isinstance(new, Reference))):
                changes.append(Change(path, old, new))
        elif isinstance(old, Reference) or isinstance(new, Reference) or not _same(old, new):
            changes.append(Change(path, old, new))
    swaps, replaced = _permutations(moved, before)
    return changes + replaced, swaps


def _path(owner: str, key: str) -> str:
    return f"len({owner}{key[4:-1]})" if key.startswith("len(") else owner + key


def _same(one: Value, other: Value) -> bool:
    try:
        return bool(one.key == other.key)
    except Exception:  # a foreign number may compare in any way; then its text decides
        return one.text == other.text


def _permutations(
    moved: list[tuple[str, Reference, Reference]], before: Snapshot
) -> tuple[list[Swap], list[Change]]:
    """Part moved references into cycles, of which each gives a swap, and replacements by other objects."""
    # Several paths may name one object: a cycle is followed from object to object.
    successor = {id(old.target): id(new.target) for _, old, new in moved}
    swaps, in_cycle = [], set()
    for start in successor:
        if start in in_cycle:
            continue
        cycle, at = [start], successor[start]
        while at in successor and at not in cycle:
            cycle.append(at)
            at = successor[at]
        if at != start:
            continue
        in_cycle.update(cycle)
        inside = [entry for entry in moved if id(entry[1].target) in cycle]
        swaps.append(
            Swap(
                tuple(path for path, _, _ in inside),
                tuple(old.text for _, old, _ in inside),
                tuple(
                    f"{type(new.target).__name__} (was {before.first.get(id(new.target), 'elsewhere')})"
                    for _, _, new in inside
                ),
                len(cycle),
            )
        )
    rest = [Change(path, old, new) for path, old, new in moved if id(old.target) not in in_cycle]
    return swaps, rest
