"""Cora, Citeseer and Pubmed from the eight raw files of Planetoid (Yang, Cohen, Salakhutdinov, ICML 2016)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from drgst.datasets.raw_files import read_integers
from drgst.datasets.unpickle import load_pickle
from drgst.errors import DataFileError
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import Split

PICKLES = ("x", "y", "tx", "ty", "allx", "ally", "graph")
VALIDATION = 500


def read_planetoid(folder: Path, name: str, class_names: Sequence[str] | None = None) -> Graph:
    """The graph in ``folder/ind.NAME.*`` with its public split; features are not normalised.

    Row j of ``tx`` belongs to node ``test.index[j]``; ``allx`` holds the nodes before them. Citeseer's test range has
    gaps: nodes without words, edges or label. They stay unlabelled (PyTorch Geometric gives them class 0) and belong
    to the pool; a note mentions them.
    """
    parts = {part: load_pickle(folder / f"ind.{name}.{part}") for part in PICKLES}
    test = read_integers(folder / f"ind.{name}.test.index")
    try:
        owner = np.concatenate([np.arange(parts["allx"].shape[0]), test])
        count = int(owner.max()) + 1
        features = sp.vstack([parts["allx"], parts["tx"]]).tocoo()
        features = sp.csr_array((features.data, (owner[features.row], features.col)), shape=(count, features.shape[1]))
        labels = np.full(count, -1, dtype=np.int64)
        labels[owner] = np.vstack([parts["ally"], parts["ty"]]).argmax(axis=1)
        train = np.arange(parts["y"].shape[0])
        adjacency = _adjacency(parts["graph"], count)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise DataFileError(f"the files {folder}/ind.{name}.* do not fit each other: {error}") from error
    split = Split.of(train, train.size + np.arange(VALIDATION), test, count, name="public")
    missing = count - np.unique(owner).size
    notes = [f"{missing} nodes have no words and no label in the files; they stay unlabelled"] if missing else []
    return make_graph(features, adjacency, labels, class_names=class_names, name=name, splits=[split], notes=notes)


def _adjacency(neighbours: dict[int, list[int]], count: int) -> sp.coo_array:
    """A_ij = 1 for every j in the list of i."""
    sizes = np.fromiter((len(js) for js in neighbours.values()), dtype=np.int64, count=len(neighbours))
    row = np.repeat(np.fromiter(neighbours, dtype=np.int64, count=len(neighbours)), sizes)
    col = np.fromiter((j for js in neighbours.values() for j in js), dtype=np.int64, count=int(sizes.sum()))
    return edge_matrix(row, col, count)
