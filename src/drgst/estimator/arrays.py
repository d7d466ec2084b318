"""The array form of the estimators: fit(X, y, adjacency=A), as in scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from drgst.errors import GraphError
from drgst.estimator.inputs import array_graph, edge_list, is_frame
from drgst.graph.core import Graph
from drgst.tables.build import TableGraph, from_tables

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

# checks of sklearn.utils.estimator_checks.check_estimator that can't pass, for its argument expected_failed_checks
EXPECTED_FAILED_CHECKS = {
    "check_classifiers_classes": "it uses -1 as a class, which means unknown here",
    "check_methods_sample_order_invariance": "sums over neighbours in another order have other last bits",
    "check_methods_subset_invariance": "predictions depend on the neighbours, so a graph can't be sliced by row",
    "check_sample_weight_equivalence_on_dense_data": "a node of weight 0 stays in the graph",
    "check_sample_weight_equivalence_on_sparse_data": "a node of weight 0 stays in the graph",
}


@dataclass(frozen=True, eq=False)
class ArrayInput:
    """What predictions on other arrays need: the labels of ``y`` in order."""

    classes: np.ndarray  # (C,), of the type of y

    def graph(self, estimator: BaseEstimator, features: Any, adjacency: Any) -> Graph:
        """The graph of the rows of ``features``, without labels."""
        edges = _edges(adjacency, features)
        if features is not None:
            features = validate_data(estimator, features, accept_sparse="csr", dtype=np.float32, reset=False)
        count = edges.shape[0] if features is None else features.shape[0]
        return array_graph(features, np.full(count, -1), self.classes, edges)


def fit_arrays(estimator: BaseEstimator, features: Any, y: Any, adjacency: Any) -> tuple[ArrayInput, Graph]:
    """The graph of X (N, F), y (N,) with -1 for unknown and A (N, N); checked as scikit-learn does."""
    edges = _edges(adjacency, features)
    if features is None:
        if edges is None:
            raise GraphError("fit needs a graph, or X and y, or y and adjacency")
        y = check_array(y, ensure_2d=False, dtype=None)
    else:
        features, y = validate_data(
            estimator, features, y, accept_sparse="csr", dtype=np.float32, multi_output=True, ensure_min_samples=2
        )
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    known = ~unknown(labels)
    classes, numbers = np.unique(labels[known], return_inverse=True)
    if classes.size < 2:
        raise GraphError(f"y has {classes.size} class besides -1 for unknown; at least 2 classes are needed")
    index = np.full(labels.size, -1, dtype=np.int64)
    index[known] = numbers
    return ArrayInput(classes), array_graph(features, index, classes, edges)


def table_graph(nodes: Any, label: str, edges: Any) -> TableGraph:
    """The graph of two data frames, or of what else :func:`~drgst.tables.build.from_tables` takes."""
    return from_tables(nodes, edges, label=label)


def unknown(labels: np.ndarray) -> np.ndarray:
    """Whether each label is unknown, (N,): -1, or "" and "-1" in text."""
    if labels.dtype.kind in "iufb":
        return labels == -1
    return np.array([value is None or value in ("", "-1", -1) for value in labels.tolist()], dtype=bool)


def check_weights(weights: Any, count: int) -> np.ndarray:
    """Sample weights (N,), finite and not negative."""
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(count, float(array))
    if array.shape != (count,):
        raise GraphError(f"sample_weight has shape {array.shape}, but there are {count} samples")
    if not (np.isfinite(array) & (array >= 0)).all():
        raise GraphError("sample_weight must be finite and not negative")
    return array


def _edges(adjacency: Any, features: Any) -> Any:
    if not is_frame(adjacency):
        return adjacency
    if features is None:
        raise GraphError("a data frame of edges needs X, whose index its first two columns name")
    return edge_list(adjacency, features.index if is_frame(features) else range(features.shape[0]))
