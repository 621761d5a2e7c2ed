"""Opening a capture: replayed at once, only looked at, or asked about because nobody has vouched for it.

Until the answer, and the trial run after a yes, the capture is only looked at. The window asks and shows
what this holds.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.applog import Level
from app.scene import Scene, load_scene
from app.trial import Trial
from app.trust import accept, finish_trial, is_trusted, question, require_trust, start_trial
from replay.errors import DeviceError, ReplayError, TrustError
from replay.graph.model import Capture, Fault
from replay.trust import replay_warnings

if TYPE_CHECKING:
    from app.state import App


class Answer(enum.Enum):
    """What the user says to the question whether a capture may run."""

    NO = "only look"
    ONCE = "this time"
    ALWAYS = "always"


@dataclass
class TrustQuestion:
    """One capture that waits for an answer, or for the end of its trial run.

    Attributes:
        capture: opened, not loaded.
        keep_view: as for `App.open`.
        text: what the user must know.
        warnings: what looks wrong in the capture beyond that.
        answer: None until the user answered.
        then: what to do after a yes, in place of loading the capture.
    """

    capture: Capture
    keep_view: bool
    text: str = ""
    warnings: tuple[Fault, ...] = ()
    answer: Answer | None = None
    then: Callable[[], None] | None = None
    _trial: Trial | None = field(default=None, repr=False)

    @classmethod
    def of(cls, capture: Capture, *, keep_view: bool) -> TrustQuestion:
        """Return the question for a capture.

        Raises:
            ReplayError: a module file is missing.
        """
        text = question(capture).partition("\nWarning:")[0]
        return cls(capture, keep_view, text, tuple(replay_warnings(capture)))

    @property
    def trying(self) -> bool:
        """Whether the trial run is under way."""
        return self._trial is not None

    def say(self, answer: Answer, device: str) -> None:
        """Take the answer; after a yes the trial run begins, unless one went well before.

        Raises:
            RipplescopeError: it cannot be started.
        """
        self.answer = answer
        if answer is not Answer.NO:
            self._trial = start_trial(self.capture, device)

    def poll(self) -> bool:
        """Return whether the capture may be loaded now.

        Raises:
            TrustError: the trial run ended badly; says where and at what.
        """
        if self.answer not in (Answer.ONCE, Answer.ALWAYS):
            return False
        if self._trial is not None:
            result = self._trial.poll()
            if result is None:
                return False
            self._trial = None
            try:
                finish_trial(self.capture, result)
            except TrustError:
                self.answer = Answer.NO
                raise
        if self.answer is Answer.ALWAYS:
            accept(self.capture)
        return True

    def cancel(self) -> None:
        """End the trial run."""
        if self._trial is not None:
            self._trial.cancel()
            self._trial = None
        self.answer = Answer.NO


def check_openable(path: Path) -> None:
    """Refuse a file that is no capture and no session.

    Raises:
        RipplescopeError: says what is wrong with it.
    """
    from replay.graph.open import open_capture
    from replay.session.format import SessionReader, is_session

    if is_session(path):
        SessionReader(path).close()
    else:
        open_capture(path)


def open_path(app: App, path: Path, *, keep_view: bool) -> None:
    """Open a file as `App.open` describes."""
    from replay.graph.open import open_capture
    from replay.session.format import is_session

    if is_session(path):
        from app.watching import watch

        app.forget_question()
        app.cancel_recapture()
        watch(app, path)
        return
    capture = open_capture(path)
    app.take_over()
    app.forget_question()
    if not keep_view:
        app.cancel_recapture()  # it would take the place of what is opened now
    if app.asks and capture.blocking_faults:
        fault = capture.blocking_faults[0]
        _look_at(app, capture, f"{fault.where}: {fault.what}")
        app.tell(f"{path.name} cannot be replayed; the Problems panel says why", Level.WARNING)
        return
    if app.asks and not is_trusted(capture):
        _look_at(app, capture, "it is not trusted yet")
        app.question = TrustQuestion.of(capture, keep_view=keep_view)
        if app.trust:
            app.answer(Answer.ALWAYS)
        return
    require_trust(capture, app.trust, app.device)
    load(app, capture, keep_view=keep_view)


def load(app: App, capture: Capture, *, keep_view: bool) -> None:
    """Load a capture that may run, and show it.

    Raises:
        RipplescopeError: it cannot be loaded or drawn; a window that can ask shows the rest of it.
    """
    from app.view.cuda_gl.device import cuda_device_of_gl

    try:
        scene = load_scene(capture, app.device, cuda_device_of_gl)
    except (DeviceError, ReplayError) as error:
        if app.asks:
            _look_at(app, capture, error.what)
        raise
    try:
        app.show(scene, keep_view=keep_view)
    except BaseException:
        scene.close()
        raise
    app.settings.remember(capture.path)
    app.save_settings()
    app.tell(f"opened {capture.path.name} on {scene.device_text}")


def play_edited(app: App, capture: Capture) -> None:
    """Replay an edited copy as `App.play` describes."""
    from app.view.transfer import open_transfer
    from replay.players.swap import swap_player

    scene, lab = app.scene, app.lab
    if scene is None or scene.player is None or lab is None:
        return
    app.take_over()
    had_transfer = app.transfer is not None
    if app.transfer is not None:
        app.transfer.close()
        app.transfer = None
    try:
        scene.player = swap_player(scene.player, capture)
        lab.attach()
    finally:
        app.session.follow(scene.player)
        if had_transfer and scene.grid is not None and scene.heights is not None:
            app.transfer = open_transfer(scene.player, scene.grid, scene.heights, app.prefer)
    if lab.frame.looking:
        lab.frame.look(lab.frame.event)


def _look_at(app: App, capture: Capture, reason: str) -> None:
    app.show(Scene.of_capture(capture, reason))
    app.settings.remember(capture.path)
    app.save_settings()
