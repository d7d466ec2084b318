"""Makes runs of DR-GST without students from stored runs of GCN.

``python scripts/teacher_rows.py results/runs.csv``

The published number of stages counts trainings, the teacher's included. Where it is 1, DR-GST and its ablations have
``stages=0`` and their result is the teacher: in nine of the 40 published cells (data set, labels per class, kind of
gain). The teacher of a run is, bit by bit, the GCN of the same draw: the same network, data, labels and seed.
Each such run of GCN gives a row for every recipe of DR-GST that lacks it, with the settings and the key of that recipe.
Rows that exist keep their figures; macro-F1, ECE and Brier score are filled in where they are empty.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from drgst.lab.grid.grid import Task
from drgst.lab.paper import DRGST, ablations
from drgst.lab.store.export import readable_rows, to_csv
from drgst.lab.store.schema import Row
from drgst.recipes import find_recipe
from drgst.recipes.presets import published
from drgst.selftrain.learners.network import GAIN  # settings that no training reads

SAME = ("dataset", "per_class", "pool", "validation", "draw", "data_sha256", "split_sha256")
FILLED = ("macro_f1", "ece", "brier")


def is_gcn(row: Row) -> bool:
    """Whether it is a run of GCN with the usual settings under the paper's protocol."""
    protocol = (row["pool"], row["validation"]) == ("unlabelled", "public")
    return row["recipe"] == "gcn" and not row["variant"] and row["error"] is None and protocol


def teacher_rows(gcn: Row) -> Iterator[Row]:
    """The rows of the recipes that train no student in the cell of a run of GCN."""
    for name in (name for full in DRGST for name in ablations(full)):
        spec = find_recipe(name)
        preset = published(gcn["dataset"], gcn["per_class"], str(spec.defaults["gain"]))
        settings = spec.settings({}, preset).as_dict()
        if preset.get("stages") != 0:
            continue
        shared = {k: v for k, v in json.loads(gcn["settings"]).items() if k in settings and k not in GAIN}
        if any(settings[name] != value for name, value in shared.items()):
            continue
        same = {key: gcn[key] for key in SAME}
        task = Task(gcn["dataset"], recipe=name, variant="", settings=settings, **same, recipe_version=spec.version)
        changed = {"key": task.key, "recipe": name, "recipe_version": spec.version, "settings": json.dumps(settings)}
        yield {**gcn, **changed, "stop_reason": "all 0 stages are done"}


def completed(rows: dict[str, Row]) -> tuple[dict[str, Row], int]:
    """The rows with those of recipes without students, and how many are new."""
    found, new = dict(rows), 0
    for gcn in filter(is_gcn, rows.values()):
        for made in teacher_rows(gcn):
            old = rows.get(made["key"])
            if old is None or old["error"] is not None:
                found[made["key"]], new = made, new + 1
            elif old["ece"] is None and _same_run(old, made):
                found[made["key"]] = {**old, **{name: made[name] for name in FILLED}}
    return found, new


def _same_run(old: Row, made: Row) -> bool:
    names = ("test_accuracy", "val_accuracy", "epochs")
    if any(old[name] != made[name] for name in names):
        raise SystemExit(f"{old['recipe']} on {old['dataset']}, draw {old['draw']}, is not its GCN")
    return True


def main() -> None:
    """Rewrite the export in place."""
    path = Path(sys.argv[1])
    rows, new = completed({row["key"]: row for row in readable_rows(path)})
    to_csv(rows.values(), path)
    print(f"{new:,} runs made of runs of GCN")


if __name__ == "__main__":
    main()
