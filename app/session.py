"""The session of the running app: recording, and following whatever player is on the stage.

The file is `replay.session.recorder`'s; where it goes, and when it begins and ends, is decided here.
"""

from __future__ import annotations

import time
from pathlib import Path

from app.view.camera import OrbitCamera
from replay.players.base import Player
from replay.session.recorder import SessionRecorder

SUFFIX = ".ripple"


class LiveSession:
    """What is recorded of the running app.

    Attributes:
        recorder: writes the session; None while nothing is recorded.
    """

    def __init__(self) -> None:
        self.recorder: SessionRecorder | None = None
        self._player: Player | None = None

    def start(self, path: Path) -> None:
        """Begin to record into a new file, from the present state.

        Raises:
            SessionError: the file exists or cannot be made.
        """
        self.stop()
        self.recorder = SessionRecorder(path)
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
        if recorder.failure is not None:
            raise recorder.failure
        return recorder.path

    def follow(self, player: Player | None) -> None:
        """Another player is replayed from now on; None: none. Call it while the one before is open."""
        self._player = player
        if self.recorder is not None:
            self.recorder.follow(player)

    def look(self, camera: OrbitCamera) -> None:
        """Note once a frame where it is looked from.

        Raises:
            SessionError: the recording has ended early.
        """
        recorder = self.recorder
        if recorder is None:
            return
        if recorder.failure is not None:
            self.stop()
        place = (*camera.target, camera.distance, camera.yaw, camera.pitch, camera.fov)
        recorder.camera = tuple(map(float, place))


def session_path() -> Path:
    """Return a file name by date and time in the user's folder for documents; its folder is made.

    Raises:
        OSError: it cannot be made.
    """
    import platformdirs

    folder = Path(platformdirs.user_documents_dir()) / "Ripplescope"
    folder.mkdir(parents=True, exist_ok=True)
    name = time.strftime("session-%Y%m%d-%H%M%S")
    path, number = folder / (name + SUFFIX), 2
    while path.exists():
        path, number = folder / f"{name}-{number}{SUFFIX}", number + 1
    return path
