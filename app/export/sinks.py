"""Where exported frames go: an MP4 film, a folder of PNG pictures, an .npz of heights.

A sink writes under a temporary name and takes its own only when it is finished, so that whatever ends an
export, no half file is left under the name that was asked for. What is in a frame is not decided here.
"""

from __future__ import annotations

import abc
import io
import os
import zipfile
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from app.outputs import check_output_path
from replay.errors import RipplescopeError, UsageError

ENCODERS = ("libx264", "libopenh264", "mpeg4")
"""The first that PyAV's FFmpeg has is taken; its wheels have all of them."""


class Sink(abc.ABC):
    """A place for frames. As a context manager it is finished at the end, or cancelled by an exception.

    Attributes:
        path: the file or folder that there will be.
        frames: added so far.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.frames = 0

    def add(self, frame: np.ndarray) -> None:
        """Add a frame.

        Raises:
            RipplescopeError: it cannot be written.
        """
        try:
            self._add(frame)
        except OSError as error:
            raise _cannot(self.path, error) from None
        self.frames += 1

    @abc.abstractmethod
    def _add(self, frame: np.ndarray) -> None:
        """Write a frame."""

    @abc.abstractmethod
    def _finish(self) -> None:
        """Complete what was written and give it its name."""

    @abc.abstractmethod
    def cancel(self) -> None:
        """Leave nothing behind."""

    def finish(self) -> None:
        """Complete what was written.

        Raises:
            RipplescopeError: it cannot be written.
        """
        try:
            self._finish()
        except OSError as error:
            self.cancel()
            raise _cannot(self.path, error) from None

    def __enter__(self) -> Sink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.cancel()


class Mp4Sink(Sink):
    """An H.264 film; add pictures of shape (height, width, 3), uint8.

    Its sides are even, as 4:2:0 colour asks for: an odd side gets one more row or column, a copy of the last.

    Args:
        path: the film.
        size: width and height of the pictures.
        rate: pictures a second.

    Raises:
        RipplescopeError: it cannot be made, or there is no encoder.
    """

    def __init__(self, path: Path, size: tuple[int, int], rate: float) -> None:
        super().__init__(path)
        import av

        self._av: Any = av
        self._part = _part(path)
        self._odd = size[1] % 2, size[0] % 2
        encoder = next((name for name in ENCODERS if _has(av, name)), None)
        if encoder is None:
            raise RipplescopeError(
                f"this FFmpeg has none of {', '.join(ENCODERS)}", remedy="install av again"
            )
        try:
            self._film: Any = av.open(str(self._part), "w", format="mp4", options={"movflags": "+faststart"})
        except OSError as error:
            raise _cannot(path, error) from None
        options = {"crf": "18", "preset": "medium"} if encoder == "libx264" else {}
        stream = self._film.add_stream(encoder, rate=Fraction(rate).limit_denominator(1001), options=options)
        stream.width, stream.height = size[0] + self._odd[1], size[1] + self._odd[0]
        stream.pix_fmt = "yuv420p"
        if encoder != "libx264":
            stream.bit_rate = max(2_000_000, stream.width * stream.height * 6)
        context = stream.codec_context  # BT.709, limited range, and said so: players guess otherwise
        context.colorspace = context.color_primaries = context.color_trc = context.color_range = 1
        self._stream: Any = stream

    def _add(self, frame: np.ndarray) -> None:
        rows, columns = self._odd
        even = np.pad(frame, ((0, rows), (0, columns), (0, 0)), "edge") if rows or columns else frame
        picture = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(even), format="rgb24")
        picture = picture.reformat(
            format="yuv420p", src_color_range="JPEG", dst_color_range="MPEG", dst_colorspace="ITU709"
        )
        picture.pts = self.frames
        picture.time_base = 1 / self._stream.average_rate if self._stream.average_rate else None
        self._film.mux(self._stream.encode(picture))

    def _finish(self) -> None:
        self._film.mux(self._stream.encode(None))
        self._film.close()
        self._part.replace(self.path)

    def cancel(self) -> None:
        """Leave nothing behind."""
        self._film.close()
        self._part.unlink(missing_ok=True)


class PngSink(Sink):
    """Pictures `frame-000000.png`, ... in a folder that is new or empty; add arrays as for a film.

    Raises:
        RipplescopeError: the folder cannot be made, or holds something.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._made = not path.exists()
        self._written: list[Path] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            held = next(path.iterdir(), None)
        except OSError as error:
            raise _cannot(path, error) from None
        if held is not None:
            raise UsageError(
                f"the folder {path} is not empty: it holds {held.name}", remedy="name a new folder"
            )

    def _add(self, frame: np.ndarray) -> None:
        from app.view.screenshot import save_png

        self._written.append(save_png(self.path / f"frame-{self.frames:06d}.png", frame))

    def _finish(self) -> None:
        pass  # each picture is complete

    def cancel(self) -> None:
        """Leave nothing behind."""
        for path in self._written:
            path.unlink(missing_ok=True)
        if self._made:
            self.path.rmdir()


class HeightsSink(Sink):
    """Heights in an .npz, written as they come: memory does not grow with the number of frames.

    Its arrays: `heights` (frames, rows, columns) float32 in m, `frame` (frames,) numbers of the frames,
    `dt` seconds a frame, `dx` m a cell.

    Args:
        path: the file.
        shape: rows and columns.
        numbers: the frames that will be added, in order.
        dt, dx: as above.

    Raises:
        RipplescopeError: it cannot be made.
    """

    def __init__(self, path: Path, shape: tuple[int, int], numbers: list[int], dt: float, dx: float) -> None:
        super().__init__(path)
        self._part = _part(path)
        self._count = len(numbers)
        try:
            self._file = zipfile.ZipFile(self._part, "w", zipfile.ZIP_DEFLATED, compresslevel=1)
        except OSError as error:
            raise _cannot(path, error) from None
        for name, value in (("frame", np.asarray(numbers, np.int64)), ("dt", dt), ("dx", dx)):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(value))
            self._file.writestr(f"{name}.npy", buffer.getvalue())
        self._member = self._file.open("heights.npy", "w", force_zip64=True)
        header = {"descr": "<f4", "fortran_order": False, "shape": (self._count, *shape)}
        np.lib.format.write_array_header_1_0(self._member, header)

    def _add(self, frame: np.ndarray) -> None:
        self._member.write(np.ascontiguousarray(frame, "<f4").tobytes())

    def _finish(self) -> None:
        self._member.close()
        self._file.close()
        if self.frames != self._count:
            self._part.unlink(missing_ok=True)
            raise RipplescopeError(f"{self.frames} frames came where {self._count} were announced")
        self._part.replace(self.path)

    def cancel(self) -> None:
        """Leave nothing behind."""
        self._member.close()
        self._file.close()
        self._part.unlink(missing_ok=True)


def check_output(path: Path, suffix: str) -> None:
    """Refuse a place where a file cannot be written, before any work is done.

    Raises:
        UsageError: another suffix, or as `check_output_path` says.
    """
    if path.suffix.lower() != suffix:
        raise UsageError(f"{path} is not a {suffix}", remedy=f"name a file that ends in {suffix}")
    check_output_path(f"--{suffix[1:]}", path)


def _part(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


def _cannot(path: Path, error: OSError) -> RipplescopeError:
    return RipplescopeError(f"{path} cannot be written: {error.strerror or error}")


def _has(av: Any, name: str) -> bool:
    try:
        av.Codec(name, "w")
    except ValueError:  # PyAV's error of an unknown codec is one
        return False
    return True
