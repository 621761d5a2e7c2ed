"""The errors that a user may see, in one hierarchy.

Every failure that has a reason outside this code is one of these. Its text is one line that says what
was wrong, where, and what to do; the command line prints it and exits with `exit_code`, without a
traceback. Programming errors are not wrapped: they stay Python's own.
"""

from __future__ import annotations

from replay.text import printable


class RipplescopeError(Exception):
    """A failure with a reason the user can act on.

    White space is folded and control characters are spelled out, so that a name or path in the text stays
    on the line and steers no terminal.

    Args:
        what: what was wrong, and where, as a clause without a final full stop.
        remedy: what to do about it; empty if the text before already says so.
    """

    exit_code = 2

    def __init__(self, what: str, *, remedy: str = "") -> None:
        self.what, self.remedy = (printable(" ".join(text.split())) for text in (what, remedy))
        super().__init__(f"{self.what}; {self.remedy}" if self.remedy else self.what)


class UsageError(RipplescopeError):
    """The command line, or a call, asks for something that has no meaning."""


class CaptureFileError(RipplescopeError):
    """A `.wrp` file, or a file beside it, cannot be read.

    Args:
        what: what was wrong.
        path: the file.
        offset: byte offset of the fault from the start of the file, if it lies in the file.
        field: the field at that offset, such as `operations[0].total_size`.
        remedy: what to do about it.
    """

    def __init__(
        self,
        what: str,
        *,
        path: str = "",
        offset: int | None = None,
        field: str = "",
        remedy: str = "",
    ) -> None:
        self.path, self.offset, self.field = path, offset, field
        place = f"{path}: " if path else ""
        if offset is not None:
            place += f"offset {offset}" + (f" ({field})" if field else "") + ": "
        elif field:
            place += f"{field}: "
        super().__init__(place + what, remedy=remedy)


class ManifestError(RipplescopeError):
    """A manifest is not valid, or does not belong to its `.wrp`."""


class DeviceError(RipplescopeError):
    """A device is unknown, absent, or not the one a capture was made for."""


class ParameterError(RipplescopeError):
    """A parameter is unknown, or a value does not fit its type, shape, range or device."""


class RecordingError(RipplescopeError):
    """A frame could not be recorded or saved."""


class ReplayError(RipplescopeError):
    """A capture could not be loaded or launched; holds the native reason."""


class DisplayError(RipplescopeError):
    """No window, or no OpenGL context, could be opened."""


class ShaderError(RipplescopeError):
    """A shader did not compile or link; names file and line."""


class TrustError(RipplescopeError):
    """A capture is not replayed, because nobody vouched for it or its trial run failed."""


class SessionError(RipplescopeError):
    """A session file cannot be written, read or replayed, or is of another capture."""
