"""The tables of a store: columns, what they mean, and which values they allow."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

Row = dict[str, Any]

VERSION = 3  # of the layout and of the keys; a store of another one is refused
APPLICATION = 0x44524753  # "DRGS": tells our stores from other SQLite files

# column -> SQL type; the order is that of exports
COLUMNS = {
    "key": "TEXT PRIMARY KEY NOT NULL",  # SHA-256 of everything that decides the result (drgst.lab.grid.grid)
    "dataset": "TEXT NOT NULL",
    "per_class": "INTEGER NOT NULL",  # training labels per class
    "recipe": "TEXT NOT NULL",
    "variant": "TEXT NOT NULL",  # settings that differ from the recipe's own, "" for none
    "pool": "TEXT NOT NULL",
    "validation": "TEXT NOT NULL",  # public, or none
    "draw": "INTEGER NOT NULL",
    "seed": "INTEGER NOT NULL",
    "test_accuracy": "REAL",  # accuracies are fractions, 0 to 1
    "val_accuracy": "REAL",
    "teacher_test_accuracy": "REAL",
    "teacher_val_accuracy": "REAL",
    "macro_f1": "REAL",  # of the result on test nodes, as ece and brier
    "ece": "REAL",
    "brier": "REAL",
    "teacher_ece": "REAL",
    "stages": "INTEGER",  # stages trained after the teacher
    "result_stage": "INTEGER",
    "epochs": "INTEGER",
    "seconds": "REAL",
    "peak_memory_mb": "REAL",
    "stop_reason": "TEXT",
    "error": "TEXT",  # of a failed run, else NULL
    "settings": "TEXT NOT NULL",  # those that the recipe reads, JSON
    "data_sha256": "TEXT NOT NULL",
    "split_sha256": "TEXT NOT NULL",
    "recipe_version": "INTEGER NOT NULL",
    "code": "TEXT",  # version and commit
    "versions": "TEXT",  # JSON
    "created": "TEXT NOT NULL",  # UTC
    "stage_rows": "TEXT",  # JSON: one object per stage (drgst.runs.metrics)
}

TABLES = (
    f"CREATE TABLE IF NOT EXISTS runs ({', '.join(f'{name} {kind}' for name, kind in COLUMNS.items())})",
    "CREATE INDEX IF NOT EXISTS runs_cell ON runs (dataset, per_class, recipe, variant, draw)",
)

# views and triggers are programs: reading a view of a file from somebody else may never end
FOREIGN = (
    "SELECT type || ' ' || name FROM sqlite_master WHERE type IN ('view', 'trigger') OR sql LIKE 'CREATE VIRTUAL%'"
)
KINDS = {name: kind.split()[0] for name, kind in COLUMNS.items()}  # TEXT, INTEGER or REAL
_TYPES = {"TEXT": str, "INTEGER": int, "REAL": float | int}
_HIGHEST = {"REAL": 1.0, "INTEGER": 2**63 - 1}
_HIGHER = {"brier": 2.0, "seconds": 1e9, "peak_memory_mb": 1e9}
_JSON = {"settings": dict, "stage_rows": list}
# column -> may be missing, Python type, highest number
_RULES: dict[str, tuple[bool, Any, float | None]] = {
    name: ("NOT NULL" not in COLUMNS[name], _TYPES[kind], _HIGHER.get(name, _HIGHEST.get(kind)))
    for name, kind in KINDS.items()
}


def canonical(value: Any) -> str:
    """JSON with sorted keys and no blanks: equal for equal contents."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def invalid(row: Row, columns: Iterable[str] | None = None) -> str | None:
    """What is wrong with a row, as in ``draw is 'x', but must be a whole number from 0 to …``; None if nothing is."""
    for name in row if columns is None else columns:
        if not _is_allowed(name, row[name]):
            return f"{name} is {_shown(row[name])}, but must be {_allowed(name)}"
    return None


def _is_allowed(name: str, value: Any) -> bool:
    optional, kind, highest = _RULES[name]
    if value is None or not isinstance(value, kind):
        return value is None and optional
    if highest is not None:
        return 0 <= value <= highest
    return name not in _JSON or _is_json(value, _JSON[name])


@lru_cache(maxsize=256)  # few distinct settings occur in many rows
def _is_json(text: str, kind: type) -> bool:
    try:
        found = json.loads(text)
        if kind is list:
            return isinstance(found, list) and all(isinstance(entry, dict) for entry in found)
        return isinstance(found, dict) and bool(json.dumps(found, allow_nan=False))
    except (ValueError, RecursionError):
        return False


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else f"{shown[:40]}…"


def _allowed(name: str) -> str:
    if name in _JSON:
        return "a JSON object" if _JSON[name] is dict else "a JSON array of objects"
    highest = _RULES[name][2]
    kind = "whole number" if KINDS[name] == "INTEGER" else "number"
    return "text" if highest is None else f"a {kind} from 0 to {highest:,}"
