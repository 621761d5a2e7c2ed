"""The session of the running app: recording, following whatever player is on the stage, and exporting.

The file is `replay.session.recorder`'s; where it goes, and when it begins and ends, is decided here.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from app.look import look_of
from replay.errors import SessionError
from replay.players.base import Player
from replay.session.recorder import SessionRecorder

if TYPE_CHECKING:
    from app.export.job import ExportChoice, ExportJob
    from app.state import App

SUFFIX = ".ripple"
SUFFIXES = {"mp4": ".mp4", "npz": ".npz", "png-dir": "-frames"}


class LiveSession:
    """What is recorded of the running app.

    Attributes:
        recorder: writes the session; None while nothing is recorded.
        last: the newest session that was recorded or watched in this run, None before the first.
        job: an export that is being made.
    """

    def __init__(self) -> None:
        self.recorder: SessionRecorder | None = None
        self.last: Path | None = None
        self.job: ExportJob | None = None
        self._player: Player | None = None

    def start(self, path: Path) -> None:
        """Begin to record into a new file, from the present state.

        Raises:
            SessionError: the file exists or cannot be made.
        """
        self.stop()
        self.recorder = SessionRecorder(path)
        self.last = path
        self.recorder.follow(self._player)

    def stop(self) -> Path | None:
        """End the recording; return the file, None if there was none.

        Raises:
            SessionError: it could not be written to the end.
        """
        recorder, self.recorder = self.recorder, None
        if recorder is None:
            return None
        recorder.close()
        self.last = recorder.path
        if recorder.failure is not None:
            raise recorder.failure
        return recorder.path

    def follow(self, player: Player | None) -> None:
        """Another player is replayed from now on; None: none. Call it while the one before is open."""
        self._player = player
        if self.recorder is not None:
            self.recorder.follow(player)

    def tick(self, app: App) -> None:
        """Note once a frame where it is looked from, and how far an export is; hold what is watched.

        Raises:
            SessionError: the recording has ended early.
            RecordingError: the export failed.
        """
        if self.job is not None:
            job = self.job
            try:
                if job.poll():
                    self.job = None
                    app.tell(f"exported {job.target}")
            except BaseException:
                self.job = None
                raise
        if app.watching is not None:
            app.watching.hold(app)
        recorder, camera = self.recorder, app.camera
        if recorder is None:
            return
        if recorder.failure is not None:
            self.stop()
        recorder.camera = (
            *camera.target.tolist(),
            *map(float, (camera.distance, camera.yaw, camera.pitch, camera.fov)),
        )
        if app.water is not None:
            recorder.look = look_of(app.water.options)

    def export(self, kind: str, choice: ExportChoice) -> None:
        """Begin to export the newest session, beside it, under its name and a number that is free.

        Where nothing can be written beside it, the export goes to the user's documents.

        Args:
            kind: `mp4`, `png-dir` or `npz`.
            choice: what of it, and how.

        Raises:
            SessionError: there is no folder for it.
            RecordingError: it cannot be started.
        """
        from app.export.job import ExportJob

        if self.last is not None and self.job is None:
            beside = self.last.parent
            folder = beside if os.access(beside, os.W_OK) else session_folder()
            target = free_path(folder, self.last.stem, SUFFIXES[kind])
            self.job = ExportJob(self.last, kind, target, choice)

    def cancel_export(self) -> None:
        """End an export that is being made; it leaves no file."""
        job, self.job = self.job, None
        if job is not None:
            job.cancel()

    def close(self) -> None:
        """End the export and the recording.

        Raises:
            SessionError: the session could not be written to the end.
        """
        self.cancel_export()
        self.stop()


def session_path() -> Path:
    """Return a file name by date and time in the folder for sessions.

    Raises:
        SessionError: the folder cannot be made.
    """
    return free_path(session_folder(), time.strftime("session-%Y%m%d-%H%M%S"), SUFFIX)


def session_folder() -> Path:
    """Return the folder for sessions in the user's documents; it is made.

    Raises:
        SessionError: it cannot be made.
    """
    import platformdirs

    folder = Path(platformdirs.user_documents_dir()) / "Ripplescope"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SessionError(
            f"the folder {folder} cannot be made: {error.strerror or error}",
            remedy="make it, or free its name",
        ) from None
    return folder


def free_path(folder: Path, stem: str, suffix: str) -> Path:
    """Return a path in a folder that nothing has, with a number if the plain name is taken."""
    path, number = folder / (stem + suffix), 2
    while path.exists():
        path, number = folder / f"{stem}-{number}{suffix}", number + 1
    return path
