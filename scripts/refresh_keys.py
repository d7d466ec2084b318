"""Adds settings that recipes have come to read to the stored runs, and makes their keys anew.

``python scripts/refresh_keys.py results/runs.csv``

A new setting has a value at which every result is what it was before. A stored run of a recipe that reads the setting
gets that value; its figures stay as they are.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from drgst.bench.store.export import readable_rows, to_csv
from drgst.bench.store.schema import Row
from drgst.bench.task import Task
from drgst.recipes import find_recipe
from drgst.selftrain.settings import Settings

NEUTRAL = {"batch": "full"}  # setting -> the value that all earlier runs had


def refreshed(row: Row) -> Row:
    """The row with all settings that its recipe reads, and the key that they have."""
    settings = json.loads(row["settings"])
    read = find_recipe(row["recipe"]).reads(Settings().updated(settings))
    missing = {name: value for name, value in NEUTRAL.items() if name in read and name not in settings}
    if not missing:
        return row
    settings |= missing
    names = ("dataset", "per_class", "recipe", "variant", "pool", "validation", "draw", "data_sha256", "split_sha256")
    facts = {name: row[name] for name in names}
    task = Task(source=row["dataset"], root=None, settings=settings, recipe_version=row["recipe_version"], **facts)
    return {**row, "key": task.key, "settings": json.dumps(settings)}


def main() -> None:
    """Rewrite the export in place."""
    path = Path(sys.argv[1])
    before = readable_rows(path)
    rows = {row["key"]: row for row in map(refreshed, before)}
    to_csv(rows.values(), path)
    print(f"{sum(row['key'] not in rows for row in before):,} of {len(before):,} runs have a new key")


if __name__ == "__main__":
    main()
