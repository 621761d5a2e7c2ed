"""Layout of the records of a `.wrp` file of format 18, as packed little-endian NumPy types.

Names follow `apic_types.h` of Warp 1.19, shortened (`dst_region_id` is `dst_region`). Data only: the
checks are in the parser.
"""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

FORMAT_VERSION = 18
MAGIC = b"WRP1"
MAX_SECTIONS = 64
MAX_NESTING = 1024  # as in Warp's own validator
MAX_DIMS = 4
MAX_RECORDS = 100_000  # modules, kernels, names, meshes, handle locations, regions: of each kind
MAX_STREAM = 1 << 30  # bytes of operations; 100,000 launches take some tens of MiB
MAX_SPARE = 1 << 20  # bytes of a file that are in none of its sections


class Section(enum.IntEnum):
    """Section types that a file must hold, each once."""

    METADATA = 1
    MEMORY = 2
    OPERATIONS = 3


class DeviceType(enum.IntEnum):
    """`APICDeviceType`."""

    CUDA = 0
    CPU = 1


class RelocKind(enum.IntEnum):
    """`APICRelocKind`: what is written into an 8-byte slot of an argument at replay."""

    DATA_PTR = 1
    HANDLE = 2
    NULL = 3


class ScalarType(enum.IntEnum):
    """`APICType`: scalar types of library operations."""

    INT32 = 1
    UINT32 = 2
    INT64 = 3
    UINT64 = 4
    FLOAT32 = 5
    FLOAT64 = 6

    @property
    def nbytes(self) -> int:
        """Size of one scalar."""
        return 4 if self in (ScalarType.INT32, ScalarType.UINT32, ScalarType.FLOAT32) else 8

    @property
    def element(self) -> str:
        """Warp's name of the type."""
        return self.name.lower()


# Sizes in bytes by `APICType`, index 0 and 7 for anything else.
SCALAR_SIZES = np.array([0, 4, 4, 8, 8, 4, 8, 0], np.int64)


def _packed(*fields: tuple[str, str] | tuple[str, str, int]) -> np.dtype[Any]:
    return np.dtype(list(fields))


HEADER = _packed(
    ("magic", "V4"), ("version", "<u4"), ("flags", "<u4"), ("num_sections", "<u4"),
    ("section_table_offset", "<u8"), ("device_type", "u1"), ("reserved_dt", "V3"), ("target_arch", "<u4"),
    ("reserved", "V32"),
)  # fmt: skip
SECTION = _packed(
    ("type", "<u4"), ("flags", "<u4"), ("offset", "<u8"), ("size", "<u8"), ("uncompressed_size", "<u8")
)  # fmt: skip
MESH = _packed(
    ("num_points", "<i4"), ("num_tris", "<i4"), ("support_winding_number", "u1"), ("bvh_constructor", "u1"),
    ("bvh_leaf_size", "<u2"), ("points_region", "<u4"), ("indices_region", "<u4"),
    ("velocities_region", "<u4"), ("original_ptr", "<u8"),
)  # fmt: skip
HANDLE_LOCATION = _packed(("region", "<u4"), ("offset", "<u8"), ("stride", "<u8"), ("count", "<u8"))
REGION = _packed(
    ("region", "<u4"), ("element_size", "<u4"), ("size", "<u8"), ("has_initial_data", "u1"), ("pad", "V7")
)  # fmt: skip

