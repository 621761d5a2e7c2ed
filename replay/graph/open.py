"""Opening a capture: bytes, manifest and companion files become a `Capture` with the list of its faults.

Executes nothing and loads no module: the companion files are only looked at. What stands in the way of a
replay is a fault of the capture, not an error of this function, as long as the file can be read.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from pathlib import Path

from replay.elements import ElementType
from replay.errors import CaptureFileError, ManifestError
from replay.graph.arguments import ArgumentDecoder
from replay.graph.check_contents import harmless_where_overwritten
from replay.graph.checks import check_document, check_format
from replay.graph.descriptors import find_descriptors
from replay.graph.infer import infer_regions
from replay.graph.machine import available_memory
from replay.graph.model import Binding, Capture, Fault, Kernel, Mesh, Module, Severity
from replay.graph.operations import LazyOperations
from replay.graph.source_access import packaged_access
from replay.manifest import Manifest, manifest_path, next_manifest_path, read_manifest_of
from replay.text import printable
from replay.wrp.document import Document, Metadata, RegionRecord, look_over, parse
from replay.wrp.files import Peek, capture_path, read_regular_file
from replay.wrp.layout import DeviceType

_PATIENCE = 1.0  # s; replacing a capture takes milliseconds, but one that was killed may have left its traces


def open_capture(path: str | os.PathLike[str]) -> Capture:
    """Open a capture, also while a recording replaces it: the old one or the new one, never a mixture.

    Args:
        path: a `.wrp` file, with or without the extension.

    Raises:
        CaptureFileError: the file is missing, not readable, or its structure is broken.
    """
    found = capture_path(path)
    deadline = time.monotonic() + _PATIENCE
    while True:
        before = _traces(found)
        data = read_regular_file(found, look=lambda peek: _look(peek, found))
        capture = capture_from_bytes(data, found)
        # What lies beside the file may be of the capture that replaces it just now: then look again.
        after = _traces(found)
        at_rest = before == after and not after[1]
        if not capture.faults or at_rest or time.monotonic() > deadline:
            return capture
        time.sleep(0.005)


def _look(peek: Peek, path: Path) -> None:
    """Refuse a file that cannot be read here before any memory is taken for it."""
    look_over(peek, path=str(path))
    room = available_memory()
    if room is not None and len(peek) > room:
        raise CaptureFileError(
            f"its {len(peek)} bytes are read whole, but only {room} bytes of memory are free here",
            path=str(path),
        )


def _traces(path: Path) -> tuple[tuple[int, ...], bool]:
    """Return what tells one file from its successor, and whether a manifest waits to be put in place."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # no such file, no path at all: reading it says so
        return (), False
    stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    return stamp, bool(path.name) and os.path.lexists(next_manifest_path(path))


def capture_from_bytes(data: bytes, path: Path) -> Capture:
    """Return the capture that some bytes hold; manifest and modules are looked for beside `path`.

    Raises:
        CaptureFileError: the structure is broken.
    """
    document = parse(data, path=str(path))
    folder = path.with_name(path.stem + "_modules")
    device = "cpu" if document.header.device_type == DeviceType.CPU else "cuda"
    if document.metadata is None or document.operations is None:
        return Capture(
            path, data, document.header.version, "", device, document.header.target_arch, (), (), {}, (), (),
            (), (), (check_format(document),), None, folder,
        )  # fmt: skip
    metadata, table = document.metadata, document.operations
    modules, kernels, bindings, meshes = _listed(metadata)
    manifest, notes = _read_manifest(data, path)
    if manifest is not None and (misfit := _misfit(manifest, bindings, document.regions)):
        manifest, notes = None, [Fault("manifest", f"not used: {misfit}", Severity.NOTE)]
    descriptors = find_descriptors(data, table.launches)
    regions = infer_regions(data, document, table, descriptors, bindings, manifest)
    decoder = ArgumentDecoder(
        data,
        table.launches,
        descriptors,
        regions,
        {mesh.handle: mesh for mesh in meshes},
        manifest,
        packaged_access(modules, kernels, folder),
    )
    known = dict(zip(_kernel_names(data, metadata), kernels, strict=True))
    faults = check_document(data, document, descriptors, regions, kernels, set(known), folder)
    capture = Capture(
        path=path,
        data=data,
        format_version=document.header.version,
        producer=printable(metadata.producer.value),
        device_kind=device,
        arch=document.header.target_arch,
        modules=modules,
        kernels=kernels,
        regions=regions,
        bindings=bindings,
        meshes=meshes,
        operations=LazyOperations(data, table, decoder, known),
        top_level=_top_level(document),
        faults=(*faults, *notes),
        manifest=manifest,
        modules_folder=folder,
    )
    return harmless_where_overwritten(capture)


