"""Scenes: the gallery is sound, bad files are told by file and entry, a scene can be replayed headless."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.basin.apply import furnish, look_at
from app.basin.scenes import GALLERY, find_scene, parse_scene, scene_names
from app.cli import main
from app.scene import open_scene
from app.view.camera import OrbitCamera
from capture.frame import record_frame
from replay.errors import ReplayError, UsageError

SMALL = """
label = "Small"
border = "absorbing"
[grid]
width = 32
height = 24
substeps = 4
[values]
k_damp = 0.0
[[walls]]
shape = "rectangle"
one = [20, 0]
other = [21, 23]
[[walls]]
shape = "disc"
centre = [20, 12]
radius = 2
erase = true
[[depth]]
shape = "ramp"
start = [0, 0]
end = [31, 0]
first = 1.0
last = 0.5
[[sources]]
at = [5, 12]
frequency = 4.0
amplitude = 0.1
[[probes]]
at = [28, 12]
[rain]
every = 3
[camera]
yaw = 10.0
pitch = 60.0
"""


def test_the_gallery() -> None:
    assert scene_names() == list(GALLERY)
    for name in GALLERY:
        scene = find_scene(name)
        assert scene.label and scene.description
        assert scene.settings().solver == "basin"
        assert scene.sources or scene.rain
        for source in scene.sources:
            x, y = (int(np.floor(side + 0.5)) for side in source.at)
            assert not scene.walls[y, x], f"{name}: a source in a wall"


def test_a_scene_says_what_the_basin_holds() -> None:
    scene = parse_scene(SMALL, Path("small.toml"))
    arrays = scene.arrays()
    assert arrays["walls"].dtype == np.uint8 and arrays["walls"][0, 20] == 1 and arrays["walls"][12, 20] == 0
    assert arrays["depth"][0, 0] == 1.0 and arrays["depth"][0, 31] == 0.5
    assert arrays["border"].tolist() == [1]
    assert arrays["source_on"].tolist() == [1] + [0] * 15
    assert arrays["source_pos"][0].tolist() == [5.0, 12.0]
    assert arrays["probe_pos"][0].tolist() == [28.0, 12.0] and (arrays["probe_pos"][1:] == -1000.0).all()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("label = ", "not TOML"),
        ("", "'label' is missing"),
        ('label = "x"\nwater = 1', "water: unknown field"),
        ('label = "x"\nborder = "open"', "border: 'open' is none of"),
        ('label = "x"\n[grid]\nwidth = 2', "grid.width: 2 is not from 3 to 8192"),
        ('label = "x"\n[values]\nspeed = 2', "values.speed: unknown field"),
        ('label = "x"\n[[walls]]\nx = 2', "walls[0]: the field 'shape' is missing"),
        ('label = "x"\n[[walls]]\nshape = "blob"', "walls[0].shape: 'blob' is none of"),
        ('label = "x"\n[[walls]]\nshape = "disc"\ncentre = [1]\nradius = 2', "walls[0].centre"),
        (
            'label = "x"\n[[walls]]\nshape = "disc"\ncentre = [1, 2]',
            "walls[0]: the field 'radius' is missing",
        ),
        ('label = "x"\n[[depth]]\nshape = "disc"\ncentre = [1, 2]\nradius = 2\ndepth = 3', "depth[0].depth"),
        ('label = "x"\n[[sources]]\nat = [1, 2]\nfrequency = 0', "sources[0].frequency"),
        ('label = "x"\n[[sources]]\nat = [1, nan]\nfrequency = 1', "sources[0].at[1]: not a finite number"),
        ('label = "x"\n' + "[[probes]]\nat = [1, 2]\n" * 17, "probes: 17 items, more than the 16"),
        ('label = "x"\n[rain]\nevery = 0', "rain.every"),
        ('label = "x"\n[camera]\npitch = 95', "camera.pitch"),
    ],
)
def test_complaints_name_file_and_entry(text: str, word: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_scene(text, Path("dir/bad.toml"))
    assert "bad.toml" in caught.value.what and word in caught.value.what


def test_unknown_names_get_near_ones(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="did you mean 'double-slit'"):
        find_scene("double-slip")
    with pytest.raises(UsageError, match="no such scene file"):
        find_scene(str(tmp_path / "none.toml"))


def test_furnish_rain_and_reset(tmp_path: Path) -> None:
    scene = parse_scene(SMALL, Path("small.toml"))
    path = record_frame(scene.settings(), tmp_path / "small", "cpu")
    with open_scene(path, "cpu") as live:
        furnish(live, scene)
        results = []
        for _ in range(2):
            for frame in range(7):
                live.push(None)
                assert (live.player.get("mouse_pos")[0, 0] > -1000.0) == (frame % 3 == 0)
                live.editor.upload(live.player)
                live.player.launch()
            results.append(live.player.get("heights"))
            live.reset_water()
            live.editor.upload(live.player)
            assert not live.player.get("heights").any()
            assert live.player.get("walls").any(), "a reset keeps what was built"
            assert live.player.get("border") == [1] and live.player.get("source_on")[0] == 1
        np.testing.assert_array_equal(*results)
        assert np.abs(results[0]).max() > 0.01


def test_a_scene_does_not_fit_another_capture(frame_path: Path) -> None:
    scene = parse_scene(SMALL, Path("small.toml"))
    with open_scene(frame_path, "cpu") as live, pytest.raises(ReplayError, match="no basin of 32 x 24"):
        furnish(live, scene)


def test_the_camera() -> None:
    camera = OrbitCamera()
    distance = camera.distance
    look_at(parse_scene(SMALL, Path("small.toml")), camera)
    assert np.degrees([camera.yaw, camera.pitch]).round(6).tolist() == [10.0, 60.0]
    assert camera.distance == distance


def test_headless_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The picture shows walls, and water that moves."""
    from PIL import Image

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "small.toml"
    file.write_text(SMALL, "utf-8")
    out = tmp_path / "out.png"
    arguments = ["--headless", "--scene", str(file), "--frames", "30", "--screenshot", str(out)]
    assert main([*arguments, "--size", "320x240", "--top-view", "--device", "cpu"]) == 0
    picture = np.asarray(Image.open(out)).astype(int)
    assert (picture[30, 205] == (92, 84, 74)).all()
    assert picture[:, :180].std() > 3.0


def test_a_scene_and_a_capture_are_too_many(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frame.wrp", "--scene", "rings", "--headless"]) == 2
    assert "--scene records its own capture" in capsys.readouterr().err
