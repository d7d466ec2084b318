"""Cross-validation on one graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from drgst.errors import SettingError, unknown
from drgst.estimator.base import SelfTraining
from drgst.estimator.inputs import as_graph
from drgst.extras import import_extra
from drgst.graph.split import Split, fold_splits, labelled_split
from drgst.selftrain.callbacks import Callback

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("test_accuracy", "macro_f1", "ece", "brier", "val_accuracy")


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """The metrics of each fold, and the out-of-fold probabilities of the labelled nodes."""

    rows: tuple[dict[str, Any], ...]  # fold, test_nodes, seconds and METRICS
    splits: tuple[Split, ...]
    nodes: np.ndarray  # (M,) the nodes of all folds
    probabilities: np.ndarray  # (M, C) of each node by the model that did not see its label

    def scores(self, metric: str = "test_accuracy") -> np.ndarray:
        """A metric of each fold, (K,)."""
        if metric not in METRICS:
            raise SettingError(unknown("metric", metric, METRICS))
        return np.array([np.nan if row[metric] is None else row[metric] for row in self.rows], dtype=np.float64)

    def to_frame(self) -> pd.DataFrame:
        """One row per fold."""
        return import_extra("pandas", "notebook", "a data frame").DataFrame(list(self.rows)).set_index("fold")

    def __repr__(self) -> str:
        scores = 100 * self.scores()
        spread = f" ± {scores.std(ddof=1):.1f}" if scores.size > 1 else ""
        return f"CrossValidation({scores.size} folds: accuracy {scores.mean():.1f}{spread} %)"


def cross_validate(
    model: SelfTraining,
    graph: Any,
    *,
    folds: int = 5,
    seed: int = 0,
    split: Split | None = None,
    callback: Callback | None = None,
) -> CrossValidation:
    """Fit clones of ``model`` K times, each without the labels of one fold, and score it on that fold.

    The folds are those of :func:`~drgst.graph.split.fold_splits`: the training nodes of ``split`` (default: that of
    the graph; without one, all labelled nodes) in K parts of equal class shares. All nodes and edges stay in the graph,
    since learning is transductive; scikit-learn's ``cross_validate`` would remove rows.
    """
    whole = as_graph(graph)
    splits = fold_splits(whole, folds, seed, split or whole.split or labelled_split(whole))
    rows: list[dict[str, Any]] = []
    nodes, probabilities = [], []
    for number, part in enumerate(splits, start=1):
        if callback is not None:
            callback.step("fold", number, len(splits))
        fitted = clone(model).fit(whole, part, callback=callback)
        facts = {"fold": number, "test_nodes": part.test.size, "seconds": fitted.result_.seconds}
        rows.append({**facts, **{name: fitted.result_.metrics[name] for name in METRICS}})
        nodes.append(part.test)
        probabilities.append(fitted.probabilities_[part.test])
    return CrossValidation(tuple(rows), tuple(splits), np.concatenate(nodes), np.concatenate(probabilities))
