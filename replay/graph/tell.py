"""A capture told to a person, as aligned text: what was recorded, on what, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from replay.graph.access import access_words
from replay.graph.fold import Folded, fold_capture
from replay.graph.model import (
    NO_REGION,
    Argument,
    ArrayView,
    Capture,
    Operation,
    OpKind,
    Provenance,
    Reading,
    Region,
    Severity,
)
from replay.graph.scalars import number_text, plausibility, scalar_of
from replay.text import printable

_MOST_ROWS = 64  # of one table; JSON has them all
_MOST_REPEATS = 1000  # launches of one run whose values are compared; making each takes some 0.4 ms
_MOST_IN_TURN = 3
_MOST_NAMES = 8  # of one region


def tell(capture: Capture) -> str:
    """Return the account of a capture, some dozens of lines that end with a line feed."""
    lines = [*_head(capture), *_faults(capture)]
    if capture.regions or len(capture.operations) or capture.kernels:
        lines += _operations(capture)
        lines += _kernels(capture)
        lines += _parameters(capture)
        lines += _regions(capture)
        lines += _meshes(capture)
        lines += _modules(capture)
    return "".join(f"{printable(line).rstrip()}\n" for line in lines)


def _head(capture: Capture) -> list[str]:
    total = sum(region.nbytes for region in capture.regions.values())
    kind = "CPU" if capture.device_kind == "cpu" else f"CUDA, compute capability {_capability(capture.arch)}"
    rows = [
        ("file", f"{capture.path} ({_size(len(capture.data))})"),
        ("format", str(capture.format_version)),
        ("producer", f"Warp {capture.producer}" if capture.producer else "not read"),
        ("device", kind),
        ("operations", f"{len(capture.operations)} ({len(capture.top_level)} at the top level)"),
        ("memory", f"{_count(len(capture.regions), 'region')}, {_size(total)}"),
    ]
    if not len(capture.operations) and capture.producer:
        rows[4] = ("operations", "none: nothing was recorded")
    manifest = capture.manifest
    if manifest is None:
        rows.append(("manifest", "none: types, shapes and access below are inferred from the file"))
    else:
        grid = manifest.grid
        rows.append(("manifest", f"yes, by {manifest.created_by}"))
        rows.append(
            ("grid", f"{grid.width} x {grid.height} cells of {grid.dx:g} m, {manifest.substeps} substeps")
        )
    return [f"{name:<11} {value}" for name, value in rows]


def _faults(capture: Capture) -> list[str]:
    if not capture.faults:
        return ["", "No fault found."]
    lines = []
    for severity, title in (
        (Severity.BLOCKS_REPLAY, "Wrong, replay refused"),
        (Severity.NOTE, "Worth knowing"),
    ):
        faults = [fault for fault in capture.faults if fault.severity is severity]
        if faults:
            lines += ["", title, *_cut([f"  {fault}" for fault in faults], "faults")]
    return lines


def _operations(capture: Capture) -> list[str]:
    folded = fold_capture(capture)
    lines = ["", "Operations" + ("" if folded else ": none")]
    _tell_runs(capture, folded, 1, lines)
    return _cut(lines, "operations")


def _tell_runs(capture: Capture, runs: Iterable[Folded], depth: int, lines: list[str]) -> None:
    for run in runs:
        if len(lines) > _MOST_ROWS + 8:
            return
        indent, times = "  " * depth, f" x {run.count}" if run.count > 1 else ""
        if run.items:
            lines.append(f"{indent}{run.event:>5}  repeated{times}:")
            _tell_runs(capture, run.items, depth + 1, lines)
            continue
        if run.omitted:
            lines.append(f"{indent}{run.event:>5}  {run.label}, nested too deep to be told here")
            continue
        operation = capture.operations[run.event]
        lines.append(f"{indent}{run.event:>5}  {_label(operation)}{times}")
        indent += " " * 9
        if operation.kind is OpKind.KERNEL_LAUNCH:
            lines += [f"{indent}{line}" for line in _arguments(capture, operation, run.count)]
        else:
            lines += [f"{indent}{line}" for line in _uses(capture, operation)]
        for branch, inside in run.branches:
            lines.append(f"{indent}{branch}:")
            _tell_runs(capture, inside, depth + 1, lines)


def _label(operation: Operation) -> str:
    if operation.kind is OpKind.KERNEL_LAUNCH:
        sides = " x ".join(map(str, operation.shape))
        return f"{operation.key} [{sides}]" + ("" if operation.is_forward else " backward")
    told = ", ".join(
        f"{name} {' or '.join(value) if name == 'candidates' else value}"  # type: ignore[arg-type]
        for name, value in operation.details.items()
        if "branch" not in name and name != "bytes"
    )
    return operation.kind.name + (f"  {told}" if told else "")


def _arguments(capture: Capture, operation: Operation, count: int) -> list[str]:
    """Return the arguments of a launch, or of `count` launches in a row that may differ in values."""
    looked_at = min(count, _MOST_REPEATS)
    repeats = [capture.operations[operation.event + number].arguments for number in range(looked_at)]
    rows = []
    for argument in operation.arguments:
        name = argument.name or f"argument {argument.index + 1}"
        first, *more = _over_repeats(capture, [arguments[argument.index] for arguments in repeats])
        access = access_words(argument.access, argument.access_provenance) if argument.arrays else ""
        rows.append((name, argument.type, access, first))
        rows += [("", "", "", value) for value in more]
    if looked_at < count:
        rows.append(("", "", "", f"(of the first {looked_at} of {count} launches)"))
    return _table(rows)


def _over_repeats(capture: Capture, arguments: Sequence[Argument]) -> list[str]:
    """Return the values of one argument over launches in a row: once if equal, else in turn or as a range."""
    told = [tuple(_argument_values(capture, argument)) for argument in arguments]
    distinct = list(dict.fromkeys(told))
    if len(distinct) == 1:
        return list(told[0])
    period = len(distinct)
    if period <= _MOST_IN_TURN and all(told[i] == told[i % period] for i in range(len(told))):
        return [
            f"{', '.join(value)}{' and in turn' if i < period - 1 else ''}"
            for i, value in enumerate(distinct)
        ]
    numbers = [a.value for a in arguments if isinstance(a.value, (int, float))]
    if len(numbers) == len(arguments):
        low, high, first = (number_text(number) for number in (min(numbers), max(numbers), numbers[0]))
        return [f"{low} to {high}, {period} values, first {first}"]
    return [*told[0], f"and {period - 1} other values"]


def _argument_values(capture: Capture, argument: Argument) -> list[str]:
    if argument.handles:
        numbers = {mesh.handle: number for number, mesh in enumerate(capture.meshes)}
        shown = [
            f"mesh {numbers[handle]}" if handle in numbers else f"handle {handle:#x}"
            for handle in argument.handles
        ]
        return [*shown, *(_view(capture, view) for view in argument.arrays)]
    if argument.arrays:
        return [_view(capture, view) for view in argument.arrays]
    if argument.value is None:
        return [argument.raw.hex(" ", 4)]
    value = number_text(argument.value)
    raw = np.frombuffer(argument.raw, np.uint8)
    others = [
        f"{reading.type} {number_text(reading.value)}"
        for reading in argument.readings[1:]
        if plausibility(raw, scalar_of(reading.type)) or _is_one_bit(reading)
    ]
    return [value + (f"  (or {' or '.join(others)})" if others else "")]


def _is_one_bit(reading: Reading) -> bool:
    """Whether a value is a power of two among 64-bit integers, as 2.0 is among doubles: 1 << 62."""
    value = reading.value
    return reading.type == "int64" and isinstance(value, int) and value > 0 and not value & (value - 1)


def _view(capture: Capture, view: ArrayView) -> str:
    path = f"{view.path}: " if view.path else ""
    if view.region is None:
        return f"{path}null"
    region = capture.regions.get(view.region)
    names = _names(region)
    shape = f" shape {_shape(view.shape)}" if view.shape else ""
    strides = f" strides {_shape(view.strides)}" if view.shape and region and _is_part(region, view) else ""
    offset = f" from byte {view.offset}" if view.offset else ""
    return f"{path}region {view.region}{names}{offset}{shape}{strides}"


def _names(region: Region | None) -> str:
    return f" {_some(region.names)}" if region is not None and region.names else ""


def _some(names: Sequence[str], between: str = "/") -> str:
    return between.join((*names[:_MOST_NAMES], "...") if len(names) > _MOST_NAMES else names)


def _is_part(region: Region, view: ArrayView) -> bool:
    """Whether a view is anything but the whole region in its own shape."""
    return bool(view.offset) or region.shape != view.shape


def _uses(capture: Capture, operation: Operation) -> list[str]:
    return _table(
        [
            (use.label, access_words(use.access, use.provenance),
             f"region {use.region}{_names(capture.regions.get(use.region))}, "
             f"{use.nbytes} bytes from byte {use.offset}")
            for use in operation.uses
        ]
    )  # fmt: skip


def _kernels(capture: Capture) -> list[str]:
    if not capture.kernels:
        return ["", "Kernels: none"]
    files = {module.hash: module.file for module in capture.modules}
    rows = [
        (kernel.key, files.get(kernel.module_hash, "unknown module"), kernel.forward_name)
        for kernel in capture.kernels
    ]
    return ["", "Kernels", *_cut(_table(rows, 2), "kernels")]


def _parameters(capture: Capture) -> list[str]:
    if not capture.bindings:
        return ["", "Parameters: none, so there is nothing to set or to read by name"]
    rows, seen = [], set()
    for binding in capture.bindings:
        region = capture.regions.get(binding.region)
        if binding.name in seen:
            continue
        seen.add(binding.name)
        if binding.region == NO_REGION:
            rows.append((binding.name, "?", "[0]", "", _size(0), "no memory"))
            continue
        size = _size(region.nbytes) if region is not None else "missing"
        rows.append((binding.name, *_type_and_shape(region), size, f"region {binding.region}"))
    lines = ["", "Parameters", *_cut(_table(rows, 2), "parameters")]
    aliases = [f"  {_some(group, ' = ')}: one region under {len(group)} names" for group in capture.aliases]
    return lines + _cut(aliases, "names for one region")


def _regions(capture: Capture) -> list[str]:
    if not capture.regions:
        return []
    rows = []
    for region in capture.regions.values():
        names = _some(region.names) or "no name"
        contents = "contents in the file" if region.data_offset is not None else "no contents"
        rows.append((str(region.id), *_type_and_shape(region), _size(region.nbytes), names, contents))
    return ["", "Regions", *_cut(_table(rows, 2), "regions")]


def _type_and_shape(region: Region | None) -> tuple[str, str, str]:
    if region is None or region.element is None or region.shape is None:
        return "?", "?", ""
    mark = "" if region.provenance is Provenance.KNOWN else region.provenance.value
    mark += "".join(f", or {name}" for name in region.candidates)
    return region.element.name, _shape(region.shape), mark


def _meshes(capture: Capture) -> list[str]:
    rows = []
    for number, mesh in enumerate(capture.meshes):
        velocity = f", velocities region {mesh.velocities_region}" if mesh.velocities_region else ""
        rows.append(
            f"  mesh {number}: {mesh.num_points} points (region {mesh.points_region}), {mesh.num_triangles} "
            f"triangles (region {mesh.indices_region}){velocity}"
        )
    return ["", "Meshes", *_cut(rows, "meshes")] if rows else []


def _modules(capture: Capture) -> list[str]:
    if not capture.modules:
        return ["", "Modules: none needed"]
    rows = [(module.name, module.file, f"hash {module.hash[:12]}") for module in capture.modules]
    return ["", f"Modules, in {capture.modules_folder.name}", *_cut(_table(rows, 2), "modules")]


def _table(rows: Sequence[tuple[str, ...]], indent: int = 0) -> list[str]:
    """Return rows as lines with aligned columns."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    widths = [min(width, 44) for width in widths]
    return [
        " " * indent + "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _cut(lines: list[str], what: str) -> list[str]:
    if len(lines) <= _MOST_ROWS + 2:
        return lines
    return [*lines[:_MOST_ROWS], f"  ... more {what}; --json lists all"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _shape(sides: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, sides)) + "]"


def _size(nbytes: int) -> str:
    if nbytes < 10_000:
        return _count(nbytes, "byte")
    for unit, scale in (("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)):
        if nbytes < scale * 1024 or unit == "GiB":
            return f"{nbytes / scale:.1f} {unit}"
    raise AssertionError("unreachable")


def _capability(arch: int) -> str:
    return f"{arch // 10}.{arch % 10}"
