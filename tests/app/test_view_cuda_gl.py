"""The choice and the life of transfers from CUDA, on a fake driver and a real OpenGL."""

from __future__ import annotations

import numpy as np
import pytest
from fake_cuda import ILLEGAL_ADDRESS, INVALID_VALUE, NOT_READY, OPERATING_SYSTEM, FakePlayerOnCuda

from app.view.grid import Grid
from app.window import Window
from replay.errors import ParameterError, ReplayError, UsageError

IMAGE, BUFFER = "cuGraphicsGLRegisterImage", "cuGraphicsGLRegisterBuffer"
GRID = Grid(19, 7)


@pytest.fixture
def player() -> FakePlayerOnCuda:
    return FakePlayerOnCuda(GRID)


def opened(player: FakePlayerOnCuda, prefer: str | None = None):
    from app.view.transfer import open_transfer

    return open_transfer(player, GRID, "heights", prefer)


def texels(transfer) -> np.ndarray:
    from app.gl_platform import GL

    transfer.texture.bind(0)
    out = np.empty((GRID.height, GRID.width), np.float32)
    GL.glGetTexImage(GL.GL_TEXTURE_2D, 0, GL.GL_RED, GL.GL_FLOAT, out)
    return out


# what fails, what is chosen then, and what the reason must name
CHOICES = [
    ({}, "interop", "writes into the texture"),
    ({IMAGE: OPERATING_SYSTEM}, "interop buffer", "interop off (CUDA error 304"),
    (
        {IMAGE: OPERATING_SYSTEM, BUFFER: OPERATING_SYSTEM},
        "pinned copy",
        "interop buffer off (CUDA error 304",
    ),
    ({"cuGraphicsMapResources": INVALID_VALUE}, "pinned copy", "CUDA error 1 in cuGraphicsMapResources"),
    ({"cuMemcpy2DAsync": INVALID_VALUE}, "interop buffer", "CUDA error 1 in cuMemcpy2DAsync"),
]


@pytest.mark.parametrize(("failing", "path", "reason"), CHOICES)
def test_the_first_way_that_works_is_taken_and_shows_the_heights(
    gl: Window, player: FakePlayerOnCuda, failing: dict[str, int], path: str, reason: str
):
    player.cuda.driver.failing = failing
    player.launch(1)
    with opened(player) as transfer:
        assert transfer.path == path and reason in transfer.reason
        assert texels(transfer).tobytes() == player.heights.tobytes()
        player.launch(2)
        transfer.update()
        assert texels(transfer).tobytes() == player.heights.tobytes()
    assert player.cuda.driver.left == 0 and player.cuda.depth == 0


def test_what_failed_before_is_told_with_the_way_to_mend_it(gl: Window, player: FakePlayerOnCuda):
    player.cuda.driver.failing = {IMAGE: OPERATING_SYSTEM, BUFFER: OPERATING_SYSTEM}
    with opened(player) as transfer:
        assert "shared memory off (" in transfer.reason
        # the tests' OpenGL runs on the processor
        assert "OpenGL runs on llvmpipe" in transfer.reason
        assert "__NV_PRIME_RENDER_OFFLOAD=1" in transfer.reason


def test_after_a_failure_cuda_is_looked_at_and_opengl_has_no_error_left(gl: Window, player: FakePlayerOnCuda):
    from app.gl_platform import GL

    GL.glBindTexture(0xDEAD, 1)  # an error that was there before
    with opened(player) as transfer:
        assert transfer.path == "interop" and "off" not in transfer.reason
    player.cuda.driver.failing = {IMAGE: OPERATING_SYSTEM, "cuStreamQuery": NOT_READY}
    with opened(player) as transfer:
        assert transfer.path == "interop buffer"
        assert "cuStreamQuery" in player.cuda.driver.calls
        assert GL.glGetError() == GL.GL_NO_ERROR


def test_a_broken_context_is_an_error_and_not_one_more_fallback(gl: Window, player: FakePlayerOnCuda):
    player.cuda.driver.failing = {IMAGE: OPERATING_SYSTEM, "cuStreamQuery": ILLEGAL_ADDRESS}
    with pytest.raises(ReplayError, match="CUDA stopped working"):
        opened(player)
    assert player.cuda.driver.left == 0


def test_where_nothing_works_all_reasons_are_told(gl: Window, player: FakePlayerOnCuda):
    player.cuda.driver.failing = dict.fromkeys((IMAGE, BUFFER, "cuMemHostAlloc"), OPERATING_SYSTEM)
    with pytest.raises(ReplayError, match=r"interop off .*interop buffer off .*shared .*pinned copy off"):
        opened(player)
    assert player.cuda.driver.left == 0


@pytest.mark.parametrize(
    ("prefer", "path"), [("interop", "interop"), ("shared", "pinned copy"), ("copy", "pinned copy")]
)
def test_a_way_can_be_asked_for(gl: Window, player: FakePlayerOnCuda, prefer: str, path: str):
    with opened(player, prefer) as transfer:
        assert transfer.path == path
        assert f"{prefer} was asked for" in transfer.reason


