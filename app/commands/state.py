"""`ripplescope state`: what a region holds right after an event, or where values stop being finite.

`replay.events` does the work.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from app.numbers import whole
from app.outputs import check_output_path
from replay.errors import RipplescopeError, UsageError
from replay.text import printable

if TYPE_CHECKING:
    import numpy as np

    from replay.events.replayer import EventReplayer, EventState
    from replay.graph.model import Capture, Region
    from replay.players.base import Player


_MOST_LOOPS = 20  # named in a message


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.view import TRUST_HELP, assignment

    parser.add_argument("path", metavar="PATH", type=Path, help="a .wrp file, with or without the extension")
    wanted = parser.add_mutually_exclusive_group(required=True)
    wanted.add_argument(
        "--after",
        metavar="N",
        type=whole,
        help="event number, as `inspect` lists them; -1: the start",
    )
    wanted.add_argument(
        "--first-nonfinite",
        action="store_true",
        help="find the first event after which a value is NaN or infinite; exit code 1 if there is one",
    )
    parser.add_argument(
        "--region", metavar="NAME|ID", help="a named array, or a region's id; default: a list of all"
    )
    parser.add_argument(
        "--type", metavar="TYPE", help="read the region as this Warp type, such as int32 or vec3f"
    )
    parser.add_argument(
        "--npy", metavar="OUT", type=Path, help="write the region's contents to this .npy file"
    )
    parser.add_argument(
        "--frames",
        metavar="K",
        type=whole,
        default=0,
        help="replay K whole frames before this one, and look at them with --first-nonfinite (default: 0)",
    )
    parser.add_argument(
        "--iteration", metavar="WHILE=K", type=_iteration, action="append", default=[],
        help="look into iteration K, from 1, of the WHILE with this event number (default: the first)",
    )  # fmt: skip
    parser.add_argument(
        "--param", type=assignment, action="append", default=[], metavar="NAME=VALUE", help="set a parameter"
    )
    parser.add_argument("--json", action="store_true", help="with --first-nonfinite: print JSON")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: auto)")
    parser.add_argument("--trust", action="store_true", help=TRUST_HELP)


def run(args: argparse.Namespace) -> int:
    """Print what the region holds, and write it to a file if asked to; or where a value is not finite."""
    from app.trust import require_trust
    from replay.events.replayer import EventReplayer
    from replay.events.values import retyped, typed
    from replay.graph.open import open_capture
    from replay.players import open_player

    if args.frames < 0:
        raise UsageError(f"--frames is {args.frames}", remedy="take 0 or more")
    if args.first_nonfinite:
        return _first_nonfinite(args)
    if args.json:
        raise UsageError("--json needs --first-nonfinite", remedy="save what a region holds with --npy")
    if args.npy is not None:
        _check_output(args.npy, args.region)
    capture = open_capture(args.path)
    regions = (
        [find_region(capture, args.region)] if args.region is not None else list(capture.regions.values())
    )
    if args.type is not None:
        if args.region is None:
            raise UsageError("--type needs --region", remedy="name the region to read")
        regions = [retyped(regions[0], args.type)]
    if args.after != -1 and not 0 <= args.after < len(capture.operations):
        raise UsageError(
            f"--after {args.after}: {capture.path.name} has {_events(len(capture.operations))}",
            remedy="choose one of them, or -1 for the start of the frame",
        )
    iterations = dict(args.iteration)
    check_iterations(capture, args.after, iterations)
    require_trust(capture, args.trust, args.device)
    with open_player(capture, args.device) as player:
        set_parameters(player, dict(args.param))
        for _ in range(args.frames):
            player.launch()
        with EventReplayer.of_player(player) as frame:
            _check_counts(frame, iterations)
            state = frame.start() if args.after == -1 else frame.after(args.after, iterations)
            print(_title(capture, state, args.frames))
            for region in regions:
                values = typed(region, state.region_bytes(region.id))
                print(describe(region, values))
            if args.npy is not None:
                _save(args.npy, values)
    return 0


def _first_nonfinite(args: argparse.Namespace) -> int:
    """Print where values stop being finite; return 1 if some do, else 0."""
    from app import nonfinite
    from app.trust import require_trust
    from replay.graph.open import open_capture
    from replay.players import open_player

    for name in ("region", "type", "npy", "iteration"):
        if getattr(args, name):
            raise UsageError(
                f"--{name} has no meaning with --first-nonfinite, which looks at all regions",
                remedy="look at the event it finds with --after",
            )
    capture = open_capture(args.path)
    require_trust(capture, args.trust, args.device)
    with open_player(capture, args.device) as player:
        set_parameters(player, dict(args.param))
        result = nonfinite.search(player, args.frames + 1)
        device = player.device
    if args.json:
        print(json.dumps(nonfinite.to_json(capture, result, device), indent=1))
    else:
        print(nonfinite.report(capture, result))
    return 0 if result.found is None else 1


def find_region(capture: Capture, text: str) -> Region:
    """Return the region of a name or an id; a name that is a number is taken for a name.

    Raises:
        UsageError: there is none.
    """
    from replay.graph.model import NO_REGION

    for binding in reversed(capture.bindings):  # Warp takes the last one of two equal names
        if binding.name != text:
            continue
        if binding.region in capture.regions:
            return capture.regions[binding.region]
        if binding.region == NO_REGION:
            raise UsageError(
                f"{text!r} of {capture.path.name} is an array without elements: it has no memory to look at"
            )
    if text.isascii() and text.isdecimal() and len(text) < 20 and int(text) in capture.regions:
        return capture.regions[int(text)]
    names = ", ".join(dict.fromkeys(binding.name for binding in capture.bindings)) or "nothing"
    ids = ", ".join(map(str, list(capture.regions)[:20])) or "none"
    raise UsageError(
        f"{capture.path.name} has no region {text!r}", remedy=f"it names {names}; the ids are {ids}"
    )


def check_iterations(capture: Capture, event: int, iterations: Mapping[int, int]) -> None:
    """Refuse iterations of what is no WHILE around an event: they would change nothing.

    Raises:
        UsageError: there is one.
    """
    from replay.graph.model import OpKind

    around = capture.enclosing(event) if event >= 0 else ()
    for loop, turn in iterations.items():
        given = f"--iteration {loop}={turn}"
        if not 0 <= loop < len(capture.operations) or capture.operations[loop].kind is not OpKind.WHILE:
            raise UsageError(f"{given}: event {loop} is no WHILE", remedy=_loops(capture))
        if loop not in around:
            where = f"event {event}" if event >= 0 else "the start of the frame"
            raise UsageError(
                f"{given}: {where} is not inside the WHILE of event {loop}",
                remedy=f"look at one inside it, events {loop + 1} to {_last_inside(capture, loop)}",
            )
        if turn < 1:
            raise UsageError(f"{given}: iterations are counted from 1")


def _loops(capture: Capture) -> str:
    from replay.graph.model import OpKind
    from replay.graph.operations import LazyOperations

    operations = capture.operations
    table = operations.table if isinstance(operations, LazyOperations) else None
    found = (
        [] if table is None else [n for n, kind in enumerate(table.kinds.tolist()) if kind == OpKind.WHILE]
    )
    if not found:
        return f"{capture.path.name} has no WHILE"
    more = ", ..." if len(found) > _MOST_LOOPS else ""
    listed = ", ".join(map(str, found[:_MOST_LOOPS])) + more
    return (
        f"the WHILEs of {capture.path.name} are the events {listed}"
        if len(found) > 1
        else (f"the only WHILE of {capture.path.name} is event {listed}")
    )


def _last_inside(capture: Capture, event: int) -> int:
    while children := capture.operations[event].children:
        event = children[-1]
    return event


def _check_counts(frame: EventReplayer, iterations: Mapping[int, int]) -> None:
    """Refuse an iteration beyond those that a WHILE has in this frame, and say how many it has.

    Raises:
        UsageError: there is one.
    """
    outer: dict[int, int] = {}
    for loop, turn in sorted(iterations.items()):
        # Counting finds the end of a short loop before a long one would be unrolled.
        count = frame.iterations_of(loop, outer, most=turn)
        if count < turn:
            has = "no iteration" if not count else "one iteration" if count == 1 else f"{count} iterations"
            within = "".join(f", in iteration {number} of event {event}" for event, number in outer.items())
            raise UsageError(
                f"--iteration {loop}={turn}: the WHILE of event {loop} has {has} in this frame{within}",
                remedy=f"choose 1 to {count}" if count > 1 else "",
            )
        outer[loop] = turn


def set_parameters(player: Player, values: Mapping[str, Sequence[float]]) -> None:
    """Give parameters values of the command line, also beyond the limits that a slider keeps.

    Raises:
        ParameterError: unknown name, or wrong type or shape.
    """
    import numpy as np

    for name, numbers in values.items():
        spec = player.parameters.get(name)
        value = np.asarray(numbers, np.float64)
        if spec is not None and spec.element.scalar.kind in "iu" and (value == np.rint(value)).all():
            # by Python's integers, which no number of 64 bits is too large for
            value = np.array([int(number) for number in numbers], object)
            if all(-(1 << 63) <= number < 1 << 63 for number in value):
                value = value.astype(np.int64)
            elif all(0 <= number < 1 << 64 for number in value):
                value = value.astype(np.uint64)
        if spec is not None and value.size == 1 and not spec.element.inner_shape:
            value = value.reshape(())
        player.set(name, value)


def describe(region: Region, values: np.ndarray) -> str:
    """Return what a region holds, in one line of a table."""
    import numpy as np

    name = printable(", ".join(region.names)) or "(no name)"
    element = region.element.name if region.element is not None else "bytes"
    shape = "x".join(map(str, region.shape)) if region.shape is not None else str(len(values))
    row = f"region {region.id:<4} {name:<28} {element} [{shape}]"
    if region.element is None or region.provenance.value != "known":
        row += f", {region.provenance.value}"
    if not values.size:
        return f"{row}: empty"
    numbers = values.astype(np.uint8) if values.dtype.kind == "b" else values
    finite = numbers[np.isfinite(numbers)] if numbers.dtype.kind == "f" else numbers.reshape(-1)
    if finite.size:
        row += f": min {finite.min()!s}, max {finite.max()!s}"
    if finite.size != numbers.size:
        nan = int(np.count_nonzero(np.isnan(numbers)))
        infinite = numbers.size - finite.size - nan
        row += f"; finite {finite.size} of {numbers.size} ({nan} NaN, {infinite} infinite)"
    elif numbers.dtype.kind == "f":
        row += f"; all {numbers.size} finite"
    return row


def _title(capture: Capture, state: EventState, frames: int) -> str:
    if state.event is None:
        title = f"at the start of frame {frames + 1}"
    else:
        label = printable(capture.operations[state.event].label)
        title = f"after event {state.event}, {label}, of frame {frames + 1}"
    if state.note:
        title += f"\nnote: {state.note}"
    if state.is_last and capture.manifest is not None and capture.manifest.carry:
        listed = printable(", ".join(f"{source} to {target}" for source, target in capture.manifest.carry))
        title += f"\nnote: this is before the carry pairs, {listed}, which follow the last event"
    return title


def _events(count: int) -> str:
    return f"the events 0 to {count - 1}" if count > 1 else "the event 0 alone" if count else "no event"


def _check_output(path: Path, region: str | None) -> None:
    """Refuse a place where no array can be saved, before anything runs."""
    if region is None:
        raise UsageError("--npy needs --region", remedy="name the region to write")
    if path.suffix.lower() != ".npy":
        raise UsageError(f"--npy {path} is no .npy file", remedy="name a file that ends in .npy")
    check_output_path("--npy", path)


def _save(path: Path, values: np.ndarray) -> None:
    import numpy as np

    try:
        with path.open("wb") as file:
            np.save(file, values, allow_pickle=False)
    except OSError as error:
        raise RipplescopeError(f"{path} cannot be written: {error.strerror or error}") from None
    print(f"saved  {printable(str(path))} ({values.dtype} {list(values.shape)})")


def _iteration(text: str) -> tuple[int, int]:
    event, sign, turn = text.partition("=")
    if not sign:
        raise argparse.ArgumentTypeError(f"{text!r:.60} is not WHILE=K, such as 4=2")
    return whole(event), whole(turn)
