"""Addresses of the recording process that Warp leaves in a file: where they may lie, and how to know them.

A pointer with a relocation is replaced when the capture is loaded, but its old value stays in the file, and
says where the memory of that process lay. Others are baked in: a mesh or grid id passed as a number.
"""

from __future__ import annotations

import numpy as np

from replay.graph.descriptors import Descriptors
from replay.wrp import layout
from replay.wrp.layout import RelocKind
from replay.wrp.tables import LaunchTable

HIGHEST = 1 << 47  # end of the addresses of a process
NEAR = 1 << 32  # bytes around the recorded pointers in which others of the process are looked for
_LARGEST_STRUCT = 4096  # bytes of an argument that is searched for addresses


def recorded_pointers(data: bytes, launches: LaunchTable) -> np.ndarray:
    """Return the pointers that Warp left in the values of launches, sorted; relocations replace them."""
    rows = np.flatnonzero(launches.relocs["kind"] == RelocKind.DATA_PTR)
    places = launches.blob_base[launches.reloc_param[rows]] + launches.relocs["value_byte_offset"][rows]
    pointers = np.unique(layout.gather(data, np.dtype("<u8"), places))
    return pointers[(pointers > 0) & (pointers < HIGHEST)]


def near_pointers(values: np.ndarray, pointers: np.ndarray) -> np.ndarray:
    """Return which values lie within 4 GiB of a recorded pointer.

    Args:
        values: uint64, all below `HIGHEST`.
        pointers: as `recorded_pointers` returns them.
    """
    if not len(pointers):
        return np.zeros(len(values), bool)
    numbers, known = values.astype(np.int64), pointers.astype(np.int64)
    after = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
    before = np.maximum(after - 1, 0)
    near: np.ndarray = np.minimum(np.abs(known[after] - numbers), np.abs(known[before] - numbers)) < NEAR
    return near


def free_words(
    data: bytes, launches: LaunchTable, found: Descriptors
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return argument, byte and value of every aligned 8-byte word that no relocation or array covers."""
    params = launches.params
    size = params["value_size"].astype(np.int64)
    candidates = np.flatnonzero((size >= 8) & (params["value_align"] % 8 == 0) & (size <= _LARGEST_STRUCT))
    whole_arrays = np.zeros(len(params), bool)
    whole_arrays[found.param[~found.member]] = True
    candidates = candidates[~whole_arrays[candidates]]
    words = size[candidates] // 8
    first = np.concatenate(([0], np.cumsum(words)))
    owner = np.repeat(np.arange(len(candidates)), words)
    place = 8 * (np.arange(len(owner)) - first[owner])
    free = np.ones(len(owner), bool)
    row_of = np.full(len(params), -1, np.int64)
    row_of[candidates] = np.arange(len(candidates))
    slots = launches.relocs["value_byte_offset"].astype(np.int64)
    _cover(free, first, row_of[launches.reloc_param], slots)
    for word in range(layout.ARRAY.itemsize // 8):
        _cover(free, first, row_of[found.param], found.at + 8 * word)
    keep = np.flatnonzero(free)
    owners, places = candidates[owner[keep]], place[keep]
    values = layout.gather(data, np.dtype("<u8"), launches.blob_base[owners] + places)
    return owners, places, values


def _cover(free: np.ndarray, first: np.ndarray, rows: np.ndarray, slots: np.ndarray) -> None:
    """Mark the words of some arguments that begin at byte `slots` as covered."""
    known = rows >= 0
    free[first[rows[known]] + slots[known] // 8] = False