_OP = (("op_type", "<u4"), ("total_size", "<u4"))
OP = _packed(*_OP)
LAUNCH = _packed(
    *_OP, ("shape", "<u4", MAX_DIMS), ("ndim", "<i4"), ("size", "<u8"), ("dim", "<u8"), ("max_blocks", "<i4"),
    ("block_dim", "<i4"), ("smem_bytes", "<i4"), ("grid_stride", "<i4"), ("is_forward", "u1"),
    ("cluster_dim", "u1"), ("pad1", "<u2"), ("kernel_key_len", "<u2"), ("module_hash_len", "<u2"),
    ("num_params", "<u2"), ("pad2", "<u2"), ("num_relocs", "<u4"), ("value_data_size", "<u4"),
)  # fmt: skip
PARAM = _packed(
    ("param_index", "<u2"), ("num_relocs", "<u2"), ("value_offset", "<u4"), ("value_size", "<u4"),
    ("value_align", "<u4"),
)  # fmt: skip
RELOC = _packed(
    ("value_byte_offset", "<u4"), ("region", "<i4"), ("region_offset", "<u8"), ("kind", "u1"),
    ("pad", "u1", 7),
)  # fmt: skip
# array_t: the descriptor of an array argument; 4 bytes of padding end it.
ARRAY = _packed(
    ("data", "<u8"), ("grad", "<u8"), ("shape", "<i4", MAX_DIMS), ("strides", "<i4", MAX_DIMS),
    ("ndim", "<u2"), ("flags", "<u2"), ("pad", "V4"),
)  # fmt: skip
# indexedarray_t: an array_t, a pointer to an index list per dimension, and the shape after indexing.
INDEXED_ARRAY = _packed(
    ("array", f"V{ARRAY.itemsize}"), ("indices", "<u8", MAX_DIMS), ("shape", "<i4", MAX_DIMS)
)
MEMCPY_H2D = _packed(*_OP, ("dst_region", "<i4"), ("pad", "<u4"), ("dst_offset", "<u8"), ("size", "<u8"))
MEMCPY_D2D = _packed(
    *_OP, ("dst_region", "<i4"), ("src_region", "<i4"), ("dst_offset", "<u8"), ("src_offset", "<u8"),
    ("size", "<u8"),
)  # fmt: skip
MEMSET = _packed(*_OP, ("region", "<i4"), ("value", "<i4"), ("offset", "<u8"), ("size", "<u8"))
MEMTILE = _packed(*_OP, ("region", "<i4"), ("srcsize", "<u4"), ("offset", "<u8"), ("count", "<u8"))
ALLOC = _packed(*_OP, ("region", "<i4"), ("pad", "<u4"), ("size", "<u8"))
SCAN = _packed(
    *_OP, ("dst_region", "<i4"), ("src_region", "<i4"), ("dst_offset", "<u8"), ("src_offset", "<u8"),
    ("length", "<u4"), ("in_stride", "<i4"), ("out_stride", "<i4"), ("type_len", "<i4"), ("dtype", "u1"),
    ("inclusive", "u1"), ("pad", "V2"),
)  # fmt: skip
REDUCTION = _packed(
    *_OP, ("input_a_region", "<i4"), ("input_b_region", "<i4"), ("output_region", "<i4"), ("count", "<u4"),
    ("input_a_offset", "<u8"), ("input_b_offset", "<u8"), ("output_offset", "<u8"), ("input_a_stride", "<i4"),
    ("input_b_stride", "<i4"), ("type_len", "<i4"), ("kind", "u1"), ("dtype", "u1"), ("pad", "V2"),
)  # fmt: skip
SEGMENTED_SORT = _packed(
    *_OP, ("keys_region", "<i4"), ("values_region", "<i4"), ("segstart_region", "<i4"),
    ("segend_region", "<i4"), ("keys_offset", "<u8"), ("values_offset", "<u8"), ("segstart_offset", "<u8"),
    ("segend_offset", "<u8"),
    ("count", "<u4"), ("num_segments", "<u4"), ("dtype", "u1"), ("pad", "V3"),
)  # fmt: skip
RADIX_SORT = _packed(
    *_OP, ("keys_region", "<i4"), ("values_region", "<i4"), ("keys_offset", "<u8"), ("values_offset", "<u8"),
    ("count", "<u4"), ("begin_bit", "<i4"), ("end_bit", "<i4"), ("value_size", "<i4"), ("dtype", "u1"),
    ("pad", "V3"),
)  # fmt: skip
RUNLENGTH_ENCODE = _packed(
    *_OP, ("values_region", "<i4"), ("run_values_region", "<i4"), ("run_lengths_region", "<i4"),
    ("run_count_region", "<i4"), ("values_offset", "<u8"), ("run_values_offset", "<u8"),
    ("run_lengths_offset", "<u8"), ("run_count_offset", "<u8"), ("value_count", "<u4"), ("pad", "V4"),
)  # fmt: skip

