"""Editing the scalars that a capture has baked in: new captures in memory, and a new file set on disk.

Only the value bytes of launch arguments change, never a pointer, a shape or the file that was opened.
Nothing here executes; `replay.players.swap` puts an edited capture in place of the one that is played.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from replay.elements import ElementType
from replay.errors import CaptureFileError, ParameterError, UsageError
from replay.graph.model import Argument, Capture, OpKind
from replay.graph.operations import LazyOperations
from replay.manifest import manifest_path
from replay.players.source import module_files
from replay.wrp.files import read_regular_file

Key = tuple[int, int, int | None, int]


@dataclass(frozen=True)
class Edit:
    """A new value for an argument of a launch.

    Attributes:
        event: the launch.
        argument: position of the argument, as `Argument.index`.
        value: a number, or one for each scalar of a vector or matrix in row order.
        component: which scalar of a vector or matrix to change, None for all of it.
        type: Warp type name of the value; empty takes the argument's, which may be inferred.
        offset: first byte within the argument, for a member of a struct; then `type` is needed.
    """

    event: int
    argument: int
    value: float | int | bool | tuple[float | int, ...]
    component: int | None = None
    type: str = ""
    offset: int = 0

    @property
    def key(self) -> Key:
        """What it changes: a later edit of the same key takes its place."""
        return self.event, self.argument, self.component, self.offset


def edit_scalar(
    capture: Capture,
    event: int,
    argument: int,
    value: float | int | bool | tuple[float | int, ...],
    component: int | None = None,
    *,
    type: str = "",
    offset: int = 0,
) -> Capture:
    """Return a capture in which one argument has another value; see `Edit` and `apply_edits`."""
    return apply_edits(capture, [Edit(event, argument, value, component, type, offset)])


def apply_edits(capture: Capture, edits: Iterable[Edit]) -> Capture:
    """Return a capture with some values changed, in order; the given one stays as it is.

    Path, manifest and faults are those of the given capture.

    Raises:
        UsageError: no such launch, argument or component, or the argument holds no number there.
        ParameterError: unknown type, or a value that the type does not hold.
    """
    patches = [_patch(capture, edit) for edit in edits]
    if not patches:
        return capture
    data = bytearray(capture.data)
    for offset, raw in patches:
        data[offset : offset + len(raw)] = raw
    changed = bytes(data)
    operations = capture.operations
    assert isinstance(operations, LazyOperations)
    return dataclasses.replace(capture, data=changed, operations=operations.with_data(changed))


class EditList:
    """The edits of one capture, each of which can be reverted.

    Attributes:
        original: the capture as it was opened.
        capture: the capture with all edits; the original itself if there is none.
    """

    def __init__(self, original: Capture) -> None:
        self.original = original
        self.capture = original
        self._edits: dict[Key, Edit] = {}

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The edits in the order in which they were first made."""
        return tuple(self._edits.values())

    def set(self, edit: Edit) -> Capture:
        """Add an edit, or replace the one of its key; return the new capture. Errors: see `apply_edits`."""
        return self._replace({**self._edits, edit.key: edit})

    def revert(self, key: Key) -> Capture:
        """Take back an edit; return the new capture. Without such an edit nothing changes."""
        return self._replace({k: edit for k, edit in self._edits.items() if k != key})

    def revert_all(self) -> Capture:
        """Take back all edits; return the original."""
        return self._replace({})

    def _replace(self, edits: dict[Key, Edit]) -> Capture:
        self.capture = apply_edits(self.original, edits.values())
        self._edits = edits
        return self.capture


def encode(value: float | int | bool | tuple[float | int, ...], type_name: str) -> bytes:
    """Return the bytes of a value of a Warp type.

    Raises:
        ParameterError: unknown type, another number of scalars, a fraction for an integer, or a number
            beyond the type's range. An infinity or NaN that is meant is taken.
    """
    element = ElementType.named(type_name)
    numbers = value if isinstance(value, tuple) else (value,)
    wanted = math.prod(element.inner_shape)
    if len(numbers) != wanted:
        raise ParameterError(f"{type_name} takes {wanted} numbers, not {len(numbers)}")
    return b"".join(_encode(number, element.scalar, type_name) for number in numbers)


def _encode(number: float | int | bool, scalar: np.dtype, type_name: str) -> bytes:
    kind = scalar.kind
    if isinstance(number, str) or not isinstance(number, (int, float, np.number, np.bool_)):
        raise ParameterError(f"{number!r} is no number", remedy=f"give a {type_name}")
    if kind == "b":
        if number not in (0, 1):
            raise ParameterError(f"{number!r} is no bool", remedy="use 0 or 1")
        return np.array(bool(number)).tobytes()
    if kind in "iu":
        if isinstance(number, float) and not number.is_integer():
            raise ParameterError(f"{type_name} takes whole numbers, not {number!r}")
        limits = np.iinfo(scalar)
        if not limits.min <= int(number) <= limits.max:
            raise ParameterError(f"{int(number)} is beyond {type_name}: {limits.min} to {limits.max}")
        return np.array(int(number), scalar).tobytes()
    with np.errstate(over="ignore"):
        stored = np.array(float(number)).astype(scalar)
    if math.isfinite(number) and not np.isfinite(stored):
        raise ParameterError(f"{number!r} is beyond {type_name}: at most {float(np.finfo(scalar).max):g}")
    return stored.tobytes()


