"""Folding repeats: the shortest telling, every position kept, and long sequences in near linear time."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from replay.graph.fold import Run, fold, fold_capture
from replay.graph.open import capture_from_bytes, open_capture
from replay.wrp.write import repeat_operations


def text(keys: str) -> str:
    """Return the folded form of a string of one-letter items."""

    def told(run: Run) -> str:
        body = "(" + " ".join(map(told, run.items)) + ")" if run.items else keys[run.start]
        return f"{body}x{run.count}" if run.count > 1 else body

    runs = fold([ord(letter) for letter in keys])
    assert positions(runs) == list(range(len(keys)))
    return " ".join(map(told, runs))


def positions(runs: tuple[Run, ...]) -> list[int]:
    """Return every position that the runs stand for, in order."""
    found: list[int] = []
    for run in runs:
        for repeat in range(run.count):
            shift = repeat * run.length
            found += [p + shift for p in positions(run.items)] if run.items else [run.start + shift]
    return found


@pytest.mark.parametrize(
    ("keys", "folded"),
    [
        ("", ""),
        ("a", "a"),
        ("aaaa", "ax4"),
        ("abcd", "a b c d"),
        ("abbbabbb", "(a bx3)x2"),
        ("abababc", "(a b)x3 c"),
        ("abacabac", "(a b a c)x2"),
        ("aabaabaab", "(ax2 b)x3"),
        ("xababyxababy", "(x (a b)x2 y)x2"),
        ("abcabcab", "(a b c)x2 a b"),
    ],
)
def test_shortest_telling(keys: str, folded: str) -> None:
    assert text(keys) == folded


def test_any_sequence_keeps_every_position() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        keys = rng.integers(0, rng.integers(1, 5), rng.integers(0, 60))
        assert positions(fold(keys)) == list(range(len(keys)))


@pytest.mark.parametrize("kinds", [2, 50, 50_000])
def test_long_sequences_take_little_time(kinds: int) -> None:
    start = time.perf_counter()
    runs = fold(np.random.default_rng(0).integers(0, kinds, 100_000))
    assert sum(run.total for run in runs) == 100_000
    assert time.perf_counter() - start < 5
    body = np.random.default_rng(1).integers(0, 5, 1000)
    (run,) = fold(np.tile(body, 100))
    assert (run.count, run.length) == (100, 1000)


def test_a_capture_folds_by_kernel_and_shape_and_keeps_its_scalars(recorded: dict[str, Path]) -> None:
    capture = open_capture(recorded["launches"])
    assert list(map(str, fold_capture(capture))) == [
        "scale [7]", "scale2 [3, 5] x 3", "count3 [2, 3, 4]", "count4 [2, 2, 2, 2]",
    ]  # fmt: skip
    assert [op.arguments[1].value for op in capture.operations[1:4]] == [0.5, 1.5, 2.5]


def test_conditionals_fold_only_with_their_like(recorded: dict[str, Path]) -> None:
    path = recorded["conditions"]
    capture = capture_from_bytes(repeat_operations(path.read_bytes(), 4), path)
    (group,) = fold_capture(capture)
    assert str(group) == "(scale [4], WHILE, scale [4]) x 4"
    loop = group.items[1]
    assert [branch for branch, _ in loop.branches] == ["body"]
    condition = loop.branches[0][1][1]
    assert [(name, [str(run) for run in runs]) for name, runs in condition.branches] == [
        ("then", ["scale [4]"]),
        ("else", ["scale [4]"]),
    ]


def test_copies_with_other_offsets_do_not_fold(recorded: dict[str, Path]) -> None:
    folded = fold_capture(open_capture(recorded["copies"]))
    assert [str(run) for run in folded] == ["MEMCPY_D2D", "MEMCPY_D2D", "MEMSET", "MEMTILE", "MEMTILE"]
