"""Array descriptors inside the arguments of all launches, found through their relocations.

An `array_t` in a value blob has relocations on its data and its gradient pointer, 8 bytes apart; an
`indexedarray_t` has four more on its index lists. That holds for arguments that are arrays and for arrays
inside structs alike. Found for all launches at once; nothing is judged here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from replay.wrp import layout
from replay.wrp.layout import RelocKind
from replay.wrp.tables import LaunchTable


@dataclass(frozen=True)
class Descriptors:
    """Arrays in arguments, in file order, as parallel arrays.

    Attributes:
        reloc: row of the data pointer's relocation.
        param: row of the argument.
        at: byte offset of the descriptor within the argument's blob.
        region, offset: what the data pointer refers to; region -1 for a null pointer.
        ndim, shape, strides: as the descriptor states them; strides in bytes, four columns each.
        indexed: whether it is the array of an indexed array.
        member: whether it lies in a struct.
        base: file offset of the descriptor.
        index_relocs: which relocations belong to index lists.
        loose: which relocations patch a pointer that belongs to no array; Warp writes none such.
        grad_region, grad_offset: what the gradient pointer refers to; region -1 for a null pointer.
    """

    reloc: np.ndarray
    param: np.ndarray
    at: np.ndarray
    region: np.ndarray
    offset: np.ndarray
    ndim: np.ndarray
    shape: np.ndarray
    strides: np.ndarray
    indexed: np.ndarray
    member: np.ndarray
    base: np.ndarray
    index_relocs: np.ndarray
    loose: np.ndarray
    grad_region: np.ndarray
    grad_offset: np.ndarray

    def __len__(self) -> int:
        return len(self.reloc)

    @cached_property
    def live(self) -> np.ndarray:
        """Which dimensions count: those before `ndim`, four columns."""
        live: np.ndarray = np.arange(layout.MAX_DIMS) < self.ndim[:, None]
        return live

    @cached_property
    def sane(self) -> np.ndarray:
        """Whether dimensions and shape can be meant: 1 to 4 dimensions, no negative side."""
        counted = (self.ndim >= 1) & (self.ndim <= layout.MAX_DIMS)
        sane: np.ndarray = counted & ((self.shape >= 0) | ~self.live).all(axis=1)
        return sane

    @cached_property
    def cells(self) -> np.ndarray:
        """Number of elements, as float64 since a broken file may claim 2^124; 0 where not sane."""
        sides = np.where(self.live, self.shape, 1).astype(np.float64)
        return np.asarray(np.where(self.sane, np.prod(sides, axis=1), 0.0))

    @cached_property
    def contiguous(self) -> np.ndarray:
        """Whether elements follow each other in C order without gaps."""
        expected = self.strides[np.arange(len(self)), np.clip(self.ndim, 1, 4) - 1].astype(np.float64)
        fits: np.ndarray = self.sane & (expected > 0)
        for axis in range(layout.MAX_DIMS - 1, -1, -1):
            alive = self.live[:, axis]
            ragged = alive & (self.shape[:, axis] != 1) & (self.strides[:, axis] != expected)
            fits &= ~ragged
            expected = np.where(alive, expected * np.maximum(self.shape[:, axis], 1), expected)
        return fits

    @cached_property
    def reach(self) -> tuple[np.ndarray, np.ndarray]:
        """First byte of the lowest and the highest element, relative to `offset` (float64, exact to 2^53)."""
        steps = np.where(self.live, (self.shape - 1.0) * self.strides, 0.0)
        return np.minimum(steps, 0).sum(axis=1), np.maximum(steps, 0).sum(axis=1)


def find_descriptors(data: bytes, launches: LaunchTable) -> Descriptors:
    """Return the arrays in the arguments of all launches."""
    relocs, owner = launches.relocs, launches.reloc_param
    slot = relocs["value_byte_offset"].astype(np.int64)
    room = launches.params["value_size"].astype(np.int64)[owner] if len(owner) else slot
    pointer = relocs["kind"] != RelocKind.HANDLE

    def follows(step: int, distance: int) -> np.ndarray:
        """Whether the relocation `step` rows on patches a pointer of the same argument, so far behind."""
        result = np.zeros(len(slot), bool)
        if len(slot) > step:
            result[:-step] = (
                (owner[step:] == owner[:-step]) & (slot[step:] - slot[:-step] == distance) & pointer[step:]
            )
        return result

    candidate = pointer & follows(1, 8) & (slot + layout.ARRAY.itemsize <= room)
    indexed = candidate & (slot + layout.INDEXED_ARRAY.itemsize <= room)
    for number in range(layout.MAX_DIMS):
        indexed = indexed & follows(2 + number, 56 + 8 * number)
    index_relocs = np.zeros(len(slot), bool)
    for number in range(layout.MAX_DIMS):
        index_relocs[np.flatnonzero(indexed) + 2 + number] = True
    candidate &= ~index_relocs
    rows = np.flatnonzero(candidate)
    param = owner[rows]
    base = launches.blob_base[param] + slot[rows]
    blobs = layout.gather(data, layout.ARRAY, base)
    member = launches.params["value_size"][param] != np.where(
        indexed[rows], layout.INDEXED_ARRAY.itemsize, layout.ARRAY.itemsize
    )
    ndim = blobs["ndim"].astype(np.int64)
    # Within a struct two pointers side by side need not be an array: its rank must make sense.
    keep = ~member | ((ndim >= 1) & (ndim <= layout.MAX_DIMS))
    loose = pointer & ~index_relocs
    whole = rows[keep | (relocs["kind"][rows] == RelocKind.NULL)]  # an array in a struct may be none
    loose[whole] = loose[whole + 1] = False
    rows, param, base, blobs, member, ndim = (part[keep] for part in (rows, param, base, blobs, member, ndim))
    null = relocs["kind"][rows] == RelocKind.NULL
    return Descriptors(
        reloc=rows,
        param=param,
        at=slot[rows],
        region=np.where(null, -1, relocs["region"][rows].astype(np.int64)),
        offset=relocs["region_offset"][rows],
        ndim=ndim,
        shape=blobs["shape"].astype(np.int64),
        strides=blobs["strides"].astype(np.int64),
        indexed=indexed[rows],
        member=member,
        base=base,
        index_relocs=index_relocs,
        loose=loose,
        grad_region=np.where(
            relocs["kind"][rows + 1] == RelocKind.NULL, -1, relocs["region"][rows + 1].astype(np.int64)
        ),
        grad_offset=relocs["region_offset"][rows + 1],
    )