def _patch(capture: Capture, edit: Edit) -> tuple[int, bytes]:
    """Return file offset and bytes of an edit."""
    if not 0 <= edit.event < len(capture.operations):
        raise UsageError(f"{capture.path.name} has no event {edit.event}")
    operation = capture.operations[edit.event]
    if operation.kind is not OpKind.KERNEL_LAUNCH:
        raise UsageError(f"event {edit.event} is {operation.label}: only launches have arguments")
    if not 0 <= edit.argument < len(operation.arguments):
        raise UsageError(
            f"event {edit.event}, {operation.label}, has no argument {edit.argument + 1}",
            remedy=f"it has {len(operation.arguments)}, counted from 1",
        )
    argument = operation.arguments[edit.argument]
    where = f"event {edit.event}, {argument.name or f'argument {edit.argument + 1}'}"
    type_name = edit.type or argument.type
    if not edit.type and argument.value is None:
        raise UsageError(
            f"{where}: {argument.type} holds no single value", remedy="give type and offset of a member"
        )
    element = ElementType.named(type_name)
    start, raw = edit.offset, b""
    if edit.component is not None:
        lanes = math.prod(element.inner_shape)
        if not 0 <= edit.component < lanes:
            raise UsageError(
                f"{where}: {type_name} has no component {edit.component}", remedy=f"it has {lanes}"
            )
        start += edit.component * element.scalar.itemsize
        raw = encode(edit.value, element.scalar.name)
    else:
        raw = encode(edit.value, type_name)
    if start < 0 or start + len(raw) > len(argument.raw):
        raise UsageError(f"{where}: bytes {start} to {start + len(raw)} leave its {len(argument.raw)} bytes")
    if (
        not edit.offset
        and edit.component is None
        and len(raw) != len(argument.raw)
        and not _is_struct(argument)
    ):
        raise UsageError(f"{where}: {type_name} has {len(raw)} bytes, the argument {len(argument.raw)}")
    for slot in _pointer_slots(capture, edit):
        if start < slot + 8 and slot < start + len(raw):
            raise UsageError(f"{where}: byte {slot} is a pointer, which the file relocates")
    return argument.offset + start, raw


def _is_struct(argument: Argument) -> bool:
    return argument.type.startswith("struct")


def _pointer_slots(capture: Capture, edit: Edit) -> list[int]:
    """Return where in the argument pointers are written at replay."""
    assert isinstance(capture.operations, LazyOperations)
    table = capture.operations.table
    launches = table.launches
    param = int(launches.param_start[table.launch_row[edit.event]]) + edit.argument
    first, last = launches.reloc_start[param : param + 2].tolist()
    slots: list[int] = launches.relocs["value_byte_offset"][first:last].tolist()
    return slots


def save_edited(capture: Capture, path: str | os.PathLike[str]) -> Path:
    """Write a capture, its module files and its manifest as a new set that replays elsewhere.

    Nothing that is there already is replaced, whatever it is.

    Args:
        capture: as `apply_edits` returns it.
        path: with or without `.wrp`.

    Returns:
        The path of the new `.wrp`.

    Raises:
        UsageError: it is the file that was opened, or something is in the way.
        ReplayError: a module file is missing.
        CaptureFileError: a file cannot be read or written.
    """
    given = Path(path)
    target = given if given.suffix == ".wrp" else given.with_name(given.name + ".wrp")
    folder, manifest = target.with_name(target.stem + "_modules"), manifest_path(target)
    if target.absolute() == capture.path.absolute() or (target.exists() and target.samefile(capture.path)):
        raise UsageError(f"{target} is the capture that was opened", remedy="save under another name")
    taken = [place for place in (target, folder, manifest) if os.path.lexists(place)]
    if taken:
        raise UsageError(f"{taken[0]} is in the way", remedy="save under another name")
    files = module_files(capture)
    for name in {module.source_file for module in capture.modules} - {""}:
        source = capture.modules_folder / Path(name).name
        if source.is_file():
            files[source.name] = read_regular_file(source)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{target.stem}-", dir=target.parent))
        try:
            (staged / "modules").mkdir()
            for name, content in files.items():
                (staged / "modules" / name).write_bytes(content)
            (staged / "capture").write_bytes(capture.data)
            (staged / "modules").replace(folder)
            if capture.manifest is not None:
                digest = hashlib.sha256(capture.data).hexdigest()
                dataclasses.replace(capture.manifest, wrp_sha256=digest, modules=tuple(sorted(files))).write(
                    manifest
                )
            (staged / "capture").replace(target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise CaptureFileError(f"cannot be written: {error.strerror or error}", path=str(target)) from None
    return target
