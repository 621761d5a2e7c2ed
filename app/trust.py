"""May this capture run here? Asks the user, tries it in a child process, and remembers the answer.

Opening a capture executes nothing; replaying it runs the native code beside it. A capture that this
installation recorded, or that the user accepted before, is replayed at once.
"""

from __future__ import annotations

import datetime
import os
import sys
from collections.abc import Callable
from pathlib import Path

from app.trial import Trial, TrialLimits, TrialResult
from replay.errors import RipplescopeError, TrustError
from replay.graph.model import Capture
from replay.text import counted, printable
from replay.trust import Event, TrustEntry, TrustRecord, capture_digest, replay_warnings

FOLDER_VARIABLE = "RIPPLESCOPE_DATA_DIR"
_SHOWN_WARNINGS = 5
_recorded_now: set[str] = set()  # digests; what this process recorded runs even if nothing can be remembered

Ask = Callable[[str], bool]


def data_folder() -> Path:
    """Return the folder of what Ripplescope knows for long; it may not exist yet."""
    if folder := os.environ.get(FOLDER_VARIABLE):
        return Path(folder)
    import platformdirs

    return Path(platformdirs.user_data_dir("ripplescope", appauthor=False))


def trust_record() -> TrustRecord:
    """Return the record of this installation."""
    return TrustRecord(data_folder() / "captures.jsonl")


def is_trusted(capture: Capture) -> bool:
    """Return whether a capture was recorded here, or accepted by the user; an edited one counts as another.

    Raises:
        ReplayError: a module file is missing.
        TrustError: the record cannot be read.
    """
    digest = capture_digest(capture)
    return digest in _recorded_now or trust_record().is_trusted(digest)


def remember_recorded(path: Path) -> None:
    """Remember that this installation recorded, or saved, the capture at a path.

    The capture stands, whatever happens here: what cannot be remembered is told on the standard error.
    """
    from replay.graph.open import open_capture

    try:
        capture = open_capture(path)
        digest = capture_digest(capture)
        _recorded_now.add(digest)
        _remember(capture, digest, Event.RECORDED)
    except RipplescopeError as error:
        print(
            f"ripplescope: note: {error}; a replay of {printable(str(path))} will ask first", file=sys.stderr
        )


def accept(capture: Capture) -> None:
    """Remember that the user accepted a capture.

    Raises:
        ReplayError: a module file is missing.
        TrustError: it cannot be remembered.
    """
    _remember(capture, capture_digest(capture), Event.ACCEPTED)


def question(capture: Capture) -> str:
    """Return what a user must know to say yes or no, with the warnings about this capture."""
    modules = len({module.file for module in capture.modules})
    lines = [
        f"{capture.path} was not recorded by this installation.",
        f"Replaying it runs native code ({counted(modules, 'file')} in {capture.modules_folder.name}) "
        "with your rights. It is tried in a child process first, which catches accidents, not malice.",
    ]
    warnings = replay_warnings(capture)
    lines += [f"Warning: {fault}" for fault in warnings[:_SHOWN_WARNINGS]]
    if len(warnings) > _SHOWN_WARNINGS:
        lines.append(f"Warning: {len(warnings) - _SHOWN_WARNINGS} more like these")
    return "\n".join(map(printable, lines))


def start_trial(capture: Capture, device: str = "auto", limits: TrialLimits | None = None) -> Trial | None:
    """Start the trial run of a capture; None if one on this kind of device went well before.

    Give its result to `finish_trial`.

    Raises:
        ReplayError: a module file is missing.
        TrustError: the child cannot be started.
    """
    digest = capture_digest(capture)
    last = trust_record().last_trial(digest, capture.device_kind)
    if last is not None and last.event is Event.TRIED_WELL:
        return None
    return Trial(capture, digest, device, limits or TrialLimits())


def finish_trial(capture: Capture, result: TrialResult) -> None:
    """Remember how a trial ended.

    Raises:
        TrustError: it ended badly; says where and at what.
    """
    event = Event.TRIED_WELL if result.good else Event.TRIED_BADLY
    _remember(capture, capture_digest(capture), event, capture.device_kind, result.reason)
    if not result.good:
        raise TrustError(
            f"{capture.path.name} is not replayed: in the trial run {result.reason}",
            remedy=f"see `ripplescope inspect {capture.path.name}`",
        )


def require_trust(
    capture: Capture,
    trust: bool,
    device: str = "auto",
    *,
    ask: Ask | None = None,
    limits: TrialLimits | None = None,
) -> None:
    """Return if a capture may be replayed here; call it before `open_player`.

    A capture with blocking faults passes, since `open_player` refuses it with the reason. One that is not
    known is asked about, unless `trust` says yes, then tried in a child process.

    Args:
        capture: opened, not yet loaded.
        trust: the user said yes beforehand, as with `--trust`.
        device: as for `open_player`.
        ask: puts the question and returns the answer; by default on the terminal, if there is one.
        limits: of the trial run.

    Raises:
        TrustError: the answer is no, nobody can be asked, or the trial run failed.
        ReplayError: a module file is missing.
    """
    if capture.blocking_faults or is_trusted(capture):
        return
    if ask is None and _is_terminal():
        ask = _ask_on_terminal
    if not trust:
        if ask is None:
            raise TrustError(
                f"{capture.path.name} was not recorded here, and a replay runs the native code beside it",
                remedy="add --trust if you trust where it comes from",
            )
        if not ask(question(capture)):
            raise TrustError(f"{capture.path.name} is not replayed, as you said")
    else:
        for fault in replay_warnings(capture)[:_SHOWN_WARNINGS]:
            print(f"ripplescope: warning: {printable(str(fault))}", file=sys.stderr)
    trial = start_trial(capture, device, limits)
    if trial is not None:
        finish_trial(capture, trial.wait())
    accept(capture)


def _remember(capture: Capture, digest: str, event: Event, device: str = "", reason: str = "") -> None:
    when = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    trust_record().add(TrustEntry(digest, event, capture.path.name, when, device, reason))


def _is_terminal() -> bool:
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))


def _ask_on_terminal(text: str) -> bool:
    print(text, file=sys.stderr)
    print("Replay it, now and from now on? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
