"""Writing TOML: the little of it that settings and presets need. Reading is `tomllib`'s.

The standard library reads TOML but does not write it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


def to_toml(values: Mapping[str, Any]) -> str:
    """Return a TOML text of texts, numbers, truth values, lists of them, and tables of all these.

    Raises:
        TypeError: a value of another type.
    """
    plain = [
        f"{_key(name)} = {_value(value)}" for name, value in values.items() if not isinstance(value, Mapping)
    ]
    tables = [
        f"\n[{_key(name)}]\n" + "\n".join(f"{_key(inner)} = {_value(item)}" for inner, item in value.items())
        for name, value in values.items()
        if isinstance(value, Mapping)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _key(name: str) -> str:
    return name if _BARE_KEY.match(name) else _text(name)


def _text(value: str) -> str:
    # JSON's escapes are TOML's, but JSON leaves DEL as it is and TOML does not allow it.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else {math.inf: "inf", -math.inf: "-inf"}.get(value, "nan")
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + " }"
    raise TypeError(f"no TOML for {type(value).__name__}")
