"""Makes runs of DR-GST with the published number of students from stored runs with one student more.

``python scripts/shorten_runs.py results/runs.csv``

The published number of stages counts trainings, that of the teacher included. A stored run with as many students as
that has one too many; it stays, with ``stages=…`` in its variant. Its first stages are, bit by bit, the run with one
student less: nothing in a stage depends on a later one. That run gets a row of its own: the stage of lowest validation
loss among those that are left, its accuracies, and the epochs and seconds without the last stage. Where the result is
another stage than before, macro-F1, ECE and Brier score of it are not known and stay empty, in all draws of the cell so
that no mean is over a part of them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from drgst.lab.grid.task import Task, variant
from drgst.lab.store.export import readable_rows, to_csv
from drgst.lab.store.schema import Row
from drgst.recipes import find_recipe
from drgst.recipes.presets import published
from drgst.selftrain.slots.stop import MaxStages

UNKNOWN = ("macro_f1", "ece", "brier")  # of a stage that was not the result


def is_drgst(row: Row) -> bool:
    """Whether the recipe takes the published number of stages."""
    return find_recipe(row["recipe"]).presets is published and row["error"] is None


def usual(row: Row) -> dict[str, object]:
    """The settings that the recipe has in this cell."""
    spec = find_recipe(row["recipe"])
    preset = published(row["dataset"], row["per_class"], str(spec.defaults["gain"]))
    return spec.settings({}, preset).as_dict()


def with_settings(row: Row, settings: dict[str, object]) -> Row:
    """The row with these settings, and with the key and variant that they have."""
    names = ("dataset", "per_class", "recipe", "pool", "validation", "draw", "data_sha256", "split_sha256")
    task = Task(
        source=row["dataset"],
        root=None,
        variant=variant(settings, usual(row)),
        settings=settings,
        recipe_version=row["recipe_version"],
        **{name: row[name] for name in names},
    )
    return {**row, "key": task.key, "variant": task.variant, "settings": json.dumps(settings)}


def shortened(row: Row) -> Row:
    """The run with one student less."""
    settings = json.loads(row["settings"])
    limit = settings["stages"] = settings["stages"] - 1
    row = with_settings(row, settings)
    stages = json.loads(row["stage_rows"])
    if len(stages) - 1 <= limit:  # it had ended before
        return row
    kept, dropped = stages[: limit + 1], stages[limit + 1]
    best = min(kept, key=lambda s: s["val_loss"]) if settings["keep"] == "best" else kept[-1]
    same = best["stage"] == row["result_stage"]
    return {
        **row,
        "test_accuracy": best["test_accuracy"],
        "val_accuracy": round(best["val_accuracy"], 6),
        **{name: row[name] if same else None for name in UNKNOWN},
        "stages": limit,
        "result_stage": best["stage"],
        "epochs": sum(s["epochs"] for s in kept),
        "seconds": round(row["seconds"] - dropped["seconds"], 4),
        "stop_reason": MaxStages(limit).reason,
        "stage_rows": json.dumps(kept),
    }


def without_partial(rows: Iterable[Row]) -> list[Row]:
    """No macro-F1, ECE or Brier score in a cell in which a draw has none."""
    rows = list(rows)
    partial = {cell(row) for row in rows if row["ece"] is None}
    return [{**row, **dict.fromkeys(UNKNOWN)} if cell(row) in partial else row for row in rows]


def cell(row: Row) -> tuple[object, ...]:
    """What the draws of a cell have in common."""
    return tuple(row[name] for name in ("dataset", "per_class", "recipe", "variant", "pool", "validation"))


def main() -> None:
    """Rewrite the export in place."""
    path = Path(sys.argv[1])
    rows = {row["key"]: row for row in readable_rows(path)}
    long = [
        row
        for row in rows.values()
        if is_drgst(row) and json.loads(row["settings"])["stages"] == usual(row)["stages"] + 1
    ]
    made = [row for row in map(shortened, long) if row["key"] not in rows]
    relabelled = {
        key: with_settings(row, json.loads(row["settings"])) if is_drgst(row) else row for key, row in rows.items()
    }
    if any(row["key"] != key for key, row in relabelled.items()):
        raise SystemExit("a stored run has another key than its settings give")
    made = without_partial(made)
    to_csv([*relabelled.values(), *made], path)
    blank = sum(row["ece"] is None for row in made)
    print(f"{len(made):,} runs made of {len(long):,} with one student more; {blank:,} without ECE")


if __name__ == "__main__":
    main()
