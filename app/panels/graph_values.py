"""The values of named numbers beside their pills in the graph: now, or in the state that is looked at."""

from __future__ import annotations

from typing import Any

import numpy as np

from app.gl_platform import imgui
from app.gui import Gui
from app.panels.graph_camera import GraphCamera
from app.state import App
from app.touch import NOWHERE
from replay.graph.layout import SUBTITLE_SIZE, Picture

_REFRESH = 0.25
_MOST_SCALARS = 4


class PillValues:
    """Texts by name, read some times a second."""

    def __init__(self) -> None:
        self._texts: dict[str, tuple[str, float]] = {}
        self._key: tuple[object, ...] = ()
        self._read_at = -1.0

    def draw(
        self, app: App, gui: Gui, draw: Any, picture: Picture, camera: GraphCamera,
        corner: tuple[float, float], room: tuple[float, float],
    ) -> None:  # fmt: skip
        """Write each value left of its pill."""
        self._read(app)
        if not self._texts:
            return
        size = round(max(SUBTITLE_SIZE * camera.zoom, 12 * gui.scale))
        ratio = size / imgui.get_font_size()
        pills, (_, top, _, bottom) = picture.pills, camera.seen(room)
        for pill in pills:
            found = self._texts.get(pill.names[0])
            if found is None or pill.y > bottom or pill.y + pill.height < top:
                continue
            text, width = found
            x, y = camera.to_window((pill.x, pill.y + pill.height / 2))
            x = round(corner[0] + x - width * ratio - 6 * gui.scale)
            if x >= corner[0]:
                place = (x, round(corner[1] + y - size / 2))
                draw.add_text(gui.regular, size, place, gui.colors.accent_strong, text)

    def _read(self, app: App) -> None:
        lab, scene = app.lab, app.scene
        if lab is None or scene is None or lab.job is not None:
            return
        now = imgui.get_time()
        key = (lab, lab.frame.revision, scene.editor.revision)
        if key == self._key and (lab.frame.looking or now - self._read_at < _REFRESH):
            return
        self._key, self._read_at = key, now
        self._texts = {}
        if scene.player is None:
            return
        for name, spec in scene.player.parameters.items():
            if not 0 < int(np.prod(spec.full_shape, dtype=np.int64)) <= _MOST_SCALARS:
                continue
            value = lab.frame.parameter(name) if lab.frame.looking else None
            if value is None and name in scene.editor.values:
                numbers = scene.editor.values[name]
            else:
                numbers = (scene.player.get(name) if value is None else value).reshape(-1).tolist()
            text = ", ".join(map(_number, numbers))
            if name in (scene.pointer, scene.pointer_from) and tuple(numbers) == NOWHERE:
                text = "none"
            first = next(name for name in lab.capture.regions[spec.region].names)
            self._texts[first] = (text, imgui.calc_text_size(text).x)


def _number(number: float) -> str:
    """Return a number in few letters: four digits, or the whole part of a large one."""
    if not isinstance(number, float):
        return str(number)
    return f"{number:.0f}" if 1e4 <= abs(number) < 1e7 else f"{number:.4g}"
