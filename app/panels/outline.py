"""The operations of a capture as rows: repeats folded, opened where the user asks. Values only.

For the event list, which draws them.
"""

from __future__ import annotations

from dataclasses import dataclass

from replay.graph.fold import Folded, fold_capture
from replay.graph.model import Capture


@dataclass(frozen=True)
class Row:
    """A row of the event list.

    Attributes:
        event: event number of the (first) operation.
        last: event number of the last operation that the row stands for.
        depth: indentation.
        label, shape: texts.
        count: repeats; above 1 the row can be opened.
        key: names the row among all rows.
    """

    event: int
    last: int
    depth: int
    label: str
    shape: str
    count: int
    key: tuple[int, ...]


def split_label(label: str) -> tuple[str, str]:
    """Return name and shape of a folded label: `solve [128, 128]` is `solve`, `128×128`."""
    name, bracket, shape = label.partition(" [")
    return name, shape.rstrip("]").replace(", ", "×") if bracket else ""


def rows_of(capture: Capture, opened: set[tuple[int, ...]]) -> list[Row]:
    """Return the rows of the event list.

    Args:
        capture: the capture.
        opened: keys of rows that are opened.
    """
    rows: list[Row] = []
    _add_rows(rows, fold_capture(capture), opened, 0, ())
    return rows


def _add_rows(
    rows: list[Row], runs: tuple[Folded, ...], opened: set[tuple[int, ...]], depth: int, path: tuple[int, ...]
) -> None:
    for index, run in enumerate(runs):
        key = (*path, index)
        last = run.event + _span(run) * run.count - 1
        if run.items:
            rows.append(Row(run.event, last, depth, "repeat", "", run.count, key))
            if key in opened:
                _add_rows(rows, run.items, opened, depth + 1, key)
            continue
        name, shape = split_label(run.label)
        rows.append(Row(run.event, last, depth, name, shape, run.count, key))
        if run.count > 1 and key in opened:
            step = _span(run)
            rows += [
                Row(event, event + step - 1, depth + 1, name, shape, 1, (*key, event))
                for event in range(run.event, last + 1, step)
            ]
        for number, (branch, inside) in enumerate(run.branches):
            rows.append(Row(run.event, last, depth + 1, branch, "", 1, (*key, -1 - number)))
            _add_rows(rows, inside, opened, depth + 2, (*key, -1 - number))


def _span(run: Folded) -> int:
    """Return how many event numbers one repeat of a run takes, what is inside conditionals included."""
    inside = sum(_span(item) * item.count for item in run.items)
    inside += sum(_span(item) * item.count for _, items in run.branches for item in items)
    return inside if run.items else inside + 1
