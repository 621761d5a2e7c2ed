"""How an export is to be: frames, size, quality. What is exported, and when, is the session panel's."""

from __future__ import annotations

from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa

from app.export.job import ExportChoice
from app.export.run import count_frames
from app.gl_platform import imgui
from app.gui import Gui
from app.panels.widgets import Kept, caption, elided, icon_button
from app.simclock import SimulationClock
from app.state import App
from app.view.options import Quality
from replay.errors import SessionError
from replay.text import counted

_SIZES = ((640, 360), (1280, 720), (1920, 1080), (3840, 2160))
_QUALITIES = (Quality.HIGH, Quality.MEDIUM, Quality.LOW, Quality.DRAFT)
_RATES = (None, 24, 25, 30, 50, 60)
_MODES = (None, "water", "data")


class ExportForm:
    """A button that opens the options, and what they are in short."""

    def __init__(self) -> None:
        self._size, self._quality, self._rate, self._mode = 1, 0, 0, 0
        self._path: Path | None = None
        self._first, self._stop, self._total = 0, 0, 0
        self._all = True
        self._text = Kept()

    def choice(self) -> ExportChoice:
        """Return what is chosen."""
        return ExportChoice(
            _SIZES[self._size],
            (0, None) if self._all else (self._first, self._stop),
            _QUALITIES[self._quality],
            _RATES[self._rate],
            _MODES[self._mode],
        )

    def follow(self, path: Path | None) -> None:
        """Take all frames of a session that is another one."""
        if path != self._path:
            self._path, self._all = path, True

    def draw(self, app: App, gui: Gui) -> None:
        """Build the button, the options while they are open, and the short text beside it."""
        self.follow(app.session.last)
        if icon_button(gui, f"{fa.ICON_FA_SLIDERS}##options", "Frames, size and quality", quiet=False):
            self._open(app)
            imgui.open_popup("export options")
        if imgui.begin_popup("export options"):
            self._options(app, gui)
            imgui.end_popup()
        imgui.same_line()
        imgui.align_text_to_frame_padding()
        choice = self.choice()
        text = str(self._text.get(choice, lambda: choice_text(choice)))
        caption(gui, elided(text, imgui.get_content_region_avail().x))

    def _open(self, app: App) -> None:
        """Count the frames that there are now."""
        self._total = frames_of(app)
        if self._all or self._stop > self._total:
            self._first, self._stop, self._all = 0, self._total, True

    def _options(self, app: App, gui: Gui) -> None:
        _label(gui, "Frames")
        total = self._total
        changed, first, stop = imgui.drag_int_range2(
            "##frames", self._first, self._stop, max(total / 400, 0.2), 0, total, "from %d", "up to %d",
            imgui.SliderFlags_.always_clamp,
        )  # fmt: skip
        if changed and total:
            self._first = min(first, total - 1)
            self._stop = max(stop, self._first + 1)
            self._all = (self._first, self._stop) == (0, total)
        _label(gui, "")
        clock = app.scene.clock if app.scene is not None else None
        caption(gui, range_text(self._stop - self._first, total, clock))
        _label(gui, "Size")
        _, self._size = imgui.combo("##size", self._size, [f"{w} × {h}" for w, h in _SIZES])
        _label(gui, "Quality")
        _, self._quality = imgui.combo("##quality", self._quality, [q.value for q in _QUALITIES])
        _label(gui, "Pictures")
        rates = ["one a frame" if rate is None else f"{rate} a second" for rate in _RATES]
        _, self._rate = imgui.combo("##rate", self._rate, rates)
        _label(gui, "Shown")
        _, self._mode = imgui.combo("##mode", self._mode, [mode or "as recorded" for mode in _MODES])


def _label(gui: Gui, text: str) -> None:
    """A muted text before a widget of a fixed width: one that takes the rest would let the popup grow."""
    imgui.align_text_to_frame_padding()
    caption(gui, text)
    imgui.same_line(90 * gui.scale)
    imgui.set_next_item_width(220 * gui.scale)


def frames_of(app: App) -> int:
    """Return how many frames of the newest session there are to export."""
    session, last = app.session, app.session.last
    if session.recorder is not None and session.recorder.path == last:
        return session.recorder.frames
    if app.watching is not None and app.watching.path == last:
        return app.watching.total
    try:
        return count_frames(last) if last is not None else 0
    except SessionError:
        return 0  # the export says why


def choice_text(choice: ExportChoice) -> str:
    """Return what is chosen, short."""
    first, stop = choice.frames
    frames = "all frames" if stop is None else f"frames {first} to {stop - 1}"
    more = [choice.quality.value] if choice.quality is not Quality.HIGH else []
    more += [f"{choice.rate} fps"] if choice.rate is not None else []
    more += [choice.mode] if choice.mode is not None else []
    return ", ".join([frames, f"{choice.size[0]} × {choice.size[1]}", *more])


def range_text(frames: int, total: int, clock: SimulationClock | None) -> str:
    """Return how much of a session a range is; with a clock in seconds, too."""
    seconds = f", {frames * clock.step:.1f} s" if clock is not None and clock.timed else ""
    return f"{counted(frames, 'frame')} of {total}{seconds}"
