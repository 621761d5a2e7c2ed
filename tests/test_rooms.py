"""The rooms: who may import whom, and what a module owes its reader.

Modules are parsed, not imported, so an import inside a function counts as well as one at the top.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("app", "capture", "replay")
NATIVE = {"warp", "cuda", "OpenGL", "glfw", "imgui_bundle"}
WINDOW = {"OpenGL", "glfw", "imgui_bundle"}
LONGEST = 420

# What `capture` may know of `replay`: what a capture's own files are made of, and how a failure is told.
CAPTURE_KNOWS = ("replay.manifest", "replay.elements", "replay.errors", "replay.fields", "replay.native")
# Where `replay` touches a device.
REPLAY_EDGES = ("replay.players", "replay.native")
# The one module that decides how the window libraries are imported.
PLATFORM = "app.gl_platform"


@dataclass(frozen=True)
class Import:
    """One import: `target` is a dotted module name; `level` is "module", "function" or "typing"."""

    source: str
    target: str
    line: int
    level: str

    def __str__(self) -> str:
        return f"{self.source} line {self.line} imports {self.target}"


@cache
def modules() -> dict[str, Path]:
    """Every module of the rooms by its dotted name."""
    found = {}
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def tree(name: str) -> ast.Module:
    return ast.parse(modules()[name].read_text(encoding="utf-8"))


def _is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in ast.unparse(test)


def _walk(node: ast.AST, level: str) -> Iterator[tuple[ast.stmt, str]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child, level
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield from _walk(child, "function" if level == "module" else level)
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            for statement in child.body:
                yield from _walk(ast.Module([statement], []), "typing")
            for statement in child.orelse:
                yield from _walk(ast.Module([statement], []), level)
        else:
            yield from _walk(child, level)


@cache
def imports(name: str) -> tuple[Import, ...]:
    found = []
    for statement, level in _walk(tree(name), "module"):
        if isinstance(statement, ast.Import):
            targets = [alias.name for alias in statement.names]
        else:
            assert isinstance(statement, ast.ImportFrom)
            base = statement.module or ""
            if statement.level:
                package = name if modules()[name].name == "__init__.py" else name.rpartition(".")[0]
                for _ in range(statement.level - 1):
                    package = package.rpartition(".")[0]
                base = f"{package}.{base}".rstrip(".")
            # `from replay.graph import model` names a module, `from replay.graph.model import Launch` a class
            targets = [
                f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules() else base
                for alias in statement.names
            ]
        found += [Import(name, target, statement.lineno, level) for target in dict.fromkeys(targets)]
    return tuple(found)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def all_imports(*packages: str) -> list[Import]:
    return [found for name in modules() if within(name, *packages) for found in imports(name)]


def names(found: list[Import]) -> str:
    return "\n".join(map(str, found))


def test_the_parser_of_this_test_sees_imports(monkeypatch, tmp_path):
    path = tmp_path / "probe.py"
    path.write_text(
        "from typing import TYPE_CHECKING\nimport warp as wp, os.path\n"
        "if TYPE_CHECKING:\n    from replay.graph import model\nelse:\n    import glfw\n"
        "def f():\n    with open('x'):\n        from . import cli\n"
        "class C:\n    import cuda.bindings\n",
        encoding="utf-8",
    )
    monkeypatch.setitem(modules(), "app.probe", path)
    seen = [(found.target, found.level) for found in imports("app.probe")]
    assert seen == [
        ("typing", "module"),
        ("warp", "module"),
        ("os.path", "module"),
        ("replay.graph.model", "typing"),
        ("glfw", "module"),
        ("app.cli", "function"),
        ("cuda.bindings", "module"),
    ]


def test_replay_imports_neither_capture_nor_app():
    wrong = [found for found in all_imports("replay") if within(found.target, "capture", "app")]
    assert not wrong, names(wrong)


def test_capture_imports_little_of_replay_and_nothing_of_app():
    wrong = [
        found
        for found in all_imports("capture")
        if within(found.target, "app", *WINDOW)
        or (within(found.target, "replay") and not within(found.target, *CAPTURE_KNOWS))
    ]
    assert not wrong, names(wrong)


def test_replay_readers_and_models_touch_no_device_and_no_window():
    wrong = [
        found
        for found in all_imports("replay")
        if found.target.partition(".")[0] in (NATIVE if not within(found.source, *REPLAY_EDGES) else WINDOW)
    ]
    assert not wrong, names(wrong)


def test_reading_a_capture_needs_no_package_but_numpy():
    allowed = {"numpy", "replay", *sys.stdlib_module_names}
    wrong = [
        found
        for found in all_imports("replay")
        if not within(found.source, *REPLAY_EDGES) and found.target.partition(".")[0] not in allowed
    ]
    assert not wrong, names(wrong)


def test_replay_models_do_not_need_players():
    wrong = [
        found
        for found in all_imports("replay.graph", "replay.wrp")
        if within(found.target, "replay.players") and found.level == "module"
    ]
    assert not wrong, names(wrong)


@cache
def leads_to_platform(name: str) -> bool:
    """Whether importing a module imports the platform module, directly or through others."""
    if name == PLATFORM:
        return True
    return any(
        leads_to_platform(found.target)
        for found in imports(name)
        if found.level == "module" and found.target in modules()
    )


def test_one_module_decides_how_window_libraries_are_imported():
    """Whoever else imports GLFW or OpenGL has imported the platform module before, or what imports it.

    `imgui_bundle` is free: it comes first in the order, and brings its own GLFW in the right way.
    """
    wrong = []
    for name in modules():
        if name == PLATFORM:
            continue
        before = [
            found.line
            for found in imports(name)
            if found.target in modules() and leads_to_platform(found.target)
        ]
        for found in imports(name):
            is_ordered = within(found.target, "glfw", "OpenGL") and found.level != "typing"
            if is_ordered and not any(line < found.line for line in before):
                wrong.append(found)
    assert not wrong, names(wrong)


def test_the_platform_module_imports_imgui_bundle_before_glfw_and_opengl():
    if PLATFORM not in modules():
        pytest.fail(f"there is no {PLATFORM}")
    order = [found.target.partition(".")[0] for found in imports(PLATFORM) if found.level == "module"]
    window = list(dict.fromkeys(target for target in order if target in WINDOW))
    assert window == ["imgui_bundle", "glfw", "OpenGL"]


@pytest.mark.parametrize("name", sorted(modules()))
def test_a_module_is_short_and_says_what_it_is_for(name):
    text = modules()[name].read_text(encoding="utf-8")
    lines = text.count("\n")
    assert lines <= LONGEST, f"{name} has {lines} lines: it hides two things"
    assert "\t" not in text
    docstring = ast.get_docstring(tree(name))
    # an empty package needs no words
    assert docstring or not tree(name).body, f"{name} has no docstring"


def test_no_module_imports_itself_in_a_circle():
    """Among imports at the top of modules; one inside a function is how a circle is avoided."""
    graph: dict[str, set[str]] = {name: set() for name in modules()}
    for name in modules():
        for found in imports(name):
            if found.level == "module" and found.target in graph:
                graph[name].add(found.target)
    state: dict[str, str] = {}

    def visit(name: str, path: tuple[str, ...]) -> None:
        if state.get(name) == "done":
            return
        assert state.get(name) != "open", " -> ".join([*path[path.index(name) :], name])
        state[name] = "open"
        for target in sorted(graph[name]):
            visit(target, (*path, name))
        state[name] = "done"

    for name in sorted(graph):
        visit(name, ())


def test_the_wheel_lists_every_package_and_data_folder():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packages = {name for name, path in modules().items() if path.name == "__init__.py"}
    assert set(settings["packages"]) == packages | {"app.assets", "app.shaders"}


def _loaded_by(code: str, *, blocked: tuple[str, ...] = ()) -> set[str]:
    """Run code in a fresh process in which some packages do not exist; return what it imported."""
    script = (
        f"import sys\nfor name in {blocked!r}: sys.modules[name] = None\n"
        f"sys.argv = ['ripplescope']\n{code}\n"
        "sys.stderr.write('\\nLOADED ' + ' '.join(n for n, m in sys.modules.items() if m))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in done.stderr.rpartition("LOADED ")[2].split()}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["capture", "--help"], ["bench", "--help"]])
def test_help_imports_nothing_heavy(arguments):
    loaded = _loaded_by(
        f"from app.cli import main\ntry: main({arguments!r})\nexcept SystemExit as end: assert not end.code"
    )
    heavy = loaded & {*NATIVE, "numpy", "PIL", "capture"}
    assert not heavy, f"{arguments} imports {heavy}"


def test_reading_works_where_nothing_else_exists():
    """The reader and the model in a process without Warp, CUDA, a window, `capture` or `app`."""
    blocked = (*NATIVE, "capture", "app", "PIL")
    pure = [name for name in modules() if within(name, "replay") and not within(name, *REPLAY_EDGES)]
    assert "replay.graph.model" in pure
    loaded = _loaded_by("\n".join(f"import {name}" for name in pure), blocked=blocked)
    assert "numpy" in loaded


def test_players_can_be_imported_without_capture():
    _loaded_by("import replay.players", blocked=("capture", "app"))