def test_the_environment_may_ask_and_an_unknown_way_is_refused(
    gl: Window, player: FakePlayerOnCuda, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("RIPPLESCOPE_TRANSFER", "copy")
    with opened(player) as transfer:
        assert transfer.path == "pinned copy"
    with opened(player, "auto") as transfer:
        assert transfer.path == "interop"
    with pytest.raises(UsageError, match="unknown transfer 'fast'; use one of auto, interop, shared, copy"):
        opened(player, "fast")


def test_a_frame_without_a_change_costs_no_call_of_the_driver(gl: Window, player: FakePlayerOnCuda):
    with opened(player) as transfer:
        revision = transfer.texture.revision
        before = len(player.cuda.driver.calls)
        transfer.update()
        transfer.update()
        assert len(player.cuda.driver.calls) == before and transfer.texture.revision == revision
        transfer.touch()
        transfer.update()
        assert transfer.texture.revision == revision + 1


@pytest.mark.parametrize(
    ("prefer", "expected"),
    [
        (
            "interop",
            [
                "cuGraphicsMapResources",
                "cuGraphicsSubResourceGetMappedArray",
                "cuMemcpy2DAsync",
                "cuGraphicsUnmapResources",
            ],
        ),
        ("copy", ["cuMemcpyDtoHAsync", "cuEventRecord", "cuEventSynchronize"]),
    ],
)
def test_a_frame_is_these_calls_and_no_other(
    gl: Window, player: FakePlayerOnCuda, prefer: str, expected: list[str]
):
    with opened(player, prefer) as transfer:
        player.launch(3)
        before = len(player.cuda.driver.calls)
        transfer.update()
        assert player.cuda.driver.calls[before:] == expected


def test_what_was_mapped_is_unmapped_when_the_copy_fails(gl: Window, player: FakePlayerOnCuda):
    with opened(player) as transfer:
        player.launch(4)
        player.cuda.driver.failing = {"cuMemcpy2DAsync": INVALID_VALUE}
        with pytest.raises(ReplayError, match="cuMemcpy2DAsync"):
            transfer.update()
        assert not player.cuda.driver.mapped and not transfer.mapped
        player.cuda.driver.failing = {}
        transfer.update()  # not taken for transferred
        assert texels(transfer).tobytes() == player.heights.tobytes()


def test_the_texture_cannot_be_drawn_from_while_it_is_mapped(gl: Window, player: FakePlayerOnCuda):
    with opened(player) as transfer:
        with player.cuda, transfer._registration.mapped():
            with pytest.raises(AssertionError, match="drawing while mapped"):
                _ = transfer.texture
        assert transfer.texture.name


def test_cuda_lets_go_before_opengl_deletes(gl: Window, player: FakePlayerOnCuda):
    """The fake driver refuses to unregister what is deleted already."""
    for prefer in ("auto", "copy"):
        transfer = opened(player, prefer)
        transfer.close()
        transfer.close()
    player.cuda.driver.failing = {IMAGE: OPERATING_SYSTEM}
    opened(player).close()
    assert player.cuda.driver.left == 0


def test_an_array_that_is_no_field_of_the_grid_is_refused(gl: Window, player: FakePlayerOnCuda):
    from app.view.transfer import open_transfer

    with pytest.raises(ReplayError, match="no height field of 7x19"):
        open_transfer(player, Grid(7, 19), "heights")
    with pytest.raises(ParameterError, match="heights_out"):
        open_transfer(player, GRID)


def test_the_device_of_opengl_is_found_by_its_uuid(gl: Window, player: FakePlayerOnCuda):
    from app.view.cuda_gl.device import gl_is_on, ordinals_of_gl
    from app.view.cuda_gl.memory_object import device_uuids

    driver = player.cuda.driver
    assert ordinals_of_gl(driver) == []
    driver.gl_devices = [0]
    assert ordinals_of_gl(driver) == [0]
    assert gl_is_on(player.cuda, 0) and not gl_is_on(player.cuda, 1)
    assert ("cuGLGetDevices" in driver.calls) == (not device_uuids())
    driver.failing = {"cuDeviceGetCount": INVALID_VALUE}
    assert ordinals_of_gl(driver) == []


def test_a_capture_for_cuda_is_opened_on_the_device_that_draws(
    frame_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import dataclasses

    import app.scene
    from replay.errors import DeviceError
    from replay.graph.open import open_capture
    from replay.players.fake import FakePlayer

    capture = dataclasses.replace(open_capture(frame_path), device_kind="cuda")
    asked = []

    def open_player(capture, device):
        asked.append(device)
        if device == "cuda:1":
            raise DeviceError("another architecture")
        return FakePlayer(capture)

    monkeypatch.setattr("replay.graph.open.open_capture", lambda path: capture)
    monkeypatch.setattr("replay.players.open_player", open_player)
    for device, drawing in [
        ("auto", lambda: "cuda:2"),
        ("cuda", lambda: "cuda:1"),
        ("auto", lambda: None),
        ("cuda:0", lambda: "cuda:2"),
    ]:
        app.scene.open_scene(frame_path, device, drawing).close()
    assert asked == ["cuda:2", "cuda:1", "cuda", "auto", "cuda:0"]


def test_extensions_are_asked_of_the_context_and_their_functions_are_found(gl: Window):
    """PyOpenGL's own answer is no where another copy of the GLX library made the context."""
    from app.gl_platform import check_errors
    from app.view.cuda_gl import memory_object

    assert memory_object.has_extension("GL_ARB_explicit_attrib_location")
    assert not memory_object.has_extension("GL_ARB_explicit")
    if memory_object.has_extension("GL_EXT_memory_object"):
        name = memory_object.create()
        check_errors("making a memory object")
        assert name
        memory_object.delete(name)
        assert all(len(uuid) == 16 for uuid in memory_object.device_uuids())
