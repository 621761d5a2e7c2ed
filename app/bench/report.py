"""A run of benchmarks as a table for people and as JSON for programs, with the machine it ran on."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from app.bench.parts import Measurement
from replay.errors import UsageError

SCHEMA, SCHEMA_VERSION = "ripplescope-bench", 1
_PACKAGES = ("ripplescope", "warp-lang", "numpy", "cuda-bindings")


@dataclasses.dataclass(frozen=True)
class Machine:
    """Where and when a run was made; every number is worth only as much as this."""

    date: str
    system: str
    processor: str
    cores: int
    device: str
    python: str
    versions: dict[str, str]


def this_machine(device: str) -> Machine:
    """Describe this machine.

    Args:
        device: the name of the device that replays.
    """
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return Machine(
        date=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        processor=_processor(),
        cores=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        device=device,
        python=platform.python_version(),
        versions=versions,
    )


def table(machine: Machine, measured: Sequence[Measurement]) -> str:
    """Return the run as text, one line a measurement."""
    head = ("part", "case", "what", "time", "rate", "", "against the reference")
    rows = [head]
    for one in measured:
        is_reference = one.name == one.reference
        against = "reference" if is_reference else f"{one.ratio:.3g} x {one.reference}"
        if one.share is not None:
            against += f"; {one.share:.0%} of the limit"
        if one.goal is not None:
            against += f"; goal {duration(one.goal)}: {'missed' if one.missed else 'reached'}"
        rows.append(
            (one.part, one.case, one.name, duration(one.seconds), f"{one.rate:,.0f}", one.unit, against)
        )
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    right = {3, 4}
    lines = [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    lines.insert(1, "-" * max(map(len, lines)))
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    foot = (
        f"\n{machine.date}, {machine.device}, {machine.processor} ({machine.cores} cores), {machine.system}\n"
        f"Python {machine.python}, {versions}; medians"
    )
    return "\n".join(lines) + "\n" + foot


def document(machine: Machine, measured: Sequence[Measurement], settings: dict[str, Any]) -> str:
    """Return the run as JSON."""
    return json.dumps(
        {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "machine": dataclasses.asdict(machine),
            "settings": settings,
            "measurements": [
                {**dataclasses.asdict(one), "missed": one.missed, "share": one.share} for one in measured
            ],
        },
        indent=2,
    )


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all.

    Raises:
        UsageError: it cannot be written there.
    """
    draft = path.with_name(f".ripplescope-bench-{os.getpid()}")  # not of its name, which may be long
    try:
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UsageError(
            f"cannot write {path}: {error.strerror or error}", remedy="give another --json path"
        ) from error


def duration(seconds: float) -> str:
    """Return a time with three digits: `27.1 us`, `1.2 ms`, `3 s`."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if seconds * factor >= 1.0 or unit == "us":
            break
    value = seconds * factor
    return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model"):
            return " ".join(value.split())
    return platform.processor() or platform.machine()
