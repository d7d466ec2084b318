"""Why a node was predicted as it was: what the prediction becomes without each feature, neighbour or view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.files import plain
from drgst.graph.core import Graph
from drgst.runs.folder import table_schema
from drgst.runs.model import Model
from drgst.runs.result import Result
from drgst.selftrain.learners.base import Explains
from drgst.selftrain.learners.network import Network
from drgst.selftrain.predict import adjust_logits, own_state
from drgst.tables.schema import TableSchema
from drgst.threads import limit_threads
from drgst.transforms.softmax import softmax

RADIUS = 3  # hops around a node in which a two-layer network is computed exactly: 2, and 1 more for the degrees
MOST = 256  # features, and neighbours, that are removed one by one
SAME = 1e-4  # by which the logits of a part of the graph may differ from those of the whole
SIMILAR = 5  # labelled nodes that are named
DENSE = 256  # features up to which all are groups of their own, also where they are 0


@dataclass(frozen=True)
class Reason:
    """One feature, neighbour, view or labelled node, and the prediction without it."""

    kind: str  # "feature", "neighbour", "view" or "labelled"
    name: str
    detail: str  # its value and the class average, or its class
    pull: float  # fall of the log-odds of the predicted class without it: above 0 it pulls to the class
    label: str  # the predicted class without it
    probability: float  # of the class that is explained, without it


@dataclass(frozen=True)
class Explanation:
    """The prediction of one node and its reasons, the strongest of each kind first."""

    id: str
    label: str
    probability: float
    reasons: tuple[Reason, ...]
    similar: tuple[tuple[str, str, float], ...]  # labelled nodes: id, class, cosine similarity of the embeddings

    def of_kind(self, kind: str, n: int | None = None) -> list[Reason]:
        """The ``n`` strongest reasons of a kind, for or against the class."""
        found = sorted((r for r in self.reasons if r.kind == kind), key=lambda r: -abs(r.pull))
        return found[:n]

    def to_dict(self, n: int | None = None) -> dict[str, Any]:
        """Plain values for JSON."""
        kinds = {f"{kind}s": [vars(r) for r in self.of_kind(kind, n)] for kind in KINDS}
        similar = [dict(zip(("id", "label", "similarity"), row, strict=True)) for row in self.similar]
        facts = {"id": self.id, "label": self.label, "probability": self.probability}
        return dict(plain({**facts, **kinds, "similar": similar}))


KINDS = ("feature", "neighbour", "view", "labelled")


@limit_threads(1)
def explain(result: Result, node: Any, schema: TableSchema | None = None) -> Explanation:
    """Why the node with id ``node`` of a run was predicted as it was.

    ``schema`` describes the tables that the graph was made of; the schema in the folder of the run is the default.
    Without a feature: its value at the node is replaced by its mean over all nodes; a column of a table is replaced as
    a whole. Without a neighbour: the edge between both is removed. A learner that knows exact contributions gives them
    instead (:class:`~drgst.selftrain.learners.base.Explains`).
    """
    index = result.index_of(node)
    schema = schema or table_schema(str(result.config.data))
    graph, model = result.graph, result.model
    predicted = result.probabilities.argmax(axis=1)
    ablated = _Ablated(model, graph, index)
    same_class = np.flatnonzero(predicted == ablated.label)
    learner = model.parts.learner
    done = learner.kinds if isinstance(learner, Explains) else ()
    reasons = [*ablated.exact()]
    if "feature" not in done:
        reasons += ablated.features(feature_groups(graph, index, same_class, schema)[:MOST])
    if "neighbour" not in done:
        reasons += ablated.neighbours(predicted)
    names = model.class_names
    similar = [
        (str(result.node_ids[other]), names[model.arrays["given"][other]], round(similarity, 4))
        for other, similarity in _similar(result.stage.embedding, index, result.train)
    ]
    probability = float(softmax(ablated.logits[None])[0, ablated.label])
    return Explanation(str(node), names[ablated.label], probability, tuple(reasons), tuple(similar))


class _Ablated:
    """Predictions of one node on changed graphs; on the part around it where that gives the same logits."""

    def __init__(self, model: Model, graph: Graph, node: int) -> None:
        self.model, self.whole, self.whole_node = model, graph, node
        whole = model.logits(graph)
        self.logits = whole[node].astype(np.float64)
        self.label = int(self.logits.argmax())
        self.graph, self.node, self.nodes = graph, node, np.arange(graph.num_nodes)
        ball = _ball(graph, node) if isinstance(model.parts.learner, Network) else self.nodes
        if ball.size < graph.num_nodes:
            part = _part(graph, ball)
            place = int(np.searchsorted(ball, node))
            if np.allclose(model.logits(part)[place], whole[node], atol=SAME):
                self.graph, self.node, self.nodes = part, place, ball

    def exact(self) -> Iterator[Reason]:
        """The reasons that the learner itself gives."""
        learner, model = self.model.parts.learner, self.model
        if not isinstance(learner, Explains):
            return
        graph = model.unlabelled(self.whole)
        logits = learner.predict(own_state(model.state), graph, model.settings)
        for found in learner.ablations(own_state(model.state), graph, model.settings, self.whole_node):
            changed = logits.copy()
            changed[self.whole_node] = found.logits
            final = adjust_logits(model.parts, model.state, changed, graph, model.settings)[self.whole_node]
            name = str(self.whole.node_ids[found.what]) if found.kind in ("neighbour", "labelled") else str(found.what)
            yield self._reason(found.kind, name, found.detail, final)

    def features(self, groups: Sequence[FeatureGroup]) -> Iterator[Reason]:
        """The prediction with each group of features at its mean over all nodes."""
        x = self.graph.features
        for group in groups:
            changed = x.tolil() if sp.issparse(x) else x.copy()
            changed[self.node, group.columns] = group.means
            changed = sp.csr_array(changed) if sp.issparse(x) else changed
            z = self.model.logits(self.graph.with_(features=changed))[self.node]
            yield self._reason("feature", group.name, group.detail, z)

    def neighbours(self, predicted: np.ndarray) -> Iterator[Reason]:
        """The prediction without the edge to each neighbour, the heaviest edges first."""
        a, names = self.graph.adjacency, self.model.class_names
        row = slice(a.indptr[self.node], a.indptr[self.node + 1])
        others, weights = a.indices[row], a.data[row]
        for other in others[np.argsort(-weights, kind="stable")[:MOST]].tolist():
            without = a.tolil()
            without[self.node, other] = without[other, self.node] = 0
            z = self.model.logits(self.graph.with_(adjacency=sp.csr_array(without)))[self.node]
            known = self.nodes[other]
            detail = f"predicted {names[predicted[known]]}"
            yield self._reason("neighbour", str(self.whole.node_ids[known]), detail, z)

    def _reason(self, kind: str, name: str, detail: str, logits: np.ndarray) -> Reason:
        p = softmax(logits[None].astype(np.float64))[0]
        pull = _log_odds(self.logits, self.label) - _log_odds(logits, self.label)
        label = self.model.class_names[int(p.argmax())]
        return Reason(kind, name, detail, pull, label, float(p[self.label]))


def _log_odds(logits: np.ndarray, label: int) -> float:
    """log p_c - log Σ_{k ≠ c} p_k."""
    z = np.asarray(logits, dtype=np.float64)
    return float(z[label] - np.logaddexp.reduce(np.delete(z, label)))


def _ball(graph: Graph, node: int) -> np.ndarray:
    """The nodes within three hops, sorted."""
    reached = np.zeros(graph.num_nodes, dtype=bool)
    reached[node] = True
    for _ in range(RADIUS):
        reached |= np.asarray(graph.adjacency @ reached.astype(np.float32)) > 0
    return np.flatnonzero(reached)


def _part(graph: Graph, nodes: np.ndarray) -> Graph:
    """The subgraph of ``nodes``."""
    return graph.with_(
        features=graph.features[nodes],
        adjacency=sp.csr_array(graph.adjacency[nodes][:, nodes]),
        labels=graph.labels[nodes],
        node_ids=graph.node_ids[nodes],
        splits=(),
    )


def _similar(embedding: np.ndarray, node: int, train: np.ndarray) -> list[tuple[int, float]]:
    """The labelled nodes of highest cosine similarity, centred over all nodes."""
    h = embedding[np.append(train, node)] - embedding.mean(axis=0)
    h = h / np.maximum(np.linalg.norm(h, axis=1, keepdims=True), 1e-12)
    score = h[:-1] @ h[-1]
    best = [k for k in np.argsort(-score, kind="stable") if train[k] != node][:SIMILAR]
    return [(int(train[k]), float(score[k])) for k in best]


@dataclass(frozen=True, eq=False)
class FeatureGroup:
    """Features of one node with their means over all nodes."""

    name: str
    detail: str  # its value, and the average of the class
    columns: np.ndarray  # (K,)
    means: np.ndarray  # (K,)


def feature_groups(graph: Graph, node: int, same_class: np.ndarray, schema: TableSchema | None) -> list[FeatureGroup]:
    """The groups of the node, farthest from their means first; ``same_class`` are the nodes of its predicted class."""
    x = graph.features
    row = x[[node]].toarray()[0] if not isinstance(x, np.ndarray) else x[node]
    means, typical = (np.asarray(x[rows].mean(axis=0)).ravel() for rows in (slice(None), same_class))
    if schema is not None and len(schema.feature_names) == graph.num_features:
        return _table_groups(schema, row, means, typical)
    shown = np.arange(row.size) if row.size <= DENSE else np.flatnonzero(row)
    order = shown[np.argsort(-np.abs(row - means)[shown], kind="stable")]
    return [
        FeatureGroup(f"feature {k}", f"{row[k]:.4g} (class average {typical[k]:.4g})", np.array([k]), means[[k]])
        for k in order.tolist()
    ]


def _table_groups(schema: TableSchema, row: np.ndarray, means: np.ndarray, typical: np.ndarray) -> list[FeatureGroup]:
    columns = np.array(schema.feature_columns)
    shown = {column.column: column.show_features for column in schema.columns}
    shown |= {column.name: column.scale.show for column in schema.edge_columns}
    groups = []
    for name in dict.fromkeys(columns.tolist()):
        places = np.flatnonzero(columns == name)
        detail = shown[name](row[places], typical[places]) if name in shown else ""
        groups.append(FeatureGroup(name, detail, places, means[places]))
    return groups
