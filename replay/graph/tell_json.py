"""A capture as JSON: the whole model, every operation with its arguments and uses.

Written piece by piece, so that a capture of 100,000 operations needs no second copy in memory.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Iterable
from typing import Any, TextIO

from replay.graph.fold import fold_capture
from replay.graph.model import (
    Argument,
    Binding,
    Capture,
    Kernel,
    Mesh,
    Module,
    Operation,
    Provenance,
    Region,
    RegionUse,
    Severity,
)
from replay.text import printable

SCHEMA_VERSION = 1
_SURROGATE = re.compile("[\ud800-\udfff]")


def write_json(capture: Capture, file: TextIO) -> None:
    """Write the model as one JSON object, one line an operation.

    Bytes of a path that are no UTF-8 are written as `\\xNN`, as in other text from the file.
    """
    head = {
        "schema": "ripplescope-inspect",
        "schema_version": SCHEMA_VERSION,
        "path": str(capture.path),
        "bytes": len(capture.data),
        "format_version": capture.format_version,
        "producer": capture.producer,
        "device": capture.device_kind,
        "arch": capture.arch,
        "manifest": capture.manifest.to_json() if capture.manifest is not None else None,
        "faults": [
            {
                "where": fault.where,
                "what": fault.what,
                "blocks_replay": fault.severity is Severity.BLOCKS_REPLAY,
                "event": fault.event,
                "offset": fault.offset,
                "field": fault.field,
            }
            for fault in capture.faults
        ],
        "operation_count": len(capture.operations),
        "top_level": list(capture.top_level),
        "folded": [str(run) for run in fold_capture(capture)],
        "kernels": [_fields(kernel) for kernel in capture.kernels],
        "modules_folder": capture.modules_folder.name,
        "modules": [_fields(module) for module in capture.modules],
        "bindings": [_fields(binding) for binding in capture.bindings],
        "aliases": [list(names) for names in capture.aliases],
        "meshes": [_fields(mesh) for mesh in capture.meshes],
        "regions": [_region(region) for region in capture.regions.values()],
    }
    text = _dumps(head)
    file.write(text[:-1] + ', "operations": [')
    _write_lines((_operation(operation) for operation in capture.operations), file)
    file.write("]}\n")


def _write_lines(values: Iterable[dict[str, object]], file: TextIO) -> None:
    for number, value in enumerate(values):
        file.write((",\n" if number else "\n") + _dumps(value))


def _dumps(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    # A surrogate lies within a string, where JSON doubles the backslash.
    return _SURROGATE.sub(lambda match: printable(match[0]).replace("\\", "\\\\"), text)


def _operation(operation: Operation) -> dict[str, object]:
    told: dict[str, Any] = {
        "event": operation.event,
        "index": operation.index,
        "type": operation.kind.name,
        "offset": operation.offset,
        "bytes": operation.nbytes,
        "depth": operation.depth,
        "parent": operation.parent,
        "branch": operation.branch,
    }
    if operation.key:
        told |= {
            "kernel": operation.key,
            "kernel_known": operation.kernel is not None,
            "dim": list(operation.shape),
            "block_dim": operation.block_dim,
            "is_forward": operation.is_forward,
            "arguments": [_argument(argument) for argument in operation.arguments],
        }
    if operation.details:
        told["details"] = {name: _plain(value) for name, value in operation.details.items()}
    if operation.children:
        told["children"] = list(operation.children)
    told["uses"] = [_use(use) for use in operation.uses]
    return told


def _argument(argument: Argument) -> dict[str, object]:
    return {
        "index": argument.index,
        "name": argument.name,
        "type": argument.type,
        "inferred": argument.provenance is not Provenance.KNOWN,
        "access": _access(argument.access.name),
        "access_provenance": argument.access_provenance.value,
        "value": _plain(argument.value),
        "readings": [{"type": reading.type, "value": _plain(reading.value)} for reading in argument.readings],
        "bytes": argument.raw.hex(),
        "arrays": [
            {
                "path": view.path,
                "region": view.region,
                "offset": view.offset,
                "shape": list(view.shape),
                "strides": list(view.strides),
                "access": _access(view.access.name),
                "access_provenance": view.access_provenance.value,
            }
            for view in argument.arrays
        ],
        "handles": list(argument.handles),
        "offset": argument.offset,
    }


def _fields(record: Kernel | Module | Binding | Mesh) -> dict[str, object]:
    return {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}


def _region(region: Region) -> dict[str, object]:
    return {
        "id": region.id,
        "bytes": region.nbytes,
        "element_size": region.element_size,
        "element": region.element.name if region.element is not None else None,
        "shape": list(region.shape) if region.shape is not None else None,
        "provenance": region.provenance.value,
        "candidates": list(region.candidates),
        "inferred": region.provenance is not Provenance.KNOWN,
        "names": list(region.names),
        "data_offset": region.data_offset,
        "offset": region.offset,
    }


def _use(use: RegionUse) -> dict[str, object]:
    return {
        "label": use.label,
        "region": use.region,
        "offset": use.offset,
        "bytes": use.nbytes,
        "access": _access(use.access.name),
        "provenance": use.provenance.value,
    }


def _access(name: str | None) -> str:
    return (name or "none").lower()


def _plain(value: object) -> object:
    """Return a value that JSON can hold: what is not finite becomes a string."""
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
