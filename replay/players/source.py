"""What a player hands to Warp's loader: checked bytes, the recorded module files, a name for every region.

Warp gives access to named regions only. `with_named_regions` therefore writes a second metadata section
that binds a name to each region, and leaves all else as it is, so that a player can read, reset and carry
regions that have no name of their own. Nothing here imports Warp.
"""

from __future__ import annotations

import struct

from replay.errors import ReplayError
from replay.graph.model import Capture

_HEADER = struct.Struct("<4sIIIQ")  # magic, version, flags, sections, offset of the section table
_SECTION = struct.Struct("<IIQQQ")  # type, flags, offset, size, uncompressed size
_METADATA = 1
_COUNTS = struct.Struct("<5I")  # modules, kernels, bindings, meshes, handle locations
_MESH_NBYTES = 32
_HANDLE_LOCATION_NBYTES = 28
_MODULE_LIMIT = 1 << 30


def refuse_blocked(capture: Capture) -> None:
    """Refuse a capture with blocking faults.

    Raises:
        ReplayError: names the first fault.
    """
    faults = capture.blocking_faults
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise ReplayError(
            f"{capture.path.name} is not replayed: {faults[0]}{more}",
            remedy=f"see `ripplescope inspect {capture.path.name}`",
        )


def refuse_unplayable(capture: Capture, warp_version: str) -> None:
    """Refuse a capture with blocking faults, or of another Warp.

    Raises:
        ReplayError: names the first fault, or both versions.
    """
    refuse_blocked(capture)
    if capture.producer != warp_version:
        raise ReplayError(
            f"{capture.path.name} was written by Warp {capture.producer}, installed is Warp {warp_version}",
            remedy="record it again, or install that release",
        )


def module_files(capture: Capture) -> dict[str, bytes]:
    """Return the contents of the module files that a capture records, and of no other.

    Raises:
        ReplayError: a name that is more than a name, a file that is missing, no regular file, or too large.
    """
    contents: dict[str, bytes] = {}
    for name in sorted({module.file for module in capture.modules}):
        if not name or name in (".", "..") or any(sign in name for sign in "/\\:\0"):
            raise ReplayError(f"{capture.path.name}: the module file {name!r} is no plain file name")
        path = capture.modules_folder / name
        if not path.is_file():
            raise ReplayError(
                f"{capture.path.name}: the module file {path} is missing",
                remedy="keep the modules folder beside the capture, or record it again",
            )
        try:
            if path.stat().st_size > _MODULE_LIMIT:
                raise ReplayError(f"{path} is larger than {_MODULE_LIMIT} bytes")
            contents[name] = path.read_bytes()
        except OSError as error:
            raise ReplayError(f"cannot read {path}: {error.strerror or error}") from error
    return contents


def with_named_regions(capture: Capture) -> tuple[bytes, dict[int, str]]:
    """Return the file's bytes with a name for each region, and the names by region.

    A region that has a name keeps it, if the model has it as the file does; each other one gets a name that
    starts with `region:`. Names of arrays
    without elements stand for no region and are not among the names returned.

    Raises:
        ReplayError: the file has no metadata section of the known form.
    """
    # as Warp resolves a name
    last = {binding.name: binding.region for binding in capture.bindings if binding.exact}
    names = {region: name for name, region in reversed(last.items()) if region in capture.regions}
    added = {region: f"region:{region}" for region in capture.regions if region not in names}
    while any(name in last for name in added.values()):
        added = {region: f"region:{name}" for region, name in added.items()}
    data = _with_bindings(capture.data, added, capture.path.name) if added else capture.data
    return data, names | added


def _with_bindings(data: bytes, added: dict[int, str], where: str) -> bytes:
    """Return a file with more bindings: its metadata, extended, follow at the end."""
    try:
        *_, num_sections, table = _HEADER.unpack_from(data)
        for entry in range(table, table + num_sections * _SECTION.size, _SECTION.size):
            kind, flags, offset, size, _ = _SECTION.unpack_from(data, entry)
            if kind == _METADATA:
                break
        else:
            raise ValueError("no metadata section")
        metadata = data[offset : offset + size]
        # format version, length of the producer's name, the name, architecture; then the counts
        counts_at = 8 + struct.unpack_from("<I", metadata, 4)[0] + 4
        modules, kernels, bindings, meshes, locations = _COUNTS.unpack_from(metadata, counts_at)
    except (struct.error, ValueError) as error:
        raise ReplayError(f"{where}: the metadata cannot be read: {error}") from error
    records = b"".join(
        struct.pack("<I", len(name.encode())) + name.encode() + struct.pack("<I", region)
        for region, name in added.items()
    )
    # bindings lie before the meshes and the handle locations, whose records have a fixed size
    end = size - meshes * _MESH_NBYTES - locations * _HANDLE_LOCATION_NBYTES
    counts = _COUNTS.pack(modules, kernels, bindings + len(added), meshes, locations)
    extended = (
        metadata[:counts_at] + counts + metadata[counts_at + _COUNTS.size : end] + records + metadata[end:]
    )
    result = bytearray(data)
    result[entry : entry + _SECTION.size] = _SECTION.pack(
        kind, flags, len(data), len(extended), len(extended)
    )
    return bytes(result) + extended
