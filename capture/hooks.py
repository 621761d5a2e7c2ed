"""What Warp is asked for while a block runs: arrays made, data copied from or to the host, kernels launched.

The hooks are on Warp's array class and on its loaded modules for the time of the block, and always taken off
again. It also notes which functions the block enters, so that the source line of an assignment can be found.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import linecache
import re
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import warp as wp
from warp._src.context import ModuleExec

_WARP = str(Path(wp.__file__).parent)
_STDLIB = sysconfig.get_paths()["stdlib"]
_OWN = (str(Path(__file__).with_name("hooks.py")), str(Path(__file__).with_name("audit.py")))


@dataclass(frozen=True)
class Event:
    """A call on Warp: `allocated`, `copied` or `read`, the array in words, and the caller's file and line."""

    kind: str
    what: str
    source: str


@dataclass
class Trace:
    """What was seen while a block ran.

    Attributes:
        events: calls on arrays.
        codes: the functions it entered, its own first.
        launched: of each kernel's key and loaded module, the names of the compiled functions and where each
            was launched first.
    """

    events: list[Event] = field(default_factory=list)
    codes: dict[CodeType, int] = field(default_factory=dict)
    launched: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)


@contextlib.contextmanager
def tracing(trace: Trace, frame: FrameType) -> Iterator[None]:
    """Fill a trace while the block runs, in this thread. `frame` is the block's, at its first line."""
    array = wp.array
    names = {"_init_new": "allocated", "_init_from_data": "copied", "numpy": "read", "assign": "copied"}
    originals = {name: array.__dict__[name] for name in names}
    thread, nested = threading.get_ident(), [0]

    def hooked(original: Callable[..., Any], kind: str) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if nested[0] or threading.get_ident() != thread:
                return original(self, *args, **kwargs)
            nested[0] += 1
            try:
                result = original(self, *args, **kwargs)
            finally:
                nested[0] -= 1
            if not (
                kind == "copied" and args and isinstance(args[0], array)
            ):  # device to device is in the graph
                trace.events.append(Event(kind, _describe(self), _caller(sys._getframe(1))))
            return result

        return call

    def enter(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and not _is_library(frame.f_code.co_filename):
            trace.codes.setdefault(frame.f_code, frame.f_code.co_firstlineno)

    modules = ModuleExec
    find_function = modules.get_kernel_hooks

    @functools.wraps(find_function)
    def launched(self: Any, kernel: Any) -> Any:
        if threading.get_ident() == thread:
            names = trace.launched.setdefault((kernel.key, str(self.module_hash)), {})
            name = self.get_kernel_mangled_name(kernel)
            if name not in names:
                names[name] = _caller(sys._getframe(1))
        return find_function(self, kernel)

    trace.codes[frame.f_code] = frame.f_lineno
    profiler = sys.getprofile()
    try:
        for name, kind in names.items():
            setattr(array, name, hooked(originals[name], kind))
        modules.get_kernel_hooks = launched
        if profiler is None:
            sys.setprofile(enter)
        yield
    finally:
        if profiler is None:
            sys.setprofile(None)
        modules.get_kernel_hooks = find_function
        for name, original in originals.items():
            setattr(array, name, original)


def _is_library(file: str) -> bool:
    installed = "site-packages" in file or "dist-packages" in file
    return file.startswith((_WARP, "<")) or file in _OWN or (file.startswith(_STDLIB) and not installed)


def _describe(array: Any) -> str:
    shape = " x ".join(str(side) for side in getattr(array, "shape", ()))
    dtype = getattr(array, "dtype", None)
    return f"wp.array {getattr(dtype, '__name__', dtype)} {shape}"


def _caller(frame: FrameType | None) -> str:
    """Return file and line of the nearest frame outside Warp and outside this module."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_WARP) and name not in _OWN:
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def find_assignment(trace: Trace, path: str) -> str:
    """Return `file:line` of an assignment to a path such as `self.x[0]` in what ran, else empty."""
    name = _last_name(path)
    for code, first in trace.codes.items():
        tree = _parsed(code.co_filename)
        if tree is None:
            continue
        last = max((line for *_, line in code.co_lines() if line is not None), default=first)
        for node in ast.walk(tree):
            line = getattr(node, "lineno", 0)
            if first <= line <= last and any(_names(target, name) for target in _targets(node)):
                return f"{code.co_filename}:{line}"
    return ""


def _last_name(path: str) -> str:
    inner = path[4:-1] if path.startswith("len(") else path
    return re.sub(r"\[.*$", "", inner.rsplit(".", 1)[-1])


@functools.lru_cache(maxsize=64)
def _parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None


_CHANGERS = (
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "update",
    "setdefault",
    "add",
    "reverse",
    "fill",
)


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return [leaf for target in node.targets for leaf in _leaves(target)]
    if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
        return [node.target]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGERS:
        return [node.func.value]
    return []


def _leaves(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [leaf for item in target.elts for leaf in _leaves(item)]
    return [target]


def _names(target: ast.expr, name: str) -> bool:
    while isinstance(target, (ast.Subscript, ast.Starred)):
        target = target.value
    return (isinstance(target, ast.Attribute) and target.attr == name) or (
        isinstance(target, ast.Name) and target.id == name
    )
