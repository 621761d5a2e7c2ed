"""Text from outside made safe to show: names and paths in files must not steer a terminal.

Only how text is shown is decided here, counts with their words too. What a name means, and whether it is
allowed, is not.
"""

from __future__ import annotations


def printable(text: str) -> str:
    """Return text with everything spelled out that is no printable character or space.

    Control characters, bidirectional and other format characters, and line breaks become `\\xNN`, `\\uNNNN`
    or `\\UNNNNNNNN`; a byte of a path that is no UTF-8 (PEP 383) becomes its `\\xNN`. The result can be
    encoded as UTF-8.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _spelled(ord(char)) for char in text)


def counted(number: int, noun: str) -> str:
    """Return how many there are of something: `1 file`, `1,024 files`, `2 branches`."""
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else noun + ("es" if noun.endswith(("ch", "s")) else "s")
    return f"{number:,} {plural}"


def _spelled(code: int) -> str:
    if 0xDC80 <= code <= 0xDCFF:
        code -= 0xDC00
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
