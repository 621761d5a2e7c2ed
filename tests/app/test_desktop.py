"""Real windows under Xvfb, used as a user would with xdotool: the native way of input, end to end."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from desktop import Desktop, desktop

from app.bindings import BINDINGS, TOOL_ACTIONS, Action, Binding
from app.window import Modifiers

pytestmark = [
    pytest.mark.skipif(sys.version_info < (3, 11), reason="the window needs Python 3.11 or later"),
    pytest.mark.skipif(shutil.which("xdotool") is None, reason="xdotool is not installed (Debian: xdotool)"),
]


class Starter:
    """One window for many tests; a new one after a test that ended it."""

    def __init__(self, display: str, path: Path, folder: Callable[[str], Path]) -> None:
        self._arguments, self._folder = (display, path), folder
        self.desktop: Desktop | None = None

    def ready(self) -> Desktop:
        """The window, with everything as after the start."""
        if self.desktop is None or not self.desktop.runs:
            self.close()
            self.desktop = Desktop(*self._arguments, self._folder("desktop"))
        else:
            self.desktop.reset()
        return self.desktop

    def close(self) -> None:
        if self.desktop is not None:
            self.desktop.close()
            self.desktop = None


@pytest.fixture(scope="module")
def starter(x_display, frame_path, tmp_path_factory) -> Iterator[Starter]:
    starter = Starter(x_display, frame_path, tmp_path_factory.mktemp)
    yield starter
    starter.close()


@pytest.fixture
def user(starter: Starter) -> Iterator[Desktop]:
    user = starter.ready()
    told = user.errors()
    yield user
    assert user.errors() == told
    assert list(user.work.iterdir()) == []


@pytest.mark.parametrize("cell", [(6.0, 5.0), (17.0, 10.0)])
def test_a_click_makes_a_ring_at_the_cell_under_the_pointer(user: Desktop, cell: tuple[float, float]):
    user.click(*user.ask("cell", cell=list(cell)))
    assert user.until(lambda now: now.ring).ring == pytest.approx(cell, abs=0.8)


def test_a_click_still_hits_after_orbit_zoom_and_pan(user: Desktop):
    x, y = user.over_water()
    before = user.state()

    user.drag((x, y), (x + 60, y + 20), button=3)
    turned = user.state()
    assert turned.camera["yaw"] != before.camera["yaw"] and turned.camera["pitch"] > before.camera["pitch"]
    assert turned.camera["target"] == before.camera["target"]

    user.do("click", 4)
    near = user.until(lambda now: now.camera["distance"] < 0.95 * turned.camera["distance"])
    user.do("click", 5)
    user.until(lambda now: now.camera["distance"] > 1.05 * near.camera["distance"])

    target = user.state().camera["target"]
    user.drag((x, y), (x + 30, y - 15), button=2)
    moved = user.state()
    assert moved.camera["target"] != target
    assert moved.camera["yaw"] == turned.camera["yaw"] and moved.waves == 0

    user.click(*user.ask("cell", cell=[9.0, 6.0]))
    assert user.until(lambda now: now.ring).ring == pytest.approx((9.0, 6.0), abs=0.8)


def test_the_pitch_stops_short_of_straight_down(user: Desktop):
    x, y = user.over_water()
    user.drag((x, y), (x, 590), button=3)
    user.drag((x, y), (x, 590), button=3)
    assert 1.4 < user.state().camera["pitch"] <= 1.5534  # 89 degrees


@pytest.mark.parametrize("size", [(100, 80), (1500, 950), (420, 560)])
def test_any_size_draws_and_what_the_pointer_hits_is_right_afterwards(user: Desktop, size: tuple[int, int]):
    user.do("windowsize", user.window, *size)
    shown = user.until(lambda now: tuple(now.size) == size and now.framebuffer == now.size)
    later = user.frames(5)
    assert later.frame >= shown.frame + 5 and not later.message
    user.press("h")
    user.until(lambda now: not now.panels and now.canvas == [0, 0, *size])
    user.frames()  # the camera frames the grid anew with the next one
    x, y = user.ask("cell", cell=[12.0, 8.0])
    assert 0 < x < size[0] and 0 < y < size[1]
    user.click(x, y)
    ring = user.until(lambda now: now.ring).ring
    assert ring == pytest.approx((12.0, 8.0), abs=0.8 if size[0] > 100 else 1.5)


def test_a_window_that_was_out_of_sight_goes_on(user: Desktop):
    user.do("windowunmap", "--sync", user.window)
    gone = user.state()
    user.until(lambda now: now.frame > gone.frame + 5)
    user.do("windowmap", "--sync", user.window)
    user.frames()
    user.click(*user.ask("cell", cell=[12.0, 8.0]))
    assert user.until(lambda now: now.ring).ring == pytest.approx((12.0, 8.0), abs=0.8)


def test_a_typed_value_acts_and_fires_no_shortcut(user: Desktop):
    user.click(*user.place("k_speed/##field"))
    user.until(lambda now: now.typing)
    user.do("type", "42.5")
    user.press("Return")
    typed = user.until(lambda now: now.values["k_speed"] == [42.5] and not now.typing)
    assert not typed.paused and typed.launches >= 0
    user.click(*user.place("k_speed/##field"))
    user.until(lambda now: now.typing)
    user.do("type", "hrm ;,.")
    user.press("Escape")
    left = user.until(lambda now: not now.typing)
    assert left.values["k_speed"] == [42.5]
    assert left.panels and not left.paused and left.speed == 1.0 and left.mode == "water" and user.runs


@pytest.mark.parametrize("nonsense", ["1e400", "nan", "abc"])
def test_nonsense_typed_into_a_field_changes_nothing_and_at_most_a_message_says_so(user: Desktop, nonsense):
    before = user.state().values
    user.click(*user.place("k_speed/##field"))
    user.until(lambda now: now.typing)
    user.press("ctrl+a")
    user.do("type", nonsense)
    user.press("Return")
    user.until(lambda now: not now.typing)
    assert user.frames(5).values == before
    if nonsense != "abc":
        assert user.until(lambda now: now.popup).message.startswith("k_speed cannot be")
        user.press("Escape")
    user.until(lambda now: not now.popup and not now.message)


def test_a_preset_is_saved_under_a_typed_name_and_an_impossible_name_is_told(user: Desktop):
    folder = user.work.parent / "config" / "presets"
    for name in ("!!!", "My pond"):
        user.click(*user.place("\uf0c7##save"))
        user.until(lambda now: now.popup and now.typing)
        user.do("type", name)
        user.press("Return")
        if name == "!!!":
            shown = user.until(lambda now: now.message and now.popup and not now.typing)
            assert "cannot be called" in shown.message
            user.press("Escape")
            user.until(lambda now: not now.popup and not now.message)
    assert not user.until(lambda now: now.preset == "my-pond").message
    assert [path.name for path in folder.iterdir()] == ["my-pond.toml"]
    (folder / "my-pond.toml").unlink()


def test_a_capture_in_the_making_can_be_ended(user: Desktop):
    before = user.state()
    user.click(*user.place("##Columns"))
    user.until(lambda now: now.typing)
    user.press("ctrl+a")
    user.do("type", "300")
    user.press("Return")
    user.until(lambda now: not now.typing)
    user.click(*user.place("\uf030  Capture again"))
    begun = user.until(lambda now: now.recapturing)
    user.until(lambda now: now.frame > begun.frame + 3 and now.launches > begun.launches)
    user.click(*user.place("\uf00d  Cancel"))
    ended = user.until(lambda now: not now.recapturing)
    assert ended.scene == before.scene and ended.camera == before.camera and not ended.message
    user.place("\uf030  Capture again")


def test_a_dragged_slider_acts_at_once_and_is_one_step_for_undo(user: Desktop):
    x, y, width, height = user.until(lambda now: "k_speed/##slider" in now.places).places["k_speed/##slider"]
    middle = y + height / 2
    before = user.state().values["k_speed"]
    user.move(x + 0.3 * width, middle)
    user.do("mousedown", 1)
    first = user.until(lambda now: now.values["k_speed"] != before).values["k_speed"]
    user.move(x + 0.2 * width, middle)
    user.until(lambda now: now.values["k_speed"][0] < first[0])
    user.do("mouseup", 1)
    user.frames()
    user.press("ctrl+z")
    assert user.until(lambda now: now.values["k_speed"] == before).waves == 0


def test_a_drag_that_starts_on_a_panel_leaves_the_water_alone(user: Desktop):
    before = user.state()
    on_panel = before.canvas[0] / 2, before.canvas[1] + before.canvas[3] - 60
    for button in (1, 2, 3):
        user.drag(on_panel, tuple(user.ask("cell", cell=[12.0, 8.0])), button)
    after = user.frames()
    assert after.ring is None and after.waves == 0
    assert after.camera == before.camera


def open_with_the_form(user: Desktop, path: Path) -> None:
    user.over_water()
    user.press("ctrl+o")
    user.until(lambda now: now.popup and now.typing)
    user.do("type", "--delay", 1, str(path))
    user.press("Return")


def test_the_form_opens_a_file(user: Desktop, frame_of):
    from app.trust import remember_recorded

    other = frame_of(width=20, height=12, substeps=2)
    remember_recorded(other)
    open_with_the_form(user, other)
    opened = user.until(lambda now: now.grid == [20, 12])
    assert opened.file == str(other) and not opened.message
    user.until(lambda now: not now.popup)
    user.click(*user.ask("cell", cell=[5.0, 7.0]))
    assert user.until(lambda now: now.ring)


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", b"WRP1" + bytes(200)])
def test_a_bad_file_is_one_message_and_the_old_one_stays(user: Desktop, content):
    bad = user.work.parent / f"bad{len(content)}.wrp"
    bad.write_bytes(content)
    before = user.state()
    open_with_the_form(user, Path("..", bad.name))
    shown = user.until(lambda now: now.message)
    assert shown.message.startswith(f"../{bad.name}") and "Traceback" not in shown.log
    assert shown.scene == before.scene
    user.until(lambda now: now.popup and "Close" in now.places)
    user.press("Escape")
    closed = user.until(lambda now: not now.popup and not now.message)
    assert closed.scene == before.scene and user.runs


def test_a_dropped_file_opens_whatever_its_name_and_place(user: Desktop, frame_of):
    """The other capture's three parts under a name with spaces, letters of other alphabets and signs."""
    from app.trust import remember_recorded

    other = frame_of(width=20, height=12, substeps=2)
    folder = user.work.parent / "größer & so"
    folder.mkdir(exist_ok=True)
    dropped = folder / "波 ä%20b.wrp"
    shutil.copytree(other.with_name(f"{other.stem}_modules"), dropped.with_name(f"{dropped.stem}_modules"))
    for suffix in (".json", ".wrp"):
        shutil.copyfile(other.with_suffix(suffix), dropped.with_suffix(suffix))
    remember_recorded(dropped)
    user.drop(dropped)
    opened = user.until(lambda now: now.file == str(dropped))
    assert opened.grid == [20, 12] and not opened.message
    user.click(*user.ask("cell", cell=[5.0, 7.0]))
    assert user.until(lambda now: now.ring).ring == pytest.approx((5.0, 7.0), abs=0.8)


