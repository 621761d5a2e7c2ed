"""A session that is watched in the window: each launch that is due takes its next frame.

What was recorded counts meanwhile: the hand on the water and the widgets change nothing, the camera may be
moved until the recorded one moves. Whoever takes over goes on from the state there is. Pause, speed and
single steps are those of the scene's clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from app.applog import Level
from app.export.run import count_frames
from app.look import give_look
from app.opening import TrustQuestion
from app.scene import Scene
from app.sessions import SessionOpener
from replay.errors import SessionError, TrustError
from replay.players.base import Player
from replay.players.observer import Observer
from replay.session.digest import combined, digests_of
from replay.session.format import Cause, SessionReader
from replay.session.playback import BOUND, Playback
from replay.trust import capture_digest

if TYPE_CHECKING:
    from app.state import App

LOCKED = "a session is replayed: Esc takes over"


class Watching(Observer):
    """A session under way in the window.

    Args:
        path: the session.
        opener: opens its captures.

    Attributes:
        path: the session.
        total: frames in it.
        playback: how far it is.
        verdict: how it came out, empty before its end.
        digest: of all named arrays after the last frame, as `replay` prints it; empty before its end.
        equal: whether nothing differed so far.

    Raises:
        SessionError: it cannot be opened, or is no session.
    """

    def __init__(self, path: Path, opener: SessionOpener) -> None:
        self.path = path
        self.total = count_frames(path)
        self.verdict = ""
        self.digest = ""
        self._reader = SessionReader(path)
        self.playback = Playback(self._reader, opener, keep=True)
        self._run = self.playback.run()
        self._player: Player | None = None
        self._camera: object = None
        self._look: object = None
        self._pointer: int | None = None
        self._here: tuple[float, float] | None = None
        self._changed = False
        self._seen = (-1, -1)

    @property
    def frames(self) -> int:
        """Frames replayed."""
        return self.playback.frames

    @property
    def equal(self) -> bool:
        """Whether nothing differed so far."""
        return self.playback.difference is None

    def begin(self) -> Scene:
        """Replay the first frame and return its scene, which owns the player.

        Raises:
            SessionError: there is no frame in it.
            RipplescopeError: its capture cannot be opened, trusted or loaded.
        """
        if next(self._run, None) is None or self.playback.player is None:
            ending = self.playback.ending
            raise SessionError(
                f"{self.path}: the session {ending.text if ending else 'is empty'}; it has no frame"
            )
        return Scene.of_player(self.playback.player)

    def advance(self, app: App, count: int) -> int:
        """Replay some frames in place of launches; return how many there were."""
        if count and self.verdict:
            app.take_over()
            return 0
        done = 0
        for _ in range(count):
            if next(self._run, None) is None:
                self._end(app)
                break
            done += 1
            if app.scene is not None and self.playback.player is not app.scene.player:
                self._change_scene(app)
        if done:
            self.show(app)
        return done

    def hold(self, app: App) -> None:
        """Take back what widgets and tools changed; once a frame."""
        scene = app.scene
        if scene is None or scene.player is None:
            return
        furnishing = scene.furnishing
        now = scene.editor.revision, furnishing.revision if furnishing is not None else 0
        if not self._changed and now == self._seen:
            return
        if not self._changed:
            app.notice = LOCKED
        self._changed = False
        scene.editor.read(scene.player)
        scene.editor.forget()
        if furnishing is not None:
            furnishing.read(scene.player)
        self._seen = scene.editor.revision, furnishing.revision if furnishing is not None else 0

    def show(self, app: App) -> None:
        """Look from where it was recorded, as it was shown there, and at what was pushed."""
        assert app.scene is not None
        if app.scene.player is not self._player:
            self._follow(app.scene)
        if self.playback.camera is not self._camera and self.playback.camera is not None:
            self._camera = camera = self.playback.camera
            app.camera.target = np.array(camera[:3])
            app.camera.distance, app.camera.yaw, app.camera.pitch, app.camera.fov = camera[3:]
            app.framed = None
        if self.playback.look is not self._look and self.playback.look is not None and app.water is not None:
            self._look = self.playback.look
            give_look(app.water.options, self._look)
        if self._here is not None:
            app.push.cell = self._here if min(self._here) >= 0.0 else None

    def wrote(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """Note what the session writes."""
        for region, value in values:
            if region == self._pointer:
                x, y = value.reshape(-1).view(np.float32)[:2].tolist()
                self._here = (x, y)
            else:
                self._changed = True

    def restored(self) -> None:
        """The session went back in time."""
        self._changed = True

    def close(self) -> None:
        """Read no more; the player is the scene's."""
        self._leave()
        self._reader.close()

    def _follow(self, scene: Scene) -> None:
        self._leave()
        self._player = player = scene.player
        assert player is not None
        player.observers.append(self)
        name = scene.pointer
        self._pointer = player.parameters[name].region if name is not None else None
        self._here, self._changed = None, True

    def _leave(self) -> None:
        if self._player is not None and self in self._player.observers:
            self._player.observers.remove(self)
        self._player = None

    def _change_scene(self, app: App) -> None:
        """The session goes on with another capture."""
        assert self.playback.player is not None and app.scene is not None
        clock = app.scene.clock
        scene = Scene.of_player(self.playback.player)
        scene.clock.speed, scene.clock.paused = clock.speed, clock.paused
        app.show(scene)

    def _end(self, app: App) -> None:
        playback, ending = self.playback, self.playback.ending
        level = Level.INFO
        if playback.player is not None:
            self.digest = combined(digests_of(playback.player))
        if playback.difference is not None:
            self.verdict, level = str(playback.difference), Level.WARNING
        elif playback.exact:
            self.verdict = "equal bit for bit"
        else:
            self.verdict = f"equal within {BOUND:g} of the largest value"
        if ending is not None and ending.cause is not Cause.CLOSED:
            self.verdict += f"; the session {ending.text}"
            level = Level.WARNING
        if app.scene is not None:
            app.scene.clock.paused = True
        app.tell(f"{self.path.name}: replayed {playback.frames} frames, {self.verdict}", level)


def watch(app: App, path: Path, vouched: str = "") -> None:
    """Replay a session in the window from its beginning, in place of what is open.

    A capture that nobody has vouched for is only looked at until the user has answered.

    Args:
        app: the app.
        path: the session.
        vouched: digest of a capture that the user just said yes to.

    Raises:
        RipplescopeError: it cannot be replayed here.
    """
    opener = SessionOpener(app.device, None, app.trust, (lambda _: False) if app.asks else None)
    opener.vouched = {vouched} if vouched else set()
    watching = Watching(path, opener)
    try:
        scene = watching.begin()
    except TrustError:
        watching.close()
        if not app.asks or opener.capture is None:
            raise
        _ask(app, path, opener)
        return
    except BaseException:
        watching.close()
        raise
    app.take_over()
    try:
        app.show(scene)
    except BaseException:
        watching.close()
        scene.close()
        raise
    app.watching = watching
    app.session.last = path
    watching.show(app)
    watching.hold(app)
    app.settings.remember(path)
    app.save_settings()
    app.tell(f"replaying {path.name}, {watching.total} frames")


def _ask(app: App, path: Path, opener: SessionOpener) -> None:
    capture = opener.capture
    assert capture is not None
    app.take_over()
    app.show(Scene.of_capture(capture, "it is not trusted yet"))
    app.question = TrustQuestion.of(capture, keep_view=False)
    digest = capture_digest(capture)
    app.question.then = lambda: watch(app, path, digest)
