"""The child of a trial run: load a capture, run each operation alone, then launch it whole.

It says on the standard output where it is, a line before each step, so that the parent can name the step
that a crash or a hang ended in. It is started by `app.trial` and limits itself as it is told there.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

from app.offspring import adopt, end_children
from replay.errors import RipplescopeError, TrustError
from replay.text import counted

_WALKED = 500  # captures of more operations are only launched whole
_LAUNCHES = 2
_said = sys.stdout


def _limit(memory: int, seconds: int, device: str) -> None:
    """Limit memory and processor time of this process, where the system can.

    The memory that is mapped already, such as libraries, does not count. CUDA reserves far more addresses
    than memory, so addresses are limited on the CPU only.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    limits = {resource.RLIMIT_CPU: seconds, resource.RLIMIT_CORE: 0}
    status = Path("/proc/self/statm")
    if device == "cpu" and status.is_file():
        limits[resource.RLIMIT_AS] = int(status.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + memory
    for which, limit in limits.items():
        with contextlib.suppress(ValueError, OSError):  # a lower hard limit than ours stays
            resource.setrlimit(which, (limit, limit))


def _say(step: str) -> None:
    print(step, file=_said, flush=True)


def _look_for_processes(own: int) -> None:
    """Refuse code that started processes.

    Raises:
        TrustError: it did; they are ended.
    """
    if os.getpid() != own:  # this is one of them, a copy that would go on with the trial
        os._exit(0)
    if count := end_children():
        were = "which was ended" if count == 1 else "which were ended"
        raise TrustError(f"it started {counted(count, 'process')} of its own, {were}")


def _try(arguments: argparse.Namespace) -> None:
    from replay.events.walk import Walk
    from replay.graph.open import open_capture
    from replay.native import import_warp
    from replay.players import open_player
    from replay.trust import capture_digest

    capture = open_capture(arguments.path)
    if capture_digest(capture) != arguments.digest:
        raise TrustError(f"{capture.path.name} changed since it was opened", remedy="open it again")
    import_warp()
    end_children()  # none of ours counts as the capture's
    adopt()
    own = os.getpid()
    _limit(arguments.memory, arguments.seconds, capture.device_kind)
    _say("load")
    with open_player(capture, arguments.device) as player:
        start = player.snapshot()
        if len(capture.top_level) <= _WALKED:
            with Walk(capture, player.device, start) as walk:
                _say(f"event {capture.top_level[0]}" if capture.top_level else "launch")
                for step, following in zip(walk.steps(), [*capture.top_level, None][1:], strict=True):
                    step.player.synchronize()
                    _look_for_processes(own)
                    if following is not None:
                        _say(f"event {following}")
        _say("launch")
        for _ in range(_LAUNCHES):
            player.launch()
            player.synchronize()
            _look_for_processes(own)
    _say("done")


def main() -> int:
    """Run the trial; return 0, or 2 with the reason as the last line of the standard error."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--device", required=True)
    parser.add_argument("--digest", required=True)
    parser.add_argument("--memory", type=int, required=True)
    parser.add_argument("--seconds", type=int, required=True)
    global _said
    # What kernels print goes through C to the same place, and must not pass for a step, nor fill a file.
    _said = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    try:
        _try(parser.parse_args())
    except RipplescopeError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except MemoryError:
        print("out of memory", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
