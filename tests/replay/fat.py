"""Well-formed files of many small records, put together by hand."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from replay.wrp import layout


def text(value: str) -> bytes:
    """Return a string as the metadata hold it."""
    return struct.pack("<I", len(value.encode())) + value.encode()


def module(digest: str, file: str) -> bytes:
    return text(digest) + text("m") + text(file) + struct.pack("<I", 0) + text("") * 3 + b"\0\0" + b"\0" * 16


def kernel(key: str, digest: str) -> bytes:
    return text(key) + text(digest) + text("f") + text("") + struct.pack("<3I", 0, 0, 1)


def name(value: str, region: int) -> bytes:
    return text(value) + struct.pack("<I", region)


def region(ident: int, contents: bytes) -> bytes:
    record = np.zeros(1, layout.REGION)
    record["region"], record["element_size"], record["size"], record["has_initial_data"] = (
        ident, 4, len(contents), 1,
    )  # fmt: skip
    return record.tobytes() + contents


def build(
    *,
    modules: Sequence[bytes] = (),
    kernels: Sequence[bytes] = (),
    names: Sequence[bytes] = (),
    meshes: Sequence[bytes] = (),
    regions: Sequence[bytes] = (),
) -> bytes:
    """Return a file without operations."""
    metadata = struct.pack("<I", layout.FORMAT_VERSION) + text("1.19.0") + struct.pack("<I", 0)
    metadata += struct.pack("<5I", len(modules), len(kernels), len(names), len(meshes), 0)
    metadata += b"".join((*modules, *kernels, *names, *meshes))
    memory = struct.pack("<I", len(regions)) + b"".join(regions)
    table, body, offset = b"", b"", 64 + 3 * layout.SECTION.itemsize
    for kind, section in ((1, metadata), (2, memory), (3, struct.pack("<I", 0))):
        table += struct.pack("<IIQQQ", kind, 0, offset, len(section), len(section))
        body += section
        offset += len(section)
    header = struct.pack("<4sIIIQB3xI", layout.MAGIC, layout.FORMAT_VERSION, 0, 3, 64, 1, 0).ljust(64, b"\0")
    return header + table + body
