"""The kernel of the classic audit case; no solver of the wave tank."""

from __future__ import annotations

import warp as wp


@wp.kernel
def count(before: wp.array(dtype=float), after: wp.array(dtype=float)):
    """Write to `after` one more than `before` holds."""
    i = wp.tid()
    after[i] = before[i] + 1.0