def test_what_is_dropped_and_is_no_capture_is_told_each_time_and_the_old_one_stays(user: Desktop):
    before = user.state()
    bad = user.work.parent / "no capture.wrp"
    bad.write_bytes(b"nothing of the kind")
    for path, reason in ((bad, "no capture.wrp"), (user.work, "folder"), (user.work, "folder")):
        user.drop(path)
        shown = user.until(lambda now: now.message and now.popup)
        assert reason in shown.message and shown.scene == before.scene
        user.press("Escape")
        user.until(lambda now: not now.popup and not now.message)
        if path is not bad:
            time.sleep(1.1)  # within a second it would be the same failure


def test_a_stroke_too_fast_for_a_frame_is_pushed_with_its_corner(user: Desktop):
    """The whole of it comes with one call of xdotool; heights are read back."""
    corners = [(4.0, 4.0), (19.0, 4.0), (19.0, 12.0)]
    start, *way = [tuple(map(round, user.ask("cell", cell=list(cell)))) for cell in corners]
    user.move(*start)
    user.press("space")
    still = user.until(lambda now: now.paused)
    words = [word for x, y in way for word in ("mousemove", "--window", user.window, x, y)]
    user.do("mousedown", 1, *words, "mouseup", 1)
    user.frames(6)
    heights = []
    for launches in (1, 2):
        user.press("period")
        user.until(lambda now, launches=launches: now.launches == still.launches + launches)
        heights.append(np.abs(np.array(user.ask("heights"))))
    assert heights[0][4, 5:19].min() > 0.05 and heights[0][10:].max() == 0  # a cell a substep at most
    assert heights[1][7:12, 19].min() > 0.05


