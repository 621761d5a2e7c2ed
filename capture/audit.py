"""The capture audit: what a captured Python block changed on the host only, and so will not happen on replay.

A graph holds launches and copies; the Python around them ran once, when it was recorded. The audit
compares host state before and after the block and watches Warp meanwhile. It does not look at what
kernels compute. Usage, around a capture or any block that will become one:

    with audit(watch={"self": simulation}) as report:
        with wp.ScopedCapture() as capture:
            simulation.step()
    print(report.text())
"""

from __future__ import annotations

import contextlib
import enum
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from capture.hooks import Event, Trace, find_assignment, tracing
from capture.hoststate import Change, Reference, Snapshot, Swap, Value, compare, take_snapshot


class Kind(enum.Enum):
    """What was found."""

    COUNTER = "counter"
    SWAP = "swapped references"
    REPLACED = "replaced reference"
    VALUE = "host value"
    HOST_DATA = "host data"
    ALLOCATED = "allocated inside"
    COPIED = "copied inside"
    READ = "read inside"
    ONE_NAME = "kernels of one name"


_WHY = {
    Kind.COUNTER: "a number that Python changed keeps the value it had when the graph was recorded",
    Kind.SWAP: "the graph keeps the arrays it was recorded with; each replay starts from the same ones again",
    Kind.REPLACED: "the graph keeps using the object it was recorded with",
    Kind.VALUE: "Python does not run on replay, so this changes once and never again",
    Kind.HOST_DATA: "NumPy contents are changed by Python, which does not run on replay",
    Kind.ALLOCATED: "memory made inside belongs to the graph; later code may find it gone or overwritten",
    Kind.COPIED: "host data is taken when the graph is recorded, or later from memory that may be gone",
    Kind.READ: "results are read when the graph is recorded, before or without the launches that make them",
    Kind.ONE_NAME: "a saved graph keeps one kernel of a name and module, and replays it for all of them",
}
_REMEDIES = {
    Kind.COUNTER: ("keep it in a one-element device array that a kernel in the graph advances",),
    Kind.SWAP: (
        "copy the result back into the starting array at the end, inside the capture",
        "record {order} graphs, one for each arrangement, and launch them in turn",
    ),
    Kind.REPLACED: ("write into the existing object in place",),
    Kind.VALUE: ("do it outside the capture, or keep the state in a device array that a kernel writes",),
    Kind.HOST_DATA: ("keep it in a device array and change it by a kernel",),
    Kind.ALLOCATED: ("make the array before the capture and keep it as long as the graph",),
    Kind.COPIED: ("make a device array before the capture, and assign to it before each launch",),
    Kind.READ: ("read after the launch, outside the capture",),
    Kind.ONE_NAME: ("give each a name of its own: wp.Kernel(function, key=...)",),
}
_CALLS = {
    "allocated": (Kind.ALLOCATED, "made inside the block"),
    "copied": (Kind.COPIED, "filled from the host inside the block"),
    "read": (Kind.READ, "copied to the host inside the block"),
}


