"""What can differ between two captures, as values: `diff` finds them, `diff_tell` and panels show them."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class ChangeKind(enum.Enum):
    """What happened to something from the first capture to the second."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


@dataclass(frozen=True)
class ValueChange:
    """One value: what it is, such as `amount` or `dim`, and what it was and is, as text."""

    what: str
    old: str
    new: str


@dataclass(frozen=True)
class OperationChange:
    """An operation: its events (None where it is not there), its name, and which of its values changed."""

    kind: ChangeKind
    old: int | None
    new: int | None
    label: str
    values: tuple[ValueChange, ...] = ()


@dataclass(frozen=True)
class NamedChange:
    """A region, module, kernel or named value. `name` says which; `old` and `new` are ids of regions."""

    kind: ChangeKind
    name: str
    values: tuple[ValueChange, ...] = ()
    old: int | None = None
    new: int | None = None


@dataclass(frozen=True)
class Difference:
    """All differences of two captures.

    Attributes:
        pairs: events of operations that belong together, equal or changed, ascending.
        header: format, producer, device and architecture.
        operations: in the order of the second capture, removed ones where they were.
        regions: memory regions and the names for them; modules: modules and kernels; manifest: its values.
    """

    pairs: tuple[tuple[int, int], ...]
    header: tuple[ValueChange, ...]
    operations: tuple[OperationChange, ...]
    regions: tuple[NamedChange, ...]
    modules: tuple[NamedChange, ...]
    manifest: tuple[ValueChange, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not (self.header or self.operations or self.regions or self.modules or self.manifest)
