"""What a basin has beyond open water, as named arrays: walls, depth, border, sources and probes.

Names, types, units and ranges; no Warp. The kernels are `capture.kernels.basin`.
"""

from __future__ import annotations

from replay.manifest import ParameterEntry

BASIN = "basin"
SOURCES, PROBES = 16, 16
NO_POINTER = (-1000.0, -1000.0)
SHALLOWEST = 0.05


def basin_inputs(width: int, height: int) -> tuple[ParameterEntry, ...]:
    """Return the named inputs of a basin of width x height cells, in the order in which they are bound."""
    field, sources = (height, width), (SOURCES,)
    return (
        ParameterEntry(
            "walls", "uint8", field, "input", label="Walls", minimum=0.0, maximum=1.0, default=0.0
        ),
        ParameterEntry(
            "depth", "float32", field, "input",
            label="Depth, share of the deepest", minimum=SHALLOWEST, maximum=1.0, default=1.0,
        ),
        ParameterEntry(
            "border", "int32", (1,), "input",
            label="Border: 0 reflects, 1 absorbs", minimum=0.0, maximum=1.0, default=0.0, editable=True,
        ),
        ParameterEntry(
            "source_pos", "vec2f", sources, "input",
            label="Source places", unit="cells", default=NO_POINTER,
        ),
        ParameterEntry(
            "source_freq", "float32", sources, "input",
            label="Source frequencies", unit="Hz", minimum=0.1, maximum=20.0, default=5.0,
        ),
        ParameterEntry(
            "source_amp", "float32", sources, "input",
            label="Source amplitudes", unit="m", minimum=0.0, maximum=1.0, default=0.05,
        ),
        ParameterEntry(
            "source_phase", "float32", sources, "input",
            label="Source phases", unit="rad", minimum=-6.2832, maximum=6.2832, default=0.0,
        ),
        ParameterEntry(
            "source_on", "int32", sources, "input",
            label="Sources on", minimum=0.0, maximum=1.0, default=0.0,
        ),
        ParameterEntry(
            "probe_pos", "vec2f", (PROBES,), "input",
            label="Probe places", unit="cells", default=NO_POINTER,
        ),
    )  # fmt: skip


def basin_outputs(substeps: int) -> tuple[ParameterEntry, ...]:
    """Return the named outputs of a basin beyond the height fields."""
    return (
        ParameterEntry(
            "probe_out", "float32", (substeps, PROBES), "output", label="Heights at the probes", unit="m"
        ),
    )