_TRIPLET_BUFFERS = (
    "tpl_nnz", "tpl_rows", "tpl_columns", "tpl_values", "summed_block_offsets", "summed_block_indices",
    "bsr_offsets", "bsr_row_counts", "bsr_columns", "bsr_nnz",
)  # fmt: skip
BSR_FROM_TRIPLETS = _packed(
    *_OP, ("block_size", "<i4"), ("scalar_size", "<i4"), ("row_count", "<i4"), ("col_count", "<i4"),
    ("nnz_upper_bound", "<i4"), ("masked_topology", "u1"), ("pad", "V3"), ("scalar_zero_mask", "<u8"),
    *((f"{name}_region", "<i4") for name in _TRIPLET_BUFFERS),
    *((f"{name}_offset", "<u8") for name in _TRIPLET_BUFFERS),
)  # fmt: skip
_TRANSPOSE_BUFFERS = (
    "bsr_offsets", "bsr_row_counts", "bsr_columns", "transposed_offsets", "transposed_row_counts",
    "transposed_columns", "block_indices", "status",
)  # fmt: skip
BSR_TRANSPOSE = _packed(
    *_OP, ("row_count", "<i4"), ("col_count", "<i4"), ("nnz_upper_bound", "<i4"),
    *((f"{name}_region", "<i4") for name in _TRANSPOSE_BUFFERS),
    *((f"{name}_offset", "<u8") for name in _TRANSPOSE_BUFFERS),
)  # fmt: skip
BVH = _packed(*_OP, ("bvh_id", "<u8"), ("constructor_type", "<i4"), ("pad", "<u4"))
HASH_GRID_UPDATE = _packed(
    *_OP, ("grid_id", "<u8"), ("cell_width", "<f8"), ("points_region", "<i4"), ("groups_region", "<i4"),
    ("points_offset", "<u8"), ("groups_offset", "<u8"), ("point_count", "<i4"), ("points_stride", "<i4"),
    ("groups_stride", "<i4"), ("grid_type", "u1"), ("has_groups", "u1"), ("pad", "V2"),
)  # fmt: skip
CONDITION = _packed(
    *_OP, ("cond_region", "<i4"), ("pad", "<u4"), ("cond_offset", "<u8"), ("branch_a_size", "<u4"),
    ("branch_a_op_count", "<u4"), ("branch_b_size", "<u4"), ("branch_b_op_count", "<u4"),
)  # fmt: skip

# The fixed part of each operation type. 3 (MEMCPY_D2H) is reserved and has no record of its own.
RECORDS: dict[int, np.dtype[Any]] = {
    1: LAUNCH, 2: MEMCPY_H2D, 3: OP, 4: MEMCPY_D2D, 5: MEMSET, 6: ALLOC, 7: CONDITION, 8: CONDITION, 9: SCAN,
    10: MEMTILE, 11: SEGMENTED_SORT, 12: RADIX_SORT, 13: RUNLENGTH_ENCODE, 14: BSR_FROM_TRIPLETS,
    15: BSR_TRANSPOSE, 16: REDUCTION, 17: BVH, 18: BVH, 19: HASH_GRID_UPDATE,
}  # fmt: skip
EXACT_SIZE = (16, 19)  # records that nothing may follow


def gather(data: bytes, dtype: np.dtype[Any], offsets: np.ndarray) -> np.ndarray:
    """Return the records of one type that start at `offsets`, as a fresh structured array.

    Every record must lie within `data`; that was checked before. The overlapping view costs nothing:
    only the chosen records are copied.
    """
    room = len(data) - dtype.itemsize + 1
    if room <= 0 or not len(offsets):
        return np.zeros(0, dtype)
    # One element of stride 1 byte at each offset. As raw bytes first: NumPy copies structured items field by
    # field, which takes several times as long.
    window = np.ndarray((room,), np.dtype(f"V{dtype.itemsize}"), buffer=data, strides=(1,))
    records: np.ndarray = window[offsets].view(dtype)
    return records
