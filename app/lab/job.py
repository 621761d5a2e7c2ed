"""Work in the background that the window waits for: it goes on drawing, and a button ends the work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

Progress = Callable[[int, int], None]


class _Cancelled(BaseException):
    """Ends the work from within `progress`; no handler of the work's own takes it for an error."""


class Job:
    """A piece of work in a thread of its own.

    Args:
        title: what is done, for people.
        work: does it and returns a result; calls what it is given with the number of steps done and of all.
        then: what to do with the result, in the thread that calls `poll`.

    Attributes:
        share: how much is done, 0 to 1; None while that is not known.
    """

    def __init__(self, title: str, work: Callable[[Progress], Any], then: Callable[[Any], None]) -> None:
        self.title = title
        self.share: float | None = None
        self._then = then
        self._result: Any = None
        self._error: Exception | None = None
        self._cancelled = False
        self._thread = threading.Thread(target=self._run, args=(work,), name=title, daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Ask the work to end at its next step; its result is dropped."""
        self._cancelled = True

    def poll(self) -> bool:
        """Return whether the work has ended; the first time, hand on its result.

        Raises:
            Exception: what the work raised.
        """
        if self._thread.is_alive():
            return False
        if self._error is not None and not self._cancelled:
            error, self._error = self._error, None
            raise error
        if not self._cancelled:
            self._cancelled = True
            self._then(self._result)
        return True

    def wait(self) -> None:
        """Wait for the end."""
        self._thread.join()

    def _run(self, work: Callable[[Progress], Any]) -> None:
        try:
            self._result = work(self._progress)
        except _Cancelled:
            pass
        except Exception as error:  # it is raised where `poll` is called
            self._error = error

    def _progress(self, done: int, total: int) -> None:
        if self._cancelled:
            raise _Cancelled
        self.share = done / max(total, 1)
