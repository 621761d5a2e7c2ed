"""A user at a real window: moves, presses and types through xdotool, and waits until the app shows it.

Nothing here waits for a fixed time: after each deed the test names what must come of it, and the app is
asked between its frames until it is so (see desktop_driver.py for the app's side).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from desktop_drop import drop

ROOT = Path(__file__).resolve().parents[2]
SIZE = (800, 600)
PATIENCE = 40.0
"""Seconds until something that does not happen is a failure; a busy machine draws few frames a second."""


class Desktop:
    """The app in a window of an X display, and hands to use it with.

    Args:
        display: the X display.
        path: the capture to open.
        folder: for settings, pictures and the working directory.
        size: of the window, before the display's scale.
        scale: of the display.
    """

    def __init__(
        self, display: str, path: Path, folder: Path, size: tuple[int, int] = SIZE, scale: int = 1
    ) -> None:
        self.display, self.path = display, path
        self.size = scale * size[0], scale * size[1]
        self.pictures, self.work = folder / "pictures", folder / "work"
        self.work.mkdir(parents=True, exist_ok=True)
        left_out = ("WAYLAND_DISPLAY", "PYOPENGL_PLATFORM")
        self._environment = {key: value for key, value in os.environ.items() if key not in left_out} | {
            "DISPLAY": display,
            "PYTHONPATH": str(ROOT),
            "RIPPLESCOPE_CONFIG_DIR": str(folder / "config"),
            "XDG_PICTURES_DIR": str(self.pictures),
        }
        self._errors = (folder / "stderr.txt").open("w+")
        self._app = subprocess.Popen(
            [
                *(sys.executable, str(Path(__file__).with_name("desktop_driver.py")), str(path)),
                *("--size", f"{size[0]}x{size[1]}", "--no-vsync", "--device", "cpu"),
            ],
            env=self._environment,
            cwd=self.work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        try:
            self.until(lambda now: now.frame > 3)
            found = self._xdotool("search", "--sync", "--pid", str(self._app.pid), "--onlyvisible")
            self.window = found.split()[0]
            self._xdotool("windowmove", self.window, "0", "0")
            self.reset()
        except BaseException:
            self.close()
            raise

    # Looking

    def ask(self, question: str, **arguments: Any) -> Any:
        """Ask the app something between two frames."""
        try:
            self._app.stdin.write(json.dumps({"ask": question, **arguments}) + "\n")
            self._app.stdin.flush()
            return json.loads(self._app.stdout.readline())
        except (BrokenPipeError, ValueError):
            raise AssertionError(f"the app has ended: {self.errors()}") from None

    def state(self) -> SimpleNamespace:
        """What there is to know about the app now."""
        return SimpleNamespace(**self.ask("state"))

    def until(self, condition: Callable[[SimpleNamespace], Any]) -> SimpleNamespace:
        """Wait until a condition on the state holds; return that state."""
        end = time.monotonic() + PATIENCE
        while not condition(state := self.state()):
            assert time.monotonic() < end, f"it never came; at last: {vars(state)}"
        return state

    def frames(self, count: int = 3) -> SimpleNamespace:
        """Wait for some frames: what was done before has reached the app by then, and the panels twice."""
        begun = self.state().frame
        end = time.monotonic() + 0.05  # panels are built at most 60 times a second
        return self.until(lambda now: now.frame >= begun + count and time.monotonic() > end)

    def reset(self) -> SimpleNamespace:
        """Everything as after the start, with still water and a push of 1.5 cells."""
        x, y = self.size[0] - 2, self.size[1] - 2
        self._xdotool("mouseup", "1", "mouseup", "2", "mouseup", "3", "mousemove", str(x), str(y))
        self.ask("reset", path=str(self.path), size=list(self.size))
        self.until(
            lambda now: tuple(now.size) == self.size and now.panels and not now.popup and not now.full_screen
        )
        self.frames(5)
        return self.until(lambda now: now.framed and not now.typing and now.canvas[2] > 60)

    def errors(self) -> str:
        """What the app has written to standard error."""
        self._errors.flush()
        return Path(self._errors.name).read_text()

    # Doing

    def _xdotool(self, *words: str) -> str:
        done = subprocess.run(
            ["xdotool", *words], env=self._environment, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, f"xdotool {words}: {done.stderr}"
        return done.stdout

    def do(self, *words: object) -> None:
        """Let xdotool act; what comes of it is for the caller to wait for."""
        self._xdotool(*map(str, words))

    def move(self, x: float, y: float) -> None:
        """Move the pointer there, and wait until the app sees it.

        A window manager may still be about to put the window elsewhere: then the pointer is not where it was
        sent to, and is sent again.
        """
        x, y = round(x), round(y)
        end = time.monotonic() + PATIENCE
        while (now := self.state()).pointer != [x, y]:
            assert time.monotonic() < end, f"the pointer never came to {x}, {y}; at last: {vars(now)}"
            self.do("mousemove", "--window", self.window, x, y)
            self.frames(2)
        self.frames(2)

    def click(self, x: float, y: float, button: int = 1) -> None:
        """Move there and click."""
        self.move(x, y)
        self.do("click", button)

    def drag(self, start: tuple[float, float], end: tuple[float, float], button: int = 1) -> None:
        """Press at the start, go to the end in steps, release."""
        self.move(*start)
        self.do("mousedown", button)
        self.frames()
        for share in (0.3, 0.6, 1.0):
            self.move(*(a + share * (b - a) for a, b in zip(start, end, strict=True)))
        self.do("mouseup", button)
        self.frames()

    def over_water(self) -> tuple[float, float]:
        """Put the pointer onto the middle of the water; return where that is."""
        columns, rows = self.state().grid
        x, y = self.ask("cell", cell=[columns / 2, rows / 2])
        self.move(x, y)
        return x, y

    def press(self, *keys: str) -> None:
        """Press and release keys, as xdotool names them."""
        self.do("key", *keys)

    def place(self, name: str) -> tuple[float, float]:
        """The middle of a widget; waits until it is there."""
        x, y, width, height = self.until(lambda now: name in now.places).places[name]
        return x + width / 2, y + height / 2

    def drop(self, *paths: Path) -> None:
        """Drop files on the middle of the water, as a file manager does; the window has no frame."""
        x, y = self.over_water()
        drop(self.display, int(self.window), (round(x), round(y)), paths)

    @property
    def title(self) -> str:
        """What stands above the window."""
        return self._xdotool("getwindowname", self.window).strip()

    @property
    def cpu_seconds(self) -> float:
        """What the app has used of processors since its start."""
        fields = Path(f"/proc/{self._app.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # The end

    def wait(self) -> int:
        """Wait until the app has ended; return its exit code."""
        return self._app.wait(PATIENCE)

    @property
    def runs(self) -> bool:
        """Whether the app has not ended."""
        return self._app.poll() is None

    def close(self) -> None:
        """End the app if it has not ended."""
        try:
            self._app.stdin.close()
            self._app.wait(10)
        except (OSError, subprocess.TimeoutExpired):
            self._app.kill()
            self._app.wait()
        self._app.stdout.close()
        self._errors.close()


@contextmanager
def desktop(
    display: str, path: Path, folder: Path, size: tuple[int, int] = SIZE, scale: int = 1
) -> Iterator[Desktop]:
    """Start the app; end it afterwards."""
    user = Desktop(display, path, folder, size, scale)
    try:
        yield user
    finally:
        user.close()
