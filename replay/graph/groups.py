"""Equal rows among several columns, in linear time where values are dense, as ids and positions are."""

from __future__ import annotations

import numpy as np


def group(*columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Group equal rows.

    Args:
        columns: integer arrays of equal length.

    Returns:
        The first row of each distinct combination, in order of appearance within the columns' sort order,
        and for each row the number of its combination.
    """
    count = len(columns[0])
    if not count:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    code, size = np.zeros(count, np.int64), 1
    for column in columns:
        values = column.astype(np.int64)
        low = int(values.min())
        span = int(values.max()) - low + 1
        if size * span >= 1 << 62:
            distinct, code = np.unique(code, return_inverse=True)
            code, size = code.reshape(-1), len(distinct)
        if size * span >= 1 << 62:
            distinct, values = np.unique(values, return_inverse=True)
            values, low, span = values.reshape(-1), 0, len(distinct)
        code = code * span + (values - low)
        size *= span
    if size > 4 * count + 1024:
        _, first, numbers = np.unique(code, return_index=True, return_inverse=True)
        return first, numbers.reshape(-1)
    seen = np.full(size, -1, np.int64)
    seen[code[::-1]] = np.arange(count - 1, -1, -1)
    present = np.flatnonzero(seen >= 0)
    order = np.zeros(size, np.int64)
    order[present] = np.arange(len(present))
    return seen[present], order[code]
