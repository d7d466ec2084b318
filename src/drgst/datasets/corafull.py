"""CoraFull (Bojchevski, Günnemann, ICLR 2018): the ``cora.npz`` of graph2gauss, or its edges and labels alone."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from drgst.datasets.raw_files import read_integers
from drgst.errors import DataFileError, located
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.io.arrays import read_csr
from drgst.io.npz import open_npz

NO_FEATURES = (
    "the features of CoraFull are not available (they are in cora.npz of graph2gauss): this graph has edges, labels "
    "and a split only, so results on it are not those of the paper's CoraFull"
)


def read_graph2gauss(path: Path, name: str = "corafull") -> Graph:
    """A graph in the format of graph2gauss: CSR arrays ``adj_*`` and ``attr_*``, and ``labels``; no pickle is read.

    Edges become unweighted and undirected; features keep their values.
    """
    with open_npz(path, "a graph2gauss file") as arrays:
        adjacency = read_csr(arrays, "adj", arrays["adj_shape"])
        features = read_csr(arrays, "attr", arrays["attr_shape"])
        labels = arrays["labels"]
    adjacency.eliminate_zeros()
    adjacency.data = np.ones(adjacency.nnz, dtype=np.float32)
    with located(path):
        return make_graph(features, adjacency, labels, name=name)


def read_edges_and_labels(folder: Path) -> Graph:
    """CoraFull without features, from ``CoraFull.edge`` and ``CoraFull.label``; a note says what is missing."""
    labels = read_integers(folder / "CoraFull.label")
    edges = read_integers(folder / "CoraFull.edge", columns=2)
    if edges.size and edges.max() >= labels.size:
        raise DataFileError(f"{folder}/CoraFull.edge names node {edges.max()}, but there are {labels.size} labels")
    adjacency = edge_matrix(edges[:, 0], edges[:, 1], labels.size)
    return make_graph(None, adjacency, labels, name="corafull", notes=[NO_FEATURES])
