"""Heights from a player to the texture, colour maps, screenshots."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from app.view import colormaps
from app.view.grid import Grid
from app.view.screenshot import save_png
from app.window import Window
from replay.errors import ReplayError, UsageError


class FakePlayer:
    """As much of a player as a transfer looks at."""

    device = "cpu"

    def __init__(self, heights: np.ndarray) -> None:
        self.heights, self.revision, self.views = heights, 0, 0

    def view(self, name: str) -> np.ndarray:
        assert name == "heights_out"
        self.views += 1
        return self.heights

    def flush(self) -> int:
        return 0


def texels(transfer: object) -> np.ndarray:
    from app.gl_platform import GL

    texture = transfer.texture
    texture.bind(0)
    out = np.empty((texture.height, texture.width), np.float32)
    GL.glGetTexImage(GL.GL_TEXTURE_2D, 0, GL.GL_RED, GL.GL_FLOAT, out)
    return out


@pytest.mark.parametrize("shape", [(3, 3), (17, 30), (50, 201)])
def test_the_texture_holds_the_heights_bit_for_bit(gl: Window, shape: tuple[int, int]):
    from app.view.transfer import open_transfer

    heights = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    heights[0, 0] = np.nan
    with open_transfer(FakePlayer(heights), Grid(shape[1], shape[0])) as transfer:
        transfer.update()
        assert texels(transfer).tobytes() == heights.tobytes()
        assert transfer.path == "host" and transfer.reason


def test_nothing_is_uploaded_while_nothing_was_launched(gl: Window):
    from app.view.transfer import open_transfer

    player = FakePlayer(np.zeros((4, 5), np.float32))
    with open_transfer(player, Grid(5, 4)) as transfer:
        transfer.update()
        transfer.update()
        assert player.views == 1
        player.revision, player.heights[2, 3] = 1, 7
        revision = transfer.texture.revision
        transfer.update()
        assert texels(transfer)[2, 3] == 7 and transfer.texture.revision > revision
        transfer.touch()
        transfer.update()
        assert player.views == 3


def test_heights_of_another_shape_and_grids_beyond_the_limit_are_refused(gl: Window):
    from app.view.transfer import ArrayTransfer

    with ArrayTransfer(Grid(5, 4)) as transfer:
        with pytest.raises(ReplayError, match=r"\(5, 4\) do not fit the grid's \(4, 5\)"):
            transfer.upload(np.zeros((5, 4), np.float32))
    with pytest.raises(ReplayError, match="larger than this OpenGL can show"):
        ArrayTransfer(Grid(1_000_000, 4))


def test_colour_maps_are_tables_of_256_colours_between_their_anchors():
    assert colormaps.names()[0] == "balance"
    for name in colormaps.names():
        assert colormaps.table(name).shape == (256, 3)
    assert colormaps.table("gray")[[0, 128, 255], 0].tolist() == [0, 128, 255]
    assert colormaps.table("viridis")[0].tolist() == [0x44, 0x01, 0x54]
    assert colormaps.table("viridis")[255].tolist() == [0xFD, 0xE7, 0x25]
    middle = colormaps.table("balance")[127:129].astype(int)
    assert middle.min() > 240  # zero is nearly white


def test_an_unknown_colour_map_lists_the_known():
    with pytest.raises(UsageError, match="no colour map 'jet'; use one of balance, viridis"):
        colormaps.table("jet")


def test_a_screenshot_is_the_pixels_and_leaves_no_partial_file(tmp_path: Path):
    from PIL import Image

    pixels = np.random.default_rng(2).integers(0, 256, (7, 9, 3), np.uint8)
    assert np.array_equal(np.asarray(Image.open(save_png(tmp_path / "a.png", pixels))), pixels)
    with pytest.raises(UsageError, match="cannot write"):
        save_png(tmp_path / "none" / "a.png", pixels)
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]