# Every shortcut: what it must come to. A binding whose action is not here fails the test of the table.


def pauses(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.paused)
    user.press(key)
    user.until(lambda now: not now.paused)


def steps(user: Desktop, key: str) -> None:
    user.press(key)
    first = user.until(lambda now: now.paused)
    assert user.frames().launches == first.launches
    user.press(key)
    assert user.until(lambda now: now.launches > first.launches).launches == first.launches + 1


def slows(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.speed == 0.5)


def hurries(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.speed == 2.0)


def calms(user: Desktop, key: str) -> None:
    user.press("space")
    user.until(lambda now: now.paused)
    user.do("click", 1)
    user.press("period")
    user.until(lambda now: now.waves > 0)
    user.press(key)
    user.until(lambda now: now.waves == 0)


def frames(user: Desktop, key: str) -> None:
    distance = user.state().camera["distance"]
    user.do("click", 4)
    user.until(lambda now: not now.framed and now.camera["distance"] < distance)
    user.press(key)
    assert user.until(lambda now: now.framed).camera["distance"] == pytest.approx(distance)


def colours(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.mode == "data")
    user.press(key)
    user.until(lambda now: now.mode == "water")


def hides_panels(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: not now.panels and now.canvas[2:] == now.size)
    user.press(key)
    user.until(lambda now: now.panels and now.canvas[2] < now.size[0])


