"""Every view by name, and which of them a graph allows."""

from __future__ import annotations

from drgst.errors import GraphError, SettingError
from drgst.graph.core import Graph
from drgst.selftrain.views.base import View
from drgst.selftrain.views.features import FeaturesAlone
from drgst.selftrain.views.hops import Hops
from drgst.selftrain.views.knn import Knn
from drgst.selftrain.views.neighbours import Neighbours
from drgst.selftrain.views.structure import Structure
from drgst.selftrain.views.topology import Topology
from drgst.transforms.rank_normalise import informative

VIEWS: dict[str, View] = {
    view.name: view for view in (Topology(), Knn(), Hops(), FeaturesAlone(), Structure(), Neighbours())
}


def available_views(graph: Graph, features: bool | None = None) -> tuple[str, ...]:
    """The names of the views that ``graph`` allows; ``features`` says whether its features are used, where known."""
    features = informative(graph.features) if features is None else features
    return tuple(name for name, view in VIEWS.items() if view.applies(graph, features))


def matching_views(graph: Graph, name: str) -> tuple[str, ...]:
    """The views of ``graph`` that ``name`` stands for: all for ``auto``, else one, or several joined by +."""
    available = available_views(graph)
    if not available:
        raise GraphError(f"{graph.name!r} has neither edges nor features that some nodes share")
    if name == "auto":
        return available
    chosen = name.split("+")
    wrong = [part for part in chosen if part not in available]
    if wrong:
        raise SettingError(f"this graph has no view {wrong[0]!r} (allowed: {', '.join(sorted(available))}, auto)")
    return tuple(view for view in available if view in chosen)
