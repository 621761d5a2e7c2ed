"""What fills the centre of the window where it is not the water: an array of the capture, as a picture.

The loop draws through this; panels paint what is written around the array from the layout kept here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.arrays.ink import Inks
from app.arrays.layout import Insets, lay_out
from app.controls import water_viewport
from app.state import App

if TYPE_CHECKING:
    from app.gui import Gui
    from app.view.arrays import ArrayView


def draw_array(app: App, gui: Gui | None, *, single: bool = False) -> bool:
    """Read and draw the array in the centre, if it shows one; return whether it does.

    Args:
        app: the app.
        gui: who writes around it; None lets the picture itself hold what is written.
        single: for one picture. Without panels nobody sees those in between, so only this one is drawn.
    """
    if app.lab is None or not app.lab.shown.active:
        return False
    if gui is None and not single:
        return True
    shown = app.lab.shown
    place = water_viewport(app)
    ratio = app.window.pixel_ratio
    unit = gui.scale * ratio if gui is not None else 1.0
    inks = inks_of(gui)
    size = place[2], place[3]
    shown.fit_place(size[0] / size[1])
    shown.refresh(time.perf_counter(), force=single or gui is None or app.unattended)
    insets = Insets(*(side * ratio for side in shown.covered)) if gui is not None else Insets()
    key = (shown.revision, shown.look, shown.pose, shown.sentence, size, unit, insets, inks)
    if key != shown.layout_of or shown.layout is None:
        shown.layout_of, shown.layout = key, lay_out(shown, size, unit, insets, inks)
    into = app.window.framebuffer, app.window.framebuffer_size
    view_of(app).draw(shown, shown.layout, place, into, unit=unit, inks=inks, written=gui is None)
    return True


def view_of(app: App) -> ArrayView:
    """Return what draws arrays, made when it is first needed; it is closed with the lab."""
    assert app.lab is not None
    shown = app.lab.shown
    if shown.view is None:
        from app.view.arrays import ArrayView

        shown.view = ArrayView()
        app.lab.closables.append(shown.view)
    return shown.view


def inks_of(gui: Gui | None) -> Inks:
    """Return the colours of the theme, the dark ones without panels."""
    if gui is None:
        return Inks()
    palette = gui.palette
    return Inks(palette.background, palette.text, palette.muted, palette.line, palette.accent)


def finish_picture(app: App, gui: Gui | None) -> None:
    """Draw what a single picture without panels shows in its centre, if that is an array."""
    if gui is None and app.shows_array:
        app.window.bind()
        draw_array(app, None, single=True)
