"""Digests of what a player holds, by which two runs are compared."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping

from replay.players.base import Player
from replay.session.records import region_keys


def named_regions(player: Player) -> dict[str, int]:
    """Return the regions that have a name, each once, by its first name."""
    return {key: region for key, region in region_keys(player.capture).items() if not key.startswith("#")}


def digests_of(player: Player) -> dict[str, str]:
    """Return the SHA-256 of each named array's contents, in hexadecimal."""
    return {
        key: hashlib.sha256(player.region_bytes(region).data).hexdigest()
        for key, region in named_regions(player).items()
    }


def combined(digests: Mapping[str, str]) -> str:
    """Return one digest of several, 16 hexadecimal digits; the order does not count."""
    text = "".join(f"{name}\0{digest}\0" for name, digest in sorted(digests.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_of(player: Player) -> int:
    """Return the CRC-32 of all named arrays: cheap enough for every frame of a small capture."""
    check = 0
    for region in named_regions(player).values():
        check = zlib.crc32(player.region_bytes(region).data, check)
    return check
