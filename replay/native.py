"""What native code writes to the standard error and output, made part of our errors.

Warp leaves the text of many native errors empty and writes the reason to the C streams, past Python's
`sys.stderr`. `native_errors` holds both descriptors for a moment: a failure takes what was written as its
reason, a success passes it on. This module knows nothing of captures or devices, and imports no Warp.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import IO, Any

from replay.errors import ReplayError, RipplescopeError

_LIMIT = 64 * 1024  # a loop that warns a million times must not fill a message


@dataclass
class NativeOutput:
    """What was written to the C streams inside a `native_output` block; complete once it has ended."""

    stdout: str = ""
    stderr: str = ""

    def pass_on(self, known: Set[str] = frozenset()) -> None:
        """Write it to the standard error, what kernels print as well: the standard output is for results.

        Args:
            known: words, such as names of functions; lines of the standard error with one are left out.
        """
        kept = self.stderr
        if known and kept:
            kept = "\n".join(line for line in kept.splitlines() if known.isdisjoint(line.split()))
        for text in (self.stdout, kept):
            if text and sys.stderr is not None:
                print(text, file=sys.stderr)


def _flush() -> None:
    """Empty the buffers of Python's and of the C library's streams."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    with contextlib.suppress(OSError, AttributeError):
        library = ctypes.cdll.msvcrt if sys.platform == "win32" else ctypes.CDLL(None)
        library.fflush(None)


class _Redirection:
    """Descriptors 1 and 2 sent into temporary files, which never block a writer as a pipe may."""

    def __init__(self) -> None:
        self._saved: dict[int, tuple[int, IO[bytes]]] = {}
        _flush()
        try:
            for number in (1, 2):
                with contextlib.suppress(OSError):  # a process may run without one of them
                    saved = os.dup(number)
                    file = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `end`)
                    self._saved[number] = saved, file
                    os.dup2(file.fileno(), number)
        except BaseException:
            self.end()
            raise

    def end(self) -> dict[int, str]:
        """Restore the descriptors and return what was written to each."""
        _flush()
        texts = {}
        for number, (saved, file) in self._saved.items():
            os.dup2(saved, number)
            os.close(saved)
            with file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LIMIT))
                texts[number] = file.read().decode("utf-8", "replace").strip()
        self._saved.clear()
        return texts


class _Guard:
    """One redirection at a time in a process: the descriptors belong to all of it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.inside = False


_guard = _Guard()


@contextlib.contextmanager
def native_output() -> Iterator[NativeOutput]:
    """Hold back what is written to the C streams inside the block.

    One thread at a time; a block within a block of the same thread is part of the outer one, and its
    own output stays empty. Descriptors are restored on every way out.
    """
    output = NativeOutput()
    with _guard.lock:
        if _guard.inside:
            yield output
            return
        redirection = _Redirection()
        _guard.inside = True
        try:
            yield output
        finally:
            _guard.inside = False
            texts = redirection.end()
            output.stdout, output.stderr = texts.get(1, ""), texts.get(2, "")


@contextlib.contextmanager
def native_errors(
    doing: str, *, remedy: str = "", emit: bool = True, known: Set[str] = frozenset()
) -> Iterator[None]:
    """Turn an exception of the native side into a ReplayError that has the reason.

    Args:
        doing: what is attempted, as in `cannot load frame.wrp`.
        remedy: what to do about it.
        emit: whether what was written is passed on if nothing failed.
        known: words of which it is known why native code speaks of them, if nothing failed.

    Raises:
        ReplayError: with `doing`, the exception's text and what native code wrote. Our own errors and
            those that are no Exception pass unchanged.
    """
    output = NativeOutput()
    try:
        with native_output() as output:
            yield
    except RipplescopeError:
        output.pass_on()
        raise
    except Exception as error:
        raise ReplayError(f"{doing}: {_reason(error, output)}", remedy=remedy) from error
    except BaseException:
        output.pass_on()
        raise
    if emit:
        output.pass_on(known)


def _reason(error: Exception, output: NativeOutput) -> str:
    """Join an exception's text and the lines native code wrote, each once."""
    parts = [str(error).strip().rstrip(":").strip()]
    for line in f"{output.stderr}\n{output.stdout}".splitlines():
        line = line.strip()
        if line and not any(line in part for part in parts):
            parts.append(line)
    return "; ".join(part for part in parts if part) or type(error).__name__


@functools.cache
def import_warp() -> Any:
    """Import and start Warp without its banner, and return the module.

    On a machine without a CUDA driver Warp warns on the C stream, whatever its log level; that is no news
    to somebody who replays on the CPU, and a request for CUDA has its own message.

    Raises:
        ReplayError: Warp cannot be imported or started, with the reason.
    """
    with (
        native_errors("cannot start Warp", remedy="install warp-lang 1.19.0", emit=False),
        warnings.catch_warnings(),
    ):
        # That the next release will not run on this Python; this one does, and may have no stream to say so.
        warnings.simplefilter("ignore", FutureWarning)
        import warp as wp

        if wp.config.log_level < wp.LOG_WARNING:
            wp.config.log_level = wp.LOG_WARNING
        wp.init()
    return wp
