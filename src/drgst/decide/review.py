"""Given labels that look wrong: those that out-of-fold predictions contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from drgst.errors import RunError
from drgst.runs.result import Result


@dataclass(frozen=True, eq=False)
class Review:
    """The training nodes whose labels were held out, those first that out-of-fold predictions contradict most."""

    nodes: np.ndarray  # (M,)
    given: np.ndarray  # (M,) class indices
    suggested: np.ndarray  # (M,) the class of highest out-of-fold probability
    p_given: np.ndarray  # (M,) its out-of-fold probability
    p_suggested: np.ndarray  # (M,)

    @property
    def contradicted(self) -> int:
        """How many labels are not the suggested class; they come first."""
        return int((self.given != self.suggested).sum())

    def rows(self, ids: list[Any], names: tuple[str, ...], n: int | None = None) -> list[dict[str, Any]]:
        """One dict per contradicted label, the first ``n``."""
        count = self.contradicted if n is None else min(n, self.contradicted)
        return [
            {
                "id": ids[self.nodes[k]],
                "given": names[self.given[k]],
                "suggested": names[self.suggested[k]],
                "p_given": round(float(self.p_given[k]), 6),
                "p_suggested": round(float(self.p_suggested[k]), 6),
            }
            for k in range(count)
        ]


def review_labels(out_of_fold: np.ndarray | None, given: np.ndarray, train: np.ndarray) -> Review:
    """Training nodes by falling max_{c ≠ y} log p_c - log p_y of their out-of-fold probabilities, (M, C).

    ``given`` are the labels y of the training nodes ``train``, (M,) each. Labels that were never held out (NaN) are
    left out.
    """
    if out_of_fold is None:
        raise RunError(
            "the run has no out-of-fold probabilities: its recipe does not cross-fit, or a class has one label only; "
            "run it with --set calibrate=crossfit"
        )
    known = np.isfinite(out_of_fold).all(axis=1)
    out_of_fold, given, train = out_of_fold[known], given[known], train[known]
    rows = np.arange(train.size)
    log_p = np.log(np.maximum(out_of_fold, 1e-12))
    others = log_p.copy()
    others[rows, given] = -np.inf
    order = np.argsort(log_p[rows, given] - others.max(axis=1), kind="stable")
    suggested = out_of_fold.argmax(axis=1)
    p_given, p_suggested = out_of_fold[rows, given], out_of_fold[rows, suggested]
    return Review(train[order], given[order], suggested[order], p_given[order], p_suggested[order])


def review(result: Result) -> Review:
    """The training labels of a run by how strongly its out-of-fold predictions contradict them."""
    return review_labels(result.out_of_fold, result.train_labels, result.train)
