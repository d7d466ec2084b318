"""Flat tables as TOML (the standard library reads it but does not write it)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def table(name: str, values: Mapping[str, Any], remarks: Mapping[str, str] | None = None) -> str:
    """``[name]`` and a line ``key = value  # remark`` for every value that is not None."""
    lines = [f"[{name}]"]
    for key, value in values.items():
        if value is not None:
            remark = f"  # {remarks[key]}" if remarks and key in remarks else ""
            lines.append(f"{key} = {literal(value)}{remark}")
    return "\n".join(lines) + "\n"


def literal(value: Any) -> str:
    """A text, truth value, whole or decimal number as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
