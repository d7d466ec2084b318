"""Settings for each data set and number of labels per class: published by the paper's authors, or tuned here."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

Presets = Callable[[str, int | None, str], dict[str, Any]]  # data set, labels per class, kind of gain -> settings
LABELS = (3, 5, 10, 20)
DATASETS: dict[str, dict[str, Any]] = {  # the paper's, for a data set as a whole
    "cora": {"weight_decay": 5e-4, "normalise": "l1"},
    "citeseer": {"weight_decay": 5e-4, "normalise": "l1"},
    "pubmed": {"weight_decay": 5e-4, "normalise": "l1"},
    "corafull": {"weight_decay": 5e-4, "normalise": "none"},
    "flickr": {"weight_decay": 5e-5, "normalise": "none"},
}


def for_dataset(dataset: str, _per_class: int | None, _gain: str) -> dict[str, Any]:
    """Weight decay and normalisation of a data set, for every recipe; empty for an unknown one."""
    return dict(DATASETS.get(dataset.lower(), {}))


def published(dataset: str, per_class: int | None, gain: str) -> dict[str, Any]:
    """Also threshold, β, drop rate and stages, published for DR-GST by data set, labels per class and kind of gain.

    The published number of stages counts trainings, that of the teacher included; ``stages`` counts students, so it is
    one less, and 0 where one training was published: the result is then the teacher.
    """
    kind = "dropedge" if gain == "both" else gain
    cell = _table().get((dataset.lower(), per_class or 0, kind), {})
    return {**for_dataset(dataset, per_class, gain), **cell}


def tuned(dataset: str, per_class: int | None, gain: str) -> dict[str, Any]:
    """The settings of highest validation accuracy over fresh draws, where the cell was tuned; else the published ones.

    ``scripts/tune_drgst.py`` chooses them; the stage of lowest validation loss is kept unless they say otherwise.
    """
    cell = _tuned_table().get((dataset.lower(), per_class or 0, gain), {})
    return {"keep": "best", **published(dataset, per_class, gain), **cell}


def tuned_cells(gain: str) -> str:
    """The cells that were tuned: ``Cora 3, 5; Citeseer 3``, labels per class after each data set; empty: none."""
    return _in_words(cell for cell in _tuned_table() if cell[2] == gain)


def published_threshold(dataset: str, per_class: int | None, gain: str) -> dict[str, Any]:
    """The data set's settings and the threshold published for DR-GST by dropout, for other methods by a threshold."""
    found = published(dataset, per_class, "dropout")
    return {name: found[name] for name in (*for_dataset(dataset, per_class, gain), "threshold") if name in found}


def teacher_only(gain: str) -> str:
    """The cells without students: ``Citeseer 3; Pubmed 3, 5, 10``, labels per class after each data set."""
    return _in_words(cell for cell, found in _table().items() if cell[2] == gain and found["stages"] == 0)


def _in_words(cells: Iterable[tuple[str, int, str]]) -> str:
    counts: dict[str, list[int]] = {}
    for dataset, per_class, _ in cells:
        counts.setdefault(dataset.capitalize(), []).append(per_class)
    return "; ".join(f"{dataset} {', '.join(map(str, sorted(found)))}" for dataset, found in counts.items())


@cache
def _table() -> dict[tuple[str, int, str], dict[str, Any]]:
    return {cell: {**_numbers(row), "stages": int(row["stages"]) - 1} for cell, row in _rows("published_settings.csv")}


@cache
def _tuned_table() -> dict[tuple[str, int, str], dict[str, Any]]:
    words = ("keep", "teacher_scale", "floor")
    return {
        cell: {**_numbers(row), "stages": int(row["stages"]), **{name: row[name] for name in words}}
        for cell, row in _rows("tuned_settings.csv")
    }


def _rows(name: str) -> Iterator[tuple[tuple[str, int, str], dict[str, str]]]:
    path = resources.files("drgst.recipes") / "data" / name
    with path.open(encoding="utf-8") as handle:
        for row in csv.DictReader(handle):
            yield (row["dataset"].lower(), int(row["labels_per_class"]), row["information_gain"]), row


def _numbers(row: dict[str, str]) -> dict[str, float]:
    beta = float(Fraction(row["beta"]).limit_denominator(100))
    return {"threshold": float(row["threshold"]), "beta": beta, "drop_rate": float(row["drop_rate"])}


def labels_per_class(train_labels: np.ndarray) -> int | None:
    """The number of labels that nine classes in ten or more have; None where there is no such number."""
    counts = np.bincount(train_labels)
    usual = int(np.bincount(counts).argmax())
    return usual if usual > 0 and (counts == usual).mean() >= 0.9 else None
