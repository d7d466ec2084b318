"""Why a node was predicted as it was: what the prediction becomes without each feature, neighbour or view."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.decide.contributions import ViewContributions
from drgst.decide.reasons import Explanation, Reason
from drgst.graph.core import Features, Graph
from drgst.runs.folder import table_schema
from drgst.runs.result import Result
from drgst.selftrain.learners.base import Explains
from drgst.selftrain.learners.network import Network
from drgst.selftrain.recipe import adjust_logits, own_state
from drgst.selftrain.views.ensemble import MultiViewEnsemble
from drgst.tables.schema import TableSchema
from drgst.threads import limit_threads
from drgst.transforms.features import scale_columns
from drgst.transforms.softmax import softmax

RADIUS = 3  # hops around a node in which a two-layer network is computed exactly: 2, and 1 more for the degrees
MOST = 64  # features, and neighbours, that are removed one by one
SAME = 1e-4  # by which the logits of a part of the graph may differ from those of the whole
MOST_SHARED = 16  # entities that are named
MOST_MEMBERS = 10_000  # nodes of an entity whose contributions are summed, labelled ones first
SIMILAR = 5  # labelled nodes that are named
DENSE = 256  # features up to which all are groups of their own, also where they are 0


@limit_threads(1)
def explain(result: Result, node: Any, schema: TableSchema | None = None) -> Explanation:
    """Why the node with id ``node`` of a run was predicted as it was.

    ``schema`` describes the tables that the graph was made of; the schema in the folder of the run is the default.
    Without a feature: it has its mean at the node and at all others, as if it told nodes apart nowhere; a column of a
    table is left out as a whole. Without a neighbour, or without the nodes that share an entity: with ``drgst-plus``,
    their rows are that of the average node; with
    other recipes the edge between both is removed. A learner that knows exact reasons of a kind gives them instead
    (:class:`~drgst.selftrain.learners.base.Explains`).
    """
    index = result.index_of(node)
    schema = schema or table_schema(str(result.config.data))
    explained = _Explained(result, index)
    groups = feature_groups(result.graph, index, np.flatnonzero(explained.predicted == explained.label), schema)
    learner = result.model.parts.learner
    with result.model.checked():
        if isinstance(learner, MultiViewEnsemble):
            reasons = [*explained.contributions(groups)]
        else:
            done = learner.kinds if isinstance(learner, Explains) else ()
            ablated = _Ablated(explained)
            reasons = [*explained.exact()] if isinstance(learner, Explains) else []
            reasons += [] if "feature" in done else ablated.features(groups)
            reasons += [] if "neighbour" in done else ablated.neighbours()
    names = result.model.class_names
    similar = [
        (str(result.node_ids[other]), names[result.model.arrays["given"][other]], round(similarity, 4))
        for other, similarity in _similar(result.stage.embedding, index, result.train)
    ]
    probability = float(result.probabilities[index, explained.label])
    return Explanation(str(node), names[explained.label], probability, tuple(reasons), tuple(similar))


@dataclass(frozen=True, eq=False)
class SharedEntity:
    """An entity of a node, and the other nodes that share it."""

    name: str  # with that of the relation
    detail: str
    members: np.ndarray


class _Explained:
    """The prediction of one node of a run, and reasons from the logits that its learner has for it."""

    def __init__(self, result: Result, node: int) -> None:
        self.result, self.model, self.node = result, result.model, node
        self.graph = result.model.linked(result.graph)
        self.predicted = result.probabilities.argmax(axis=1)
        self.label = int(self.predicted[node])
        p = np.maximum(result.probabilities[node].astype(np.float64), np.finfo(np.float64).tiny)
        self.odds = _log_odds(np.log(p), self.label)

    @property
    def neighbours(self) -> np.ndarray:
        """The neighbours of heaviest edges."""
        a = self.graph.adjacency
        row = slice(a.indptr[self.node], a.indptr[self.node + 1])
        return np.asarray(a.indices[row][np.argsort(-a.data[row], kind="stable")[:MOST]])

    def contributions(self, groups: Sequence[FeatureGroup]) -> Iterator[Reason]:
        """Views, features and neighbours of drgst-plus by what each contributes."""
        graph, names = self.model.unlabelled(self.graph), self.model.class_names
        cache, others, shared = self.result.run.problem.graph_cache, self.neighbours, self.shared()
        nodes = np.unique(np.concatenate([others, *(entity.members for entity in shared)]))
        parts: ViewContributions = cache.get(
            graph, "contributions", lambda: ViewContributions(own_state(self.model.state), graph)
        )
        found = parts.at(self.node, nodes)
        for name, weight in zip(found.names, found.weights, strict=True) if len(found.names) > 1 else ():
            p = found.alone(name)
            detail = f"alone {names[int(p.argmax())]} {p.max():.2f}, weight {weight:.2f}"
            yield self.reason("view", name, detail, self._final(found.without_view(name)))
        for group in groups:
            everywhere, own = (each[:, group.columns].sum(axis=1) for each in (found.features, found.own))
            alone = self.odds - _log_odds(self._final(found.without(own)), self.label)
            yield self.reason("feature", group.name, group.detail, self._final(found.without(everywhere)), alone)
        for other, k in zip(others.tolist(), np.searchsorted(nodes, others).tolist(), strict=True):
            detail, final = self.neighbour_detail(other), self._final(found.without(found.neighbours[:, k]))
            yield self.reason("neighbour", str(self.graph.node_ids[other]), detail, final)
        for entity in shared:
            part = found.neighbours[:, np.searchsorted(nodes, entity.members)].sum(axis=1)
            yield self.reason("shared", entity.name, entity.detail, self._final(found.without(part)))

    def shared(self) -> list[SharedEntity]:
        """The entities that the node shares, those with the most labelled nodes first."""
        given, names = self.model.arrays["given"], self.model.class_names
        found = []
        for relation in self.graph.relations:
            b = relation.incidence
            for entity in b.indices[b.indptr[self.node] : b.indptr[self.node + 1]].tolist():
                members = np.setdiff1d(np.flatnonzero(np.diff(b[:, [entity]].indptr)), [self.node])
                known = np.bincount(given[members][given[members] >= 0], minlength=len(names)).tolist()
                words = [f"{n:,} known {names[c]}" for c, n in enumerate(known) if n] or ["no labelled node"]
                detail = f"shared with {' and '.join(words)} ({members.size:,} in all)"
                kept = members[np.argsort(given[members] < 0, kind="stable")[:MOST_MEMBERS]]
                if members.size:
                    name = f"{relation.name} {relation.entities[entity]}"
                    found.append((-sum(known), members.size, SharedEntity(name, detail, kept)))
        return [entity for *_, entity in sorted(found, key=lambda item: item[:2])[:MOST_SHARED]]

    def exact(self) -> Iterator[Reason]:
        """The reasons that the learner itself gives."""
        model, learner = self.model, self.model.parts.learner
        assert isinstance(learner, Explains)
        for found in learner.ablations(own_state(model.state), model.unlabelled(self.graph), model.settings, self.node):
            name = str(self.graph.node_ids[found.what]) if found.kind in ("neighbour", "labelled") else str(found.what)
            yield self.reason(found.kind, name, found.detail, self._final(found.logits))

    def _final(self, logits: np.ndarray) -> np.ndarray:
        """Logits of the learner at the node, (C,), calibrated and postprocessed beside those of the other nodes."""
        model, changed = self.model, self.result.stage.logits.copy()
        changed[self.node] = logits
        return adjust_logits(model.parts, model.state, changed, self.graph, model.settings)[self.node]

    def neighbour_detail(self, other: int) -> str:
        return f"predicted {self.model.class_names[self.predicted[other]]}"

    def reason(self, kind: str, name: str, detail: str, logits: np.ndarray, own: float | None = None) -> Reason:
        """The reason without which the node has these final ``logits``, (C,)."""
        p = softmax(logits[None].astype(np.float64))[0]
        pull = self.odds - _log_odds(logits, self.label)
        label = self.model.class_names[int(p.argmax())]
        return Reason(kind, name, detail, pull, label, float(p[self.label]), own)


class _Ablated:
    """Predictions of one node on changed graphs; on the part around it where that gives the same logits."""

    def __init__(self, explained: _Explained) -> None:
        self.explained, self.model = explained, explained.model
        graph, node = explained.graph, explained.node
        self.graph, self.node, self.nodes = graph, node, np.arange(graph.num_nodes)
        ball = _ball(graph, node) if isinstance(self.model.parts.learner, Network) else self.nodes
        if ball.size < graph.num_nodes:
            part = _part(graph, ball)
            place = int(np.searchsorted(ball, node))
            odds = _log_odds(self.model.logits(part)[place], explained.label)
            if np.isclose(odds, explained.odds, atol=SAME):
                self.graph, self.node, self.nodes = part, place, ball

    def features(self, groups: Sequence[FeatureGroup]) -> Iterator[Reason]:
        """The prediction with each group of features at its mean, at all nodes."""
        for group in groups[:MOST]:
            changed = self.graph.with_(features=_levelled(self.graph.features, group))
            z = self.model.logits(changed)[self.node]
            yield self.explained.reason("feature", group.name, group.detail, z)

    def neighbours(self) -> Iterator[Reason]:
        """The prediction without the edge to each neighbour, the heaviest edges first."""
        a = self.graph.adjacency
        for known in self.explained.neighbours.tolist():
            other = int(np.searchsorted(self.nodes, known))
            ends = ((self.node, other), (other, self.node))
            edge = sp.csr_array((np.array([a[self.node, other], a[other, self.node]]), ends), shape=a.shape)
            without = sp.csr_array(a - edge)
            without.eliminate_zeros()
            z = self.model.logits(self.graph.with_(adjacency=without))[self.node]
            detail = self.explained.neighbour_detail(known)
            yield self.explained.reason("neighbour", str(self.explained.graph.node_ids[known]), detail, z)


def _levelled(x: Features, group: FeatureGroup) -> Features:
    """The features with those of the group at their means, at all nodes."""
    if isinstance(x, np.ndarray):
        changed = x.copy()
        changed[:, group.columns] = group.means
        return changed
    kept = np.ones(x.shape[1], dtype=x.dtype)
    kept[group.columns] = 0
    level = sp.csr_array((1, x.shape[1]), dtype=x.dtype).tolil()
    level[0, group.columns] = group.means
    ones = sp.csr_array(np.ones((x.shape[0], 1), dtype=x.dtype))
    return sp.csr_array(scale_columns(x, kept) + ones @ sp.csr_array(level))


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
        relations=tuple(relation.rows(nodes) for relation in graph.relations),
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
