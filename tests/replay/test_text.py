"""Text from files and paths, shown without steering a terminal."""

from __future__ import annotations

import pytest

from replay.errors import CaptureFileError, ReplayError, RipplescopeError
from replay.text import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("wave 5/b ünï 🌊", "wave 5/b ünï 🌊"),
        ("a\x1b[31mred", "a\\x1b[31mred"),
        ("line\nfeed\ttab\x7f", "line\\x0afeed\\x09tab\\x7f"),
        ("\x9b2J", "\\x9b2J"),  # the one-character form of ESC [
        ("over\u202eride", "over\\u202eride"),
        ("\U000e0041", "\\U000e0041"),
        ("caf\udce9.wrp", "caf\\xe9.wrp"),  # a byte of a path that is no UTF-8
        ("\ud800", "\\ud800"),
    ],
)
def test_what_is_not_printable_is_spelled_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert shown.encode("utf-8") and shown.isprintable()


def test_errors_are_one_line_that_steers_no_terminal() -> None:
    error = RipplescopeError("no parameter 'a\x1b]0;title\x07'", remedy="try\n  'b\x1b[2J' or 'caf\udce9'")
    assert str(error) == "no parameter 'a\\x1b]0;title\\x07'; try 'b\\x1b[2J' or 'caf\\xe9'"
    assert (error.what, error.remedy) == (
        "no parameter 'a\\x1b]0;title\\x07'",
        "try 'b\\x1b[2J' or 'caf\\xe9'",
    )
    assert str(ReplayError("kernel \u202ek")) == "kernel \\u202ek"
    placed = CaptureFileError("broken", path="x\x1by.wrp", offset=4, field="header")
    assert str(placed) == "x\\x1by.wrp: offset 4 (header): broken"
