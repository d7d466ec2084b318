"""Bring a CSV of stored runs to the keys, settings and names of store version 3.

``python scripts/migrate_runs.py SOURCE TARGET.csv`` reads a store (.db) or its export (.csv) and writes an export, of
which ``drgst bench rescue TARGET.csv --store NEW.db`` makes a store.

Keys were SHA-256 of all settings that differed from fixed defaults and of an algorithm number; they are now made of the
version of the recipe and the settings that it reads. A run that the old rules regarded as current gets the version of
its recipe; all others keep their lower number.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from drgst.bench.store.export import to_csv
from drgst.bench.store.schema import COLUMNS
from drgst.bench.task import Task
from drgst.recipes import find_recipe
from drgst.selftrain.settings import Settings

RENAMED = {"trust_weight": "pseudo_weight"}
REASONS = {
    "no unlabelled node is trusted": "no unlabelled node is pseudo-labelled",
    "converged: the trusted set did not change": "converged: the pseudo-labels did not change",
}
INSIDE = "pseudo-labels are selected inside training, anew in every epoch"  # abn
WORDS = ("cora", "citeseer", "pubmed", "flickr")  # data sets whose results algorithm 7 of drgst-plus left as they were


def current(row: dict[str, Any]) -> bool:
    """Whether the algorithm number of a run is the one that the old rules asked for."""
    if row["recipe"] != "drgst-plus":
        return row["algorithm"] == "1"
    return row["algorithm"] == ("6" if row["validation"] != "none" and row["dataset"] in WORDS else "7")


def migrated(row: dict[str, Any]) -> dict[str, Any]:
    """A row of the old layout in the new one."""
    spec = find_recipe(row["recipe"])
    stored = {RENAMED.get(name, name): value for name, value in json.loads(row["settings"]).items()}
    full = Settings().updated(stored)
    settings = full.restricted(spec.name, spec.reads(full)).as_dict()
    version = spec.version if current(row) else int(row["algorithm"])
    changed = [part for part in row["variant"].split(",") if part.partition("=")[0] in ("", *settings)]
    facts = ("dataset", "recipe", "pool", "validation", "data_sha256", "split_sha256")
    task = Task(
        source=row["dataset"],
        root=None,
        per_class=int(row["per_class"]),
        draw=int(row["draw"]),
        variant=",".join(changed),
        settings=settings,
        recipe_version=version,
        **{name: row[name] for name in facts},
    )
    stages = [
        {"pseudo_labelled" if name == "trusted" else name: value for name, value in stage.items()}
        for stage in json.loads(row["stage_rows"] or "[]")
    ]
    reason = INSIDE if row["recipe"] == "abn" else REASONS.get(row["stop_reason"], row["stop_reason"])
    if row["recipe"] == "sts":
        reason = reason.replace(" stages are done", " alternatives are done")
    return {
        **row,
        "key": task.key,
        "variant": task.variant,
        "settings": json.dumps(settings),
        "recipe_version": version,
        "stop_reason": reason,
        "stage_rows": json.dumps(stages) if row["stage_rows"] else "",
    }


def read(path: Path) -> list[dict[str, Any]]:
    """The rows as text, as an export has them."""
    if path.suffix != ".csv":
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
            store.row_factory = sqlite3.Row
            rows = [dict(row) for row in store.execute("SELECT * FROM runs")]
        return [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    csv.field_size_limit(2**27)
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    rows = [migrated(row) for row in read(source)]
    keys = {row["key"] for row in rows}
    if len(keys) != len(rows):
        raise SystemExit(f"{len(rows) - len(keys)} runs have the key of another")
    to_csv([{name: row[name] for name in COLUMNS} for row in rows], target)
    newest = sum(row["recipe_version"] == find_recipe(row["recipe"]).version for row in rows)
    print(f"{len(rows):,} runs migrated, {newest:,} of the current version of their recipe")


if __name__ == "__main__":
    main()
