"""Finding things in a capture by a part of their name: kernels, operations, parameters, regions, events."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from app.lab.lab import Lab

MOST_FOUND = 40


class Sort(enum.Enum):
    """What a find is."""

    OPERATION = "operation"
    REGION = "region"
    EVENT = "event"


@dataclass(frozen=True)
class Find:
    """Something that was found.

    Attributes:
        sort: what it is.
        name: its name.
        about: what else is told, such as how many events.
        number: the region's id, or the (first) event.
    """

    sort: Sort
    name: str
    about: str
    number: int


def find(lab: Lab, text: str) -> list[Find]:
    """Return what a text may mean, the best first: names that begin with it before names that hold it.

    A whole number also means the event, and the region, of that number.
    """
    wanted = text.strip().casefold()
    if not wanted:
        return []
    found: list[tuple[int, Find]] = []
    if wanted.isdecimal():
        number = int(wanted)
        if number < len(lab.capture.operations):
            label = lab.capture.operations[number].label
            found.append((0, Find(Sort.EVENT, f"event {number}", label, number)))
        if number in lab.capture.regions:
            found.append((1, Find(Sort.REGION, f"region {number}", lab.described(number), number)))
    names, of = lab.labels
    counts = np.bincount(of, minlength=len(names)) if len(names) else []
    for index, name in enumerate(names):
        place = name.casefold().find(wanted)
        if place >= 0:
            first = int(np.flatnonzero(of == index)[0])
            about = f"{counts[index]} events" if counts[index] > 1 else f"event {first}"
            found.append((2 if place == 0 else 4, Find(Sort.OPERATION, name, about, first)))
    for region in lab.capture.regions.values():
        for name in region.names:
            place = name.casefold().find(wanted)
            if place >= 0:
                about = lab.described(region.id)
                found.append((3 if place == 0 else 5, Find(Sort.REGION, name, about, region.id)))
    found.sort(key=lambda item: item[0])
    return [item for _, item in found[:MOST_FOUND]]


def choose(lab: Lab, item: Find) -> None:
    """Select what was found: all launches of a kernel, a region, an event."""
    if item.sort is Sort.REGION:
        lab.selection.select_region(item.number)
    elif item.sort is Sort.EVENT:
        lab.selection.select_event(item.number)
    else:
        lab.selection.select_kernel(item.name, lab.events_named(item.name))
