"""Replays a session and hands the frames that are asked for to a sink.

Pictures are taken at equal steps of simulated time: a film of the capture's own frame rate has one picture
a launch. `app.commands.export` is the command line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.export.pictures import Painter, TopViewPainter, WaterPainter
from app.export.sinks import HeightsSink, Mp4Sink, PngSink, Sink
from app.scene import Scene
from app.sessions import SessionOpener
from app.view.options import Quality
from replay.errors import DisplayError, UsageError
from replay.session.format import Ending, Kind, SessionReader
from replay.session.playback import Playback
from replay.session.records import FrameRecord, RecordError

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class ExportPlan:
    """What to export.

    Attributes:
        kind: `mp4`, `png` or `npz`.
        path: the file, or the folder of PNG pictures.
        size: width and height of pictures in pixels.
        rate: pictures a second of simulated time; None for one a launch.
        frames: the first frame, counted from 0, and the one after the last; None for the end.
        top_view: pictures from above, without OpenGL.
        quality: how much work goes into a picture.
        look: how the heights are shown, beyond or against what was recorded; see `app.look`.
    """

    kind: str
    path: Path
    size: tuple[int, int] = (1280, 720)
    rate: float | None = None
    frames: tuple[int, int | None] = (0, None)
    top_view: bool = False
    quality: Quality = Quality.HIGH
    look: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Exported:
    """What was written: how many frames, from which picture source, and how the session ended."""

    frames: int
    source: str
    ending: Ending | None


def count_frames(path: Path) -> int:
    """Return how many launches a session holds, as far as it can be read.

    Raises:
        SessionError: it cannot be opened, or is no session.
    """
    count = 0
    with SessionReader(path) as reader:
        for record in reader.records():
            try:
                count += record.kind is Kind.FRAME and FrameRecord.read(record).launch
            except RecordError:
                break
    return count


def export_session(
    path: Path, plan: ExportPlan, opener: SessionOpener, progress: Progress | None = None
) -> Exported:
    """Replay a session and write the frames of a plan. An exception leaves no file behind.

    Args:
        path: the session.
        plan: what to export.
        opener: finds and opens the captures.
        progress: called with the number of frames replayed and of all.

    Raises:
        UsageError: there is no such frame.
        SessionError, RipplescopeError: it cannot be replayed, drawn or written.
    """
    total = count_frames(path)
    first, stop = plan.frames[0], total if plan.frames[1] is None else min(plan.frames[1], total)
    if not 0 <= first < stop:
        asked = f"{first}:{'' if plan.frames[1] is None else plan.frames[1]}"
        raise UsageError(f"no frames {asked} (the session has {total}, counted from 0)")
    with ExitStack() as stack:
        reader = stack.enter_context(SessionReader(path))
        playback = stack.enter_context(Playback(reader, opener))
        stage = _Stage(plan, stack)
        sink: Sink | None = None
        for done in playback.run(stop):
            if done <= first:
                continue
            stage.follow(playback)
            if sink is None:
                sink = stack.enter_context(stage.open_sink(first, stop))
            for _ in range(stage.copies(done - 1 - first)):
                sink.add(stage.frame(playback))
            if progress is not None:
                progress(done - first, stop - first)
        if sink is None:
            assert playback.ending is not None
            raise UsageError(f"{path}: the session {playback.ending.text}; there is nothing to export")
        return Exported(sink.frames, stage.source, playback.ending)


class _Stage:
    """What frames are made with; follows the session from one capture to the next."""

    def __init__(self, plan: ExportPlan, stack: ExitStack) -> None:
        self._plan, self._stack = plan, stack
        self._window = None
        self._scene: Scene | None = None
        self._painter: Painter | None = None
        self.source = "heights"
        self._step, self._rate = 0.0, 0.0
        if plan.kind == "npz":
            return
        self.source = "top view"
        if not plan.top_view:
            from app.window import open_window

            try:
                self._window = stack.enter_context(open_window(plan.size, "export", headless=True))
                self.source = "OpenGL"
            except DisplayError as error:
                self.source = f"top view, for there is no OpenGL ({error})"
        stack.callback(self._close_painter)

    def follow(self, playback: Playback) -> None:
        """Look at the player of the playback from now on."""
        assert playback.player is not None
        if self._scene is not None and self._scene.player is playback.player:
            return
        self._close_painter()
        before, self._scene = self._scene, Scene.of_player(playback.player)
        scene = self._scene
        if scene.grid is None or scene.heights is None:
            raise UsageError(f"{scene.name} names no height field, so there is no water to export")
        if self._plan.kind == "npz":
            if before is not None and before.grid != scene.grid:
                raise UsageError(
                    f"the grid changes in frame {playback.frames - 1}, and an .npz holds one grid",
                    remedy="export the frames before and after it apart, with --frames",
                )
            return
        if self._window is not None:
            self._painter = WaterPainter(scene, self._window, self._plan.quality)
        else:
            self._painter = TopViewPainter(scene, self._plan.size)

    def open_sink(self, first: int, stop: int) -> Sink:
        """Return the place for the frames, once the first scene is known."""
        plan, scene = self._plan, self._scene
        assert scene is not None and scene.grid is not None
        self._step = scene.clock.step
        self._rate = plan.rate or 1.0 / self._step
        if plan.kind == "mp4":
            return Mp4Sink(plan.path, plan.size, self._rate)
        if plan.kind == "png":
            return PngSink(plan.path)
        numbers = [n for n in range(first, stop) for _ in range(self.copies(n - first))]
        shape = scene.grid.height, scene.grid.width
        return HeightsSink(plan.path, shape, numbers, self._step, scene.grid.dx)

    def copies(self, index: int) -> int:
        """Return how often a frame is shown: its share of simulated time in pictures, rounded evenly."""
        ratio = self._step * self._rate
        # A thousandth of a picture forgives the rounding of rates that are meant to be equal.
        return math.ceil((index + 1) * ratio - 1e-3) - math.ceil(index * ratio - 1e-3)

    def frame(self, playback: Playback) -> np.ndarray:
        """Return the present frame."""
        scene = self._scene
        assert scene is not None and scene.player is not None and scene.grid is not None
        if self._painter is not None:
            return self._painter.paint(playback.camera, {**(playback.look or {}), **self._plan.look})
        return scene.player.get(scene.heights).reshape(scene.grid.height, scene.grid.width)

    def _close_painter(self) -> None:
        if self._painter is not None:
            self._painter.close()
            self._painter = None
