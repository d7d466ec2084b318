"""Which view of a graph to trust, judged from training labels, edges and features alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from drgst.graph.core import Features, Graph
from drgst.graph.split import Split
from drgst.graph.transforms.features import tfidf, unit_rows
from drgst.graph.transforms.ppr import power_iteration, transition
from drgst.graph.transforms.views import View, view

ALPHA = 0.15  # restart probability of the propagation
UNRELATED = 0.6  # feature agreement below which edges say little about features (0.5 is chance)
SOURCES = 64  # training nodes propagated at a time


class Suggestion(NamedTuple):
    """A view, one sentence that says why, and the figures behind it."""

    view: View
    reason: str
    evidence: dict[str, float | None]


def suggest_view(graph: Graph, split: Split, k: int = 10, seed: int = 0) -> Suggestion:
    """Suggest ``"topology"``, ``"knn"`` or ``"union"``; no label outside ``split.train`` is looked at.

    Every view predicts each training node from the others (:func:`leave_one_out`). Where edges join alike nodes
    (:func:`feature_agreement` of 0.6 or more) they are kept, and those of kNN join them only if that leads by two
    standard errors; where they do not, the better of kNN and union is taken if it leads at all. ``k`` is that of
    the kNN view; ``seed`` draws the random pairs.
    """
    split.check(graph)
    if graph.num_features == 0:
        return Suggestion("topology", "The graph has no features, so its edges are all there is.", {})
    if graph.num_edges == 0:
        return Suggestion("knn", "The graph has no edges, so only its features can join nodes.", {})
    hits = {name: leave_one_out(a, graph, split) for name, a in _adjacencies(graph, k).items()}
    agreement = feature_agreement(graph, np.random.default_rng(seed))
    return _decide(hits, agreement)


def leave_one_out(adjacency: sp.csr_array, graph: Graph, split: Split) -> np.ndarray:
    """1 where argmax_c mean_{v ∈ L_c, v ≠ u} S_uv is y_u for a training node u, else 0; a tie of m counts 1/m.

    S is symmetric personalised PageRank. Only training nodes whose class has another one are asked, (L',).
    """
    y = graph.labels[split.train]
    s = _pagerank_among(adjacency, split.train)
    one_hot = np.eye(graph.num_classes)[y]
    others = one_hot.sum(axis=0) - one_hot  # training nodes of each class beside u itself, (L, C)
    scores = (s @ one_hot) / np.maximum(others, 1)
    asked = others[np.arange(y.size), y] > 0
    best = scores == scores.max(axis=1, keepdims=True)
    return (best[np.arange(y.size), y] / best.sum(axis=1))[asked]


def feature_agreement(graph: Graph, rng: np.random.Generator, pairs: int = 20_000) -> float:
    """P(cos of an edge > cos of a random pair) + ½ P(equal), over TF-IDF features: 0.5 is chance, 1 perfect."""
    return agreement_of(unit_rows(tfidf(graph).features), graph, rng, pairs)


def agreement_of(x: Features, graph: Graph, rng: np.random.Generator, pairs: int = 20_000) -> float:
    """P(x_u · x_v of an edge > that of a random pair) + ½ P(equal), for rows x of norm 1."""
    a = graph.adjacency
    picked = rng.choice(a.nnz, size=min(a.nnz, pairs), replace=False)
    rows = np.searchsorted(a.indptr, picked, side="right") - 1
    edges = _cosines(x, rows, a.indices[picked])
    u, v = rng.integers(0, graph.num_nodes, size=(2, pairs))
    chance = np.sort(_cosines(x, u[u != v], v[u != v]))
    below, upto = (np.searchsorted(chance, edges, side=side) for side in ("left", "right"))
    return float((below + upto).mean() / 2 / chance.size)


def _decide(hits: dict[View, np.ndarray], agreement: float) -> Suggestion:
    asked = hits["topology"].size
    evidence: dict[str, float | None] = {
        "feature_agreement": agreement,
        "training_nodes": float(asked),
        **{f"leave_one_out_{name}": float(h.mean()) if asked else None for name, h in hits.items()},
    }
    alike = f"an edge joins features more alike than a random pair {agreement:.0%} of the time (50% is chance)"
    if not asked:
        return Suggestion("topology", f"No class has two training labels to compare views by; {alike}.", evidence)
    figures = ", ".join(f"{name} {h.mean():.0%}" for name, h in hits.items())
    rival: View = "union" if agreement >= UNRELATED or hits["union"].mean() > hits["knn"].mean() else "knn"
    if _lead(hits[rival], hits["topology"]) > (2 if agreement >= UNRELATED else 0):
        return Suggestion(
            rival, f"Training labels predict each other best over {rival} ({figures}); {alike}.", evidence
        )
    reason = f"Training labels predict each other not critical_value better over another view ({figures}); {alike}."
    return Suggestion("topology", reason, evidence)


def _lead(rival: np.ndarray, base: np.ndarray) -> float:
    """Mean of the paired differences in standard errors; 0 where nothing differs."""
    gain = rival - base
    error = gain.std(ddof=1) / np.sqrt(gain.size) if gain.size > 1 else np.inf
    return float(gain.mean() / error) if error > 0 else float(np.sign(gain.mean()) * np.inf if gain.any() else 0)


def _adjacencies(graph: Graph, k: int) -> dict[View, sp.csr_array]:
    near = view(graph, "knn", k=k).adjacency
    return {"topology": graph.adjacency, "knn": near, "union": graph.adjacency.maximum(near)}


def _pagerank_among(adjacency: sp.csr_array, nodes: np.ndarray) -> np.ndarray:
    """S_uv = √(d_u / d_v) Π_uv for u, v in ``nodes``, its diagonal zero, (L, L)."""
    walk, degrees = transition(adjacency)
    blocks = [nodes[i : i + SOURCES] for i in range(0, nodes.size, SOURCES)]
    pi = np.concatenate([power_iteration(walk, block, ALPHA, 1e-3)[:, nodes] for block in blocks])
    d = np.sqrt(degrees[nodes])
    s = pi * d[:, None] / d[None, :]
    np.fill_diagonal(s, 0)
    return s


def _cosines(unit: sp.csr_array | np.ndarray, u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """x_u · x_v for pairs of unit rows."""
    products = unit[u].multiply(unit[v]) if isinstance(unit, sp.csr_array) else unit[u] * unit[v]
    return np.asarray(products.sum(axis=1)).reshape(-1)
