"""How an operation uses what it points to, by the best knowledge there is, and that in words.

What the manifest or packaged source says is known. The rest is assumed to be read and written, until a replay
was watched event by event; then it is observed. `observed_operation` says of one operation what `flow.Flow`
says of all, so that whoever shows arguments and whoever shows edges or usage agree.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from replay.graph.model import Access, Operation, Provenance
from replay.graph.uses import Observed

_WORDS = {
    Access.NONE: "not used",
    Access.READ: "read",
    Access.WRITE: "written",
    Access.READ_WRITE: "read and written",
}


def observed_operation(operation: Operation, observed: Observed | None) -> Operation:
    """Return an operation with what was seen in the place of what is only assumed.

    Args:
        operation: as `Capture.operations` gives it.
        observed: regions that events were seen to change, as `observe_access` returns them; None if nothing
            was watched. A region that did not change counts as read; one that did, as read and written.
    """
    changed = None if observed is None else observed.get(operation.event)
    if changed is None:
        return operation
    arguments = []
    for argument in operation.arguments:
        views = tuple(
            dataclasses.replace(view, access=access, access_provenance=how)
            for view in argument.arrays
            for access, how in [seen(view.region, view.access, view.access_provenance, changed)]
        )
        access, how = argument.access, argument.access_provenance
        if how is Provenance.ASSUMED and views:
            access, how = Access.NONE, Provenance.KNOWN
            for view in views:
                access |= view.access
                if view.access_provenance is not Provenance.KNOWN:
                    how = view.access_provenance
        arguments.append(dataclasses.replace(argument, arrays=views, access=access, access_provenance=how))
    uses = tuple(
        dataclasses.replace(use, access=access, provenance=how)
        for use in operation.uses
        for access, how in [seen(use.region, use.access, use.provenance, changed)]
    )
    return dataclasses.replace(operation, arguments=tuple(arguments), uses=uses)


def seen(
    region: int | None, access: Access, provenance: Provenance, changed: Collection[int]
) -> tuple[Access, Provenance]:
    """Return access and provenance after an event was seen to change some regions."""
    if provenance is not Provenance.ASSUMED or region is None:
        return access, provenance
    return (Access.READ_WRITE if region in changed else Access.READ), Provenance.OBSERVED


def access_words(access: Access, provenance: Provenance) -> str:
    """Return how something is used and how that is known, such as `read, known` or `written, observed`."""
    return f"{_WORDS[access]}, {provenance.value}"
