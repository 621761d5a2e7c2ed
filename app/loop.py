"""The running app: opens the window, runs one frame after the other, closes everything in order.

`run_app` is the entry of the command line, in a window or headless; `run_frame` is one frame, top to bottom.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.applog import Level, LogHandler
from app.arrays.candidates import check_something_to_show
from app.centre import draw_array, finish_picture
from app.controls import handle_canvas, handle_events, mark_pointer, water_viewport
from app.gl_platform import GL
from app.headless import plan_pushes, set_parameters, tell_replayed, tell_saved
from app.opening import check_openable
from app.outputs import screenshot_path
from app.settings import Settings, config_folder, load_settings
from app.simclock import Stage
from app.state import App
from app.view.options import Quality
from app.window import Event
from replay.errors import RipplescopeError, UsageError
from replay.text import printable

if TYPE_CHECKING:
    from app.basin.scenes import BasinScene
    from app.gui import Gui
    from app.panels.desk import Desk

Clock = Callable[[], float]
MINIMIZED_PAUSE = 0.03
DISK_INTERVAL = 1.0
LIGHT_INTERVAL = 1 / 240  # s, in a free run, which draws more pictures than a display shows


@dataclass(frozen=True)
class HeadlessPlan:
    """What to do without a display. For `ripplescope --headless` and for tests.

    Attributes:
        frames: launches to replay, one a picture.
        clicks: (column, row, frame): pushes of one launch, in cell coordinates.
        screenshot: where the picture after the last frame goes, None for nowhere.
        ui: whether the panels are in the picture.
    """

    frames: int = 60
    clicks: tuple[tuple[float, float, int], ...] = ()
    screenshot: Path | None = None
    ui: bool = False


def run_app(
    path: Path | None,
    *,
    device: str = "auto",
    size: tuple[int, int] | None = None,
    vsync: bool = True,
    params: Mapping[str, tuple[float, ...]] | None = None,
    headless: HeadlessPlan | None = None,
    prefer: str | None = None,
    trust: bool = False,
    free_run: bool = False,
    record: Path | None = None,
    basin: BasinScene | None = None,
    clock: Clock = time.perf_counter,
) -> int:
    """Open a capture in a window and run until the user ends it, or carry out a headless plan.

    Args:
        path: the `.wrp` file; None opens the wave demo, recorded if need be.
        device: `auto`, `cpu`, `cuda` or `cuda:N`.
        size: of the window; None takes the remembered one.
        vsync: wait for the display.
        params: values by name.
        headless: what to do without a display.
        prefer: the way for heights from CUDA: `auto`, `interop`, `shared` or `copy`.
        trust: replay a capture that nobody has vouched for without a question.
        free_run: one launch a frame, as fast as frames can be drawn; does not wait for the display.
        record: a new file that all that is done is recorded into; None for nothing.
        basin: a scene to record and furnish, in place of a capture.
        clock: wall time in seconds.

    Returns:
        The exit code.

    Raises:
        DisplayError: no window or no OpenGL.
        SessionError: the session cannot be recorded.
        RipplescopeError: headless: the capture cannot be opened or a value cannot be set.
    """
    from app.gui import Gui
    from app.panels.desk import Desk
    from app.window import open_window

    if path is not None:
        check_openable(path)  # a wrong name is told before a window opens
    config = config_folder() if headless is None else None
    settings, complaint = load_settings(config) if config is not None else (Settings(), "")
    size = size or (settings.window_width, settings.window_height)
    with ExitStack() as stack:
        window = stack.enter_context(
            open_window(size, "Ripplescope", headless=headless is not None, vsync=vsync)
        )
        app = App(window, settings, device=device, config=config)
        app.prefer, app.trust, app.vsync = prefer, trust, vsync
        app.asks, app.unattended = headless is None, headless is not None
        if free_run:
            app.set_free_run(True)
        stack.callback(app.close)
        if record is not None:
            app.session.start(record)
        handler = LogHandler(app.log)
        logging.getLogger().addHandler(handler)
        stack.callback(logging.getLogger().removeHandler, handler)
        if complaint:
            app.tell(complaint, Level.WARNING)
        app.log.add(f"OpenGL {window.gl_version} on {window.gl_renderer}")
        gui = desk = None
        if headless is None or headless.ui:
            layout = config / "layout.ini" if config is not None else None
            gui = Gui(window, theme_name=settings.theme, user_scale=settings.ui_scale, layout_file=layout)
            stack.callback(gui.close)
            desk = Desk(app, gui)
        if headless is not None:
            open_first(app, path, params or {}, basin)
            code = _run_plan(app, gui, desk, headless, clock)
            app.session.stop()
            return code
        app.attempt(lambda: open_first(app, path, params or {}, basin))
        if settings.welcome and path is basin is record is None:
            app.welcome.begin(app.scene)
        looked = clock()
        while not (app.quitting or window.should_close):
            run_frame(app, gui, desk, clock)
            app.attempt(app.poll_recapture)
            if clock() - looked > DISK_INTERVAL:
                looked = clock()
                look_around(app)
        settings.window_width, settings.window_height = (max(side, 64) for side in window.size)
        app.save_settings()
    return 0


def run_frame(
    app: App, gui: Gui | None, desk: Desk | None, clock: Clock, *, launches: int | None = None
) -> None:
    """One frame: poll, input, upload, launch, transfer, draw, panels, swap.

    What fails in a stage is shown by the stages after it.

    Args:
        app: the app.
        gui, desk: the panels, None without any.
        clock: wall time in seconds.
        launches: how many, with the panels built anew; None for what simulated time asks for, with the
            panels built when it is time.
    """
    times = app.times
    times.begin(clock())
    events = app.window.poll()
    times.lap(Stage.POLL, clock())
    app.attempt(lambda: handle_input(app, gui, events))
    times.lap(Stage.INPUT, clock())
    app.attempt(lambda: upload(app))
    times.lap(Stage.UPLOAD, clock())
    done = app.attempt(lambda: launch(app, clock() if launches is None else None, launches or 0)) or 0
    cost = launching = times.lap(Stage.LAUNCH, clock())
    app.attempt(lambda: transfer(app))
    cost += times.lap(Stage.TRANSFER, clock())
    settle(app, done, cost)
    app.attempt(lambda: draw_water(app, gui))
    times.lap(Stage.DRAW, clock())
    app.attempt(lambda: draw_panels(app, gui, desk, clock(), every_frame=launches is not None))
    times.lap(Stage.PANELS, clock())
    if not app.window.minimized:
        app.window.swap()
    times.lap(Stage.SWAP, clock())
    if launches is None:
        fit_quality(app, clock(), moving=done > 0, elsewhere=launching)
    app.frame += 1


def handle_input(app: App, gui: Gui | None, events: list[Event]) -> None:
    """Do what was asked for by events, by gestures on the water, and for later."""
    if gui is not None:
        gui.feed(events)
    handle_events(app, events, typing=gui is not None and gui.takes_keys)
    handle_canvas(app)
    app.welcome.step(app, events)
    app.do_later()
    app.attempt(app.poll_question)
    app.poll_lab()
    app.session.tick(app)


def upload(app: App) -> None:
    """Give the player the values that the user changed."""
    if app.scene is not None and app.scene.player is not None and not _is_busy(app):
        app.scene.upload()
        if app.lab is not None:
            app.lab.frame.refresh()


def launch(app: App, now: float | None, count: int) -> int:
    """Launch what is due at wall time `now`, or `count` times without a time; return how often."""
    scene, lab = app.scene, app.lab
    if scene is None or scene.player is None or lab is None:
        return 0
    if lab.resting:
        if now is not None and lab.frame.advance(now):
            lab.selection.select_event(lab.frame.event)
        return 0
    if now is not None:
        count = scene.clock.due(now)
    else:
        scene.clock.simulated += count * scene.clock.step
    try:
        if app.watching is not None:
            return app.watching.advance(app, count)
        for segment in app.push.segments(count):
            scene.push(segment)
            scene.player.launch()
        if count and not app.unattended and not scene.not_finite and scene.check_finite(app.frame):
            scene.clock.paused = True
            lab.find_not_finite()
    except Exception:
        scene.clock.paused = True  # or it would fail with every frame
        raise
    return count


def transfer(app: App) -> None:
    """Bring the heights to OpenGL: those of the state after an event while a frame is looked into."""
    if app.transfer is None or _is_busy(app) or app.shows_array:
        return
    if app.lab is not None and app.lab.frame.looking:
        show_inside(app)
    else:
        app.transfer.update()


def show_inside(app: App) -> None:
    """Upload the height field after the chosen event, if it is another one than before."""
    assert app.lab is not None and app.scene is not None and app.scene.grid is not None
    frame = app.lab.frame
    if app.inside is None:
        from app.view.transfer import ArrayTransfer

        app.inside = ArrayTransfer(app.scene.grid)
        app.inside_revision = -1
    if app.inside_revision != frame.revision:
        app.inside_revision = frame.revision
        heights = frame.heights()
        if heights is not None:
            app.inside.upload(heights)


def _is_busy(app: App) -> bool:
    """Whether work in the background has the device, so that the live player must not be touched."""
    return app.lab is not None and app.lab.job is not None


def settle(app: App, launches: int, seconds: float) -> None:
    """Tell simulated time what the launches cost."""
    if app.scene is not None:
        app.scene.clock.spent(launches, seconds)


def draw_water(app: App, gui: Gui | None) -> None:
    """Draw the water into its place in the window."""
    if app.window.minimized:
        return
    if gui is not None and app.water is not None and not app.shows_array:
        gui.begin_picture(water_viewport(app))
    else:
        app.window.bind()
        GL.glClearColor(*(gui.palette.background if gui is not None else (0.0, 0.0, 0.0, 1.0)))
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
    if draw_array(app, gui) or app.water is None or app.transfer is None or app.scene is None:
        return
    marker = mark_pointer(app)
    app.water.light_interval = LIGHT_INTERVAL if app.free_run and not app.window.headless else 0.0
    app.water.furnish(app.scene.furnishing)
    if gui is not None:
        app.water.options.deck = gui.palette.deck
    looking = app.lab is not None and app.lab.frame.looking and app.inside is not None
    texture = app.inside.texture if looking else app.transfer.texture
    into = app.window.framebuffer, app.window.framebuffer_size
    app.water.draw(texture, app.camera, water_viewport(app), marker, into)
    if not looking:
        stop_if_not_finite(app)


def fit_quality(app: App, now: float, *, moving: bool, elsewhere: float) -> None:
    """Let `auto` quality follow how long frames take; a change is told in the log."""
    water = app.water
    if water is None or app.shows_array:
        return
    if Quality(water.options.quality) is not Quality.AUTO or app.window.minimized:
        water.auto.rest()
        return
    _, _, width, height = water_viewport(app)
    if water.auto.note(now, int(width * height), moving=moving, elsewhere=elsewhere):
        app.log.add(f"The water is drawn in {water.auto.quality.value} quality: {water.auto.reason}")


def stop_if_not_finite(app: App) -> None:
    """Pause when the view saw heights that are not finite, unless the water was reset since."""
    assert app.water is not None and app.scene is not None and app.lab is not None
    scene = app.scene
    if app.resets_seen != scene.resets:
        app.resets_seen = scene.resets
        app.water.forget_not_finite()
    if app.water.not_finite and not scene.not_finite and not app.unattended:
        scene.not_finite = scene.clock.paused = True
        app.lab.find_not_finite()


def draw_panels(app: App, gui: Gui | None, desk: Desk | None, now: float, *, every_frame: bool) -> None:
    """Build the panels if it is time, draw them, and take the screenshot that was asked for."""
    if app.window.minimized:
        time.sleep(MINIMIZED_PAUSE)
        return
    if gui is not None and desk is not None:
        gui.build(now, desk.draw, force=every_frame)
        gui.draw()
    if app.screenshot_asked:
        app.screenshot_asked = False
        app.attempt(lambda: save_screenshot(app, screenshot_path()))


def save_screenshot(app: App, path: Path) -> None:
    """Write what the window shows into a PNG file.

    Raises:
        RipplescopeError: it cannot be written.
    """
    from app.view.screenshot import read_pixels, save_png

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"the folder {path.parent} cannot be made: {error.strerror or error}",
            remedy="make it, or free its name",
        ) from None
    save_png(path, read_pixels(app.window.framebuffer, app.window.framebuffer_size))
    app.tell(f"saved {path}")


def open_first(
    app: App, path: Path | None, params: Mapping[str, tuple[float, ...]], basin: BasinScene | None = None
) -> None:
    """Open the capture that the command line names, or the wave demo, and set its values.

    Raises:
        RipplescopeError: it cannot be opened, or a value does not fit.
    """
    if basin is not None:
        from app.basin.apply import record_scene

        path = record_scene(basin, app.device)
    elif path is None:
        from app.cache import demo_capture
        from capture.frame import FrameSettings

        path = demo_capture(FrameSettings(), app.device)
    app.open(path)
    if basin is not None and app.scene is not None:
        from app.basin.gallery import begin_first

        begin_first(app, basin)
    if app.scene is not None and app.scene.player is not None:
        set_parameters(app.scene, params)
        app.scene.editor.apply({name: params[name] for name in app.scene.editor.names if name in params})
        app.scene.editor.forget()  # undo ends at what was asked for


def look_around(app: App) -> None:
    """What is looked at once a second: the file on disk, the window's title, the capture in the making."""
    scene = app.scene
    if scene is None:
        return
    scene.look_at_disk()
    grid = f"{scene.grid.width}×{scene.grid.height} · " if scene.grid is not None else ""
    app.window.set_title(
        f"{printable(scene.name)} · {grid}{scene.device_text} · {app.times.rate:.0f} fps · Ripplescope"
    )
    shader_error = app.water.shader_error if app.water is not None else None
    if shader_error is not None and str(shader_error) != app.shader_complaint:
        app.fail(shader_error)
    app.shader_complaint = str(shader_error or "")


def _run_plan(app: App, gui: Gui | None, desk: Desk | None, plan: HeadlessPlan, clock: Clock) -> int:
    assert app.scene is not None
    if plan.screenshot is not None:
        check_something_to_show(app.scene)
    pushes = plan_pushes(app.scene, plan.clicks, plan.frames)
    for frame in range(plan.frames):
        if frame in pushes:
            app.push.press(pushes[frame])
        run_frame(app, gui, desk, clock, launches=1)
        app.push.release()
    if app.message:
        raise RipplescopeError(app.message)
    tell_replayed(app.scene, plan.frames)
    if plan.screenshot is not None:
        finish_picture(app, gui)
        save_screenshot(app, plan.screenshot)
        tell_saved(plan.screenshot, app.window.framebuffer_size)
    return 0
