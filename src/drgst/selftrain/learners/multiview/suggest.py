"""Which edges to train a network on: the choice of drgst-plus, as a view of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from drgst.graph.core import Graph
from drgst.graph.split import Split
from drgst.graph.transforms.views import View
from drgst.selftrain.learners.multiview.ensemble import MultiViewEnsemble
from drgst.selftrain.problem import Problem
from drgst.selftrain.settings import Settings


class Suggestion(NamedTuple):
    """A view, one sentence that says why, and the figures behind it."""

    view: View
    reason: str
    evidence: Mapping[str, float]


def suggest_view(graph: Graph, split: Split) -> Suggestion:
    """Suggest ``"topology"``, ``"knn"`` or ``"union"``; only labels of training and validation nodes are used.

    The views of drgst-plus are compared (:func:`~drgst.selftrain.learners.multiview.choice.choose_view`). The one it
    takes gives the suggestion: ``"union"`` if it uses the graph's edges as topology beside kNN, ``"knn"`` if it relies
    on features, ``"topology"`` if it relies on edges.
    """
    choice = MultiViewEnsemble().choice(Problem.of(graph, split, Settings()))
    parts = set(choice.name.split("+"))
    view: View = "topology"
    if parts & {"knn", "features"}:
        view = "union" if "topology" in parts else "knn"
    return Suggestion(view, choice.reason, choice.evidence)
