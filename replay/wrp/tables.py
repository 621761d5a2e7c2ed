"""The operations of a file as parallel arrays: what `stream` and `launches` fill and `replay.graph` reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from replay.wrp import layout


@dataclass(frozen=True)
class Frame:
    """A stream of operations: the outermost one, or a branch of the IF or WHILE `parent`."""

    parent: int  # event, -1 for the outermost stream
    depth: int
    branch: str  # "then", "else", "body"; empty for the outermost stream


@dataclass(frozen=True)
class LaunchTable:
    """All kernel launches, in event order, as parallel arrays.

    Attributes:
        events: event of each launch.
        records: fixed parts (`layout.LAUNCH`).
        names: distinct (kernel key, module hash) as bytes; `name_of` indexes it by launch.
        param_start: first row in `params` of each launch, and one more at the end. Adjoint bindings of a
            backward launch follow its forward ones.
        params: all argument records (`layout.PARAM`); `param_launch` is the launch of each.
        param_base: file offset of each argument record.
        reloc_start: first row in `relocs` of each argument, and one more at the end.
        relocs, reloc_base: all relocations (`layout.RELOC`) and their file offsets; `reloc_param` is the
            argument of each.
        value_base: file offset of the value data of each launch.
    """

    events: np.ndarray
    records: np.ndarray
    names: tuple[tuple[bytes, bytes], ...]
    name_of: np.ndarray
    param_start: np.ndarray
    params: np.ndarray
    param_launch: np.ndarray
    param_base: np.ndarray
    reloc_start: np.ndarray
    relocs: np.ndarray
    reloc_base: np.ndarray
    reloc_param: np.ndarray
    value_base: np.ndarray

    @cached_property
    def blob_base(self) -> np.ndarray:
        """File offset of the value blob of each argument."""
        base: np.ndarray = self.value_base[self.param_launch] + self.params["value_offset"]
        return base

    @cached_property
    def param_slot(self) -> np.ndarray:
        """Position of each argument within its launch, adjoint bindings after the forward ones."""
        slot: np.ndarray = np.arange(len(self.params)) - self.param_start[self.param_launch]
        return slot


@dataclass
class OperationTable:
    """All operations, nested ones included, as parallel arrays indexed by event.

    Attributes:
        kinds, offsets, sizes: type, file offset and size of each record.
        frames, frame_of: the streams, and which one each operation lies in.
        count_offset: file offset of the operation count.
        stream_offset, stream_end: the bytes of the outermost stream.
        trailing: (offset, bytes, frame) where a stream holds bytes behind its last operation.
        launches: the kernel launches, gathered once the rest has been checked.
    """

    kinds: np.ndarray
    offsets: np.ndarray
    sizes: np.ndarray
    frames: Sequence[Frame]
    frame_of: np.ndarray
    count_offset: int
    stream_offset: int
    stream_end: int
    trailing: tuple[tuple[int, int, int], ...]
    launches: LaunchTable = field(init=False, repr=False)

    def __len__(self) -> int:
        return len(self.kinds)

    @cached_property
    def launch_row(self) -> np.ndarray:
        """Row in `launches` of each operation, -1 for those that are no launch."""
        rows = np.full(len(self), -1, np.int64)
        rows[self.launches.events] = np.arange(len(self.launches.events))
        return rows

    @cached_property
    def index(self) -> np.ndarray:
        """Position of each operation within its own stream."""
        order = np.argsort(self.frame_of, kind="stable")
        counts = np.bincount(self.frame_of, minlength=len(self.frames))
        starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
        index = np.empty(len(self), np.int64)
        index[order] = np.arange(len(self)) - np.repeat(starts, counts)
        return index

    @cached_property
    def children(self) -> dict[int, tuple[int, ...]]:
        """Events directly inside each IF or WHILE."""
        inside: dict[int, list[int]] = {}
        if len(self.frames) > 1:
            for event in np.flatnonzero(self.frame_of):
                inside.setdefault(self.frames[self.frame_of[event]].parent, []).append(int(event))
        return {parent: tuple(events) for parent, events in inside.items()}

    def field_of(self, event: int) -> str:
        """Return the field path of an operation, such as `operations[3].then[0]`."""
        steps: list[str] = []
        while event >= 0:
            frame = self.frames[self.frame_of[event]]
            steps.append(f"{frame.branch or 'operations'}[{int(self.index[event])}]")
            event = frame.parent
        return ".".join(reversed(steps))

    def records(self, data: bytes, kind: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the events and the fixed parts of all operations of one type."""
        events = np.flatnonzero(self.kinds == kind)
        return events, layout.gather(data, layout.RECORDS[kind], self.offsets[events])
