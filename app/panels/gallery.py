"""The gallery: pictures of the scenes of the ripple tank, to be started with a click."""

from __future__ import annotations

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa

from app.basin.gallery import start_scene
from app.basin.scenes import BasinScene, find_scene, scene_names
from app.basin.thumbnails import SIZE, thumbnail_path
from app.gl_platform import GL, imgui
from app.gui import Gui
from app.panels.widgets import caption, elided, tooltip
from app.state import App
from app.view.gl_objects import Texture


class GalleryPanel:
    """The panel; scenes and pictures are read when it is shown for the first time."""

    name = "Gallery"
    icon = fa.ICON_FA_IMAGES

    def __init__(self) -> None:
        self._scenes: list[tuple[BasinScene, Texture | None]] | None = None

    def draw(self, app: App, gui: Gui) -> None:
        """Build the inside of the panel's window."""
        if self._scenes is None:
            self._scenes = []
            for name in scene_names():
                scene = app.attempt(lambda name=name: find_scene(name))
                if scene is not None:
                    self._scenes.append((scene, _picture(app, name)))
        busy = app.recapture is not None
        if busy:
            caption(gui, f"{fa.ICON_FA_HOURGLASS_HALF}  capturing {app.recapture.request} …")
        scale = gui.scale
        room = imgui.get_content_region_avail().x
        gap = 8 * scale
        columns = max(1, int((room + gap) // (126 * scale + gap)))
        width = (room - gap * (columns - 1)) / columns
        imgui.begin_disabled(busy)
        for index, (scene, texture) in enumerate(self._scenes):
            if index % columns:
                imgui.same_line(0.0, gap)
            if _card(gui, scene, texture, width):
                app.later(lambda scene=scene: start_scene(app, scene))
        imgui.end_disabled()


def _card(gui: Gui, scene: BasinScene, texture: Texture | None, width: float) -> bool:
    """A picture with its name; returns whether it was pressed."""
    scale = gui.scale
    line = imgui.get_text_line_height()
    height = width * SIZE[1] / SIZE[0]
    corner = imgui.get_cursor_screen_pos()
    pressed = imgui.invisible_button(f"##{scene.name}", (width, height + line + 8 * scale))
    tooltip(f"{scene.description or scene.label}\n{scene.width} × {scene.height} cells")
    lit = imgui.is_item_hovered()
    draw, end = imgui.get_window_draw_list(), (corner.x + width, corner.y + height)
    if texture is not None:
        picture = imgui.ImTextureRef(int(texture.name))
        draw.add_image_rounded(picture, corner, end, (0.0, 0.0), (1.0, 1.0), 0xFFFFFFFF, 6 * scale)
    else:
        draw.add_rect_filled(corner, end, gui.colors.field, 6 * scale)
    if lit:
        draw.add_rect(corner, end, gui.colors.accent_strong, 6 * scale, 2 * scale)
    color = gui.colors.text if lit else gui.colors.muted
    draw.add_text((corner.x + 2 * scale, end[1] + 3 * scale), color, elided(scene.label, width))
    return bool(pressed)


def _picture(app: App, name: str) -> Texture | None:
    """Return the picture of a scene in OpenGL, None if there is none; the app closes it."""
    from PIL import Image

    path = thumbnail_path(name)
    if not path.is_file():
        return None
    try:
        with Image.open(path) as image:
            pixels = np.ascontiguousarray(image.convert("RGBA"))
    except OSError:
        return None
    texture = Texture(pixels.shape[1], pixels.shape[0], GL.GL_RGBA8)
    texture.upload(pixels)
    app.closables.append(texture)
    return texture
