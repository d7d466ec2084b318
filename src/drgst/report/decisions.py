"""What the page needs to decide: expected precision and recall by number of flagged nodes, and doubtful labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from drgst.decide.review import review
from drgst.decide.threshold import expected_curve
from drgst.report.nodes import Sample
from drgst.runs.result import Result

CLASSES = 12  # up to which each class has a curve; with more, the rarest ones
REVIEWED = 200  # contradicted labels that a page lists


def decision_curves(result: Result) -> dict[str, Any]:
    """Class index -> numbers of flagged nodes, and expected precision and recall with intervals, at these numbers."""
    rest = result.unlabelled
    if not rest.size:
        return {}
    p = result.probabilities[rest].astype(np.float64)
    held, oof = result.measured, result.out_of_fold
    found = {}
    for c in np.argsort(p.sum(axis=0), kind="stable")[:CLASSES].tolist():
        known = None if oof is None else (oof[held, c].astype(np.float64), result.train_labels[held] == c)
        sizes, precision, recall = expected_curve(p[:, c], known, result.model.seed)
        rows = np.column_stack([precision, recall]).round(4).tolist()
        found[str(c)] = {"sizes": sizes.tolist(), "rows": rows, "labels": int(held.sum())}
    return found


def review_rows(result: Result, sample: Sample) -> dict[str, Any] | None:
    """Given labels that predictions without them contradict, by place on the page; None where nothing was held out."""
    if result.out_of_fold is None or not result.held_out.any():
        return None
    found = review(result)
    shown = [k for k in range(min(found.contradicted, REVIEWED)) if found.nodes[k] in sample.nodes]
    places = sample.places(found.nodes[shown])
    rows = [
        {
            "node": place,
            "given": int(found.given[k]),
            "suggested": int(found.suggested[k]),
            "p_given": round(float(found.p_given[k]), 4),
            "p_suggested": round(float(found.p_suggested[k]), 4),
        }
        for k, place in zip(shown, places, strict=True)
    ]
    return {"rows": rows, "labels": int(found.nodes.size), "contradicted": found.contradicted}
