"""Record what is done, go back through the last seconds, export what was recorded."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa

from app.clocktext import ago_text, span_text
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.exporting import ExportForm
from app.panels.widgets import Kept, byte_text, caption, elided, tooltip
from app.rewind import rewind
from app.session import LiveSession, session_path
from app.simclock import SimulationClock
from app.state import App
from app.watching import Watching
from replay.history import History
from replay.session.recorder import SessionRecorder
from replay.text import counted

_EXPORTS = (
    ("mp4", fa.ICON_FA_FILM, "MP4", "A film"),
    ("png-dir", fa.ICON_FA_IMAGES, "PNG", "A folder of pictures"),
    ("npz", fa.ICON_FA_TABLE, "Heights", "The heights as NumPy arrays, with dt and dx"),
)


class SessionPanel:
    """The panel."""

    name = "Session"
    icon = fa.ICON_FA_CLOCK_ROTATE_LEFT

    def __init__(self) -> None:
        self._form = ExportForm()
        self._recorded, self._kept_text = Kept(), Kept()

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        self._draw_record(app, gui)
        imgui.dummy((0.0, 3 * gui.scale))
        self._draw_rewind(app, gui)
        imgui.dummy((0.0, 3 * gui.scale))
        self._draw_export(app, gui)

    def _draw_record(self, app: App, gui: Gui) -> None:
        session = app.session
        recorder = session.recorder
        if recorder is None:
            enabled = app.scene is not None and app.scene.player is not None
            imgui.begin_disabled(not enabled)
            if imgui.button(f"{fa.ICON_FA_CIRCLE}  Record"):
                app.later(lambda: start(app))
            imgui.end_disabled()
            tooltip("Write all that is done from now on into a file that replays bit for bit")
            text = session.last.name if session.last is not None else "nothing recorded yet"
            if app.watching is not None:
                text = watched_text(app.watching)
        else:
            if imgui.button(f"{fa.ICON_FA_STOP}  Stop"):
                app.later(lambda: stop(app))
            tooltip(str(recorder.path))
            text = str(
                self._recorded.get(
                    (recorder.frames // 10, recorder.path),
                    lambda: _recorded(recorder),
                )
            )
        last = session.last
        if recorder is None and last is not None:
            imgui.same_line()
            if imgui.button(f"{fa.ICON_FA_PLAY}  {'Again' if app.watching is not None else 'Watch'}"):
                app.later(lambda: app.open(last))
            tooltip("Replay it here from its beginning, at any speed; Ctrl+O opens another session")
        imgui.same_line()
        imgui.align_text_to_frame_padding()
        caption(gui, elided(text, imgui.get_content_region_avail().x))
        tooltip(text)

    def _draw_rewind(self, app: App, gui: Gui) -> None:
        scene, lab = app.scene, app.lab
        history = lab.history if lab is not None else None
        if scene is not None and scene.player is None:
            caption(gui, f"No rewind: not replayed, {scene.blocked}")
            return
        if scene is None or lab is None or history is None:
            caption(gui, "No rewind: the state takes too much memory to keep the last seconds")
            return
        imgui.begin_disabled(lab.resting or history.end == history.begin)
        imgui.set_next_item_width(-1.0)
        clock, ago = scene.clock, history.end - history.position
        changed, wanted = imgui.slider_int(
            "##rewind", history.position, history.begin, max(history.end, history.begin + 1),
            ago_text(clock, ago), imgui.SliderFlags_.always_clamp,
        )  # fmt: skip
        if changed:
            app.later(lambda: rewind(app, wanted))
        imgui.end_disabled()
        tooltip("Drag to go back; when time goes on from there, what came later is dropped")
        caption(gui, str(self._kept_text.get(*_kept(history, clock))))

    def _draw_export(self, app: App, gui: Gui) -> None:
        session = app.session
        if session.job is not None:
            self._draw_job(session, gui, app)
            return
        last = session.last
        imgui.begin_disabled(last is None)
        for kind, icon, text, explained in _EXPORTS:
            if imgui.button(f"{icon}  {text}"):
                choice = self._form.choice()
                app.later(lambda kind=kind, choice=choice: session.export(kind, choice))
            tooltip(f"{explained} of {last.name}" if last is not None else f"{explained}; record one first")
            imgui.same_line()
        self._form.draw(app, gui)
        imgui.end_disabled()

    def _draw_job(self, session: LiveSession, gui: Gui, app: App) -> None:
        job = session.job
        assert job is not None
        width = imgui.get_content_region_avail().x - 90 * gui.scale
        imgui.progress_bar(job.share, (width, 0.0), f"{job.target.name}: {job.share:.0%}")
        imgui.same_line()
        if imgui.button("Cancel"):
            app.later(session.cancel_export)


def watched_text(watching: Watching) -> str:
    """Return which session is replayed, how far it is, and the digest at its end."""
    name = watching.path.name
    if watching.digest:
        return f"{name}: {counted(watching.frames, 'frame')}, digest {watching.digest}, {watching.verdict}"
    return f"replaying {name}: frame {watching.frames} of {watching.total}"


def start(app: App) -> None:
    """Begin to record into a new file in the user's documents.

    Raises:
        SessionError, OSError: it cannot be made.
    """
    path = session_path()
    app.session.start(path)
    app.tell(f"recording {path}")


def stop(app: App) -> None:
    """End the recording.

    Raises:
        SessionError: it could not be written to the end.
    """
    path = app.session.stop()
    if path is not None:
        app.tell(f"recorded {path}")


def _recorded(recorder: SessionRecorder) -> str:
    return f"{recorder.path.name}: {counted(recorder.frames, 'frame')}, {byte_text(recorder.nbytes)}"


def _kept(history: History, clock: SimulationClock):
    """Return a key and what makes the text of what is kept."""
    frames = history.end - history.begin
    key = frames // 10, history.nbytes >> 16, clock.timed
    most = history.max_nbytes
    return (
        key,
        lambda: f"{span_text(clock, frames)} kept, {byte_text(history.nbytes)} of at most {byte_text(most)}",
    )