def fills_the_screen(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.full_screen and now.size == [1024, 768])
    user.frames()
    user.press(key)
    user.until(lambda now: not now.full_screen and tuple(now.size) == user.size)


def saves_a_picture(user: Desktop, key: str) -> None:
    from PIL import Image

    user.press(key)
    user.until(lambda now: list(user.pictures.rglob("ripplescope-*.png")))
    (path,) = user.pictures.rglob("ripplescope-*.png")
    user.until(lambda now: f"saved {path}" in now.log)
    pixels = np.asarray(Image.open(path))
    assert pixels.shape == (user.size[1], user.size[0], 3) and pixels.std() > 10


def takes_the_next_preset(user: Desktop, key: str) -> None:
    before = user.state().values
    user.press(key)
    first = user.until(lambda now: now.preset)
    user.press(key)
    second = user.until(lambda now: now.preset != first.preset)
    assert second.values != before or first.values != before


def undoes_and_redoes(user: Desktop, key: str) -> None:
    assert key in ("ctrl+z", "ctrl+y")
    before = user.state().values
    user.press("p")
    changed = user.until(lambda now: now.preset and now.values != before).values
    user.press("ctrl+z")
    user.until(lambda now: now.values == before)
    user.press("ctrl+y")
    user.until(lambda now: now.values == changed)


def finds(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.typing)
    user.press("Escape")
    user.until(lambda now: not now.typing)
    assert user.runs


def goes_to_an_event(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.popup and now.typing)
    user.do("type", "2")
    user.press("Return")
    user.until(lambda now: now.event == 2 and not now.popup)


def looks_inside(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.looking)
    user.press(key)
    user.until(lambda now: not now.looking)


def takes_an_event_before(user: Desktop, key: str) -> None:
    user.press(key)
    last = user.until(lambda now: now.event is not None).event
    assert last == 4  # a push and four substeps
    for event in (last - 1, last - 2):
        user.press(key)
        user.until(lambda now, event=event: now.event == event)


def takes_an_event_after(user: Desktop, key: str) -> None:
    for event in range(3):
        user.press(key)
        user.until(lambda now, event=event: now.event == event)


