"""Opening a capture that nobody has vouched for: the question, the trial run, the answer that is remembered.

Until the answer the capture is only looked at. The window asks and shows what this holds.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from app.trial import Trial
from app.trust import accept, finish_trial, question, start_trial
from replay.errors import TrustError
from replay.graph.model import Capture, Fault
from replay.trust import replay_warnings


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
    """

    capture: Capture
    keep_view: bool
    text: str = ""
    warnings: tuple[Fault, ...] = ()
    answer: Answer | None = None
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
