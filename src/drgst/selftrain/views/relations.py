"""The views of relations: features, and the links themselves, propagated among the nodes that share an entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from drgst.graph.core import Graph
from drgst.graph.relation import Relation
from drgst.selftrain.views.base import PropagatedView
from drgst.selftrain.views.shared import Shared
from drgst.transforms.divided import DividedMatrix
from drgst.transforms.features import project, projection
from drgst.transforms.incidence import Factor, LinkMatrix
from drgst.transforms.propagate import Polynomial, restart_coefficients, shortened

ALL = "all links"  # edges and all relations together
FAR, FAR_STEPS, FAR_DEGREE = 0.05, 40, 12  # without features, only links reach nodes further away: experiment 051
VECTORS = "links.vectors"  # of the table that all views of links share


class RelatedFeatures(PropagatedView):
    """S = Â of A = B W Bᵀ without its diagonal, W_e = 1 / (n_e - 1) (:class:`~.Factor`); X = the feature table."""

    prefix: ClassVar[str] = "features by "
    needs_features = True

    def __init__(self, relation: str) -> None:
        self.relation, self.name = relation, self.prefix + relation

    def applies(self, graph: Graph, features: bool) -> bool:
        """Also by the relation: two nodes share an entity of it."""
        return super().applies(graph, features) and self.relation in relation_names(graph)

    def matrix(self, shared: Shared) -> LinkMatrix:
        s: LinkMatrix = shared.once(f"Â of {self.relation}", links(shared, self.relation).normalised)
        return s


class RelatedLinks(RelatedFeatures):
    """S as of :class:`RelatedFeatures`; X = the leading columns of A + I of all links, with unit rows.

    So a node's words are the nodes that it shares an entity or an edge with. Only nodes of the fitted graph are words.
    """

    prefix = "links by "
    needs_features, of_nodes = False, True
    centred = False  # as of the view neighbours, whose words are edges

    @property
    def vectors(self) -> str:
        return VECTORS

    def _propagation(self, shared: Shared) -> Polynomial:
        """Π with the restart probability 0.05 where there are no features."""
        if shared.has_features:
            return super()._propagation(shared)
        coefficients = restart_coefficients(FAR, FAR_STEPS)
        return Polynomial(self.matrix(shared), shortened(coefficients, FAR_DEGREE) if shared.large else coefficients)

    def table(self, shared: Shared) -> np.ndarray:
        x: np.ndarray = shared.once("table of links", lambda: link_table(shared))
        return x


def link_table(shared: Shared) -> np.ndarray:
    """(A + I) V with unit rows of A + I, (N, D), V its leading right singular vectors, with zeros for new nodes."""
    words = links(shared, ALL).unit_rows()

    def leading() -> np.ndarray:
        found = projection(words, shared.columns, shared.shards)
        count = words.shape[0]
        return np.eye(count, dtype=np.float32) if found is None else shared.shards.all_rows(found, count)

    v = shared.maps.learn(VECTORS, leading)
    v = np.vstack([v, np.zeros((words.shape[0] - v.shape[0], v.shape[1]), dtype=np.float32)])
    return project(words, v[shared.own])


def relation_names(graph: Graph) -> list[str]:
    """The relations that have an entity of two nodes, and all links together where there are several."""
    names = [relation.name for relation in graph.relations if relation.members.max(initial=0) > 1]
    return [*names, ALL] if names and len(names) + (graph.num_edges > 0) > 1 else names


def relation_view(name: str) -> RelatedFeatures | None:
    """The view of that name, whatever graph it was of; None where it is of no relation."""
    kinds = (RelatedFeatures, RelatedLinks)
    return next((kind(name.removeprefix(kind.prefix)) for kind in kinds if name.startswith(kind.prefix)), None)


def links(shared: Shared, name: str) -> LinkMatrix:
    """A + I of a relation, or of edges and all relations."""

    def factor(relation: Relation) -> Factor:
        made: Factor = shared.once(f"factor of {relation.name}", lambda: Factor.of(relation.incidence, shared.shards))
        return made

    found = [factor(relation) for relation in shared.graph.relations if name in (ALL, relation.name)]
    edges = shared.adjacency if name == ALL and shared.graph.num_edges else None
    divided = edges is not None and shared.shards.size > 1
    return LinkMatrix.of(found, DividedMatrix.of(edges, shared.shards) if divided else edges)


def relation_weights(weights: Mapping[str, float]) -> dict[str, float]:
    """Relation -> the sum of the weights of its views, the largest first."""
    found: dict[str, float] = {}
    for name, weight in weights.items():
        view = relation_view(name)
        if view is not None:
            found[view.relation] = found.get(view.relation, 0.0) + weight
    return dict(sorted(found.items(), key=lambda item: -item[1]))
