"""Other edges for a graph: nearest neighbours by features, both kinds of edges, or personalised PageRank."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import scipy.sparse as sp

from drgst.errors import GraphError, SettingError, unknown
from drgst.graph.core import Graph, clean_adjacency
from drgst.transforms.features import tfidf
from drgst.transforms.knn import knn_adjacency
from drgst.transforms.ppr import pagerank_neighbours

View = Literal["topology", "knn", "union", "ppr"]
Weighting = Literal["tfidf", "raw"]


def topology(graph: Graph) -> Graph:
    """A: the graph itself."""
    return graph


def knn(
    graph: Graph, *, k: int = 10, weighting: Weighting = "tfidf", memory_mb: float = 256, exact: bool | None = None
) -> Graph:
    """A_uv = 1 where v is among the k nearest of u by cosine, or u among those of v.

    Cosine of the TF-IDF features, or of the features as they are (``weighting="raw"``). Neighbours are exact up to
    30,000 nodes, where ``memory_mb`` bounds the working memory, and approximate beyond; ``exact`` overrides this.
    """
    if weighting not in ("tfidf", "raw"):
        raise SettingError(unknown("weighting", weighting, ("tfidf", "raw")))
    if graph.num_features == 0:
        raise GraphError(f"graph {graph.name!r} has no features, so there is no kNN view of it")
    features = tfidf(graph.features) if weighting == "tfidf" else graph.features
    near = knn_adjacency(features, k, memory_mb, exact)
    return _with_edges(graph, near, f"edges are the {k} nearest neighbours by cosine of {weighting} features")


def union(
    graph: Graph, *, k: int = 10, weighting: Weighting = "tfidf", memory_mb: float = 256, exact: bool | None = None
) -> Graph:
    """max(A, A_knn): the graph's own edges and those of :func:`knn`."""
    near = knn(graph, k=k, weighting=weighting, memory_mb=memory_mb, exact=exact)
    both = graph.adjacency.maximum(near.adjacency)
    return _with_edges(graph, both, f"the {k} nearest neighbours by cosine of {weighting} features were added as edges")


def ppr(graph: Graph, *, k: int = 32, alpha: float = 0.15, tolerance: float = 1e-4, memory_mb: float = 256) -> Graph:
    """A_uv = S_uv / √(S_uu S_vv) for the k largest S_uv of each node, S = α (I - (1-α) D^-½ Ã D^-½)^-1.

    Personalised PageRank with restart probability α (:func:`drgst.transforms.ppr.pagerank_neighbours`), made
    symmetric by the larger of A_uv and A_vu.
    """
    near = clean_adjacency(pagerank_neighbours(graph.adjacency, k, alpha, tolerance, memory_mb)).adjacency
    return _with_edges(graph, near, f"edges are the {k} largest PageRank entries per node at alpha {alpha:g}")


VIEWS: dict[str, Callable[..., Graph]] = {"topology": topology, "knn": knn, "union": union, "ppr": ppr}


def view(graph: Graph, name: View | str = "topology", **settings: object) -> Graph:
    """The same nodes with other edges: ``"topology"``, ``"knn"``, ``"union"`` or ``"ppr"``.

    ``settings`` go to the function of that name in this module; labels, features, ids and splits stay.
    """
    if name not in VIEWS:
        raise SettingError(unknown("view", name, VIEWS))
    make = VIEWS[name]
    allowed = (make.__kwdefaults__ or {}).keys()
    for setting in settings:
        if setting not in allowed:
            known = f"; it takes {', '.join(sorted(allowed))}" if allowed else "; it takes none"
            raise SettingError(f"view {name!r} has no setting {setting!r}{known}")
    return make(graph, **settings)


def _with_edges(graph: Graph, adjacency: sp.csr_array, note: str) -> Graph:
    return graph.with_(adjacency=adjacency, notes=(*graph.notes, note))
