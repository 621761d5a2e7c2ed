"""Players: a capture, loaded on a device. `open_player` chooses the backend; Warp is imported there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from replay.errors import DeviceError, ReplayError
from replay.players.base import Player

if TYPE_CHECKING:
    from replay.graph.model import Capture

__all__ = ["Player", "device_kind", "open_player"]


def device_kind(device: str) -> str:
    """Return `auto`, `cpu` or `cuda` for a device string `auto|cpu|cuda|cuda:N`.

    Raises:
        DeviceError: the string is none of these.
    """
    kind, colon, number = device.partition(":")
    if kind in ("auto", "cpu", "cuda") and (
        not colon or (kind == "cuda" and number.isdecimal() and number.isascii())
    ):
        return kind
    raise DeviceError(f"unknown device {device!r}", remedy="use auto, cpu, cuda or cuda:N")


def open_player(capture: Capture, device: str = "auto") -> Player:
    """Load a capture on a device; close the player when done.

    Args:
        capture: an opened capture without blocking faults.
        device: `auto` is the kind the capture was recorded for.

    Raises:
        DeviceError: the device is unknown, absent, or not of the capture's kind or architecture.
        ReplayError: the capture has a blocking fault, is of another Warp, lacks a module, or cannot be
            loaded; with the native reason.
    """
    kind = device_kind(device)
    if capture.blocking_faults:  # before the device: a broken header may name a wrong one
        from replay.players.source import refuse_blocked

        refuse_blocked(capture)
    if kind == "auto":
        kind = device = capture.device_kind
    if kind != capture.device_kind:
        raise DeviceError(
            f"{capture.path.name} was recorded for {capture.device_kind}, asked for is {device}",
            remedy=f"use --device {capture.device_kind}, or record it again for {kind}",
        )
    if kind == "cpu":
        from replay.players.cpu import CpuPlayer

        return CpuPlayer(capture)
    if kind == "cuda":
        from replay.players.cuda import CudaPlayer

        return CudaPlayer(capture, device)
    raise ReplayError(f"{capture.path.name}: unknown device kind {kind!r}")
