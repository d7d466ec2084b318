"""What an estimator is fitted to: Graph, PyG, NetworkX, SciPy, pandas, and arrays as in scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, column_or_1d, validate_data

from drgst.datasets.load import open_graph
from drgst.errors import GraphError, RunError, warn
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import Split
from drgst.io.convert import from_networkx, from_scipy, in_order
from drgst.io.pyg import from_pyg, is_hetero
from drgst.selftrain.recipe import AnyRecipe
from drgst.selftrain.slots.select import Nothing
from drgst.tables.build import TableGraph
from drgst.tables.read import from_tables
from drgst.transforms.knn import knn_adjacency

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from drgst.tables.schema import TableSchema

NEIGHBOURS = 10  # of the graph that is made of features where no adjacency is given
WAYS = 'fit(graph, split), fit(X, y, adjacency=A) or fit(nodes, "label column", adjacency=edges)'
ALLOWED = "a drgst.Graph, PyG data, a NetworkX graph, a SciPy adjacency with labels, data frames, or arrays X, y"
# checks of sklearn.utils.estimator_checks.check_estimator that can't pass, for its argument expected_failed_checks
EXPECTED_FAILED_CHECKS = {
    "check_classifiers_classes": "it uses -1 as a class, which means unknown here",
    "check_methods_sample_order_invariance": "sums over neighbours in another order have other last bits",
    "check_methods_subset_invariance": "predictions depend on the neighbours, so a graph can't be sliced by row",
    "check_sample_weight_equivalence_on_dense_data": "a node of weight 0 stays in the graph",
    "check_sample_weight_equivalence_on_sparse_data": "a node of weight 0 stays in the graph",
}


class NotFitted(RunError, NotFittedError):
    """``predict`` or ``save`` was called before ``fit``."""


def is_graph(source: Any) -> bool:
    """Whether ``source`` is a graph on its own: Graph, TableGraph, PyG Data or NetworkX."""
    return isinstance(source, Graph | TableGraph) or _is_pyg(source) or is_networkx(source)


def as_graph(source: Any, predict: tuple[str, ...] | None = None) -> Graph:
    """The Graph of any graph; ``predict``: the classes of a model, for data without labels."""
    if isinstance(source, Graph):
        return source
    if isinstance(source, TableGraph):
        return source.graph
    if _is_pyg(source):
        return from_pyg(source, predict=predict)
    if is_networkx(source):
        return from_networkx(source, predict=predict)
    raise GraphError(f"the graph must be {ALLOWED}, not {type(source).__name__}")


def is_adjacency(source: Any) -> bool:
    """Whether ``source`` is a sparse matrix that can only be an adjacency: square with a symmetric pattern."""
    if not sp.issparse(source) or source.shape[0] != source.shape[1]:
        return False
    pattern = sp.csr_array(source) != 0
    return (pattern != pattern.T).nnz == 0


def is_frame(source: Any) -> bool:
    """Whether ``source`` is a pandas DataFrame; pandas is not imported for this."""
    return _is_pandas(source) and hasattr(source, "columns")


def is_series(source: Any) -> bool:
    """Whether ``source`` is a pandas Series; pandas is not imported for this."""
    return _is_pandas(source) and hasattr(source, "index") and not hasattr(source, "columns")


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] == "pandas"


def array_graph(features: Any, labels: np.ndarray, classes: Any, adjacency: Any) -> Graph:
    """The graph of features (N, F) or None, class indices (N,) with -1 for unknown, and an adjacency.

    ``adjacency`` is a matrix (N, N), the ends of edges (2, E) as in PyG, or a data frame whose first two columns are
    the ends of edges (positions of rows, or values of the index of a frame ``features``), with an optional column
    ``weight``. Without one, A_uv = 1 where v
    is among the 10 nearest of u by cosine, or u among those of v.
    """
    names = [str(name) for name in classes]
    if adjacency is None:
        count = features.shape[0]
        if count < 2:
            raise GraphError(f"there is {count} sample, but a graph of nearest neighbours needs at least 2")
        rows = sp.csr_array(features) if sp.issparse(features) else np.asarray(features, dtype=np.float32)
        matrix = knn_adjacency(rows, min(NEIGHBOURS, count - 1))
    else:
        matrix = adjacency if sp.issparse(adjacency) else np.asarray(adjacency)
        if matrix.ndim != 2:
            raise GraphError(f"the adjacency must be square, not of shape {matrix.shape}")
        if matrix.shape[0] == 2 != labels.size and not sp.issparse(matrix):
            source, target = (node_indices(ends, labels.size) for ends in matrix)
            matrix = edge_matrix(source, target, labels.size)
        if matrix.shape[0] != labels.size:
            raise GraphError(f"the adjacency has shape {matrix.shape}, but there are {labels.size} samples")
    return make_graph(features, matrix, labels, class_names=names, unlabelled=True)


def edge_list(edges: Any, index: Any) -> sp.coo_array:
    """The adjacency of a data frame of edges, (N, N); its ends are values of ``index``."""
    place = {value: row for row, value in enumerate(index)}
    ends = []
    for column in edges.columns[:2]:
        rows = [place.get(value, -1) for value in edges[column]]
        if -1 in rows:
            missing = edges[column].iloc[rows.index(-1)]
            raise GraphError(f"the edge column {column!r} names {missing!r}, which is not in the index of X")
        ends.append(np.array(rows, dtype=np.int64))
    weights = edges["weight"].to_numpy(dtype=np.float32) if "weight" in edges.columns[2:] else np.ones(len(edges))
    return sp.coo_array((weights, tuple(ends)), shape=(len(place), len(place)))


def scipy_graph(adjacency: Any, labels: Any) -> Graph:
    """The graph of a SciPy adjacency and labels, without features."""
    if labels is None:
        raise GraphError("a SciPy adjacency has no labels: give them as the second argument, with -1 for unknown")
    return from_scipy(adjacency, labels)


def node_indices(nodes: Any, count: int) -> np.ndarray:
    """The indices of a mask, (N,), or of a list of indices; torch tensors, too."""
    array = np.asarray(nodes.detach().cpu() if hasattr(nodes, "detach") else nodes)
    if array.dtype == bool:
        if array.shape != (count,):
            raise GraphError(f"the mask has shape {array.shape}, but the graph has {count} nodes")
        return np.flatnonzero(array)
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.size and not 0 <= array.min() <= array.max() < count):
        raise GraphError(f"nodes must be a mask or indices from 0 to {count - 1}")
    return array


def is_mask(nodes: Any) -> bool:
    """Whether ``nodes`` is an array or tensor of truth values, (N,)."""
    return getattr(nodes, "ndim", 0) == 1 and str(nodes.dtype) in ("bool", "torch.bool")


def masked_split(graph: Graph, train: Any) -> Split:
    """The split with a mask of training nodes; validation and test nodes are those that came with ``graph``."""
    nodes = node_indices(train, graph.num_nodes)
    val, test = ([], []) if graph.split is None else (graph.split.val, graph.split.test)
    return Split.of(nodes, val, test, graph.num_nodes, name="mask of training nodes")


def check_pool(split: Split, recipe: AnyRecipe) -> None:
    """Warn where a recipe that pseudo-labels nodes may label none, but could label test nodes."""
    if split.test.size and not split.pool.size and not isinstance(getattr(recipe, "select", Nothing()), Nothing):
        words = "no node may be pseudo-labelled: all are training, validation or test nodes"
        way = 'fit(graph, split.with_pool("all-but-validation", nodes)), or a pool_mask of PyG data, allows test nodes'
        warn(f"{words}; {way} (their labels stay hidden)")


def same_graph(a: Graph, b: Graph) -> bool:
    """Whether two graphs have the same features and edges."""
    return _same(a.adjacency, b.adjacency) and _same(a.features, b.features)


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if a.shape != b.shape or sp.issparse(a) != sp.issparse(b):
        return False
    if not sp.issparse(a):
        return np.array_equal(a, b)
    return all(np.array_equal(getattr(a, part), getattr(b, part)) for part in ("indptr", "indices", "data"))


def _is_pyg(source: Any) -> bool:
    return hasattr(source, "edge_index") or is_hetero(source)


def is_networkx(source: Any) -> bool:
    """Whether ``source`` is a NetworkX graph; NetworkX is not imported for this."""
    return hasattr(source, "is_directed") and hasattr(source, "adj") and hasattr(source, "nodes")


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
    _check_frame(features, y)
    edges, y = _edges(adjacency, features), filled(y)
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


def _check_frame(features: Any, y: Any) -> None:
    """Refuse a data frame with columns that are not numeric, and a Series y with the same index in another order."""
    if not is_frame(features):
        return
    for name, column in features.items():
        kind = "missing cells" if column.isna().any() else "text" if column.dtype.kind not in "biufc" else ""
        if kind:
            words = f"the column {name!r} of X has {kind}, and arrays are numbers"
            raise GraphError(f'{words}: fit(nodes, "label column", adjacency=edges) reads columns of any type')
    if (
        is_series(y)
        and not y.index.equals(features.index)
        and y.index.sort_values().equals(features.index.sort_values())
    ):
        raise GraphError("X and y have the same index in another order: use y.loc[X.index], or y.to_numpy() as it is")


def fit_input(
    estimator: BaseEstimator, X: Any, y: Any, adjacency: Any
) -> tuple[Graph, ArrayInput | None, TableSchema | None]:
    """The graph to fit, and what predictions on other arrays or tables need."""
    if isinstance(X, str | PathLike) and y is None:  # the name of a data set, or a path
        return open_graph(X), None, None
    if is_networkx(X) and isinstance(y, str) and adjacency is None:
        return from_networkx(X, label=y), None, None
    if is_graph(X):
        if y is not None or adjacency is not None:
            raise GraphError(
                "a graph has labels and edges of its own: fit(graph, split) takes a drgst.Split or a mask of training "
                "nodes beside it; other labels are graph.with_(labels=y)"
            )
        return as_graph(X), None, X.schema if isinstance(X, TableGraph) else None
    if isinstance(y, str):
        made = from_tables(X, adjacency, label=y)
        return made.graph, None, made.schema
    if adjacency is None and is_adjacency(X):
        return scipy_graph(X, y), None, None
    form, graph = fit_arrays(estimator, X, y, adjacency)
    return graph, form, None


def unknown(labels: np.ndarray) -> np.ndarray:
    """Whether each label is unknown, (N,): -1, None, NaN, pd.NA, or "" and "-1" in text."""
    if labels.dtype.kind in "iufb":
        return (labels == -1) | (labels != labels)
    return np.array([_is_unknown(value) for value in labels], dtype=bool)


def _is_unknown(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value or value in ("", "-1", -1)


def filled(y: Any) -> Any:
    """``y`` with -1, or "" among text, for what scikit-learn would refuse; other values as they are."""
    if is_series(y) and y.isna().any():
        y = y.astype(object)
    array = np.asarray(y)
    if array.ndim != 1 or array.dtype.kind not in "fO":
        return y
    missing = array != array if array.dtype.kind == "f" else unknown(array)
    if not missing.any():
        return y
    text = any(isinstance(value, str) for value in array)
    values = [("" if text else -1) if gone else value for value, gone in zip(array, missing, strict=True)]
    whole = not text and all(float(value).is_integer() for value in values)
    return np.array(values, dtype=object if text else np.int64 if whole else float)


def class_indices(y: Any, classes: np.ndarray, ids: list[Any]) -> np.ndarray:
    """The index in ``classes`` of the label of each node, (N,), -1 where it is unknown; another label is refused.

    ``y`` has a label per node in the order of ``ids``, or is a dict or pandas Series by id, which may lack nodes. The
    order counts where the index of a Series has no name and is of whole numbers.
    """
    index = y.index if is_series(y) else None
    by_id = isinstance(y, Mapping) or (index is not None and (index.name is not None or index.dtype.kind not in "iu"))
    if by_id:
        y = in_order(dict(y.items()), np.asarray(ids))
    labels = np.asarray(filled(y))
    if labels.shape != (len(ids),):
        raise GraphError(f"y has shape {labels.shape}, but the graph has {len(ids)} nodes")
    places = {value: k for k, value in enumerate(classes.tolist())}
    missing = unknown(labels)
    for value in labels[~missing].tolist():
        if value not in places:
            raise GraphError(f"y has the label {value!r}, which is not a class of the model ({list(places)})")
    return np.array([-1 if gone else places[v] for v, gone in zip(labels.tolist(), missing, strict=True)])


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
