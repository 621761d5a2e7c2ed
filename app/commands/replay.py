"""`ripplescope replay`: runs a recorded session again and says whether it comes out the same."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import ReplayError, UsageError
from replay.text import printable

if TYPE_CHECKING:
    from replay.session.playback import Playback

PICTURE, WINDOW = (800, 600), (1280, 800)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    from app.commands.view import TRUST_HELP, count, window_size

    parser.add_argument("session", metavar="SESSION", type=Path, help="a file made by --record-session")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or cuda:N (default: as recorded)")
    parser.add_argument(
        "--graph", metavar="PATH", type=Path, help="the capture, in place of the recorded one"
    )
    parser.add_argument("--frames", metavar="N", type=count, help="replay at most N frames (default: all)")
    parser.add_argument(
        "--screenshot", metavar="OUT.png", type=Path, help="picture the last frame from above"
    )
    parser.add_argument("--size", metavar="WxH", type=window_size, help="size of the picture or the window")
    parser.add_argument("--digest-only", action="store_true", help="print the digest and nothing else")
    parser.add_argument("--window", action="store_true", help="watch it in the window, at any speed")
    parser.add_argument("--trust", action="store_true", help=TRUST_HELP)


def run(args: argparse.Namespace) -> int:
    """Replay; return 0 if it came out as recorded, 1 if not, 2 if the file is damaged."""
    if args.window:
        return _watch(args)
    from app.headless import check_picture_path
    from app.sessions import SessionOpener
    from app.topview import check_size
    from replay.session.digest import combined, digests_of
    from replay.session.format import SessionReader
    from replay.session.playback import Playback

    if args.screenshot is not None:
        check_picture_path(args.screenshot)
        check_size(args.size or PICTURE)
    opener = SessionOpener(args.device, args.graph, args.trust)
    with SessionReader(args.session) as reader, Playback(reader, opener) as playback:
        for _ in playback.run(args.frames):
            pass
        if playback.player is None or playback.capture is None:
            assert playback.ending is not None
            raise UsageError(
                f"{args.session}: the session {playback.ending.text}; nothing in it can be replayed"
            )
        digests = digests_of(playback.player)
        if not args.digest_only:
            print(f"session   {printable(str(args.session))}: recorded on {playback.capture.device} "
                  f"({printable(playback.capture.device_name)})")  # fmt: skip
            print(f"capture   {printable(f'{playback.player.capture.path.name}, {opener.origin}')}")
            print(f"replayed  {playback.frames} frames on {playback.player.device}")
            for name, digest in digests.items():
                print(f"  {printable(name):<18}{digest[:16]}")
            if args.screenshot is not None:
                _save_picture(playback, args.screenshot, args.size or PICTURE)
        print(f"digest    {combined(digests)}")
        return _judge(playback, args)


def _watch(args: argparse.Namespace) -> int:
    """Open the window on the session.

    Raises:
        UsageError: options that have no use there.
        RipplescopeError: it is no session, or there is no window.
    """
    given = {"--graph": args.graph, "--frames": args.frames, "--screenshot": args.screenshot}
    asked = [name for name, value in given.items() if value is not None]
    asked += ["--digest-only"] if args.digest_only else []
    if asked:
        raise UsageError(f"{asked[0]} has no use with --window", remedy="leave one of them out")
    from replay.session.format import SessionReader

    SessionReader(args.session).close()
    from app.window import load_libraries

    load_libraries(headless=False)
    from app.loop import run_app

    return run_app(args.session, device=args.device, size=args.size or WINDOW, trust=args.trust)


def _judge(playback: Playback, args: argparse.Namespace) -> int:
    from replay.session.format import Cause
    from replay.session.playback import BOUND

    ending = playback.ending
    if ending is not None and ending.cause is not Cause.CLOSED:
        print(
            f"ripplescope: {printable(str(args.session))}: the session {ending.text}; replayed the "
            f"{playback.frames} frames before that",
            file=sys.stderr,
        )
    if playback.difference is not None:
        print(f"ripplescope: {printable(f'{args.session}: {playback.difference}')}", file=sys.stderr)
        return 1
    if not args.digest_only:
        if playback.exact:
            print(f"equal     bit for bit, {playback.compared} comparisons")
        else:
            print(
                f"equal     within {BOUND:g} of the largest value (at most {playback.largest:.2g} off, "
                f"{playback.compared} comparisons); bit for bit is promised only for the same capture on "
                "the kind of device it was recorded on"
            )
    return 2 if ending is not None and ending.cause is Cause.DAMAGED else 0


def _save_picture(playback: Playback, path: Path, size: tuple[int, int]) -> None:
    from app.headless import save_picture
    from app.scene import Scene
    from app.topview import render_topview

    assert playback.player is not None
    scene = Scene.of_player(playback.player)
    if scene.heights is None or scene.grid is None:
        raise ReplayError(f"{scene.name} names no height field, so there is no water to picture")
    save_picture(path, render_topview(playback.player.get(scene.heights), size, scene.grid.dx))
