"""The running app: the open scene and how it is drawn, what is selected and shown, what went wrong.

One object that the loop, the actions and the panels share. It opens and closes scenes; it draws nothing
and knows no ImGui.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.applog import AppLog, Level
from app.basin.tools import ToolBox
from app.canvas import Canvas, Rect
from app.lab.lab import Closable, Lab
from app.opening import Answer, TrustQuestion, load, open_path, play_edited
from app.presets import Preset, load_presets
from app.recapture import FrameRequest, Recapture
from app.resources import resource
from app.scene import Scene
from app.session import LiveSession
from app.settings import OPTIONAL_PANELS, Settings, save_settings
from app.simclock import FrameTimes
from app.touch import PushPath
from app.view.camera import OrbitCamera
from app.welcome import Welcome
from app.window import Window
from replay.errors import RipplescopeError, TrustError

if TYPE_CHECKING:
    from app.view.transfer import ArrayTransfer, HeightTransfer
    from app.view.water import WaterView
    from app.watching import Watching
    from replay.graph.model import Capture

Result = TypeVar("Result")
_SAME_FAILURE = 1.0
"""Seconds within which the same error again is the same failure."""


class App:
    """Everything that the parts of the running app share.

    Args:
        window: open, with its context current.
        settings: changed in place and saved when something changes.
        device: the device that captures are opened for.
        config: the user's configuration folder; None neither reads nor writes one.

    Attributes:
        inside, inside_revision: the heights after an event, and which state that is.
        scene, water, transfer: what is replayed and how it reaches the screen; None while nothing is open.
        prefer: the way for heights from CUDA that is asked for, as for `open_transfer`.
        session: what is recorded of all this.
        lab: what is known of the scene's capture and done to it; None while nothing is open.
        trust: whether captures that nobody has vouched for may run, as with `--trust`.
        asks: whether the window can ask; else such a capture is refused.
        unattended: whether nobody watches: each picture counts, and nothing stops for a person to look.
        quit_warned: the export for which it was said that quitting ends it.
        question: a capture that waits for the answer.
        watching: a session that is replayed in the window.
        free_run: one launch a frame without a look at the clock; `set_free_run` changes it.
        tools: what the left button does on the water.
        closables: what panels made and what is closed with the app.
        message: the text of the error popup, empty for none.
        notice: a short text in the status bar, which shows it for some seconds.
        notices: how many there were.
        focused: the parameter whose widget is to be shown next, empty for none.
        closed_panels: titles of panels that are not shown.
        popup_open: whether a form, a menu or a list is open over the panels.
        widget_held: whether a button of the mouse or the keyboard is on a widget, such as a slider.
        framed: the water's place in the window for which the view frames the grid, None once it was moved.
        welcome: the drops that fall into the demo at first.
    """

    def __init__(self, window: Window, settings: Settings, *, device: str, config: Path | None) -> None:
        self.window = window
        self.settings = settings
        self.device = device
        self.config = config
        self.prefer: str | None = None
        self.log = AppLog()
        self.times = FrameTimes()
        self.camera = OrbitCamera()
        self.canvas = Canvas(rect=(0.0, 0.0, *map(float, window.size)))
        self.push = PushPath()
        self.tools = ToolBox()
        self.scene: Scene | None = None
        self.water: WaterView | None = None
        self.transfer: HeightTransfer | None = None
        self.inside: ArrayTransfer | None = None
        self.inside_revision = -1
        self.lab: Lab | None = None
        self.session = LiveSession()
        self.trust = self.asks = self.unattended = False
        self.question: TrustQuestion | None = None
        self.watching: Watching | None = None
        self.focused = ""
        self.find_asked = self.go_to_asked = False
        self.message = ""
        self._notice = self.shader_complaint = ""
        self.notices = 0
        self.panels_shown = True
        self.closed_panels = settings.closed_panels()
        self.help_asked = self.open_asked = self.close_popups_asked = self.let_go_asked = False
        self.layout_reset_asked = self.screenshot_asked = False
        self.popup_open = self.widget_held = False
        self.welcome = Welcome()
        self.framed: Rect | None = None
        self.quitting = False
        self.quit_warned: object = None
        self.vsync = True
        self.free_run = False
        self.frame = 0
        self._failed_at = 0.0
        self.resets_seen = 0
        self.recapture: Recapture | None = None
        self._furnish: Callable[[], None] | None = None
        self.presets: list[Preset] = []
        self.preset: str = ""
        self.closables: list[Closable] = []
        self._later: list[Callable[[], None]] = []
        self.reload_presets()

    @property
    def shows_array(self) -> bool:
        """Whether the centre shows an array and not the water."""
        return self.lab is not None and self.lab.shown.active

    @property
    def selected(self) -> int | None:
        """The selected event."""
        return self.lab.selection.event if self.lab is not None else None

    @selected.setter
    def selected(self, event: int | None) -> None:
        if self.lab is not None:
            self.lab.selection.select_event(event)

    @property
    def notice(self) -> str:
        """The newest short text for the status bar."""
        return self._notice

    @notice.setter
    def notice(self, text: str) -> None:
        self._notice = text
        self.notices += 1

    # Errors and messages

    def fail(self, error: Exception) -> None:
        """Log an error and show it; a programming error keeps its place in the log.

        What fails with every frame is shown once.
        """
        if isinstance(error, RipplescopeError):
            text = str(error)
        else:
            frame = traceback.extract_tb(error.__traceback__)[-1:]
            place = f" ({Path(frame[0].filename).name}:{frame[0].lineno})" if frame else ""
            text = f"Something went wrong inside Ripplescope: {type(error).__name__}: {error}{place}"
        last, self._failed_at = self._failed_at, time.monotonic()
        if self.log.add(text, Level.ERROR).count == 1 or self._failed_at > last + _SAME_FAILURE:
            self.message = text

    def tell(self, text: str, level: Level = Level.INFO) -> None:
        """Log a line and show it in the status bar."""
        self.log.add(text, level)
        self.notice = text

    def attempt(self, work: Callable[[], Result]) -> Result | None:
        """Do something and return its result; an error is shown, not raised, and gives None."""
        try:
            return work()
        except Exception as error:  # whatever a handler does, the window stays
            self.fail(error)
            return None

    # What must not happen while panels are being built

    def later(self, work: Callable[[], None]) -> None:
        """Do something at the start of the next frame."""
        self._later.append(work)

    def do_later(self) -> None:
        """Do what was asked for during the last frame."""
        work, self._later = self._later, []
        for item in work:
            self.attempt(item)

    # Files

    def open(self, path: Path, *, keep_view: bool = False) -> None:
        """Open a capture in place of the present one, which stays if that fails.

        A capture with blocking faults is only looked at, and so is one that nobody has vouched for until the
        user has answered.

        Args:
            path: the `.wrp` file.
            keep_view: keep the camera and the values that the user changed.

        Raises:
            RipplescopeError: it cannot be opened or drawn; or loaded, where no window shows the rest.
        """
        open_path(self, path, keep_view=keep_view)

    def answer(self, answer: Answer) -> None:
        """Take the user's answer to the question whether the capture may run."""
        if self.question is None:
            return
        try:
            self.question.say(answer, self.device)
        except RipplescopeError:
            self.question = None
            raise
        if answer is Answer.NO:
            self.question = None
            self.tell(f"{self.scene.name if self.scene else 'the capture'} is only looked at")

    def poll_question(self) -> None:
        """Load the capture that the user vouched for once its trial run went well."""
        if self.question is None:
            return
        try:
            if not self.question.poll():
                return
        except TrustError as error:
            self.question = None
            if self.scene is not None and self.scene.player is None:
                self.scene.blocked = error.what
            raise
        question, self.question = self.question, None
        if question.then is not None:
            question.then()
        else:
            load(self, question.capture, keep_view=question.keep_view)

    def take_over(self) -> None:
        """End the replay of a session, if there is one; what it came to goes on from there."""
        watching, self.watching = self.watching, None
        if watching is not None:
            watching.close()

    def ask_again(self) -> None:
        """Ask once more about a capture that is only looked at."""
        if self.scene is not None and self.scene.player is None and not self.scene.capture.blocking_faults:
            self.question = TrustQuestion.of(self.scene.capture, keep_view=True)

    def forget_question(self) -> None:
        """Drop a question that waits for its answer, and end its trial run."""
        if self.question is not None:
            self.question.cancel()
            self.question = None

    def play(self, capture: Capture) -> None:
        """Replay an edited copy of the open capture from the present state on.

        Raises:
            RipplescopeError: it cannot be loaded; then the one before goes on.
        """
        play_edited(self, capture)

    def show(self, scene: Scene, *, keep_view: bool = False) -> None:
        """Show a scene in place of the present one, and own it from then on, unless this raises."""
        water = transfer = None
        with ExitStack() as made:
            if scene.grid is not None and scene.heights is not None and scene.player is not None:
                from app.view.transfer import open_transfer
                from app.view.water import WaterView

                transfer = open_transfer(scene.player, scene.grid, scene.heights, self.prefer)
                made.callback(transfer.close)
                water = WaterView(scene.grid.width, scene.grid.height, scene.grid.dx)
                made.callback(water.close)
            old, old_water, old_lab = self.scene, self.water, self.lab
            if old is not None and keep_view:
                for message in scene.adopt(old):
                    self.log.add(message, Level.WARNING)
            scene.clock.free_run = self.free_run
            if water is not None and old_water is not None:
                water.options, water.auto = old_water.options, old_water.auto
            self._close_scene()
            lab = Lab(scene)
            if keep_view and old_lab is not None:
                lab.shown.adopt(old_lab.shown)
            made.pop_all()
        self.scene, self.water, self.transfer, self.lab = scene, water, transfer, lab
        self.session.follow(scene.player)
        self.push = PushPath()
        self.resets_seen = 0
        self.preset = ""
        if not keep_view:
            self.frame_view()
        for fault in scene.capture.faults:
            self.log.add(str(fault), Level.WARNING)

    def frame_view(self) -> None:
        """Look at the whole grid, and keep to it while the window changes until the user moves the camera."""
        if self.lab is not None:
            self.lab.shown.frame()
        self.framed = self.canvas.rect
        if self.scene is not None and self.scene.grid is not None:
            _, _, width, height = self.canvas.rect
            aspect = width / max(height, 1.0)
            self.camera.frame_grid(self.scene.grid, aspect, self.canvas.free, self.scene.seen_from)

    def set_free_run(self, wanted: bool) -> None:
        """Launch once a frame, as fast as frames can be drawn, or follow the wall clock again."""
        self.free_run = wanted
        self.window.set_vsync(self.vsync and not wanted)
        if self.scene is not None:
            self.scene.clock.free_run = wanted
        self.notice = "free run: one launch a frame" if wanted else "launches follow the clock"

    def reload(self) -> None:
        """Open the present file again, with the camera and the user's values as they are."""
        if self.scene is not None:
            self.open(self.scene.capture.path, keep_view=True)

    # A new capture

    def start_recapture(self, request: FrameRequest, then: Callable[[], None] | None = None) -> None:
        """Begin to capture another frame; `poll_recapture` shows it when it is there, and does `then`."""
        from app.cache import cache_folder

        if self.recapture is None:
            self.take_over()
            self.recapture, self._furnish = Recapture(request, cache_folder()), then
            self.tell(f"capturing {request}")

    def poll_recapture(self) -> None:
        """Show the new capture if it is complete."""
        if self.recapture is None:
            return
        try:
            path = self.recapture.poll()
        except RipplescopeError:
            self.recapture = None
            raise
        if path is not None:
            self.recapture = None
            self.open(path, keep_view=True)
            if self._furnish is not None:
                self._furnish()

    def cancel_recapture(self) -> None:
        """End the capture in the making, if there is one."""
        if self.recapture is not None:
            self.recapture.cancel()
            self.tell(f"no capture of {self.recapture.request}: it was ended")
            self.recapture = None

    # Presets and settings

    def reload_presets(self) -> None:
        """Read the presets again."""
        folders = [(resource("assets/presets"), True)]
        if self.config is not None:
            folders.append((self.config / "presets", False))
        self.presets, messages = load_presets(tuple(folders))
        for message in messages:
            self.log.add(message, Level.WARNING)

    def apply_preset(self, preset: Preset) -> None:
        """Give the parameters a preset's values."""
        if self.scene is None:
            return
        for message in self.scene.editor.apply(preset.values):
            self.log.add(message, Level.WARNING)
        self.preset = preset.name
        self.tell(f"preset {preset.label}")

    def reset_layout(self) -> None:
        """Show all panels at their places of the first start."""
        self.closed_panels = set(OPTIONAL_PANELS)
        self.layout_reset_asked = True
        self.save_settings()

    def save_settings(self) -> None:
        """Write the settings, if there is a place for them."""
        if self.config is None:
            return
        self.settings.remember_panels(self.closed_panels)
        config = self.config
        self.attempt(lambda: save_settings(self.settings, config))

    def close(self) -> None:
        """Release everything but the window, in the order in which it was made, backwards."""
        self.cancel_recapture()
        self.forget_question()
        self.take_over()
        self.attempt(self.session.close)
        while self.closables:
            self.attempt(self.closables.pop().close)
        self._close_scene()

    def poll_lab(self) -> None:
        """Take over what work in the background has found."""
        if self.lab is not None:
            self.lab.poll()

    def _close_scene(self) -> None:
        """Release lab, view, and scene, in this order; what fails keeps nothing else from being released."""
        with ExitStack() as stack:  # calls the last one first
            if self.scene is not None:
                stack.callback(self.scene.close)
            stack.callback(self.session.follow, None)
            for part in (self.transfer, self.water, self.inside, self.lab):
                if part is not None:
                    stack.callback(part.close)
            self.scene = self.water = self.transfer = self.inside = self.lab = None