def _top_level(document: Document) -> range | tuple[int, ...]:
    table = document.operations
    assert table is not None
    if len(table.frames) == 1:
        return range(len(table))
    return tuple((table.frame_of == 0).nonzero()[0].tolist())


def _read_manifest(data: bytes, path: Path) -> tuple[Manifest | None, list[Fault]]:
    place = manifest_path(path)
    try:
        # Only with a manifest is the digest of the whole file needed.
        # The one that waits is moved to its place meanwhile, so it is looked for first.
        waiting = os.path.lexists(next_manifest_path(path)) or os.path.lexists(place)
        return (read_manifest_of(path, hashlib.sha256(data).hexdigest()) if waiting else None), []
    except ManifestError as error:
        return None, [Fault("manifest", f"not used: {error}", Severity.NOTE)]


def _misfit(
    manifest: Manifest, bindings: tuple[Binding, ...], regions: tuple[RegionRecord, ...]
) -> str | None:
    """Return what is wrong if the file does not hold an array that the rest of the manifest relies on."""
    sizes = {region.id: region.nbytes for region in regions}
    bound = {binding.name: sizes.get(binding.region) for binding in bindings}
    rule = manifest.stability
    used = {manifest.grid.heights, manifest.grid.pointer, rule.speed, rule.damping, rule.dt}
    used.update(name for pair in manifest.carry for name in pair)
    for entry in manifest.parameters:
        if entry.name in used:
            if entry.name not in bound:
                return f"it relies on {entry.name!r}, which the file does not name"
            nbytes = math.prod(entry.shape) * ElementType.named(entry.dtype).nbytes
            if bound[entry.name] != nbytes:
                return f"its {entry.name!r} has {nbytes} bytes, in the file it has {bound[entry.name]}"
    return None


def _listed(
    metadata: Metadata,
) -> tuple[tuple[Module, ...], tuple[Kernel, ...], tuple[Binding, ...], tuple[Mesh, ...]]:
    """Return the records of the metadata as the model's values.

    Names are spelled out here, once for all that shows them; what a launch refers to is compared as bytes.
    """
    modules = tuple(
        Module(
            record.hash.value, printable(record.name.value), record.file.value, record.arch,
            record.binary_digest.value, printable(record.source_file.value), record.source_digest.value,
            record.binary_kind, record.fallback_reason, record.offset,
        )
        for record in metadata.modules
    )  # fmt: skip
    kernels = tuple(
        Kernel(
            printable(record.key.value), record.module_hash.value, record.forward_name.value,
            record.backward_name.value, record.forward_smem_bytes, record.backward_smem_bytes,
            record.block_dim, record.offset,
        )
        for record in metadata.kernels
    )  # fmt: skip
    bindings = tuple(
        Binding(printable(name := record.name.value), record.region, record.offset, name.isprintable())
        for record in metadata.bindings
    )
    meshes = tuple(
        Mesh(
            int(value["num_points"]), int(value["num_tris"]), int(value["points_region"]),
            int(value["indices_region"]), int(value["velocities_region"]), int(value["original_ptr"]), offset,
        )
        for value, offset in ((record.value, record.offset) for record in metadata.meshes)
    )  # fmt: skip
    return modules, kernels, bindings, meshes


def _kernel_names(data: bytes, metadata: Metadata) -> list[tuple[bytes, bytes]]:
    """Return (key, module hash) of each kernel as the bytes of the file, which launches repeat."""
    return [(record.key.raw(data), record.module_hash.raw(data)) for record in metadata.kernels]
