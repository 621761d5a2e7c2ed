"""Writes a session: an observer that puts all that enters a player into an append-only file.

Each record goes to the system in one write before its launch, so that whatever ends the process, a crash of
that launch included, at most the last frame is lost. A file that cannot be written ends the recording and
not the simulation: see `failure`.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import BinaryIO

import numpy as np

from replay.errors import ReplayError, SessionError
from replay.players.base import Player
from replay.players.observer import Observer
from replay.players.source import module_files
from replay.session.digest import check_of, digests_of, named_regions
from replay.session.format import Kind, encode, file_head
from replay.session.records import (
    SCHEMA,
    Camera,
    CaptureRecord,
    CheckpointRecord,
    Content,
    FrameRecord,
    Look,
    StateRecord,
    pack_file,
    region_keys,
)
from replay.trust import capture_digest

EMBED_LIMIT = 16 << 20
"""Captures whose files take more, compressed, are only referred to."""
_SYNC_SECONDS = 5.0
_CHECK_NBYTES = {"cpu": 512 << 10, "cuda": 4 << 10}  # named arrays up to this size are checked every frame
_CHECKPOINT_FRAMES = 600
_KEPT_NBYTES = {False: 1 << 20, True: 64 << 20}  # larger arrays are not kept; by whether it is the final one


class SessionRecorder(Observer):
    """Records into a new file.

    Args:
        path: the file, which must not exist.
        embed_limit: captures are put into the session up to this size in bytes, compressed.

    Attributes:
        path: the file.
        frames, nbytes: recorded so far.
        camera, look: from where and how it is shown; kept with the next frame if they changed.
        failure: why recording ended early, None if it did not.

    Raises:
        SessionError: the file exists or cannot be made.
    """

    def __init__(self, path: Path, *, embed_limit: int = EMBED_LIMIT) -> None:
        self.path = path
        self.frames = self.nbytes = 0
        self.camera: Camera | None = None
        self.look: Look | None = None
        self.failure: SessionError | None = None
        self._embed_limit = embed_limit
        self._player: Player | None = None
        self._keys: dict[int, str] = {}
        self._state_due = ""
        self._writes: dict[int, np.ndarray] = {}
        self._camera: Camera | None = None
        self._look: Look | None = None
        self._files: set[str] = set()
        self._every = 1
        self._synced = time.monotonic()
        self._file: BinaryIO | None = _create(path)
        self._put(file_head())
        self._record(Kind.HEADER, {"schema": SCHEMA, **_origin()})
        if self.failure is not None:
            raise self.failure

    @property
    def recording(self) -> bool:
        """Whether frames are being recorded."""
        return self._file is not None and self._player is not None

    def follow(self, player: Player | None) -> None:
        """Record another player from now on, from its present state; None for nothing.

        The first launch after it writes that state, as far as it is not what the capture's file holds.
        """
        if self._player is not None and self in self._player.observers:
            self._player.observers.remove(self)
        self._player = player
        self._writes.clear()
        if player is None or self._file is None:
            return
        player.observers.append(self)
        self._keys = {region: key for key, region in region_keys(player.capture).items()}
        self._state_due = "capture" if self.frames else "start"
        nbytes = sum(player.capture.regions[region].nbytes for region in named_regions(player).values())
        limit = _CHECK_NBYTES.get(player.device.partition(":")[0], 1 << 20)
        self._every = max(1, -(-nbytes // limit))
        self._put_capture(player)

    def wrote(self, values: Sequence[tuple[int, np.ndarray]]) -> None:
        """Keep what was written until the launch: the last of each region, as a pause may be long."""
        for region, value in values:
            self._writes.pop(region, None)
            self._writes[region] = value

    def restored(self) -> None:
        """Begin from the state that was restored."""
        self._state_due = self._state_due or "rewind"

    def launching(self) -> None:
        """Write the frame."""
        self._put_frame(launch=True)

    def launched(self) -> None:
        """Write a checkpoint now and then."""
        if self._file is not None and self.frames % (_CHECKPOINT_FRAMES * max(1, self._every // 60)) == 0:
            self._put_checkpoint(final=False)

    def close(self) -> None:
        """End the session in order, while the player is still open. A second call does nothing.

        Raises:
            ReplayError: the player's last state cannot be read; the file is closed, and ends as if cut.
        """
        try:
            if self._file is not None and self._player is not None:
                self._player.flush()
                if self._writes or self._state_due or (self.camera, self.look) != (self._camera, self._look):
                    self._put_frame(launch=False)
                self._put_checkpoint(final=True)
            self._record(Kind.END, {"frames": self.frames})
        finally:
            file, self._file = self._file, None
            self.follow(None)
            if file is not None:
                file.close()

    def _put_frame(self, *, launch: bool) -> None:
        player = self._player
        if player is None or self._file is None:
            return
        if self._state_due:
            contents = {
                key: Content.of(player.region_bytes(region), player.initial_bytes(region))
                for region, key in self._keys.items()
            }
            state = StateRecord(self._state_due, player.frames, contents)
            self._record(Kind.STATE, *state.parts())
            self._state_due = ""
            self._writes.clear()  # the state holds them
        writes = [
            (self._keys[region], Content.of(value, player.initial_bytes(region)))
            for region, value in self._writes.items()
        ]
        self._writes.clear()
        check = check_of(player) if launch and self.frames % self._every == 0 else None
        camera = self.camera if self.camera != self._camera else None
        look = self.look if self.look != self._look else None
        self._camera, self._look = self.camera, self.look
        self._record(Kind.FRAME, *FrameRecord(writes, check, camera, launch, look).parts())
        self.frames += launch

    def _put_checkpoint(self, *, final: bool) -> None:
        player = self._player
        assert player is not None
        kept = {}
        for key, region in named_regions(player).items():
            spec = player.capture.regions[region]
            if (
                spec.element is not None
                and spec.element.scalar.kind == "f"
                and spec.nbytes <= _KEPT_NBYTES[final]
            ):
                kept[key] = Content.of(player.region_bytes(region), None)
        checkpoint = CheckpointRecord(self.frames, digests_of(player), kept, final)
        self._record(Kind.CHECKPOINT, *checkpoint.parts())

    def _put_capture(self, player: Player) -> None:
        capture = player.capture
        stem = capture.path.stem
        files = {f"{stem}.wrp": capture.data}
        folder = capture.modules_folder.name
        try:
            files |= {f"{folder}/{name}": data for name, data in module_files(capture).items()}
            digest = capture_digest(capture)
        except ReplayError:  # a player that needs no modules, or they are gone since
            digest = ""
        packed = []
        listed = {}
        for name, data in files.items():
            sha256 = hashlib.sha256(data).hexdigest()
            listed[name] = sha256
            if sha256 not in self._files:
                packed.append((sha256, encode(Kind.FILE, *pack_file(name, sha256, data))))
        if not digest or sum(len(data) for _, data in packed) > self._embed_limit:
            packed, listed = [], {}
        for sha256, data in packed:
            self._put(data)
            self._files.add(sha256)
        record = CaptureRecord(
            path=str(capture.path.resolve()),
            sha256=hashlib.sha256(capture.data).hexdigest(),
            digest=digest,
            device=player.device,
            device_name=player.device_name,
            manifest=capture.manifest.to_json() if capture.manifest is not None else None,
            files=listed,
        )
        self._record(Kind.CAPTURE, record.value())

    def _record(self, kind: Kind, value: Mapping[str, object], blobs: Sequence[bytes] = ()) -> None:
        try:
            data = encode(kind, value, blobs)
        except SessionError as error:
            self._fail(error)
            return
        self._put(data)

    def _put(self, data: bytes) -> None:
        if self._file is None:
            return
        try:
            rest = memoryview(data)
            while rest:  # an unbuffered file may take less than it is given
                rest = rest[self._file.write(rest) :]
            self.nbytes += len(data)
            if time.monotonic() - self._synced > _SYNC_SECONDS:
                self._synced = time.monotonic()
                os.fsync(self._file.fileno())
        except OSError as error:
            self._fail(
                SessionError(
                    f"recording ended after frame {self.frames}: {self.path}: {error.strerror or error}",
                    remedy="what was recorded until then can be replayed",
                )
            )

    def _fail(self, error: SessionError) -> None:
        self.failure = error
        if self._file is not None:
            self._file.close()
            self._file = None


def _create(path: Path) -> BinaryIO:
    try:
        return path.open("xb", buffering=0)
    except FileExistsError:
        raise SessionError(
            f"{path} exists, and a session is never overwritten", remedy="name another file"
        ) from None
    except OSError as error:
        raise SessionError(f"{path}: cannot be made: {error.strerror or error}") from None


def _origin() -> dict[str, str]:
    versions = {}
    for name, package in (("ripplescope", "ripplescope"), ("warp", "warp-lang"), ("numpy", "numpy")):
        try:
            versions[name] = metadata.version(package)
        except metadata.PackageNotFoundError:  # run from a checkout that is not installed
            versions[name] = ""
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    return {"created": now, "platform": sys.platform, **versions}
