"""Operations that are no launch: which byte ranges of which regions they read and write, and their words.

Sizes follow the replay loop of Warp 1.19 (`apic_cpu_replay_stream` in `apic.cpp`). All operations of one
type are described at once, as columns; a single operation is a column of length one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from replay.graph.model import Access, OpKind, Provenance, Region
from replay.graph.scalars import CANDIDATES, number_text, readings, sensible_readings, value_of
from replay.wrp.layout import RECORDS, SCALAR_SIZES, ScalarType

R, W, RW = Access.READ, Access.WRITE, Access.READ_WRITE
INT32 = int(ScalarType.INT32)
# A size that no region has: what a broken record would touch where its numbers overflow.
TOO_LARGE = np.uint64(1 << 63)


@dataclass(frozen=True)
class Column:
    """One buffer that a record names, for all records of a type.

    Attributes:
        label: the record's field, such as `src` or `keys`.
        region, offset, nbytes: first byte and number of bytes; region -1 where absent.
        access: how it is used.
        required: which records must name a region here.
        scalar: `APICType` of its elements, 0 where the record does not say.
        element_size: bytes of an element, 0 where the record does not say.
    """

    label: str
    region: np.ndarray
    offset: np.ndarray
    nbytes: np.ndarray
    access: Access
    required: np.ndarray
    scalar: np.ndarray
    element_size: np.ndarray


def columns(kind: OpKind, records: np.ndarray) -> list[Column]:
    """Return the buffers that records of one type use; empty for launches and process-local handles."""
    build = _BUILDERS.get(kind)
    return build(records) if build else []


def details(kind: OpKind, record: Any, inline: bytes, region: Region | None = None) -> dict[str, object]:
    """Return what a record states besides its buffers, in words.

    Args:
        kind: type of the operation.
        record: its fixed part.
        inline: what follows the fixed part (copied data, a fill value).
        region: what a fill writes to.
    """
    told: dict[str, object] = {}
    for name in RECORDS[kind].names or ():
        if name in _HIDDEN or name.endswith(("_region", "_offset")):
            continue
        told[_WORDS.get(name, name)] = record[name].item()
    if kind in (OpKind.MEMSET, OpKind.MEMTILE):
        told["offset"] = int(record["offset"])
    if kind is OpKind.MEMSET:
        told["value"] = int(record["value"]) & 0xFF
    if kind is OpKind.MEMTILE:
        told |= fill(inline, region)
        told["bytes"] = inline.hex()
    if "dtype" in told:
        told["dtype"] = _scalar_name(int(record["dtype"]))
    if kind is OpKind.REDUCTION:
        told["kind"] = {1: "sum", 2: "inner product"}.get(
            int(record["kind"]), f"unknown {int(record['kind'])}"
        )
    if kind is OpKind.SCAN:
        told["inclusive"] = bool(record["inclusive"])
    return told


def fill(raw: bytes, region: Region | None) -> dict[str, object]:
    """Return what a fill writes, in words: the record holds its bytes, but not their type.

    Args:
        raw: the pattern.
        region: what is filled, if there is such a region; its type counts if an element is as large.

    Returns:
        `value` and `type`, which says if it is inferred. Where several types make sense and nothing speaks
        for one of them, `value` is the bytes as a hexadecimal number and `candidates` lists the readings.
    """
    element = region.element if region is not None else None
    told_of = region.provenance if region is not None else Provenance.ASSUMED
    if element is not None and element.nbytes == len(raw) and told_of is not Provenance.ASSUMED:
        name = element.name if told_of is Provenance.KNOWN else f"{element.name} (inferred)"
        return {"value": value_of(raw, element.scalar.name), "type": name}
    possible = sensible_readings(raw)
    if len(possible) == 1:
        return {"value": possible[0].value, "type": f"{possible[0].type} (inferred)"}
    possible = possible or readings(raw, len(raw) if len(raw) in CANDIDATES else 4)
    told: dict[str, object] = {"value": f"0x{int.from_bytes(raw, 'little'):0{2 * len(raw)}x}"}
    if possible:
        told["candidates"] = tuple(f"{number_text(one.value)} ({one.type})" for one in possible)
    return told


def _scalar_name(code: int) -> str:
    return ScalarType(code).element if code in set(ScalarType) else f"unknown type {code}"


_HIDDEN = ("op_type", "total_size", "pad", "region", "offset", "branch_a_size", "branch_b_size", "src", "dst")
_WORDS = {
    "size": "nbytes",
    "srcsize": "element_nbytes",
    "branch_a_op_count": "first_branch_operations",
    "branch_b_op_count": "second_branch_operations",
}


def _u64(values: np.ndarray) -> np.ndarray:
    return np.maximum(values, 0).astype(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)


def _column(
    records: np.ndarray,
    label: str,
    nbytes: np.ndarray | int,
    access: Access,
    *,
    name: str | None = None,
    optional: bool = False,
    required: np.ndarray | None = None,
    scalar: np.ndarray | int = 0,
    element_size: np.ndarray | int = 0,
) -> Column:
    stem = label if name is None else name
    prefix = f"{stem}_" if stem else ""
    count = len(records)
    region = records[f"{prefix}region"].astype(np.int64)
    if required is None:
        required = np.full(count, not optional)
    size = np.broadcast_to(np.asarray(nbytes), (count,))
    codes = np.clip(np.broadcast_to(np.asarray(scalar, np.int64), (count,)), 0, 7)
    return Column(
        label,
        np.where(region < 0, -1, region),
        records[f"{prefix}offset"].astype(np.uint64),
        _u64(size),
        access,
        required,
        codes,
        np.where(
            codes > 0, SCALAR_SIZES[codes], np.broadcast_to(np.asarray(element_size, np.int64), (count,))
        ),
    )


def _h2d(records: np.ndarray) -> list[Column]:
    return [_column(records, "dst", records["size"], W)]


def _d2d(records: np.ndarray) -> list[Column]:
    return [_column(records, "src", records["size"], R), _column(records, "dst", records["size"], W)]


def _memset(records: np.ndarray) -> list[Column]:
    return [_column(records, "dst", records["size"], W, name="")]


def _memtile(records: np.ndarray) -> list[Column]:
    count, size = records["count"], records["srcsize"].astype(np.uint64)
    safe = count <= TOO_LARGE // np.maximum(size, 1)
    nbytes = np.where(safe, np.where(safe, count, 0) * size, TOO_LARGE)
    return [_column(records, "dst", nbytes, W, name="", element_size=records["srcsize"].astype(np.int64))]


def _alloc(records: np.ndarray) -> list[Column]:
    # The record has no offset: the whole region is meant, its contents are undefined before it is written.
    region = records["region"].astype(np.int64)
    zero = np.zeros(len(records), np.int64)
    return [
        Column("region", region, zero.astype(np.uint64), records["size"].astype(np.uint64), Access.NONE,
               np.ones(len(records), bool), zero, zero)
    ]  # fmt: skip


def _strided(count: np.ndarray, stride: np.ndarray, lanes: np.ndarray, scalar_size: np.ndarray) -> np.ndarray:
    """Bytes from the first to behind the last element: (count - 1) * stride + lanes * scalar_size."""
    span = (count.astype(np.int64) - 1) * np.maximum(stride.astype(np.int64), 0)
    return np.where(count > 0, span + np.maximum(lanes.astype(np.int64), 0) * scalar_size, 0)


def _scan(records: np.ndarray) -> list[Column]:
    code = np.clip(records["dtype"].astype(np.int64), 0, 7)
    size, single = SCALAR_SIZES[code], np.where(records["type_len"] == 1, code, 0)
    length, lanes = records["length"], records["type_len"]
    return [
        _column(records, "src", _strided(length, records["in_stride"], lanes, size), R, scalar=single),
        _column(records, "dst", _strided(length, records["out_stride"], lanes, size), W, scalar=single),
    ]


def _reduction(records: np.ndarray) -> list[Column]:
    code = np.clip(records["dtype"].astype(np.int64), 0, 7)
    size, single = SCALAR_SIZES[code], np.where(records["type_len"] == 1, code, 0)
    count, lanes, inner = records["count"], records["type_len"], records["kind"] == 2
    first, second = (_strided(count, records[f"input_{x}_stride"], lanes, size) for x in "ab")
    out = np.where(inner, 1, np.maximum(lanes.astype(np.int64), 0)) * size
    return [
        _column(records, "input_a", first, R, scalar=single),
        _column(records, "input_b", second, R, required=inner, scalar=single),
        _column(records, "output", out, W, scalar=np.where(inner, code, single)),
    ]  # fmt: skip


def _segmented_sort(records: np.ndarray) -> list[Column]:
    code, count = records["dtype"].astype(np.int64), records["count"].astype(np.int64)
    segments = records["num_segments"].astype(np.int64)
    # Ends inferred from starts lie one index further in the same array.
    inferred = (records["segstart_region"] == records["segend_region"]) & (
        records["segend_offset"] == records["segstart_offset"] + np.uint64(4)
    )
    return [
        _column(records, "keys", 8 * count, RW, scalar=code),
        _column(records, "values", 8 * count, RW, scalar=INT32),
        _column(records, "segstart", 4 * (segments + inferred), R, scalar=INT32),
        _column(records, "segend", 4 * segments, R, scalar=INT32),
    ]


def _radix_sort(records: np.ndarray) -> list[Column]:
    code, count = np.clip(records["dtype"].astype(np.int64), 0, 7), records["count"].astype(np.int64)
    size = np.maximum(records["value_size"].astype(np.int64), 0)
    return [
        _column(records, "keys", 2 * count * SCALAR_SIZES[code], RW, scalar=code),
        _column(records, "values", 2 * count * size, RW, element_size=size),
    ]


def _runlength_encode(records: np.ndarray) -> list[Column]:
    nbytes = 4 * records["value_count"].astype(np.int64)
    return [
        _column(records, "values", nbytes, R, scalar=INT32),
        _column(records, "run_values", nbytes, W, scalar=INT32),
        _column(records, "run_lengths", nbytes, W, scalar=INT32),
        _column(records, "run_count", 4, W, scalar=INT32),
    ]


def _bsr_from_triplets(records: np.ndarray) -> list[Column]:
    entries = np.maximum(records["nnz_upper_bound"].astype(np.int64), 0)
    rows = np.maximum(records["row_count"].astype(np.int64), 0)
    block = records["block_size"].astype(np.float64) * records["scalar_size"] * entries
    values = np.where(block < 2.0**62, block, 2.0**62).astype(np.int64)
    masked = records["masked_topology"] != 0
    offsets = Access.READ_WRITE
    found = [
        _column(records, "tpl_nnz", 4, R, optional=True, scalar=INT32),
        _column(records, "tpl_rows", 4 * entries, R, scalar=INT32),
        _column(records, "tpl_columns", 4 * entries, R, scalar=INT32),
        _column(records, "tpl_values", values, R, optional=True),
        _column(records, "summed_block_offsets", 4 * entries, W, scalar=INT32),
        _column(records, "summed_block_indices", 4 * entries, W, scalar=INT32),
        _column(records, "bsr_offsets", 4 * (rows + 1), offsets if masked.any() else W, scalar=INT32),
        _column(records, "bsr_row_counts", 4 * rows, R, optional=True, scalar=INT32),
        _column(records, "bsr_columns", 4 * entries, RW if masked.any() else W, scalar=INT32),
    ]
    return found


def _bsr_transpose(records: np.ndarray) -> list[Column]:
    entries = 4 * np.maximum(records["nnz_upper_bound"].astype(np.int64), 0)
    rows = 4 * np.maximum(records["row_count"].astype(np.int64), 0)
    cols = 4 * np.maximum(records["col_count"].astype(np.int64), 0)
    # A padded destination may hold fewer columns than the bound; its capacity is known only at replay.
    padded = records["transposed_row_counts_region"] >= 0
    written = np.where(padded, 0, entries)
    return [
        _column(records, "bsr_offsets", rows + 4, R, scalar=INT32),
        _column(records, "bsr_row_counts", rows, R, optional=True, scalar=INT32),
        _column(records, "bsr_columns", entries, R, scalar=INT32),
        _column(records, "transposed_offsets", cols + 4, W, scalar=INT32),
        _column(records, "transposed_row_counts", cols, W, optional=True, scalar=INT32),
        _column(records, "transposed_columns", written, W, scalar=INT32),
        _column(records, "block_indices", entries, W, scalar=INT32),
        _column(records, "status", 4, W, optional=True, scalar=INT32),
    ]


def _condition(records: np.ndarray) -> list[Column]:
    return [_column(records, "condition", 4, R, name="cond", scalar=INT32)]


def _hash_grid(records: np.ndarray) -> list[Column]:
    count = np.maximum(records["point_count"].astype(np.int64), 0)
    size = np.array([6, 12, 24, 24])[np.clip(records["grid_type"], 0, 3)]
    one = np.ones(len(records), np.int64)
    return [
        _column(records, "points", _strided(count, records["points_stride"], one, size), R, optional=True),
        _column(records, "groups", _strided(count, records["groups_stride"], one, 4 * one), R, optional=True),
    ]


_BUILDERS: dict[OpKind, Callable[[np.ndarray], list[Column]]] = {
    OpKind.MEMCPY_H2D: _h2d,
    OpKind.MEMCPY_D2D: _d2d,
    OpKind.MEMSET: _memset,
    OpKind.MEMTILE: _memtile,
    OpKind.ALLOC: _alloc,
    OpKind.IF: _condition,
    OpKind.WHILE: _condition,
    OpKind.SCAN: _scan,
    OpKind.REDUCTION: _reduction,
    OpKind.SEGMENTED_SORT: _segmented_sort,
    OpKind.RADIX_SORT: _radix_sort,
    OpKind.RUNLENGTH_ENCODE: _runlength_encode,
    OpKind.BSR_FROM_TRIPLETS: _bsr_from_triplets,
    OpKind.BSR_TRANSPOSE: _bsr_transpose,
    OpKind.HASH_GRID_UPDATE: _hash_grid,
}