def asks_for_a_file(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.popup and now.typing and "##path" in now.places)
    user.press("Escape")
    user.until(lambda now: not now.popup and not now.typing)
    assert user.runs


def reloads(user: Desktop, key: str) -> None:
    before = user.state()
    user.press(key)
    after = user.until(lambda now: now.scene != before.scene)
    assert after.file == before.file and after.values == before.values and not after.message


def helps(user: Desktop, key: str) -> None:
    user.press(key)
    user.until(lambda now: now.popup and "Close" in now.places)
    user.click(*user.place("Close"))
    user.until(lambda now: not now.popup)


def quits(user: Desktop, key: str) -> None:
    user.press("F1")
    user.until(lambda now: now.popup)
    user.press(key)
    user.until(lambda now: not now.popup)
    assert user.runs
    user.press(key)
    assert user.wait() == 0


TOOLS = {
    "1": "push", "2": "wall", "3": "erase", "4": "line", "5": "rectangle", "6": "depth", "7": "source",
    "8": "probe", "9": "ruler",
}  # fmt: skip


def takes_a_tool(user: Desktop, key: str) -> None:
    user.press("4" if key != "4" else "5")
    user.until(lambda now: now.tool == ("line" if key != "4" else "rectangle"))
    user.press(key)
    user.until(lambda now: now.tool == TOOLS[key])
    if key != "1":  # with nothing but the hand, Esc would quit
        user.press("Escape")
        user.until(lambda now: now.tool == "push")
    assert user.runs


EFFECTS: dict[Action, Callable[[Desktop, str], None]] = {
    Action.PAUSE: pauses,
    Action.STEP: steps,
    Action.SLOWER: slows,
    Action.FASTER: hurries,
    Action.RESET_WATER: calms,
    Action.FRAME_VIEW: frames,
    Action.NEXT_MODE: colours,
    Action.TOGGLE_PANELS: hides_panels,
    Action.FULL_SCREEN: fills_the_screen,
    Action.SCREENSHOT: saves_a_picture,
    Action.NEXT_PRESET: takes_the_next_preset,
    Action.UNDO: undoes_and_redoes,
    Action.REDO: undoes_and_redoes,
    Action.FIND: finds,
    Action.GO_TO_EVENT: goes_to_an_event,
    Action.LOOK_INSIDE: looks_inside,
    Action.PREVIOUS_EVENT: takes_an_event_before,
    Action.NEXT_EVENT: takes_an_event_after,
    Action.OPEN: asks_for_a_file,
    Action.RELOAD: reloads,
    Action.HELP: helps,
    Action.QUIT: quits,
    **dict.fromkeys(TOOL_ACTIONS, takes_a_tool),
}


def xdotool_key(binding: Binding) -> str:
    """The key of a binding as xdotool presses it."""
    name = {"escape": "Escape", "left": "Left", "right": "Right", "up": "Up", "down": "Down"}.get(
        binding.key, binding.key if len(binding.key) > 1 else binding.key.lower()
    )
    words = {Modifiers.CONTROL: "ctrl", Modifiers.SHIFT: "shift", Modifiers.ALT: "alt"}
    held = [word for modifier, word in words.items() if binding.modifiers & modifier]
    return "+".join([*held, name])


@pytest.mark.parametrize("binding", BINDINGS, ids=lambda binding: binding.shown)
def test_every_shortcut_of_the_table_does_what_it_says(user: Desktop, binding: Binding):
    assert binding.action in EFFECTS, "a new binding needs a test of what it comes to"
    user.over_water()
    EFFECTS[binding.action](user, xdotool_key(binding))


def test_what_was_chosen_is_there_at_the_next_start(x_display, frame_path, tmp_path):
    """The window's size and the recent file; and a window closed by its manager ends in order."""
    with desktop(x_display, frame_path, tmp_path, (640, 480)) as user:
        user.over_water()
        user.press("Escape")
        assert user.wait() == 0
        assert user.errors() == ""
    settings = (tmp_path / "config" / "settings.toml").read_text()
    assert "window_width = 640" in settings and "window_height = 480" in settings
    assert frame_path.name in settings
    assert (tmp_path / "config" / "layout.ini").is_file()
