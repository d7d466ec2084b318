"""The view ``topology``: features propagated along the edges."""

from __future__ import annotations

from drgst.selftrain.views.base import PropagatedView


class Topology(PropagatedView):
    """S = Â, X = the feature table."""

    name = "topology"
    needs_features = needs_edges = True
    homophily_by = "features"
