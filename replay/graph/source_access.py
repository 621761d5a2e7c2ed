"""How kernels use their arrays, read from the CUDA source that Warp packages beside a cubin.

A capture saved with `source_fallback=True` carries the generated `.cu`. Warp writes it statement by
statement, so the few forms in which an array can occur are known: views, addresses, loads, stores, atomics,
tiles, calls of other generated functions. Whatever is none of these makes the argument unknown again; this
reads text, it does not compile, and never guesses. The file counts only if its digest is the recorded one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from replay.errors import CaptureFileError
from replay.graph.check_modules import is_plain_name
from replay.graph.model import Access, Kernel, Module
from replay.wrp.files import read_regular_file

SOURCE_SIZE_LIMIT = 64 << 20
_DEEPEST = 64  # calls within calls
# Whitespace is single blanks by then, and lengths are bounded: hostile text must not make these slow.
_FUNCTION = re.compile(
    r"(?:extern \"C\" __global__ void|static CUDA_CALLABLE [\w:<>, ]{1,200}?) (\w+) ?\(([^()]*)\) ?\{"
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_PARAMETER = re.compile(r"(.*?)[\s&]+(var_\w+)$", re.DOTALL)
_ARRAY = re.compile(r"(?:const\s+)?(?:wp::)?(?:indexed)?array_t\s*<.*>$", re.DOTALL)
_META = re.compile(r"&\s*\(\s*\(?\s*(var_\w+)\s*\)?\s*\.\s*(?:shape|strides|ndim)\s*\)")
_VARIABLE = re.compile(r"\bvar_\w+")
_ASSIGNED = re.compile(r"(?:[\w:<>,*\s]*\s)?(var_\w+)\s*=\s*(.*)$", re.DOTALL)
_CALL = re.compile(r"((?:wp::)?\w+)\s*(?:<[^()]*>)?\s*\((.*)\)$", re.DOTALL)
_PLACE = re.compile(r"&\s*\(\s*(?:wp::)?index\s*\(\s*(var_\w+)\s*,")
_INNER = re.compile(r"&\s*\(\s*\(?\s*\*?\s*(var_\w+)\s*\)?\s*(?:->|\.)")
_BOTH = Access.READ_WRITE


@dataclass
class _Function:
    """A generated function: its parameters (name, whether it is an array) and its body."""

    parameters: tuple[tuple[str, bool], ...]
    body: str
    summary: tuple[Access | None, ...] | None = None
    busy: bool = field(default=False)


def packaged_access(
    modules: Sequence[Module], kernels: Sequence[Kernel], folder: Path
) -> dict[tuple[str, str], tuple[Access | None, ...]]:
    """Return the access of each kernel argument by (key, module hash), as far as packaged source shows it.

    Args:
        modules, kernels: of the capture.
        folder: its folder of modules.

    None stands for a value, a struct, or an array whose use is not plain. Kernels without usable source are
    left out; nothing is raised for a missing or changed file.
    """
    found: dict[tuple[str, str], tuple[Access | None, ...]] = {}
    for module in modules:
        if not module.source_file or not is_plain_name(module.source_file):
            continue
        try:
            text = read_regular_file(folder / module.source_file, limit=SOURCE_SIZE_LIMIT)
        except CaptureFileError:
            continue
        if hashlib.sha256(text).hexdigest() != module.source_digest:
            continue
        functions = access_of_functions(text.decode("utf-8", "replace"))
        for kernel in kernels:
            if kernel.module_hash == module.hash and kernel.forward_name in functions:
                # The first parameter of a kernel are its launch bounds.
                found[kernel.key, module.hash] = functions[kernel.forward_name][1:]
    return found


def access_of_functions(source: str) -> dict[str, tuple[Access | None, ...]]:
    """Return how each generated function uses each of its parameters, by name of the function."""
    text = re.sub(r"\s+", " ", _COMMENT.sub("", source))
    functions: dict[str, list[_Function]] = {}
    for match in _FUNCTION.finditer(text):
        parameters = _parameters(match[2])
        functions.setdefault(match[1], []).append(_Function(parameters, _body(text, match.end())))
    return {name: _summary(name, functions, 0) for name in functions}


def _parameters(text: str) -> tuple[tuple[str, bool], ...]:
    found = []
    for part in _split(text):
        match = _PARAMETER.match(part.strip())
        found.append((match[2], bool(_ARRAY.match(match[1].strip()))) if match else ("", False))
    return tuple(found)


def _body(text: str, start: int) -> str:
    depth = 1
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match[0] == "{" else -1
        if not depth:
            return text[start : match.start()]
    return text[start:]


def _split(text: str) -> list[str]:
    """Split at commas outside of all brackets."""
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(text):
        if char in "(<[{":
            depth += 1
        elif char in ")>]}" and text[at - 1 : at + 1] != "->":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]] if text.strip() else []


def _summary(name: str, functions: dict[str, list[_Function]], depth: int) -> tuple[Access | None, ...]:
    """Return the access of a function's parameters: of all overloads together; nothing where they differ."""
    overloads = functions[name]
    for function in overloads:
        if function.summary is None:
            if function.busy or depth > _DEEPEST:  # recursion: nothing can be said
                return (None,) * len(function.parameters)
            function.busy = True
            function.summary = _Reader(function, functions, depth).read()
            function.busy = False
    first = overloads[0].summary or ()
    same = all(function.summary == first for function in overloads)
    return first if same else (None,) * len(first)


