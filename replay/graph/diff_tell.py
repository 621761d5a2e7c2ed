"""The difference of two captures in words: as lines for a person, as plain values for JSON.

Equal changes of operations that follow each other are told once, with the range of their events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from replay.graph.changes import ChangeKind, Difference, NamedChange, OperationChange, ValueChange
from replay.graph.model import Capture
from replay.text import printable

SCHEMA_VERSION = 1
_MOST_ROWS = 200
_SIGNS = {ChangeKind.ADDED: "+", ChangeKind.REMOVED: "-", ChangeKind.CHANGED: "~"}


def tell_difference(difference: Difference, old: Capture, new: Capture) -> str:
    """Return the difference as lines that end with a line feed."""
    lines = [f"{old.path} -> {new.path}"]
    if difference.equal:
        count = len(new.operations)
        lines.append(f"Equal: {_count(count, 'operation')}, {_count(len(new.regions), 'region')}.")
        return _text(lines)
    lines += _values("Capture", difference.header)
    lines += _operations(difference)
    lines += _named("Regions and parameters", difference.regions)
    lines += _named("Modules and kernels", difference.modules)
    lines += _values("Manifest", difference.manifest)
    return _text([*lines, "", summary(difference)])


def summary(difference: Difference) -> str:
    """Return how much differs, in one line."""
    if difference.equal:
        return "equal"
    counts = dict.fromkeys(ChangeKind, 0)
    for change in difference.operations:
        counts[change.kind] += 1
    told = [
        f"{_count(number, 'operation')} {kind.value}" for kind, number in counts.items() if number
    ]  # fmt: skip
    for what, changes in (
        ("region", difference.regions), ("module or kernel", difference.modules),
        ("manifest value", difference.manifest), ("header value", difference.header),
    ):  # fmt: skip
        if changes:
            told.append(f"{_count(len(changes), what)} different")
    return ", ".join(told)


def difference_json(difference: Difference, old: Capture, new: Capture) -> dict[str, object]:
    """Return the difference as plain values for JSON; events of pairs that are equal are left out."""
    return {
        "schema": "ripplescope-diff",
        "schema_version": SCHEMA_VERSION,
        "old": str(old.path),
        "new": str(new.path),
        "equal": difference.equal,
        "header": [vars(value) for value in difference.header],
        "operations": [
            {
                "change": change.kind.value,
                "old_event": change.old,
                "new_event": change.new,
                "label": change.label,
                "values": [vars(value) for value in change.values],
            }
            for change in difference.operations
        ],
        "regions": [_plain(change, ids=True) for change in difference.regions],
        "modules": [_plain(change, ids=False) for change in difference.modules],
        "manifest": [vars(value) for value in difference.manifest],
    }


def _plain(change: NamedChange, *, ids: bool) -> dict[str, object]:
    told: dict[str, object] = {
        "change": change.kind.value,
        "name": change.name,
        "values": [vars(value) for value in change.values],
    }
    return told | ({"old_region": change.old, "new_region": change.new} if ids else {})


def _operations(difference: Difference) -> Iterator[str]:
    groups = list(_grouped(difference.operations))
    if groups:
        yield ""
        yield "Operations"
    for group in groups[:_MOST_ROWS]:
        change = group[0]
        yield f"  {_SIGNS[change.kind]} {_events(group)}  {change.label}"
        yield from (f"      {_change(value)}" for value in change.values)
    if len(groups) > _MOST_ROWS:
        yield f"  ... {len(groups) - _MOST_ROWS} more; --json lists all"


def _grouped(changes: Iterable[OperationChange]) -> Iterator[list[OperationChange]]:
    group: list[OperationChange] = []
    for change in changes:
        if group and not _continues(group[-1], change):
            yield group
            group = []
        group.append(change)
    if group:
        yield group


def _continues(before: OperationChange, change: OperationChange) -> bool:
    same = (before.kind, before.label, before.values) == (change.kind, change.label, change.values)
    return same and all(
        (one is None and other is None) or (one is not None and other == one + 1)
        for one, other in ((before.old, change.old), (before.new, change.new))
    )


def _events(group: list[OperationChange]) -> str:
    first, last = group[0], group[-1]
    old, new = _range(first.old, last.old), _range(first.new, last.new)
    word = "event" if len(group) == 1 else "events"
    if first.kind is ChangeKind.CHANGED:
        return f"{word} {new}" + (f" (before: {old})" if old != new else "")
    return f"{word} {new or old}"


def _range(first: int | None, last: int | None) -> str:
    if first is None:
        return ""
    return str(first) if first == last else f"{first} to {last}"


def _named(title: str, changes: tuple[NamedChange, ...]) -> Iterator[str]:
    if changes:
        yield ""
        yield title
    for change in changes[:_MOST_ROWS]:
        yield f"  {_SIGNS[change.kind]} {change.name}"
        yield from (f"      {_change(value)}" for value in change.values)
    if len(changes) > _MOST_ROWS:
        yield f"  ... {len(changes) - _MOST_ROWS} more; --json lists all"


def _values(title: str, values: tuple[ValueChange, ...]) -> Iterator[str]:
    if values:
        yield ""
        yield title
        yield from (f"  ~ {_change(value)}" for value in values)


def _change(value: ValueChange) -> str:
    return f"{value.what}: {value.old} -> {value.new}"


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} modules or kernels" if noun == "module or kernel" else f"{number} {noun}s"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{printable(line).rstrip()}\n" for line in lines)
