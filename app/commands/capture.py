"""`ripplescope capture`: record one frame of the wave tank into a `.wrp` with its modules and manifest."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from app.numbers import whole


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("--width", type=whole, default=128, metavar="CELLS", help="3 to 8192 (128)")
    parser.add_argument("--height", type=whole, default=128, metavar="CELLS", help="3 to 8192 (128)")
    parser.add_argument("--substeps", type=whole, default=16, metavar="N", help="steps a frame, from 1 (16)")
    parser.add_argument(
        "--output", type=_file, required=True, metavar="PATH", help="writes PATH.wrp and beside it"
    )
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (auto)")
    parser.add_argument(
        "--solver", default="tuned", help="the kernels: tuned, reference, fused or basin (tuned)"
    )
    parser.add_argument(
        "--source-fallback",
        action="store_true",
        help="package CUDA source too, so that a GPU of another architecture can compile it",
    )


def run(args: argparse.Namespace) -> int:
    """Record and save; print what was written."""
    from capture.settings import FrameSettings

    settings = FrameSettings(
        width=args.width, height=args.height, substeps=args.substeps, solver=args.solver
    )  # before Warp is imported: bad numbers are answered at once
    from app.trust import remember_recorded
    from capture.frame import record_frame
    from capture.kernels import solver
    from replay.manifest import Manifest, manifest_path
    from replay.text import printable

    path = record_frame(settings, args.output, args.device, source_fallback=args.source_fallback)
    remember_recorded(path)
    cuda = Manifest.read(manifest_path(path)).device_kind == "cuda"
    launches = solver(settings.solver).launches(settings.width, settings.height, settings.substeps, cuda=cuda)
    grid = f"{settings.width} x {settings.height} cells"
    print(f"{printable(str(path.resolve()))}: {grid}, {settings.substeps} substeps, {launches} launches")
    if settings.frame_rate != settings.asked_frame_rate:
        asked, taken = settings.asked_frame_rate, settings.frame_rate
        print(
            f"note: a frame of 1/{asked:g} s would be unstable with {settings.substeps} substeps, "
            f"so this one is 1/{taken:g} s"
        )
    return 0


def _file(text: str) -> Path:
    if text.endswith(("/", os.sep)):  # a Path would forget it
        raise argparse.ArgumentTypeError(f"{text!r:.200} names a folder, not a file")
    return Path(text)
