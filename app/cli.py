"""The command line: finds the command, runs it, and turns failures into one line and an exit code.

It imports nothing heavy, so that `--help` answers at once; a command's module is imported when the
command runs. Exit codes: 0 done, 1 a check found a difference, 2 bad input or a failed device, 130
interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from replay.errors import RipplescopeError, UsageError

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
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
        return code
    except RipplescopeError as error:
        print(f"ripplescope: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("ripplescope: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # the reader of our output went away (`| head`): not an error, and nobody left to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
