"""Compares ``as-released-do`` and ``as-released-de`` with the authors' program, training by training.

python scripts/as_released.py

``results/released_program_cora3.csv`` has what the authors' program gave on 13 draws of 3 labels per class of Cora:
validation accuracy and number of pseudo-labels of every training. The recipes are run on the same draws, one run for
each draw, and written to ``results/as_released_cora3.csv``; the means of both stand side by side in the table that
is printed.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pandas as pd

import drgst
from drgst.graph.split import per_class_split

RESULTS = Path(__file__).parents[1] / "results"
RELEASED = RESULTS / "released_program_cora3.csv"
OURS = RESULTS / "as_released_cora3.csv"
RECIPES = {"dropout": "as-released-do", "dropedge": "as-released-de"}
KEYS = ["gain", "draw", "training"]


def trainings(gain: str, draw: int, stages: int) -> list[dict[str, Any]]:
    """One row for each training of a run of ours."""
    graph = drgst.load("cora")
    split = per_class_split(graph, 3, draw)
    model = drgst.SelfTraining(RECIPES[gain], {"stages": stages}, seed=draw).fit(graph, split)
    test = graph.labels[split.test]
    return [
        {
            "gain": gain,
            "draw": draw,
            "training": stage.number,
            "val_loss": round(stage.val_loss, 4),
            "val_accuracy": round(stage.val_accuracy, 4),
            "test_accuracy": round(float((stage.logits[split.test].argmax(axis=1) == test).mean()), 4),
            "pseudo_labelled": stage.pseudo_labels.nodes.size,
            "accepted": stage.accepted,
        }
        for stage in model.history_.stages
    ]


def compared(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Means over the draws, for each kind of gain and training: both programs on the trainings that both made."""
    both = ours.merge(theirs, on=KEYS, suffixes=("", "_released"))
    columns = [name + end for name in ("val_accuracy", "test_accuracy", "pseudo_labelled") for end in ("", "_released")]
    means = both.groupby(["gain", "training"])[columns].mean()
    return means.assign(draws=both.groupby(["gain", "training"]).size())


def main() -> None:
    """Make the runs, write them and print the table."""
    theirs = pd.read_csv(RELEASED)
    rows = []
    for (gain, draw), cell in theirs.groupby(["gain", "draw"]):
        rows += trainings(gain, int(draw), int(cell["training"].max()))
        with OURS.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    print(compared(pd.DataFrame(rows), theirs).round(3).to_string())


if __name__ == "__main__":
    main()
