"""Replays a session frame by frame and compares it with what was recorded.

On the kind of device it was recorded on, with the same capture, all named arrays must be equal bit for bit.
Elsewhere float operations may be rounded otherwise, so only the arrays that checkpoints hold are compared,
within `BOUND`. Finding and opening the capture is the caller's part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import TracebackType

import numpy as np

from replay.errors import SessionError
from replay.players.base import Player
from replay.session.digest import check_of, digests_of
from replay.session.format import Cause, Ending, Kind, Record, SessionReader
from replay.session.records import (
    SCHEMA,
    Camera,
    CaptureRecord,
    CheckpointRecord,
    Content,
    FrameRecord,
    Look,
    RecordError,
    StateRecord,
    region_keys,
)

BOUND = 1e-3
"""Largest difference, as a share of an array's largest absolute value, between two kinds of device."""

Opener = Callable[[CaptureRecord, Mapping[str, Record]], Player]
"""Opens the capture of a record; the files that the session holds are given by SHA-256, as FILE records."""


@dataclass(frozen=True)
class Difference:
    """Where a replay first differed: `after` frames it was still equal, after `seen` it was not."""

    after: int
    seen: int
    what: str

    def __str__(self) -> str:
        if self.seen - self.after <= 1:
            return f"frame {self.seen} differs: {self.what}"
        return f"the first frame that differs is one of {self.after + 1} to {self.seen}: {self.what}"


