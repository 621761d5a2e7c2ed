"""Replay without a window: some frames, some pushes, a picture.

The picture comes from the same renderer as the window, or, where there is no OpenGL or it is asked for,
from the shaded top view. What the window does frame by frame is `app.loop`'s; this is the short form that
runs to an end.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.outputs import check_output_path
from replay.errors import DisplayError, ParameterError, RipplescopeError, UsageError
from replay.text import counted, printable

if TYPE_CHECKING:
    from app.basin.scenes import BasinScene
    from app.scene import Scene

Click = tuple[float, float, int]
DEFAULT_SIZE = (800, 600)


def run_headless(path: Path | None, args: argparse.Namespace, basin: BasinScene | None = None) -> int:
    """Replay `args.frames` frames of a capture (recorded if none is given) and save a picture.

    Args:
        path: the capture.
        args: `device`, `frames`, `size`, `click`, `screenshot`, `ui`, `top_view`, `param`, `trust`,
            `transfer` and `record_session`, as `app.commands.view` parses them.
        basin: the scene to record and furnish, in place of a capture.

    Raises:
        RipplescopeError: bad input, or a broken chain.
    """
    if args.screenshot is not None:
        check_picture_path(args.screenshot)
        if args.top_view:
            from app.topview import check_size

            check_size(args.size or DEFAULT_SIZE)
    if basin is not None:
        from app.basin.apply import record_scene

        path = record_scene(basin, args.device)
    elif path is None:
        from app.cache import demo_capture
        from capture.settings import FrameSettings

        path = demo_capture(FrameSettings(), args.device)
    if args.screenshot is not None and not args.top_view:
        from app.window import load_libraries

        try:
            load_libraries(headless=True)
            from app.loop import HeadlessPlan, run_app

            plan = HeadlessPlan(
                frames=args.frames,
                clicks=tuple(args.click),
                screenshot=args.screenshot,
                ui=args.ui,
            )
            return run_app(
                path,
                device=args.device,
                size=args.size or DEFAULT_SIZE,
                vsync=False,
                params=dict(args.param),
                trust=args.trust,
                prefer=args.transfer,
                headless=plan,
                record=args.record_session,
                basin=basin,
            )
        except DisplayError as error:
            print(f"ripplescope: no OpenGL, so this is the top view ({error})", file=sys.stderr)
    assert path is not None
    return _run_top_view(path, args, basin)


def _run_top_view(path: Path, args: argparse.Namespace, basin: BasinScene | None) -> int:
    from app.arrays.candidates import check_something_to_show
    from app.scene import open_scene
    from app.session import LiveSession
    from app.topview import check_size, render_topview
    from app.trust import require_trust
    from replay.graph.open import open_capture

    if args.screenshot is not None:
        check_size(args.size or DEFAULT_SIZE)
    require_trust(open_capture(path), args.trust, args.device)
    with open_scene(path, args.device) as scene, ExitStack() as stack:
        if args.screenshot is not None:
            check_something_to_show(scene)
        if args.record_session is not None:
            session = LiveSession()
            session.follow(scene.player)
            session.start(args.record_session)
            stack.callback(session.stop)
        if basin is not None:
            from app.basin.apply import furnish

            furnish(scene, basin)
        set_parameters(scene, dict(args.param))
        pushes = plan_pushes(scene, args.click, args.frames)
        for frame in range(args.frames):
            cell = pushes.get(frame)
            scene.push(None if cell is None else ((-1000.0, -1000.0), cell))
            scene.player.launch()
        tell_replayed(scene, args.frames)
        if args.screenshot is None:
            return 0
        if not scene.is_water:
            save_picture(args.screenshot, _picture_array(scene, args.size or DEFAULT_SIZE))
            return 0
        assert scene.heights is not None and scene.grid is not None
        walls = scene.player.get("walls") if "walls" in scene.player.parameters else None
        picture = render_topview(
            scene.player.get(scene.heights), args.size or DEFAULT_SIZE, scene.grid.dx, walls=walls
        )
    save_picture(args.screenshot, picture)
    return 0


def _picture_array(scene: Scene, size: tuple[int, int]) -> np.ndarray:
    """Return the picture of an array of a capture without a height field, as it is now."""
    from app.arrays.flat import render_array
    from app.lab.lab import Lab

    lab = Lab(scene)
    try:
        lab.shown.refresh(0.0, force=True)
        return render_array(lab.shown, size)
    finally:
        lab.close()


def set_parameters(scene: Scene, values: Mapping[str, Sequence[float]]) -> None:
    """Give parameters values from the command line.

    Raises:
        ParameterError: unknown name, wrong type or shape, outside its range, or unstable together.
    """
    from replay.parameters import check_limits, check_value, courant

    player, manifest = scene.player, scene.capture.manifest
    for name, numbers in values.items():
        spec = player.parameters.get(name)
        value: object = np.asarray(numbers, np.float64)
        if spec is not None:
            if spec.element.scalar.kind in "iu" and all(number.is_integer() for number in numbers):
                value = np.asarray([int(number) for number in numbers])
            if len(numbers) == math.prod(spec.full_shape):
                value = np.reshape(np.asarray(value), spec.full_shape)
        check_value(player.parameters, name, value)  # type: ignore[arg-type]
        check_limits(player.parameters[name], numbers)
        player.set(name, value)  # type: ignore[arg-type]
    if manifest is not None:
        rule = manifest.stability
        now = {name: float(player.get(name).reshape(-1)[0]) for name in (rule.speed, rule.damping, rule.dt)}
        share = courant(rule, now)
        if share > rule.margin:
            listed = ", ".join(f"{name}={value:g}" for name, value in now.items())
            raise ParameterError(
                f"{listed} is {share:.3f} of the stability limit, of which {rule.margin:g} may be used",
                remedy=f"lower {rule.speed}, {rule.damping} or {rule.dt}",
            )


def plan_pushes(scene: Scene, clicks: Sequence[Click], frames: int) -> dict[int, tuple[float, float]]:
    """Return the cell to push by frame. A frame has one pointer: a second click in it goes to the next.

    Raises:
        UsageError: a click lies outside the grid or after the last frame, or the capture has no pointer.
    """
    pushes: dict[int, tuple[float, float]] = {}
    for x, y, frame in clicks:
        if scene.grid is None or scene.pointer is None:
            raise UsageError(f"--click: {scene.name} names no pointer and no height field to push")
        if not (0 <= x <= scene.grid.width - 1 and 0 <= y <= scene.grid.height - 1):
            raise UsageError(
                f"--click {x:g},{y:g} is outside the grid",
                remedy=f"give 0..{scene.grid.width - 1},0..{scene.grid.height - 1}",
            )
        while frame in pushes:
            frame += 1
        if frame >= frames:
            raise UsageError(
                f"--click {x:g},{y:g} in frame {frame}, but the last frame is {frames - 1}",
                remedy="give more --frames",
            )
        pushes[frame] = (x, y)
    return pushes


def check_picture_path(path: Path) -> None:
    """Refuse a place where a picture cannot be saved, before any work is done.

    Raises:
        UsageError: not a .png, or as `check_output_path` says.
    """
    if path.suffix.lower() != ".png":
        raise UsageError(f"--screenshot {path} is not a .png", remedy="name a file that ends in .png")
    check_output_path("--screenshot", path)


def save_picture(path: Path, pixels: np.ndarray) -> None:
    """Save (height, width, 3) uint8 pixels as PNG and say so.

    Raises:
        RipplescopeError: the file cannot be written.
    """
    from PIL import Image

    try:
        Image.fromarray(pixels).save(path)
    except OSError as error:
        raise RipplescopeError(f"{path} cannot be written: {error.strerror or error}") from None
    tell_saved(path, (pixels.shape[1], pixels.shape[0]))


def tell_replayed(scene: Scene, frames: int) -> None:
    """Print how many frames of what were replayed, and where; on stderr, what is not finite by now."""
    assert scene.player is not None
    print(f"replayed  {counted(frames, 'frame')} of {printable(scene.name)} on {scene.player.device}")
    if names := scene.not_finite_names():
        print(
            f"ripplescope: NaN or infinite values in {', '.join(map(printable, names))}; "
            "the window finds the event that made the first, 'ripplescope state' shows what any event left",
            file=sys.stderr,
        )


def tell_saved(path: Path, size: tuple[int, int]) -> None:
    """Print which picture was written, with its width and height in pixels."""
    print(f"picture   {printable(str(path))} ({size[0]}x{size[1]})")
