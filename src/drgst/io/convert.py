"""Conversion from SciPy matrices and from and to NetworkX graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from drgst.errors import GraphError, NoLabels
from drgst.extras import import_extra
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.tables.naming import as_text, clean_ids, encode_labels, spelt_alike

if TYPE_CHECKING:
    import networkx as nx


def from_scipy(adjacency: Any, labels: Any, features: Any = None, *, node_ids: Any = None, **fields: Any) -> Graph:
    """A graph from a SciPy or dense adjacency, (N, N), and labels.

    ``labels`` is a vector, (N,), of numbers or names with -1, None or NaN for unknown, or a dict from node id to label
    in which missing nodes are unknown. The classes are the labels that occur, ordered by number or name. ``fields`` are
    further fields of the graph: ``name``, ``splits`` and ``notes``.
    """
    matrix = adjacency if sp.issparse(adjacency) else np.asarray(adjacency)
    if matrix.ndim != 2:
        raise GraphError(f"the adjacency must be square, not of shape {matrix.shape}")
    ids = np.arange(matrix.shape[0]) if node_ids is None else clean_ids(np.asarray(node_ids).tolist())
    values = in_order(labels, ids) if isinstance(labels, Mapping) else np.asarray(labels).reshape(-1).tolist()
    y, classes = _encoded(values)
    return make_graph(features, matrix, y, class_names=classes, node_ids=ids, **fields)


def from_networkx(
    graph: nx.Graph,
    label: str = "label",
    features: str = "features",
    weight: str = "weight",
    name: str | None = None,
    predict: Sequence[str] | None = None,
) -> Graph:
    """A graph from a NetworkX graph with node attributes ``label`` and ``features`` and edge attribute ``weight``.

    The label of a node without ``label`` is unknown. ``features`` is a sequence of numbers of equal length at all nodes
    or missing at all nodes. Directed graphs are made undirected; of parallel edges the largest weight counts.
    ``predict`` gives the class names of a model that will predict these nodes: ``label`` is then ignored.
    """
    nodes = list(graph)
    index = {node: k for k, node in enumerate(nodes)}
    ends = np.array([(index[a], index[b]) for a, b in graph.edges()], dtype=np.int64).reshape(-1, 2)
    try:
        weights = np.array([w for _, _, w in graph.edges(data=weight, default=1)], dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise GraphError(f"the edge attribute {weight!r} is not always a number: {error}") from error
    if not graph.is_directed():  # add the other direction, so that no note says that directed edges were changed
        other = ends[:, 0] != ends[:, 1]
        ends, weights = np.vstack([ends, ends[other, ::-1]]), np.concatenate([weights, weights[other]])
    given = (graph.nodes[node].get(label) for node in nodes)
    y, classes = _encoded(given) if predict is None else (np.full(len(nodes), -1), tuple(predict))
    if predict is None and nodes and not (y >= 0).any():
        known = dict.fromkeys(str(name) for node in nodes for name in graph.nodes[node])
        has = f"those of its nodes: {', '.join(map(repr, known))}" if known else "its nodes have none"
        raise NoLabels(f"no node has a label in the attribute {label!r} ({has}): from_networkx(graph, label=NAME)")
    return make_graph(
        _node_features({node: graph.nodes[node].get(features) for node in nodes}, features),
        edge_matrix(ends[:, 0], ends[:, 1], len(nodes), weights),
        y,
        class_names=classes,
        node_ids=clean_ids(nodes),
        name=name or str(getattr(graph, "name", "") or "graph"),
        unlabelled=predict is not None,
    )


def to_networkx(graph: Graph) -> nx.Graph:
    """A NetworkX graph with nodes by id, their ``label`` (class name) and ``features``, and edges with ``weight``."""
    nx = import_extra("networkx", "networkx")
    out = nx.Graph(name=graph.name)
    ids = graph.node_ids.tolist()
    for k, node in enumerate(ids):
        row = graph.features[[k]]
        values = row.toarray()[0] if isinstance(row, sp.csr_array) else row[0]
        known = {"label": graph.class_names[graph.labels[k]]} if graph.labels[k] >= 0 else {}
        out.add_node(node, **known, **({"features": values.copy()} if values.size else {}))
    upper = sp.triu(graph.adjacency, k=1).tocoo()
    row, col = upper.coords
    for i, j, weight in zip(row.tolist(), col.tolist(), upper.data.tolist(), strict=True):
        out.add_edge(ids[i], ids[j], weight=weight)
    return out


def _encoded(values: Iterable[Any]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Class indices and names; names that differ in case or spaces only are refused."""
    labels, names = encode_labels(values)
    if alike := spelt_alike(names):
        raise GraphError(alike)
    return labels, names


def in_order(labels: Mapping[Any, Any], ids: np.ndarray) -> list[Any]:
    """The labels of a dict in the order of ``ids``; a key that is not a node is an error."""
    by_text = {as_text(key): value for key, value in labels.items()}
    texts = [str(i) for i in ids.tolist()]
    extra = set(by_text) - set(texts)
    if extra:
        raise GraphError(f"the labels name node {min(extra)!r}, which is not in the graph")
    return [by_text.get(text) for text in texts]


def _node_features(values: dict[Any, Any], attribute: str) -> np.ndarray | None:
    """X from one vector per node; None if no node has one."""
    missing = [node for node, value in values.items() if value is None]
    if len(missing) == len(values):
        return None
    if missing:
        raise GraphError(f"node {missing[0]!s} has no attribute {attribute!r}, but others have")
    try:
        rows = [np.asarray(value, dtype=np.float32).reshape(-1) for value in values.values()]
    except (TypeError, ValueError) as error:
        raise GraphError(f"the node attribute {attribute!r} must be a sequence of numbers: {error}") from error
    for node, row in zip(values, rows, strict=True):
        if row.size != rows[0].size:
            raise GraphError(f"node {node!s} has {row.size} features, but the first node has {rows[0].size}")
    return np.vstack(rows)
