"""What the records of a session mean, as values: built by the recorder, checked when read back.

    HEADER      schema, when and by what it was recorded
    FILE        a file of a capture, compressed, known by its SHA-256: written once a session
    CAPTURE     what is replayed from here on: digest, place, device, manifest, and which files are inside
    STATE       contents of all regions at this moment: at the start, after a rewind, after another capture
    FRAME       what the host wrote, byte for byte, and then a launch, unless `launch` is false
    CHECKPOINT  digests of the named arrays after the launches so far, and the heights themselves
    END         the session was stopped in order

A region is known by the first of its names, or as `#id`. Contents are raw, compressed, or those of the file.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from replay.graph.model import Capture
from replay.session.format import Record

SCHEMA = "ripplescope-session"
_RAW_NBYTES = 256  # smaller contents are not worth compressing
_MAX_FILE_NBYTES = 1 << 30

Camera = tuple[float, ...]
"""Target x, y, z in m, distance in m, yaw, pitch and field of view in radians."""

Look = Mapping[str, Any]
"""How the heights were shown, by names that only the viewer knows; files of older programs have none."""


class RecordError(ValueError):
    """A record's object is not what its kind asks for; says what is wrong."""


@dataclass(frozen=True)
class Content:
    """Contents of a region: `how` is `raw`, `zlib` or `initial`."""

    how: str
    nbytes: int
    blob: bytes

    @classmethod
    def of(cls, value: np.ndarray, initial: np.ndarray | None) -> Content:
        """Return contents, small where they are those of the file."""
        data = value.tobytes()
        if len(data) <= _RAW_NBYTES:
            return cls("raw", len(data), data)
        if initial is not None and initial.tobytes() == data:
            return cls("initial", len(data), b"")
        return cls("zlib", len(data), zlib.compress(data, 1))

    def restore(self, nbytes: int, initial: Callable[[], np.ndarray] | None = None) -> np.ndarray:
        """Return the contents as uint8, for a region of a size.

        Raises:
            RecordError: they are not of that size.
        """
        if self.nbytes != nbytes:  # looked at first, so that nothing larger is ever unpacked
            raise RecordError(f"contents have {self.nbytes} bytes, the region has {nbytes}")
        if self.how == "initial" and initial is not None:
            found = initial()
        elif self.how == "zlib":
            found = np.frombuffer(_inflate(self.blob, nbytes), np.uint8)
        else:
            found = np.frombuffer(self.blob, np.uint8)
        if found.size != nbytes:
            raise RecordError(f"contents have {found.size} bytes, not {nbytes}")
        return found


Contents = Mapping[str, Content]


@dataclass(frozen=True)
class CaptureRecord:
    """What is replayed.

    Attributes:
        path: where the `.wrp` lay.
        sha256: of the `.wrp`.
        digest: of the `.wrp` and its modules, see `replay.trust.capture_digest`.
        device, device_name: where it was replayed: `cpu`, `cuda:0`, and the name people know.
        manifest: the manifest as JSON, None without one.
        files: by name relative to the `.wrp`'s folder, the SHA-256 of each file that the session holds.
    """

    path: str
    sha256: str
    digest: str
    device: str
    device_name: str
    manifest: Mapping[str, Any] | None
    files: Mapping[str, str]

    @property
    def device_kind(self) -> str:
        """`cpu` or `cuda`."""
        return self.device.partition(":")[0]

    def value(self) -> dict[str, object]:
        """Return the record's object."""
        return dict(vars(self))

    @classmethod
    def read(cls, record: Record) -> CaptureRecord:
        """Check a record.

        Raises:
            RecordError: it is not valid.
        """
        value = record.value
        manifest, files = value.get("manifest"), value.get("files")
        if manifest is not None and not isinstance(manifest, dict):
            raise RecordError("the manifest is no object")
        if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
            raise RecordError("the list of files is none")
        texts = {name: _text(value, name) for name in ("path", "sha256", "digest", "device", "device_name")}
        return cls(**texts, manifest=manifest, files=files)


@dataclass(frozen=True)
class StateRecord:
    """Contents of all regions: `frames` is the player's count, `why` is `start`, `rewind` or `capture`."""

    why: str
    frames: int
    contents: Contents

    def parts(self) -> tuple[dict[str, object], list[bytes]]:
        """Return the record's object and blobs."""
        listed, blobs = _listed(self.contents.items())
        return {"why": self.why, "frames": self.frames, "contents": listed}, blobs

    @classmethod
    def read(cls, record: Record) -> StateRecord:
        """Check a record.

        Raises:
            RecordError: it is not valid.
        """
        contents = dict(_contents(record, record.value.get("contents")))
        return cls(_text(record.value, "why"), _count(record.value, "frames"), contents)


