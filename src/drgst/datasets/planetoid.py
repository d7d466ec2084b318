"""Cora, Citeseer and Pubmed from the eight raw files of Planetoid (Yang, Cohen, Salakhutdinov, ICML 2016).

Seven of them are pickles. :func:`drgst.load` opens only files with the published SHA-256; beyond that, no pickle can
name anything but NumPy arrays, CSR matrices, lists and dicts.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from drgst.datasets.raw_files import read_integers
from drgst.errors import DataFileError, located
from drgst.files import reading
from drgst.graph.core import Graph, edge_matrix, make_graph
from drgst.graph.split import Split

PICKLES = ("x", "y", "tx", "ty", "allx", "ally", "graph")
VALIDATION = 500
_RECONSTRUCT = np.ones(1).__reduce__()[0]  # makes an array without content, which its state then fills
_ALLOWED: dict[str, Any] = {  # as Python 2 named them
    "collections.defaultdict": defaultdict,
    "__builtin__.list": list,
    "numpy.core.multiarray._reconstruct": _RECONSTRUCT,
    "numpy._core.multiarray._reconstruct": _RECONSTRUCT,
    "numpy.ndarray": np.ndarray,
    "numpy.dtype": np.dtype,
}


class _Csr:
    """The attributes of a ``csr_matrix`` of any version of SciPy."""


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("scipy.sparse") and name == "csr_matrix":
            return _Csr
        if f"{module}.{name}" not in _ALLOWED:
            raise DataFileError(f"the pickle asks for {module}.{name}, which is not allowed")
        return _ALLOWED[f"{module}.{name}"]


def read_planetoid(folder: Path, name: str, class_names: Sequence[str] | None = None) -> Graph:
    """The graph in ``folder/ind.NAME.*`` with its public split; features are not normalised.

    Row j of ``tx`` belongs to node ``test.index[j]``; ``allx`` holds the nodes before them. Citeseer's test range has
    gaps: nodes without words, edges or label. They stay unlabelled (PyTorch Geometric gives them class 0) and belong
    to the pool; a note mentions them.
    """
    parts = {part: _load(folder / f"ind.{name}.{part}") for part in PICKLES}
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


def _load(path: Path) -> Any:
    """An array, a :class:`scipy.sparse.csr_array` or a dict of lists."""
    damage = Exception  # a damaged pickle can fail in any way
    with reading(path, damage, kind="a complete Planetoid file"), located(path), path.open("rb") as file:
        found = _Unpickler(file, encoding="latin1").load()
    if not isinstance(found, _Csr):
        return found
    state = vars(found)
    return sp.csr_array((state["data"], state["indices"], state["indptr"]), shape=state["_shape"])
