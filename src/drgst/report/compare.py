"""Two runs side by side: their figures, the settings in which they differ, and what the other predicts node by node."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.files import plain
from drgst.report.nodes import Sample, pack, pack_shares
from drgst.runs.result import Result

FIGURES = {
    "test_accuracy": "test accuracy",
    "val_accuracy": "validation accuracy",
    "oof_accuracy": "out-of-fold accuracy",
}

APART = ("add_labels", "data", "recipe", "split", "threads")  # paths of the run folders, and what the figures say


def comparison(own: Result, other: Result, sample: Sample) -> dict[str, Any]:
    """What ``other`` predicts for the nodes of the page of ``own``, found by their ids; class -1 where it has none."""
    place = {str(name): k for k, name in enumerate(other.node_ids)}
    here = np.array([place.get(str(own.node_ids[node]), -1) for node in sample.nodes], dtype=np.int64)
    p = other.probabilities
    predicted = np.where(here < 0, -1, p.argmax(axis=1)[here])
    found = {
        "classes": list(other.model.class_names),
        "label": pack(predicted, "i2"),
        "share": pack_shares(p.max(axis=1)[here]),
        "common": int((here >= 0).sum()),
        "figures": _figures(own, other),
        "settings": _settings(own, other),
    }
    return dict(plain(found))


def _figures(own: Result, other: Result) -> list[tuple[str, ...]]:
    """Title and a text for each run; those that neither run has are left out."""
    rows: list[tuple[str, ...]] = [
        ("recipe", *(str(each.config.recipe) for each in (own, other))),
        ("nodes", *(f"{len(each.node_ids):,}" for each in (own, other))),
        ("training labels", *(f"{each.train.size:,}" for each in (own, other))),
    ]
    values: dict[str, list[Any]] = {t: [each.summary().get(key) for each in (own, other)] for key, t in FIGURES.items()}
    values["mean probability"] = [each.probabilities.max(axis=1).mean() for each in (own, other)]
    rows += [(title, *map(_share, two)) for title, two in values.items() if two != [None, None]]
    counts = [dict(zip(r.model.class_names, _counts(r), strict=True)) for r in (own, other)]
    names = dict.fromkeys([*counts[0], *counts[1]])
    return rows + [(f"predicted {name}", *(f"{each.get(name, 0):,}" for each in counts)) for name in names]


def _counts(result: Result) -> list[int]:
    p = result.probabilities
    return [int(count) for count in np.bincount(p.argmax(axis=1), minlength=p.shape[1])]


def _settings(own: Result, other: Result) -> list[tuple[str, ...]]:
    """The keys and settings that differ."""
    each = [
        {key: str(value) for key, value in {**r.config.keys(), **r.config.settings}.items() if value is not None}
        for r in (own, other)
    ]
    keys = [key for key in dict.fromkeys([*each[0], *each[1]]) if not key.endswith("sha256") and key not in APART]
    return [(key, *(e.get(key, "–") for e in each)) for key in keys if each[0].get(key) != each[1].get(key)]


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
