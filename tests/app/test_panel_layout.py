"""The default places of the panels: what a window of a size gives to the water and to each panel."""

from __future__ import annotations

import pytest
from app_rig import running_app

from app.panels.layout import default_layout
from replay.players.fake import FakePlayer


@pytest.mark.parametrize(("size", "least"), [((1280, 755), 0.45), ((800, 555), 0.46), ((1920, 1035), 0.55)])
@pytest.mark.parametrize("scale", [1.0, 1.5])
def test_the_water_has_most_of_the_window(size: tuple[int, int], least: float, scale: float):
    width, height = (side * scale for side in size)
    layout = default_layout(width, height, scale)
    assert (width - layout.left - layout.right) / width >= least
    assert 0.19 * height <= layout.bottom <= 0.3 * height


def test_at_the_usual_size_all_columns_have_their_usual_widths():
    layout = default_layout(1280, 755, 1.0)
    assert (layout.left, layout.right) == (296, 396)
    assert layout.bottom == pytest.approx(215, abs=1)
    assert layout.graph == pytest.approx(0.48, abs=0.01)
    assert layout.events == pytest.approx(0.20, abs=0.01)


@pytest.mark.parametrize("size", [(1, 1), (64, 64), (640, 400), (800, 555), (1280, 755), (5120, 2800)])
def test_every_panel_has_room_and_shares_add_up(size: tuple[int, int]):
    layout = default_layout(*size, 1.0)
    assert layout.graph + layout.events + layout.inspector == pytest.approx(1)
    assert min(layout.graph, layout.events, layout.inspector) >= 0.15
    assert 0 < layout.left + layout.right < 0.65 * size[0] and 0 < layout.bottom < 0.3 * size[1]


def test_columns_grow_with_the_scale_of_the_user_interface():
    once, twice = default_layout(1280, 755, 1.0), default_layout(2560, 1510, 2.0)
    assert (twice.left, twice.right, twice.bottom) == pytest.approx(
        (2 * once.left, 2 * once.right, 2 * once.bottom)
    )


def places(rig) -> dict[str, tuple[float, float, float, float, bool]]:
    """Left, top, right, bottom of the panels' windows, and whether each is in front of its tabs."""
    from app.gl_platform import imgui

    found = {}
    for panel in rig.desk.panels:
        window = imgui.internal.find_window_by_name(rig.desk._titles[panel.name])
        if window is not None:
            at, size = window.pos, window.size
            found[panel.name] = (at.x, at.y, at.x + size.x, at.y + size.y, not window.hidden)
    return found


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (1920, 1080)])
def test_graph_events_and_inspector_stand_right_of_the_water_and_performance_below(frame_capture, size):
    with running_app(FakePlayer(frame_capture), size=size) as rig:
        rig.frames(8)
        at, water = places(rig), rig.app.canvas.rect
        fronts = {name for name, place in at.items() if place[4]}
        assert fronts == {"Parameters", "Graph", "Events", "Inspector", "Performance"}
        right, bottom = water[0] + water[2], water[1] + water[3]
        assert at["Parameters"][2] <= water[0] + 4
        assert at["Graph"][0] >= right and at["Graph"][2] == size[0]
        assert at["Graph"][3] <= at["Events"][1] and at["Events"][3] <= at["Inspector"][1]
        assert at["Performance"][1] >= bottom and at["Performance"][2] <= right + 4


def test_the_graph_of_the_demo_is_seen_whole_when_it_opens(frame_capture):
    with running_app(FakePlayer(frame_capture), size=(1280, 800)) as rig:
        rig.frames(8)
        graph = next(panel for panel in rig.desk.panels if panel.name == "Graph")
        right, bottom = graph.camera.to_window((graph.picture.width, graph.picture.height))
        left, top = graph.camera.to_window((0.0, 0.0))
        assert left >= 0 and top >= 0
        assert right <= graph._fitted[0] and bottom <= graph._fitted[1]


@pytest.mark.parametrize("size", [(1280, 800), (800, 600), (1920, 1080)])
def test_the_start_view_shows_tank_axes_and_scale_bar_between_the_bars(frame_of, size):
    import numpy as np

    from app.panels.tools import bar_width
    from app.scene import open_scene
    from app.view.camera import RIM_HEIGHT, RIM_WIDTH
    from app.view.marks import place_marks
    from app.view.picking import project_point

    player = open_scene(frame_of(width=64, height=64, substeps=4), "cpu").player
    with running_app(player, size=size) as rig:
        rig.frames(8)
        app, rect = rig.app, rig.app.canvas.rect
        grid, longest = app.scene.grid, 6.4
        half = longest / 2 + RIM_WIDTH * longest
        points = [(x, RIM_HEIGHT * longest, z) for x in (-half, half) for z in (-half, half)]
        for mark in place_marks(grid, app.camera, RIM_HEIGHT * longest, longest / 30, (0.0, 0.0, 0.0)):
            corner, edge_u, edge_v = (np.array(edge) for edge in (mark.corner, mark.edge_u, mark.edge_v))
            points += [corner, corner + edge_u, corner + edge_v, corner + edge_u + edge_v]
        app.camera.orbit(1.0, 0.3)
        rig.key("F")
        places = np.array([project_point(app.camera, np.array(point), rect) for point in points])
        tools = 12 + bar_width(rig.gui, rect)
        assert tools > 40  # at these sizes there is a bar of tools
        assert places[:, 0].min() > rect[0] + tools
        assert places[:, 0].max() < rect[0] + rect[2]
        assert places[:, 1].min() > rect[1] + 10 + 41  # the bar at the top
        assert places[:, 1].max() < rect[1] + rect[3] - 46  # the words at the bottom
        # and it is no smaller than need be
        assert np.ptp(places[:, 0]) > 0.74 * (rect[2] - tools) or np.ptp(places[:, 1]) > 0.7 * rect[3]


def test_the_first_picture_has_everything_in_its_place(frame_capture):
    import numpy as np

    from app.view.screenshot import read_pixels

    with running_app(FakePlayer(frame_capture), size=(1280, 800)) as rig:
        pictures = []
        for _ in range(8):
            rig.frame(launches=0)
            pictures.append(read_pixels(rig.window.framebuffer, rig.window.framebuffer_size).astype(int))
        x, y, width, height = (int(side) for side in rig.app.canvas.rect)
        first, last = (np.delete(picture, slice(x, x + width), axis=1) for picture in pictures[::7])
        assert (np.abs(first - last).max(axis=2) > 40).mean() < 0.01  # all panels
        second = np.abs(pictures[1] - pictures[7])[y : y + height, x : x + width].max(axis=2)
        assert (second > 40).mean() < 0.01  # the water


def test_the_first_hint_goes_after_a_press_or_a_while(frame_capture):
    from app.panels.canvas import HINT_SECONDS, FirstHint

    with running_app(FakePlayer(frame_capture)) as rig:
        rig.frames(3)
        waited, pressed = FirstHint(), FirstHint()
        assert waited.shows(rig.app, 5.0) and waited.shows(rig.app, 4.9 + HINT_SECONDS)
        assert not waited.shows(rig.app, 5.1 + HINT_SECONDS)
        assert pressed.shows(rig.app, 5.0)
        rig.app.water.options.mode = "data"  # then the legend has its place
        assert not pressed.shows(rig.app, 5.0)
        rig.app.water.options.mode = "water"
        rig.app.canvas.down[1] = True
        assert not pressed.shows(rig.app, 5.1)
        rig.app.canvas.down[1] = False
        assert not pressed.shows(rig.app, 5.2)
