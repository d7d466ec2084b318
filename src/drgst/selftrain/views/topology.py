"""The view ``topology``: features propagated along the edges."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from drgst.selftrain.views.base import PropagatedView
from drgst.selftrain.views.shared import Shared


class Topology(PropagatedView):
    """S = Â, X = the feature table."""

    name = "topology"
    needs_features = needs_edges = True
    homophily_by = "features"

    def matrix(self, shared: Shared) -> sp.csr_array:
        """Â."""
        return shared.edges

    def table(self, shared: Shared) -> np.ndarray:
        """The feature table."""
        return shared.table