class Playback:
    """Replays a session. Use as a context manager.

    Args:
        reader: the opened file; closed by the caller.
        opener: opens captures.
        keep: leave closing the players to the caller, who may still look at one when the next is there.

    Attributes:
        player: what replays it now; None before the first capture.
        capture: the record that it was opened for.
        camera, look: from where and how it was shown, None if that was not recorded.
        frames: replayed so far.
        compared: comparisons with what was recorded so far.
        exact: whether all that was compared had to be equal bit for bit.
        difference: the first one that counts, None if there is none.
        largest: largest difference seen where bits are not compared, as a share of the array's largest value.
        digests: of the named arrays as recorded at the very end; None if the session has no such end.
        ending: why there are no more frames; None while there may be.
    """

    def __init__(self, reader: SessionReader, opener: Opener, *, keep: bool = False) -> None:
        self._reader, self._opener, self._keep = reader, opener, keep
        self.player: Player | None = None
        self.capture: CaptureRecord | None = None
        self.camera: Camera | None = None
        self.look: Look | None = None
        self.frames = self.compared = 0
        self.exact = True
        self.difference: Difference | None = None
        self.largest = 0.0
        self.digests: Mapping[str, str] | None = None
        self.ending: Ending | None = None
        self._files: dict[str, Record] = {}
        self._keys: Mapping[str, int] = {}
        self._equal_after = 0

    def run(self, most: int | None = None) -> Iterator[int]:
        """Replay; yield the number of frames done after each launch.

        Args:
            most: frames at most; None for all.

        Raises:
            SessionError: the session does not fit the capture.
            RipplescopeError: what the opener or the player raises.
        """
        steps = {
            Kind.HEADER: self._header, Kind.FILE: self._file, Kind.CAPTURE: self._capture,
            Kind.STATE: self._state, Kind.CHECKPOINT: self._checkpoint,
        }  # fmt: skip
        for record in self._reader.records():
            if most is not None and self.frames >= most and record.kind is not Kind.CHECKPOINT:
                return
            try:
                if record.kind is Kind.FRAME:
                    if self._frame(FrameRecord.read(record)):
                        yield self.frames
                elif record.kind is not Kind.END:
                    steps[record.kind](record)
            except RecordError as error:
                text = f"is damaged at byte {record.offset}: {error}"
                self.ending = Ending(Cause.DAMAGED, record.offset, text)
                return
        self.ending = self._reader.ending

    def _header(self, record: Record) -> None:
        if record.value.get("schema") != SCHEMA:
            raise RecordError(f"its schema is {record.value.get('schema')!r:.60}")

    def _file(self, record: Record) -> None:
        self._files[str(record.value.get("sha256"))] = record

    def _capture(self, record: Record) -> None:
        capture = CaptureRecord.read(record)
        if not self._keep:
            self.close()
        self.player, self.capture = self._opener(capture, self._files), capture
        self._keys = region_keys(self.player.capture)
        same = hashlib.sha256(self.player.capture.data).hexdigest() == capture.sha256
        kind = self.player.device.partition(":")[0]
        self.exact = self.exact and same and kind == capture.device_kind

    def _state(self, record: Record) -> None:
        player, state = self._opened(), StateRecord.read(record)
        contents = {region: player.initial_bytes(region) for region in player.capture.regions}
        for key, content in state.contents.items():
            if key in self._keys or self.exact or not key.startswith("#"):
                region = self._region(key)
                contents[region] = self._bytes(region, content)
        player.restore_bytes(contents, state.frames)

    def _frame(self, frame: FrameRecord) -> bool:
        player = self._opened()
        values = []
        for key, content in frame.writes:
            region = self._region(key)
            values.append((region, self._bytes(region, content)))
        if values:
            player.write_regions(values)
        self.camera = frame.camera or self.camera
        self.look = frame.look or self.look
        if not frame.launch:
            return False
        if self.exact and frame.check is not None:
            self._compare(frame.check == check_of(player), "the named arrays are others")
        player.launch()
        self.frames += 1
        return True

    def _checkpoint(self, record: Record) -> None:
        player, checkpoint = self._opened(), CheckpointRecord.read(record)
        if checkpoint.final:
            self.digests = checkpoint.digests
        if self.exact:
            now = digests_of(player)
            others = [name for name, digest in checkpoint.digests.items() if now.get(name) != digest]
            self._compare(
                not others, f"{', '.join(others[:4])} {'is' if len(others) == 1 else 'are'} not as recorded"
            )
            return
        for key, content in checkpoint.kept.items():
            region = self._region(key)
            element = player.capture.regions[region].element
            scalar = element.scalar if element is not None else np.dtype(np.uint8)
            wanted = self._bytes(region, content).view(scalar)
            share = _share(wanted, player.region_bytes(region).view(scalar))
            self.largest = max(self.largest, share)
            self._compare(share <= BOUND, f"{key} is off by {share:.2g} of its largest value")

    def _compare(self, equal: bool, what: str) -> None:
        self.compared += 1
        if equal:
            if self.difference is None:
                self._equal_after = self.frames
        elif self.difference is None:
            self.difference = Difference(self._equal_after, self.frames, what)

    def _opened(self) -> Player:
        if self.player is None:
            raise RecordError("it comes before any capture")
        return self.player

    def _region(self, key: str) -> int:
        if key not in self._keys:
            assert self.player is not None
            raise SessionError(
                f"the session writes {key!r}, which {self.player.capture.path.name} does not name",
                remedy="replay it with the capture that it was recorded with",
            )
        return self._keys[key]

    def _bytes(self, region: int, content: Content) -> np.ndarray:
        player = self._opened()
        nbytes = player.capture.regions[region].nbytes
        return content.restore(nbytes, lambda: player.initial_bytes(region))

    def close(self) -> None:
        """Close the player. A second call does nothing."""
        if self.player is not None:
            self.player.close()
            self.player = None

    def __enter__(self) -> Playback:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _share(wanted: np.ndarray, got: np.ndarray) -> float:
    """Return the largest difference of two arrays as a share of the largest finite absolute value wanted.

    Infinite where the values that are not finite are others or elsewhere.
    """
    if wanted.tobytes() == got.tobytes():
        return 0.0
    a, b = wanted.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(a)
    same = np.array_equal(finite, np.isfinite(b)) and np.array_equal(a[~finite], b[~finite], equal_nan=True)
    if not same:
        return np.inf
    with np.errstate(over="ignore"):
        off = float(np.abs(a[finite] - b[finite]).max(initial=0.0))
    largest = float(np.abs(a[finite]).max(initial=0.0))
    if not off:
        return 0.0
    return off / largest if largest else np.inf
