"""The command line: finds the command, runs it, and turns failures into one line and an exit code.

It imports nothing heavy, so that `--help` answers at once; a command's module is imported when the
command runs. Exit codes: 0 done, 1 a check found a difference, 2 bad input or a failed device, 130
interrupted.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TextIO

from app.prints import own_output
from replay.errors import RipplescopeError, UsageError
from replay.text import printable

# name -> what `--help` says; the module app.commands.NAME holds the command
COMMANDS = {
    "capture": "record the wave frame into a .wrp with its manifest",
    "inspect": "explain what a .wrp holds, without running it",
    "diff": "tell what differs between two captures",
    "state": "show what an array holds right after an event",
    "profile": "show what each event costs",
    "replay": "run a recorded session again and compare it bit for bit",
    "export": "make a film, pictures or heights out of a recorded session",
    "check": "compare the eager loop, the live graph and the loaded graph",
    "audit": "show what a captured Python block changes on the host only",
    "bench": "measure speed as ratios to a reference in the same run",
}
_WRITE_FAULTS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF}
DESCRIPTION = "Open, explain and replay captured Warp graphs; without a path, the wave demo."


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, like every other error here."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, remedy=f"see {self.prog} --help")


def _command_list() -> str:
    rows = (f"  {name:<10}{text}" for name, text in COMMANDS.items())
    return "commands:\n" + "\n".join(rows) + "\n\n'ripplescope COMMAND --help' explains a command."


def _parser_of(name: str | None) -> tuple[argparse.ArgumentParser, str]:
    """Return the parser of a command (None: the viewer) and the name of its module."""
    if name is None:
        module_name = "app.commands.view"
        parser = _Parser(
            prog="ripplescope",
            description=DESCRIPTION,
            epilog=_command_list(),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
    else:
        module_name = f"app.commands.{name}"
        parser = _Parser(prog=f"ripplescope {name}", description=f"{COMMANDS[name].capitalize()}.")
    importlib.import_module(module_name).add_arguments(parser)
    return parser, module_name


def _run(arguments: Sequence[str]) -> int:
    name = arguments[0] if arguments and arguments[0] in COMMANDS else None
    parser, module_name = _parser_of(name)
    parsed = parser.parse_args(arguments if name is None else arguments[1:])
    return int(sys.modules[module_name].run(parsed))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Args:
        arguments: without the program's name; None takes them from `sys.argv`.
    """
    _prepare_streams()
    _forget_relative_folders()
    try:
        with own_output(sys.stdout) as own, contextlib.redirect_stdout(_Output(own)):
            try:
                code = _run(sys.argv[1:] if arguments is None else arguments)
            except SystemExit as ended:  # the help and the version end so
                code = ended.code if isinstance(ended.code, int) else 0
            sys.stdout.flush()
    except RipplescopeError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except OSError as error:
        # Files are opened and written where their errors are told, so this is `print` or a stream's `write`.
        if error.filename is not None or error.errno not in _WRITE_FAULTS:
            raise
        return _fail(f"cannot write the output: {error.strerror}", 2)
    _silence_broken_streams()
    return code


class _Output(io.TextIOBase):
    """Standard output whose reader may go away (`| head`): no error, and what a check found stays found."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._fault: OSError | None = None

    def write(self, text: str) -> int:
        """Write, or drop what nobody reads."""
        with self._unread():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush what somebody reads."""
        if self._fault is not None:  # argparse keeps quiet about it when it prints the help
            raise self._fault
        with self._unread():
            self._stream.flush()

    def fileno(self) -> int:
        """Return the stream's own."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Whether a person reads."""
        return self._stream.isatty()

    @contextlib.contextmanager
    def _unread(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            _discard(self._stream)
        except OSError as error:
            self._fault = error
            raise


def _fail(text: str, code: int) -> int:
    with contextlib.suppress(OSError):  # there may be nowhere to tell it
        print(f"ripplescope: {printable(text)}", file=sys.stderr, flush=True)
    _silence_broken_streams()
    return code


def _prepare_streams() -> None:
    """Give output a place that is closed, and let no character that it cannot take stop the program."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:  # else the next file opened would take it all
        os.set_inheritable(handle, True)
    os.close(handle)
    for name, number in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _silence_broken_streams() -> None:
    """Let streams that cannot be written take everything, or Python would fail at its end over the rest."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            _discard(stream)


def _discard(stream: TextIO) -> None:
    """Let a stream take everything from now on."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _forget_relative_folders() -> None:
    """Ignore folders of the user that are not absolute, as the XDG specification asks for.

    Some libraries would take them from here, and leave things in the working directory.
    """
    for kind in ("CACHE_HOME", "CONFIG_HOME", "DATA_HOME", "DOCUMENTS_DIR", "PICTURES_DIR"):
        folder = os.environ.get(f"XDG_{kind}")
        if folder is not None and not Path(folder).is_absolute():
            del os.environ[f"XDG_{kind}"]