@dataclass(frozen=True)
class FrameRecord:
    """One launch and what was written before it.

    Attributes:
        writes: (region, contents) in order.
        check: CRC-32 of the named arrays right before the launch, None if it was not taken.
        camera: where it was looked from, if that changed.
        look: how it was shown, if that changed.
        launch: false where values were written at the end and no launch followed.
    """

    writes: Sequence[tuple[str, Content]] = ()
    check: int | None = None
    camera: Camera | None = None
    launch: bool = True
    look: Look | None = None

    def parts(self) -> tuple[dict[str, object], list[bytes]]:
        """Return the record's object and blobs; what is not there takes no room."""
        value: dict[str, object] = {}
        listed, blobs = _listed(self.writes)
        if listed:
            value["writes"] = listed
        if self.check is not None:
            value["check"] = self.check
        if self.camera is not None:
            value["camera"] = self.camera
        if self.look is not None:
            value["look"] = dict(self.look)
        if not self.launch:
            value["launch"] = False
        return value, blobs

    @classmethod
    def read(cls, record: Record) -> FrameRecord:
        """Check a record.

        Raises:
            RecordError: it is not valid.
        """
        value = record.value
        camera = value.get("camera")
        if camera is not None:
            if not isinstance(camera, list) or len(camera) != 7:
                raise RecordError("the camera has not 7 numbers")
            camera = tuple(_number(item) for item in camera)
        look = value.get("look")
        if look is not None and not isinstance(look, dict):
            raise RecordError("the look is no object")
        check = _count(value, "check") if "check" in value else None
        writes = _contents(record, value.get("writes", []))
        return cls(writes, check, camera, value.get("launch", True) is not False, look)


@dataclass(frozen=True)
class CheckpointRecord:
    """What the named arrays held: SHA-256 of each, and of some the contents. `final`: at the very end."""

    frames: int
    digests: Mapping[str, str]
    kept: Contents
    final: bool = False

    def parts(self) -> tuple[dict[str, object], list[bytes]]:
        """Return the record's object and blobs."""
        listed, blobs = _listed(self.kept.items())
        return {
            "frames": self.frames,
            "digests": dict(self.digests),
            "kept": listed,
            "final": self.final,
        }, blobs

    @classmethod
    def read(cls, record: Record) -> CheckpointRecord:
        """Check a record.

        Raises:
            RecordError: it is not valid.
        """
        value = record.value
        digests = value.get("digests")
        if not isinstance(digests, dict) or not all(isinstance(item, str) for item in digests.values()):
            raise RecordError("the digests are none")
        kept = dict(_contents(record, value.get("kept", [])))
        return cls(_count(value, "frames"), digests, kept, value.get("final") is True)


def region_keys(capture: Capture) -> dict[str, int]:
    """Return the regions of a capture by the keys that sessions know them by."""
    return {
        (region.names[0] if region.names else f"#{region.id}"): region.id
        for region in capture.regions.values()
    }


def pack_file(name: str, sha256: str, data: bytes) -> tuple[dict[str, object], list[bytes]]:
    """Return object and blob of a FILE record."""
    return {"name": name, "sha256": sha256, "nbytes": len(data)}, [zlib.compress(data, 6)]


def unpack_file(record: Record) -> tuple[str, bytes]:
    """Return SHA-256 as stated and contents of a FILE record.

    Raises:
        RecordError: it is not valid.
    """
    nbytes = _count(record.value, "nbytes")
    if nbytes > _MAX_FILE_NBYTES or len(record.blobs) != 1:
        raise RecordError(f"a file of {nbytes} bytes in {len(record.blobs)} blobs")
    return _text(record.value, "sha256"), _inflate(record.blobs[0], nbytes)


def _inflate(blob: bytes, nbytes: int) -> bytes:
    """Return decompressed bytes, of which there may not be more than stated."""
    try:
        machine = zlib.decompressobj()
        data = machine.decompress(blob, nbytes + 1)
    except zlib.error as error:
        raise RecordError(f"contents cannot be decompressed: {error}") from None
    if len(data) != nbytes or machine.unconsumed_tail:
        raise RecordError(f"contents have not the {nbytes} bytes that are stated")
    return data


def _listed(contents: Any) -> tuple[list[list[object]], list[bytes]]:
    listed, blobs = [], []
    for key, content in contents:
        listed.append([key, content.how, content.nbytes])
        if content.how != "initial":
            blobs.append(content.blob)
    return listed, blobs


def _contents(record: Record, listed: object) -> list[tuple[str, Content]]:
    if not isinstance(listed, list):
        raise RecordError("the list of contents is none")
    blobs = iter(record.blobs)
    found = []
    for entry in listed:
        try:
            key, how, nbytes = entry
            if not isinstance(key, str) or type(nbytes) is not int or nbytes < 0:
                raise RecordError(f"the entry {entry!r:.80} names no contents")
            if how == "initial":
                blob = b""
            elif how in ("raw", "zlib"):
                blob = next(blobs)
            else:
                raise RecordError(f"contents are kept as {how!r:.40}")
        except (TypeError, ValueError, StopIteration) as error:
            if isinstance(error, RecordError):
                raise
            raise RecordError(f"the entry {entry!r:.80} names no contents") from None
        found.append((key, Content(how, nbytes, blob)))
    return found


def _text(value: Mapping[str, object], name: str) -> str:
    found = value.get(name)
    if not isinstance(found, str):
        raise RecordError(f"{name} is no text")
    return found


def _count(value: Mapping[str, object], name: str) -> int:
    found = value.get(name)
    if type(found) is not int or found < 0:
        raise RecordError(f"{name} is no count")
    return found


def _number(item: object) -> float:
    if isinstance(item, float) and math.isfinite(item):
        return item
    raise RecordError("the camera has not 7 finite numbers")
