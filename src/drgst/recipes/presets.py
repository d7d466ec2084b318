"""The settings that the paper's authors published for each data set and number of labels a class."""

from __future__ import annotations

import csv
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

LABELS = (3, 5, 10, 20)
DATASETS: dict[str, dict[str, Any]] = {  # what the paper says of a data set as a whole
    "cora": {"weight_decay": 5e-4, "normalise": "l1"},
    "citeseer": {"weight_decay": 5e-4, "normalise": "l1"},
    "pubmed": {"weight_decay": 5e-4, "normalise": "l1"},
    "corafull": {"weight_decay": 5e-4, "normalise": "none"},
    "flickr": {"weight_decay": 5e-5, "normalise": "none"},
}


@cache
def _published() -> dict[tuple[str, int, str], dict[str, Any]]:
    path = resources.files("drgst.recipes") / "data" / "published_settings.csv"
    with path.open(encoding="utf-8") as handle:
        return {
            (row["dataset"].lower(), int(row["labels_per_class"]), row["information_gain"]): {
                "threshold": float(row["threshold"]),
                "beta": float(Fraction(row["beta"]).limit_denominator(100)),
                "drop_rate": float(row["drop_rate"]),
                "stages": int(row["stages"]),
            }
            for row in csv.DictReader(handle)
        }


def preset(dataset: str, per_class: int | None, recipe: str, gain: str) -> dict[str, Any]:
    """What is published for this case; empty where nothing is (an unknown data set: sound defaults apply).

    Weight decay and normalisation go with the data set for every recipe; threshold, β, drop rate and stages with
    the data set, the labels a class and the kind of gain, for the DR-GST family. drgst-plus has no table per cell:
    it derives what it needs from the data.
    """
    if recipe == "drgst-plus":
        return {}
    name = dataset.lower()
    general = DATASETS.get(name, {})
    if per_class is None or not recipe.startswith(("drgst-", "as-released-")):
        return dict(general)
    kind = "dropedge" if gain == "both" else gain
    return {**general, **_published().get((name, per_class, kind), {})}


def labels_per_class(train_labels: np.ndarray) -> int | None:
    """The number of labels a class, where every class has as many (the largest class may not exceed another by
    more than data sets with a short class force: the usual count must hold for 9 classes in 10); else None."""
    counts = np.bincount(train_labels)
    usual = int(np.bincount(counts).argmax())
    return usual if usual > 0 and (counts == usual).mean() >= 0.9 else None
