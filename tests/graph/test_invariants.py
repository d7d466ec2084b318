"""The invariants of a graph are checked for the fields that change."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from drgst.errors import GraphError
from drgst.graph.core import Graph


def test_self_loops_and_edges_out_of_the_graph_are_refused(cora: Graph) -> None:
    loop = sp.csr_array(cora.adjacency + sp.csr_array(([1.0], ([0], [0])), shape=cora.adjacency.shape))
    with pytest.raises(GraphError, match="self-loops"):
        cora.with_(adjacency=loop)
    outside = cora.adjacency.copy()
    outside.indices = outside.indices.copy()
    outside.indices[-1] = cora.num_nodes
    with pytest.raises(GraphError, match="outside the graph"):
        cora.with_(adjacency=outside)


def test_with_checks_what_it_changes(cora: Graph) -> None:
    with pytest.raises(GraphError, match="has no class name"):
        cora.with_(class_names=("a", "b"))
    with pytest.raises(GraphError, match="occurs more than once"):
        cora.with_(node_ids=np.zeros(2708, dtype=np.int64))
    with pytest.raises(GraphError, match="not symmetric"):
        cora.with_(adjacency=sp.csr_array(sp.triu(cora.adjacency, format="csr")))
    with pytest.raises(GraphError, match="nodes"):
        cora.with_(labels=cora.labels[:-1])
    with pytest.raises(TypeError, match="no field 'label'"):
        cora.with_(label=cora.labels)
    x = cora.features.copy()
    x.data = x.data.copy()
    x.data[0] = np.nan
    with pytest.raises(GraphError, match="NaN"):
        cora.with_(features=x)
    assert x.data.flags.writeable
