"""The view ``features``: the features alone."""

from __future__ import annotations

import numpy as np

from drgst.selftrain.views.base import Term, View, reach_of
from drgst.selftrain.views.shared import Shared


class FeaturesAlone(View):
    """(x_i - x̄) / ‖x_i - x̄‖₂ for the rows x_i of the feature table."""

    name = "features"
    needs_features = True

    def make(self, shared: Shared) -> np.ndarray:
        return shared.centred(self.name, shared.table)

    def terms(self, shared: Shared, node: int) -> list[Term]:
        return [Term.of_unit(*reach_of(node, shared.graph.num_nodes), shared.table)]