@dataclass(frozen=True)
class Finding:
    """One thing that replay will not do.

    Attributes:
        object: name of the watched object, `warp` for a call.
        attribute: full path such as `self.sim_tick`, or the array in words.
        kind: what it is.
        before, after: in words.
        remedies: what to do, one or more ways.
        source: `file:line`, empty if not found.
    """

    object: str
    attribute: str
    kind: Kind
    before: str
    after: str
    remedies: tuple[str, ...]
    source: str = ""

    @property
    def why(self) -> str:
        """Why it matters for a replay."""
        return _WHY[self.kind]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of the finding."""
        return {
            "object": self.object,
            "attribute": self.attribute,
            "kind": self.kind.value,
            "before": self.before,
            "after": self.after,
            "why": self.why,
            "remedies": list(self.remedies),
            "source": self.source,
        }


@dataclass
class AuditReport:
    """Findings of an audit; filled when the block has ended, also by an exception.

    Attributes:
        findings: in the order counters and values, swaps, calls, kernels.
        complete: False if the watched objects hold more than an audit follows.
    """

    findings: list[Finding] = field(default_factory=list)
    complete: bool = True

    def of(self, kind: Kind) -> list[Finding]:
        """Return the findings of a kind."""
        return [finding for finding in self.findings if finding.kind is kind]

    def text(self) -> str:
        """Return the report for people, several lines a finding."""
        lines = []
        for finding in self.findings:
            place = f"  [{finding.source}]" if finding.source else ""
            lines.append(f"{finding.attribute}: {finding.kind.value}{place}")
            if finding.before:
                lines.append(f"    before: {finding.before}")
            lines.append(f"    after:  {finding.after}")
            lines.append(f"    why:    {finding.why}")
            lines.extend(f"    remedy: {remedy}" for remedy in finding.remedies)
        if not self.findings:
            lines.append("no findings: nothing that was watched changed on the host only")
        if not self.complete:
            lines.append(
                "note: the watched objects hold more than an audit follows; the rest was not compared"
            )
        return "\n".join(lines)

    def to_json(self) -> dict[str, object]:
        """Return the JSON object of the report."""
        return {"complete": self.complete, "findings": [finding.to_json() for finding in self.findings]}


@contextlib.contextmanager
def audit(watch: Mapping[str, Any] | None = None) -> Iterator[AuditReport]:
    """Audit a block; the report is complete once the block has ended.

    Args:
        watch: objects by the name to report them by. None watches the local variables of the caller, so
            that two local arrays that change places are found too.
    """
    frame = _block_frame()
    report, trace = AuditReport(), Trace()
    before = take_snapshot(_roots(watch, frame))
    try:
        with tracing(trace, frame):
            yield report
    finally:
        after = take_snapshot(_roots(watch, frame))
        _fill(report, before, after, trace)


def _block_frame() -> FrameType:
    """Return the frame of the `with` block, past the frames of contextlib around `audit`."""
    frame = sys._getframe(2)
    while frame.f_code.co_filename == contextlib.__file__ and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _roots(watch: Mapping[str, Any] | None, frame: FrameType) -> dict[str, Any]:
    if watch is not None:
        return dict(watch)
    return {
        name: value
        for name, value in frame.f_locals.items()
        if not name.startswith("__") and not isinstance(value, AuditReport)
    }


def _fill(report: AuditReport, before: Snapshot, after: Snapshot, trace: Trace) -> None:
    changes, swaps = compare(before, after)
    report.complete = before.complete and after.complete
    report.findings = [
        *(_change_finding(change, trace) for change in changes),
        *(_swap_finding(swap, trace) for swap in swaps),
        *(_event_finding(event) for event in dict.fromkeys(trace.events)),
        *(_name_finding(key, names) for (key, _), names in trace.launched.items() if len(names) > 1),
    ]


def _change_finding(change: Change, trace: Trace) -> Finding:
    old, new = change.before, change.after
    if not isinstance(old, Value) or not isinstance(new, Value):
        kind = Kind.REPLACED if isinstance(old, Reference) or isinstance(new, Reference) else Kind.VALUE
    elif old.is_data or new.is_data:
        kind = Kind.HOST_DATA
    else:
        kind = Kind.COUNTER if old.is_number and new.is_number else Kind.VALUE
    return Finding(
        object=_root(change.path),
        attribute=change.path,
        kind=kind,
        before=old.text if old else "not there",
        after=new.text if new else "not there",
        remedies=_REMEDIES[kind],
        source=find_assignment(trace, change.path),
    )


def _swap_finding(swap: Swap, trace: Trace) -> Finding:
    return Finding(
        object=_root(swap.paths[0]),
        attribute=", ".join(swap.paths),
        kind=Kind.SWAP,
        before="; ".join(swap.before),
        after="; ".join(swap.after),
        remedies=tuple(remedy.format(order=swap.order) for remedy in _REMEDIES[Kind.SWAP]),
        source=find_assignment(trace, swap.paths[0]),
    )


def _event_finding(event: Event) -> Finding:
    kind, after = _CALLS[event.kind]
    return Finding("warp", event.what, kind, "", after, _REMEDIES[kind], event.source)


def _name_finding(key: str, names: Mapping[str, str]) -> Finding:
    after = f"{len(names)} different ones were launched: " + ", ".join(
        f"{name}, first at {place}" if place else name for name, place in names.items()
    )
    kind = Kind.ONE_NAME
    return Finding("warp", f"kernel {key}", kind, "", after, _REMEDIES[kind], list(names.values())[1])


def _root(path: str) -> str:
    return re.split(r"[.\[]", path.removeprefix("len("), maxsplit=1)[0].rstrip(")")
