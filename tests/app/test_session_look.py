"""How the heights were shown is part of a session: recorded, exported so, and otherwise if asked."""

from __future__ import annotations

import numpy as np
import pytest
from app_rig import running_app
from PIL import Image

from app.cli import main
from app.look import give_look, look_of
from app.scene import open_scene
from app.view.options import Mode, WaterOptions
from replay.session.format import Kind, SessionReader, encode, file_head

SIZE = ["--size", "160x120"]


@pytest.fixture(scope="module")
def basin_path(frame_of):
    from app.trust import remember_recorded

    path = frame_of(width=40, height=30, substeps=4, solver="basin")
    remember_recorded(path)
    return path


@pytest.fixture(scope="module")
def session(basin_path, tmp_path_factory):
    """Six frames: a wall and a push in the first; data colours of a fixed range from the fourth on."""
    path = tmp_path_factory.mktemp("look") / "a.ripple"
    with running_app(open_scene(basin_path, "cpu").player) as rig:
        rig.app.session.start(path)
        rig.app.scene.furnishing.edit("walls")[4:26, 20:23] = 1
        rig.app.scene.furnishing.settle()
        rig.app.push.press((8.0, 15.0))
        rig.frames(3, launches=1)
        options = rig.app.water.options
        options.mode, options.colour_map, options.fixed_range = Mode.DATA, "viridis", (-0.2, 0.3)
        rig.frames(3, launches=1)
        rig.app.session.stop()
    return path


def pictures(session, folder, *options):
    assert main(["export", str(session), "--png-dir", str(folder), *SIZE, *options]) == 0
    return [np.asarray(Image.open(path)).astype(int) for path in sorted(folder.iterdir())]


def test_a_look_survives_json_and_strange_values_are_left_out():
    options = WaterOptions(mode=Mode.DATA, colour_map="inferno", fixed_range=(-0.5, 2.0), contours=False)
    look = look_of(options)
    other = WaterOptions()
    assert give_look(other, look) == [] and look_of(other) == look
    strange = {"mode": "smell", "fixed_range": [1, 1], "exaggeration": True, "colour_map": 3, "new": 1}
    assert give_look(other, strange) == list(strange) and look_of(other) == look


def test_a_change_of_the_look_is_kept_with_its_frame(session):
    with SessionReader(session) as reader:
        looks = [record.value.get("look") for record in reader.records() if record.kind is Kind.FRAME]
    assert [look is not None for look in looks] == [True, False, False, True, False, False]
    assert looks[0]["mode"] == "water"
    assert (looks[3]["mode"], looks[3]["fixed_range"]) == ("data", [-0.2, 0.3])


def test_pictures_are_as_it_was_shown_or_as_asked(session, tmp_path):
    """The recorded change of mode shows; options count against it; walls stand in both."""
    recorded = pictures(session, tmp_path / "recorded")
    water = pictures(session, tmp_path / "water", "--mode", "water")
    data = pictures(
        session, tmp_path / "data", "--mode", "data", "--colour-map", "viridis", "--range=-0.2,0.3"
    )
    for index in range(6):
        same, other = (water, data) if index < 3 else (data, water)
        assert np.abs(recorded[index] - same[index]).mean() < 1.0
        assert np.abs(recorded[index] - other[index]).mean() > 10.0


def test_walls_stand_in_pictures(session, tmp_path):
    """Without the wall in the record the pictures are others, from above as well."""
    with SessionReader(session) as reader:
        records = list(reader.records())
    parts = []
    for record in records:
        value, blobs = dict(record.value), record.blobs
        if record.kind is Kind.STATE:
            value["contents"] = [entry for entry in value["contents"] if entry[0] != "walls"]
            kept = [entry[0] for entry in record.value["contents"] if entry[1] != "initial"]
            blobs = [blob for name, blob in zip(kept, blobs, strict=True) if name != "walls"]
        parts.append(encode(record.kind, value, blobs))
    bare = tmp_path / "bare.ripple"
    bare.write_bytes(file_head() + b"".join(parts))
    for options in ((), ("--top-view",)):
        name = "".join(options) or "gl"
        walled = pictures(session, tmp_path / f"walled{name}", "--frames", "0:1", *options)[0]
        open_water = pictures(bare, tmp_path / f"bare{name}", "--frames", "0:1", *options)[0]
        middle = np.abs(walled - open_water)[50:70, 75:90].mean()
        assert middle > 5.0


def test_a_session_without_a_look_exports_as_before(session, tmp_path):
    with SessionReader(session) as reader:
        records = list(reader.records())
    old = tmp_path / "old.ripple"
    plain = [
        encode(record.kind, {key: item for key, item in record.value.items() if key != "look"}, record.blobs)
        for record in records
    ]
    old.write_bytes(file_head() + b"".join(plain))
    assert main(["replay", str(old), "--digest-only"]) == 0
    shown = pictures(old, tmp_path / "old", "--frames", "5:6")[0]
    water = pictures(session, tmp_path / "water", "--frames", "5:6", "--mode", "water")[0]
    assert np.abs(shown - water).mean() < 1.0


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--range", "3"], "is no range of heights"),
        (["--range", "2,1"], "is no range of heights"),
        (["--exaggeration", "0"], "is no factor"),
        (["--colour-map", "rainbow"], "no colour map 'rainbow'"),
    ],
)
def test_bad_looks_are_one_line(words, text, session, tmp_path, capsys):
    assert main(["export", str(session), "--png-dir", str(tmp_path / "x"), *words]) == 2
    error = capsys.readouterr().err
    assert text in error and error.count("\n") == 1 and not (tmp_path / "x").exists()


def test_pictures_are_of_the_best_quality_unless_asked_otherwise(session, tmp_path):
    """A film is looked at often: what a software renderer can do in time for a window is no measure."""
    default, high, low = (
        pictures(session, tmp_path / name, "--frames", "2:3", "--size", "800x600", *options)[0]
        for name, options in (
            ("default", ()),
            ("high", ("--quality", "high")),
            ("low", ("--quality", "low")),
        )
    )
    assert np.array_equal(default, high)
    sharp, soft = (np.abs(np.diff(picture, axis=1)).mean() for picture in (high, low))
    assert sharp > 1.05 * soft
