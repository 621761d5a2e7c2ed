"""What each action does to the app. Keys, menus and buttons all come here."""

from __future__ import annotations

import copy
from collections.abc import Callable

from app.basin.tools import Tool
from app.bindings import TOOL_ACTIONS, Action
from app.clocktext import speed_text
from app.state import App


def perform(app: App, action: Action) -> None:
    """Do what an action asks for; an error is shown, not raised."""
    app.attempt(lambda: HANDLERS[action](app))


def _pause(app: App) -> None:
    if app.lab is not None and app.lab.frame.looking:
        _leave(app)
    elif app.scene is not None:
        app.scene.clock.paused = not app.scene.clock.paused


def _step(app: App) -> None:
    if app.lab is not None:
        app.lab.frame.leave()
    if app.scene is not None:
        app.scene.clock.step_once()


def _slower(app: App) -> None:
    if app.scene is not None:
        app.scene.clock.slower()
        _follow_the_clock(app)
        app.notice = f"speed {speed_text(app.scene.clock)}"


def _faster(app: App) -> None:
    if app.scene is not None:
        app.scene.clock.faster()
        _follow_the_clock(app)
        app.notice = f"speed {speed_text(app.scene.clock)}"


def _follow_the_clock(app: App) -> None:
    """Who asks for a speed no longer wants a free run."""
    if app.free_run:
        app.set_free_run(False)


def _reset_water(app: App) -> None:
    if app.watching is not None:
        app.open(app.watching.path)  # from its beginning
    elif app.scene is not None:
        if app.lab is not None:
            if app.lab.job is not None:
                app.notice = f"{app.lab.job.title}: the reset waits for its end"
                return
            app.lab.forget_found()
        app.scene.reset_water()
        app.notice = "the water is as the file holds it"


def _look_inside(app: App) -> None:
    lab = app.lab
    if lab is None or not lab.frame.possible or lab.job is not None:
        return
    if lab.frame.looking:
        _leave(app)
        return
    event = lab.selection.event
    show_after(app, len(lab.capture.operations) - 1 if event is None else event)


def show_after(app: App, event: int | None) -> None:
    """Show the state after an event, and select it; None shows the start of the frame."""
    lab = app.lab
    if lab is None or not lab.frame.possible or lab.job is not None:
        return
    if not lab.frame.looking and app.scene is not None:
        # What the pointer did since the last launch is what the next frame will push.
        app.scene.push(copy.deepcopy(app.push).segments(1)[0])
    lab.frame.look(event)
    if event != lab.selection.event:
        lab.selection.select_event(event)


def select(app: App, event: int) -> None:
    """Select an event; while a frame is looked into, show the state after it."""
    if app.lab is None:
        return
    app.lab.selection.select_event(event)
    if app.lab.frame.looking:
        app.attempt(lambda: show_after(app, event))


def _leave(app: App) -> None:
    if app.lab is not None:
        app.lab.frame.leave()
        app.notice = "back to live"


def _next_event(app: App, by: int) -> None:
    lab = app.lab
    if lab is None or lab.job is not None or not len(lab.capture.operations):
        return
    if lab.frame.looking:
        lab.frame.playing = False
        lab.frame.step(by)
        if lab.frame.event != lab.selection.event:
            lab.selection.select_event(lab.frame.event)
        return
    last = len(lab.capture.operations) - 1
    event = lab.selection.event
    lab.selection.select_event(min(max(event + by, 0), last) if event is not None else 0 if by > 0 else last)


def _next_mode(app: App) -> None:
    if app.water is not None:
        from app.panels.water import next_mode

        if app.lab is not None and app.shows_array:
            app.lab.shown.active = False
        else:
            next_mode(app.water)


def _next_preset(app: App) -> None:
    if not app.presets:
        return
    names = [preset.name for preset in app.presets]
    index = (names.index(app.preset) + 1) % len(names) if app.preset in names else 0
    app.apply_preset(app.presets[index])


def _undo(app: App) -> None:
    _end_stroke(app)
    if app.scene is not None and not app.scene.editor.undo():
        app.notice = "nothing to undo"


def _redo(app: App) -> None:
    _end_stroke(app)
    if app.scene is not None and not app.scene.editor.redo():
        app.notice = "nothing to redo"


def _end_stroke(app: App) -> None:
    if app.scene is not None and app.scene.furnishing is not None:
        app.scene.furnishing.settle()


def _toggle_panels(app: App) -> None:
    app.panels_shown = not app.panels_shown


def _quit(app: App) -> None:
    if app.popup_open or app.message:
        app.message = ""
        app.close_popups_asked = True
    elif app.widget_held:
        app.let_go_asked = True
    elif app.watching is not None:
        app.take_over()
        app.notice = "you have taken over: the session is no longer replayed"
    elif app.tools.tool is not Tool.PUSH or app.tools.ruler is not None:
        app.tools.put_down()
    elif app.session.job is not None and app.quit_warned is not app.session.job:
        app.quit_warned = app.session.job
        app.notice = "an export is being made: Esc again ends it and the program"
    else:
        app.quitting = True


def _find(app: App) -> None:
    app.panels_shown = app.find_asked = True
    app.closed_panels.discard("Graph")


def _set(flag: str) -> Callable[[App], None]:
    return lambda app: setattr(app, flag, True)


def _hold(tool: Tool) -> Callable[[App], None]:
    def hold(app: App) -> None:
        if app.scene is not None and app.scene.player is not None and app.scene.grid is not None:
            app.tools.hold(tool)

    return hold


HANDLERS: dict[Action, Callable[[App], None]] = {
    Action.PAUSE: _pause,
    Action.STEP: _step,
    Action.SLOWER: _slower,
    Action.FASTER: _faster,
    Action.RESET_WATER: _reset_water,
    Action.FRAME_VIEW: App.frame_view,
    Action.NEXT_MODE: _next_mode,
    Action.NEXT_PRESET: _next_preset,
    Action.UNDO: _undo,
    Action.REDO: _redo,
    Action.FIND: _find,
    Action.GO_TO_EVENT: _set("go_to_asked"),
    Action.LOOK_INSIDE: _look_inside,
    Action.PREVIOUS_EVENT: lambda app: _next_event(app, -1),
    Action.NEXT_EVENT: lambda app: _next_event(app, 1),
    Action.OPEN: _set("open_asked"),
    Action.RELOAD: lambda app: app.later(app.reload),
    Action.TOGGLE_PANELS: _toggle_panels,
    Action.FULL_SCREEN: lambda app: app.window.toggle_full_screen(),
    Action.SCREENSHOT: _set("screenshot_asked"),
    Action.HELP: _set("help_asked"),
    Action.QUIT: _quit,
    **{action: _hold(tool) for tool, action in zip(Tool, TOOL_ACTIONS, strict=True)},
}
