"""Pictures of the scenes for the gallery, made anew by `python -m app.basin.thumbnails [NAME ...]`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from app.basin.scenes import find_scene, scene_names
from app.resources import resource

SIZE = (240, 150)
_DRAWN = (480, 300)
_NEARER = 0.84
FRAMES = 150


def thumbnail_path(name: str) -> Path:
    """Return where the picture of a scene is."""
    return resource("assets/scenes") / f"{name}.png"


def make(name: str) -> Path:
    """Play a scene for 2.5 s and keep the last picture.

    Raises:
        RipplescopeError: no OpenGL, or the scene cannot be played.
    """
    from PIL import Image

    from app.loop import open_first, run_frame
    from app.settings import Settings
    from app.state import App
    from app.view.options import Quality
    from app.view.screenshot import read_pixels
    from app.window import open_window

    scene = find_scene(name)
    with open_window(_DRAWN, "thumbnail", headless=True) as window:
        app = App(window, Settings(), device="cpu", config=None)
        try:
            open_first(app, None, {}, scene)
            assert app.water is not None
            app.water.options.axes, app.water.options.quality = False, Quality.HIGH
            app.camera.distance *= _NEARER
            app.framed = None
            run_frame(app, None, None, time.perf_counter, launches=FRAMES)
            run_frame(app, None, None, time.perf_counter, launches=1)
            pixels = read_pixels(window.framebuffer, window.framebuffer_size)
        finally:
            app.close()
    path = thumbnail_path(name)
    picture = Image.fromarray(pixels).resize(SIZE, Image.Resampling.LANCZOS)
    picture.quantize(192).save(path, optimize=True)
    return path


def main() -> int:
    """Make the pictures of the named scenes, or of all."""
    for name in sys.argv[1:] or scene_names():
        print(make(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
