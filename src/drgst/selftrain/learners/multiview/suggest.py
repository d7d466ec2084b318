"""Which edges to train a network on: by the view weights of drgst-plus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.problem import Problem
from drgst.selftrain.settings import Settings
from drgst.transforms.views import View


class Suggestion(NamedTuple):
    """A view, one sentence that says why, and the figures behind it."""

    view: View
    reason: str
    evidence: Mapping[str, float]


def suggest_view(graph: Graph, split: Split) -> Suggestion:
    """Suggest ``"topology"``, ``"knn"`` or ``"union"``; only labels of training nodes are used.

    ``"knn"`` where the views of drgst-plus that use features alone have more weight than those that rely on edges,
    ``"union"`` where they have more than four fifths of it, else ``"topology"``. ``hops`` counts for neither.
    """
    weights = MultiViewEnsemble().view_weights(Problem.of(graph, split, Settings()))
    features = sum(weights.get(name, 0.0) for name in ("knn", "features"))
    edges = sum(weights.get(name, 0.0) for name in ("topology", "structure", "neighbours"))
    view: View = "knn" if features > edges else "union" if features > 0.8 * edges else "topology"
    shown = ", ".join(f"{name} {w:.2f}" for name, w in sorted(weights.items(), key=lambda item: -item[1]))
    return Suggestion(view, f"view weights by out-of-fold training labels: {shown}", weights)
