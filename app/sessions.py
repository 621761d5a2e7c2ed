"""Finding the capture of a session: where it lay, in the session itself, or made again for another device.

The files of a session come from whoever recorded it, so they are asked about like any foreign capture.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from replay.errors import ManifestError, RipplescopeError, SessionError
from replay.players.base import Player
from replay.session.format import Record
from replay.session.records import CaptureRecord, RecordError, unpack_file

if TYPE_CHECKING:
    from app.trust import Ask
    from replay.graph.model import Capture


class SessionOpener:
    """Opens the captures of sessions, as `Playback` asks for them.

    Args:
        device: as for `open_player`; `auto` is the device kind of the recording.
        graph: a capture to use in place of the recorded one; None looks for that.
        trust: replay what was not recorded here without a question.
        ask: as for `require_trust`.

    Attributes:
        origin: where the last capture came from, for people.
        capture: the last one that was found, also where it may not run.
        vouched: digests of captures that the user just said yes to, for this time.
    """

    def __init__(
        self, device: str = "auto", graph: Path | None = None, trust: bool = False, ask: Ask | None = None
    ) -> None:
        self._device, self._graph, self._trust, self._ask = device, graph, trust, ask
        self.origin = ""
        self.capture: Capture | None = None
        self.vouched: set[str] = set()

    def __call__(self, record: CaptureRecord, files: Mapping[str, Record]) -> Player:
        """Return a player of the capture.

        Raises:
            SessionError: it is not there, or another one.
            RipplescopeError: it cannot be opened, trusted or loaded.
        """
        from app.trust import require_trust
        from replay.players import device_kind, open_player
        from replay.trust import capture_digest

        kind = device_kind(self._device)
        device = record.device_kind if kind == "auto" else self._device
        self.capture = capture = self.find(record, files)
        if not self.vouched or capture_digest(capture) not in self.vouched:
            require_trust(capture, self._trust, device, ask=self._ask)
        return open_player(capture, device)

    def find(self, record: CaptureRecord, files: Mapping[str, Record]) -> Capture:
        """Return the capture, opened, not loaded."""
        from replay.graph.open import open_capture
        from replay.players import device_kind

        kind = device_kind(self._device)
        if self._graph is not None:
            capture = open_capture(self._graph)
            self.origin = str(capture.path)
            if capture.device_kind == record.device_kind and not _is_same(capture, record):
                raise SessionError(
                    f"{capture.path} is not the capture of this session: digest "
                    f"{_sha256(capture)[:12]}, not {record.sha256[:12]}",
                    remedy="leave --graph away, or record the session again",
                )
            return capture
        if kind not in ("auto", record.device_kind):
            return self._made_again(record, kind)
        place = Path(record.path)
        found = ""
        try:
            capture = open_capture(place)
            if _is_same(capture, record):
                self.origin = str(capture.path)
                return capture
            found = f"{place} is another one now (digest {_sha256(capture)[:12]}, not {record.sha256[:12]})"
        except RipplescopeError as error:
            found = error.what
        if not record.files:
            raise SessionError(
                f"the capture of this session is not inside it, and {found}",
                remedy="name the capture with --graph",
            )
        capture = open_capture(_unpack(record, files))
        if not _is_same(capture, record):
            raise SessionError("the capture inside the session is not the one that it says")
        self.origin = "inside the session"
        return capture

    def _made_again(self, record: CaptureRecord, kind: str) -> Capture:
        from app.cache import demo_capture
        from app.compare import settings_of
        from replay.graph.open import open_capture
        from replay.manifest import Manifest

        try:
            manifest = Manifest.from_json(record.manifest, where="the session's manifest")
        except ManifestError as error:
            raise SessionError(
                f"this session was recorded on {record.device_kind}, and there is no recipe to record its "
                f"capture for {kind} ({error.what})",
                remedy=f"use --device {record.device_kind}, or name a capture for {kind} with --graph",
            ) from None
        self.origin = f"recorded again for {kind}"
        return open_capture(demo_capture(settings_of(manifest), self._device))


def _sha256(capture: Capture) -> str:
    return hashlib.sha256(capture.data).hexdigest()


def _is_same(capture: Capture, record: CaptureRecord) -> bool:
    """Return whether a capture is the recorded one, its modules included if they are known."""
    from replay.trust import capture_digest

    if _sha256(capture) != record.sha256:
        return False
    try:
        return not record.digest or capture_digest(capture) == record.digest
    except RipplescopeError:
        return False


def _unpack(record: CaptureRecord, files: Mapping[str, Record]) -> Path:
    """Write the files of a capture into the cache folder and return the `.wrp`."""
    from app.cache import cache_folder

    named: dict[PurePosixPath, bytes] = {}
    for name, sha256 in record.files.items():
        path = PurePosixPath(name)
        plain = all(part not in ("..", ".") and not set(part) & set('\\/:*?"<>|\0') for part in path.parts)
        if path.is_absolute() or not plain or not 1 <= len(path.parts) <= 2:
            raise RecordError(f"{name!r:.80} is no place for a file")
        if sha256 not in files:
            raise RecordError(f"the file {name} is missing")
        stated, data = unpack_file(files[sha256])
        if stated != sha256 or hashlib.sha256(data).hexdigest() != sha256:
            raise RecordError(f"the file {name} does not have its digest")
        named[path] = data
    wrp = [path for path in named if len(path.parts) == 1 and path.suffix == ".wrp"]
    if len(wrp) != 1:
        raise RecordError("there is not one .wrp among its files")
    key = hashlib.sha256(f"{sorted(record.files.items())}{record.manifest}".encode()).hexdigest()[:16]
    folder = cache_folder() / "sessions" / key
    try:
        for path, data in named.items():
            place = folder / path
            if not (place.is_file() and place.read_bytes() == data):
                place.parent.mkdir(parents=True, exist_ok=True)
                part = place.with_name(f".{place.name}.part")
                part.write_bytes(data)
                part.replace(place)
    except OSError as error:
        raise SessionError(f"the capture cannot be unpacked: {folder}: {error.strerror or error}") from None
    if record.manifest is not None:
        from replay.manifest import Manifest, manifest_path

        manifest = Manifest.from_json(record.manifest, where="the session's manifest")
        manifest.write(manifest_path(folder / wrp[0]))
    return folder / wrp[0]
