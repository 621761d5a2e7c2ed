"""What is wrong with kernel launches: kernels, bounds, arguments, pointers, arrays, and baked addresses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from replay.graph.baked import free_words
from replay.graph.check_common import LaunchPlaces, RegionSizes, some
from replay.graph.descriptors import Descriptors
from replay.graph.groups import group
from replay.graph.model import Fault, Severity
from replay.wrp import layout
from replay.wrp.document import Document
from replay.wrp.layout import RelocKind
from replay.wrp.tables import OperationTable

BLOCKS, NOTE = Severity.BLOCKS_REPLAY, Severity.NOTE
THREADS_SUSPICIOUS = 1 << 26  # a launch of more threads should have cells to match
THREADS_ABSURD = 1 << 31  # and of so many must
THREADS_PER_CELL = 256
MAX_BLOCK = 1024


class LaunchChecker(LaunchPlaces):
    """The checks of all launches of one file."""

    def __init__(
        self,
        data: bytes,
        document: Document,
        table: OperationTable,
        descriptors: Descriptors,
        sizes: RegionSizes,
    ) -> None:
        super().__init__(table)
        self._data, self._document, self._found, self._sizes = data, document, descriptors, sizes

    def kernels(self, known: set[tuple[bytes, bytes]]) -> Iterator[Fault]:
        """Every launch must name a kernel of the metadata, with its module."""
        launches = self.launches
        missing = np.array([name not in known for name in launches.names], bool)
        keys = {key for key, _ in known}

        def tell(row: int) -> Fault:
            key, digest = launches.names[launches.name_of[row]]
            name = key.decode("utf-8", "backslashreplace")
            if key in keys:
                text = digest.decode("utf-8", "backslashreplace")
                return self.at_launch(
                    row, f"kernel {name!r} of module {text!r}, which is not listed", "module_hash"
                )
            return self.at_launch(row, f"kernel {name!r}, which the metadata do not list", "kernel_key")

        yield from some(np.flatnonzero(missing[launches.name_of]), tell)

    def bounds(self) -> Iterator[Fault]:
        """Dimensions, thread counts and blocks."""
        records = self.launches.records
        ndim, threads = records["ndim"].astype(np.int64), records["size"]
        odd = (ndim < 1) | (ndim > layout.MAX_DIMS)
        yield from some(
            np.flatnonzero(odd),
            lambda row: self.at_launch(
                row, f"a launch of {int(ndim[row])} dimensions, 1 to 4 expected", "ndim"
            ),
        )
        sides = np.where(np.arange(layout.MAX_DIMS) < ndim[:, None], records["shape"], 1).astype(np.float64)
        cells = np.prod(sides, axis=1)
        # Threads may be a multiple of the shape (folded axes); floats are exact far beyond what can run.
        uneven = ~odd & ((threads < cells) | (np.fmod(threads.astype(np.float64), np.maximum(cells, 1)) != 0))
        uneven |= ~odd & (cells == 0) & (threads != 0)  # a thread divides by the sides
        yield from some(
            np.flatnonzero(uneven),
            lambda row: self.at_launch(
                row,
                f"{int(threads[row])} threads for a launch of shape "
                f"{records['shape'][row, : ndim[row]].tolist()}",
                "size",
            ),
        )
        yield from some(
            np.flatnonzero(records["dim"] != threads),
            lambda row: self.at_launch(
                row, f"{int(records['dim'][row])} threads, but size says {int(threads[row])}", "dim"
            ),
        )
        block = records["block_dim"]
        yield from some(
            np.flatnonzero((block < 0) | (block > MAX_BLOCK)),
            lambda row: self.at_launch(
                row, f"a block of {int(block[row])} threads, at most {MAX_BLOCK}", "block_dim"
            ),
        )
        yield from self._idle_threads(np.maximum(cells, threads.astype(np.float64)))

    def _idle_threads(self, threads: np.ndarray) -> Iterator[Fault]:
        launch = self.launches.param_launch[self._found.param]
        largest = np.zeros(len(threads))
        np.maximum.at(largest, launch, self._found.cells)
        many = (threads > THREADS_SUSPICIOUS) & (threads > THREADS_PER_CELL * largest)
        absurd = threads >= THREADS_ABSURD
        for severity, rows in ((BLOCKS, many & absurd), (NOTE, many & ~absurd)):
            yield from some(
                np.flatnonzero(rows),
                lambda row, severity=severity: self.at_launch(  # type: ignore[misc]
                    row,
                    f"{int(threads[row])} threads, but its largest array has {int(largest[row])} cells",
                    "shape",
                    severity,
                ),
            )

    def arguments(self) -> Iterator[Fault]:
        """Numbering and sizes; launches of one kernel must agree."""
        launches, params = self.launches, self.launches.params
        if not len(params):
            return

        def at(param: int, what: str, name: str, place: int, severity: Severity = BLOCKS) -> Fault:
            offset = int(launches.param_base[param]) + place
            return self.at_param(param, what, offset, f"params[{{}}].{name}", severity)

        expected = launches.param_slot + 1  # adjoint ones are counted on
        yield from some(
            np.flatnonzero(params["param_index"] != expected),
            lambda param: at(
                param, f"numbered {int(params['param_index'][param])}, {int(expected[param])} expected",
                "param_index", 0, NOTE,
            ),
        )  # fmt: skip
        # One kernel has one signature: the size that most of its launches state is taken for the right one.
        name, slot = launches.name_of[launches.param_launch], launches.param_slot
        size = params["value_size"].astype(np.int64)
        places, place_of = group(name, slot)
        if (size == size[places][place_of]).all():
            return
        first, number = group(place_of, size)
        counts = np.bincount(number)
        best: dict[int, tuple[int, int]] = {}
        for variant, row in enumerate(first.tolist()):
            option = (int(counts[variant]), int(size[row]))
            best[int(place_of[row])] = max(best.get(int(place_of[row]), (0, 0)), option)
        usual = np.array([best[place][1] for place in range(len(places))], np.int64)[place_of]
        yield from some(
            np.flatnonzero(size != usual),
            lambda param: at(
                param, f"{int(size[param])} bytes, but {int(usual[param])} in other launches of this kernel",
                "value_size", 8,
            ),
        )  # fmt: skip

    def pointers(self) -> Iterator[Fault]:
        """Relocations must lead into regions and to meshes that the file holds."""
        relocs = self.launches.relocs
        pointer = relocs["kind"] == RelocKind.DATA_PTR
        ids, offsets = relocs["region"].astype(np.int64), relocs["region_offset"]
        exists, size, _ = self._sizes.find(ids)
        yield from some(
            np.flatnonzero(pointer & ~exists),
            lambda n: self.reloc_fault(
                n, f"a pointer to region {int(ids[n])}, which the file does not hold", 4, "region_id"
            ),
        )
        yield from some(
            np.flatnonzero(pointer & exists & (offsets > size)),
            lambda n: self.reloc_fault(
                n, f"a pointer to byte {int(offsets[n])} of region {int(ids[n])} of {int(size[n])} bytes",
                8, "region_offset",
            ),
        )  # fmt: skip
        handles = self._handles()
        stray = (relocs["kind"] == RelocKind.HANDLE) & ~np.isin(offsets, handles)
        yield from some(
            np.flatnonzero(stray),
            lambda n: self.reloc_fault(
                n, f"a handle {int(offsets[n]):#x} to no mesh of the file", 8, "region_offset"
            ),
        )

    def arrays(self) -> Iterator[Fault]:
        """Array descriptors must have a shape that their region can hold."""
        found = self._found
        if not len(found):
            return

        def tell(row: int, what: str, place: int, severity: Severity = BLOCKS) -> Fault:
            names = {16: "shape", 32: "strides", 48: "ndim"}
            return self.at_param(
                int(found.param[row]),
                what,
                int(found.base[row]) + place,
                f"values[{{}}].{names[place]}",
                severity,
            )

        def shape(row: int) -> list[int]:
            return [int(side) for side in found.shape[row, : min(max(int(found.ndim[row]), 0), 4)]]

        def strides(row: int) -> list[int]:
            return [int(step) for step in found.strides[row, : int(found.ndim[row])]]

        used = found.region >= 0
        odd_rank = used & ((found.ndim < 1) | (found.ndim > layout.MAX_DIMS))
        yield from some(
            np.flatnonzero(odd_rank),
            lambda row: tell(row, f"an array of {int(found.ndim[row])} dimensions, 1 to 4 expected", 48),
        )
        negative = used & ~odd_rank & ~found.sane
        yield from some(
            np.flatnonzero(negative), lambda row: tell(row, f"an array of shape {shape(row)}", 16)
        )
        exists, size, element = self._sizes.find(found.region)
        low, high = found.reach
        stride = np.where(found.live & (found.strides != 0), np.abs(found.strides), 1 << 40).min(
            axis=1, initial=1 << 40
        )
        width = np.minimum(element, np.where(stride < 1 << 40, stride, 1))
        start = found.offset.astype(np.float64)
        leaves = (start + low < 0) | (start + high + width > size.astype(np.float64))
        wrong = used & found.sane & exists & (found.cells > 0) & (found.offset <= size) & leaves
        yield from some(
            np.flatnonzero(wrong),
            lambda row: tell(
                row,
                f"an array of shape {shape(row)} and strides {strides(row)} reaches "
                f"bytes {int(start[row] + low[row])} to {int(start[row] + high[row] + width[row])} of region "
                f"{int(found.region[row])}, which has {int(size[row])} bytes",
                16,
            ),
        )

    def baked_pointers(self) -> Iterator[Fault]:
        """8-byte values without relocation that look like addresses: they mean nothing in another process."""
        launches, params = self.launches, self.launches.params
        owners, places, values = free_words(self._data, launches, self._found)
        alone = params["value_size"][owners] == 8
        # Heap and device addresses lie between 4 GiB and 2^47 and are aligned; doubles lie far above. In a
        # struct two small integers may look like a low one.
        lowest = np.where(alone, np.uint64(1 << 32), np.uint64(1 << 44))
        address = (values >= lowest) & (values < np.uint64(1 << 47)) & (values % np.uint64(8) == 0)
        mesh = np.isin(values, self._handles())

        def tell(row: int) -> Fault:
            param, place = int(owners[row]), int(places[row])
            what = (
                "the mesh handle of the capture" if mesh[row] else "an address of the process that captured"
            )
            return self.at_param(
                param,
                f"the value {int(values[row]):#x}{f' at byte {place}' if place else ''} looks like {what}, "
                "baked in as a number: a replay elsewhere may crash; pass meshes as wp.handle",
                int(launches.blob_base[param]) + place,
                "values[{}]",
                NOTE,
            )

        yield from some(np.flatnonzero(address | mesh), tell)

    def _handles(self) -> np.ndarray:
        """Return the handles of all meshes of the file."""
        metadata = self._document.metadata
        meshes = metadata.meshes if metadata is not None else ()
        return np.array([int(mesh.value["original_ptr"]) for mesh in meshes], np.uint64)
