"""What the checks share: sizes of many regions at once, places in launches, and a few faults of many."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from replay.graph.model import Fault, Region, Severity
from replay.wrp import layout
from replay.wrp.tables import OperationTable

_NUMBER = re.compile(r"\d+")
SHOWN = 8  # faults of one kind that are told one by one


def bounded(faults: Iterable[Fault]) -> list[Fault]:
    """Return the first faults of each kind, the last of which says how many more there are.

    Of one kind are those of the same severity in the same field of any record.
    """
    kinds: dict[tuple[Severity, str], list[Fault]] = {}
    more: Counter[tuple[Severity, str]] = Counter()
    for fault in faults:
        kind = fault.severity, _NUMBER.sub("", fault.field)
        shown = kinds.setdefault(kind, [])
        if len(shown) < SHOWN:
            shown.append(fault)
        else:
            more[kind] += 1
    for kind, count in more.items():
        last = kinds[kind][-1]
        kinds[kind][-1] = dataclasses.replace(last, what=f"{last.what} (and {count} more like it)")
    return [fault for shown in kinds.values() for fault in shown]


class RegionSizes:
    """Sizes of regions, looked up for many ids at once."""

    def __init__(self, regions: Mapping[int, Region]) -> None:
        self._ids = np.array(sorted(regions), np.int64)
        self._sizes = np.array([min(regions[ident].nbytes, 1 << 63) for ident in sorted(regions)], np.uint64)
        self._elements = np.array(
            [region.element.nbytes if (region := regions[ident]).element else 1 for ident in sorted(regions)],
            np.int64,
        )

    def find(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return whether each region exists, its size, and the size of its elements (1 if not known)."""
        if not len(self._ids):
            return np.zeros(len(ids), bool), np.zeros(len(ids), np.uint64), np.ones(len(ids), np.int64)
        place = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        return self._ids[place] == ids, self._sizes[place], self._elements[place]


MORE = "more like it)"
"""How the last fault ends that stands for others."""


def some(rows: np.ndarray, tell: Callable[[int], Fault]) -> Iterator[Fault]:
    """Tell the first faults of one kind, and how many more there are."""
    for number, row in enumerate(rows[:SHOWN].tolist(), 1):
        fault = tell(row)
        if number == SHOWN < len(rows):
            rest = f"{fault.what} (and {len(rows) - SHOWN} {MORE}"
            fault = dataclasses.replace(fault, what=rest)
        yield fault


class LaunchPlaces:
    """Faults of launches, with the place of each.

    Attributes:
        table, launches: the operations and the launches among them.
    """

    def __init__(self, table: OperationTable) -> None:
        self.table, self.launches = table, table.launches

    def at_launch(
        self, row: int, what: str, field: str, severity: Severity = Severity.BLOCKS_REPLAY
    ) -> Fault:
        """Return the fault of a field of a launch."""
        event = int(self.launches.events[row])
        fields = layout.LAUNCH.fields
        place = fields[field][1] if fields is not None and field in fields else 80
        if field == "module_hash":
            place = 80 + int(self.launches.records["kernel_key_len"][row])
        offset = int(self.table.offsets[event]) + place
        return Fault(
            f"operation {event}", what, severity, event, offset, f"{self.table.field_of(event)}.{field}"
        )

    def at_param(
        self, param: int, what: str, offset: int, field: str, severity: Severity = Severity.BLOCKS_REPLAY
    ) -> Fault:
        """Return the fault of an argument; `{}` in the field's path is its position."""
        row = int(self.launches.param_launch[param])
        event, slot = int(self.launches.events[row]), int(self.launches.param_slot[param])
        where = f"operation {event}, argument {slot + 1}"
        return Fault(
            where, what, severity, event, offset, f"{self.table.field_of(event)}.{field.format(slot)}"
        )

    def reloc_fault(self, number: int, what: str, place: int, field: str) -> Fault:
        """Return the fault of a field of a relocation, `place` bytes from its start."""
        launches = self.launches
        param = int(launches.reloc_param[number])
        launch = int(launches.param_launch[param])
        position = number - int(launches.reloc_start[launches.param_start[launch]])
        offset = int(launches.reloc_base[number]) + place
        return self.at_param(param, what, offset, f"relocs[{position}].{field}")
