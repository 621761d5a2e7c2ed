"""The kernel of the classic audit case; no solver of the wave tank."""

from __future__ import annotations

import warp as wp


@wp.kernel
def count(before: wp.array(dtype=float), after: wp.array(dtype=float)):
    """Write to `after` one more than `before` holds."""
    i = wp.tid()
    after[i] = before[i] + 1.0


@wp.kernel
def advance(clock: wp.array(dtype=int)):
    """Add one to a counter that lives on the device."""
    clock[0] = clock[0] + 1
