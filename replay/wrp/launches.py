"""Launch records and inline data: the tables behind the fixed parts, checked for all operations at once."""

from __future__ import annotations

import numpy as np

from replay.errors import CaptureFileError
from replay.wrp import layout
from replay.wrp.tables import LaunchTable, OperationTable


def check_sizes(data: bytes, table: OperationTable, path: str) -> None:
    """Check inline data and exact sizes of the operations that are no launch.

    Raises:
        CaptureFileError: inline data leave their record, or a record of fixed size has another one.
    """
    for kind in layout.EXACT_SIZE:
        expected = layout.RECORDS[kind].itemsize
        for event in np.flatnonzero((table.kinds == kind) & (table.sizes != expected))[:1]:
            raise CaptureFileError(
                f"a size of {int(table.sizes[event])} bytes, {expected} expected",
                path=path,
                offset=int(table.offsets[event]) + 4,
                field=f"{table.field_of(int(event))}.total_size",
            )
    for kind, name, place in ((2, "size", 24), (10, "srcsize", 12)):
        events, records = table.records(data, kind)
        room = (table.sizes[events] - layout.RECORDS[kind].itemsize).astype(np.uint64)
        bad = records[name].astype(np.uint64) > room
        if kind == 10:
            bad |= records[name] == 0
        for row in np.flatnonzero(bad)[:1]:
            event = int(events[row])
            raise CaptureFileError(
                f"{int(records[name][row])} bytes of inline data claimed, the record holds {int(room[row])}",
                path=path,
                offset=int(table.offsets[event]) + place,
                field=f"{table.field_of(event)}.{name}",
            )


def gather_launches(data: bytes, table: OperationTable, events: np.ndarray, path: str) -> LaunchTable:
    """Gather the launches at `events` with their arguments and relocations.

    Raises:
        CaptureFileError: a table of a launch leaves its record, an argument leaves the values, or the
            relocations do not add up.
    """
    starts = table.offsets[events]
    records = layout.gather(data, layout.LAUNCH, starts)

    def refuse(bad: np.ndarray, what: str, place: int, name: str, *columns: np.ndarray) -> None:
        for row in np.flatnonzero(bad)[:1]:
            raise CaptureFileError(
                what.format(*(int(column[row]) for column in columns)),
                path=path,
                offset=int(starts[row]) + place,
                field=f"{table.field_of(int(events[row]))}.{name}",
            )

    def column(name: str) -> np.ndarray:
        return records[name].astype(np.int64)

    key_len, hash_len, num_relocs = column("kernel_key_len"), column("module_hash_len"), column("num_relocs")
    value_size = column("value_data_size")
    bindings = column("num_params") * np.where(records["is_forward"] != 0, 1, 2)
    strings_at = starts + layout.LAUNCH.itemsize
    params_at = strings_at + key_len + hash_len
    relocs_at = params_at + bindings * layout.PARAM.itemsize
    values_at = relocs_at + num_relocs * layout.RELOC.itemsize
    ends = starts + table.sizes[events]
    for at, place, name, length in (
        (params_at, 64, "kernel_key_len", key_len + hash_len),
        (relocs_at, 68, "num_params", bindings),
        (values_at, 72, "num_relocs", num_relocs),
        (values_at + value_size, 76, "value_data_size", value_size),
    ):
        refuse(
            at > ends, "{0} claimed, which leaves the record of {1} bytes", place, name, length, ends - starts
        )

    names: dict[tuple[bytes, int], int] = {}
    name_of = np.empty(len(events), np.int64)
    for row, (begin, end, split) in enumerate(
        zip(strings_at.tolist(), params_at.tolist(), key_len.tolist(), strict=True)
    ):
        name_of[row] = names.setdefault((data[begin:end], split), len(names))

    param_start = np.concatenate(([0], np.cumsum(bindings)))
    param_launch = np.repeat(np.arange(len(events)), bindings)
    param_base = params_at[param_launch] + layout.PARAM.itemsize * (
        np.arange(len(param_launch)) - param_start[param_launch]
    )
    params = layout.gather(data, layout.PARAM, param_base)

    def refuse_param(bad: np.ndarray, what: str, place: int, name: str, *columns: np.ndarray) -> None:
        for row in np.flatnonzero(bad)[:1]:
            launch = int(param_launch[row])
            slot = int(row - param_start[launch])
            raise CaptureFileError(
                f"argument {slot + 1} " + what.format(*(int(values[row]) for values in columns)),
                path=path,
                offset=int(param_base[row]) + place,
                field=f"{table.field_of(int(events[launch]))}.params[{slot}].{name}",
            )

    first, length = params["value_offset"].astype(np.int64), params["value_size"].astype(np.int64)
    room = value_size[param_launch]
    what = "takes {0} bytes from {1}, but the values have {2}"
    refuse_param(first > room, what, 4, "value_offset", length, first, room)
    refuse_param(length > room - first, what, 8, "value_size", length, first, room)

    wanted = params["num_relocs"].astype(np.int64)
    reloc_start = np.concatenate(([0], np.cumsum(wanted)))
    summed = reloc_start[param_start[1:]] - reloc_start[param_start[:-1]]
    refuse(
        summed != num_relocs,
        "{0} relocations claimed, but the arguments have {1}",
        72, "num_relocs", num_relocs, summed,
    )  # fmt: skip
    reloc_param = np.repeat(np.arange(len(params)), wanted)
    reloc_launch = param_launch[reloc_param]
    first_reloc = reloc_start[param_start[:-1]]
    reloc_base = relocs_at[reloc_launch] + layout.RELOC.itemsize * (
        np.arange(len(reloc_param)) - first_reloc[reloc_launch]
    )
    relocs = layout.gather(data, layout.RELOC, reloc_base)
    kinds, slots = relocs["kind"], relocs["value_byte_offset"].astype(np.int64)
    for bad, what, place, name, shown in (
        ((kinds < 1) | (kinds > 3), "has an unknown kind {0}", 16, "kind", kinds),
        (
            slots + 8 > length[reloc_param],
            "patches byte {0}, past its argument",
            0,
            "value_byte_offset",
            slots,
        ),
    ):
        for row in np.flatnonzero(bad)[:1]:
            launch = int(reloc_launch[row])
            number = int(row - first_reloc[launch])
            raise CaptureFileError(
                f"relocation {number} " + what.format(int(shown[row])),
                path=path,
                offset=int(reloc_base[row]) + place,
                field=f"{table.field_of(int(events[launch]))}.relocs[{number}].{name}",
            )
    return LaunchTable(
        events, records, tuple((raw[:split], raw[split:]) for raw, split in names), name_of, param_start,
        params, param_launch, param_base, reloc_start, relocs, reloc_base, reloc_param, values_at,
    )  # fmt: skip