class _Reader:
    """Reads the body of one function, statement by statement."""

    def __init__(self, function: _Function, functions: dict[str, list[_Function]], depth: int) -> None:
        self._function, self._functions, self._depth = function, functions, depth
        self._root = {name: name for name, array in function.parameters if array}  # arrays and views of them
        self._pointer: dict[str, str] = {}  # addresses of elements
        self._access: dict[str, Access | None] = dict.fromkeys(self._root, Access.NONE)

    def read(self) -> tuple[Access | None, ...]:
        for statement in re.split(r"[;{}]", self._function.body):
            self._statement(_META.sub("0", statement).strip())
        return tuple(self._access[name] if array else None for name, array in self._function.parameters)

    def _statement(self, statement: str) -> None:
        touched = self._touched(statement)
        if not touched:
            return
        assigned = _ASSIGNED.match(statement)
        target, value = (assigned[1], assigned[2].strip()) if assigned else ("", statement)
        if not self._understood(target, value):
            for name in touched:
                self._access[name] = None

    def _touched(self, text: str) -> set[str]:
        """Return the parameters that a text refers to, directly, by a view or by an address."""
        names = set(_VARIABLE.findall(text))
        roots = {self._root[name] for name in names if name in self._root}
        return roots | {self._pointer[name] for name in names if name in self._pointer}

    def _understood(self, target: str, value: str) -> bool:
        place = _PLACE.match(value) or _INNER.match(value)
        if place:
            root = self._root.get(place[1]) or self._pointer.get(place[1])
            if root is None or not target or self._touched(value) != {root}:
                return False
            self._pointer[target] = root
            return True
        call = _CALL.match(value)
        if call is None:
            return False
        name, arguments = call[1].removeprefix("wp::"), [part.strip() for part in _split(call[2])]
        if name in self._functions:
            return self._called(name, arguments)
        first, rest = (arguments[0], ",".join(arguments[1:])) if arguments else ("", "")
        if self._touched(rest):
            return False
        if first in self._root:
            return self._array(name, self._root[first], target)
        if first in self._pointer:
            access = _POINTER_CALLS.get(name) or (_BOTH if name.startswith("atomic_") else None)
            return access is not None and self._use(self._pointer[first], access)
        inner = _PLACE.match(first)
        if inner and inner[1] in self._root and name == "store":
            return self._touched(first) == {self._root[inner[1]]} and self._use(
                self._root[inner[1]], Access.WRITE
            )
        return False

    def _array(self, name: str, root: str, target: str) -> bool:
        if name in ("view", "copy") and target:
            self._root[target] = root
            return True
        if name == "address" and target:
            self._pointer[target] = root
            return True
        access = _ARRAY_CALLS.get(name)
        if access is None and name.startswith(("atomic_", "tile_atomic_")):
            access = _BOTH
        return access is not None and self._use(root, access)

    def _called(self, name: str, arguments: list[str]) -> bool:
        summary = _summary(name, self._functions, self._depth + 1)
        if len(summary) != len(arguments):
            return False
        for argument, access in zip(arguments, summary, strict=True):
            for root in self._touched(argument):
                if argument not in self._root or access is None:
                    self._access[root] = None
                else:
                    self._use(root, access)
        return True

    def _use(self, root: str, access: Access) -> bool:
        before = self._access[root]
        self._access[root] = None if before is None else before | access
        return True


_POINTER_CALLS = {"load": Access.READ, "store": Access.WRITE}
_ARRAY_CALLS = {
    "array_store": Access.WRITE, "tile_load": Access.READ, "tile_store": Access.WRITE, "len": Access.NONE
}  # fmt: skip
