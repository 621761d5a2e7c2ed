"""Companion files: whether each recorded module is there and is what it should be. They are never loaded.

Looks at names, sizes, headers, digests and the symbols that kernels need; native code is not judged.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

from replay.errors import CaptureFileError
from replay.graph.check_variants import Variants
from replay.graph.machine import elf_machine
from replay.graph.model import Fault, Severity
from replay.wrp.document import KernelRecord, Metadata, ModuleRecord
from replay.wrp.files import MODULE_SIZE_LIMIT, read_regular_file
from replay.wrp.layout import DeviceType
from replay.wrp.tables import LaunchTable

BLOCKS, NOTE = Severity.BLOCKS_REPLAY, Severity.NOTE
BINARY_SUFFIXES = (".o", ".cubin", ".ptx")
_MACHINE_CUDA = 190
_LISTED = 8  # files that one fault lists
_MOST_SEARCHES = 256  # names of one module that are searched for in all of its bytes
_PTX = 1  # `APIC_CUDA_BINARY_PTX`
_MACH_O = (b"\xcf\xfa\xed\xfe",)


def is_plain_name(name: str) -> bool:
    """Whether a recorded file name stays in the folder of modules (the rule of Warp's own loader)."""
    return bool(name) and name not in (".", "..") and not any(mark in name for mark in "/\\:\0")


def check_modules(
    metadata: Metadata, device_type: int, folder: Path, launches: LaunchTable | None = None
) -> Iterator[Fault]:
    """Return the faults of the modules and of the folder that they lie in.

    Args:
        launches: of the file; without them, launches of different kernels under one name go unnoticed.
    """
    cpu = device_type == DeviceType.CPU
    missing = False
    if metadata.modules and not folder.is_dir():
        missing = True
        names = ", ".join(module.file.value for module in metadata.modules[:_LISTED])
        names += ", ..." if len(metadata.modules) > _LISTED else ""
        state = "is not a folder" if os.path.lexists(folder) else "is missing"
        yield Fault(f"folder {folder.name}", f"the folder of modules {state}; it should hold {names}", BLOCKS)
    seen: set[str] = set()
    files = _Files(folder, cpu, Variants(launches))
    kernels: dict[str, list[KernelRecord]] = {}
    for kernel in metadata.kernels:
        kernels.setdefault(kernel.module_hash.value, []).append(kernel)
    for number, module in enumerate(metadata.modules):
        field = f"metadata.modules[{number}]"
        where = f"module {module.name.value}"
        if bool(module.arch) == cpu:
            what = f"architecture {module.arch} in a capture of the {'CPU' if cpu else 'CUDA device'}"
            yield Fault(where, what, BLOCKS, offset=module.arch_offset, field=f"{field}.target_arch")
        if module.hash.value in seen or not module.hash.value:
            what = "a second module of this hash" if module.hash.value else "an empty hash"
            yield Fault(where, what, BLOCKS, offset=module.hash.offset, field=f"{field}.hash")
        seen.add(module.hash.value)
        if not is_plain_name(module.file.value):
            what = f"the file name {module.file.value!r} leaves the folder of modules"
            yield Fault(where, what, BLOCKS, offset=module.file.offset, field=f"{field}.file")
        elif not missing:
            yield from files.faults(module, kernels.get(module.hash.value, ()))
    yield from _strays(metadata, folder)


class _Files:
    """The files of a folder of modules; each is read once, however many modules name it."""

    def __init__(self, folder: Path, cpu: bool, variants: Variants) -> None:
        self._folder, self._cpu, self._variants = folder, cpu, variants
        self._read: set[str] = set()

    def faults(self, module: ModuleRecord, kernels: Sequence[KernelRecord]) -> Iterator[Fault]:
        """Return what is wrong with the file of a module, which these kernels need."""
        name = module.file.value
        where = f"{self._folder.name}/{name}"
        if name in self._read:
            yield Fault(where, "the file of two modules", BLOCKS, offset=module.file.offset, field="file")
            return
        self._read.add(name)
        if not os.path.lexists(self._folder / name):
            yield Fault(where, "the file of a module is missing", BLOCKS)
            return
        try:
            contents = read_regular_file(self._folder / name, limit=MODULE_SIZE_LIMIT)
        except CaptureFileError as error:
            yield Fault(where, error.what.removeprefix(f"{self._folder / name}: "), BLOCKS)
            return
        wrong = object_fault(contents) if self._cpu else cuda_fault(contents, ptx=is_ptx(module))
        digest = module.binary_digest.value
        if wrong is None and digest:
            found = hashlib.sha256(contents).hexdigest()
            if found != digest:
                wrong = f"its SHA-256 is {found[:12]}..., recorded was {digest[:12]}..."
        if wrong is not None:
            yield Fault(where, wrong, BLOCKS)
            return
        for kernel in _without_code(kernels, contents):
            what = f"holds no {kernel.forward_name.value!r}, the compiled form of kernel {kernel.key.value}"
            yield Fault(
                where, what, BLOCKS, offset=kernel.forward_name.offset, field="metadata.kernels.forward_name"
            )
        needed = self._variants.launched_backward
        for kernel in _without_code(kernels, contents, backward=True):
            what = f"holds no {kernel.backward_name.value!r}, the backward form of kernel {kernel.key.value}"
            needs = (kernel.key.value, kernel.module_hash.value) in needed
            yield Fault(
                where, what + ("" if needs else ", which no launch here needs"), BLOCKS if needs else NOTE,
                offset=kernel.backward_name.offset, field="metadata.kernels.backward_name",
            )  # fmt: skip
        yield from self._variants.faults(kernels, contents)


def _without_code(
    kernels: Sequence[KernelRecord], contents: bytes, *, backward: bool = False
) -> Iterator[KernelRecord]:
    """Return the kernels whose forward or backward function a module does not name."""
    if not kernels:
        return
    names = set(contents.split(b"\0"))  # as a table of symbols holds them, where ends may be shared
    searches = _MOST_SEARCHES
    for kernel in kernels:
        symbol = (kernel.backward_name if backward else kernel.forward_name).value.encode()
        if symbol in names or (backward and not symbol):
            continue
        searches -= 1
        if searches < 0:  # a broken file may list any number; Warp looks each one up before it launches
            return
        if symbol not in contents:
            yield kernel


def is_ptx(module: ModuleRecord) -> bool:
    """Whether a CUDA module is PTX text rather than a cubin."""
    return module.binary_kind == _PTX or module.file.value.endswith(".ptx")


def object_fault(contents: bytes) -> str | None:
    """Return what is wrong with an object file for this machine's processor, None if nothing seems wrong."""
    if contents[:4] in _MACH_O:
        return None
    if contents[:4] != b"\x7fELF":
        return f"no object file: it starts with {contents[:8]!r}"
    wrong = _elf_fault(contents)
    if wrong is not None:
        return wrong
    kind, machine = struct.unpack_from("<HH", contents, 16)
    if kind != 1:
        return f"an ELF file of type {kind}, not a relocatable object (1)"
    ours = elf_machine()
    if ours is not None and machine != ours:
        return f"compiled for another processor (ELF machine {machine}, here {ours})"
    return None


def cuda_fault(contents: bytes, *, ptx: bool) -> str | None:
    """Return what is wrong with a cubin or a PTX text, None if nothing seems wrong."""
    if ptx:
        if b"\0" in contents.rstrip(b"\0") or b".version" not in contents[:4096]:
            return f"no PTX: it starts with {contents[:8]!r}"
        return None
    if contents[:4] != b"\x7fELF":
        return f"no cubin: it starts with {contents[:8]!r}"
    wrong = _elf_fault(contents)
    if wrong is not None:
        return wrong
    (machine,) = struct.unpack_from("<H", contents, 18)
    return (
        None if machine == _MACHINE_CUDA else f"an ELF file for machine {machine}, not CUDA ({_MACHINE_CUDA})"
    )


def _elf_fault(contents: bytes) -> str | None:
    """Check that an ELF file holds all of its sections: a file that was cut does not."""
    if len(contents) < 64:
        return f"an ELF file cut short: {len(contents)} bytes, its header has 64"
    if contents[4:6] != b"\x02\x01":
        return "an ELF file that is not 64-bit little-endian"
    (table,) = struct.unpack_from("<Q", contents, 40)
    entry, count = struct.unpack_from("<HH", contents, 58)
    end = table + entry * count
    if table == 0 or entry < 64 or count == 0:
        return "an ELF file without sections"
    if end > len(contents):
        return f"an ELF file cut short: {len(contents)} bytes, its section table ends at {end}"
    for number in range(count):
        kind, offset, size = struct.unpack_from("<I16xQQ", contents, table + number * entry + 4)
        if kind != 8 and offset + size > len(contents):  # 8: no bits in the file
            return (
                f"an ELF file cut short: {len(contents)} bytes, its section {number} ends at {offset + size}"
            )
    return None


def _strays(metadata: Metadata, folder: Path) -> Iterator[Fault]:
    expected = {module.file.value for module in metadata.modules}
    try:
        present = sorted(entry.name for entry in os.scandir(folder))
    except OSError:
        return
    for name in present:
        if name.endswith(BINARY_SUFFIXES) and name not in expected:
            what = "not among the recorded modules: never loaded here (Warp's own loader takes every .o file)"
            yield Fault(f"{folder.name}/{name}", what, NOTE)
