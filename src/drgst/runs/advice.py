"""Suggestions for the graph of a finished run, from its folder alone."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.runs.folder import PREDICTIONS, RunFolder, finished_run
from drgst.runs.model import Saved, load_model_files
from drgst.runs.suggest import suggest_nodes
from drgst.selftrain.persist.stage import load_stage

COLUMNS = ("id", "worth", "predicted", "confidence", "stands_for")


@dataclass(frozen=True)
class Advice:
    """A dict a node, best first, and what their worth is is_numeric by."""

    rows: list[dict[str, Any]]
    measure: str


def advice(path: str | Path, n: int) -> Advice:
    """``n`` nodes of the run in ``path`` to label next; fewer where fewer are without a label."""
    folder = finished_run(path)
    saved = load_model_files(folder.path)
    ids, candidates = _ids(folder), _candidates(folder, saved)
    stage = load_stage(folder.stage_path(int(folder.summary()["result_stage"])))
    p = saved.arrays["probabilities"]
    if len(ids) != len(p) or stage.embedding.shape[0] != len(p):
        raise RunError(f"{folder} was edited: its files are not of the same graph")
    found = suggest_nodes(stage.embedding, saved.arrays["gain"], p, candidates, n, saved.seed)
    names = saved.model.class_names
    rows = [
        {
            "id": ids[u],
            "worth": float(worth),
            "predicted": names[int(p[u].argmax())],
            "confidence": float(p[u].max()),
            "stands_for": int(alike),
        }
        for u, worth, alike in zip(found.nodes, found.worth, found.stands_for, strict=True)
    ]
    return Advice(rows, found.measure)


def to_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _ids(folder: RunFolder) -> list[str]:
    try:
        return [row["id"] for row in csv.DictReader(io.StringIO(folder.text(PREDICTIONS)))]
    except KeyError as error:
        raise RunError(f"{folder / PREDICTIONS} is damaged: it has no column {error}") from error


def _candidates(folder: RunFolder, saved: Saved) -> np.ndarray:
    candidates = saved.arrays.get("candidates")
    if candidates is None or (candidates.size and candidates.max() >= len(saved.arrays["probabilities"])):
        raise RunError(f"{folder} was edited: its model does not say which nodes are without a label")
    if not candidates.size:
        raise RunError(f"every node of the run in {folder} has a label, so there is none to suggest")
    return candidates
